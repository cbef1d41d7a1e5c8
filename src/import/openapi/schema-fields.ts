/**
 * Converts JSON Schemas to fields of a contract; what a field cannot express is left out, and
 * reported with its place.
 */

import { type Json, type JsonObject, jsonItems, objectEntries, objectOf, stringOf } from '../../base/objects.ts'
import {
  type AnyField,
  Field,
  type Fields,
  type IntType,
  type LongType,
  type StringType,
  t,
} from '../../contract/field.ts'
import { readFields } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import { integersByFormat, isIntType, isLongType } from '../../contract/lexical/integer-format.ts'
import { intBounds, isRangeWithin, longBounds, type NumberRange } from '../../contract/lexical/number.ts'
import { capitalize, identifierPattern } from '../../contract/lexical/text.ts'
import { findPatternMistakes } from '../../contract/review/field-mistakes.ts'
import { isScalar } from '../../contract/shape.ts'
import { builtInNames } from '../../contract/xml-type.ts'
import { anyDurationPattern, findTemporalRule } from '../../describe/temporal-pattern.ts'
import { findFreeName } from '../constant-names.ts'
import type { Losses } from '../loss.ts'
import { nameOfComponent, type OpenApiDocument } from './openapi-document.ts'
import { anchorPattern, boundOf, listUncheckedValues, numberOf } from './schema-bounds.ts'
import {
  describeSchema,
  isOpenByIntent,
  listedTexts,
  type MapFacts,
  propertiesOf,
  readMapFacts,
  readSchemaFacts,
  readTypedFacts,
  requiredNamesOf,
  type SchemaFacts,
} from './schema-facts.ts'

const depthMax = 32
export const membersLeftOut = 'members of any name are left out: a contract names all of them'
const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/

/** By its name or format, or else the smallest usual type that covers its bounds. */
function chooseInteger(schema: JsonObject, bounds: NumberRange<bigint>): IntType | LongType {
  const named = stringOf(schema['x-xsd'])
  if (isIntType(named) || isLongType(named)) return named
  const known = integersByFormat.get(stringOf(schema['format']))
  if (known) return known
  if (isRangeWithin(bounds, intBounds.int)) return 'int'
  const { long, unsignedLong } = longBounds
  const { lowest = long.lowest, highest = long.highest } = bounds
  if (isRangeWithin({ lowest, highest }, long)) return 'long' // as a number without bounds usually is
  return isRangeWithin(bounds, unsignedLong) ? 'unsignedLong' : 'integer'
}

export interface ImportedMarks {
  readonly isRequired: boolean
  /** Regardless of its schema. */
  readonly isReadOnly?: boolean
  /** The default in requests, if responses have another schema. */
  readonly initial?: Json | undefined
}

/** The field with this default, if it is a scalar that accepts it. */
function fillField(field: AnyField, given: Json | undefined): AnyField | undefined {
  const { kind } = field.shape
  const isAsked = given !== undefined && given !== null && isScalar(field.shape)
  if (!isAsked || kind === 'bytes' || kind === 'id' || kind === 'ref') return undefined
  const problems: FieldProblem[] = []
  const { value } = readFields({ value: new Field(field.shape) }, { value: given }, problems)
  return problems.length > 0 ? undefined : field.default(value)
}

/** `v2.OrderDraft`, `v2.xml.OrderDraft` → `OrderDraft`: a component as the name of a type. */
export const toTypeName = (component: string): string =>
  capitalize(
    component
      .replace(/^v\d+\.(?:xml\.)?/i, '')
      .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string = '') => next.toUpperCase())
      .replace(/^\d+/, ''),
  )

export class SchemaFields {
  /** For fields and declarations, to inform the reader. */
  readonly comments = new Map<object, string>()
  /** Names of members that are identifiers of a resource. */
  readonly references = new Map<string, string>()
  readonly #document: OpenApiDocument
  readonly #losses: Losses
  /** Objects and unions, each made once. */
  readonly #made = new Map<JsonObject, AnyField | undefined>()
  readonly #names = new Set<string>()
  readonly #open = new Set<JsonObject>()

  constructor(document: OpenApiDocument, losses: Losses) {
    this.#document = document
    this.#losses = losses
  }

