import { decodeUtf8 } from '../base/attempt.ts'
import * as character from './character.ts'
import type { Name } from './name.ts'

const { APOSTROPHE, nameOctet, isNcName: ncName, QUOTE } = character

/**
 * A qualified name as it is written (Namespaces in XML 1.0 §4 [7] QName), found by its octets without making a string.
 *  (1) The table has a fixed number of slots, one for each hash, and a newcomer takes its slot: names made to collide, or a
 *      flood of new ones, cost no more than a look-up and no memory.
 *  (2) A token is found only when all of its octets are equal, and only well-formed names enter: what is found needs no check.
 *  (3) A token remembers the expanded names it meant last, and where; it holds on to no document.
 */
export class QNameToken {
  readonly prefix: string
  readonly local: string
  /** With its prefix, or the default namespace, bound as it was in `scope`. */
  name: Name | undefined = undefined
  scope: object | undefined = undefined
  /** Of an attribute without a prefix, which is in no namespace. */
  unqualified: Name | undefined = undefined
  /** Of an attribute that declares a prefix: what it said last. */
  declared: DeclaredNamespace | undefined = undefined
  /** Its place in the table; 0, which is as good as any, when it is too long for it. */
  slot = 0
  /** In octets, as written. */
  readonly length: number
  /** Whether it is the name of a namespace declaration (Namespaces [1] NSAttName). */
  readonly declares: boolean

  constructor(prefix: string, local: string, length: number) {
    this.length = length
    this.prefix = prefix
    this.local = local
    this.declares = prefix === 'xmlns' || (prefix === '' && local === 'xmlns')
  }

  /** Remembers a declaration, but none that is long or has a quote in it. */
  declare(octets: Uint8Array, uri: string): void {
    if (octets.length > longest || octets.includes(QUOTE) || octets.includes(APOSTROPHE)) return
    this.declared = { octets: new Uint8Array(octets), uri }
  }
}

/** A namespace name as it is written, and as the one string of the names in it. */
interface DeclaredNamespace {
  readonly octets: Uint8Array
  readonly uri: string
}

/** Octets of a declaration that is remembered. */
const longest = 128
const slots = 4096
const width = 64 // longer names are rare, and work without the table
const tokens: (QNameToken | undefined)[] = new Array(slots).fill(undefined)
const lengths = new Uint8Array(slots)
const spelling = new Uint8Array(slots * width)
/** For each token, the one that came after it the last time. */
export type Followers = Uint16Array
/** The element after an element. */
export const elements: Followers = new Uint16Array(slots)
/** The first attribute of an element, and the attribute after an attribute. */
export const attributes: Followers = new Uint16Array(slots)

/** The token spelt by these octets, whose `hash` the caller computed while it scanned them; undefined when it is no QName. */
export function internToken(bytes: Buffer, from: number, to: number, hash: number): QNameToken | undefined {
  const slot = (hash ^ (hash >>> 15)) & (slots - 1)
  const length = to - from
  if (lengths[slot] !== length) return enter(bytes, from, to, slot)
  for (let k = 0, base = slot * width; k < length; k++) {
    if (spelling[base + k] !== bytes[from + k]) return enter(bytes, from, to, slot)
  }
  return tokens[slot]
}

/** The token that came after `previous` the last time, if it is spelt at `from`: a guess that saves most look-ups. */
export function matchExpected(
  bytes: Buffer,
  from: number,
  previous: QNameToken,
  followers: Followers,
): QNameToken | undefined {
  const slot = followers[previous.slot]!
  const length = lengths[slot]!
  for (let k = 0, base = slot * width; k < length; k++) {
    if (spelling[base + k] !== bytes[from + k]) return undefined
  }
  return nameOctet[bytes[from + length]!] === 1 ? undefined : tokens[slot]
}

/** What to expect the next time. */
export function rememberFollower(previous: QNameToken, next: QNameToken, followers: Followers): void {
  followers[previous.slot] = next.slot
}

function enter(bytes: Buffer, from: number, to: number, slot: number): QNameToken | undefined {
  const written = decode(bytes, from, to)
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!ncName(local) || (colon >= 0 && !ncName(prefix))) return undefined
  const made = new QNameToken(unique(prefix), prefix === 'xmlns' ? unique(local) : local, to - from)
  if (to - from <= width && to > from) {
    tokens[slot] = made
    made.slot = slot
    lengths[slot] = to - from
    spelling.set(bytes.subarray(from, to), slot * width)
  }
  return made
}

/** The engine's own copy of a string, so that equal ones are compared by address. */
function unique(text: string): string {
  return text === '' ? '' : Object.keys({ [text]: 0 })[0]!
}

/** The text, or one that is no name when the octets are not UTF-8. */
function decode(bytes: Buffer, from: number, to: number): string {
  let at = from
  while (at < to && bytes[at]! < 0x80) at++
  return at === to ? bytes.toString('latin1', from, to) : (decodeUtf8(bytes.subarray(from, to)) ?? '')
}
