/**
 * The parser: a cursor over bytes. What always holds, by number:
 *  (1) It accepts exactly the documents of XML 1.0 (Fifth Edition) that have no document type
 *      declaration and are namespace-well-formed (Namespaces in XML 1.0, Third Edition), in an
 *      encoding of `encoding.ts`, within the limits. `after` is reached only at their last byte.
 *  (2) Whatever the bytes are, only a Malformed is thrown.
 *  (3) The time is proportional to the bytes: no look-up depends on depth, on the number of names,
 *      attributes or declarations, or on hashes that a stranger can steer.
 *  (4) No read is beyond the bytes: `end` is the offset after the last `>`, and every scan without
 *      a bound of its own stops at a `>`.
 *  (5) Skipped content is checked in the same way as content that is read.
 * Strings are created on demand; where the span is ASCII, they are cut from a Latin-1 view of the
 * octets ahead.
 */

import * as character from './character.ts'
import type { Cursor, Event } from './cursor.ts'
import { decodeReceived, openSource, type XmlSource } from './encoding.ts'
import { defaultXmlLimits, type ParseOptions, type XmlLimits } from './limits.ts'
import { Malformed } from './malformed.ts'
import { internName, internTransient, knownUri, type Name, resolveQName, xmlnsUri, xmlUri } from './name.ts'
import { type Binding, Bindings, outermost } from './prefix-bindings.ts'
import {
  attributes,
  decodeNameOctets,
  elements,
  type Followers,
  internToken,
  matchExpected,
  QNameToken,
  rememberFollower,
} from './token.ts'

/**
 * The compiler treats constants of this module as constants, but reads imported ones each time: a
 * twelfth of a scan.
 */
const {
  AMP,
  APOSTROPHE,
  BANG,
  BRACKET,
  blank,
  CR,
  DASH,
  EQUALS,
  GT,
  HASH,
  isChar,
  LF,
  LT,
  legal,
  nameOctet,
  isNcName,
  skipWideCharacter,
  plainText,
  plainValue,
  QUESTION,
  QUOTE,
  SEMICOLON,
  SLASH,
  SPACE,
} = character

/** A cursor over the octets of a document. */
export interface Scanner extends Cursor {
  readonly bytes: Buffer
}

/**
 * A cursor over these bytes, which must not change while it is used.
 * @throws Malformed, as its movements do
 */
export function scanDocument(bytes: Uint8Array, options: ParseOptions = {}): Scanner {
  return new DocumentScanner(bytes, options)
}

/** Stands for the start tag before the first one. */
const noToken = new QNameToken('', '', 0)
const nameless = internName('', '')

/** What the next movement does first, as numbers, which compare faster than events. */
const NOTHING = 0
/** After an `end`: leave its element. */
const LEAVING = 1
/** After the `start` of an element without content: end it. */
const EMPTY = 2

/** An open element. There is one object for each depth, and it is reused. */
class OpenElement {
  readonly outer: OpenElement | undefined
  inner: OpenElement | undefined = undefined
  name: Name = nameless
  prefix = ''
  /** Octets of the name in the start tag. */
  nameFrom = 0
  nameTo = 0
  /** The innermost binding outside this element. */
  bindings: Binding = outermost
  children = 0
  /** The position of this element among consecutive siblings of the same name. */
  nth = 0

  constructor(outer: OpenElement | undefined) {
    this.outer = outer
  }
}

const noDeclarations: readonly { readonly prefix: string; readonly uri: string }[] = []

/** An attribute of the current start tag. The object is reused. */
class AttributeSlot {
  spelt: QNameToken = noToken
  name: Name = nameless
  /** Octets of the value. */
  from = 0
  to = 0
  /** Undefined where these octets are the value unchanged. */
  value: string | undefined = undefined
}

/** The length up to which tokens remember namespace names, so that their memory is bounded. */
const rememberedUriMax = 256
/**
 * The window from which strings are cut, in octets; a short string may keep all of it alive. Long
 * strings are copied.
 */
