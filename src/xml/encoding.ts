/**
 * XML 1.0 §4.3.3 and appendix F, RFC 7303 §3: the encoding of a document, and the document in
 * UTF-8. Guards: up to three places name the encoding (a byte order mark, the media type's charset,
 * the encoding declaration) and they must agree, because programs that trust different ones read
 * different documents. Besides UTF-8 and UTF-16, which every processor reads, other encodings are
 * read if they are named: old descriptions and clients use them. In each of these an octet below
 * 0x80 that begins a character means its US-ASCII character, so markup is markup to every reader;
 * encodings that shift between alphabets by escapes (ISO-2022-JP, HZ, UTF-7) are not read.
 */

import { attempt } from '../base/attempt.ts'
import { Malformed } from './malformed.ts'

/** Each octet is one character, below 0x80 that of US-ASCII. Named as IANA names them. */
const octetEncodings = [
  ...['us-ascii', 'ibm866', 'koi8-r', 'koi8-u', 'macintosh'],
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16].map(part => `iso-8859-${part}` as const),
  ...[874, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258].map(page => `windows-${page}` as const),
] as const

/** Each character has one or more octets. Named as in WHATWG Encoding §4.2. */
const mixedEncodings = ['shift_jis', 'euc-jp', 'euc-kr', 'gbk', 'gb18030', 'big5'] as const
type MixedEncoding = (typeof mixedEncodings)[number]

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | (typeof octetEncodings)[number] | MixedEncoding

export interface XmlSource {
  /** The document in UTF-8; not copied if it was UTF-8 already. */
  readonly bytes: Uint8Array
  /** Where it begins in `bytes`: after the byte order mark and the XML declaration. */
  readonly from: number
  readonly encoding: Encoding
}

/** The encodings that a label can mean; among several, the byte order mark decides. */
const encodingsOfLabel = new Map<string, readonly Encoding[]>([
  ['utf-8', ['utf-8']],
  ['utf8', ['utf-8']], // in use, though not registered (WHATWG Encoding §4.2)
  ['utf-16', ['utf-16le', 'utf-16be']],
  ['utf-16le', ['utf-16le']],
  ['utf-16be', ['utf-16be']],
  ...[...octetEncodings, ...mixedEncodings].map((name): [string, readonly Encoding[]] => [name, [name]]),
  ['windows-31j', ['shift_jis']],
  ['gb2312', ['gbk']], // whose octets mean the same characters in gbk
])

/** Whether documents with this label in their media type or declaration are read. */
export const isReadEncoding = (label: string): boolean => encodingsOfLabel.has(label.toLowerCase())

const declarationStart = new TextEncoder().encode('<?xml')
/** No honest declaration is longer, so the pattern is applied to no more. */
const declarationOctetsMax = 1024
/** [23] XMLDecl; §2.8: every 1.x is read as 1.0. */
const declarationPattern =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(["'])1\.[0-9]+\1(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(["'])([A-Za-z][-\w.]*)\2)?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(["'])(?:yes|no)\4)?[ \t\r\n]*\?>/

/**
 * The document as UTF-8.
 * @param charset of the media type
 * @throws Malformed
 */
export function openSource(original: Uint8Array, charset: string | undefined): XmlSource {
  const marked = findByteOrderMark(original)
  const fromCharset = charset === undefined ? undefined : requireEncoding(charset, marked)
  const isNarrow = original[0] !== 0 && original[1] !== 0
  const guessed = isNarrow || marked || fromCharset ? undefined : guessWide(original)
  const told = marked ?? fromCharset ?? guessed
  const first = told ?? 'utf-8'
  const bytes = isWide(first) ? decodeWide(original, marked ? 2 : 0, first) : original
  const { encoding: declared, to } = readDeclarationAt(bytes, marked === 'utf-8' ? 3 : 0)
  if (declared === undefined || (isWide(first) && declared.toLowerCase() === 'utf-16')) {
    if (guessed) throw new Malformed('UTF-16 needs a byte order mark', 0)
    return decodeNarrow(bytes, to, first)
  }
  const fromDeclaration = requireEncoding(declared, marked)
  const settled = told !== undefined || isWide(fromDeclaration)
  if (settled && fromDeclaration !== first) {
    throw new Malformed(`the declared encoding ${declared} contradicts ${first}`, 0)
  }
  return decodeNarrow(bytes, to, fromDeclaration)
}

