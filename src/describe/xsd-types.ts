/**
 * Fields as XML Schema 1.0. The readers of messages accept what the schema allows, as far as its
 * language can express it.
 */
import { omitUndefined } from '../base/objects.ts'
import type { AnyField, Fields, Scalar, Shape } from '../contract/field.ts'
import { writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { intBounds, intRange, longBounds, longRange, type NumberRange } from '../contract/lexical/number.ts'
import { compileScalarWriter, xsdTypeOf } from '../contract/lexical/scalar.ts'
import { identifierPattern } from '../contract/lexical/text.ts'
import { describeField } from '../contract/operation-texts.ts'
import {
  foldScalar,
  foldShape,
  isScalar,
  type ListShape,
  type ScalarCases,
  type ScalarOf,
  type ShapeCases,
} from '../contract/shape.ts'
import {
  hasLength,
  type PublishedType,
  type PublishedTypes,
  placeOfField,
  placeOfItem,
  type TypeForm,
  type TypePlace,
} from '../contract/type-names.ts'
import { itemName, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeAnnotation, writeTag } from './markup.ts'
import { toSchemaPattern } from './schema-pattern.ts'
import { temporalPattern } from './temporal-pattern.ts'

/** The attributes of an array of these items in a SOAP encoding; prefixes `soapenc`, `wsdl`. */
export type ArrayOf = (item: string) => readonly string[]

/** The types of one schema, and declarations that refer to them by name. */
export class SchemaTypes {
  readonly #types: PublishedTypes
  /** The form of local elements that do not state their own. */
  readonly elementForm: 'qualified' | 'unqualified'
  readonly #arrayOf: ArrayOf
  /** @param arrayOf for the types of an encoded schema */
  constructor(types: PublishedTypes, elementForm: 'qualified' | 'unqualified', arrayOf: ArrayOf = () => []) {
    this.#types = types
    this.elementForm = elementForm
    this.#arrayOf = arrayOf
  }

  get definitions(): readonly string[] {
    return this.#types.all.map(each => this.#definition(each))
  }

  /** A global element with this content, and its type where it has a name. */
  element(name: string, content: readonly string[], annotation: string | false = false): readonly string[] {
    const type = this.#types.contentNameOf(name)
    if (type === undefined)
      return [writeTag('xs:element', { name }, annotation, writeTag('xs:complexType', {}, content))]
    return [
      writeTag('xs:complexType', { name: type }, content),
      writeTag('xs:element', { name, type: `tns:${type}` }, annotation),
    ]
  }

  /** The QName of a type; prefixes `xs`, `tns`. */
  typeOf(shape: Shape, place: TypePlace): string {
    const name = this.#types.nameOf(shape, place)
    if (name !== undefined) return `tns:${name}`
    if (!isScalar(shape)) throw new Error(`the type of ${place.wish} is not in the schema`)
    return `xs:${xsdTypeOf(shape)}`
  }

  /** Children in order, attributes last: the content of a complex type. */
  content(fields: Fields, form: TypeForm, more: (name: string) => Attributes = () => ({})): string[] {
    const visible = Object.entries(fields).filter(([, field]) => !field.isInternal)
    const attributes = form === 'encoded' ? [] : visible.filter(([, field]) => field.isAttribute)
    const elements = visible.filter(each => !attributes.includes(each))
    return [
      writeTag(
        'xs:sequence',
        {},
        elements.map(([name, field]) => this.#element(name, field, form, more(name))),
      ),
      ...attributes.map(([name, field]) => this.#attribute(name, field, form)),
    ]
  }

  #element(name: string, field: AnyField, form: TypeForm, more: Attributes): string {
    const isNullable = field.isNullable || (form === 'encoded' && field.isOptional)
    return writeTag(
      'xs:element',
      {
        name: toXmlName(name),
        type: this.typeOf(field.shape, placeOfField(name, form)),
        minOccurs: field.isOptional ? 0 : undefined,
        nillable: isNullable || undefined,
        form: this.#formAttribute(form),
        ...more,
      },
      writeAnnotation(annotationOf(field)),
    )
  }

  #attribute(name: string, field: AnyField, form: TypeForm): string {
    return writeTag(
      'xs:attribute',
      {
        name: toXmlName(name),
        type: this.typeOf(field.shape, placeOfField(name, form)),
        use: field.isOptional ? undefined : 'required',
        default: sentDefault(field),
      },
      writeAnnotation(annotationOf(field)),
    )
  }

  #formAttribute(form: TypeForm): 'qualified' | undefined {
    return form === 'qualified' && this.elementForm === 'unqualified' ? form : undefined
  }

  #definition(type: PublishedType): string {
    return foldShape(type.shape, this.#definitions, type)
  }

  readonly #definitions: ShapeCases<string, [type: PublishedType]> = {
    scalar: (shape, { name }) => simpleType(name, shape),
    list: (list, type) =>
      type.form === 'encoded'
        ? this.#array(list, type)
        : writeTag('xs:complexType', { name: type.name }, writeTag('xs:sequence', {}, this.#items(list, type))),
    map: ({ entries }, type) => this.#definitions.list(entries, type),
    object: ({ fields }, { name, form }) => writeTag('xs:complexType', { name }, this.content(fields, form)),
    union: ({ of }, { name, form }) =>
      writeTag(
        'xs:complexType',
        { name },
        writeTag(
          'xs:choice',
          {},
          Object.entries(of).map(([which, fields]) => this.#case(which, fields, form)),
        ),
      ),
  }

  #case(which: string, fields: Fields, form: TypeForm): string {
    return writeTag('xs:element', {
      name: toXmlName(which),
      type: this.typeOf({ kind: 'object', fields }, placeOfField(which, form)),
      form: this.#formAttribute(form),
    })
  }

  #items(list: ListShape, place: TypePlace): string {
    return writeTag('xs:element', {
      name: itemName(list, place.field),
      type: this.typeOf(list.item.shape, placeOfItem(list, place)),
      minOccurs: list.min ?? 0,
      maxOccurs: list.max ?? 'unbounded',
      nillable: list.item.isNullable || undefined,
      form: this.#formAttribute(place.form),
    })
  }

  #array(list: ListShape, type: PublishedType): string {
    const item = this.typeOf(list.item.shape, placeOfItem(list, type))
    return writeTag(
      'xs:complexType',
      { name: type.name },
      writeTag('xs:complexContent', {}, writeTag('xs:restriction', { base: 'soapenc:Array' }, this.#arrayOf(item))),
    )
  }
}

/**
 * The texts of a field, its example where that is one text, and the default of an element that may
 * be left out. The schema attribute `default` is for elements that are present but empty (Part 1
 * §3.3.1), which are separate values here; for attributes (§3.2.1) it means what we mean.
 */
export function annotationOf(field: AnyField): string | undefined {
  const { texts } = field
  const example = scalarText(field, texts?.example)
  const byDefault = field.isAttribute ? undefined : sentDefault(field)
  const lines = [
    texts?.title,
    describeField(field),
    example === undefined ? undefined : `Example: ${example}`,
    byDefault === undefined ? undefined : `Default if it is left out: ${byDefault}`,
  ].filter(line => line !== undefined)
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** The default of a field that a client sends, if it is one text. */
const sentDefault = (field: AnyField): string | undefined =>
  field.isOptional && !field.isReadOnly ? defaultText(field) : undefined
/** The default of a field, if it is one text. */
export const defaultText = (field: AnyField): string | undefined => scalarText(field, field.defaultValue)
const scalarText = ({ shape }: AnyField, value: unknown): string | undefined =>
  isScalar(shape) && value !== undefined && value !== null ? compileScalarWriter(shape)(value) : undefined

function simpleType(name: string, shape: Scalar): string {
  const { facets, note } = foldScalar(shape, narrowings)
  const elements = Object.entries(facets).flatMap(([facet, values]) =>
    [values].flat().map(value => writeTag(`xs:${facet}`, { value })),
  )
  const restriction = writeTag('xs:restriction', { base: `xs:${xsdTypeOf(shape)}` }, elements)
  return writeTag('xs:simpleType', { name }, writeAnnotation(note), restriction)
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
  date: narrowTemporal,
  time: narrowTemporal,
  dateTime: narrowTemporal,
  duration: notNarrowed,
  bytes: ({ max }) => ({ facets: omitUndefined({ maxLength: max }) }),
  enum: ({ values }) => ({ facets: values.length > 0 ? { enumeration: values } : {} }),
  id: identifierNarrowing,
  ref: identifierNarrowing,
}

function narrowTemporal(shape: ScalarOf<'date' | 'time' | 'dateTime'>): Narrowing {
  return { facets: omitUndefined({ pattern: shape.zone && temporalPattern(shape) }) }
}

function narrowString(shape: ScalarOf<'string'>): Narrowing {
  const pattern = shape.pattern === undefined ? undefined : toSchemaPattern(shape.pattern)
  const facets = omitUndefined({
    minLength: hasLength(shape.xsd) ? shape.min : undefined,
    maxLength: hasLength(shape.xsd) ? shape.max : undefined,
    pattern: pattern?.written,
  })
  return shape.pattern !== undefined && !pattern?.isExact
    ? { facets, note: `The whole value matches ${shape.pattern} (ECMAScript).` }
    : { facets }
}

/**
 * A facet outside the range of its type is an error in a schema (§4.3); at the end of the range it
 * is redundant.
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
 * Decimals keep all places: with twelve digits and two places, ten digits are before the point,
 * where `totalDigits` would allow twelve.
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
