import type { Name } from './name.ts'

/**
 * What stands where a cursor is. `before` is the very beginning; `after` is the end of the document, reached only when all of
 * it was well-formed.
 */
export type Event = 'before' | 'start' | 'end' | 'text' | 'comment' | 'instruction' | 'after'

/**
 * A document read from front to back without making anything of it. Over bytes (`scan`) and over a tree (`walk`) alike, so
 * one decoder serves both. Every movement may throw a Malformed.
 *
 * Positions: at `start` an element's attributes and declarations can be read; at `end` its name again. The namespaces in
 * scope are those of the element at hand. Reading anything that the event does not have gives its last or an empty value.
 */
export interface Cursor {
  readonly event: Event
  /** At `start` and `end`; otherwise of the element around. */
  readonly name: Name
  /** As written; empty for none. */
  readonly prefix: string
  /** Open elements, with the one at hand: the root's `start` and `end` have 1. */
  readonly depth: number
  /** Of a text (CDATA as text, line ends as U+000A), a comment, or the data of a processing instruction. */
  readonly value: string
  /** Of a processing instruction. */
  readonly target: string
  /** Octets [from, to) of the event in the document's UTF-8 form: of a tag, not of the whole element. */
  readonly from: number
  readonly to: number
  /** The UTF-8 form that these count in; undefined over a tree. */
  readonly bytes: Uint8Array | undefined
  /** Where the document was last spelt otherwise than canonical form spells it, order and empty elements left out; or -1. */
  readonly irregular: number

  /** How many attributes, without namespace declarations, in their order. */
  readonly attributes: number
  attributeName(index: number): Name
  attributePrefix(index: number): string
  attributeValue(index: number): string
  /** The value of the attribute of this name. */
  attribute(name: Name): string | undefined

  /** The namespace declarations of this very element, in their order. The uri is empty for `xmlns=""`. */
  declarations(): readonly { readonly prefix: string; readonly uri: string }[]
  /** The namespace a prefix stands for here; the empty prefix asks for the default, whose absence is the empty string. */
  namespace(prefix: string): string | undefined
  /** A QName in content (XML Schema Part 2 §3.2.18): the default namespace applies. Undefined when it is none. */
  qname(text: string): Name | undefined

  /** The next event. At `after` it stays. */
  next(): Event
  /**
   * The next event that means something where only elements are expected: white space and comments are passed over. It is
   * `start` of a child or `end` of the parent; anything else is for the caller to refuse.
   */
  child(): Event
  /**
   * At `start`: all text of an element without child elements, and goes to its `end`. Comments and processing instructions
   * are dissolved. Undefined when there is a child element: the cursor is then at the child's `start`.
   */
  text(): string | undefined
  /** `text()` in UTF-8, perhaps without a copy: it is not to be changed. */
  octets(): Uint8Array | undefined
  /** At `start`: goes to the `end` of the same element. */
  skip(): void
  /** Goes to the end of the document from anywhere. */
  finish(): void
  /** Local names from the root to the element at hand, for messages; `[n]` is the nth of neighbours of one name. */
  path(): string
}
