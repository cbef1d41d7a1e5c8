/**
 * The possible values of one field. A declaration is read in three ways: as a TypeScript type, as
 * JSON rules (`field-json.ts`) and as an XSD type (`describe/xsd-types.ts`). The order of fields is
 * the order of elements. Values stay exact: 64-bit integers are bigint, decimals are decimal text,
 * dates and times are ISO 8601 text with their own zone, bytes are bytes.
 */
import { fieldKind, fieldsKind, optionalKind, requireMemberKinds } from './member-kinds.ts'
import type { FieldAccess, Grant } from './policy.ts'

import type { FieldTexts } from './texts.ts'

/** Facets of a scalar and its XSD type; each kind is one lexical space (XML Schema Part 2 §3). */
export type Scalar =
  | {
      readonly kind: 'string'
      readonly min?: number
      readonly max?: number
      readonly pattern?: string
      readonly xsd?: StringType
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'int'; readonly min?: number; readonly max?: number; readonly xsd?: IntType }
  | { readonly kind: 'long'; readonly min?: bigint; readonly max?: bigint; readonly xsd?: LongType }
  | {
      readonly kind: 'decimal'
      readonly digits: number
      readonly places: number
      readonly min?: string
      readonly max?: string
    }
  | { readonly kind: 'double'; readonly min?: number; readonly max?: number; readonly xsd?: 'double' | 'float' }
  | { readonly kind: 'date' | 'time' | 'dateTime'; readonly zone?: ZoneRule }
  | { readonly kind: 'duration'; readonly zone?: undefined }
  | { readonly kind: 'bytes'; readonly max?: number; readonly encoding?: 'base64' | 'hex' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'id'; readonly prefix: string }
  | { readonly kind: 'ref'; readonly resource: string; readonly unseen?: boolean }

/**
 * Whether a date or time has a zone (XML Schema 1.1 Part 2 §4.3.14). With any rule it has a year
 * from 0001 to 9999 and no hour 24, as in RFC 3339 and the languages of most clients; without a
 * rule it is any value of its XML Schema type.
 */
export type ZoneRule = 'required' | 'optional' | 'prohibited'

/** String types of XSD that differ from `xs:string` in white space and in the values they allow. */
export type StringType =
  | 'normalizedString'
  | 'token'
  | 'language'
  | 'Name'
  | 'NCName'
  | 'NMTOKEN'
  | 'anyURI'
  | 'QName'
  | 'gYear'
  | 'gYearMonth'
  | 'gMonth'
  | 'gMonthDay'
  | 'gDay'
export type IntType = 'int' | 'short' | 'byte' | 'unsignedShort' | 'unsignedByte'
export type LongType =
  | 'long'
  | 'integer'
  | 'unsignedInt'
  | 'unsignedLong'
  | 'positiveInteger'
  | 'nonNegativeInteger'
  | 'negativeInteger'
  | 'nonPositiveInteger'

export type Shape =
  | Scalar
  | {
      readonly kind: 'list'
      readonly item: AnyField
      readonly min?: number
      readonly max?: number
      /** The contract does not set `max`. */
      readonly isDefaultMax?: boolean
      readonly element?: string
    }
  | { readonly kind: 'map'; readonly entries: EntryList }
  | { readonly kind: 'object'; readonly name?: string; readonly fields: Fields }
  | { readonly kind: 'union'; readonly on: string; readonly of: Readonly<Record<string, Fields>> }

/**
 * The entries of a map as a list of objects with a `key` and a `value`: its form in XML, and the
 * bounds on their number.
 */
export type EntryList = Extract<Shape, { readonly kind: 'list' }>

/** Named fields: those of a resource, an input, an output, a detail or an object. */
export type Fields = Readonly<Record<string, AnyField>>
/** A field of any type. */
// biome-ignore lint/suspicious/noExplicitAny: the bound of a type parameter; no value has it
export type AnyField = Field<any, Presence, ValueOrigin, any>

/** Whether a value may be absent: yes, no, or only in content, where a default replaces it. */
export type Presence = boolean | 'default'

/**
 * Where a value comes from: content (false), only the server (true), the other fields in each read,
 * or the place of the item: its parent.
 */
