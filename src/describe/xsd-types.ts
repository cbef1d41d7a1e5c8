/**
 * Fields as XML Schema 1.0: what a codec of messages takes and what its schema allows are the same, as far as the
 * language of schemas reaches.
 */
import type { AnyField, Fields, Scalar, Shape } from '../contract/field.ts'
import { writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { isScalar, writeScalar, xsdTypeOf } from '../contract/lexical/scalar.ts'
import { itemName, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeTag, writeTextTag } from './markup.ts'
import { toSchemaPattern } from './schema-pattern.ts'

/** `literal`: as the schema says. `encoded`: accessors of SOAP encoding, in no namespace, lists as its arrays. */
export type Use = 'literal' | 'encoded'

/** The attributes that an array of these items has in a SOAP encoding; prefixes `soapenc`, `wsdl`. */
export type ArrayOf = (item: string) => readonly string[]

/** The named types of one schema, as they are asked for. */
export class Types {
  private readonly definitions = new Map<string, string>()
  /** Elements are in no namespace unless they say otherwise. */
  private readonly unqualified: boolean
  private readonly arrayOf: ArrayOf
  /** With what tells the items of an array: the types of an encoded schema. */
  constructor(arrayOf?: ArrayOf) {
    this.unqualified = arrayOf !== undefined
    this.arrayOf = arrayOf ?? (() => [])
  }

  get all(): readonly string[] {
    return [...this.definitions.entries()].map(([name, definition]) => definition.replace('@name', name))
  }

  /** Children in order, attributes last: the content of a complex type. */
  content(fields: Fields, use: Use = 'literal', more: (name: string) => Attributes = () => ({})): string[] {
    const shown = Object.entries(fields).filter(([, field]) => !field.isInternal)
    const attributes = use === 'encoded' ? [] : shown.filter(([, field]) => field.isAttribute)
    const elements = shown.filter(each => !attributes.includes(each))
    return [
      writeTag(
        'xs:sequence',
        {},
        elements.map(([name, field]) => this.element(name, field, use, more(name))),
      ),
      ...attributes.map(([name, field]) => this.attribute(name, field)),
    ]
  }

  private element(name: string, field: AnyField, use: Use, more: Attributes): string {
    const isNullable = field.isNullable || (use === 'encoded' && field.isOptional)
    return this.typed('xs:element', field.shape, name, use, {
      name: toXmlName(name),
      minOccurs: field.isOptional ? 0 : undefined,
      nillable: isNullable || undefined,
      form: this.unqualified && use === 'literal' ? 'qualified' : undefined,
      ...more,
    })
  }

  private attribute(name: string, field: AnyField): string {
    return this.typed('xs:attribute', field.shape, name, 'literal', {
      name: toXmlName(name),
      use: field.isOptional ? undefined : 'required',
    })
  }

  /** A declaration with its type: by name where it has one, else inside. */
  private typed(declared: string, shape: Shape, name: string | undefined, use: Use, attributes: Attributes): string {
    const { name: own, minOccurs, ...others } = attributes
    const type = this.typeName(shape, name, use)
    if (type !== undefined) return writeTag(declared, { name: own, type, minOccurs, ...others })
    return writeTag(declared, { name: own, minOccurs, ...others }, this.inside(shape, name, use))
  }

  /** A name of the type: a built-in one, or the contract's; undefined where it is said in place. */
  private typeName(shape: Shape, name: string | undefined, use: Use): string | undefined {
    if (use === 'encoded' && shape.kind !== 'object') return this.always(shape, name, use)
    if (shape.kind === 'object') return shape.name ? this.always(shape, name, use) : undefined
    if (!isScalar(shape)) return undefined
    return shape.kind === 'id' || shape.kind === 'ref' ? this.always(shape, 'Identifier', use) : plain(shape)
  }

  /** A name of the type in any case, made from `name` where it has none: parts of messages need one. */
  always(shape: Shape, name: string | undefined, use: Use): string {
    if (isScalar(shape)) {
      const known = use === 'encoded' ? `xs:${xsdTypeOf(shape)}` : plain(shape)
      if (known !== undefined) return known
      const isIdentifier = shape.kind === 'id' || shape.kind === 'ref'
      return this.define(isIdentifier ? 'Identifier' : capital(name ?? 'item'), this.inside(shape, name, use))
    }
    if (use === 'encoded' && shape.kind === 'list') return this.array(shape, name)
    const given = shape.kind === 'object' && shape.name
    return this.define(given || capital(name ?? 'item'), this.inside(shape, name, use))
  }

  /** The name under which a definition stands: the wished one, or with a number where another has it. */
  private define(wished: string, definition: string): string {
    const named = definition.replace(/^<xs:(\w+)/, '<xs:$1 name="@name"')
    const name = toXmlName(wished)
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}${n}`
      const standing = this.definitions.get(candidate)
      if (standing === undefined) this.definitions.set(candidate, named)
      if (standing === undefined || standing === named) return `tns:${candidate}`
    }
  }

  private inside(shape: Shape, name: string | undefined, use: Use): string {
    if (isScalar(shape)) return simple(shape)
    if (shape.kind === 'object') return writeTag('xs:complexType', {}, this.content(shape.fields, use))
    if (shape.kind === 'list')
      return writeTag('xs:complexType', {}, writeTag('xs:sequence', {}, this.items(shape, name, use)))
    const cases = Object.entries(shape.of).map(([which, fields]) =>
      writeTag(
        'xs:element',
        { name: toXmlName(which), form: this.unqualified && use === 'literal' ? 'qualified' : undefined },
        writeTag('xs:complexType', {}, this.content(fields, use)),
      ),
    )
    return writeTag('xs:complexType', {}, writeTag('xs:choice', {}, cases))
  }

  private items(list: Extract<Shape, { kind: 'list' }>, name: string | undefined, use: Use): string {
    const item = itemName(list, name)
    return this.typed('xs:element', list.item.shape, undefined, use, {
      name: item,
      minOccurs: list.min ?? 0,
      maxOccurs: list.max ?? 'unbounded',
      nillable: list.item.isNullable || undefined,
      form: this.unqualified && use === 'literal' ? 'qualified' : undefined,
    })
  }

  private array(list: Extract<Shape, { kind: 'list' }>, name: string | undefined): string {
    const item = this.always(list.item.shape, itemName(list, name), 'encoded')
    const type = writeTag(
      'xs:complexType',
      {},
      writeTag('xs:complexContent', {}, writeTag('xs:restriction', { base: 'soapenc:Array' }, this.arrayOf(item))),
    )
    return this.define(`ArrayOf${capital(item.replace(/^.*:/, ''))}`, type)
  }
}

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** A scalar that a built-in type says wholly. */
const plain = (shape: Scalar): string | undefined => {
  const { facets, note } = narrowing(shape)
  return Object.keys(facets).length === 0 && note === undefined ? `xs:${xsdTypeOf(shape)}` : undefined
}

function simple(shape: Scalar): string {
  const { facets, note } = narrowing(shape)
  const written = Object.entries(facets).flatMap(([facet, values]) =>
    [values].flat().map(value => writeTag(`xs:${facet}`, { value })),
  )
  const restriction = writeTag('xs:restriction', { base: `xs:${xsdTypeOf(shape)}` }, written)
  return writeTag(
    'xs:simpleType',
    {},
    note !== undefined && writeTag('xs:annotation', {}, writeTextTag('xs:documentation', note)),
    restriction,
  )
}

type Facets = Readonly<Record<string, string | number | bigint | readonly string[]>>
interface Narrowing {
  readonly facets: Facets
  /** What the language of schemas cannot say. */
  readonly note?: string
}

/** Facets by name, those that say nothing left out (Part 2 §4.3). */
function narrowing(shape: Scalar): Narrowing {
  switch (shape.kind) {
    case 'string':
      return ofString(shape)
    case 'int':
    case 'long':
    case 'double':
      return { facets: ofNumber(shape) }
    case 'decimal':
      return { facets: ofDecimal(shape) }
    case 'bytes':
      return { facets: given({ maxLength: shape.max }) }
    case 'enum':
      return { facets: shape.values.length > 0 ? { enumeration: shape.values } : {} }
    case 'id':
    case 'ref':
      return { facets: { pattern: '[A-Za-z0-9_~\\-][A-Za-z0-9._~\\-]{0,63}' } }
    default:
      return { facets: {} }
  }
}
const given = (facets: Readonly<Record<string, string | number | bigint | undefined>>): Facets =>
  Object.fromEntries(Object.entries(facets).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))

function ofString(shape: Extract<Scalar, { kind: 'string' }>): Narrowing {
  const pattern = shape.pattern === undefined ? undefined : toSchemaPattern(shape.pattern)
  const hasLength = shape.xsd !== 'QName' && shape.xsd?.startsWith('g') !== true // §3.2.10–§3.2.14, §3.2.18
  const facets = given({
    minLength: hasLength ? shape.min : undefined,
    maxLength: hasLength ? shape.max : undefined,
    pattern,
  })
  return shape.pattern !== undefined && pattern === undefined
    ? { facets, note: `The whole value matches ${shape.pattern} (ECMAScript).` }
    : { facets }
}

type ValueBounds = readonly [lowest: number | bigint | undefined, highest: number | bigint | undefined]
/** §3.3.13–§3.3.25: a facet outside of its type's own range is a mistake in a schema. */
const bounds: Readonly<Record<string, ValueBounds>> = {
  int: [-2147483648, 2147483647],
  short: [-32768, 32767],
  byte: [-128, 127],
  unsignedShort: [0, 65535],
  unsignedByte: [0, 255],
  long: [-(2n ** 63n), 2n ** 63n - 1n],
  unsignedInt: [0n, 2n ** 32n - 1n],
  unsignedLong: [0n, 2n ** 64n - 1n],
  positiveInteger: [1n, undefined],
  nonNegativeInteger: [0n, undefined],
  negativeInteger: [undefined, -1n],
  nonPositiveInteger: [undefined, 0n],
}
type NumberShape = Extract<Scalar, { kind: 'int' | 'long' | 'double' }>
export const facetsOf = (shape: NumberShape): ValueBounds => bounds[xsdTypeOf(shape)] ?? [undefined, undefined]

function ofNumber(shape: NumberShape): Facets {
  const [lowest, highest] = facetsOf(shape)
  const { min, max } = shape
  return given({
    minInclusive: min === undefined || (lowest !== undefined && min <= lowest) ? undefined : writeScalar(shape, min),
    maxInclusive: max === undefined || (highest !== undefined && max >= highest) ? undefined : writeScalar(shape, max),
  })
}

/** The places are kept for, so "12.5 million" in twelve digits is less than in `totalDigits` alone: the range says so. */
function ofDecimal({ digits, places, min, max }: Extract<Scalar, { kind: 'decimal' }>): Facets {
  const most = writeScaledDecimal(10n ** BigInt(digits) - 1n, places)
  return given({
    totalDigits: digits,
    fractionDigits: places,
    minInclusive: min ?? `-${most}`,
    maxInclusive: max ?? most,
    pattern: min !== undefined && !min.startsWith('-') ? '[0-9.]+' : undefined,
  })
}
