/**
 * XML as the schema of another party declares it: the vocabulary for messages that a service does
 * not design itself. A declaration is read three ways: as a TypeScript type, as a reader and writer
 * of XML (`soap/codecs/schema-read.ts`, `schema-write.ts`), and as XML Schema
 * (`describe/port-schema.ts`). What always holds:
 *  (1) The value of an element with content is an object with a member for each attribute, element
 *      and group that its type declares, under the key that the type gives it.
 *  (2) A member that may occur more than once is always an array, with one occurrence too.
 *  (3) Exactly one branch of a choice is a member of its value.
 *  (4) Content that a schema leaves open is XML: the text of one whole element.
 *  (5) Values are exact: decimals, dates and large integers as in `field.ts`; a QName is text in
 *      James Clark's notation, `{uri}local`.
 */

/** The built-in types of XML Schema Part 2, and `swaRef`, with the type of their values. */
export interface BuiltInValues {
  string: string
  normalizedString: string
  token: string
  language: string
  Name: string
  NCName: string
  NMTOKEN: string
  ID: string
  IDREF: string
  ENTITY: string
  anyURI: string
  QName: string
  NOTATION: string
  boolean: boolean
  decimal: string
  float: number
  double: number
  int: number
  short: number
  byte: number
  unsignedShort: number
  unsignedByte: number
  long: bigint
  integer: bigint
  unsignedInt: bigint
  unsignedLong: bigint
  positiveInteger: bigint
  nonNegativeInteger: bigint
  negativeInteger: bigint
  nonPositiveInteger: bigint
  date: string
  time: string
  dateTime: string
  duration: string
  gYear: string
  gYearMonth: string
  gMonth: string
  gMonthDay: string
  gDay: string
  hexBinary: Uint8Array
  base64Binary: Uint8Array
  anySimpleType: string
  /** Any element: its whole text. */
  anyType: string
  IDREFS: readonly string[]
  ENTITIES: readonly string[]
  NMTOKENS: readonly string[]
  /** Octets of an attachment that the text refers to (WS-I Attachments Profile 1.0 §4.4). */
  swaRef: Uint8Array
}
export type BuiltInName = keyof BuiltInValues

/** The namespace of `swaRef`; all other built-in types are in that of XML Schema. */
export const swaRefUri = 'http://ws-i.org/profiles/basic/1.1/xsd'
export const isSwaRef = ({ definition }: AnyXmlType): boolean =>
  definition.kind === 'builtIn' && definition.name === 'swaRef'

/** SchemaFacets (XML Schema Part 2 §4.3); bounds and values are in the lexical form of the type. */
export interface SchemaFacets {
  readonly values?: readonly string[]
  /** In the syntax of XML Schema; a value matches all of them. */
  readonly patterns?: readonly string[]
  readonly length?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minInclusive?: string
  readonly maxInclusive?: string
  readonly minExclusive?: string
  readonly maxExclusive?: string
  readonly totalDigits?: number
  readonly fractionDigits?: number
  readonly whiteSpace?: 'preserve' | 'replace' | 'collapse'
}

export interface QualifiedName {
  readonly uri: string
  readonly local: string
}
/** Whether local elements and attributes of a schema are in its namespace. */
export interface NamespaceForm {
  readonly uri: string
  readonly elements: 'qualified' | 'unqualified'
  readonly attributes: 'qualified' | 'unqualified'
}

// biome-ignore lint/suspicious/noExplicitAny: the bound of a type parameter; no value has it
export type AnyXmlType = XmlType<any>
// biome-ignore lint/suspicious/noExplicitAny: likewise
export type AnyMember = Member<any, boolean>
export type TypeMembers = Readonly<Record<string, AnyMember>>