  /** The fields of an object, with those of `skip` left out. */
  fields(given: Json | undefined, place: string, skip: ReadonlySet<string> = new Set()): Fields {
    const { schema } = readSchemaFacts(this.#document, given)
    return this.#members(schema, place, skip)
  }

  #members(schema: JsonObject, place: string, skip: ReadonlySet<string>): Fields {
    const required = requiredNamesOf(schema)
    const found: Record<string, AnyField> = {}
    for (const [name, given] of propertiesOf(schema)) {
      if (skip.has(name)) continue
      const field = this.member(given, name, place, { isRequired: required.has(name) })
      if (field) found[name] = field
    }
    if (isOpenByIntent(schema)) this.#losses.add(place, membersLeftOut)
    return found
  }

  /** A member of an object with its marks. */
  member(given: Json, name: string, place: string, marks: ImportedMarks): AnyField | undefined {
    const { isRequired, isReadOnly = false, initial } = marks
    const at = `${place}.${name}`
    if (!fieldNameText.test(name)) return this.#lose(at, 'has a name that no field can have')
    const facts = readSchemaFacts(this.#document, given)
    // JSON Schema §8.2.3.1: keywords may stand next to a reference.
    const schema = { ...facts.schema, ...objectOf(given) }
    if (schema['writeOnly'] === true)
      return this.#lose(at, 'is never returned, but a field is returned to callers that may read the item')
    const field = this.#reference(facts, name) ?? this.field(given, at)
    if (!field) return undefined
    const marked = isReadOnly || schema['readOnly'] === true ? field.readOnly() : field
    const own = facts.name === '' ? schema : objectOf(given)
    if (isRequired) return this.#comment(marked, own)
    const filled = fillField(marked, initial ?? own['default'] ?? schema['default'])
    if (!filled) return this.#comment(marked.optional(), own)
    const { default: _, ...others } = own
    return this.#comment(filled, others)
  }

  #reference(facts: SchemaFacts, name: string): AnyField | undefined {
    if (name === 'id' && facts.schema['pattern'] === `^${identifierPattern}$`) return t.id('id')
    const to = this.findReferred(facts, name)
    if (to === undefined) return undefined
    return facts.isNullable ? t.ref(to).nullable() : t.ref(to)
  }

