/**
 * The names of the types of one schema. The schema declares these types; readers and writers of
 * `xsi:type` use the same names, so that descriptions are true. What always holds:
 *  (1) Every type that is not built in has a name: some generators skip anonymous types.
 *  (2) A type that the contract names keeps its name, with a number only where two declarations
 *      share one.
 *  (3) Another type is named after its field: `state` has the type State. If that name is in use,
 *      the name of the surrounding type precedes it (JobState), else a number follows it.
 *  (4) No such name is that of a declared type, of an element or of another such type, whatever the
 *      case of letters and the underscores: generators make a class, and a file, of each.
 *  (5) Types with the same definition and the same wish are one type.
 *  (6) The content of an element with the name of a declared type has a name of its own: otherwise
 *      generators would make one class of both.
 */
import type { MessageStyle } from './endpoint-rule.ts'
import type { Fields, Scalar, Shape } from './field.ts'
import type { NamedHeader } from './header.ts'
import { intBounds, intRange, longBounds, longRange, type NumberRange } from './lexical/number.ts'
import { xsdTypeOf } from './lexical/scalar.ts'
import { isSettled } from './lexical/settled-text.ts'
import { capitalize } from './lexical/text.ts'
import {
  asObject,
  asRows,
  foldScalar,
  foldShape,
  type ListShape,
  type ScalarCases,
  type ScalarOf,
  type ShapeCases,
} from './shape.ts'
import { everyFault, itemName, type Message, sharedTypeName, toXmlName } from './xml-message.ts'

/**
 * How the elements inside of a type are named: in the namespace of the contract, in none, or as the
 * accessors and arrays of a SOAP encoding.
 */
export type TypeForm = 'qualified' | 'unqualified' | 'encoded'
/** The form of the content of messages; the details of faults are qualified in every style. */
export const formOfStyle: Readonly<Record<MessageStyle, TypeForm>> = {
  document: 'qualified',
  rpc: 'unqualified',
  encoded: 'encoded',
}

/** Where a shape occurs: in a field, as an item of a list, or as a case of a union. */
export interface TypePlace {
  /** The name wanted for a type that has none of its own. */
  readonly wish: string
  /** The name of the field; undefined for an item, whose own items are `item`. */
  readonly field: string | undefined
  readonly form: TypeForm
}
export const placeOfField = (field: string, form: TypeForm): TypePlace => ({ wish: field, field, form })
export const placeOfItem = (list: ListShape, { field, form }: TypePlace): TypePlace => ({
  wish: itemName(list, field),
  field: undefined,
  form,
})

export interface TypeNames {
  /** A local name; undefined for a built-in type. */
  readonly nameOf: (shape: Shape, place: TypePlace) => string | undefined
}
export interface PublishedType extends TypePlace {
  readonly name: string
  readonly shape: Shape
}
export interface PublishedTypes extends TypeNames {
  readonly all: readonly PublishedType[]
  /** The type of an element; undefined: it is anonymous. */
  readonly contentNameOf: (element: string) => string | undefined
}

/** The names to use if no schema is published. */
export const unpublishedTypes: TypeNames = {
  nameOf: (shape, place) => (isBuiltIn(shape, place) ? undefined : toXmlName(declaredName(shape) ?? wishedName(place))),
}

/** An element of a schema, and the fields inside of it. */
export interface TypeRoot {
  readonly element: string
  readonly fields: Fields
  readonly form: TypeForm
}

/** The elements of a style of messages: requests, responses and the details of faults. */
export function typeRootsOf(messages: readonly Message[], style: MessageStyle): readonly TypeRoot[] {
  const parts = messages.flatMap(({ request, response }) => (response ? [request, response] : [request]))
  return [
    ...parts.map(({ name, fields }) => ({ element: name, fields, form: formOfStyle[style] })),
    ...everyFault(messages).map(
      ({ fault, detail }): TypeRoot => ({ element: toXmlName(fault), fields: detail, form: 'qualified' }),
    ),
  ]
}

/** The elements of header blocks, which are qualified in every style. */
export const typeRootsOfHeaders = (headers: readonly NamedHeader[]): readonly TypeRoot[] =>
  headers.flatMap(({ name, content }): TypeRoot[] => {
    if (content === 'xml') return []
    const fields = asObject(content.shape)?.fields ?? { [name]: content }
    return [{ element: toXmlName(name), fields, form: 'qualified' }]
  })

export function compileTypeNames(roots: readonly TypeRoot[]): PublishedTypes {
  const naming = new Naming(roots)
  for (const { fields, form } of roots) naming.addFields(fields, form, undefined)
  for (const { element } of roots) naming.addContent(element)
  return naming
}

