import * as character from './character.ts'
import type { Cursor, Event } from './cursor.ts'
import { decodeReceived, openSource, type XmlSource } from './encoding.ts'
import { defaultXmlLimits, type XmlLimits } from './limits.ts'
import { Malformed } from './malformed.ts'
import { internName, internTransient, knownUri, type Name, xmlnsUri, xmlUri } from './name.ts'
import { type Binding, Bindings, outermost } from './prefix-bindings.ts'
import { resolveQName } from './qname.ts'
import {
  attributes,
  elements,
  type Followers,
  internToken,
  matchExpected,
  QNameToken,
  rememberFollower,
} from './token.ts'

/** Constants of this module are constants to the compiler, where it reads an imported one each time: a twelfth of a scan. */
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
  isNcName: ncName,
  skipName: past,
  plainText,
  plainValue,
  QUESTION,
  QUOTE,
  SEMICOLON,
  SLASH,
  SPACE,
} = character

/**
 * The parser: a cursor over bytes. What always holds, by number:
 *  (1) It accepts the documents of XML 1.0 (Fifth Edition) that have no document type declaration and are namespace-well-formed
 *      (Namespaces in XML 1.0, Third Edition), in an encoding of `encoding.ts`, within the limits, and nothing else. `after` is
 *      reached only at their last byte.
 *  (2) Nothing but a Malformed is thrown, whatever the bytes are.
 *  (3) The time is proportional to the bytes: no look-up depends on depth, on how many names, attributes or declarations there
 *      are, or on hashes that a stranger can steer.
 *  (4) No read is beyond the bytes: `end` is the offset after the last `>`, and every scan without a bound of its own stops at
 *      a `>`.
 *  (5) What is skipped is checked like what is read.
 * Strings are made when they are asked for, by cutting a Latin-1 view of what is ahead where the span is ASCII.
 */
export interface ParseOptions {
  readonly limits?: Partial<XmlLimits>
  /** The charset parameter of the media type the document came with. */
  readonly charset?: string
  /** Whether comments are events; otherwise they are dissolved and the text around them is one. */
  readonly comments?: boolean
  /** Processing instructions: events, or a failure (SOAP 1.2 Part 1 §5 has none). Reported by default. */
  readonly instructions?: 'report' | 'refuse'
  /** Prefixes that are bound before the root, by their namespaces: for a slice of another document. */
  readonly scope?: ReadonlyMap<string, string>
}

/** A cursor over these bytes, which must not change while it is used. @throws Malformed, as do its movements */
export function scanDocument(bytes: Uint8Array, options: ParseOptions = {}): Scanner {
  return new Scanner(bytes, options)
}

/** Stands for the start tag before the first. */
const first = new QNameToken('', '', 0)
const nameless = internName('', '')

/** Kinds of what is due, which are sooner compared than events are. */
const NOTHING = 0
/** After an `end`: its element is left. */
const LEAVING = 1
/** After the `start` of an element without content: it ends. */
const EMPTY = 2

/** An open element. Frames are kept and used again, one for each depth. */
class Frame {
  readonly outer: Frame | undefined
  inner: Frame | undefined = undefined
  name: Name = nameless
  prefix = ''
  /** Octets of the name in the start tag. */
  nameFrom = 0
  nameTo = 0
  /** The innermost binding outside this element. */
  bindings: Binding = outermost
  children = 0
  /** How many neighbours of one name end with this element. */
  nth = 0

  constructor(outer: Frame | undefined) {
    this.outer = outer
  }
}

const undeclared: readonly { readonly prefix: string; readonly uri: string }[] = []

/** An attribute of the start tag at hand. Kept and used again. */
class Slot {
  spelt: QNameToken = first
  name: Name = nameless
  /** Octets of the value. */
  from = 0
  to = 0
  /** Undefined where it is these octets as they are. */
  value: string | undefined = undefined
}

