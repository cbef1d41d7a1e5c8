/**
 * Values of parameters by their style (OpenAPI §4.8.12.3): the expansions of RFC 6570 §3.2, with
 * the delimiters that OpenAPI adds. A delimiter that is part of a value is encoded.
 */
import { isJsonObject, type Json } from '../base/objects.ts'
import { writeJson } from '../http/json.ts'
import { percentEncode } from '../http/uri.ts'
import { expansions, type ParameterStyle } from '../import/openapi/parameter-style.ts'

type Encode = (text: string) => string

/** Undefined: there is nothing to write, such as for an empty list. */
export function writeParameter(name: string, value: Json, how: ParameterStyle, encode: Encode): string | undefined {
  const { first, between, isNamed, nothing } = expansions[how.style]
  const own = isNamed ? percentEncode(name) : undefined
  const pieces = listPieces(name, value, how, encode)
  if (pieces.length === 0) return undefined
  const texts = pieces.map(([text, key = own]) =>
    key === undefined ? text : `${key}${text === '' ? nothing : `=${text}`}`,
  )
  return `${first}${texts.join(between)}`
}

/** Encoded; a piece without a key has the name of the parameter. */
type Piece = readonly [text: string, key?: string]

function listPieces(name: string, value: Json, how: ParameterStyle, encode: Encode): readonly Piece[] {
  const write = (each: Json): string => encode(writePlainValue(each))
  if (how.isJson) return [[encode(writeJson(value))]]
  const pairs = isJsonObject(value) ? Object.entries(value).filter(([, each]) => each !== null) : undefined
  if (how.style === 'deepObject' && pairs)
    return pairs.flatMap(([key, each]) =>
      toPlainItems(each ?? null).map((one): Piece => [write(one), percentEncode(`${name}[${key}]`)]),
    )
  const { joint } = expansions[how.style]
  if (pairs && how.isExploded) return pairs.map(([key, each]): Piece => [write(each ?? null), encode(key)])
  const texts = pairs
    ? pairs.flatMap(([key, each]) => [encode(key), write(each ?? null)])
    : toPlainItems(value).map(write)
  return how.isExploded || texts.length === 0 ? texts.map((text): Piece => [text]) : [[texts.join(joint)]]
}
const toPlainItems = (value: Json): readonly Json[] =>
  Array.isArray(value) ? (value as readonly Json[]) : value === null ? [] : [value]

export function writePlainValue(value: Json): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'object' && value !== null
      ? writeJson(value)
      : String(value)
}

/** RFC 6570 §3.2.3, except for what ends a value: in a query `&`, `+`, `#`, in a path a segment. */
export const reserveInQuery: Encode = text => keepReserved(text, /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g)
export const reserveInPath: Encode = text => keepReserved(text, /%(?:3A|40|21|24|27|28|29|2A|2C|3B|3D|26|2B)/g)
function keepReserved(text: string, kept: RegExp): string {
  const encode = (plain: string): string => percentEncode(plain).replace(kept, decodeURIComponent)
  return text
    .split(/(%[0-9A-Fa-f]{2})/)
    .map((each, at) => (at % 2 === 1 ? each : encode(each)))
    .join('')
}
