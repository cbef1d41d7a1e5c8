/**
 * A JSON Schema reduced to what a contract needs: allOf merged, null separated, OpenAPI 3.0 to 3.2
 * alike.
 */

import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonItems,
  objectEntries,
  objectOf,
  stringOf,
} from '../../base/objects.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { numberOf } from './schema-bounds.ts'

/** How deeply schemas that stand for others may be nested. */
const depthMax = 32

/** `options` are the alternatives of oneOf and anyOf, if there are several. */
export interface SchemaFacts {
  /** The object in the document: the same for the same schema. */
  readonly key: JsonObject
  readonly schema: JsonObject
  /** The name of its component; empty if it is not one. */
  readonly name: string
  /** `string`, `object`, …; empty: any. Several words: any of these. */
  readonly type: string
  readonly isNullable: boolean
  readonly options: readonly Json[]
}

export function readSchemaFacts(document: OpenApiDocument, given: Json | undefined, depth = 0): SchemaFacts {
  const { value, name } = document.resolve(given)
  const schema = joinAllOf(document, value)
  const all = [...jsonItems(schema['oneOf']), ...jsonItems(schema['anyOf'])]
  const real = all.filter(each => objectOf(each)['type'] !== 'null')
  const types = (Array.isArray(schema['type']) ? schema['type'] : [schema['type']]).filter(
    each => typeof each === 'string',
  )
  const isNullable =
    schema['nullable'] === true ||
    types.includes('null') ||
    real.length < all.length ||
    (types.length === 0 && valuesListed(schema).includes(null))
  const sole = name === '' ? findSolePart(value) : undefined
  const [first, ...more] = real
  const only = sole ?? (types.length === 0 && more.length === 0 ? first : undefined)
  if (only !== undefined && depth < depthMax) {
    const inner = readSchemaFacts(document, only, depth + 1)
    const { oneOf: _, anyOf: __, ...around } = sole === undefined ? schema : withoutParts(value)
    return {
      ...inner,
      schema: { ...inner.schema, ...around },
      name: inner.name || name,
      isNullable: isNullable || inner.isNullable,
    }
  }
  const number = findWordedNumber(real)
  if (number !== undefined) {
    const { oneOf: _, anyOf: __, ...around } = schema
    return { key: value, schema: { ...number, ...around }, name, type: 'number', isNullable, options: [] }
  }
  const type = types.filter(each => each !== 'null').join(' ') || impliedType(schema)
  return { key: value, schema, name, type, isNullable, options: more.length > 0 ? real : [] }
}

/**
 * Facts about a member: a schema with a discriminator and no alternatives is a choice among the
 * components that have it in `allOf` (OpenAPI §4.8.25.1) and, unless excluded, the schema itself.
 */
