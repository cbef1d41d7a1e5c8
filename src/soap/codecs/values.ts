import { type Cursor, type Element, internName } from '../../xml/index.ts'
import type { SchemaFlaw } from '../refusal.ts'

/** What one message is read with. */
export interface LiteralReading {
  readonly found: SchemaFlaw[]
  /** The parts of the package that the message came in. */
  readonly parts: PartSource | undefined
  /** The Body as it was opened. */
  readonly around: Element | undefined
  /** Header blocks that an encoded Body may refer into: none where a Body was proven by itself. */
  readonly blocks: readonly Element[]
}
export interface PartSource {
  /** The octets of the part that a `cid:` URI means; refuses when there is none, or it was taken before. */
  take(href: string): Uint8Array | StreamedPart
}
/** In place of the octets of a part that has not come yet: whether they are wanted is not known before all the rest is read. */
export class StreamedPart {
  /** Its Content-ID. */
  readonly id: string
  constructor(id: string) {
    this.id = id
  }
}
/** What one message is written with. */
export interface LiteralWriting {
  /** Puts octets outside the XML and answers the `cid:` URI of their part; undefined: they stay inside as base64. */
  readonly attach: ((bytes: Uint8Array) => string) | undefined
}
export const inlineWriting: LiteralWriting = { attach: undefined }

/** At the `start` of an element: its value; the cursor is then at its `end`. */
export type ReadValue = (cursor: Cursor, reading: LiteralReading) => unknown
export type ReadRow = (cursor: Cursor, reading: LiteralReading) => Record<string, unknown>
/** A value as the content of its element. */
export type Write = (value: unknown, writing: LiteralWriting) => string

export const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
export const xsiNil = internName(xsi, 'nil')
export const xsiType = internName(xsi, 'type')
export const includeName = internName('http://www.w3.org/2004/08/xop/include', 'Include')
export const href = internName('', 'href')
export const contentTypes = new Set([
  internName('http://www.w3.org/2005/05/xmlmime', 'contentType'),
  internName('http://www.w3.org/2004/11/xmlmime', 'contentType'),
])

// Refusing

/** Where the element at hand is, from the child of Body on. */
export function pathOf(cursor: Cursor): string {
  const path = cursor.path()
  const body = path.indexOf('/Body[1]')
  return body < 0 ? path : path.slice(body + 8)
}

/** The namespaces of names that content has. */
export interface Space {
  readonly children: string
  /** Of what is in the children. */
  readonly below: string
  /** Of types, for xsi:type. */
  readonly types: string
}
export const qualifiedSpace = (uri: string): Space => ({ children: uri, below: uri, types: uri })