const windowOctets = 8 * 1024
const sectionStart = new TextEncoder().encode('<![CDATA[')
const BRACKET_OPEN = 0x5b
/** §4.6. */
const characterOfEntity = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['apos', "'"],
  ['quot', '"'],
])
/** The value of each octet as a digit; 255 for none. */
const digitOf = Uint8Array.from({ length: 256 }, (_, octet) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(octet).toLowerCase()),
)
const blankText = /^[ \t\n\r]*$/

/**
 * Only `Scanner` is visible outside this file, so its state needs no `#private` members: one
 * scanner is created for each message, and for a document of 1 KB so many private members cost 6 to
 * 14 % (measured).
 */
class DocumentScanner implements Scanner {
  event: Event = 'before'
  depth = 0
  target = ''
  from = 0
  attributes = 0
  irregular = -1

  readonly original: Uint8Array
  readonly source: XmlSource
  /** The document in UTF-8, to which all offsets refer. */
  readonly bytes: Buffer
  /** Octets [windowFrom, windowTo) as Latin-1. The window only moves forward. */
  window = ''
  windowFrom = 0
  windowTo = 0
  readonly end: number
  readonly limits: XmlLimits
  readonly reportsComments: boolean
  readonly refusesInstructions: boolean

  offset: number
  frame: OpenElement = new OpenElement(undefined)
  /** What the next movement does first. */
  due = NOTHING
  elementCount = 0
  referenceCount = 0
  newNames = 0
  readonly countName = () => {
    if (++this.newNames > this.limits.names) this.fail(`more than ${this.limits.names} new names`, this.offset, 'names')
  }
  character = ''

  readonly bindings = new Bindings()
  previous: QNameToken = noToken

  readonly slots: AttributeSlot[] = []

  /** The current text: octets [textFrom, textTo) while `cooked` is undefined. */
  cooked: string | undefined = ''
  textFrom = 0
  textTo = 0
  isAscii = true

