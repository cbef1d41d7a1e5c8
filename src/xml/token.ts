/**
 * Qualified names as written (Namespaces in XML 1.0 §4 [7] QName), found by their octets without
 * making a string.
 *  (1) The table has a fixed number of slots, one for each hash, and a new name takes over its
 *      slot: colliding names, or a flood of new ones, cost only a look-up each and no memory.
 *  (2) A token is found only if all its octets are equal, and only well-formed names enter the
 *      table: a found token needs no check.
 *  (3) A token remembers the expanded names that it last meant, and in which scope; it holds on to
 *      no document.
 */

import { decodeUtf8 } from '../base/attempt.ts'
import * as character from './character.ts'
import type { Name } from './name.ts'

const { APOSTROPHE, nameOctet, isNcName, QUOTE } = character

export class QNameToken {
  readonly prefix: string
  readonly local: string
  /** The name with its prefix, or the default namespace, as bound in `scope`. */
  name: Name | undefined = undefined
  scope: object | undefined = undefined
  /** The name as an attribute without a prefix, which is in no namespace. */
  unqualified: Name | undefined = undefined
  /** For an attribute that declares a prefix: the last declaration. */
  declared: DeclaredNamespace | undefined = undefined
  /** Its place in the table; for a name that is too long 0, which is as good as any. */
  slot = 0
  /** In octets, as written. */
  readonly length: number
  /** Whether it names a namespace declaration (Namespaces [1] NSAttName). */
  readonly declares: boolean

  constructor(prefix: string, local: string, length: number) {
    this.length = length
    this.prefix = prefix
    this.local = local
    this.declares = prefix === 'xmlns' || (prefix === '' && local === 'xmlns')
  }

  /** Remembers the declaration in [from, to), unless it is long or contains a quote. */
  declare(bytes: Uint8Array, from: number, to: number, uri: string): void {
    if (to - from > rememberedOctetsMax) return
    const octets = new Uint8Array(to - from)
    for (let at = from; at < to; at++) {
      const octet = bytes[at]!
      if (octet === QUOTE || octet === APOSTROPHE) return
      octets[at - from] = octet
    }
    this.declared = { octets, uri }
  }
}

/** A namespace name as written, and as the single string that its names share. */
interface DeclaredNamespace {
  readonly octets: Uint8Array
  readonly uri: string
}

/** The longest declaration that is remembered, in octets. */
const rememberedOctetsMax = 128
const slotCount = 4096
const slotOctets = 64 // longer names are rare, and work without the table
const tokens: (QNameToken | undefined)[] = new Array(slotCount).fill(undefined)
const lengths = new Uint8Array(slotCount)
const spelling = new Uint8Array(slotCount * slotOctets)
/** For each token, the one that followed it last time. */
export type Followers = Uint16Array
/** The element after an element. */
export const elements: Followers = new Uint16Array(slotCount)
/** The first attribute of an element, and the attribute after an attribute. */
export const attributes: Followers = new Uint16Array(slotCount)

/**
 * The token with these octets; undefined when they are not a QName.
 * @param hash the hash of the octets, computed while they were scanned
 */
export function internToken(bytes: Buffer, from: number, to: number, hash: number): QNameToken | undefined {
  const slot = (hash ^ (hash >>> 15)) & (slotCount - 1)
  const length = to - from
  if (lengths[slot] !== length) return enterToken(bytes, from, to, slot)
  for (let k = 0, base = slot * slotOctets; k < length; k++) {
    if (spelling[base + k] !== bytes[from + k]) return enterToken(bytes, from, to, slot)
  }
  return tokens[slot]
}

/**
 * The token that followed `previous` last time, if it is the one at `from`: a guess that saves most
 * look-ups.
 */
export function matchExpected(
  bytes: Buffer,
  from: number,
  previous: QNameToken,
  followers: Followers,
): QNameToken | undefined {
  const slot = followers[previous.slot]!
  const length = lengths[slot]!
  for (let k = 0, base = slot * slotOctets; k < length; k++) {
    if (spelling[base + k] !== bytes[from + k]) return undefined
  }
  return nameOctet[bytes[from + length]!] === 1 ? undefined : tokens[slot]
}

/** Sets what to expect next time. */
export function rememberFollower(previous: QNameToken, next: QNameToken, followers: Followers): void {
  followers[previous.slot] = next.slot
}

function enterToken(bytes: Buffer, from: number, to: number, slot: number): QNameToken | undefined {
  const written = decodeNameOctets(bytes, from, to)
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!isNcName(local) || (colon >= 0 && !isNcName(prefix))) return undefined
  const token =
    prefix === 'xmlns'
      ? new QNameToken('xmlns', internText(local), to - from)
      : new QNameToken(internText(prefix), local, to - from)
  if (to - from <= slotOctets && to > from) {
    tokens[slot] = token
    token.slot = slot
    lengths[slot] = to - from
    for (let at = from, place = slot * slotOctets; at < to; at++, place++) spelling[place] = bytes[at]!
  }
  return token
}

/** Empty except during `internText`. */
const passingKeys: Record<string, 0> = Object.create(null)

/**
 * The text as the engine's own copy, so that equal texts compare by address: a string becomes one
 * when it is used as a key. Objects made for this purpose cost twice as much (measured).
 */
function internText(text: string): string {
  if (text === '') return ''
  passingKeys[text] = 0
  delete passingKeys[text]
  return text
}

/** The text; empty, which is not a name, for octets that are not UTF-8. */
export function decodeNameOctets(bytes: Buffer, from: number, to: number): string {
  let at = from
  while (at < to && bytes[at]! < 0x80) at++
  return at === to ? bytes.toString('latin1', from, to) : (decodeUtf8(bytes.subarray(from, to)) ?? '')
}
