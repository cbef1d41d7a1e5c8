/**
 * Guards the application against JSON that two readers understand differently: RFC 8259 with the rules of I-JSON (RFC 7493).
 * (1) A name comes once in an object, texts are well-formed Unicode, the encoding is UTF-8 without a byte order mark.
 * (2) Nothing is nested deeper, no number is longer and no object has more names than the limits allow.
 * (3) An integer is exact: beyond ±(2^53−1) it is a bigint. A number that no double can hold, such as 1e400, is a failure.
 * (4) `__proto__` is an own property as any other name; no prototype is ever set.
 *
 * Two readers that agree. JSON.parse reads what is plain: a scan of the text before it finds whatever JSON.parse would take
 * and we don't, and counts the names; fewer names in the value than in the text is a duplicate. All else is read by
 * `JsonReader`, several times slower, which knows where it is and why it stops.
 */

import { attempt, decodeUtf8, isSyntaxError } from '../base/attempt.ts'
import type { Json } from '../base/objects.ts'
import { writePointer } from './json-pointer.ts'

export type { Json }

export interface JsonLimits {
  /** Arrays and objects within each other. */
  readonly depth: number
  /** Characters of one number: the conversion of a long integer takes time that grows with its square. */
  readonly digits: number
  /** Names in one object: each that the engine has not met costs it as much as a hundred octets elsewhere. */
  readonly names: number
}

export const jsonLimits: JsonLimits = { depth: 64, digits: 1000, names: 10_000 }

export interface JsonFailure {
  readonly reason: string
  /** UTF-16 code units from the start of the text; octets where the octets are not UTF-8. */
  readonly at: number
  /** JSON Pointer to the value that was being read. */
  readonly pointer: string
}

export type JsonResult =
  | { readonly value: Json; readonly failure?: never }
  | { readonly failure: JsonFailure; readonly value?: never }

/**
 * One JSON text: its value, or why and where it is none. Octets are UTF-8. Integers beyond ±(2^53−1) come back as bigint, all
 * other numbers as the nearest double; objects and arrays are ordinary ones, as JSON.parse makes them.
 */
export function parseJson(source: string | Uint8Array, limits: JsonLimits = jsonLimits): JsonResult {
  const text = typeof source === 'string' ? source : decode(source)
  if (typeof text === 'number') return { failure: { reason: 'not UTF-8 (RFC 8259 §8.1)', at: text, pointer: '' } }
  const names = plainNames(text, limits)
  if (names !== undefined) {
    const value = parsed(text)
    if (value !== undefined && namesIn(value) === names) return { value }
  }
  return new JsonReader(text, limits).document()
}

/** The text, or the place of the first octets that are not UTF-8. */
function decode(bytes: Uint8Array): string | number {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return text
  const mended = new TextEncoder().encode(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  return mended.findIndex((octet, at) => octet !== bytes[at])
}

/** undefined where JSON.parse finds no JSON; no JSON text has that value. */
const parsed = (text: string): Json | undefined => attempt(() => JSON.parse(text), isSyntaxError)

const quote = 0x22
const backslash = 0x5c

/**
 * The number of names in a text, for JSON.parse to read; undefined when it needs the careful reader: an escape that may be
 * half a surrogate pair, sixteen digits in a row or an exponent (exact integers, overflow), nesting or an object beyond the
 * limit. Not a check of the grammar, which is left to JSON.parse; in a text that passes it every colon outside a string ends
 * a name.
 */
function plainNames(text: string, limits: JsonLimits): number | undefined {
  if (!text.isWellFormed()) return undefined
  const escapes = text.includes('\\')
  if (escapes && /\\u[dD]/.test(text)) return undefined
  const longest = Math.min(15, limits.digits)
  const own = [0] // the names so far of the object that is open at each depth
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
    if (code === quote) {
      at = endOfString(text, at + 1, escapes)
      if (at < 0) return undefined
    } else if (code === 0x3a) {
      names++
      if (++own[depth]! > limits.names) return undefined
    } else if (code === 0x7b || code === 0x5b) {
      if (++depth > limits.depth) return undefined
      own[depth] = 0
    } else if (code === 0x7d || code === 0x5d) depth--
    else if (code === 0x45 || (code === 0x65 && isDigit(text.charCodeAt(at - 1)))) return undefined
  }
  return names
}

/** Where a string that starts before `at` is closed; -1 when it is not. */
function endOfString(text: string, at: number, escapes: boolean): number {
  if (!escapes) return text.indexOf('"', at)
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) at++
  }
  return -1
}

/** The names in all objects of a value. Deep recursion is cut before: plainNames has counted the depth. */
function namesIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0
  let names = 0
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) names += namesIn(value[at])
    return names
  }
  const record = value as { readonly [name: string]: Json } // neither a primitive nor an array
  for (const name in record) names += 1 + namesIn(record[name]!)
  return names
}

const isDigit = (code: number) => code >= 0x30 && code <= 0x39

