/**
 * Guards the application against JSON that two readers understand differently: RFC 8259 with the
 * rules of I-JSON (RFC 7493).
 *  (1) A name occurs once in an object, texts are well-formed Unicode, the encoding is UTF-8
 *      without a byte order mark.
 *  (2) Nothing is nested deeper, no number is longer and no object has more names than the limits
 *      allow.
 *  (3) An integer is exact: beyond ±(2^53−1) it is a bigint. A number that no double can hold, such
 *      as 1e400, is a failure.
 *  (4) `__proto__` is an own property like any other name; no prototype is ever set.
 *
 * There are two readers, which agree. JSON.parse reads plain text: a scan finds beforehand what
 * JSON.parse would accept against these rules, and counts the names; fewer names in the value than
 * in the text mean a duplicate. `JsonReader` reads everything else, several times slower, and can
 * say where and why it stops.
 */

import { decodeUtf8, isSyntaxError } from '../base/attempt.ts'
import type { Json } from '../base/objects.ts'
import { writePointer } from './json-pointer.ts'

export { writeExactly, writeJson } from './write-json.ts'
export type { Json }

/** Bounds for one JSON text; content beyond them is a failure, as if it were malformed. */
export interface JsonLimits {
  /** Nesting of arrays and objects. */
  readonly depth: number
  /** Characters of one number: converting a long integer takes time quadratic in its length. */
  readonly digits: number
  /**
   * Names in one object: a name that the engine does not know yet costs as much as a hundred octets
   * elsewhere.
   */
  readonly names: number
}

/** The limits of content that is sent to a service: 64 levels, 1,000 digits, 10,000 names. */
export const jsonLimits: JsonLimits = { depth: 64, digits: 1000, names: 10_000 }

/** Why a text is not JSON (RFC 8259), or beyond the limits, and where. */
export interface JsonFailure {
  readonly reason: string
  /** UTF-16 code units from the start of the text; octets where the octets are not UTF-8. */
  readonly at: number
  /** JSON Pointer to the value that was being read. */
  readonly pointer: string
}

/** The value of a JSON text, or why it has no value. */
export type JsonResult =
  | { readonly value: Json; readonly failure?: never }
  | { readonly failure: JsonFailure; readonly value?: never }

/**
 * One JSON text: its value, or why and where it fails. Octets are UTF-8. Integers beyond ±(2^53−1)
 * are bigint, all other numbers the nearest double; objects and arrays are ordinary ones, as
 * JSON.parse makes them.
 */
export function parseJson(source: string | Uint8Array, limits: JsonLimits = jsonLimits): JsonResult {
  const text = typeof source === 'string' ? source : decodeText(source)
  if (typeof text === 'number') return { failure: { reason: 'not UTF-8 (RFC 8259 §8.1)', at: text, pointer: '' } }
  const names = countPlainNames(text, limits)
  if (names !== undefined) {
    const value = parsePlain(text)
    if (value !== undefined && countNames(value) === names) return { value }
  }
  return new JsonReader(text, limits).readDocument()
}

/** The text, or the offset of the first octets that are not UTF-8. */
function decodeText(bytes: Uint8Array): string | number {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  const mended = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return mended.findIndex((octet, at) => octet !== bytes[at])
}

/** Undefined where JSON.parse fails; no JSON text has that value. */
function parsePlain(text: string): Json | undefined {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    if (isSyntaxError(thrown)) return undefined
    throw thrown
  }
}

const quoteCode = 0x22
const backslashCode = 0x5c

/**
 * The number of names in a text that JSON.parse may read; undefined when the text needs the careful
 * reader: an escape that may be half a surrogate pair, sixteen digits in a row or an exponent
 * (exact integers, overflow), nesting or an object beyond the limit. It does not check the grammar,
 * which is left to JSON.parse; in a text that passes, every colon outside a string ends a name.
 */
function countPlainNames(text: string, limits: JsonLimits): number | undefined {
  if (!text.isWellFormed()) return undefined
  const escapes = text.includes('\\')
  if (escapes && /\\u[dD]/.test(text)) return undefined
  const longest = Math.min(15, limits.digits)
  const counts = [0] // the names so far in the open object at each depth
  let names = 0
  let depth = 0
  let digits = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) {
      if (++digits > longest) return undefined
      continue
    }
    digits = 0
    if (code === quoteCode) {
      at = findStringEnd(text, at + 1, escapes)
      if (at < 0) return undefined
    } else if (code === 0x3a) {
      names++
      if (++counts[depth]! > limits.names) return undefined
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > limits.depth) return undefined
      counts[depth] = 0
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x45 || (code === 0x65 && isDigit(text.charCodeAt(at - 1)))) return undefined
  }
  return names
}

/** The offset at which a string that begins before `at` is closed, or -1. */
function findStringEnd(text: string, at: number, escapes: boolean): number {
  if (!escapes) return text.indexOf('"', at)
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quoteCode) return at
    if (code === backslashCode) at++
  }
  return -1
}

/**
 * The names in all objects of a value. The recursion is shallow: countPlainNames has limited the
 * depth.
 */