  /** The resource that a text is named after, if it is the identifier of one of its items. */
  findReferred({ schema, type }: SchemaFacts, name: string): string | undefined {
    const format = stringOf(schema['format'])
    const isTime = format in temporalFields || format === 'duration'
    const isText = type === 'string' && listedTexts(schema) === undefined && !isTime
    return isText ? this.references.get(name) : undefined
  }
  #comment(field: AnyField, schema: JsonObject): AnyField {
    const text = describeSchema(schema)
    if (text !== undefined) this.comments.set(field, text)
    return field
  }

  #lose(place: string, detail: string): undefined {
    this.#losses.add(place, `${detail}; it is left out`)
    return undefined
  }

  /** One value, regardless of whether it may be null. */
  field(given: Json | undefined, place: string): AnyField | undefined {
    const facts = readTypedFacts(this.#document, given)
    const field = this.#value(facts, place)
    return field && facts.isNullable ? field.nullable() : field
  }

  #value(facts: SchemaFacts, place: string): AnyField | undefined {
    const { schema, type, options } = facts
    if (options.length > 0) return this.#choice(facts, place)
    switch (type) {
      case 'string':
        return this.#text(schema, place)
      case 'boolean':
        return t.boolean()
      case 'integer':
        return this.#integer(schema, place)
      case 'number':
        return this.#number(schema, place)
      case 'array':
        return this.#once(facts, place, () => this.#list(schema, place))
      case 'object':
        return this.#object(facts, place)
      default:
        return this.#lose(place, type === '' ? 'may be any value' : `may be ${type.replaceAll(' ', ' or ')}`)
    }
  }

  #text(schema: JsonObject, place: string): AnyField {
    const values = listedTexts(schema)
    if (values) return t.enum(...values)
    const format = stringOf(schema['format'])
    const encoding = stringOf(schema['contentEncoding'])
    const longest = numberOf(schema['maxLength'])
    if (format === 'byte' || format === 'binary' || /^base64/.test(encoding))
      return t.bytes(longest === undefined ? {} : { max: Math.floor((longest * 3) / 4) })
    if (encoding === 'base16')
      return t.bytes({ encoding: 'hex', ...(longest !== undefined && { max: Math.floor(longest / 2) }) })
    const temporal = temporalFields[format] ?? findTemporal(schema)
    if (temporal) return temporal()
    return this.#decimal(schema) ?? this.#string(schema, format, place)
  }

  /** Text that our own descriptions call a decimal: its pattern gives the number of digits. */
  #decimal(schema: JsonObject): AnyField | undefined {
    const [, whole, places = '0'] =
      /^\^-?\??\[0-9\]\{1,(\d+)\}(?:\(\\\.\[0-9\]\{1,(\d+)\}\)\?)?\$$/.exec(stringOf(schema['pattern'])) ?? []
    const isDecimal = schema['x-xsd'] === 'decimal' || schema['format'] === 'decimal'
    if (!isDecimal || whole === undefined) return undefined
    const [min, max] = [schema['x-minimum'], schema['x-maximum']]
    return t.decimal(Number(whole) + Number(places), Number(places), {
      ...(typeof min === 'string' && { min }),
      ...(typeof max === 'string' && { max }),
    })
  }

  #string(schema: JsonObject, format: string, place: string): AnyField {
    const min = numberOf(schema['minLength'])
    const max = numberOf(schema['maxLength'])
    const named = stringOf(schema['x-xsd'])
    const isUri = /^(uri|url|iri)(-reference)?$/.test(format)
    const xsd = builtInNames.some(each => each === named) ? named : isUri ? 'anyURI' : undefined
    const pattern = this.#pattern(schema, format, place, max)
    return t.string({
      ...(min !== undefined && min > 0 && { min }),
      ...(max !== undefined && { max }),
      ...(pattern !== undefined && { pattern }),
      ...(xsd !== undefined && { xsd: xsd as StringType }), // a name of the table, as `review` sees again
    })
  }
  #pattern(schema: JsonObject, format: string, place: string, max: number | undefined): string | undefined {
    if (format === 'uuid') return uuidPattern
    const usual = format === 'duration' ? anyDurationPattern : undefined
    const given = stringOf(schema['pattern'])
    if (given === '') return usual
    const pattern = anchorPattern(given)
    const [mistake] = findPatternMistakes(place, pattern, max)
    if (mistake === undefined) return pattern
    this.#losses.add(place, `the pattern ${given} is not checked: a contract supports other expressions`)
    return usual
  }

  #integer(schema: JsonObject, place: string): AnyField {
    this.#recordValues(schema, place)
    const min = boundOf(schema, 'minimum', 'exclusiveMinimum', 1n)
    const max = boundOf(schema, 'maximum', 'exclusiveMaximum', -1n)
    const xsd = chooseInteger(schema, { lowest: min, highest: max })
    const { lowest, highest } = isIntType(xsd) ? intBounds[xsd] : longBounds[xsd]
    const isEffective = (bound: bigint): boolean =>
      (lowest === undefined || bound > lowest) && (highest === undefined || bound < highest)
    const [least, most] = [min, max].map(each => (each !== undefined && isEffective(each) ? each : undefined))
    if (isIntType(xsd))
      return t.int({
        ...(xsd !== 'int' && { xsd }),
        ...(least !== undefined && { min: Number(least) }),
        ...(most !== undefined && { max: Number(most) }),
      })
    return t.long({
      ...(xsd !== 'long' && { xsd }),
      ...(least !== undefined && { min: least }),
      ...(most !== undefined && { max: most }),
    })
  }
  #number(schema: JsonObject, place: string): AnyField {
    this.#recordValues(schema, place)
    const [min, max] = [numberOf(schema['minimum']), numberOf(schema['maximum'])]
    for (const [name, value] of Object.entries(schema))
      if (name.startsWith('exclusive') && (typeof value === 'number' || value === true))
        this.#losses.add(place, value === true ? `${name} is not checked` : `${name} ${value} is not checked`)
    return t.double({
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(schema['format'] === 'float' && { xsd: 'float' as const }),
    })
  }
  #recordValues(schema: JsonObject, place: string): void {
    for (const each of listUncheckedValues(schema)) this.#losses.add(place, each)
  }

  #list(schema: JsonObject, place: string): AnyField | undefined {
    const item = this.field(schema['items'], `${place}[]`)
    if (!item) return undefined
    const min = numberOf(schema['minItems'])
    if (schema['uniqueItems'] === true) this.#losses.add(place, 'uniqueItems is not checked')
    // A value is never optional; only a member can be.
    return t.list(item as Field<unknown>, {
      ...(min !== undefined && min > 0 && { min }),
      max: numberOf(schema['maxItems']) ?? Number.POSITIVE_INFINITY,
    })
  }

  #object(facts: SchemaFacts, place: string): AnyField | undefined {
    return this.#once(facts, place, () => {
      const { schema, name } = facts
      const map = readMapFacts(this.#document, schema)
      if (map) return this.#map(map, schema, place)
      if (propertiesOf(schema).length === 0 && isOpenByIntent(schema))
        return this.#lose(place, 'is a map whose values are of several schemas, by their names')
      const fields = this.#members(schema, name === '' ? place : toTypeName(name), new Set(['_links']))
      if (Object.keys(fields).length === 0) return this.#lose(place, 'is an object whose members are not named')
      return this.#comment(name === '' ? t.object(fields) : t.object(fields, this.#claimName(toTypeName(name))), schema)
    })
  }
  #map({ value, names }: MapFacts, schema: JsonObject, place: string): AnyField | undefined {
    const field = this.field(value, `${place}{}`)
    if (!field) return undefined
    const listed = listedTexts(names)
    const key = listed ? t.enum(...listed) : this.#string(names, '', `${place}, its names`)
    const min = numberOf(schema['minProperties'])
    // A value is never optional, and a key of either kind is text.
    return this.#comment(
      t.map(field as Field<unknown>, {
        key: key as Field<string>,
        ...(min !== undefined && min > 0 && { min }),
        max: numberOf(schema['maxProperties']) ?? Number.POSITIVE_INFINITY,
      }),
      schema,
    )
  }
  /** A recursive schema is left out where it recurs; a shared one is made once. */
  #once({ key }: SchemaFacts, place: string, make: () => AnyField | undefined): AnyField | undefined {
    if (this.#open.has(key)) return this.#lose(place, 'contains itself, which no field can')
    if (this.#open.size >= depthMax) return this.#lose(place, `is nested more than ${depthMax} deep`)
    if (this.#made.has(key)) return this.#made.get(key) ?? this.#lose(place, 'is of a type that no field can have')
    this.#open.add(key)
    const field = make()
    this.#open.delete(key)
    this.#made.set(key, field)
    return field
  }
  #claimName(wish: string): string {
    const name = findFreeName(wish, each => this.#names.has(each))
    this.#names.add(name)
    return name
  }

  // Unions

  #choice(facts: SchemaFacts, place: string): AnyField | undefined {
    const { schema, options } = facts
    const known = options.map(each => readSchemaFacts(this.#document, each))
    const on = stringOf(objectOf(schema['discriminator'])['propertyName']) || findCommonConstant(known)
    if (on === '' || !fieldNameText.test(on) || known.some(each => each.type !== 'object'))
      return this.#lose(place, 'has one of several schemas, and no member says which')
    return this.#once(facts, place, () => {
      const names = this.#nameCases(schema, options, known, on)
      const cases = known.map((each, i): [string, Fields] => {
        const which = names[i] ?? ''
        return [which, this.#members(each.schema, `${place}.${which}`, new Set([on, '_links']))]
      })
      return this.#comment(t.union(on, Object.fromEntries(cases)), schema)
    })
  }

  /** OpenAPI §4.8.25: the mapping, or else the schema's name; our descriptions use a constant. */
  #nameCases(
    schema: JsonObject,
    options: readonly Json[],
    known: readonly SchemaFacts[],
    on: string,
  ): readonly string[] {
    const mapping = Object.entries(objectOf(objectOf(schema['discriminator'])['mapping']))
    return options.map((option, i) => {
      const reference = stringOf(objectOf(option)['$ref'])
      const { name: component = '', schema: own = {} } = known[i] ?? {}
      const name = nameOfComponent(component)
      const mapped = mapping.find(([, to]) => to === reference || to === name)?.[0]
      return mapped ?? listedTexts(objectOf(objectOf(own['properties'])[on]))?.[0] ?? (name || `case${i + 1}`)
    })
  }
}

const uuidPattern = '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
const temporalFields: Readonly<Record<string, () => AnyField>> = {
  __proto__: null as never,
  date: t.date,
  time: () => t.time({ zone: 'required' }),
  'date-time': t.dateTime,
}
/** Text that our own descriptions call a date or time: its pattern gives the zone. */
function findTemporal({ 'x-xsd': named, pattern }: JsonObject): (() => AnyField) | undefined {
  if (named === 'duration') return t.duration
  if (named !== 'date' && named !== 'time' && named !== 'dateTime') return undefined
  const rule = typeof pattern === 'string' ? findTemporalRule(pattern, '') : undefined
  return () => t[named]({ zone: rule?.kind === named ? rule.zone : 'optional' })
}
/** The member that each of them requires with a different constant text. */
function findCommonConstant(all: readonly SchemaFacts[]): string {
  const [first, ...others] = all.map(({ schema }) =>
    objectEntries(schema['properties'])
      .filter(([name, each]) => listedTexts(each)?.length === 1 && jsonItems(schema['required']).includes(name))
      .map(([name]) => name),
  )
  return first?.find(name => others.every(each => each.includes(name))) ?? ''
}