/** Tokens remember names of namespaces up to this length, so that what they hold is bounded. */
const remembered = 256
/** Octets of the window that strings are cut from, which one of them may keep alive. Long strings are copied by themselves. */
const windowed = 8 * 1024
const opening = new TextEncoder().encode('<![CDATA[')
const BRACKET_OPEN = 0x5b
/** §4.6 */
const entities = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['apos', "'"],
  ['quot', '"'],
])
/** The value of each octet as a digit; 255 for none. */
const digits = Uint8Array.from({ length: 256 }, (_, octet) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(octet).toLowerCase()),
)
const blankText = /^[ \t\n\r]*$/

export class Scanner implements Cursor {
  event: Event = 'before'
  depth = 0
  target = ''
  from = 0
  attributes = 0
  irregular = -1

  private readonly original: Uint8Array
  private readonly source: XmlSource
  /** The document in UTF-8, in which all offsets count. */
  readonly bytes: Buffer
  /** Octets [windowFrom, windowTo) as Latin-1. It moves forward only. */
  private window = ''
  private windowFrom = 0
  private windowTo = 0
  private readonly end: number
  private readonly limits: XmlLimits
  private readonly comments: boolean
  private readonly refusing: boolean

  private at: number
  private frame: Frame = new Frame(undefined)
  /** What the next movement does first. */
  private due = NOTHING
  private elements = 0
  private references = 0
  private names = 0
  private readonly born = () => {
    if (++this.names > this.limits.names) this.fail(`more than ${this.limits.names} new names`, this.at, 'names')
  }
  private character = ''

  private readonly bindings = new Bindings()
  private previous: QNameToken = first

  private readonly slots: Slot[] = []

  /** The text at hand: octets [textFrom, textTo) when `cooked` is undefined. */
  private cooked: string | undefined = ''
  private textFrom = 0
  private textTo = 0
  private ascii = true

  constructor(bytes: Uint8Array, options: ParseOptions) {
    this.limits = options.limits ? { ...defaultXmlLimits, ...options.limits } : defaultXmlLimits
    this.original = bytes
    if (bytes.length > this.limits.bytes) throw new Malformed('the document is too long', this.limits.bytes, 'bytes')
    this.source = openSource(bytes, options.charset)
    const { bytes: utf8 } = this.source
    this.bytes = Buffer.isBuffer(utf8) ? utf8 : Buffer.from(utf8.buffer, utf8.byteOffset, utf8.byteLength)
    this.comments = options.comments ?? false
    this.refusing = options.instructions === 'refuse'
    this.end = this.bytes.length
    while (this.end > 0 && blank[this.bytes[this.end - 1]!] === 1) this.end--
    this.at = this.source.from
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
    return this.gather() ? this.value : undefined
  }

  octets(): Uint8Array | undefined {
    if (!this.gather()) return undefined
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
    return this.at
  }

  get value(): string {
    return this.cooked ?? this.cut(this.textFrom, this.textTo, this.ascii)
  }

  attributeName(index: number): Name {
    return this.slots[index]!.name
  }

  attributePrefix(index: number): string {
    return this.slots[index]!.spelt.prefix
  }

  attributeValue(index: number): string {
    return this.valueOf(this.slots[index]!)
  }

  attribute(name: Name): string | undefined {
    for (let index = 0; index < this.attributes; index++) {
      if (this.slots[index]!.name === name) return this.attributeValue(index)
    }
    return undefined
  }

  declarations(): readonly { readonly prefix: string; readonly uri: string }[] {
    const outer = this.frame.bindings
    if (this.bindings.innermost === outer) return undeclared
    const own: { readonly prefix: string; readonly uri: string }[] = []
    for (let binding = this.bindings.innermost; binding !== outer; binding = binding.previous!) {
      own.push({ prefix: binding.prefix, uri: binding.uri })
    }
    return own.reverse()
  }

  namespace(prefix: string): string | undefined {
    if (prefix === 'xml') return xmlUri
    return this.bindings.of(prefix)?.uri ?? (prefix === '' ? '' : undefined)
  }

  qname(text: string): Name | undefined {
    return resolveQName(text, this, this.born)
  }

