/**
 * Fields as JSON Schema 2020-12: the content that `contract/field-json.ts` accepts, and the
 * responses. Where the reader accepts more than a schema can express well (signs and leading zeros
 * of decimals), the schema describes the canonical form.
 */

import type { Json } from '../base/objects.ts'
import { mapMembers, omitUndefined } from '../base/objects.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar, type Shape } from '../contract/field.ts'
import { integerFormats } from '../contract/lexical/integer-format.ts'
import { intRange, isRangeWithin, longBounds, longRange, type NumberRange } from '../contract/lexical/number.ts'
import { compileScalarWriter } from '../contract/lexical/scalar.ts'
import type { TemporalShape } from '../contract/lexical/temporal.ts'
import { capitalize, identifierPattern } from '../contract/lexical/text.ts'
import { describeField } from '../contract/operation-texts.ts'
import {
  entryFields,
  foldScalar,
  foldShape,
  innerFields,
  type ListShape,
  type MapShape,
  type ScalarCases,
  type ScalarOf,
  type ShapeCases,
  type UnionShape,
} from '../contract/shape.ts'
import { itemName, toXmlName } from '../contract/xml-message.ts'
import { temporalFormat, temporalPattern } from './temporal-pattern.ts'

export type JsonSchema = { readonly [keyword: string]: Json }
/**
 * `response`: read-only members are present, and later versions may add others. `content`:
 * read-only members are optional, and unknown ones are refused. `patch`: as `content`, but any
 * member may be left out, and null removes one that is not required (RFC 7396 §2).
 */
export type SchemaUse = 'response' | 'content' | 'patch'
const suffixOf: Readonly<Record<SchemaUse, string>> = { response: '', content: 'Draft', patch: 'Patch' }

/** Named schemas, defined on demand. */
export class Schemas {
  readonly #definitions = new Map<string, JsonSchema>()
  readonly #texts = new Map<string, string>()
  readonly #prefix: string
  /** @param prefix precedes every name, also in references */
  constructor(prefix: string) {
    this.#prefix = prefix
  }

  get all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.#definitions)
  }

  /** A reference to the schema with this name, numbered if another schema already has the name. */
  define(wished: string, schema: JsonSchema): JsonSchema {
    const name = this.#prefix + componentName(wished)
    const text = JSON.stringify(schema, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}${n}`
      const known = this.#texts.get(candidate)
      if (known === undefined) {
        this.#texts.set(candidate, text)
        this.#definitions.set(candidate, schema)
      }
      if (known === undefined || known === text) return { $ref: `#/components/schemas/${candidate}` }
    }
  }

  /** An object with these fields; `more` are its further members. */
  object(fields: Fields, use: SchemaUse, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
    const visible = Object.entries(fields).filter(([, field]) => !field.isInternal)
    const required = visible.filter(([, field]) => !isOptional(field, use)).map(([name]) => name)
    return {
      type: 'object',
      properties: {
        ...Object.fromEntries(visible.map(([name, field]) => [name, this.#member(name, field, use)])),
        ...more,
      },
      ...(required.length > 0 && { required }),
      ...(use !== 'response' && { additionalProperties: false }),
    }
  }

  #member(name: string, field: AnyField, use: SchemaUse): JsonSchema {
    const value = this.#value(field, use, name)
    return omitUndefined({
      ...value,
      ...describedBy(field),
      default: use === 'content' && !field.isReadOnly ? defaultOf(field) : undefined,
      readOnly: field.isReadOnly || undefined,
      xml: joinXml(value, xmlOfMember(name, field)),
    })
  }

  #value(field: AnyField, use: SchemaUse, name?: string): JsonSchema {
    const schema = this.#shape(field.shape, use, name)
    const mayBeNull = field.isNullable || (use === 'patch' && name !== undefined && mayBeLeftOut(field))
    return mayBeNull ? { anyOf: [schema, { type: 'null' }] } : schema
  }

  #shape(shape: Shape, use: SchemaUse, name: string | undefined): JsonSchema {
    return foldShape<JsonSchema>(shape, {
      scalar: scalarSchema,
      list: list => this.#list(list, use === 'patch' ? 'content' : use, name),
      map: map => this.#map(map, use),
      object: ({ name, fields }) => {
        const schema = this.object(fields, use)
        const isOfContent = use === 'content' && !differsInContent(fields)
        return name && !isOfContent ? this.define(name + suffixOf[use], schema) : schema
      },
      union: union => this.#union(union, use, name),
    })
  }

  /** A patch replaces the whole list. */
  #list(list: ListShape, use: SchemaUse, name: string | undefined): JsonSchema {
    const item = this.#value(list.item, use)
    const items = { ...item, xml: joinXml(item, { name: itemName(list, name) }) ?? {} }
    return omitUndefined({ type: 'array', items, minItems: list.min, maxItems: list.max, xml: { wrapped: true } })
  }

  #map(map: MapShape, use: SchemaUse): JsonSchema {
    const { key, value } = entryFields(map)
    const names = this.#value(key, use)
    const values = this.#value(value, use)
    return omitUndefined({
      type: 'object',
      additionalProperties: use === 'patch' ? { anyOf: [values, { type: 'null' }] } : values,
      propertyNames: Object.keys(names).length > 1 ? names : undefined,
      minProperties: use === 'patch' ? undefined : map.entries.min,
      maxProperties: map.entries.max,
    })
  }

  /** Each case has a name, which a discriminator needs (OpenAPI 3.1 §4.8.25). */
  #union({ on, of }: UnionShape, use: SchemaUse, name = on): JsonSchema {
    const cases = Object.entries(of).map(([which, fields]) => {
      const schema = this.object(fields, use, { [on]: { type: 'string', enum: [which] } })
      const required = use === 'patch' ? [] : [on, ...requiredMembers(schema)]
      const wished = `${capitalize(name)}${capitalize(which)}${suffixOf[use]}`
      return [which, this.define(wished, { ...schema, ...(required.length > 0 && { required }) })] as const
    })
    if (use === 'patch') return { anyOf: cases.map(([, schema]) => schema) } // the same case, or another complete one
    const mapping = Object.fromEntries(cases.map(([which, schema]) => [which, schema['$ref'] as string]))
    return { oneOf: cases.map(([, schema]) => schema), discriminator: { propertyName: on, mapping } }
  }
}

