/**
 * Typed values as JSON text and back, where bigint and octets keep their type: for outcomes and
 * inputs of jobs that the service stores.
 */
import { encodeBase64, requireBase64 } from '../base/base64.ts'

type Packed = { readonly $n: string } | { readonly $b: string }
const isPacked = (value: unknown): value is Packed =>
  typeof value === 'object' && value !== null && (Object.hasOwn(value, '$n') || Object.hasOwn(value, '$b'))

export function packTyped(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => {
    if (typeof part === 'bigint') return { $n: String(part) }
    return part instanceof Uint8Array ? { $b: encodeBase64(part) } : part
  })
}

/** The value of a text that `packTyped` wrote. Throws SyntaxError for any other text. */
export function unpackTyped(text: string): unknown {
  return JSON.parse(text, (_name, part: unknown) => {
    if (!isPacked(part)) return part
    return '$n' in part ? BigInt(String(part.$n)) : requireBase64(String(part.$b))
  })
}
