/**
 * Types that the codecs of a Body share: the context in which a message is read or written, and
 * where its names come from.
 */
import { memoizeOnce } from '../../base/memo.ts'
import type { PassingOctets } from '../../base/passing-octets.ts'
import type { Scalar } from '../../contract/field.ts'
import { problemsMax } from '../../contract/field-json.ts'
import type { OctetLengths } from '../../contract/octet-types.ts'
import { isScalar } from '../../contract/shape.ts'
import { type PublishedTypes, type TypeForm, type TypeNames, unpublishedTypes } from '../../contract/type-names.ts'
import type { CanonicalBudget } from '../../xml/canonical-budget.ts'
import { type Cursor, type Element, internName, type Name } from '../../xml/index.ts'
import type { SchemaFlaw } from '../refusal.ts'
import { soap11, soap12 } from '../version.ts'

/** The context in which one message is read. */
export interface LiteralReading {
  readonly flaws: SchemaFlaw[]
  /** The parts of the package that the message came in. */
  readonly parts: PartSource | undefined
  /** The Body's start tag. */
  readonly around: Element | undefined
  /** Header blocks to which an encoded Body may refer: none where only the Body was proven. */
  readonly blocks: readonly Element[]
  /**
   * Whether content is read although something required is missing or a facet is violated;
   * undefined: it is not.
   */
  readonly forgive?: (kind: 'missing' | 'facets', path: string, detail: string) => boolean
  /** The limit of the message in octets, where a setting gives one. */
  readonly longest?: number
  /** How many characters of XML may still be kept: each kept text carries its own namespaces. */
  readonly kept?: CanonicalBudget
  /** The message is a response, so one of its parts may be the return value. */
  readonly isResponse?: true
  /** The element is a REST document in XML, which contains the octets of its attachments. */
  readonly isDocument?: true
}
export interface PartSource {
  /**
   * The octets of the part that a `cid:` URI names; refuses a missing part, and one taken before.
   */
  take(href: string): Uint8Array | StreamedPart
  /**
   * The octets of the part that `ref:swaRef` names, once all have arrived; undefined: there is no
   * such part.
   */
  look(href: string): Uint8Array | undefined
  /**
   * The parts whose Content-ID begins with this name (WS-I Attachments Profile 1.0 §3.8), once all
   * have arrived; `unknown`: before that.
   */
  named(part: string): readonly PartContent[] | 'unknown'
}
export interface PartContent {
  /** Its Content-Type; empty without one. */
  readonly type: string
  readonly bytes: Uint8Array
  /** Its MIME fields by lower-case name. */
  readonly fields?: Readonly<Record<string, string>>
}
/**
 * Stands for the octets of a part that has not arrived yet: only after the rest has been read is it
 * known whether they are wanted.
 */
export class StreamedPart {
  /** Its Content-ID. */
  readonly id: string
  /** The lengths that its type allows, for the reader of the octets. */
  readonly lengths: OctetLengths
  constructor(id: string, lengths: OctetLengths = anyLength) {
    this.id = id
    this.lengths = lengths
  }
}
const anyLength: OctetLengths = { min: 0, max: Number.POSITIVE_INFINITY }
/** The context in which one message is written. */
export interface LiteralWriting {
  /**
   * Moves octets out of the XML and returns the `cid:` URI of their part; undefined: they stay
   * inside as base64.
   */
  readonly attach: ((bytes: Uint8Array | PassingOctets) => string) | undefined
  /**
   * Sends octets next to the envelope, and returns the `cid:` URI that refers to them (WS-I
   * Attachments Profile 1.0 §4.4); `never`: the text travels alone; undefined: they stay inside as
   * base64.
   */
  readonly refer?: ((bytes: Uint8Array) => string) | 'never'
  /** Sends a part of the message next to its envelope; undefined: it has no package. */
  readonly attachPart?: (part: string, mediaType: string, bytes: Uint8Array) => void
}
export const inlineWriting: LiteralWriting = { attach: undefined }
/** For a header block or the detail of a fault: only the Body has attachments. */
export const loneWriting: LiteralWriting = { attach: undefined, refer: 'never' }

/** From the `start` of an element to its `end`; returns its value. */
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

/** The attributes by which an instance locates its schema documents. */
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
  /** Finds a simple type by its local name. */
  readonly findScalar: (local: string) => Scalar | undefined
}
export function typesIn(uri: string, types: PublishedTypes | TypeNames = unpublishedTypes): TypeSpace {
  const all = 'all' in types ? types.all : []
  const scalars = memoizeOnce(
    () => new Map(all.flatMap(({ name, shape }) => (isScalar(shape) ? [[name, shape] as const] : []))),
  )
  return { uri, nameOf: types.nameOf, findScalar: local => scalars().get(local) }
}

/** The namespaces of the names in a value's content. */
export interface Space {
  readonly children: string
  /** The namespace of the elements inside the children. */
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

/** The content is refused anyway, and the first hundred flaws are enough to correct. */
export function collectFlaw(
  { flaws }: LiteralReading,
  path: () => string,
  { code, detail }: Pick<SchemaFlaw, 'code' | 'detail'>,
): void {
  if (flaws.length < problemsMax) flaws.push({ path: path(), code, detail })
}

/** The path of the current element, from the child of Body on. */
export function pathOf(cursor: Cursor): string {
  const path = cursor.path()
  const body = path.indexOf('/Body[1]')
  return body < 0 ? path : path.slice(body + 8)
}

/**
 * What is wrong with an unexpected element: only its namespace, where its local name is a known
 * one.
 */
export function describeUnexpected(found: Name, expected: readonly Name[], known: readonly Name[] = expected): string {
  const intended = known.find(({ uri, local }) => local === found.local && uri !== found.uri)
  if (intended) return `has ${describeNamespace(found.uri)}: expected ${describeNamespace(intended.uri)}`
  return `is not expected here: expected ${describeNames(expected)}`
}
const describeNamespace = (uri: string): string => (uri === '' ? 'no namespace' : `the namespace ${uri}`)
export function describeNames(expected: readonly Name[]): string {
  const names = expected.map(each => each.local).join(', ')
  return expected.length > 1 ? `one of ${names}` : names || 'no element'
}
