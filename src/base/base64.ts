/**
 * Octets as text: base64 (RFC 4648 §4), base64url (§5) and hexadecimal (§8). What always holds:
 *  (1) A decoder returns undefined unless it decodes the text to its last character.
 *  (2) A strict decoder accepts one spelling of the same octets, white space apart (§3.5); a loose
 *      one accepts missing padding and any value of the unused bits.
 *  (3) Octets are a Uint8Array, never a Buffer, and share their memory with nothing.
 *
 * Node has a decoder of its own from version 25 on. Before, Buffer decodes, which skips unknown
 * characters and cuts wide ones to eight bits: its octets are encoded again and compared.
 */
import { attempt, isSyntaxError } from './attempt.ts'

/** Strictly, with white space anywhere: XML Schema Part 2 §3.2.16 base64Binary. */
export const decodeBase64 = (text: string): Uint8Array | undefined => decodeByRules(text, strictBase64)

/** Loosely, where the sender's padding proves nothing: RFC 9651 §4.2.7, RFC 7617, RFC 2045. */
export const decodeBase64Loosely = (text: string): Uint8Array | undefined => decodeByRules(text, looseBase64)

/** Loosely, for texts that the service made itself and a client sends back. */
export const decodeBase64Url = (text: string): Uint8Array | undefined => decodeByRules(text, looseBase64Url)

/** Decodes text that the program encoded itself: a failure means a mistake, or damage. */
export function requireBase64(text: string): Uint8Array {
  const octets = decodeBase64(text)
  if (octets) return octets
  throw new SyntaxError('the text is not base64')
}

/** The options of the native decoder. */
export interface Base64Rules {
  readonly alphabet: 'base64' | 'base64url'
  readonly lastChunkHandling: 'strict' | 'loose'
}
export const strictBase64: Base64Rules = { alphabet: 'base64', lastChunkHandling: 'strict' }
export const looseBase64: Base64Rules = { alphabet: 'base64', lastChunkHandling: 'loose' }
export const looseBase64Url: Base64Rules = { alphabet: 'base64url', lastChunkHandling: 'loose' }

/** ECMAScript 2026; undefined in Node 24. */
const decodeNatively: typeof Uint8Array.fromBase64 | undefined = Uint8Array.fromBase64

function decodeByRules(text: string, rules: Base64Rules): Uint8Array | undefined {
  if (!decodeNatively) return decodeByBuffer(text, rules)
  try {
    return decodeNatively(text, rules)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined
    throw thrown
  }
}

/** The twin of the native decoder; exported for the test that they agree. */
export function decodeByBuffer(text: string, { alphabet, lastChunkHandling }: Base64Rules): Uint8Array | undefined {
  const padded = removeBlanks(text)
  const digits = padded.endsWith('==') ? padded.slice(0, -2) : padded.endsWith('=') ? padded.slice(0, -1) : padded
  const isLoose = lastChunkHandling === 'loose'
  if (padded.length % 4 !== 0 && !(isLoose && padded === digits)) return undefined
  if (digits.length % 4 === 1) return undefined
  const octets = Buffer.from(digits, alphabet)
  // Some bits of the last of two or three digits are unused.
  const exact = isLoose && digits.length % 4 !== 0 ? digits.length - 1 : digits.length
  const isSame = octets.toString(alphabet).slice(0, exact) === digits.slice(0, exact)
  return isSame && lastDigit[alphabet].test(digits.slice(exact)) ? toPlainOctets(octets) : undefined
}
const lastDigit = { base64: /^[A-Za-z0-9+/]?$/, base64url: /^[A-Za-z0-9_-]?$/ }

const blank = /[\t\n\f\r ]/
const blanks = /[\t\n\f\r ]+/g
/** Without ASCII white space. */
export const removeBlanks = (text: string): string => (blank.test(text) ? text.replace(blanks, '') : text)

/** The native encoder where there is one, since it is faster; browsers may have none. */
const hasBuffer = typeof Buffer !== 'undefined'

/** Accepts capital and small letters. */
export function decodeHex(text: string): Uint8Array | undefined {
  if (!hasBuffer) return attempt(() => Uint8Array.fromHex(text), isSyntaxError)
  const octets = Buffer.from(text, 'hex') // stops at the first character that is not a digit
  return octets.toString('hex') === text.toLowerCase() ? toPlainOctets(octets) : undefined
}

export const encodeBase64 = (octets: Uint8Array): string =>
  hasBuffer ? toBuffer(octets).toString('base64') : octets.toBase64()
/** Without padding. */
export const encodeBase64Url = (octets: Uint8Array): string => toBuffer(octets).toString('base64url')
/** In capital letters, as required by RFC 4648 §8 and XML Schema Part 2 §3.2.15.2. */
export const encodeHex = (octets: Uint8Array): string =>
  (hasBuffer ? toBuffer(octets).toString('hex') : octets.toHex()).toUpperCase()

const toBuffer = (octets: Uint8Array): Buffer => Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)

/** (3): Buffer cuts small ones from a block that it shares. */
const toPlainOctets = (octets: Buffer<ArrayBuffer>): Uint8Array =>
  octets.length === octets.buffer.byteLength ? new Uint8Array(octets.buffer) : new Uint8Array(octets)
