/**
 * Typed values as JSON text and back, where bigint and octets keep their type, and numbers that
 * JSON.stringify changes (NaN, the infinities, minus zero) their value: for outcomes and inputs of
 * jobs that the service stores.
 */
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import { ownMember } from '../base/objects.ts'

type Packed = { readonly $n: string } | { readonly $b: string } | { readonly $d: string }
const isPacked = (value: unknown): value is Packed =>
  typeof value === 'object' && value !== null && ['$n', '$b', '$d'].some(mark => Object.hasOwn(value, mark))

export function packTyped(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return { $n: String(part) }
    if (Object.is(part, -0)) return { $d: '-0' }
    if (typeof part === 'number' && !Number.isFinite(part)) return { $d: String(part) }
    return part instanceof Uint8Array ? { $b: encodeBase64(part) } : part
  })
}

/** Whether two typed values are equal; a member that is undefined is absent. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (a instanceof Uint8Array || b instanceof Uint8Array) return packTyped(a) === packTyped(b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, other] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>] // not null
  if (Array.isArray(a) && Array.isArray(b) && a.length !== b.length) return false
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every(name => isSameValue(ownMember(one, name), ownMember(other, name)))
}

/** The value of a text that `packTyped` wrote. Throws SyntaxError for any other text. */
export function unpackTyped(text: string): unknown {
  return JSON.parse(text, (_name, part: unknown) => {
    if (!isPacked(part)) return part
    if ('$d' in part) return Number(part.$d)
    return '$n' in part ? BigInt(String(part.$n)) : requireBase64(String(part.$b))
  })
}
