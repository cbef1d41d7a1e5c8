import { Flaw, type Of, wrong } from './flaw.ts'

export function checkBytes(shape: Of<'bytes'>, value: unknown): Uint8Array | Flaw {
  if (!(value instanceof Uint8Array)) return wrong(shape.encoding === 'hex' ? 'hexadecimal bytes' : 'base64 bytes')
  return shape.max !== undefined && value.length > shape.max
    ? new Flaw('maxLength', `must have at most ${shape.max} octets`)
    : value
}
export function fromHex(text: string): Uint8Array | undefined {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? Uint8Array.fromHex(text) : undefined
}
/** RFC 4648 §4 with white space ignored, as XML Schema Part 2 §3.2.16 allows it. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return undefined
  }
}