class Naming implements PublishedTypes {
  readonly all: PublishedType[] = []
  readonly #keys = new TypeKeys()
  /** By the keys of definitions. */
  readonly #names = new Map<string, string>()
  readonly #given = new Set<string>()
  /** As classes: names that are given, declared, or those of elements. */
  readonly #taken: Set<string>
  readonly #declared: ReadonlySet<string>
  readonly #contents = new Map<string, string>()

  constructor(roots: readonly TypeRoot[]) {
    this.#declared = new Set(roots.flatMap(({ fields }) => declaredNames(fields)).map(asClassName))
    this.#taken = new Set(roots.map(({ element }) => asClassName(element))).union(this.#declared)
  }

  readonly contentNameOf = (element: string): string | undefined => this.#contents.get(element)
  addContent(element: string): void {
    if (this.#declared.has(asClassName(element)) && !this.#contents.has(element))
      this.#contents.set(element, this.#choose([`${element}Content`]))
  }

  readonly nameOf = (shape: Shape, place: TypePlace): string | undefined =>
    isBuiltIn(shape, place) ? undefined : this.#names.get(this.#keys.keyOf(shape, place))

  addFields(fields: Fields, form: TypeForm, owner: string | undefined): void {
    for (const [name, { shape, isInternal }] of Object.entries(fields))
      if (!isInternal) this.#addShape(shape, placeOfField(name, form), owner)
  }

  #addShape(shape: Shape, place: TypePlace, owner: string | undefined): void {
    const key = this.#keys.keyOf(shape, place)
    if (isBuiltIn(shape, place) || this.#names.has(key)) return
    const array = place.form === 'encoded' ? asRows(shape) : undefined
    // The name of an array contains that of its items.
    if (array) this.#addInner(shape, place, owner)
    const name = array ? this.#choose([this.#arrayName(array, place)]) : this.#nameFor(shape, place, owner)
    this.#names.set(key, name)
    this.all.push({ ...place, name, shape })
    if (!array) this.#addInner(shape, place, name)
  }

  #addInner(shape: Shape, place: TypePlace, owner: string | undefined): void {
    foldShape<void>(shape, {
      scalar: () => {},
      list: list => this.#addShape(list.item.shape, placeOfItem(list, place), owner),
      map: ({ entries }) => this.#addShape(entries.item.shape, placeOfItem(entries, place), owner),
      object: ({ fields }) => this.addFields(fields, place.form, owner),
      union: ({ of }) => {
        for (const [name, fields] of Object.entries(of))
          this.#addShape({ kind: 'object', fields }, placeOfField(name, place.form), owner)
      },
    })
  }

  #nameFor(shape: Shape, place: TypePlace, owner: string | undefined): string {
    const declared = declaredName(shape)
    const name = toXmlName(declared ?? wishedName(place))
    if (declared !== undefined && !this.#given.has(name)) return this.#give(name)
    return this.#choose(declared === undefined && owner !== undefined ? [name, owner + name] : [name])
  }

  #arrayName(list: ListShape, place: TypePlace): string {
    const item = placeOfItem(list, place)
    return `ArrayOf${capitalize(this.nameOf(list.item.shape, item) ?? builtInName(list.item.shape))}`
  }

  /** The first free name among these; otherwise the first name with the lowest free number. */
  #choose(names: readonly string[]): string {
    const isFree = (name: string): boolean => !this.#taken.has(asClassName(name))
    const free = names.find(isFree)
    if (free !== undefined) return this.#give(free)
    let number = 2
    while (!isFree(`${names[0]}${number}`)) number++
    return this.#give(`${names[0]}${number}`)
  }

  #give(name: string): string {
    this.#given.add(name)
    this.#taken.add(asClassName(name))
    return name
  }
}

/** The same text for all names of which JAXB makes one class (JAXB 2.2 §D.2). */
const asClassName = (name: string): string => name.replace(/(?!^)[_.-]/g, '').toLowerCase()
const wishedName = ({ wish }: TypePlace): string => capitalize(wish)
const declaredName = (shape: Shape): string | undefined =>
  foldShape<string | undefined>(shape, {
    scalar: sharedTypeName,
    list: () => undefined,
    map: () => undefined,
    object: ({ name }) => name || undefined,
    union: () => undefined,
  })

const declaredNames = (fields: Fields): readonly string[] =>
  Object.values(fields).flatMap(({ shape, isInternal }) => (isInternal ? [] : namesInside(shape)))
function namesInside(shape: Shape): readonly string[] {
  const declared = declaredName(shape)
  const inner = foldShape<readonly string[]>(shape, {
    scalar: () => [],
    list: ({ item }) => namesInside(item.shape),
    map: ({ entries }) => namesInside(entries.item.shape),
    object: ({ fields }) => declaredNames(fields),
    union: ({ of }) => Object.values(of).flatMap(declaredNames),
  })
  return declared === undefined ? inner : [toXmlName(declared), ...inner]
}

