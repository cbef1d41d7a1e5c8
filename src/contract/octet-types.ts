/** Types of octets that may travel outside their message, and be read after the rest of it. */
import { type Pieces, watchPieces } from '../base/octets.ts'
import { standInOctets } from '../base/passing-octets.ts'
import { listReachedTypes } from './xml-reach.ts'
import type { AnyRootElement, AnyXmlType } from './xml-type.ts'

/** How many octets a type allows, bounds included. */
export interface OctetLengths {
  readonly min: number
  readonly max: number
}

/** Octets that may travel outside the XML, even if facets restrict them. */
export function isBase64Type({ definition }: AnyXmlType): boolean {
  if (definition.kind === 'restriction') return isBase64Type(definition.of)
  return definition.kind === 'builtIn' && definition.name === 'base64Binary'
}

/** How many octets such a type allows; undefined if its facets restrict more than their number. */
export function lengthsOfOctets({ definition }: AnyXmlType): OctetLengths | undefined {
  if (definition.kind !== 'restriction') return { min: 0, max: Number.POSITIVE_INFINITY }
  const { length, minLength = length ?? 0, maxLength = length, whiteSpace, ...others } = definition.facets
  const base = lengthsOfOctets(definition.of)
  if (!base || Object.values(others).some(each => each !== undefined)) return undefined
  return { min: Math.max(base.min, minLength), max: Math.min(base.max, maxLength ?? base.max) }
}

/** The octets; fails if there are too many or too few. */
export async function* limitLength(
  pieces: Pieces,
  { min, max }: OctetLengths,
  fail: (detail: string) => never,
): Pieces {
  let length = 0
  yield* watchPieces(pieces, piece => {
    length += piece.length
    if (length > max) fail(`has more than ${max} octets`)
  })
  if (length < min) fail(`has ${length} octets, fewer than ${min}`)
}

/** Whether it has octets that are only checked for their number, and so only at their end. */
export function mayLeaveOctets(root: AnyRootElement): boolean {
  const octets = listReachedTypes([root]).types.filter(isBase64Type).map(lengthsOfOctets)
  return octets.length > 0 && octets.every(each => each && each.min <= standInOctets && each.max >= standInOctets)
}