/** How a member is written in XML (OpenAPI 3.1 §4.8.26), unless as an element with its name. */
function xmlOfMember(name: string, { isAttribute }: AnyField): JsonSchema {
  const own = toXmlName(name)
  return omitUndefined({ name: own === name ? undefined : own, attribute: isAttribute || undefined })
}
/** The XML description from the value and from its place; undefined if neither has one. */
function joinXml({ xml }: JsonSchema, place: JsonSchema): JsonSchema | undefined {
  const xmlObject = { ...(xml as JsonSchema | undefined), ...place }
  return Object.keys(xmlObject).length > 0 ? xmlObject : undefined
}

/** What a field says about itself (JSON Schema Validation 2020-12 §9.1, §9.5). */
export function describedBy(field: AnyField): JsonSchema {
  const example = field.texts?.example
  return omitUndefined({
    title: field.texts?.title,
    description: describeField(field),
    examples: example === undefined || example === null ? undefined : [foldShape(field.shape, exampleCases, example)],
  })
}
/** The value that an absent member stands for (JSON Schema Validation 2020-12 §9.2). */
const defaultOf = (field: AnyField): Json | undefined =>
  field.defaultValue === undefined ? undefined : writeExampleValue(field, field.defaultValue)
const exampleMembers = (fields: Fields, value: unknown): { readonly [name: string]: Json } =>
  Object.fromEntries(
    Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([name, each]) => {
      const shape = fields[name]?.shape
      return shape === undefined ? [] : [[name, each === null ? null : foldShape(shape, exampleCases, each)]]
    }),
  )
const writeExampleValue = ({ shape }: AnyField, value: unknown): Json =>
  value === null ? null : foldShape(shape, exampleCases, value)
/** Examples and defaults have passed their field's check, so they have its type. */
const exampleCases: ShapeCases<Json, [value: unknown]> = {
  scalar: (shape, value) =>
    ['boolean', 'int', 'long'].includes(shape.kind) || (shape.kind === 'double' && Number.isFinite(value))
      ? (value as Json)
      : compileScalarWriter(shape)(value),
  list: ({ item }, value) => (value as readonly unknown[]).map(each => foldShape(item.shape, exampleCases, each)),
  map: (shape, value) =>
    mapMembers(value as Readonly<Record<string, unknown>>, each => writeExampleValue(entryFields(shape).value, each)),
  object: ({ fields }, value) => exampleMembers(fields, value),
  union: ({ on, of }, value) => {
    const which = String((value as Readonly<Record<string, unknown>>)[on])
    return { [on]: which, ...exampleMembers(of[which] ?? {}, value) }
  },
}