export interface ComplexDefinition {
  readonly kind: 'complex'
  readonly name: QualifiedName | undefined
  /** The form of its members; undefined: that of the type around it. */
  readonly form: NamespaceForm | undefined
  readonly members: TypeMembers
  /** Its elements may come in any order, each at most once (`xs:all`). */
  readonly isUnordered: boolean
  readonly base: { readonly type: AnyXmlType; readonly by: 'extension' | 'restriction' } | undefined
  /** A value of it names a type derived from it. */
  readonly isAbstract: boolean
}
export type SimpleDefinition =
  | {
      readonly kind: 'restriction'
      readonly name: QualifiedName | undefined
      readonly of: AnyXmlType
      readonly facets: SchemaFacets
    }
  | { readonly kind: 'list'; readonly name: QualifiedName | undefined; readonly item: AnyXmlType }
  | { readonly kind: 'union'; readonly name: QualifiedName | undefined; readonly of: readonly AnyXmlType[] }
/** An array of SOAP's encoding (SOAP 1.1 §5.4.2). */
export interface ArrayDefinition {
  readonly kind: 'array'
  readonly name: QualifiedName | undefined
  /** With more than one dimension: its rows, each an array with one dimension less. */
  readonly item: () => AnyXmlType
  readonly dimensions: number
}
/** The type of an array's cells, whatever its dimensions. */
export function cellTypeOf({ item, dimensions }: ArrayDefinition): AnyXmlType {
  const { definition } = item()
  return dimensions > 1 && definition.kind === 'array' ? cellTypeOf(definition) : item()
}
export type XmlDefinition =
  | { readonly kind: 'builtIn'; readonly name: BuiltInName }
  | SimpleDefinition
  | ComplexDefinition
  /** A type, or one derived from it. */
  | { readonly kind: 'derivable'; readonly type: AnyXmlType; readonly derived: () => readonly AnyXmlType[] }
  | ArrayDefinition

/** A type of an imported XML Schema. */
export class XmlType<T> {
  declare readonly value: T
  readonly definition: XmlDefinition
  constructor(definition: XmlDefinition) {
    this.definition = definition
  }
}
/** The value of a type or an element. */
export type ValueOf<X extends { readonly value: unknown }> = X['value']

interface RootMarks {
  readonly isNillable: boolean
  /** It represents a typed part of a message: no schema declares it. */
  readonly isPart: boolean
  /** The lexical form of the value if the element is empty. */
  readonly initial: string | undefined
  /** `initial` is its only value. */
  readonly isFixed: boolean
  /** For octets: the expected media types, in the form of `Accept`. They are not checked. */
  readonly expects: string | undefined
}
const plainRoot: RootMarks = {
  isNillable: false,
  isPart: false,
  initial: undefined,
  isFixed: false,
  expects: undefined,
}

/**
 * A global element: a message, the detail of a fault, or the target of a member's reference.
 * Immutable.
 */
export class RootElement<T> {
  declare readonly value: T
  readonly name: QualifiedName
  readonly type: () => XmlType<T>
  /** The form for what an anonymous type declares. */
  readonly form: NamespaceForm
  readonly marks: RootMarks
  constructor(name: QualifiedName, type: () => XmlType<T>, form: NamespaceForm, marks: Partial<RootMarks> = {}) {
    this.name = name
    this.type = type
    this.form = form
    this.marks = { ...plainRoot, ...marks }
  }
  get isNillable(): boolean {
    return this.marks.isNillable
  }
  get isPart(): boolean {
    return this.marks.isPart
  }
  nillable(): RootElement<T | null> {
    return new RootElement<T | null>(this.name, this.type, this.form, { ...this.marks, isNillable: true })
  }
  /**
   * The value of the empty element, as text, wherever it is referred to (XML Schema Part 1 §3.3.2).
   */
  default(initial: string): RootElement<T> {
    return new RootElement(this.name, this.type, this.form, { ...this.marks, initial })
  }
  /** The only value that it may have, as text. */
  fixed(initial: string): RootElement<T> {
    return new RootElement(this.name, this.type, this.form, { ...this.marks, initial, isFixed: true })
  }
  /**
   * The media types that its octets are expected to have, in the form of `Accept`: only
   * information.
   */
  expecting(mediaTypes: string): RootElement<T> {
    return new RootElement(this.name, this.type, this.form, { ...this.marks, expects: mediaTypes })
  }
}
/** A root element of any type. */
// biome-ignore lint/suspicious/noExplicitAny: the bound of a type parameter; no value has it
export type AnyRootElement = RootElement<any>

