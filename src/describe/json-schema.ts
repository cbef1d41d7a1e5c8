/**
 * Fields as JSON Schema 2020-12: what the reader of content takes (`contract/field-json.ts`), and what is answered. Where the
 * reader is more generous than a schema can say well (signs and zeros before decimals), the schema says the plain form.
 */

import type { Json } from '../base/objects.ts'
import type { AnyField, Fields, Scalar, Shape } from '../contract/field.ts'

import { isScalar } from '../contract/lexical/scalar.ts'
import { toXmlName } from '../contract/xml-message.ts'
import { facetsOf } from './xsd-types.ts'

export type JsonSchema = { readonly [keyword: string]: Json }
/** `answer`: server's own members stand, others may come later. `content`: they are optional, and nothing else is taken. */
export type SchemaUse = 'answer' | 'content'

/** Named schemas, as they are asked for. */
export class Schemas {
  private readonly definitions = new Map<string, JsonSchema>()
  private readonly texts = new Map<string, string>()
  private readonly prefix: string
  /** @param prefix before every name, and of what a reference goes to */
  constructor(prefix: string) {
    this.prefix = prefix
  }

  get all(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries(this.definitions)
  }

  /** A reference to the schema under this name, or under it with a number where another has it. */
  define(wished: string, schema: JsonSchema): JsonSchema {
    const name = this.prefix + componentName(wished)
    const text = JSON.stringify(schema, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
    for (let n = 1; ; n++) {
      const candidate = n === 1 ? name : `${name}${n}`
      const standing = this.texts.get(candidate)
      if (standing === undefined) {
        this.texts.set(candidate, text)
        this.definitions.set(candidate, schema)
      }
      if (standing === undefined || standing === text) return { $ref: `#/components/schemas/${candidate}` }
    }
  }

  /** An object of these fields; `more` are members beside them. */
  object(fields: Fields, reading: SchemaUse, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
    const shown = Object.entries(fields).filter(([, field]) => !field.isInternal)
    const required = shown.filter(([, field]) => !isOptional(field, reading)).map(([name]) => name)
    return {
      type: 'object',
      properties: { ...Object.fromEntries(shown.map(([name, field]) => [name, this.member(field, reading)])), ...more },
      ...(required.length > 0 && { required }),
      ...(reading === 'content' && { additionalProperties: false }),
    }
  }

  private member(field: AnyField, reading: SchemaUse): JsonSchema {
    const value = this.value(field, reading)
    return field.isReadOnly ? { ...value, readOnly: true } : value
  }

  value(field: AnyField, reading: SchemaUse): JsonSchema {
    const schema = this.shape(field.shape, reading)
    return field.isNullable ? { anyOf: [schema, { type: 'null' }] } : schema
  }

  private shape(shape: Shape, reading: SchemaUse): JsonSchema {
    if (isScalar(shape)) return scalarSchema(shape)
    if (shape.kind === 'object') {
      const schema = this.object(shape.fields, reading)
      const suffix = reading === 'content' && hasServerFields(shape.fields) ? 'Draft' : ''
      return shape.name && (reading === 'answer' || suffix) ? this.define(shape.name + suffix, schema) : schema
    }
    if (shape.kind === 'list')
      return given({ type: 'array', items: this.value(shape.item, reading), minItems: shape.min, maxItems: shape.max })
    const cases = Object.entries(shape.of).map(([which, fields]) => {
      const schema = this.object(fields, reading, { [shape.on]: { const: which } })
      return { ...schema, required: [shape.on, ...required(schema)] }
    })
    return { oneOf: cases }
  }
}

/** A name as a key of components (OpenAPI 3.1 §4.8.7.1); no two names share one. */
export const componentName = (name: string): string =>
  toXmlName(name).replace(/[^\w-]/g, each => `_x${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)

const required = (schema: JsonSchema): readonly Json[] => (Array.isArray(schema['required']) ? schema['required'] : [])
const isOptional = (field: AnyField, reading: SchemaUse): boolean =>
  field.isOptional || (reading === 'content' && field.isReadOnly)

function hasServerFields(fields: Fields): boolean {
  return Object.values(fields).some(field => field.isReadOnly || hasServerPart(field.shape))
}
function hasServerPart(shape: Shape): boolean {
  if (shape.kind === 'list') return hasServerPart(shape.item.shape)
  if (shape.kind === 'object') return hasServerFields(shape.fields)
  return shape.kind === 'union' && Object.values(shape.of).some(hasServerFields)
}

const given = (keywords: Readonly<Record<string, Json | undefined>>): JsonSchema =>
  Object.fromEntries(Object.entries(keywords).filter((entry): entry is [string, Json] => entry[1] !== undefined))

/** RFC 3986's unreserved characters: a path segment as it is. */
export const identifier = '^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}$'
const formats: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time',
  dateTime: 'date-time',
  duration: 'duration',
}

export function scalarSchema(shape: Scalar): JsonSchema {
  switch (shape.kind) {
    case 'string':
      return given({
        type: 'string',
        minLength: shape.min,
        maxLength: shape.max,
        pattern: shape.pattern === undefined ? undefined : `^(?:${shape.pattern})$`,
        format: shape.xsd === 'anyURI' ? 'iri-reference' : undefined,
        'x-xsd': shape.xsd,
      })
    case 'int':
    case 'long':
      return wholeSchema(shape)
    case 'double':
      return doubleSchema(shape)
    case 'decimal':
      return decimalSchema(shape)
    case 'bytes':
      return bytesSchema(shape)
    case 'enum':
      return shape.values.length > 0 ? { type: 'string', enum: shape.values } : { type: 'string' }
    case 'id':
    case 'ref':
      return { type: 'string', pattern: identifier }
    case 'boolean':
      return { type: 'boolean' }
    default:
      return given({ type: 'string', format: formats[shape.kind] })
  }
}

function wholeSchema(shape: Extract<Scalar, { kind: 'int' | 'long' }>): JsonSchema {
  const [lowest, highest] = facetsOf(shape)
  const { min, max } = shape
  const minimum = min === undefined || (lowest !== undefined && lowest > min) ? lowest : min
  const maximum = max === undefined || (highest !== undefined && highest < max) ? highest : max
  const isLong = minimum !== undefined && minimum >= -(2n ** 63n) && maximum !== undefined && maximum < 2n ** 63n
  return given({
    type: 'integer',
    format: shape.kind === 'int' ? 'int32' : isLong ? 'int64' : undefined,
    minimum,
    maximum,
    'x-xsd': shape.xsd,
  })
}

/** What JSON has no number for is text; between two bounds it is never, and NaN is within none (Part 2 §3.2.5). */
function doubleSchema({ min, max, xsd }: Extract<Scalar, { kind: 'double' }>): JsonSchema {
  const number = given({ type: 'number', format: xsd ?? 'double', minimum: min, maximum: max })
  const words = [
    ...(max === undefined ? ['INF'] : []),
    ...(min === undefined ? ['-INF'] : []),
    ...(min === undefined && max === undefined ? ['NaN'] : []),
  ]
  return words.length === 0 ? number : { anyOf: [number, { enum: words }] }
}

function decimalSchema({ digits, places, min, max }: Extract<Scalar, { kind: 'decimal' }>): JsonSchema {
  const sign = min === undefined || min.startsWith('-') ? '-?' : ''
  const fraction = places > 0 ? `(\\.[0-9]{1,${places}})?` : ''
  return given({
    type: 'string',
    format: 'decimal',
    pattern: `^${sign}[0-9]{1,${Math.max(1, digits - places)}}${fraction}$`,
    'x-minimum': min,
    'x-maximum': max,
  })
}

function bytesSchema({ max, encoding }: Extract<Scalar, { kind: 'bytes' }>): JsonSchema {
  if (encoding === 'hex')
    return given({
      type: 'string',
      contentEncoding: 'base16',
      pattern: '^([0-9A-Fa-f]{2})*$',
      maxLength: max === undefined ? undefined : max * 2,
    })
  return given({
    type: 'string',
    contentEncoding: 'base64',
    maxLength: max === undefined ? undefined : Math.ceil(max / 3) * 4,
  })
}