export type ValueOrigin = boolean | 'computed' | 'parent'

interface FieldMarks {
  readonly isOptional: boolean
  readonly isReadOnly: boolean
  readonly isComputed: boolean
  readonly isNullable: boolean
  readonly isInternal: boolean
  readonly isAttribute: boolean
  readonly defaultValue?: unknown
  readonly formerName?: string | undefined
  readonly access?: FieldAccess | undefined
  readonly texts?: FieldTexts | undefined
}
const noMarks: FieldMarks = {
  isOptional: false,
  isReadOnly: false,
  isComputed: false,
  isNullable: false,
  isInternal: false,
  isAttribute: false,
}

/**
 * `T` the value, `O` whether it may be absent, `R` where it comes from, `D` the part of it that a
 * client may send. Immutable: each call creates another field.
 */
export class Field<T, O extends Presence = false, R extends ValueOrigin = false, D = T> implements FieldMarks {
  declare readonly type: T
  declare readonly draft: D
  declare readonly flags: readonly [O, R]
  declare readonly shape: Shape
  declare readonly isOptional: boolean
  declare readonly isReadOnly: boolean
  /** Calculated from the other fields in each read, and not stored. */
  declare readonly isComputed: boolean
  declare readonly isNullable: boolean
  declare readonly isInternal: boolean
  declare readonly isAttribute: boolean
  /** The value that replaces an absent one; undefined: none. */
  declare readonly defaultValue: unknown
  /** Its original name, which the database keeps using. */
  declare readonly formerName: string | undefined
  /** The callers that it is for; undefined: all that may read or change the item. */
  declare readonly access: FieldAccess | undefined
  /** For people; nothing else depends on these. */
  declare readonly texts: FieldTexts | undefined

  constructor(shape: Shape, marks: FieldMarks = noMarks) {
    Object.assign(this, marks, { shape })
  }
  /** May be absent: no member in JSON, no element in XML (minOccurs 0). */
  optional(): Field<T, true, R, D> {
    return markField(this, { isOptional: true, defaultValue: undefined })
  }
  /**
   * The value if content omits the field, in either face: a constant, which the descriptions
   * publish. So the field may be absent in content, and is present in every response.
   */
  default(value: T): Field<T, 'default', R, D> {
    return markField(this, { isOptional: false, defaultValue: value })
  }
  /**
   * Set only by the server. In content it is ignored if it equals the current value, otherwise 422.
   */
  readOnly(): Field<T, O, true, D> {
    return markField(this, { isReadOnly: true })
  }
  /**
   * The handler `compute` calculates the field from the others in each read, and it is not stored:
   * it needs no migration, and a new formula applies to all items at once. In content it behaves
   * like `readOnly()`. Filters, orders, keys and searches cannot name it: use `derive` to store
   * values for these. For fields of a resource in the service's own store.
   */
  computed(): Field<T, O, 'computed', D> {
    return markField(this, { isComputed: true, isReadOnly: true })
  }
  /** May be null in JSON, `xsi:nil` in XML. */
  nullable(): Field<T | null, O, R, D | null> {
    return markField(this, { isNullable: true })
  }
  /** Only for handlers: stored, but never sent or received (rule A2.1), hence its draft `never`. */
  internal(): Field<T, O, true, never> {
    return markField(this, { isInternal: true, isReadOnly: true })
  }
  /**
   * Only these callers see the field of an item; for others it is absent, in either face, and they
   * can neither filter nor sort by it. So it may be absent. Grants are written as in `allow`, and
   * may have conditions: `doctor, patient.owning({ patient: 'patient' })`. Only these callers can
   * set it, too, unless `settableBy` says otherwise. Handlers always see it. For fields of a
   * resource.
   */
  visibleTo(...grants: readonly [Grant, ...Grant[]]): Field<T, true, R, D> {
    return markField(this, { access: { ...this.access, visibleTo: grants }, isOptional: true })
  }
  /**
   * Of the callers that may create or change the item, only these can set the field: a different
   * value from others is 422, and if they omit it, it stays. Actions set it by their own rights.
   * For fields of a resource.
   */
  settableBy(...grants: readonly [Grant, ...Grant[]]): Field<T, O, R, D> {
    return markField(this, { access: { ...this.access, settableBy: grants } })
  }
  /**
   * Content can set the field only in these states: in others, a different value is 422, and an
   * omitted field stays. Actions set it in their own states. For fields of a resource with states.
   */
  settableIn(...states: readonly [string, ...string[]]): Field<T, O, R, D> {
    return markField(this, { access: { ...this.access, settableIn: states } })
  }
  /** An attribute in XML instead of an element; only for scalars. */
  attribute(): Field<T, O, R, D> {
    return markField(this, { isAttribute: true })
  }
  /**
   * The original name of a renamed field. The database keeps this name, so a rename changes nothing
   * there: older instances continue, and a rollback loses nothing. Keep it in the contract as long
   * as the database exists.
   */
  was(formerName: string): Field<T, O, R, D> {
    return markField(this, { formerName })
  }
  /**
   * The meaning of the field, for callers. `example` is a possible value, `values` explains each
   * value of an enumeration.
   */
  describe(
    description: string,
    more: {
      readonly title?: string
      readonly example?: T
      readonly values?: { readonly [K in T & string]?: string }
    } = {},
  ): Field<T, O, R, D> {
    return markField(this, { texts: { ...more, description } })
  }
}