/**
 * The content of a Body that is not one element (WSDL 1.1 §3.5): the elements of several parts, or
 * the content of a type. In the XML of REST it is an element named `Body`.
 */
export class BodyContent<T> extends RootElement<T> {
  constructor(type: () => XmlType<T>) {
    super({ uri: '', local: 'Body' }, type, { uri: '', elements: 'unqualified', attributes: 'unqualified' })
  }
}

/** Which namespaces a wildcard has (XML Schema Part 1 §3.10). */
export type WildcardNamespaces = 'any' | { readonly not: string } | { readonly of: readonly string[] }
/**
 * Whether declarations of the elements it accepts must be known; this only informs schema readers.
 */
export type WildcardProcess = 'lax' | 'strict' | 'skip'
interface Wildcard {
  readonly namespaces: WildcardNamespaces
  readonly process: WildcardProcess
}
export type Particle =
  | { readonly kind: 'element'; readonly type: () => AnyXmlType }
  | { readonly kind: 'reference'; readonly to: () => AnyRootElement }
  | { readonly kind: 'attribute'; readonly type: AnyXmlType }
  | { readonly kind: 'text'; readonly type: AnyXmlType }
  | { readonly kind: 'choice' | 'sequence'; readonly members: TypeMembers }
  | ({ readonly kind: 'any' | 'anyAttribute' } & Wildcard)

/** A part of a message that is sent next to its envelope. */
export interface AttachmentMark {
  /** The media types that it may have, or ranges such as `image/*`; empty: any. */
  readonly mediaTypes: readonly string[]
  readonly isText: boolean
}
/** Whether its media type is known, so that its value need not say it. */
export const hasOneMediaType = ({ mediaTypes: [only = '*', another] }: AttachmentMark): boolean =>
  another === undefined && !only.includes('*')

interface MemberMarks {
  readonly min: number
  readonly max: number
  readonly isMany: boolean
  /** The smallest number of occurrences other than none, if it is greater than `min`. */
  readonly least: number | undefined
  readonly isNillable: boolean
  /** Its name in XML. Default: the key. */
  readonly name: string | undefined
  /** Its namespace; empty: none. Default: by the form of the schema. */
  readonly uri: string | undefined
  /** The lexical form of the value where it is absent or empty. */
  readonly initial: string | undefined
  /** `initial` is its only value. */
  readonly isFixed: boolean
  /** For octets in an element: the expected media types, in the form of `Accept`. */
  readonly expects: string | undefined
  /** Undefined: it is in the XML. */
  readonly attached: AttachmentMark | undefined
}
const onceMarks: MemberMarks = {
  min: 1,
  max: 1,
  isMany: false,
  least: undefined,
  isNillable: false,
  name: undefined,
  uri: undefined,
  initial: undefined,
  isFixed: false,
  expects: undefined,
  attached: undefined,
}