const isWide = (encoding: Encoding) => encoding === 'utf-16le' || encoding === 'utf-16be'

/** The encoding that a label means, which must be that of the byte order mark if there is one. */
function requireEncoding(label: string, marked: Encoding | undefined): Encoding {
  const possible = encodingsOfLabel.get(label.toLowerCase())
  if (!possible) throw new Malformed(`the encoding ${label} is not supported`, 0)
  if (marked ? !possible.includes(marked) : possible.length > 1) {
    throw new Malformed(
      marked
        ? `the encoding ${label} contradicts the byte order mark of ${marked}`
        : `the encoding ${label} needs a byte order mark`,
      0,
    )
  }
  return marked ?? possible[0]!
}

function findByteOrderMark(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8'
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le'
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be'
  return undefined
}

/** Appendix F.1, of a document that begins with `<` in two octets. */
function guessWide(bytes: Uint8Array): Encoding | undefined {
  if (bytes[0] === 0x3c && bytes[1] === 0) return 'utf-16le'
  return bytes[0] === 0 && bytes[1] === 0x3c ? 'utf-16be' : undefined
}

interface XmlDeclaration {
  readonly encoding: string | undefined
  /** The offset after it. */
  readonly to: number
}

/** The last declaration read: most senders write the same one each time. */
const lastDeclaration: { octets: Uint8Array; encoding: string | undefined } = {
  octets: new Uint8Array(0),
  encoding: undefined,
}

function readDeclarationAt(bytes: Uint8Array, from: number): XmlDeclaration {
  if (lastDeclaration.octets.length > 0 && beginsWith(bytes, from, lastDeclaration.octets)) {
    return { encoding: lastDeclaration.encoding, to: from + lastDeclaration.octets.length }
  }
  // `<?xml-stylesheet` begins the same way, but is a processing instruction.
  if (!beginsWith(bytes, from, declarationStart) || bytes[from + declarationStart.length]! > 0x20)
    return { encoding: undefined, to: from }
  const window = bytes.subarray(from, from + declarationOctetsMax)
  const octets = window.slice(0, window.indexOf(0x3e) + 1)
  const found = declarationPattern.exec(String.fromCharCode(...octets))
  if (!found) throw new Malformed('an invalid XML declaration', from)
  lastDeclaration.octets = octets
  lastDeclaration.encoding = found[3]
  return { encoding: found[3], to: from + octets.length }
}

function beginsWith(bytes: Uint8Array, from: number, octets: Uint8Array): boolean {
  for (let k = 0; k < octets.length; k++) if (bytes[from + k] !== octets[k]) return false
  return true
}

const isMixed = (encoding: Encoding): encoding is MixedEncoding => mixedEncodings.some(each => each === encoding)

/** The document as UTF-8, where each US-ASCII octet means that character. */
function decodeNarrow(bytes: Uint8Array, from: number, encoding: Encoding): XmlSource {
  if (encoding === 'utf-8' || isWide(encoding)) return { bytes, from, encoding }
  const other = bytes.findIndex(octet => octet >= 0x80)
  if (other < 0) return { bytes, from, encoding }
  if (isMixed(encoding)) return { bytes: decodeMixed(bytes, encoding), from, encoding }
  const text = decodeOctets(bytes, upperHalfOf(encoding))
  const at = text.indexOf(undefinedOctet)
  if (at >= 0) throw new Malformed(`an octet that ${encoding} does not define`, at)
  return { bytes: new TextEncoder().encode(text), from, encoding } // a declaration is ASCII, so `from` stays
}

/** No single-octet encoding has this character, so it marks an undefined octet. */
const undefinedOctet = '\ufffd'
const upperOctets = Uint8Array.from({ length: 0x80 }, (_, i) => 0x80 + i)