  constructor(bytes: Uint8Array, options: ParseOptions) {
    this.limits = options.limits ? { ...defaultXmlLimits, ...options.limits } : defaultXmlLimits
    this.original = bytes
    if (bytes.length > this.limits.bytes) throw new Malformed('the document is too long', this.limits.bytes, 'bytes')
    this.source = openSource(bytes, options.charset)
    const { bytes: utf8 } = this.source
    this.bytes = Buffer.isBuffer(utf8) ? utf8 : Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength)
    this.reportsComments = options.comments ?? false
    this.refusesInstructions = options.instructions === 'refuse'
    this.end = this.bytes.length
    while (this.end > 0 && blank[this.bytes[this.end - 1]!] === 1) this.end--
    this.offset = this.source.from
    if (this.bytes[this.end - 1] !== GT)
      this.fail('the document is cut off, or something follows it', this.bytes.length)
    for (const [prefix, uri] of options.scope ?? []) this.bind(prefix, knownUri(uri) ?? uri, false, 0)
  }

  // Moving

  next(): Event {
    return this.advance(false)
  }

  child(): Event {
    let event = this.advance(true)
    while (event === 'comment' || (event === 'text' && blankText.test(this.value))) event = this.advance(true)
    return event
  }

  text(): string | undefined {
    return this.gatherText() ? this.value : undefined
  }

  octets(): Uint8Array | undefined {
    if (!this.gatherText()) return undefined
    if (this.cooked !== undefined) return new TextEncoder().encode(this.cooked)
    return this.bytes.subarray(this.textFrom, this.textTo)
  }

  skip(): void {
    const { depth } = this
    while (this.event !== 'end' || this.depth > depth) this.advance(true)
  }

  finish(): void {
    while (this.event !== 'after') this.advance(true)
  }

  // Reading what is at hand

  get name(): Name {
    return this.frame.name
  }

  get prefix(): string {
    return this.frame.prefix
  }

  get to(): number {
    return this.offset
  }

  get value(): string {
    return this.cooked ?? this.cut(this.textFrom, this.textTo, this.isAscii)
  }

  attributeName(index: number): Name {
    return this.slots[index]!.name
  }

  attributePrefix(index: number): string {
    return this.slots[index]!.spelt.prefix
  }

  attributeValue(index: number): string {
    return this.textOf(this.slots[index]!)
  }

  attribute(name: Name): string | undefined {
    for (let index = 0; index < this.attributes; index++) {
      if (this.slots[index]!.name === name) return this.attributeValue(index)
    }
    return undefined
  }

  declarations(): readonly { readonly prefix: string; readonly uri: string }[] {
    const outer = this.frame.bindings
    if (this.bindings.innermost === outer) return noDeclarations
    const own: { readonly prefix: string; readonly uri: string }[] = []
    for (let binding = this.bindings.innermost; binding !== outer; binding = binding.previous!) {
      own.push({ prefix: binding.prefix, uri: binding.uri })
    }
    return own.reverse()
  }

  namespace(prefix: string): string | undefined {
    if (prefix === 'xml') return xmlUri
    return this.bindings.find(prefix)?.uri ?? (prefix === '' ? '' : undefined)
  }

  qname(text: string): Name | undefined {
    return resolveQName(text, this, this.countName)
  }

  path(): string {
    let path = ''
    for (let frame = this.frame; frame.outer; frame = frame.outer) path = `/${frame.name.local}[${frame.nth}]${path}`
    return path
  }

  // Documents: [1] document, [22] prolog, [27] Misc

  advance(passing: boolean): Event {
    const { due } = this
    if (due === LEAVING) this.leaveElement()
    else if (due === EMPTY) return this.endElement(this.offset, this.offset)
    return this.depth === 0 ? this.nextOutside() : this.nextInside(passing)
  }

  nextOutside(): Event {
    const { bytes, end } = this
    for (;;) {
      const at = this.skipBlanks(this.offset)
      if (at >= end) {
        if (this.elementCount === 0) this.fail('no root element', at)
        this.from = this.offset = at
        return (this.event = 'after')
      }
      if (bytes[at] !== LT)
        this.fail(this.elementCount ? 'text after the root element' : 'text outside the root element', at)
      if (bytes[at + 1] === BANG) {
        if (this.readComment(at)) return this.event
      } else if (bytes[at + 1] === QUESTION) {
        return this.readInstruction(at)
      } else {
        if (this.elementCount > 0) this.fail('a second root element', at)
        return this.openElement(at)
      }
    }
  }

  /** [43] content */
  nextInside(passing: boolean): Event {
    const { bytes } = this
    for (;;) {
      let at = this.offset
      if (passing) {
        while (at < this.end && blank[bytes[at]!] === 1) at++
        if (bytes[at] !== LT) at = this.offset
      }
      if (at >= this.end) this.fail('the document ends inside an element', at)
      if (bytes[at] === LT) {
        const next = bytes[at + 1]!
        if (next === SLASH) return this.closeElement(at)
        if (next === QUESTION) return this.readInstruction(at)
        if (next !== BANG) return this.openElement(at)
        if (bytes[at + 2] !== BRACKET_OPEN && this.reportsComments) {
          this.readComment(at)
          return this.event
        }
      }
      const to = this.readRun(at)
      this.from = at
      this.offset = to
      if (this.cooked !== '') return (this.event = 'text')
    }
  }

  // Elements: [39] element, [40] STag, [42] ETag, [44] EmptyElemTag

  openElement(from: number): Event {
    const { bytes, limits } = this
    const spelt =
      matchExpected(bytes, from + 1, this.previous, elements) ?? this.readToken(from + 1, this.previous, elements)
    if (spelt.length > limits.name) this.fail('a name is too long', from + 1 + limits.name, 'name')
    this.previous = spelt
    let at = from + 1 + spelt.length
    const outer = this.frame
    const frame = (outer.inner ??= new OpenElement(outer))
    if (++this.depth > limits.depth) this.fail(`nested deeper than ${limits.depth}`, from, 'depth')
    if (++this.elementCount > limits.elements) this.fail(`more than ${limits.elements} elements`, from, 'elements')
    if (++outer.children > limits.children) this.fail(`more than ${limits.children} children`, from, 'children')
    frame.nameFrom = from + 1
    frame.nameTo = at
    frame.bindings = this.bindings.innermost
    frame.children = 0
    this.frame = frame
    this.attributes = 0
    this.due = NOTHING
    if (bytes[at] === GT) at++
    else at = this.readAttributes(at, spelt)
    const named = spelt.scope === this.bindings.innermost.scope ? spelt.name! : this.expandName(spelt, from)
    if (this.attributes > 0) this.nameAttributes(frame.nameTo)
    frame.nth = outer.children > 1 && frame.name === named ? frame.nth + 1 : 1 // the slot still has the last child
    frame.name = named
    frame.prefix = spelt.prefix
    this.from = from
    this.offset = at
    return (this.event = 'start')
  }

  closeElement(from: number): Event {
    const { bytes, frame } = this
    const length = frame.nameTo - frame.nameFrom
    let at = from + 2 + length
    if (at >= this.end) this.failMismatch(from)
    for (let a = from + 2, b = frame.nameFrom; a < at; a++, b++) if (bytes[a] !== bytes[b]) this.failMismatch(from)
    if (bytes[at] !== GT) {
      this.irregular = at
      at = this.skipBlanks(at)
      if (bytes[at] !== GT) this.failMismatch(from)
    }
    return this.endElement(from, at + 1)
  }

  failMismatch(from: number): never {
    this.fail(`the end tag does not match ${this.frame.name.local}`, from)
  }

  endElement(from: number, to: number): Event {
    this.from = from
    this.offset = to
    this.due = LEAVING
    return (this.event = 'end')
  }

  leaveElement(): void {
    const { frame } = this
    this.due = NOTHING
    if (this.bindings.innermost !== frame.bindings) this.bindings.restore(frame.bindings)
    this.frame = frame.outer!
    this.depth--
  }

  // Attributes: [41] Attribute, Namespaces [1] NSAttName

  /**
   * Reads from the end of the element's name to the end of the tag. Declarations are bound at once;
   * attributes get their names later.
   */
  readAttributes(from: number, element: QNameToken): number {
    const { bytes } = this
    let declarations = 0
    let previous = element
    for (let at = from; ; ) {
      const before = at
      while (blank[bytes[at]!] === 1) at++
      if (bytes[at] === GT || bytes[at] === SLASH) {
        if (at > before) this.irregular = before
        if (bytes[at] === GT) return at + 1
        if (bytes[at + 1] !== GT) this.fail('`/` without `>`', at)
        this.due = EMPTY
        return at + 2
      }
      if (at !== before + 1 || bytes[before] !== SPACE) this.irregular = before
      if (at === before) this.fail('an invalid name, or white space is missing', at)
      if (this.attributes + declarations >= this.limits.attributes) {
        this.fail(`more than ${this.limits.attributes} attributes`, at, 'attributes')
      }
      const nameFrom = at
      const spelt = matchExpected(bytes, at, previous, attributes) ?? this.readToken(at, previous, attributes)
      if (spelt.length > this.limits.name) this.fail('a name is too long', at + this.limits.name, 'name')
      previous = spelt
      at = this.findQuote(at + spelt.length)
      if (spelt.declares) {
        if (this.attributes > 0) this.irregular = nameFrom
        at = this.readDeclaration(spelt, nameFrom, at)
        declarations++
      } else {
        const slot = this.slotAt(this.attributes++)
        slot.spelt = spelt
        at = this.readValue(at, slot)
      }
      at++
    }
  }

  /** [25] Eq. @returns the offset of the quote that must follow */
  findQuote(from: number): number {
    const { bytes } = this
    if (bytes[from] === EQUALS && bytes[from + 1] === QUOTE) return from + 1
    this.irregular = from
    const at = this.skipBlanks(from)
    if (bytes[at] !== EQUALS) this.fail('an attribute without a value', at)
    return this.skipBlanks(at + 1)
  }

  slotAt(index: number): AttributeSlot {
    const { slots } = this
    if (index === slots.length) slots.push(new AttributeSlot())
    return slots[index]!
  }

  textOf(slot: AttributeSlot): string {
    return slot.value ?? this.cut(slot.from, slot.to, true)
  }

  /**
   * Most declarations repeat the last one of their prefix. @returns the offset of the closing quote
   */
  readDeclaration(spelt: QNameToken, from: number, open: number): number {
    const { declared } = spelt
    const prefix = spelt.prefix === '' ? '' : spelt.local
    if (declared !== undefined && this.hasRepeated(declared.octets, open)) {
      this.bind(prefix, declared.uri, true, from)
      return open + declared.octets.length + 1
    }
    const slot = this.slotAt(this.attributes)
    const close = this.readValue(open, slot)
    const text = this.textOf(slot)
    const known = knownUri(text)
    this.bind(prefix, known ?? text, known !== undefined, from)
    if (known !== undefined && slot.value === undefined) spelt.declare(this.bytes, open + 1, close, known)
    return close
  }

  /** Whether these octets, which contain no quote, are between the quotes here. */
  hasRepeated(octets: Uint8Array, open: number): boolean {
    const { bytes } = this
    const { length } = octets
    const quote = bytes[open]
    if ((quote !== QUOTE && quote !== APOSTROPHE) || length > this.limits.value) return false
    if (open + length >= this.end || bytes[open + 1 + length] !== quote) return false
    for (let k = 0; k < length; k++) if (octets[k] !== bytes[open + 1 + k]) return false
    return true
  }

  /** [10] AttValue. @returns the offset of the closing quote */
  readValue(open: number, slot: AttributeSlot): number {
    const { bytes } = this
    let at = open + 1
    while (plainValue[bytes[at]!] === 1) at++
    if (bytes[open] !== QUOTE || bytes[at] !== QUOTE || at - open > this.limits.value)
      return this.readAnyValue(open, slot)
    slot.value = undefined
    slot.from = open + 1
    slot.to = at
    return at
  }

  /** The same for any value, normalised like CDATA (§3.3.3). */
  readAnyValue(open: number, slot: AttributeSlot): number {
    const { bytes } = this
    const quote = bytes[open]
    if (quote !== QUOTE && quote !== APOSTROPHE) this.fail('an attribute value is not quoted', open)
    const from = open + 1
    let at = from
    let value: string | undefined
    let start = from
    let ascii = true
    for (;;) {
      while (plainValue[bytes[at]!] === 1) at++
      const octet = bytes[at]!
      if (octet === quote) break
      if (octet >= 0x80) {
        at = this.skipWide(at)
        ascii = false
      } else if (octet === GT) {
        if (++at >= this.end) this.fail('the document ends inside an attribute value', at)
      } else if (octet === QUOTE || octet === APOSTROPHE) at++
      else if (octet === LT) this.fail('`<` in an attribute value', at)
      else {
        value = (value ?? '') + this.cut(start, at, ascii)
        this.irregular = at
        if (octet === AMP) {
          at = this.readReference(at)
          value += this.character
        } else if (blank[octet] === 1) {
          at += octet === CR && bytes[at + 1] === LF ? 2 : 1
          value += ' '
        } else this.fail('an illegal character', at)
        start = at
        ascii = true
      }
    }
    if (at - from > this.limits.value) this.fail('an attribute value is too long', from + this.limits.value, 'value')
    if (value !== undefined) value += this.cut(start, at, ascii)
    else if (!ascii) value = this.cut(from, at, false)
    slot.value = value
    slot.from = from
    slot.to = at
    return at
  }

  /**
   * Namespaces §6.2, §6.3: an attribute without a prefix is in no namespace; no two have the same
   * expanded name.
   */
  nameAttributes(at: number): void {
    const { attributes, slots } = this
    for (let index = 0; index < attributes; index++) {
      const slot = slots[index]!
      const { spelt } = slot
      if (spelt.prefix === '') slot.name = spelt.unqualified ??= internTransient('', spelt.local, this.countName)
      else slot.name = spelt.scope === this.bindings.innermost.scope ? spelt.name! : this.expandName(spelt, at)
    }
    if (attributes > 8) {
      const distinct = new Set<Name>()
      for (let index = 0; index < attributes; index++) distinct.add(slots[index]!.name)
      if (distinct.size < attributes) this.fail('a duplicate attribute', at)
      return
    }
    for (let index = 1; index < attributes; index++) {
      const { name } = slots[index]!
      for (let other = 0; other < index; other++)
        if (slots[other]!.name === name) this.fail('a duplicate attribute', at)
    }
  }

  // Names and namespaces

  /** The token at `from`, where the guess was wrong. */
  readToken(from: number, previous: QNameToken, followers: Followers): QNameToken {
    const { bytes } = this
    let at = from
    let hash = 0
    while (nameOctet[bytes[at]!] === 1) hash = (Math.imul(hash, 31) + bytes[at++]!) | 0
    const spelt = this.requireToken(from, at, hash)
    rememberFollower(previous, spelt, followers)
    return spelt
  }

  requireToken(from: number, to: number, hash: number): QNameToken {
    if (to - from > this.limits.name) this.fail('a name is too long', from + this.limits.name, 'name')
    return internToken(this.bytes, from, to, hash) ?? this.fail('an invalid name', from)
  }

  /** The name that a token means in this scope; the token remembers it. */
  expandName(spelt: QNameToken, at: number): Name {
    const { prefix, local, name } = spelt
    const uri = this.namespace(prefix)
    if (uri === undefined) this.fail(`the prefix ${prefix} is not declared`, at)
    const found = name !== undefined && name.uri === uri ? name : internTransient(uri, local, this.countName)
    if (uri.length <= rememberedUriMax) {
      spelt.name = found
      spelt.scope = this.bindings.innermost.scope
    }
    return found
  }

  /**
   * Namespaces §3, reserved prefixes; §2.2, no prefix undeclared; §6.3 with [41] unique attributes.
   */
  bind(prefix: string, uri: string, known: boolean, at: number): void {
    if (prefix === 'xmlns' || uri === xmlnsUri) this.fail('xmlns and its namespace cannot be declared', at)
    if ((prefix === 'xml') !== (uri === xmlUri)) this.fail('the prefix xml and its namespace belong together', at)
    if (prefix !== '' && uri === '') this.fail(`the prefix ${prefix} cannot be undeclared`, at)
    const hidden = this.bindings.find(prefix)
    if (hidden?.depth === this.depth) this.fail('a duplicate namespace declaration', at)
    this.bindings.add(prefix, uri, this.depth, hidden, known)
  }

  // Character data: [14] CharData, [18] CDSect, [67] Reference, §2.11 end-of-line handling

  /** Reads all text of an element without children, up to its `end`. */
  gatherText(): boolean {
    if (this.event !== 'start') throw new Error('text is read at the start of an element')
    if (this.due === EMPTY) {
      this.advance(false)
      this.cooked = ''
      return true
    }
    const to = this.readRun(this.offset)
    if (this.bytes[to + 1] === SLASH) {
      this.closeElement(to)
      return true
    }
    this.offset = to
    let value = this.value
    this.event = 'text'
    for (;;) {
      const event = this.advance(false)
      if (event === 'start') return false
      if (event === 'text') value += this.value
      if (event === 'end') {
        this.cooked = value
        return true
      }
    }
  }

  /**
   * Reads text, which may be empty, up to the tag, instruction or reported comment that ends it.
   */
  readRun(from: number): number {
    const { bytes } = this
    this.cooked = undefined
    this.isAscii = true
    this.textFrom = from
    let at = from
    for (;;) {
      let octet = bytes[at]!
      while (plainText[octet] === 1) octet = bytes[++at]!
      if (octet === LT && bytes[at + 1] !== BANG) break
      if (octet >= 0x80) {
        at = this.skipWide(at)
        this.isAscii = false
      } else if (octet === GT) at = this.irregular = this.skipGreaterThan(at)
      else {
        this.irregular = at
        at = this.cookRun(from, at)
        break
      }
    }
    this.textTo = at
    if (at - from > this.limits.text) this.fail('a text is too long', from + this.limits.text, 'text')
    if (at === from) this.cooked = ''
    return at
  }

  /** Reads the rest of a run that cannot be cut out of the document in one piece. */
  cookRun(from: number, special: number): number {
    const { bytes } = this
    let text = this.cut(from, special, this.isAscii)
    let at = special
    for (;;) {
      const octet = bytes[at]!
      if (octet === AMP) {
        at = this.readReference(at)
        text += this.character
      } else if (octet === CR) {
        at += bytes[at + 1] === LF ? 2 : 1
        text += '\n'
      } else if (octet === LT) {
        if (bytes[at + 1] !== BANG) break
        if (bytes[at + 2] === BRACKET_OPEN) {
          const to = this.findSectionEnd(at)
          text += this.cutLines(at + 9, to)
          at = to + 3
        } else if (this.reportsComments) break
        else {
          this.readComment(at)
          at = this.offset
        }
        if (at >= this.end) this.fail('the document ends inside an element', at)
      } else {
        const to = this.skipLiteral(at)
        text += this.cut(at, to, false)
        at = to
      }
    }
    this.cooked = text
    return at
  }

  /** Skips octets that mean themselves, at least one. */
  skipLiteral(from: number): number {
    const { bytes } = this
    let at = from
    for (;;) {
      while (plainText[bytes[at]!] === 1) at++
      const octet = bytes[at]!
      if (octet >= 0x80) at = this.skipWide(at)
      else if (octet === GT) at = this.skipGreaterThan(at)
      else if (legal[octet] === 1) return at
      else this.fail('an illegal character', at)
    }
  }

  /**
   * `>` in text must not follow `]]`, which must be text here, since everything else before text
   * ends otherwise; nor may it be the last octet.
   */
  skipGreaterThan(at: number): number {
    const { bytes } = this
    if (bytes[at - 1] === BRACKET && bytes[at - 2] === BRACKET) this.fail('`]]>` in text', at - 2)
    if (at + 1 >= this.end) this.fail('the document ends inside an element', at + 1)
    return at + 1
  }

  /**
   * [66] CharRef, [68] EntityRef: one of the five of §4.6. @returns the offset after it, with the
   * character in `character`
   */
  readReference(from: number): number {
    const { bytes, limits } = this
    if (++this.referenceCount > limits.references) {
      this.fail(`more than ${limits.references} references`, from, 'references')
    }
    if (bytes[from + 1] === HASH) return this.readCharacterReference(from)
    let at = from + 1
    while (at - from <= 5 && bytes[at] !== SEMICOLON && bytes[at] !== GT) at++
    const found = bytes[at] === SEMICOLON ? characterOfEntity.get(this.cut(from + 1, at, true)) : undefined
    if (found === undefined) this.fail('an invalid reference, or one to an undeclared entity', from)
    this.character = found
    return at + 1
  }

  readCharacterReference(from: number): number {
    const { bytes } = this
    const base = bytes[from + 2] === 0x78 ? 16 : 10
    const first = from + (base === 16 ? 3 : 2)
    let at = first
    let code = 0
    for (; bytes[at] !== SEMICOLON; at++) {
      const digit = digitOf[bytes[at]!]!
      if (digit >= base) this.fail('an invalid character reference', from)
      code = Math.min(code * base + digit, 0x110000)
    }
    if (at === first || !isChar(code)) this.fail('a reference to an illegal character', from)
    this.character = String.fromCodePoint(code)
    return at + 1
  }

  /** [20] CData. @returns the offset of `]]>` */
  findSectionEnd(from: number): number {
    const { bytes } = this
    for (let k = 0; k < sectionStart.length; k++)
      if (bytes[from + k] !== sectionStart[k]) this.fail('unexpected `<!`', from)
    for (let at = from + sectionStart.length; ; at++) {
      at = this.findOctet(at, BRACKET)
      if (bytes[at + 1] === BRACKET && bytes[at + 2] === GT) return at
    }
  }

  // Between everything else: [15] Comment, [16] PI

  /** Reads a comment, which becomes the event when comments are reported. */
  readComment(from: number): boolean {
    const { bytes } = this
    if (bytes[from + 2] !== DASH || bytes[from + 3] !== DASH) this.failMarkup(from)
    let at = this.findOctet(from + 4, DASH)
    while (bytes[at + 1] !== DASH) at = this.findOctet(at + 1, DASH)
    if (bytes[at + 2] !== GT) this.fail('`--` in a comment', at)
    this.offset = at + 3
    if (!this.reportsComments) return false
    this.from = from
    this.cooked = this.cutLines(from + 4, at)
    this.event = 'comment'
    return true
  }

  failMarkup(from: number): never {
    const written = this.cut(from + 2, Math.min(from + 9, this.end), true)
    this.fail(written === 'DOCTYPE' ? 'a document type declaration is not allowed' : 'unexpected `<!`', from)
  }

  readInstruction(from: number): Event {
    const { bytes } = this
    if (this.refusesInstructions) this.fail('a processing instruction is not allowed', from)
    let at = from + 2
    while (nameOctet[bytes[at]!] === 1) at++
    if (at - from - 2 > this.limits.name) this.fail('a name is too long', from + 2 + this.limits.name, 'name')
    const target = decodeNameOctets(bytes, from + 2, at)
    if (target === 'xml') this.fail('an XML declaration is not at the start of the document', from)
    if (!isNcName(target) || target.toLowerCase() === 'xml')
      this.fail('an invalid target of a processing instruction', from)
    const data = this.skipBlanks(at)
    let to = this.findOctet(data, QUESTION)
    while (bytes[to + 1] !== GT) to = this.findOctet(to + 1, QUESTION)
    if (data === at && to > at) this.fail('an invalid target of a processing instruction', from)
    this.target = target
    this.cooked = this.cutLines(data, to)
    this.from = from
    this.offset = to + 2
    return (this.event = 'instruction')
  }

  // Octets

  /** The offset of the next `stop`; everything before it is legal. */
  findOctet(from: number, stop: number): number {
    const { bytes, end } = this
    let at = from
    while (at < end) {
      const octet = bytes[at]!
      if (octet === stop) return at
      if (octet >= 0x80) at = this.skipWide(at)
      else if (legal[octet] === 1) at++
      else this.fail('an illegal character', at)
    }
    return this.fail('the document ends inside a comment, CDATA section or processing instruction', from)
  }

  skipWide(at: number): number {
    return skipWideCharacter(this.bytes, at) || this.fail('not UTF-8, or an illegal character', at)
  }

  /** [3] S?, never beyond the end. */
  skipBlanks(from: number): number {
    const { bytes, end } = this
    let at = from
    while (at < end && blank[bytes[at]!] === 1) at++
    return at
  }

  cut(from: number, to: number, ascii: boolean): string {
    if (!ascii) return this.bytes.toString('utf8', from, to)
    if (from < this.windowFrom || to > this.windowTo) return this.cutOutsideWindow(from, to)
    return this.window.substring(from - this.windowFrom, to - this.windowFrom)
  }

  cutOutsideWindow(from: number, to: number): string {
    const { bytes } = this
    if (from < this.windowFrom || to - from > windowOctets / 2) return bytes.toString('latin1', from, to)
    this.windowFrom = from
    this.windowTo = Math.min(from + windowOctets, bytes.length)
    this.window = bytes.toString('latin1', from, this.windowTo)
    return this.window.substring(0, to - from)
  }

  cutLines(from: number, to: number): string {
    const text = this.cut(from, to, false)
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  }

  fail(reason: string, at: number, limit?: keyof XmlLimits): never {
    throw new Malformed(reason, decodeReceived(this.source, at, this.original), limit)
  }
}