function countNames(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) names += countNames(value[at])
    return names
  }
  const record = value as { readonly [name: string]: Json } // neither a primitive nor an array
  for (const name in record) names += 1 + countNames(record[name]!)
  return names
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

class JsonFailed {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

const numberPattern = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const spacePattern = /[ \t\n\r]*/y
const plainPattern = /[^"\\\u0000-\u001f]*/y
const escapePattern = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y
const characterOfEscape: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/**
 * RFC 8259 §2 to §7, with a method for each production. `fail` unwinds to `readDocument`, the only
 * place that catches.
 */
class JsonReader {
  #at = 0
  readonly #path: (string | number)[] = []
  readonly #text: string
  readonly #limits: JsonLimits

  constructor(text: string, limits: JsonLimits) {
    this.#text = text
    this.#limits = limits
  }

  readDocument(): JsonResult {
    try {
      if (this.#text.startsWith('\ufeff')) this.#fail('a byte order mark (RFC 8259 §8.1)')
      this.#match(spacePattern)
      const value = this.#readValue()
      this.#match(spacePattern)
      if (this.#at < this.#text.length) this.#fail('text after the value')
      return { value }
    } catch (failed) {
      if (!(failed instanceof JsonFailed)) throw failed
      return { failure: { reason: failed.reason, at: this.#at, pointer: writePointer(this.#path) } }
    }
  }

  #fail(reason: string): never {
    throw new JsonFailed(reason)
  }

  /** What a sticky expression finds here; the reader is then after it. */
  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found) this.#at = pattern.lastIndex
    return found
  }

  #skipIf(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #readValue(): Json {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#readObject()
      case '[':
        return this.#readArray()
      case '"':
        return this.#readString()
    }
    for (const [word, value] of literals)
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    return this.#readNumber()
  }

  #readObject(): Json {
    const record: { [name: string]: Json } = {}
    this.#openContainer()
    if (this.#skipIf('}')) return record
    let names = 0
    do {
      if (++names > this.#limits.names) this.#fail(`more than ${this.#limits.names} names in one object`)
      this.#readMember(record)
    } while (this.#skipIf(','))
    if (!this.#skipIf('}')) this.#fail('expected a comma or }')
    return record
  }

  #readMember(record: { [name: string]: Json }) {
    this.#match(spacePattern)
    const start = this.#at
    if (this.#text[start] !== '"') this.#fail('expected a name in quotes')
    const name = this.#readString()
    this.#path.push(name)
    if (Object.hasOwn(record, name)) this.#failAt(start, 'a duplicate name (RFC 7493 §2.3)')
    this.#match(spacePattern)
    if (!this.#skipIf(':')) this.#fail('expected a colon')
    this.#match(spacePattern)
    defineMember(record, name, this.#readValue())
    this.#path.pop()
    this.#match(spacePattern)
  }

  #readArray(): Json {
    const items: Json[] = []
    this.#openContainer()
    if (this.#skipIf(']')) return items
    do this.#readItem(items)
    while (this.#skipIf(','))
    if (!this.#skipIf(']')) this.#fail('expected a comma or ]')
    return items
  }

  #readItem(items: Json[]) {
    this.#path.push(items.length)
    this.#match(spacePattern)
    items.push(this.#readValue())
    this.#path.pop()
    this.#match(spacePattern)
  }

  #openContainer() {
    if (this.#path.length >= this.#limits.depth) this.#fail(`nested deeper than ${this.#limits.depth}`)
    this.#at++
    this.#match(spacePattern)
  }

  #readNumber(): Json {
    const start = this.#at
    const found = this.#match(numberPattern)
    if (!found) this.#fail(start < this.#text.length ? 'not a JSON value' : 'the text ends before the value')
    const [digits, fraction, exponent] = found
    if (digits.length > this.#limits.digits)
      return this.#failAt(start, `a number of more than ${this.#limits.digits} characters`)
    const value = Number(digits)
    if (!Number.isFinite(value)) return this.#failAt(start, 'a number that a double cannot hold (RFC 7493 §2.2)')
    return Number.isSafeInteger(value) || fraction !== undefined || exponent !== undefined ? value : BigInt(digits)
  }

  #failAt(at: number, reason: string): never {
    this.#at = at
    return this.#fail(reason)
  }

  #readString(): string {
    const start = this.#at++
    let value = ''
    for (;;) {
      value += this.#match(plainPattern)![0] // it matches at least the empty text
      if (this.#skipIf('"')) break
      if (this.#at >= this.#text.length) return this.#failAt(start, 'an unclosed string')
      const found = this.#match(escapePattern)
      if (!found) this.#fail(this.#text[this.#at] === '\\' ? 'an invalid escape' : 'a control character in a string')
      const [, char, hex] = found
      value += hex === undefined ? (characterOfEscape[char!] ?? char!) : String.fromCharCode(Number.parseInt(hex, 16))
    }
    if (!value.isWellFormed()) return this.#failAt(start, 'an unpaired surrogate (RFC 7493 §2.1)')
    return value
  }
}

/** Sets an own member, whatever its name: an assignment to `__proto__` would set the prototype. */
export function defineMember(record: { [name: string]: Json }, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}