/** A part of a type: `T` is its value, `O` whether it may be absent. Immutable. */
export class Member<T, O extends boolean = false> {
  declare readonly value: T
  declare readonly mayBeAbsent: O
  readonly particle: Particle
  readonly marks: MemberMarks
  constructor(particle: Particle, marks: MemberMarks = onceMarks) {
    this.particle = particle
    this.marks = marks
  }
  /** May be absent (minOccurs 0, or an attribute that is not required). */
  optional(): Member<T, true> {
    return new Member(this.particle, { ...this.marks, min: 0 })
  }
  /** May occur more than once, with no wrapper around: an array. */
  many(min = 0, max = Number.POSITIVE_INFINITY): Member<readonly T[], false> {
    return new Member(this.particle, { ...this.marks, min, max, isMany: true, least: undefined })
  }
  /** Absent, or at least `least` times: an array that is empty or has at least that many items. */
  manyOrNone(least: number, max = Number.POSITIVE_INFINITY): Member<readonly T[], false> {
    return new Member(this.particle, { ...this.marks, min: 0, max, isMany: true, least })
  }
  /** May be `xsi:nil`: null. */
  nillable(): Member<T | null, O> {
    return new Member(this.particle, { ...this.marks, isNillable: true })
  }
  /** Its name in XML, if it differs from the key. */
  named(name: string): Member<T, O> {
    return new Member(this.particle, { ...this.marks, name })
  }
  /** Its namespace, if it is not the one that the form of the schema implies; empty: none. */
  in(uri: string): Member<T, O> {
    return new Member(this.particle, { ...this.marks, uri })
  }
  /** The value of an attribute that is absent, or of an element that is empty, as text. */
  default(initial: string): Member<T, O> {
    return new Member(this.particle, { ...this.marks, initial })
  }
  /** The only value that it may have, as text. */
  fixed(initial: string): Member<T, O> {
    return new Member(this.particle, { ...this.marks, initial, isFixed: true })
  }
  /**
   * The media types that the octets of an element are expected to have, as `Accept` has them:
   * `'image/png, image/*;q=0.5'`. The WSDL publishes them; received octets are not checked.
   */
  expecting(mediaTypes: string): Member<T, O> {
    return new Member(this.particle, { ...this.marks, expects: mediaTypes })
  }
}

type FlatValue<T> = { [K in keyof T]: T[K] }
type AbsentKeys<M extends TypeMembers> = { [K in keyof M]: M[K]['mayBeAbsent'] extends true ? K : never }[keyof M]
/** The value of a type with these members. */
export type MembersValue<M extends TypeMembers> = FlatValue<
  { readonly [K in Exclude<keyof M, AbsentKeys<M>>]: M[K]['value'] } & {
    readonly [K in AbsentKeys<M>]?: M[K]['value'] | undefined
  }
>
type ChoiceValue<M extends TypeMembers> = {
  [K in keyof M]: { readonly [P in K]: M[K]['value'] }
}[keyof M]

type Lazily<T> = T | (() => T)
type BodyContentValue<B> = B extends XmlType<infer T> ? T : B extends TypeMembers ? MembersValue<B> : never
type RestrictedValue<T, F> = T extends string
  ? F extends { readonly values: readonly (infer V extends string)[] }
    ? V
    : T
  : T
/** A range of media types, which leaves them open. */
type OpenTypes<M extends readonly string[]> = Extract<M[number], `${string}*`>
type ChosenType<M extends readonly string[]> = [M[number]] extends [never]
  ? string
  : [OpenTypes<M>] extends [never]
    ? M[number]
    : string
type AttachmentValue<T, M extends readonly string[]> = M extends readonly [string]
  ? [OpenTypes<M>] extends [never]
    ? T
    : { readonly mediaType: string; readonly value: T }
  : { readonly mediaType: ChosenType<M>; readonly value: T }
type DerivedValue<D> =
  D extends AbstractType<unknown, string>
    ? never
    : D extends NamedType<infer T, infer N>
      ? FlatValue<{ readonly $type: N } & T>
      : never
/** A value of the type itself has no `$type`, so this member distinguishes all of them. */
type UnderivedValue<T> = T extends object ? FlatValue<T & { readonly $type?: undefined }> : T

/** A named complex type, which `xsi:type` can refer to. */
export class NamedType<T = unknown, N extends string = string> extends XmlType<T> {
  declare readonly typeName: N
}
/** A type whose values all are of types derived from it. */
export class AbstractType<T = unknown, N extends string = string> extends NamedType<T, N> {
  declare readonly isAbstract: true
}