/**
 * Short keys of definitions: equal keys are equal definitions, under an equal wish. A definition
 * has those of its parts, so that it grows with its own members and not with all inside of them.
 */
class TypeKeys {
  readonly #byShape = new WeakMap<Shape, Map<string, string>>()
  readonly #byDefinition = new Map<string, string>()

  keyOf(shape: Shape, place: TypePlace): string {
    if (isBuiltIn(shape, place)) return builtInName(shape)
    const at = `${place.form} ${place.field} ${place.wish}`
    const names = this.#byShape.get(shape) ?? new Map<string, string>()
    this.#byShape.set(shape, names)
    const key = names.get(at) ?? this.#shorten(this.#define(shape, place))
    names.set(at, key)
    return key
  }

  #define(shape: Shape, place: TypePlace): string {
    const isArray = place.form === 'encoded' && asRows(shape) !== undefined
    const name = isArray ? 'array' : (declaredName(shape) ?? wishedName(place))
    return JSON.stringify([name, foldShape(shape, definitions, place, this)], (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    )
  }
  #shorten(definition: string): string {
    const key = this.#byDefinition.get(definition) ?? `#${this.#byDefinition.size}`
    this.#byDefinition.set(definition, key)
    return key
  }
}
const definitions: ShapeCases<unknown, [place: TypePlace, keys: TypeKeys]> = {
  scalar: shape => (sharedTypeName(shape) === undefined ? Object.entries(shape).sort() : 'shared'),
  list: (list, place, keys) => {
    const item = keys.keyOf(list.item.shape, placeOfItem(list, place))
    if (place.form === 'encoded') return [item]
    return [place.form, itemName(list, place.field), list.min, list.max, list.item.isNullable, item]
  },
  map: ({ entries }, place, keys) => foldShape(entries, definitions, place, keys),
  object: ({ fields }, { form }, keys) => [form, definitionsOf(fields, form, keys)],
  union: ({ of }, { form }, keys) => [
    form,
    Object.entries(of).map(([name, fields]) => [name, definitionsOf(fields, form, keys)]),
  ],
}
const definitionsOf = (fields: Fields, form: TypeForm, keys: TypeKeys): readonly unknown[] =>
  Object.entries(fields).flatMap(([name, { shape, isOptional, isNullable, isAttribute, isInternal, defaultValue }]) =>
    isInternal
      ? []
      : [
          [
            name,
            isOptional,
            isNullable,
            isAttribute,
            isOptional && defaultValue,
            keys.keyOf(shape, placeOfField(name, form)),
          ],
        ],
  )

const builtInName = (shape: Shape): string =>
  foldShape(shape, {
    scalar: xsdTypeOf,
    list: () => 'Array',
    map: () => 'Array',
    object: () => 'anyType',
    union: () => 'anyType',
  })

/** In a SOAP encoding scalars have no facets. */
const isBuiltIn = (shape: Shape, { form }: TypePlace): boolean =>
  foldShape<boolean>(shape, {
    scalar: each => form === 'encoded' || !isNarrowed(each),
    list: () => false,
    map: () => false,
    object: () => false,
    union: () => false,
  })

/** Whether a scalar has fewer values than its built-in type. */
export const isNarrowed = (shape: Scalar): boolean => foldScalar(shape, narrowed)
const never = (): boolean => false
const always = (): boolean => true
const differs = (range: NumberRange, type: NumberRange): boolean =>
  range.lowest !== type.lowest || range.highest !== type.highest
/** A zone rule that refuses no text leaves the type unchanged. */
const hasZoneType = (shape: ScalarOf<'date' | 'time' | 'dateTime'>): boolean =>
  (shape.zone ?? 'optional') !== 'optional' && !isSettled(shape)
const narrowed: ScalarCases<boolean> = {
  string: ({ min, max, pattern, xsd }) => pattern !== undefined || (hasLength(xsd) && (min ?? max) !== undefined),
  boolean: never,
  int: shape => differs(intRange(shape), intBounds[shape.xsd ?? 'int']),
  long: shape => differs(longRange(shape), longBounds[shape.xsd ?? 'long']),
  decimal: always,
  double: ({ min, max }) => (min ?? max) !== undefined,
  date: hasZoneType,
  time: hasZoneType,
  dateTime: hasZoneType,
  duration: never,
  bytes: ({ max }) => max !== undefined,
  enum: ({ values }) => values.length > 0,
  id: always,
  ref: always,
}

/** XML Schema Part 2 §3.2.10–§3.2.14, §3.2.18: other string types have no facets of length. */
export const hasLength = (xsd: string | undefined): boolean => xsd !== 'QName' && xsd?.startsWith('g') !== true
