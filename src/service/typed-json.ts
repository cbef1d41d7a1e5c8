/**
 * Typed values as JSON text and back. bigint and octets keep their type, and numbers that
 * JSON.stringify changes (NaN, the infinities, minus zero) keep their value. For the outcomes and
 * job inputs that the service stores.
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

/** Whether two typed values are equal; an undefined member is absent. */
export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && areSameItems(a, b)
  if (a instanceof Uint8Array) return b instanceof Uint8Array && areSameItems(a, b)
  if (Array.isArray(b) || b instanceof Uint8Array) return false
  const [one, other] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>] // not null
  for (const name of Object.keys(one)) if (!isSameValue(one[name], ownMember(other, name))) return false
  for (const name of Object.keys(other))
    if (other[name] !== undefined && ownMember(one, name) === undefined) return false
  return true
}

function areSameItems(a: ArrayLike<unknown>, b: ArrayLike<unknown>): boolean {
  if (a.length !== b.length) return false
  for (let at = 0; at < a.length; at++) if (!isSameValue(a[at], b[at])) return false
  return true
}

/** The value of a text written by `packTyped`. Throws SyntaxError for any other text. */
export function unpackTyped(text: string): unknown {
  return JSON.parse(text, (_name, part: unknown) => {
    if (!isPacked(part)) return part
    if ('$d' in part) return Number(part.$d)
    return '$n' in part ? BigInt(String(part.$n)) : requireBase64(String(part.$b))
  })
}