type ExtendedValue<B, M extends TypeMembers> = unknown extends B ? MembersValue<M> : FlatValue<B & MembersValue<M>>
interface TypeOptions<B> {
  readonly extends?: XmlType<B>
  readonly restricts?: AnyXmlType
  readonly abstract?: boolean
  readonly order?: 'any'
}

/** The declarations of one namespace. */
export class XmlNamespace {
  readonly form: NamespaceForm
  constructor(form: NamespaceForm) {
    this.form = form
  }
  #name(local: string): QualifiedName {
    return { uri: this.form.uri, local }
  }
  /** A complex type; `extends` adds these members behind those of another type. */
  type<const N extends string, M extends TypeMembers, B = unknown>(
    name: N,
    members: M,
    options: TypeOptions<B> & { readonly abstract: true },
  ): AbstractType<ExtendedValue<B, M>, N>
  type<const N extends string, M extends TypeMembers, B = unknown>(
    name: N,
    members: M,
    options?: TypeOptions<B>,
  ): NamedType<ExtendedValue<B, M>, N>
  type(name: string, members: TypeMembers, options: TypeOptions<unknown> = {}): NamedType {
    return new NamedType(defineComplex(this.#name(name), this.form, members, options))
  }
  /** A simple type that narrows another one. */
  simple<T, const F extends SchemaFacets = {}>(
    name: string,
    of: XmlType<T>,
    facets: F = {} as F, // its default
  ): XmlType<RestrictedValue<T, F>> {
    return new XmlType({ kind: 'restriction', name: this.#name(name), of, facets })
  }
  list<T>(name: string, item: XmlType<T>): XmlType<readonly T[]> {
    return new XmlType({ kind: 'list', name: this.#name(name), item })
  }
  union<const U extends readonly AnyXmlType[]>(name: string, ...of: U): XmlType<U[number]['value']> {
    return new XmlType({ kind: 'union', name: this.#name(name), of })
  }
  /** An array of SOAP's encoding, of this name; items that are nil or left out are null. */
  array<T, const N extends number = 1>(name: string, item: Lazily<XmlType<T>>, dimensions?: N): XmlType<Rows<T, N>> {
    return new XmlType(defineArray(this.#name(name), asFunction(item), dimensions))
  }
  element<T>(name: string, type: Lazily<XmlType<T>>): RootElement<T> {
    return new RootElement(this.#name(name), asFunction(type), this.form)
  }
}

const asFunction = <T extends object>(lazily: Lazily<T>): (() => T) =>
  typeof lazily === 'function' ? lazily : () => lazily

/** Rows of rows of cells, in `N` dimensions. */
type Rows<T, N extends number, Counted extends readonly unknown[] = [unknown]> = Counted['length'] extends N
  ? readonly (T | null)[]
  : readonly Rows<T, N, [...Counted, unknown]>[]
export const defineArray = (
  name: QualifiedName | undefined,
  cell: () => AnyXmlType,
  dimensions: number = 1,
): ArrayDefinition => ({
  kind: 'array',
  name,
  item: dimensions > 1 ? asFunction(new XmlType(defineArray(undefined, cell, dimensions - 1))) : cell,
  dimensions,
})

const defineComplex = (
  name: QualifiedName | undefined,
  form: NamespaceForm | undefined,
  members: TypeMembers,
  { extends: extended, restricts, abstract: isAbstract = false, order }: TypeOptions<unknown>,
): ComplexDefinition => ({
  kind: 'complex',
  name,
  form,
  members,
  isUnordered: order === 'any',
  isAbstract,
  base: extended ? { type: extended, by: 'extension' } : restricts && { type: restricts, by: 'restriction' },
})

/**
 * The type that the value would have in XML: text or octets, with its media type if that is open.
 */
function attachmentType<T>(content: XmlType<T>, mark: AttachmentMark): AnyXmlType {
  if (hasOneMediaType(mark)) return content
  const isClosed = mark.mediaTypes.length > 0 && !mark.mediaTypes.some(each => each.includes('*'))
  const facets: SchemaFacets = isClosed ? { values: mark.mediaTypes } : { patterns: ['[!-~]+/[ -~]+'] }
  return x.object({ mediaType: x.attribute(x.simple(x.string, facets)), value: x.text(content) })
}

/** Every built-in type once, by its name. */
export const builtInNames: readonly BuiltInName[] = [
  ...(['string', 'normalizedString', 'token', 'language', 'Name', 'NCName', 'NMTOKEN', 'ID', 'IDREF'] as const),
  ...(['ENTITY', 'anyURI', 'QName', 'NOTATION', 'boolean', 'decimal', 'float', 'double', 'int', 'short'] as const),
  ...(['byte', 'unsignedShort', 'unsignedByte', 'long', 'integer', 'unsignedInt', 'unsignedLong'] as const),
  ...(['positiveInteger', 'nonNegativeInteger', 'negativeInteger', 'nonPositiveInteger', 'date', 'time'] as const),
  ...(['dateTime', 'duration', 'gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay', 'hexBinary'] as const),
  ...(['base64Binary', 'anySimpleType', 'anyType', 'IDREFS', 'ENTITIES', 'NMTOKENS', 'swaRef'] as const),
]
const builtIns = Object.fromEntries(
  builtInNames.map(name => [name, new XmlType({ kind: 'builtIn', name })]),
) as unknown as { readonly [K in BuiltInName]: XmlType<BuiltInValues[K]> } // a type for each name

/**
 * A type, or one derived from it, which `xsi:type` names in XML and `$type` in the value. An
 * abstract type has only values of derived types.
 */
function declareDerivable<T, D extends NamedType>(
  type: AbstractType<T>,
  derived: () => readonly D[],
): XmlType<DerivedValue<D>>
function declareDerivable<T, D extends NamedType>(
  type: XmlType<T>,
  derived: () => readonly D[],
): XmlType<UnderivedValue<T> | DerivedValue<D>>
function declareDerivable(type: AnyXmlType, derived: () => readonly AnyXmlType[]): AnyXmlType {
  return new XmlType({ kind: 'derivable', type, derived })
}

/** The vocabulary of XML: the built-in types by their names, and the parts of types. */
export const x = {
  ...builtIns,
  /** The declarations of a namespace; its local elements are qualified, unless it says otherwise. */
  namespace: (uri: string, form: Partial<Omit<NamespaceForm, 'uri'>> = {}): XmlNamespace =>
    new XmlNamespace({ elements: 'qualified', attributes: 'unqualified', ...form, uri }),
  /** An element of this type; a function where the type is declared further below. */
  element: <T>(type: Lazily<XmlType<T>>): Member<T> => new Member({ kind: 'element', type: asFunction(type) }),
  /** A global element. */
  ref: <T>(to: Lazily<RootElement<T>>): Member<T> => new Member({ kind: 'reference', to: asFunction(to) }),
  attribute: <T>(type: XmlType<T>): Member<T> => new Member({ kind: 'attribute', type }),
  /** The text of an element that has attributes. */
  text: <T>(type: XmlType<T>): Member<T> => new Member({ kind: 'text', type }),
  /** Exactly one of these. */
  choice: <M extends TypeMembers>(members: M): Member<ChoiceValue<M>> => new Member({ kind: 'choice', members }),
  /** These members in this order: for a group that repeats, or is absent, as a whole. */
  sequence: <M extends TypeMembers>(members: M): Member<MembersValue<M>> => new Member({ kind: 'sequence', members }),
  /** Any element, as XML. Default: of any namespace. */
  any: (namespaces: WildcardNamespaces = 'any', process: WildcardProcess = 'lax'): Member<string> =>
    new Member({ kind: 'any', namespaces, process }),
  /** Any attributes, by their names in James Clark's notation. */
  anyAttribute: (
    namespaces: WildcardNamespaces = 'any',
    process: WildcardProcess = 'lax',
  ): Member<Readonly<Record<string, string>>, true> =>
    new Member({ kind: 'anyAttribute', namespaces, process }, { ...onceMarks, min: 0 }),
  /** A complex type without a name. */
  object: <M extends TypeMembers, B = unknown>(
    members: M,
    options: TypeOptions<B> = {},
  ): XmlType<ExtendedValue<B, M>> => new XmlType(defineComplex(undefined, undefined, members, options)),
  /** A simple type without a name. */
  simple: <T, const F extends SchemaFacets = {}>(of: XmlType<T>, facets: F): XmlType<RestrictedValue<T, F>> =>
    new XmlType({ kind: 'restriction', name: undefined, of, facets }),
  /** Values with white space between them, in one text. */
  list: <T>(item: XmlType<T>): XmlType<readonly T[]> => new XmlType({ kind: 'list', name: undefined, item }),
  /** The first of these types that a text fits. */
  union: <const U extends readonly AnyXmlType[]>(...of: U): XmlType<U[number]['value']> =>
    new XmlType({ kind: 'union', name: undefined, of }),
  /** An array of SOAP's encoding; items that are nil or left out are null. */
  array: <T, const N extends number = 1>(item: Lazily<XmlType<T>>, dimensions?: N): XmlType<Rows<T, N>> =>
    new XmlType(defineArray(undefined, asFunction(item), dimensions)),
  derivable: declareDerivable,
  /** The element of a call or an answer in RPC style, around one accessor for each parameter. */
  call: <M extends TypeMembers>(uri: string, name: string, members: M): RootElement<MembersValue<M>> => {
    const form: NamespaceForm = { uri, elements: 'unqualified', attributes: 'unqualified' }
    const type = new XmlType<MembersValue<M>>({
      ...defineComplex(undefined, form, members, { order: 'any' }),
    })
    return new RootElement({ uri, local: name }, () => type, form)
  },
  /**
   * What a message of document style has in its Body, if that is not one element: members, such as
   * `{ order: x.ref(Order), buyer: x.ref(Buyer) }`, or the content of a type without attributes.
   */
  body: <const B extends TypeMembers | AnyXmlType>(content: B): BodyContent<BodyContentValue<B>> => {
    const type = content instanceof XmlType ? content : x.object(content as TypeMembers) // else it is members
    return new BodyContent<BodyContentValue<B>>(() => type as XmlType<BodyContentValue<B>>) // by its definition
  },
  /**
   * A member of `x.body` or `x.call` that travels next to the envelope, as `x.base64Binary` or
   * `x.string` (WSDL 1.1 §5.11; WS-I Attachments Profile 1.0). Its value is the octets or the text;
   * with several media types, a range of them or none it is `{ mediaType, value }`.
   */
  attachment: <T extends Uint8Array | string, const M extends readonly string[]>(
    content: XmlType<T>,
    ...mediaTypes: M
  ): Member<AttachmentValue<T, M>> => {
    const { definition } = content
    const attached = { mediaTypes, isText: definition.kind === 'builtIn' && definition.name === 'string' }
    return new Member(
      { kind: 'element', type: asFunction(attachmentType(content, attached)) },
      { ...onceMarks, attached },
    )
  },
  /**
   * The detail of a fault, or a header block, that a WSDL declares by a type: an element with the
   * name of its part (WSDL 1.1 §3.6, §3.7).
   */
  part: <T>(uri: string, name: string, type: Lazily<XmlType<T>>): RootElement<T> =>
    new RootElement(
      { uri, local: name },
      asFunction(type),
      { uri, elements: 'unqualified', attributes: 'unqualified' },
      { isPart: true },
    ),
}
