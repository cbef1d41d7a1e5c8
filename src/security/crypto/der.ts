/**
 * ASN.1 in DER (ITU-T X.690), as far as certificates and their paths need it. The given octets
 * bound everything.
 */

export interface DerValue {
  /**
   * The identifier octet: class, constructed or not, number. Numbers above 30 are not supported.
   */
  readonly tag: number
  readonly content: Buffer
  /** The whole encoding. */
  readonly octets: Buffer
}

export class NotDer extends Error {}

/** The one value of these octets. @throws NotDer */
export function readDer(octets: Buffer): DerValue {
  const [first, another] = readDerValues(octets)
  if (!first || another) throw new NotDer('not exactly one value')
  return first
}

/** The values of these octets, in a row. @throws NotDer */
export function readDerValues(octets: Buffer): DerValue[] {
  const found: DerValue[] = []
  for (let at = 0; at < octets.length; ) {
    const one = readDerAt(octets, at)
    found.push(one)
    at += one.octets.length
  }
  return found
}

function readDerAt(octets: Buffer, at: number): DerValue {
  const tag = octets[at] ?? 0x1f
  let length = octets[at + 1] ?? 0x80
  let from = at + 2
  if ((tag & 0x1f) === 0x1f || length === 0x80 || length > 0x84)
    throw new NotDer('a form that DER or certificates do not use')
  if (length > 0x80) {
    const size = length - 0x80
    if (from + size > octets.length) throw new NotDer('cut short')
    length = octets.readUIntBE(from, size)
    from += size
  }
  if (from + length > octets.length) throw new NotDer('cut short')
  return { tag, content: octets.subarray(from, from + length), octets: octets.subarray(at, from + length) }
}

export const BOOLEAN = 0x01
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const SEQUENCE = 0x30

/** An object identifier in its dotted form. */
export function readObjectIdentifier(content: Buffer): string {
  const arcs: number[] = []
  let arc = 0
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f)
    if (octet < 0x80) {
      arcs.push(arc)
      arc = 0
    }
  }
  const [first = 0, ...others] = arcs
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - 40 * root, ...others].join('.')
}

/** A character string of any type that names use. */
export function readDerText({ tag, content }: DerValue): string {
  if (tag === 0x1e)
    return Buffer.from(content.subarray(0, content.length & ~1))
      .swap16()
      .toString('utf16le') // BMPString
  return content.toString(tag === 0x0c ? 'utf8' : 'latin1') // UTF8String, or PrintableString, IA5String, TeletexString
}
