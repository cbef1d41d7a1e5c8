import { Malformed } from './failure.ts'

/**
 * XML 1.0 §4.3.3 and appendix F, RFC 7303 §3: which encoding a document is in, and the document in UTF-8.
 * Up to three speak: a byte order mark, the media type's charset, the encoding declaration. They must agree: software that
 * believes different ones reads different documents.
 */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

export interface Source {
  /** The document in UTF-8. What was UTF-8 already is not copied. */
  readonly bytes: Uint8Array
  /** Where it begins in `bytes`: after a byte order mark. */
  readonly from: number
  readonly encoding: Encoding
}

/** The document as UTF-8, going by its byte order mark and the charset from outside. @throws Malformed */
export function source(bytes: Uint8Array, charset: string | undefined): Source {
  const marked = mark(bytes)
  const told = charset?.toLowerCase()
  if (told !== undefined && !Object.hasOwn(meant, told))
    throw new Malformed(`the charset ${charset} is not read here`, 0)
  const encoding = marked ?? (told === undefined ? 'utf-8' : meant[told])
  if (!encoding) throw new Malformed('UTF-16 without a byte order mark', 0)
  if (told !== undefined && !agrees(told, encoding)) {
    throw new Malformed(`the charset ${charset} contradicts the byte order mark of ${encoding}`, 0)
  }
  if (encoding === 'utf-8') return { bytes, from: marked ? 3 : 0, encoding }
  return { bytes: transcode(bytes, marked ? 2 : 0, encoding), from: 0, encoding }
}

/** Whether what the encoding declaration says is what the document is in. Without one it is not asked. */
export function agrees(declared: string, encoding: Encoding): boolean {
  const said = declared.toLowerCase()
  return said === 'utf-16' ? encoding !== 'utf-8' : Object.hasOwn(meant, said) && meant[said] === encoding
}

/** The encoding that a charset names. `utf-16` leaves the order of its octets to the byte order mark. */
const meant: Readonly<Record<string, Encoding | undefined>> = {
  'utf-8': 'utf-8',
  'utf-16': undefined,
  'utf-16le': 'utf-16le',
  'utf-16be': 'utf-16be',
}

function mark(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

function transcode(bytes: Uint8Array, from: number, encoding: 'utf-16le' | 'utf-16be'): Uint8Array {
  if ((bytes.length - from) % 2) throw new Malformed('UTF-16 in an odd number of octets', bytes.length)
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes.subarray(from))
  const high = encoding === 'utf-16le' ? 1 : 0
  const unit = (at: number) => (bytes[at + high]! << 8) | bytes[at + 1 - high]!
  // The decoder put U+FFFD where a surrogate stood alone.
  for (let index = text.indexOf('\ufffd'); index >= 0; index = text.indexOf('\ufffd', index + 1)) {
    const at = from + 2 * index
    if (unit(at) !== 0xfffd) throw new Malformed('a surrogate alone', at)
  }
  return new TextEncoder().encode(text)
}

/** The offset in the document as received of an offset in its UTF-8 form. */
export function received({ bytes, from, encoding }: Source, at: number, original: Uint8Array): number {
  if (encoding === 'utf-8') return at
  const units = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, at)).length
  return 2 * units + (mark(original) ? 2 : 0)
}