class Failed {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

const number = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const space = /[ \t\n\r]*/y
const plain = /[^"\\\u0000-\u001f]*/y
const escapeSequence = /\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))/y
const escaped: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

/** RFC 8259 §2 to §7, a method for each production. `fail` unwinds to `document`, the only place that catches. */
class JsonReader {
  private at = 0
  private readonly path: (string | number)[] = []
  private readonly text: string
  private readonly limits: JsonLimits

  constructor(text: string, limits: JsonLimits) {
    this.text = text
    this.limits = limits
  }

  document(): JsonResult {
    try {
      if (this.text.startsWith('\ufeff')) this.fail('a byte order mark (RFC 8259 §8.1)')
      this.match(space)
      const value = this.value()
      this.match(space)
      if (this.at < this.text.length) this.fail('text after the value')
      return { value }
    } catch (failed) {
      if (!(failed instanceof Failed)) throw failed
      return { failure: { reason: failed.reason, at: this.at, pointer: writePointer(this.path) } }
    }
  }

  private fail(reason: string): never {
    throw new Failed(reason)
  }

  /** What a sticky expression finds here; the reader is then behind it. */
  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found) this.at = pattern.lastIndex
    return found
  }

  private next(char: string): boolean {
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  private value(): Json {
    switch (this.text[this.at]) {
      case '{':
        return this.object()
      case '[':
        return this.array()
      case '"':
        return this.string()
    }
    for (const [word, value] of literals)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length
        return value
      }
    return this.number()
  }

  private object(): Json {
    const record: { [name: string]: Json } = {}
    this.open()
    if (this.next('}')) return record
    let names = 0
    do {
      if (++names > this.limits.names) this.fail(`more than ${this.limits.names} names in one object`)
      this.member(record)
    } while (this.next(','))
    if (!this.next('}')) this.fail('a comma or } is due')
    return record
  }

  private member(record: { [name: string]: Json }) {
    this.match(space)
    const start = this.at
    if (this.text[start] !== '"') this.fail('a name in quotes is due')
    const name = this.string()
    this.path.push(name)
    if (Object.hasOwn(record, name)) this.failAt(start, 'a name that the object has already (RFC 7493 §2.3)')
    this.match(space)
    if (!this.next(':')) this.fail('a colon is due')
    this.match(space)
    defineMember(record, name, this.value())
    this.path.pop()
    this.match(space)
  }

  private array(): Json {
    const items: Json[] = []
    this.open()
    if (this.next(']')) return items
    do this.item(items)
    while (this.next(','))
    if (!this.next(']')) this.fail('a comma or ] is due')
    return items
  }

  private item(items: Json[]) {
    this.path.push(items.length)
    this.match(space)
    items.push(this.value())
    this.path.pop()
    this.match(space)
  }

  private open() {
    if (this.path.length >= this.limits.depth) this.fail(`nested deeper than ${this.limits.depth}`)
    this.at++
    this.match(space)
  }

  private number(): Json {
    const start = this.at
    const found = this.match(number)
    if (!found) this.fail(start < this.text.length ? 'no JSON value' : 'the text ends before the value')
    const [digits, fraction, exponent] = found
    if (digits.length > this.limits.digits) return this.failAt(start, `a number longer than ${this.limits.digits}`)
    const value = Number(digits)
    if (!Number.isFinite(value)) return this.failAt(start, 'a number that a double cannot hold (RFC 7493 §2.2)')
    return Number.isSafeInteger(value) || fraction !== undefined || exponent !== undefined ? value : BigInt(digits)
  }

  private failAt(at: number, reason: string): never {
    this.at = at
    return this.fail(reason)
  }

  private string(): string {
    const start = this.at++
    let value = ''
    for (;;) {
      value += this.match(plain)![0] // it matches at least the empty text
      if (this.next('"')) break
      if (this.at >= this.text.length) return this.failAt(start, 'a string that is not closed')
      const found = this.match(escapeSequence)
      if (!found) this.fail(this.text[this.at] === '\\' ? 'no such escape' : 'a control character in a string')
      const [, char, hex] = found
      value += hex === undefined ? (escaped[char!] ?? char!) : String.fromCharCode(Number.parseInt(hex, 16))
    }
    if (!value.isWellFormed()) return this.failAt(start, 'half a surrogate pair (RFC 7493 §2.1)')
    return value
  }
}

/** Sets an own member, whatever its name: assigning to `__proto__` would set the prototype. */
export function defineMember(record: { [name: string]: Json }, name: string, value: Json): void {
  if (name === '__proto__')
    Object.defineProperty(record, name, { value, writable: true, enumerable: true, configurable: true })
  else record[name] = value
}

/** JSON text of a value; a bigint is written with all its digits. */
export function writeJson(value: Json): string {
  try {
    return JSON.stringify(value)
  } catch (thrown) {
    if (thrown instanceof TypeError) return writeExactly(value) // it has no text for a bigint
    throw thrown
  }
}

function writeExactly(value: Json): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(writeExactly).join(',')}]`
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${writeExactly(member)}`).join(',')}}`
}