  path(): string {
    let path = ''
    for (let frame = this.frame; frame.outer; frame = frame.outer) path = `/${frame.name.local}[${frame.nth}]${path}`
    return path
  }

  // Documents: [1] document, [22] prolog, [27] Misc

  private advance(passing: boolean): Event {
    const { due } = this
    if (due === LEAVING) this.leave()
    else if (due === EMPTY) return this.closed(this.at, this.at)
    return this.depth === 0 ? this.outside() : this.inside(passing)
  }

  private outside(): Event {
    const { bytes, end } = this
    for (;;) {
      const at = this.blanks(this.at)
      if (at >= end) {
        if (this.elements === 0) this.fail('no root element', at)
        this.from = this.at = at
        return (this.event = 'after')
      }
      if (bytes[at] !== LT)
        this.fail(this.elements ? 'something follows the root element' : 'no element begins here', at)
      if (bytes[at + 1] === BANG) {
        if (this.comment(at)) return this.event
      } else if (bytes[at + 1] === QUESTION) {
        return this.instruction(at)
      } else {
        if (this.elements > 0) this.fail('a second root element', at)
        return this.open(at)
      }
    }
  }

  /** [43] content */
  private inside(passing: boolean): Event {
    const { bytes } = this
    for (;;) {
      let at = this.at
      if (passing) {
        while (at < this.end && blank[bytes[at]!] === 1) at++
        if (bytes[at] !== LT) at = this.at
      }
      if (at >= this.end) this.fail('the document ends inside an element', at)
      if (bytes[at] === LT) {
        const next = bytes[at + 1]!
        if (next === SLASH) return this.close(at)
        if (next === QUESTION) return this.instruction(at)
        if (next !== BANG) return this.open(at)
        if (bytes[at + 2] !== BRACKET_OPEN && this.comments) {
          this.comment(at)
          return this.event
        }
      }
      const to = this.run(at)
      this.from = at
      this.at = to
      if (this.cooked !== '') return (this.event = 'text')
    }
  }

  // Elements: [39] element, [40] STag, [42] ETag, [44] EmptyElemTag

  private open(from: number): Event {
    const { bytes, limits } = this
    const spelt =
      matchExpected(bytes, from + 1, this.previous, elements) ?? this.unexpected(from + 1, this.previous, elements)
    if (spelt.length > limits.name) this.fail('a name is too long', from + 1 + limits.name, 'name')
    this.previous = spelt
    let at = from + 1 + spelt.length
    const outer = this.frame
    const frame = (outer.inner ??= new Frame(outer))
    if (++this.depth > limits.depth) this.fail(`nested deeper than ${limits.depth}`, from, 'depth')
    if (++this.elements > limits.elements) this.fail(`more than ${limits.elements} elements`, from, 'elements')
    if (++outer.children > limits.children) this.fail(`more than ${limits.children} children`, from, 'children')
    frame.nameFrom = from + 1
    frame.nameTo = at
    frame.bindings = this.bindings.innermost
    frame.children = 0
    this.frame = frame
    this.attributes = 0
    this.due = NOTHING
    if (bytes[at] === GT) at++
    else at = this.attributeList(at, spelt)
    const named = spelt.scope === this.bindings.innermost.scope ? spelt.name! : this.expand(spelt, from)
    if (this.attributes > 0) this.nameAttributes(frame.nameTo)
    frame.nth = outer.children > 1 && frame.name === named ? frame.nth + 1 : 1 // what was kept is of the last child
    frame.name = named
    frame.prefix = spelt.prefix
    this.from = from
    this.at = at
    return (this.event = 'start')
  }

  private close(from: number): Event {
    const { bytes, frame } = this
    const length = frame.nameTo - frame.nameFrom
    let at = from + 2 + length
    if (at >= this.end) this.mismatch(from)
    for (let a = from + 2, b = frame.nameFrom; a < at; a++, b++) if (bytes[a] !== bytes[b]) this.mismatch(from)
    if (bytes[at] !== GT) {
      this.irregular = at
      at = this.blanks(at)
      if (bytes[at] !== GT) this.mismatch(from)
    }
    return this.closed(from, at + 1)
  }