/** A name as a key of components (OpenAPI 3.1 §4.8.7.1); no two names share one. */
export const componentName = (name: string): string =>
  toXmlName(name).replace(/[^\w-]/g, each => `_x${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)

export const requiredMembers = ({ required }: JsonSchema): readonly string[] =>
  Array.isArray(required) ? required.map(String) : []
const isOptional = (field: AnyField, use: SchemaUse): boolean =>
  use === 'patch' || (use === 'content' ? mayBeLeftOut(field) : field.isOptional)

const differsInContent = (fields: Fields): boolean =>
  Object.values(fields).some(
    field => mayBeLeftOut(field) !== field.isOptional || innerFields(field.shape).some(differsInContent),
  )

export const scalarSchema = (shape: Scalar): JsonSchema => foldScalar(shape, scalarSchemas)

export const identifierSchema: JsonSchema = { type: 'string', pattern: `^${identifierPattern}$` }
/** A generator that knows the format turns it into a date, to which no pattern applies. */
const temporalSchema = (shape: TemporalShape): JsonSchema => {
  const format = temporalFormat(shape)
  return format === undefined
    ? { type: 'string', pattern: `^${temporalPattern(shape)}$`, 'x-xsd': shape.kind }
    : { type: 'string', format }
}
const scalarSchemas: ScalarCases<JsonSchema> = {
  string: ({ min, max, pattern, xsd }) =>
    omitUndefined({
      type: 'string',
      minLength: min,
      maxLength: max,
      pattern: pattern === undefined ? undefined : `^(?:${pattern})$`,
      format: xsd === 'anyURI' ? 'iri-reference' : undefined,
      'x-xsd': xsd,
    }),
  boolean: () => ({ type: 'boolean' }),
  int: shape => integerSchema(shape, integerFormats[shape.xsd ?? 'int'], intRange(shape)),
  long: shape => {
    const range = longRange(shape)
    const fitting = isRangeWithin(range, longBounds.long) ? integerFormats.long : undefined
    return integerSchema(shape, integerFormats[shape.xsd ?? 'long'] ?? fitting, range)
  },
  decimal: decimalSchema,
  double: doubleSchema,
  date: temporalSchema,
  time: temporalSchema,
  dateTime: temporalSchema,
  duration: temporalSchema,
  bytes: bytesSchema,
  enum: ({ values }) => (values.length > 0 ? { type: 'string', enum: values } : { type: 'string' }),
  id: () => identifierSchema,
  ref: () => identifierSchema,
}

const integerSchema = (
  { xsd }: ScalarOf<'int' | 'long'>,
  format: string | undefined,
  { lowest, highest }: NumberRange,
): JsonSchema => omitUndefined({ type: 'integer', format, minimum: lowest, maximum: highest, 'x-xsd': xsd })

export const doubleNumberSchema = ({ min, max, xsd }: ScalarOf<'double'>): JsonSchema =>
  omitUndefined({ type: 'number', format: xsd ?? 'double', minimum: min, maximum: max })
/**
 * JSON has no number for INF and NaN, so they are text. A bound excludes one INF, and NaN (Part 2
 * §3.2.5).
 */
function doubleSchema(shape: ScalarOf<'double'>): JsonSchema {
  const { min, max } = shape
  const number = doubleNumberSchema(shape)
  const words = [
    ...(max === undefined ? ['INF'] : []),
    ...(min === undefined ? ['-INF'] : []),
    ...(min === undefined && max === undefined ? ['NaN'] : []),
  ]
  return words.length === 0 ? number : { anyOf: [number, { enum: words }] }
}

/**
 * Without the `format: decimal` of OpenAPI's registry: generators for Java, C# and Go make a number
 * of it, which they then send as one, and text is what keeps each digit.
 */
function decimalSchema({ digits, places, min, max }: ScalarOf<'decimal'>): JsonSchema {
  const sign = min === undefined || min.startsWith('-') ? '-?' : ''
  const fraction = places > 0 ? `(\\.[0-9]{1,${places}})?` : ''
  return omitUndefined({
    type: 'string',
    pattern: `^${sign}[0-9]{1,${Math.max(1, digits - places)}}${fraction}$`,
    'x-xsd': 'decimal',
    'x-minimum': min,
    'x-maximum': max,
  })
}

function bytesSchema({ max, encoding }: ScalarOf<'bytes'>): JsonSchema {
  if (encoding === 'hex')
    return omitUndefined({
      type: 'string',
      contentEncoding: 'base16',
      pattern: '^([0-9A-Fa-f]{2})*$',
      maxLength: max === undefined ? undefined : max * 2,
    })
  return omitUndefined({
    type: 'string',
    contentEncoding: 'base64',
    maxLength: max === undefined ? undefined : Math.ceil(max / 3) * 4,
  })
}