export function readTypedFacts(document: OpenApiDocument, given: Json | undefined): SchemaFacts {
  const facts = readSchemaFacts(document, given)
  const { key, name, schema } = facts
  const discriminator = objectOf(key['discriminator'])
  if (key['discriminator'] === undefined || facts.options.length > 0) return facts
  const extensions = document.extensionsOf(key)
  if (extensions.length === 0) return facts
  const options = mayBeItself(schema, discriminator, name)
    ? [...extensions, document.withoutExtensions(key, name)]
    : extensions
  return { ...facts, schema: { ...schema, oneOf: options }, options }
}
/** Not if a mapping, or the values of the property, leave it out. */
function mayBeItself(schema: JsonObject, { propertyName, mapping }: JsonObject, name: string): boolean {
  const targets = Object.values(objectOf(mapping)).map(each => stringOf(each).replace(/^.*\//s, ''))
  const values = listedTexts(objectOf(objectOf(schema['properties'])[stringOf(propertyName)]))
  return targets.length > 0 ? targets.includes(name) : (values?.includes(name) ?? true)
}

/** A number with words for what JSON cannot express: our own descriptions have two schemas. */
function findWordedNumber(options: readonly Json[]): JsonObject | undefined {
  const number = options.find(each => objectOf(each)['type'] === 'number')
  const isWorded = options.every(each => each === number || listedTexts(objectOf(each))?.every(isNumberWord))
  return number !== undefined && isWorded ? objectOf(number) : undefined
}
const isNumberWord = (text: string): boolean => ['INF', '-INF', 'NaN'].includes(text)

/** Keywords that constrain nothing (JSON Schema Validation §9; OpenAPI §4.8.24). */
const annotations =
  /^(?:title|description|default|deprecated|readOnly|writeOnly|examples?|externalDocs|xml|nullable|\$comment|x-.*)$/
/** The only schema of allOf: documents of 3.0 have no other place for words next to a reference. */
function findSolePart(schema: JsonObject): Json | undefined {
  const [only, ...more] = jsonItems(schema['allOf'])
  const isSole = more.length === 0 && Object.keys(withoutParts(schema)).every(each => annotations.test(each))
  return isSole ? only : undefined
}
const withoutParts = ({ allOf: _, ...own }: JsonObject): JsonObject => own

/**
 * JSON Schema §10.2.1.1: all apply; the members and requirements of objects are merged. Each schema
 * is merged once, so a few that share others stay a few.
 */
function joinAllOf(document: OpenApiDocument, schema: JsonObject): JsonObject {
  const parts = jsonItems(schema['allOf'])
  if (parts.length === 0) return schema
  const known = document.joined.get(schema)
  if (known) return known
  const { allOf: _, ...own } = schema
  document.joined.set(schema, own) // until the result is known: it may contain itself
  const all = [...parts.map(part => joinAllOf(document, document.resolve(part).value)), own]
  const properties = joinProperties(all)
  const required = new Set(all.flatMap(part => jsonItems(part['required'])))
  const joined = {
    ...Object.assign({}, ...all),
    ...joinBounds(all),
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.size > 0 && { required: [...required] }),
  }
  document.joined.set(schema, joined)
  return joined
}

/** A member that several parts have must match each of its schemas. */
function joinProperties(parts: readonly JsonObject[]): ReadonlyMap<string, Json> {
  const found = new Map<string, Json>()
  for (const [name, schema] of parts.flatMap(propertiesOf)) {
    const before = found.get(name)
    found.set(name, before === undefined ? schema : joinMember(before, schema))
  }
  return found
}
/** Where one of them only describes, the other keeps its name. */
function joinMember(before: Json, schema: Json): Json {
  if (!isJsonObject(before) || !isJsonObject(schema)) return before === false ? before : schema
  const isSame = before === schema || (before['$ref'] !== undefined && before['$ref'] === schema['$ref'])
  if (isSame) return schema
  if (isDescription(schema)) return { ...schema, allOf: [before] }
  return isDescription(before) ? { ...before, allOf: [schema] } : { allOf: [before, schema] }
}
const isDescription = (schema: JsonObject): boolean => Object.keys(schema).every(each => annotations.test(each))

/** The narrowest of the bounds, and the values that all of them list. */
function joinBounds(parts: readonly JsonObject[]): JsonObject {
  const found: Record<string, Json> = {}
  const narrowed = [...lowerBounds.map(name => [name, -1] as const), ...upperBounds.map(name => [name, 1] as const)]
  for (const [name, sign] of narrowed) {
    const bounds = parts.flatMap(part => (numberOf(part[name]) === undefined ? [] : [part[name] as number | bigint]))
    const [first, ...others] = bounds
    if (first === undefined || others.length === 0) continue
    found[name] = others.reduce((one, other) => ((sign < 0 ? other > one : other < one) ? other : one), first)
  }
  const lists = parts.flatMap(part => (Array.isArray(part['enum']) ? [part['enum'] as readonly Json[]] : []))
  const [list, ...more] = lists
  if (list && more.length > 0) found['enum'] = list.filter(each => more.every(other => other.includes(each)))
  return found
}
const lowerBounds = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'] as const
const upperBounds = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'] as const

const scalarKinds = ['string', 'number', 'boolean'] as const
/** Keywords that imply the kind of a value where `type` does not state it. */
export function impliedType(schema: JsonObject): string {
  if (schema['properties'] || schema['patternProperties'] || schema['additionalProperties'] !== undefined)
    return 'object'
  if (schema['items']) return 'array'
  const values = valuesListed(schema).filter(each => each !== null)
  const [kind, ...others] = new Set(values.map(each => (typeof each === 'bigint' ? 'number' : typeof each)))
  return others.length === 0 ? (scalarKinds.find(each => each === kind) ?? '') : ''
}

/**
 * JSON Schema §10.3.2.2, §10.3.2.3, §11.3: whether it says that there are other members than its
 * properties. A silent schema allows them, too, but means nothing by it.
 */
export const isOpenByIntent = (schema: JsonObject): boolean =>
  Object.values(objectOf(schema['patternProperties'])).some(isAllowing) ||
  ['additionalProperties', 'unevaluatedProperties'].some(
    keyword => schema[keyword] !== undefined && isAllowing(schema[keyword]),
  )
/** The members of an object with any names, or any that match a pattern. */
export interface MapFacts {
  readonly value: Json
  /** The constraints on a name, as a text schema. */
  readonly names: JsonObject
}
/** Undefined for an object with its own properties, and for several member schemas. */
export function readMapFacts(document: OpenApiDocument, schema: JsonObject): MapFacts | undefined {
  if (propertiesOf(schema).length > 0) return undefined
  const names = document.resolve(schema['propertyNames'] ?? {}).value
  const [open] = [schema['additionalProperties'], schema['unevaluatedProperties']].flatMap(each =>
    each !== undefined && isAllowing(each) ? [each] : [],
  )
  const [named, another] = Object.entries(objectOf(schema['patternProperties'])).filter(each => isAllowing(each[1]))
  if (named)
    return another || open !== undefined ? undefined : { value: named[1], names: { ...names, pattern: named[0] } }
  return open === undefined ? undefined : { value: open, names }
}

/** The schema `false` allows nothing. */
const isAllowing = (schema: Json | undefined): boolean => schema !== false

export const propertiesOf = (schema: JsonObject): readonly (readonly [string, Json])[] =>
  Object.entries(objectOf(schema['properties']))
/** Whether it says which members an object has, even if none. */
export const namesMembers = (schema: JsonObject): boolean =>
  propertiesOf(schema).length > 0 ||
  (!isOpenByIntent(schema) && [schema['additionalProperties'], schema['unevaluatedProperties']].includes(false))
export const requiredNamesOf = (schema: JsonObject): ReadonlySet<Json> => new Set(jsonItems(schema['required']))

const valuesListed = (schema: JsonObject): readonly Json[] =>
  schema['const'] === undefined ? jsonItems(schema['enum']) : [schema['const']]

/** The text values that a schema lists; undefined if it lists none, or others. */
export function listedTexts(schema: JsonObject): readonly [string, ...string[]] | undefined {
  const values = valuesListed(schema).filter(each => each !== null)
  const [first, ...others] = [...new Set(values)]
  return typeof first === 'string' && others.every(each => typeof each === 'string') ? [first, ...others] : undefined
}

/** The schema of the first JSON content, if there is one. */
export const contentSchema = (document: OpenApiDocument, given: Json | undefined): Json | undefined =>
  findJsonContent(document, given)?.schema

/** Content of one media type; it may have no schema. */
interface DescribedContent {
  readonly mediaType: string
  readonly schema: Json | undefined
  /** How the members of a form are written. */
  readonly encoding: Json | undefined
}
export const findJsonContent = (document: OpenApiDocument, given: Json | undefined): DescribedContent | undefined =>
  findContent(document, given, /^application\/json\b/i) ??
  findContent(document, given, /^(application|text)\/([\w.-]+\+)?json\b/i)
export const findFormContent = (document: OpenApiDocument, given: Json | undefined): DescribedContent | undefined =>
  findContent(document, given, /^application\/x-www-form-urlencoded\b/i) ??
  findContent(document, given, /^multipart\/form-data\b/i)

function findContent(document: OpenApiDocument, given: Json | undefined, wanted: RegExp): DescribedContent | undefined {
  const found = objectEntries(document.resolve(given).value['content']).find(([type]) => wanted.test(type))
  if (!found) return undefined
  const [mediaType, { schema, itemSchema, encoding }] = found
  return { mediaType, schema: schema ?? itemSchema, encoding }
}
export const mediaTypesOf = (document: OpenApiDocument, given: Json | undefined): readonly string[] =>
  Object.keys(objectOf(document.resolve(given).value['content']))

/** The types of a service's documents, or a form that stands for one. */
export const plainTypes =
  /^(?:(?:application|text)\/(?:[\w.-]+\+)?(?:json|xml)|text\/html|application\/x-www-form-urlencoded)\b/i

/** Title, description, default, examples: what a reader wants to know. */
export function describeSchema(schema: JsonObject): string | undefined {
  const [example] = [schema['example'], ...jsonItems(schema['examples'])].filter(each => each !== undefined)
  const sentences = [
    stringOf(schema['description']) || stringOf(schema['title']),
    ...(schema['deprecated'] === true ? ['Deprecated.'] : []),
    ...(schema['default'] === undefined ? [] : [`Default: ${sayJson(schema['default'])}.`]),
    ...(example === undefined ? [] : [`Example: ${sayJson(example)}.`]),
  ]
  return sentences.map(squeezeText).filter(Boolean).join(' ') || undefined
}
export const squeezeText = (text: string): string => text.replace(/\s+/g, ' ').trim()
function sayJson(value: Json): string {
  const text = JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each))
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
