import type { Name } from './name.ts'

/**
 * The position of a cursor. `before` is the beginning; `after` is the end, which is reached only
 * when the whole document is well-formed.
 */
export type Event = 'before' | 'start' | 'end' | 'text' | 'comment' | 'instruction' | 'after'

/**
 * Reads a document from front to back without building anything. A scanner (over bytes) and a
 * walker (over a tree) are both cursors, so one decoder reads both. Every movement may throw a
 * Malformed.
 *
 * Positions: at `start` an element's attributes and declarations can be read; at `end` its name
 * again. The namespaces in scope are those of the current element. A property that the event does
 * not have keeps its last value, or is empty.
 */
export interface Cursor {
  readonly event: Event
  /** At `start` and `end`, the name of that element; otherwise that of the element around. */
  readonly name: Name
  /** As written; empty for none. */
  readonly prefix: string
  /** Open elements, including the current one: the root's `start` and `end` have 1. */
  readonly depth: number
  /**
   * The value of a text (CDATA as text, line ends as U+000A) or a comment, or the data of a
   * processing instruction.
   */
  readonly value: string
  /** The target of a processing instruction. */
  readonly target: string
  /**
   * Octets [from, to) of the event in the document's UTF-8 form: of a tag, not of the whole
   * element.
   */
  readonly from: number
  readonly to: number
  /** The UTF-8 form to which these offsets refer; undefined over a tree. */
  readonly bytes: Uint8Array | undefined
  /**
   * The last place where the spelling of the document differs from canonical form, apart from order
   * and empty elements; or -1.
   */
  readonly irregular: number

  /** The number of attributes, without namespace declarations. */
  readonly attributes: number
  attributeName(index: number): Name
  attributePrefix(index: number): string
  attributeValue(index: number): string
  /** The value of the attribute with this name. */
  attribute(name: Name): string | undefined

  /**
   * The namespace declarations of this element itself, in order. The uri is empty for `xmlns=""`.
   */
  declarations(): readonly { readonly prefix: string; readonly uri: string }[]
  /**
   * The namespace of a prefix here. The empty prefix means the default namespace, or the empty
   * string without one.
   */
  namespace(prefix: string): string | undefined
  /**
   * A QName in content (XML Schema Part 2 §3.2.18): the default namespace applies. Undefined for
   * other text.
   */
  qname(text: string): Name | undefined

  /** The next event; at `after`, `after` again. */
  next(): Event
  /**
   * The next event where only elements are expected: white space and comments are skipped. It is
   * the `start` of a child or the `end` of the parent; the caller has to refuse anything else.
   */
  child(): Event
  /**
   * At `start`: all text of an element without child elements, whose `end` is then the position.
   * Comments and processing instructions are dissolved. Undefined when there is a child element:
   * the position is then the child's `start`.
   */
  text(): string | undefined
  /** `text()` in UTF-8, possibly without a copy: it must not be changed. */
  octets(): Uint8Array | undefined
  /** At `start`: moves to the `end` of the same element. */
  skip(): void
  /** Moves to the end of the document from anywhere. */
  finish(): void
  /**
   * Local names from the root to the current element, for error messages; `[n]` counts siblings
   * with the same name.
   */
  path(): string
}