/** The same field with other marks; each method declares the resulting type. */
const markField = (of: AnyField, marks: Partial<FieldMarks>): never => new Field(of.shape, { ...of, ...marks }) as never

/** Whether content may omit it. */
export const mayBeLeftOut = (field: AnyField): boolean =>
  field.isOptional || field.isReadOnly || field.defaultValue !== undefined

type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K]['flags'][0] extends true ? K : never }[keyof F]
/**
 * One object type; a conditional type, so that a compiler message shows its members and no alias.
 */
export type Flatten<T> = T extends infer O ? { [K in keyof O]: O[K] } : never

/** A value as handlers may give it: if a member may be absent, undefined means absent. */
export type Loose<T> = T extends infer M ? { [P in keyof M]: {} extends Pick<M, P> ? M[P] | undefined : M[P] } : never

/** A stored value: every field, read-only ones included. */
export type Value<F extends Fields> = Flatten<
  { readonly [K in Exclude<keyof F, OptionalKeys<F>>]: F[K]['type'] } & {
    readonly [K in OptionalKeys<F>]?: F[K]['type']
  }
>

/** Some of the fields, with new values; undefined removes the value of an optional one. */
export type FieldsToSet<F extends Fields, K extends keyof F> = Flatten<
  { readonly [N in Exclude<K, OptionalKeys<F>>]?: F[N]['type'] } & {
    readonly [N in Extract<K, OptionalKeys<F>>]?: F[N]['type'] | undefined
  }
>

type WritableKeys<F extends Fields> = {
  [K in keyof F]: F[K]['flags'][1] extends true | 'computed' | 'parent' ? never : K
}[keyof F]
/** The fields that `compute` returns. */
export type ComputedKeys<F extends Fields> = {
  [K in keyof F]: F[K]['flags'] extends readonly [Presence, boolean]
    ? never
    : F[K]['flags'][1] extends 'computed'
      ? K
      : never
}[keyof F]
/** The field that names the parent, in a resource within another. */
export type ParentKeys<F extends Fields> = {
  [K in keyof F]: F[K]['flags'] extends readonly [Presence, boolean | 'computed']
    ? never
    : F[K]['flags'][1] extends 'parent'
      ? K
      : never
}[keyof F]
/** A value as the store has it: without computed fields. */
export type StoredValue<F extends Fields> = Flatten<Omit<Value<F>, ComputedKeys<F>>>
type LeftOutKeys<F extends Fields> = { [K in keyof F]: F[K]['flags'][0] extends true | 'default' ? K : never }[keyof F]
/** The value that a client sends: without read-only fields, in lists and objects too. */
export type Draft<F extends Fields> = Flatten<
  { readonly [K in Exclude<WritableKeys<F>, LeftOutKeys<F>>]: F[K]['draft'] } & {
    readonly [K in Extract<WritableKeys<F>, LeftOutKeys<F>>]?: F[K]['draft']
  }
>

