/** Octets (XML Schema Part 2 §3.2.15 hexBinary, §3.2.16 base64Binary). */
import type { ScalarOf } from '../shape.ts'
import { Flaw, typeFlaw } from './flaw.ts'

export const compileBytesCheck =
  ({ encoding, max = Number.POSITIVE_INFINITY }: ScalarOf<'bytes'>) =>
  (value: unknown): Uint8Array | Flaw => {
    if (!(value instanceof Uint8Array)) return typeFlaw(encoding === 'hex' ? 'hexadecimal bytes' : 'base64 bytes')
    return value.length > max ? new Flaw('maxLength', `must have at most ${max} octets`) : value
  }