  private mismatch(from: number): never {
    this.fail(`the end tag is not that of ${this.frame.name.local}`, from)
  }

  private closed(from: number, to: number): Event {
    this.from = from
    this.at = to
    this.due = LEAVING
    return (this.event = 'end')
  }

  private leave(): void {
    const { frame } = this
    this.due = NOTHING
    if (this.bindings.innermost !== frame.bindings) this.bindings.back(frame.bindings)
    this.frame = frame.outer!
    this.depth--
  }

  // Attributes: [41] Attribute, Namespaces [1] NSAttName

  /** From after the element's name to after the tag. Declarations are bound; attributes await their names. */
  private attributeList(from: number, element: QNameToken): number {
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
      if (at === before) this.fail('a name ends here, or white space is missing', at)
      if (this.attributes + declarations >= this.limits.attributes) {
        this.fail(`more than ${this.limits.attributes} attributes`, at, 'attributes')
      }
      const nameFrom = at
      const spelt = matchExpected(bytes, at, previous, attributes) ?? this.unexpected(at, previous, attributes)
      if (spelt.length > this.limits.name) this.fail('a name is too long', at + this.limits.name, 'name')
      previous = spelt
      at = this.quote(at + spelt.length)
      if (spelt.declares) {
        if (this.attributes > 0) this.irregular = nameFrom
        at = this.declaration(spelt, nameFrom, at)
        declarations++
      } else {
        const slot = this.slot(this.attributes++)
        slot.spelt = spelt
        at = this.attributeValueFrom(at, slot)
      }
      at++
    }
  }

  /** [25] Eq. @returns the offset of the quote that has to follow */
  private quote(from: number): number {
    const { bytes } = this
    if (bytes[from] === EQUALS && bytes[from + 1] === QUOTE) return from + 1
    this.irregular = from
    const at = this.blanks(from)
    if (bytes[at] !== EQUALS) this.fail('an attribute without a value', at)
    return this.blanks(at + 1)
  }

  private slot(index: number): Slot {
    const { slots } = this
    if (index === slots.length) slots.push(new Slot())
    return slots[index]!
  }

  private valueOf(slot: Slot): string {
    return slot.value ?? this.cut(slot.from, slot.to, true)
  }

  /** Most declarations say what they said last. @returns the offset of the closing quote */
  private declaration(spelt: QNameToken, from: number, open: number): number {
    const { declared } = spelt
    const prefix = spelt.prefix === '' ? '' : spelt.local
    if (declared !== undefined && this.repeats(declared.octets, open)) {
      this.bind(prefix, declared.uri, true, from)
      return open + declared.octets.length + 1
    }
    const slot = this.slot(this.attributes)
    const close = this.attributeValueFrom(open, slot)
    const text = this.valueOf(slot)
    const known = knownUri(text)
    this.bind(prefix, known ?? text, known !== undefined, from)
    if (known !== undefined && slot.value === undefined) spelt.declare(this.bytes.subarray(open + 1, close), known)
    return close
  }

  /** Whether these octets, in which no quote is, stand between the quotes here. */
  private repeats(octets: Uint8Array, open: number): boolean {
    const { bytes } = this
    const { length } = octets
    const quote = bytes[open]
    if ((quote !== QUOTE && quote !== APOSTROPHE) || length > this.limits.value) return false
    if (open + length >= this.end || bytes[open + 1 + length] !== quote) return false
    for (let k = 0; k < length; k++) if (octets[k] !== bytes[open + 1 + k]) return false
    return true
  }

  /** [10] AttValue. @returns the offset of the closing quote */
  private attributeValueFrom(open: number, slot: Slot): number {
    const { bytes } = this
    let at = open + 1
    while (plainValue[bytes[at]!] === 1) at++
    if (bytes[open] !== QUOTE || bytes[at] !== QUOTE || at - open > this.limits.value) return this.anyValue(open, slot)
    slot.value = undefined
    slot.from = open + 1
    slot.to = at
    return at
  }

  /** The same of any value, normalised as §3.3.3 says of CDATA. */
  private anyValue(open: number, slot: Slot): number {
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
        at = this.wide(at)
        ascii = false
      } else if (octet === GT) {
        if (++at >= this.end) this.fail('the document ends inside an attribute value', at)
      } else if (octet === QUOTE || octet === APOSTROPHE) at++
      else if (octet === LT) this.fail('`<` in an attribute value', at)
      else {
        value = (value ?? '') + this.cut(start, at, ascii)
        this.irregular = at
        if (octet === AMP) {
          at = this.reference(at)
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

  /** Namespaces §6.2, §6.3: an attribute without a prefix is in no namespace; no two have one expanded name. */
  private nameAttributes(at: number): void {
    const { attributes, slots } = this
    for (let index = 0; index < attributes; index++) {
      const slot = slots[index]!
      const { spelt } = slot
      if (spelt.prefix === '') slot.name = spelt.unqualified ??= internTransient('', spelt.local, this.born)
      else slot.name = spelt.scope === this.bindings.innermost.scope ? spelt.name! : this.expand(spelt, at)
    }
    if (attributes > 8) {
      const distinct = new Set<Name>()
      for (let index = 0; index < attributes; index++) distinct.add(slots[index]!.name)
      if (distinct.size < attributes) this.fail('an attribute twice', at)
      return
    }
    for (let index = 1; index < attributes; index++) {
      const { name } = slots[index]!
      for (let other = 0; other < index; other++) if (slots[other]!.name === name) this.fail('an attribute twice', at)
    }
  }

  // Names and namespaces

  /** The token at `from`, when the guess was wrong. */
  private unexpected(from: number, previous: QNameToken, followers: Followers): QNameToken {
    const { bytes } = this
    let at = from
    let hash = 0
    while (nameOctet[bytes[at]!] === 1) hash = (Math.imul(hash, 31) + bytes[at++]!) | 0
    const spelt = this.token(from, at, hash)
    rememberFollower(previous, spelt, followers)
    return spelt
  }

  private token(from: number, to: number, hash: number): QNameToken {
    if (to - from > this.limits.name) this.fail('a name is too long', from + this.limits.name, 'name')
    return internToken(this.bytes, from, to, hash) ?? this.fail('not a name', from)
  }

  /** What a token stands for in this scope, which it then remembers. */
  private expand(spelt: QNameToken, at: number): Name {
    const { prefix, local, name } = spelt
    const uri = this.namespace(prefix)
    if (uri === undefined) this.fail(`the prefix ${prefix} is not declared`, at)
    const found = name !== undefined && name.uri === uri ? name : internTransient(uri, local, this.born)
    if (uri.length <= remembered) {
      spelt.name = found
      spelt.scope = this.bindings.innermost.scope
    }
    return found
  }

  /** Namespaces §3, reserved prefixes; §2.2, no prefix undeclared; §6.3 with [41] unique attributes. */
  private bind(prefix: string, uri: string, known: boolean, at: number): void {
    if (prefix === 'xmlns' || uri === xmlnsUri) this.fail('xmlns and its namespace cannot be declared', at)
    if ((prefix === 'xml') !== (uri === xmlUri)) this.fail('xml stands for its namespace, and nothing else does', at)
    if (prefix !== '' && uri === '') this.fail(`the prefix ${prefix} cannot be undeclared`, at)
    if (this.bindings.of(prefix)?.depth === this.depth) this.fail('a namespace declaration twice', at)
    this.bindings.add(prefix, uri, this.depth, known)
  }

  // Character data: [14] CharData, [18] CDSect, [67] Reference, §2.11 end-of-line handling

  /** All text of an element without children; then at its `end`. */
  private gather(): boolean {
    if (this.event !== 'start') throw new Error('text is read at the start of an element')
    if (this.due === EMPTY) {
      this.advance(false)
      this.cooked = ''
      return true
    }
    const to = this.run(this.at)
    if (this.bytes[to + 1] === SLASH) {
      this.close(to)
      return true
    }
    this.at = to
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

  /** Text from `from`, which may be no text at all, to the tag, instruction or reported comment that ends it. */
  private run(from: number): number {
    const { bytes } = this
    this.cooked = undefined
    this.ascii = true
    this.textFrom = from
    let at = from
    for (;;) {
      let octet = bytes[at]!
      while (plainText[octet] === 1) octet = bytes[++at]!
      if (octet === LT && bytes[at + 1] !== BANG) break
      if (octet >= 0x80) {
        at = this.wide(at)
        this.ascii = false
      } else if (octet === GT) at = this.irregular = this.greater(at)
      else {
        this.irregular = at
        at = this.cook(from, at)
        break
      }
    }
    this.textTo = at
    if (at - from > this.limits.text) this.fail('a text is too long', from + this.limits.text, 'text')
    if (at === from) this.cooked = ''
    return at
  }

  /** The rest of a run that cannot be cut out of the document in one piece. */
  private cook(from: number, special: number): number {
    const { bytes } = this
    let text = this.cut(from, special, this.ascii)
    let at = special
    for (;;) {
      const octet = bytes[at]!
      if (octet === AMP) {
        at = this.reference(at)
        text += this.character
      } else if (octet === CR) {
        at += bytes[at + 1] === LF ? 2 : 1
        text += '\n'
      } else if (octet === LT) {
        if (bytes[at + 1] !== BANG) break
        if (bytes[at + 2] === BRACKET_OPEN) {
          const to = this.section(at)
          text += this.lines(at + 9, to)
          at = to + 3
        } else if (this.comments) break
        else {
          this.comment(at)
          at = this.at
        }
        if (at >= this.end) this.fail('the document ends inside an element', at)
      } else {
        const to = this.literal(at)
        text += this.cut(at, to, false)
        at = to
      }
    }
    this.cooked = text
    return at
  }

  /** Octets that stand for themselves, at least one. */
  private literal(from: number): number {
    const { bytes } = this
    let at = from
    for (;;) {
      while (plainText[bytes[at]!] === 1) at++
      const octet = bytes[at]!
      if (octet >= 0x80) at = this.wide(at)
      else if (octet === GT) at = this.greater(at)
      else if (legal[octet] === 1) return at
      else this.fail('an illegal character', at)
    }
  }

  /** `>` in text: not after `]]`, which can only be text since all else before text ends otherwise; and not the last octet. */
  private greater(at: number): number {
    const { bytes } = this
    if (bytes[at - 1] === BRACKET && bytes[at - 2] === BRACKET) this.fail('`]]>` in text', at - 2)
    if (at + 1 >= this.end) this.fail('the document ends inside an element', at + 1)
    return at + 1
  }

  /** [66] CharRef, [68] EntityRef: one of the five of §4.6. @returns the offset after it, the character in `character` */
  private reference(from: number): number {
    const { bytes, limits } = this
    if (++this.references > limits.references) {
      this.fail(`more than ${limits.references} references`, from, 'references')
    }
    if (bytes[from + 1] === HASH) return this.characterReference(from)
    let at = from + 1
    while (at - from <= 5 && bytes[at] !== SEMICOLON && bytes[at] !== GT) at++
    const found = bytes[at] === SEMICOLON ? entities.get(this.cut(from + 1, at, true)) : undefined
    if (found === undefined) this.fail('not a reference, or to an entity that is not declared', from)
    this.character = found
    return at + 1
  }

  private characterReference(from: number): number {
    const { bytes } = this
    const base = bytes[from + 2] === 0x78 ? 16 : 10
    const first = from + (base === 16 ? 3 : 2)
    let at = first
    let code = 0
    for (; bytes[at] !== SEMICOLON; at++) {
      const digit = digits[bytes[at]!]!
      if (digit >= base) this.fail('not a character reference', from)
      code = Math.min(code * base + digit, 0x110000)
    }
    if (at === first || !isChar(code)) this.fail('a reference to no character', from)
    this.character = String.fromCodePoint(code)
    return at + 1
  }

  /** [20] CData. @returns the offset of `]]>` */
  private section(from: number): number {
    const { bytes } = this
    for (let k = 0; k < opening.length; k++)
      if (bytes[from + k] !== opening[k]) this.fail('`<!` begins nothing here', from)
    for (let at = from + opening.length; ; at++) {
      at = this.until(at, BRACKET)
      if (bytes[at + 1] === BRACKET && bytes[at + 2] === GT) return at
    }
  }

  // What may stand between everything: [15] Comment, [16] PI

  /** A comment, which becomes the event when comments are asked for. */
  private comment(from: number): boolean {
    const { bytes } = this
    if (bytes[from + 2] !== DASH || bytes[from + 3] !== DASH) this.noComment(from)
    let at = this.until(from + 4, DASH)
    while (bytes[at + 1] !== DASH) at = this.until(at + 1, DASH)
    if (bytes[at + 2] !== GT) this.fail('`--` in a comment', at)
    this.at = at + 3
    if (!this.comments) return false
    this.from = from
    this.cooked = this.lines(from + 4, at)
    this.event = 'comment'
    return true
  }

  private noComment(from: number): never {
    const written = this.cut(from + 2, Math.min(from + 9, this.end), true)
    this.fail(written === 'DOCTYPE' ? 'a document type declaration' : '`<!` begins nothing here', from)
  }

  private instruction(from: number): Event {
    const { bytes } = this
    if (this.refusing) this.fail('a processing instruction', from)
    let at = from + 2
    while (nameOctet[bytes[at]!] === 1) at++
    if (at - from - 2 > this.limits.name) this.fail('a name is too long', from + 2 + this.limits.name, 'name')
    const target = this.cut(from + 2, at, false)
    if (!ncName(target) || target.toLowerCase() === 'xml') this.fail('not the target of a processing instruction', from)
    const data = this.blanks(at)
    let to = this.until(data, QUESTION)
    while (bytes[to + 1] !== GT) to = this.until(to + 1, QUESTION)
    if (data === at && to > at) this.fail('not the target of a processing instruction', from)
    this.target = target
    this.cooked = this.lines(data, to)
    this.from = from
    this.at = to + 2
    return (this.event = 'instruction')
  }

  // Octets

  /** The offset of the next `stop`; all before it is legal. */
  private until(from: number, stop: number): number {
    const { bytes, end } = this
    let at = from
    while (at < end) {
      const octet = bytes[at]!
      if (octet === stop) return at
      if (octet >= 0x80) at = this.wide(at)
      else if (legal[octet] === 1) at++
      else this.fail('an illegal character', at)
    }
    return this.fail('the document ends inside a comment, CDATA section or processing instruction', from)
  }

  private wide(at: number): number {
    return past(this.bytes, at) || this.fail('not UTF-8, or an illegal character', at)
  }

  /** [3] S?, never beyond the end. */
  private blanks(from: number): number {
    const { bytes, end } = this
    let at = from
    while (at < end && blank[bytes[at]!] === 1) at++
    return at
  }

  private cut(from: number, to: number, ascii: boolean): string {
    if (!ascii) return this.bytes.toString('utf8', from, to)
    if (from < this.windowFrom || to > this.windowTo) return this.cutOutside(from, to)
    return this.window.substring(from - this.windowFrom, to - this.windowFrom)
  }

  private cutOutside(from: number, to: number): string {
    const { bytes } = this
    if (from < this.windowFrom || to - from > windowed / 2) return bytes.toString('latin1', from, to)
    this.windowFrom = from
    this.windowTo = Math.min(from + windowed, bytes.length)
    this.window = bytes.toString('latin1', from, this.windowTo)
    return this.window.substring(0, to - from)
  }

  private lines(from: number, to: number): string {
    const text = this.cut(from, to, false)
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  }

  private fail(reason: string, at: number, limit?: keyof XmlLimits): never {
    throw new Malformed(reason, decodeReceived(this.source, at, this.original), limit)
  }
}