/** The code units of the octets from 0x80 up. In ISO 8859, those below 0xA0 are controls. */
function upperHalfOf(encoding: Encoding): Uint16Array {
  const text =
    encoding === 'us-ascii' ? undefinedOctet.repeat(upperOctets.length) : new TextDecoder(encoding).decode(upperOctets)
  const isPart = encoding.startsWith('iso-8859-')
  const isLatin1 = encoding === 'iso-8859-1' // WHATWG reads the label as windows-1252
  return Uint16Array.from(upperOctets, (octet, i) =>
    isLatin1 || (isPart && octet < 0xa0) ? octet : text.charCodeAt(i),
  )
}

function decodeOctets(bytes: Uint8Array, upper: Uint16Array): string {
  const units = new Uint16Array(4096)
  let text = ''
  for (let at = 0; at < bytes.length; at += units.length) {
    const octets = bytes.subarray(at, at + units.length)
    for (let i = 0; i < octets.length; i++) units[i] = octets[i]! < 0x80 ? octets[i]! : upper[octets[i]! - 0x80]!
    text += String.fromCharCode(...units.subarray(0, octets.length))
  }
  return text
}

function decodeMixed(bytes: Uint8Array, encoding: MixedEncoding): Uint8Array {
  const text = createStrictDecoder(encoding)(bytes)
  if (text !== undefined) return new TextEncoder().encode(text)
  throw new Malformed(`octets that ${encoding} does not define`, countMixed(bytes, encoding, Number.POSITIVE_INFINITY))
}
/** Undefined: the octets are not complete characters of the encoding. */
function createStrictDecoder(encoding: MixedEncoding): (octets: Uint8Array) => string | undefined {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  return octets =>
    attempt(
      () => decoder.decode(octets),
      thrown => thrown instanceof TypeError,
    )
}
/**
 * The number of octets that encode these first code units; if a flaw comes earlier, those before
 * the flaw.
 */
function countMixed(bytes: Uint8Array, encoding: MixedEncoding, units: number): number {
  const decode = createStrictDecoder(encoding)
  const countUnits = (from: number, size: number) => decode(bytes.subarray(from, from + size))?.length
  let [whole, found] = [0, 0]
  for (let end = bytes.length; whole < end; ) {
    const size = Math.min(4096, end - whole)
    // A step that would end within a character is made a bit shorter.
    const step = [0, 1, 2, 3].map(cut => size - cut).find(each => each > 0 && countUnits(whole, each) !== undefined)
    const more = step === undefined ? Number.POSITIVE_INFINITY : (countUnits(whole, step) ?? 0)
    if (step === undefined || found + more > units) end = whole
    else [whole, found] = [whole + step, found + more]
  }
  for (let size = 1; found < units && size <= 4 && whole + size <= bytes.length; ) {
    const more = countUnits(whole, size)
    if (more === undefined) size++
    else [whole, found, size] = [whole + size, found + more, 1]
  }
  return whole
}

function decodeWide(bytes: Uint8Array, from: number, encoding: Encoding): Uint8Array {
  if ((bytes.length - from) % 2) throw new Malformed('UTF-16 in an odd number of octets', bytes.length)
  const text = new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes.subarray(from))
  const high = encoding === 'utf-16le' ? 1 : 0
  const unit = (at: number) => (bytes[at + high]! << 8) | bytes[at + 1 - high]!
  // The decoder writes U+FFFD for a lone surrogate.
  for (let index = text.indexOf('\ufffd'); index >= 0; index = text.indexOf('\ufffd', index + 1)) {
    const at = from + 2 * index
    if (unit(at) !== 0xfffd) throw new Malformed('an unpaired surrogate', at)
  }
  return new TextEncoder().encode(text)
}

/** The offset in the document as received, for an offset in its UTF-8 form. */
export function decodeReceived({ bytes, encoding }: XmlSource, at: number, original: Uint8Array): number {
  if (bytes === original || encoding === 'utf-8') return at
  const units = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, at)).length
  if (isMixed(encoding)) return countMixed(original, encoding, units)
  return isWide(encoding) ? 2 * units + (findByteOrderMark(original) ? 2 : 0) : units
}
