/**
 * JSON.parse with exact whole numbers: those that a double cannot represent are bigint, as in
 * `http/json.ts`, whose reader is made for a service and is a tenth of what a page may load. An
 * engine that does not provide the source text of a number (ECMAScript 2026) leaves it a double; if
 * a field is a long, the check of its values refuses that.
 */
import { attempt, isSyntaxError } from '../../base/attempt.ts'
import type { Json } from '../../base/objects.ts'

/** Undefined for other text. */
export const parseExactJson = (text: string): Json | undefined =>
  attempt(() => JSON.parse(text, /\d{16}/.test(text) ? reviveInteger : undefined) as Json, isSyntaxError)

function reviveInteger(_name: string, value: Json, context?: { readonly source?: string }): Json {
  const { source = '' } = context ?? {}
  const isInexact = typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
  return isInexact ? BigInt(source) : value
}
