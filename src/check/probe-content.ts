/** Reads another service's JSON, without trusting its shape. */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { type Json, ownMember } from '../base/objects.ts'
import { writeJson } from '../http/json.ts'

export type { Json }
export type ProbedRecord = { readonly [name: string]: Json }

/** Read like JSON.parse, even where I-JSON forbids it; a long integer keeps all its digits. */
export const parseLooseJson = (text: string): Json | undefined =>
  attempt(() => JSON.parse(text, longDigits.test(text) ? keepDigits : undefined) as Json, isSyntaxError)

const longDigits = /\d{16}/
/** At most this many digits, since the conversion takes time quadratic in their number. */
const longInteger = /^-?\d{16,1000}$/
/** ECMAScript 2026 §25.5.1: the third argument has the source text of a primitive value. */
const keepDigits = (_name: string, value: Json, { source = '' }: { readonly source?: string } = {}): Json =>
  typeof value === 'number' && !Number.isSafeInteger(value) && longInteger.test(source) ? BigInt(source) : value

/** The members of an object; none for anything else. */
export const asRecord = (value: Json | undefined): ProbedRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ProbedRecord) : {}

export const asArray = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])

export const asText = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined)

export const memberAt = (value: Json | undefined, ...path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>((at, name) => ownMember(asRecord(at), name) as Json | undefined, value)

/** Members in which frameworks put the items of a page. */
const itemMembers = ['items', 'results', 'data', 'value', 'content']

/** The items in a collection's representation: an array, such a member, or what HAL embeds. */
export function itemsOf(value: Json | undefined): readonly Json[] | undefined {
  if (Array.isArray(value)) return value
  const record = asRecord(value)
  const member = itemMembers.find(name => Array.isArray(ownMember(record, name)))
  if (member !== undefined) return asArray(record[member])
  return Object.values(asRecord(record['_embedded'])).find(each => Array.isArray(each)) as readonly Json[] | undefined
}

/** The items of a page as their own links, else as their identifiers, else as they are. */
export const namesOnPage = (page: Json | undefined): readonly string[] =>
  (itemsOf(page) ?? []).map(each => String(linkIn(each, 'self') ?? memberAt(each, 'id') ?? writeJson(each)))

export interface FoundLink {
  readonly rel: string
  readonly href: string
  readonly isTemplate: boolean
}

/** The links in `_links` (HAL §4.1.1): one object or several for each relation. */
export function linksIn(value: Json | undefined): readonly FoundLink[] {
  return Object.entries(asRecord(memberAt(value, '_links'))).flatMap(([rel, given]) =>
    (Array.isArray(given) ? given : [given]).flatMap(each => {
      const href = asText(memberAt(each, 'href'))
      return href === undefined ? [] : [{ rel, href, isTemplate: memberAt(each, 'templated') === true }]
    }),
  )
}
export const linkIn = (value: Json | undefined, rel: string): string | undefined =>
  linksIn(value).find(link => link.rel === rel && !link.isTemplate)?.href

export const sameJson = (one: Json | undefined, other: Json | undefined): boolean =>
  one === undefined || other === undefined
    ? one === other
    : writeJson(sortMembers(one)) === writeJson(sortMembers(other))
function sortMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(each => sortMembers(each))
  if (value === 0) return 0 // JSON Schema §4.2.2: −0 is the same number
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(asRecord(value))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sortMembers(each)]),
  )
}
