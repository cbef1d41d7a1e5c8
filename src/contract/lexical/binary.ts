/** Octets (XML Schema Part 2 §3.2.15 hexBinary, §3.2.16 base64Binary). */
import type { ScalarOf } from '../shape.ts'
import { Flaw, typeFlaw } from './flaw.ts'

export const compileBytesCheck =
  ({ encoding, max = Number.POSITIVE_INFINITY }: ScalarOf<'bytes'>) =>
  (value: unknown): Uint8Array | Flaw => {
    if (!(value instanceof Uint8Array)) return typeFlaw(encoding === 'hex' ? 'hexadecimal bytes' : 'base64 bytes')
    return value.length > max ? new Flaw('maxLength', `must have at most ${max} octets`) : value
  }

export function parseHex(text: string): Uint8Array | undefined {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? Uint8Array.fromHex(text) : undefined
}

/** RFC 4648 §4 with white space ignored, as XML Schema Part 2 §3.2.16 allows it. */
export function parseBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return undefined
  }
}
