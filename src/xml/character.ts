/**
 * XML 1.0 (Fifth Edition) §2.2, §2.3 and Namespaces in XML 1.0 §3: which octets and characters are
 * allowed where.
 */

export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
export const BANG = 0x21
export const QUOTE = 0x22
export const HASH = 0x23
export const AMP = 0x26
export const APOSTROPHE = 0x27
export const DASH = 0x2d
export const SLASH = 0x2f
export const SEMICOLON = 0x3b
export const LT = 0x3c
export const EQUALS = 0x3d
export const GT = 0x3e
export const QUESTION = 0x3f
export const BRACKET = 0x5d

/** One entry for each octet: 1 where `holds`. */
const octetTable = (holds: (octet: number) => boolean) =>
  Uint8Array.from({ length: 256 }, (_, octet) => Number(holds(octet)))
const isAmong = (characters: string) => (octet: number) => characters.includes(String.fromCharCode(octet))

/** [3] S */
export const blank = octetTable(isAmong('\t\n\r '))
/**
 * Octets that can be part of a name: [4a] NameChar of ASCII, and all from 0x80, which `isNcName`
 * judges later.
 */
export const nameOctet = octetTable(octet => octet >= 0x80 || /[-.:\w]/.test(String.fromCharCode(octet)))
/** Octets below 0x80 that are a [2] Char. */
export const legal = octetTable(octet => octet < 0x80 && (octet >= 0x20 || blank[octet] === 1))
/** Octets of [14] CharData that need no second look. `>` may end `]]>`, so it needs one. */
export const plainText = octetTable(octet => legal[octet] === 1 && !isAmong('<&>\r')(octet))
/**
 * Octets of [10] AttValue that need no second look. `>` is left out, so every scan ends at the last
 * octet of a document.
 */
export const plainValue = octetTable(octet => legal[octet] === 1 && !isAmong('<&>"\'\t\n\r')(octet))

const nameStart =
  'A-Z_a-z\\u{C0}-\\u{D6}\\u{D8}-\\u{F6}\\u{F8}-\\u{2FF}\\u{370}-\\u{37D}\\u{37F}-\\u{1FFF}\\u{200C}\\u{200D}\\u{2070}-\\u{218F}' +
  '\\u{2C00}-\\u{2FEF}\\u{3001}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFFD}\\u{10000}-\\u{EFFFF}'
const ncNamePattern = new RegExp(
  `^[${nameStart}][${nameStart}\\-.0-9\\u{B7}\\u{300}-\\u{36F}\\u{203F}\\u{2040}]*$`,
  'u',
)

const asciiNamePattern = /^[A-Za-z_][-.\w]*$/

/** Namespaces [4] NCName: [5] Name of XML 1.0 without a colon. */
export function isNcName(text: string): boolean {
  return asciiNamePattern.test(text) || ncNamePattern.test(text)
}

/** [2] Char, for code points. */
export function isChar(code: number): boolean {
  if (code < 0x20) return code === TAB || code === LF || code === CR
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff)
}

/**
 * The offset after the character of two or more octets at `at`; 0 for octets that are not UTF-8
 * (RFC 3629 §4: overlong forms, surrogates, beyond U+10FFFF) or not a [2] Char (U+FFFE, U+FFFF).
 */
export function skipWideCharacter(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  const second = bytes[at + 1]!
  if (first < 0xc2 || (second & 0xc0) !== 0x80) return 0
  if (first < 0xe0) return at + 2
  const third = bytes[at + 2]!
  if ((third & 0xc0) !== 0x80) return 0
  if (first < 0xf0) {
    if ((first === 0xe0 && second < 0xa0) || (first === 0xed && second > 0x9f)) return 0
    return first === 0xef && second === 0xbf && third > 0xbd ? 0 : at + 3
  }
  if ((bytes[at + 3]! & 0xc0) !== 0x80) return 0
  return first > 0xf4 || (first === 0xf0 && second < 0x90) || (first === 0xf4 && second > 0x8f) ? 0 : at + 4
}
