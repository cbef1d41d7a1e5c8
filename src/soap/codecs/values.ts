/**
 * What the codecs of a Body share: what a message is read and written with, and where its names
 * come from.
 */
import { memoizeOnce } from '../../base/memo.ts'
import type { PassingOctets } from '../../base/passing-octets.ts'
import type { Scalar } from '../../contract/field.ts'
import type { OctetLengths } from '../../contract/octet-types.ts'
import { isScalar } from '../../contract/shape.ts'
import { type PublishedTypes, type TypeForm, type TypeNames, unpublishedTypes } from '../../contract/type-names.ts'
import type { CanonicalBudget } from '../../xml/canonical-budget.ts'
import { type Cursor, type Element, internName, type Name } from '../../xml/index.ts'
import type { SchemaFlaw } from '../refusal.ts'
import { soap11, soap12 } from '../version.ts'

/** What one message is read with. */
export interface LiteralReading {
  readonly found: SchemaFlaw[]
  /** The parts of the package that the message came in. */
  readonly parts: PartSource | undefined
  /** The Body as it was opened. */
  readonly around: Element | undefined
  /** Header blocks that an encoded Body may refer to: none where the Body alone was proven. */
  readonly blocks: readonly Element[]
  /**
   * Whether content without what is required, or outside of its facets, is read all the same;
   * undefined: it is not.
   */
  readonly forgive?: (kind: 'missing' | 'facets', path: string, detail: string) => boolean
  /** Octets that the message may have, where a setting says it. */
  readonly longest?: number
  /** How many characters may still be kept as XML: each text of it has its own namespaces. */
  readonly kept?: CanonicalBudget
  /** The message is a response, which may say which of its parts is the return value. */
  readonly isResponse?: true
  /** The element is a document, with the octets of attachments in it: the XML of REST. */
  readonly isDocument?: true
}
export interface PartSource {
  /**
   * The octets of the part that a `cid:` URI names; refuses a part that is missing or was taken
   * before.
   */
  take(href: string): Uint8Array | StreamedPart
  /**
   * The octets of the part that `ref:swaRef` names, once all have arrived; undefined: it is not
   * there.
   */
  look(href: string): Uint8Array | undefined
  /**
   * The parts whose Content-ID begins with this name (WS-I Attachments Profile 1.0 §3.8), once all
   * have arrived; `unknown`: which are there is not asked yet.
   */
  named(part: string): readonly PartContent[] | 'unknown'
}
export interface PartContent {
  /** Its Content-Type; empty without one. */
  readonly type: string
  readonly bytes: Uint8Array
  /** Its MIME fields, by lower-case name. */
  readonly fields?: Readonly<Record<string, string>>
}
/**
 * Stands for the octets of a part that has not arrived yet: whether they are wanted is known only
 * after all else has been read.
 */
export class StreamedPart {
  /** Its Content-ID. */
  readonly id: string
  /** How many its type allows, for their reader. */
  readonly lengths: OctetLengths
  constructor(id: string, lengths: OctetLengths = anyLength) {
    this.id = id
    this.lengths = lengths
  }
}
const anyLength: OctetLengths = { min: 0, max: Number.POSITIVE_INFINITY }
/** What one message is written with. */
export interface LiteralWriting {
  /**
   * Puts octets outside of the XML and returns the `cid:` URI of their part; undefined: they stay
   * inside as base64.
   */
  readonly attach: ((bytes: Uint8Array | PassingOctets) => string) | undefined
  /**
   * Sends octets next to the envelope, and returns the `cid:` URI by which it refers to them (WS-I
   * Attachments Profile 1.0 §4.4); `never`: nothing travels with what is written; undefined: they
   * stay inside as base64.
   */
  readonly refer?: ((bytes: Uint8Array) => string) | 'never'
  /** Sends a part of the message next to its envelope; undefined: it has no package. */
  readonly attachPart?: (part: string, mediaType: string, bytes: Uint8Array) => void
}
export const inlineWriting: LiteralWriting = { attach: undefined }
/** Of a header block or the detail of a fault: attachments are of the Body alone. */
export const loneWriting: LiteralWriting = { attach: undefined, refer: 'never' }

/** At the `start` of an element: returns its value and leaves the cursor at its `end`. */
export type ReadValue = (cursor: Cursor, reading: LiteralReading) => unknown
export type ReadRow = (cursor: Cursor, reading: LiteralReading) => Record<string, unknown>
/** A value as the content of its element. */
export type Write = (value: unknown, writing: LiteralWriting) => string

export const xsdUri = 'http://www.w3.org/2001/XMLSchema'
export const xsiUri = 'http://www.w3.org/2001/XMLSchema-instance'
export const xsiNil = internName(xsiUri, 'nil')
export const xsiType = internName(xsiUri, 'type')
export const includeName = internName('http://www.w3.org/2004/08/xop/include', 'Include')
export const hrefName = internName('', 'href')
export const contentTypeNames: ReadonlySet<Name> = new Set([
  internName('http://www.w3.org/2005/05/xmlmime', 'contentType'),
  internName('http://www.w3.org/2004/11/xmlmime', 'contentType'),
])

/** Where the documents of a schema are, said by an instance. */
export const schemaHints: ReadonlySet<Name> = new Set([
  internName(xsiUri, 'schemaLocation'),
  internName(xsiUri, 'noNamespaceSchemaLocation'),
])
/** Attributes that any element may have. */
export const isGeneralAttribute = (name: Name): boolean =>
  name === xsiNil ||
  name === xsiType ||
  schemaHints.has(name) ||
  name === soap11.encodingStyle ||
  name === soap12.encodingStyle

// Names

/** The types of content, for xsi:type. */
export interface TypeSpace extends TypeNames {
  readonly uri: string
  /** A simple type by its local name. */
  readonly findScalar: (local: string) => Scalar | undefined
}
export function typesIn(uri: string, types: PublishedTypes | TypeNames = unpublishedTypes): TypeSpace {
  const all = 'all' in types ? types.all : []
  const scalars = memoizeOnce(
    () => new Map(all.flatMap(({ name, shape }) => (isScalar(shape) ? [[name, shape] as const] : []))),
  )
  return { uri, nameOf: types.nameOf, findScalar: local => scalars().get(local) }
}

/** The namespaces of the names in some content. */
export interface Space {
  readonly children: string
  /** Of the elements inside of the children. */
  readonly below: string
  readonly types: TypeSpace
  readonly form: TypeForm
}
export const qualifiedSpace = (uri: string, types: TypeSpace = typesIn(uri)): Space => ({
  children: uri,
  below: uri,
  types,
  form: 'qualified',
})

// Refusing

/** The path of the element at hand, from the child of Body on. */
export function pathOf(cursor: Cursor): string {
  const path = cursor.path()
  const body = path.indexOf('/Body[1]')
  return body < 0 ? path : path.slice(body + 8)
}

/**
 * What is wrong with an element where others are expected: its namespace alone, where its local
 * name is that of one which is known.
 */
export function describeUnexpected(found: Name, expected: readonly Name[], known: readonly Name[] = expected): string {
  const meant = known.find(({ uri, local }) => local === found.local && uri !== found.uri)
  if (meant) return `has ${describeNamespace(found.uri)}: expected ${describeNamespace(meant.uri)}`
  return `is not expected here: expected ${describeNames(expected)}`
}
const describeNamespace = (uri: string): string => (uri === '' ? 'no namespace' : `the namespace ${uri}`)
export function describeNames(expected: readonly Name[]): string {
  const names = expected.map(each => each.local).join(', ')
  return expected.length > 1 ? `one of ${names}` : names || 'no element'
}