/**
 * What a client sent, as handlers get it: with a value for each field that has a default, and the
 * parent.
 */
export type Received<F extends Fields> = Flatten<
  { readonly [K in Exclude<WritableKeys<F>, OptionalKeys<F>>]: Completed<F[K]['draft'], F[K]['type']> } & {
    readonly [K in Extract<WritableKeys<F>, OptionalKeys<F>>]?: Completed<F[K]['draft'], F[K]['type']>
  } & { readonly [K in ParentKeys<F>]: F[K]['type'] }
>
/** The members of a value that a draft may have, absent only if they may be stored so. */
export type Completed<D, T> = [D] extends [T]
  ? T
  : T extends readonly (infer I)[]
    ? D extends readonly (infer E)[]
      ? readonly Completed<E, I>[]
      : T
    : T extends object
      ? D extends object
        ? {
            readonly [K in keyof T as K extends keyof D ? K : never]: K extends keyof D ? Completed<D[K], T[K]> : never
          }
        : never
      : T

/** A text key may be any text, an enumeration key one of its values; none is required. */
type MapValue<K extends string, T> = string extends K ? { readonly [key: string]: T } : { readonly [key in K]?: T }

type UnionValue<K extends string, U extends Readonly<Record<string, Fields>>> = {
  [C in keyof U]: Flatten<{ readonly [D in K]: C } & Value<U[C]>>
}[keyof U]

const defaultListMax = 1000
function listBound(max: number | undefined): { readonly max?: number; readonly isDefaultMax?: boolean } {
  if (max === undefined) return { max: defaultListMax, isDefaultMax: true }
  return max === Infinity ? {} : { max }
}

