/**
 * Fields as XML Schema 1.0. The readers of messages accept what the schema allows, as far as its
 * language can express it.
 */
import { omitUndefined } from '../base/objects.ts'
import type { AnyField, Fields, Scalar, Shape } from '../contract/field.ts'
import { writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { intBounds, intRange, longBounds, longRange, type NumberRange } from '../contract/lexical/number.ts'
import { compileScalarWriter, xsdTypeOf } from '../contract/lexical/scalar.ts'
import { capitalize, identifierPattern } from '../contract/lexical/text.ts'
import {
  foldScalar,
  foldShape,
  type ListShape,
  type ScalarCases,
  type ScalarOf,
  type UnionShape,
} from '../contract/shape.ts'
import { itemName, sharedTypeName, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeTag, writeTextTag } from './markup.ts'
import { toSchemaPattern } from './schema-pattern.ts'

/**
 * `literal`: elements by the schema. `encoded`: accessors without namespace, and arrays (SOAP
 * encoding).
 */
export type Use = 'literal' | 'encoded'

/** The attributes of an array of these items in a SOAP encoding; prefixes `soapenc`, `wsdl`. */
export type ArrayOf = (item: string) => readonly string[]

/** The named types of one schema, as they are asked for. */
export class Types {
  readonly #definitions = new Map<string, string>()
  /** Elements are in no namespace unless they declare another form. */
  readonly #unqualified: boolean
  readonly #arrayOf: ArrayOf
  /** @param arrayOf for the types of an encoded schema */
  constructor(arrayOf?: ArrayOf) {
    this.#unqualified = arrayOf !== undefined
    this.#arrayOf = arrayOf ?? (() => [])
  }

  get all(): readonly string[] {
    return [...this.#definitions.entries()].map(([name, definition]) => definition.replace('@name', name))
  }

  /** Children in order, attributes last: the content of a complex type. */
  content(fields: Fields, use: Use = 'literal', more: (name: string) => Attributes = () => ({})): string[] {
    const visible = Object.entries(fields).filter(([, field]) => !field.isInternal)
    const attributes = use === 'encoded' ? [] : visible.filter(([, field]) => field.isAttribute)
    const elements = visible.filter(each => !attributes.includes(each))
    return [
      writeTag(
        'xs:sequence',
        {},
        elements.map(([name, field]) => this.#element(name, field, use, more(name))),
      ),
      ...attributes.map(([name, field]) => this.#attribute(name, field)),
    ]
  }

  #element(name: string, field: AnyField, use: Use, more: Attributes): string {
    const isNullable = field.isNullable || (use === 'encoded' && field.isOptional)
    return this.#declare('xs:element', field.shape, name, use, {
      name: toXmlName(name),
      minOccurs: field.isOptional ? 0 : undefined,
      nillable: isNullable || undefined,
      form: this.#formOf(use),
      ...more,
    })
  }

  #attribute(name: string, field: AnyField): string {
    return this.#declare('xs:attribute', field.shape, name, 'literal', {
      name: toXmlName(name),
      use: field.isOptional ? undefined : 'required',
    })
  }

  #formOf(use: Use): 'qualified' | undefined {
    return this.#unqualified && use === 'literal' ? 'qualified' : undefined
  }

  /** A declaration with its type: by name where the type has one, else inline. */
  #declare(tag: string, shape: Shape, name: string | undefined, use: Use, attributes: Attributes): string {
    const { name: own, minOccurs, ...others } = attributes
    const type = this.#nameOf(shape, name, use)
    if (type !== undefined) return writeTag(tag, { name: own, type, minOccurs, ...others })
    return writeTag(tag, { name: own, minOccurs, ...others }, this.#definitionOf(shape, name, use))
  }

  /** The name of a built-in type, or of one in the contract; undefined where the type is inline. */
  #nameOf(shape: Shape, name: string | undefined, use: Use): string | undefined {
    const encoded = () => (use === 'encoded' ? this.always(shape, name, use) : undefined)
    return foldShape<string | undefined>(shape, {
      scalar: each => encoded() ?? builtInType(each) ?? (sharedTypeName(each) && this.always(each, name, use)),
      list: encoded,
      object: each => each.name && this.always(each, name, use),
      union: encoded,
    })
  }

  /** The name of the type, made from `name` where it has none: parts of messages need one. */
  always(shape: Shape, name: string | undefined, use: Use): string {
    const define = (own?: string): string =>
      this.#define(own || capitalize(name ?? 'item'), this.#definitionOf(shape, name, use))
    return foldShape<string>(shape, {
      scalar: each => (use === 'encoded' ? `xs:${xsdTypeOf(each)}` : builtInType(each)) ?? define(sharedTypeName(each)),
      list: each => (use === 'encoded' ? this.#array(each, name) : define()),
      object: each => define(each.name),
      union: () => define(),
    })
  }

  /** The name of a definition: the wished one, or with a number where another definition has it. */
  #define(wished: string, definition: string): string {
    const named = definition.replace(/^<xs:(\w+)/, '<xs:$1 name="@name"')
    const name = toXmlName(wished)
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}${n}`
      const known = this.#definitions.get(candidate)
      if (known === undefined) this.#definitions.set(candidate, named)
      if (known === undefined || known === named) return `tns:${candidate}`
    }
  }

  #definitionOf(shape: Shape, name: string | undefined, use: Use): string {
    return foldShape<string>(shape, {
      scalar: simpleType,
      list: each => writeTag('xs:complexType', {}, writeTag('xs:sequence', {}, this.#items(each, name, use))),
      object: ({ fields }) => writeTag('xs:complexType', {}, this.content(fields, use)),
      union: each => writeTag('xs:complexType', {}, writeTag('xs:choice', {}, this.#cases(each, use))),
    })
  }

  #cases({ of }: UnionShape, use: Use): string[] {
    return Object.entries(of).map(([which, fields]) =>
      writeTag(
        'xs:element',
        { name: toXmlName(which), form: this.#formOf(use) },
        writeTag('xs:complexType', {}, this.content(fields, use)),
      ),
    )
  }

  #items(list: ListShape, name: string | undefined, use: Use): string {
    return this.#declare('xs:element', list.item.shape, undefined, use, {
      name: itemName(list, name),
      minOccurs: list.min ?? 0,
      maxOccurs: list.max ?? 'unbounded',
      nillable: list.item.isNullable || undefined,
      form: this.#formOf(use),
    })
  }

  #array(list: ListShape, name: string | undefined): string {
    const item = this.always(list.item.shape, itemName(list, name), 'encoded')
    const type = writeTag(
      'xs:complexType',
      {},
      writeTag('xs:complexContent', {}, writeTag('xs:restriction', { base: 'soapenc:Array' }, this.#arrayOf(item))),
    )
    return this.#define(`ArrayOf${capitalize(item.replace(/^.*:/, ''))}`, type)
  }
}

/** The built-in type of a scalar; undefined where facets narrow it. */
function builtInType(shape: Scalar): string | undefined {
  const { facets, note } = foldScalar(shape, narrowings)
  return Object.keys(facets).length === 0 && note === undefined ? `xs:${xsdTypeOf(shape)}` : undefined
}

function simpleType(shape: Scalar): string {
  const { facets, note } = foldScalar(shape, narrowings)
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
  /** What the language of schemas cannot express. */
  readonly note?: string
}

const notNarrowed = (): Narrowing => ({ facets: {} })
const identifierNarrowing = (): Narrowing => ({
  facets: omitUndefined({ pattern: toSchemaPattern(identifierPattern)?.written }),
})
/** Facets by name, without those that restrict nothing (Part 2 §4.3). */
const narrowings: ScalarCases<Narrowing> = {
  string: narrowString,
  boolean: notNarrowed,
  int: shape => narrowNumber(shape, intRange(shape), intBounds[shape.xsd ?? 'int']),
  long: shape => narrowNumber(shape, longRange(shape), longBounds[shape.xsd ?? 'long']),
  decimal: narrowDecimal,
  double: shape => narrowNumber(shape, { lowest: shape.min, highest: shape.max }),
  date: notNarrowed,
  time: notNarrowed,
  dateTime: notNarrowed,
  duration: notNarrowed,
  bytes: ({ max }) => ({ facets: omitUndefined({ maxLength: max }) }),
  enum: ({ values }) => ({ facets: values.length > 0 ? { enumeration: values } : {} }),
  id: identifierNarrowing,
  ref: identifierNarrowing,
}

function narrowString(shape: ScalarOf<'string'>): Narrowing {
  const pattern = shape.pattern === undefined ? undefined : toSchemaPattern(shape.pattern)
  // §3.2.10–§3.2.14 and §3.2.18 have no facets of length.
  const hasLength = shape.xsd !== 'QName' && shape.xsd?.startsWith('g') !== true
  const facets = omitUndefined({
    minLength: hasLength ? shape.min : undefined,
    maxLength: hasLength ? shape.max : undefined,
    pattern: pattern?.written,
  })
  return shape.pattern !== undefined && !pattern?.isExact
    ? { facets, note: `The whole value matches ${shape.pattern} (ECMAScript).` }
    : { facets }
}

/**
 * A facet outside of the range of its type is a mistake in a schema (§4.3), one at its end is
 * redundant.
 */
function narrowNumber(
  shape: ScalarOf<'int' | 'long' | 'double'>,
  { lowest, highest }: NumberRange,
  type?: NumberRange,
): Narrowing {
  const write = compileScalarWriter(shape)
  const facet = (bound: number | bigint | undefined, own: number | bigint | undefined): string | undefined =>
    bound === undefined || bound === own ? undefined : write(bound)
  return {
    facets: omitUndefined({
      minInclusive: facet(lowest, type?.lowest),
      maxInclusive: facet(highest, type?.highest),
    }),
  }
}

/**
 * All places are kept: of twelve digits and two places ten are before the point, where
 * `totalDigits` allows twelve.
 */
function narrowDecimal({ digits, places, min, max }: ScalarOf<'decimal'>): Narrowing {
  const largest = writeScaledDecimal(10n ** BigInt(digits) - 1n, places)
  return {
    facets: omitUndefined({
      totalDigits: digits,
      fractionDigits: places,
      minInclusive: min ?? `-${largest}`,
      maxInclusive: max ?? largest,
      pattern: min !== undefined && !min.startsWith('-') ? '[0-9.]+' : undefined,
    }),
  }
}