/** The vocabulary. Lengths count characters (code points); limits are inclusive. */
export const t = {
  string: (facets?: { min?: number; max?: number; pattern?: string; xsd?: StringType }): Field<string> =>
    new Field({ kind: 'string', ...facets }),
  boolean: (): Field<boolean> => new Field({ kind: 'boolean' }),
  /** 32 bit. */
  int: (facets?: { min?: number; max?: number; xsd?: IntType }): Field<number> => new Field({ kind: 'int', ...facets }),
  /** 64 bit, or more with `xsd: 'integer'`. */
  long: (facets?: { min?: bigint; max?: bigint; xsd?: LongType }): Field<bigint> =>
    new Field({ kind: 'long', ...facets }),
  /**
   * Exact decimal text with all its places: `t.decimal(12, 2)` holds "1234567890.12". At most 18
   * digits.
   */
  decimal: (digits: number, places: number, facets?: { min?: string; max?: string }): Field<string> =>
    new Field({ kind: 'decimal', digits, places, ...facets }),
  double: (facets?: { min?: number; max?: number; xsd?: 'double' | 'float' }): Field<number> =>
    new Field({ kind: 'double', ...facets }),
  /** A day, without a zone unless `zone` says otherwise (RFC 3339 §5.6 full-date): 2026-11-21. */
  date: (facets?: { zone?: ZoneRule }): Field<string> => new Field({ kind: 'date', zone: 'prohibited', ...facets }),
  /** A time of day, with a zone or without one unless `zone` says which: 09:30:00. */
  time: (facets?: { zone?: ZoneRule }): Field<string> => new Field({ kind: 'time', zone: 'optional', ...facets }),
  /**
   * A moment, with its zone unless `zone` says otherwise (RFC 3339 §5.6 date-time):
   * 2026-11-21T09:30:00Z. Without a zone, lists and indexes assume UTC.
   */
  dateTime: (facets?: { zone?: ZoneRule }): Field<string> =>
    new Field({ kind: 'dateTime', zone: 'required', ...facets }),
  /** As in XML Schema, with an optional sign and fraction of a second: -PT1.5S. */
  duration: (): Field<string> => new Field({ kind: 'duration' }),
  /** Octets; base64 in JSON and XML (MTOM may carry them outside the XML). `max` in octets. */
  bytes: (facets?: { max?: number; encoding?: 'base64' | 'hex' }): Field<Uint8Array> =>
    new Field({ kind: 'bytes', ...facets }),
  enum: <const V extends readonly [string, ...string[]]>(...values: V): Field<V[number]> =>
    new Field({ kind: 'enum', values }),
  /** The identifier of the item itself, made by the server: `prefix-…`. */
  id: (prefix: string): Field<string, false, true> =>
    new Field({ kind: 'id', prefix }, { ...noMarks, isReadOnly: true }),
  /**
   * The identifier of an item of another resource, which may be declared anywhere. Clients may
   * refer to items that they may read; with `unseen` to any item, and so learn whether it exists.
   */
  ref: (resource: string, facets?: { unseen?: boolean }): Field<string> =>
    new Field({ kind: 'ref', resource, ...facets }),
  /** The place of the state among the fields of a resource with states, which are its values. */
  state: (): Field<string, false, true> => new Field({ kind: 'enum', values: [] }, { ...noMarks, isReadOnly: true }),
  /**
   * At most 1,000 items unless `max` says otherwise; `Infinity` removes the bound. `element` is the
   * name of an item in XML; by default the singular of the field's name.
   */
  list: <T, D>(
    item: Field<T, false, ValueOrigin, D>,
    { max, ...facets }: { min?: number; max?: number; element?: string } = {},
  ): Field<readonly T[], false, false, readonly D[]> => {
    requireMemberKinds('t.list(item)', { item }, { item: fieldKind })
    return new Field({ kind: 'list', item, ...facets, ...listBound(max) })
  },
  /**
   * Values under keys that the contract does not list, such as texts by language: an object in
   * JSON, `entry` elements with a `key` and a `value` each in XML. A key is text, or a value of the
   * field `key`: `t.string()` with facets, or `t.enum()`. At most 1,000 entries unless `max` says
   * otherwise; `Infinity` removes the bound.
   */
  map: <T, D, K extends string = string>(
    value: Field<T, false, ValueOrigin, D>,
    { key, min, max }: { key?: Field<K>; min?: number; max?: number } = {},
  ): Field<MapValue<K, T>, false, false, MapValue<K, D>> => {
    requireMemberKinds('t.map(value)', { value, key }, { value: fieldKind, key: optionalKind(fieldKind) })
    const entry: AnyField = new Field({ kind: 'object', fields: { key: key ?? t.string(), value } })
    const count = { ...(min !== undefined && { min }), ...listBound(max) }
    return new Field({ kind: 'map', entries: { kind: 'list', item: entry, element: 'entry', ...count } })
  },
  object: <F extends Fields>(fields: F, name?: string): Field<Value<F>, false, false, Draft<F>> => {
    requireMemberKinds('t.object(fields)', { fields }, { fields: fieldsKind })
    return new Field({ kind: 'object', fields, ...(name && { name }) })
  },
  /** One of several objects; the text of the member `on` selects which. */
  union: <const K extends string, U extends Readonly<Record<string, Fields>>>(on: K, of: U): Field<UnionValue<K, U>> =>
    new Field({ kind: 'union', on, of }),
}

/** `singularName` as a type. */
export type Singular<N extends string> = N extends `${infer B}ies`
  ? `${B}y`
  : N extends `${string}${'ss' | 'x' | 'zz' | 'tz' | 'ch' | 'sh' | `${'b' | 'n' | 'p' | 'r' | 's' | 't'}us`}es`
    ? WithoutEnding<N, 'es'>
    : N extends `${string}${'ss' | 'sis' | 'sus' | 'tus'}` | 's'
      ? N
      : WithoutEnding<N, 's'>
type WithoutEnding<N extends string, E extends string> = N extends `${infer B}${E}` ? B : N

/**
 * The singular of a field or collection, for elements and operations: lines → line, categories →
 * category, cases → case, statuses → status, census → census.
 */
export function singularName(name: string): string {
  if (/ies$/.test(name)) return `${name.slice(0, -3)}y`
  if (/(ss|x|zz|tz|ch|sh|[bnprst]us)es$/.test(name)) return name.slice(0, -2)
  return /(^|ss|sis|sus|tus)$|^s$|[^s]$/.test(name) ? name : name.slice(0, -1)
}
/** The relation of one item in an entry: order; fish-item if the plural is also fish. */
export const itemRelation = (many: string, one: string): string => (one === many ? `${many}-item` : one)
