/**
 * Content that a JSON Schema of an OpenAPI description accepts, and the parts of an existing item
 * that a client may send back. If no text can be found for a pattern, an existing value or the
 * profile has to help.
 */
import { attempt, isSyntaxError } from '../base/attempt.ts'
import { writePatternText } from '../base/pattern-text.ts'
import { parsePointer } from '../http/json-pointer.ts'
import { percentDecode } from '../http/uri.ts'
import { asArray, asRecord, asText, type Json, memberAt, type ProbedRecord } from './probe-content.ts'

const depthMax = 8
/** A longer text is not sent: the service refuses the sample instead. */
const textCharactersMax = 100_000

/** Resolves `#/…` references within the document, and merges `allOf` into one schema. */
export function resolveSchema(document: Json, schema: Json | undefined, depth = 0): ProbedRecord {
  if (depth > depthMax) return asRecord(schema)
  const reference = asText(memberAt(schema, '$ref'))
  if (reference !== undefined) return resolveSchema(document, findReferenced(document, reference), depth + 1)
  const { allOf, ...own } = asRecord(schema)
  return asArray(allOf)
    .map(part => resolveSchema(document, part, depth + 1))
    .reduce(joinSchemas, own)
}

/** RFC 6901 §6: the pointer is percent-encoded in a fragment. Undefined: it leads nowhere. */
export function findReferenced(document: Json, reference: string): Json | undefined {
  const pointer = parsePointer(percentDecode(reference.replace(/^#/, '')) ?? 'none')
  return pointer && memberAt(document, ...pointer)
}

/** JSON Schema 2020-12 §10.2.1.1: both apply. */
const joinSchemas = (one: ProbedRecord, other: ProbedRecord): ProbedRecord => ({
  ...other,
  ...one,
  ...(one['properties'] !== undefined || other['properties'] !== undefined
    ? { properties: { ...asRecord(other['properties']), ...asRecord(one['properties']) } }
    : {}),
  ...(one['required'] !== undefined || other['required'] !== undefined
    ? { required: [...new Set([...asArray(one['required']), ...asArray(other['required'])])] }
    : {}),
})

/** §10.2.1.2: the schema completed by each of its alternatives; without any, the schema alone. */
function alternativesOf(document: Json, given: Json | undefined): readonly ProbedRecord[] {
  const { oneOf, anyOf, ...own } = resolveSchema(document, given)
  const parts = [...asArray(oneOf), ...asArray(anyOf)].map(part => resolveSchema(document, part))
  return parts.length === 0 ? [own] : parts.map(part => joinSchemas(own, part))
}

/** The smallest value that the schema describes. */
export function makeSample(document: Json, given: Json | undefined, depth = 0): Json {
  const [schema = {}] = alternativesOf(document, given)
  for (const known of [schema['example'], asArray(schema['examples'])[0], schema['default'], schema['const']])
    if (known !== undefined) return known
  const [choice] = asArray(schema['enum'])
  if (choice !== undefined) return choice
  const type = [schema['type']].flat()[0]
  if (type === 'array')
    return Number(schema['minItems'] ?? 0) > 0 && depth < depthMax
      ? [makeSample(document, schema['items'], depth + 1)]
      : []
  if (type === 'integer' || type === 'number')
    return typeof schema['minimum'] === 'bigint' ? schema['minimum'] : Number(schema['minimum'] ?? 1)
  if (type === 'boolean') return false
  if (type === 'string') return makeText(schema)
  if (depth >= depthMax) return {}
  return Object.fromEntries(
    [...asArray(schema['required']), ...listFreeNames(document, schema)].map(name => {
      const member = String(name)
      const known = memberAt(schema, 'properties', member) ?? schema['additionalProperties']
      return [member, makeSample(document, known, depth + 1)]
    }),
  )
}

/** Names for members that a map must have. */
function listFreeNames(document: Json, schema: ProbedRecord): readonly Json[] {
  const lacking = Number(schema['minProperties'] ?? 0) - asArray(schema['required']).length
  if (lacking <= 0) return []
  const names = resolveSchema(document, schema['propertyNames'])
  const listed = asArray(names['enum'])
  const text = makeText(names)
  return listed.length > 0 ? listed.slice(0, lacking) : Array.from({ length: lacking }, (_, at) => text + (at || ''))
}

const textByFormat: Readonly<Record<string, string>> = {
  __proto__: null as never,
  date: '2026-01-01',
  'date-time': '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  decimal: '1.00',
  email: 'probe@example.org',
  uri: 'urn:example:probe',
  uuid: '00000000-0000-4000-8000-000000000000',
}
function makeText(schema: ProbedRecord): string {
  const text = textByFormat[asText(schema['format']) ?? asText(schema['x-xsd']) ?? ''] ?? 'probe'
  const length = Math.min(Number(schema['minLength'] ?? 0), textCharactersMax)
  const plain = text.padEnd(length, 'x').slice(0, Number(schema['maxLength'] ?? text.length))
  const pattern = readPattern(asText(schema['pattern']))
  return pattern === undefined || pattern.test(plain) ? plain : (makePatternText(pattern, schema) ?? plain)
}

/** Repetitions beyond the minimum, in the order of trying. */
const repetitions = [0, 1, 2, 4, 8, 16]
function makePatternText(pattern: RegExp, schema: ProbedRecord): string | undefined {
  const least = Number(schema['minLength'] ?? 0)
  const maxLength = Number(schema['maxLength'] ?? textCharactersMax)
  return repetitions
    .map(more => writePatternText(pattern, () => 0, more))
    .find(text => text.length >= least && text.length <= maxLength && pattern.test(text))
}
/** Undefined for syntax that ECMA-262 does not know, and for patterns with overlong texts. */
function readPattern(pattern: string | undefined): RegExp | undefined {
  if (pattern === undefined) return undefined
  const counts = [...pattern.matchAll(/\{(?:\d*,)?(\d+)/g)].map(([, count]) => Number(count))
  const size = counts.reduce((product, count) => product * Math.max(count, 1), pattern.length)
  return size > textCharactersMax ? undefined : attempt(() => new RegExp(pattern, 'u'), isSyntaxError)
}

/** An item as a client sends it: without read-only members, at any depth, and without links. */
export function toDraft(document: Json | undefined, given: Json | undefined, value: Json): Json {
  if (document === undefined || given === undefined) return withoutServerMembers(value)
  const schema = alternativesOf(document, given).reduce(joinSchemas)
  if (Array.isArray(value)) return value.map(each => toDraft(document, schema['items'], each))
  if (typeof value !== 'object' || value === null) return value
  const isOpen = schema['properties'] === undefined && schema['additionalProperties'] !== false
  const members = Object.entries(asRecord(value)).flatMap(([name, each]) => {
    const known = memberAt(schema, 'properties', name)
    const member = resolveSchema(document, known ?? asRecord(schema['additionalProperties']))
    // A member that the schema does not name, such as the identifier, belongs to the server.
    const isKnown = isOpen || known !== undefined
    return !isKnown || member['readOnly'] === true ? [] : [[name, toDraft(document, member, each)] as const]
  })
  return Object.fromEntries(members)
}

const withoutServerMembers = (value: Json): Json =>
  Object.fromEntries(Object.entries(asRecord(value)).filter(([name]) => name !== 'id' && !name.startsWith('_')))

/**
 * JSON Pointers (RFC 6901) to members that the schema does not declare, at any depth, as far as one
 * schema decides that.
 */
export function findUndeclared(
  document: Json,
  given: Json | undefined,
  value: Json,
  at = '',
  depth = 0,
): readonly string[] {
  const alternatives = alternativesOf(document, given)
  const [schema = {}] = alternatives
  const judgeWithin = (known: Json | undefined, each: Json, name: string | number): readonly string[] =>
    depth < depthMax && alternatives.length === 1 && known !== undefined
      ? findUndeclared(document, known, each, `${at}/${name}`, depth + 1)
      : []
  if (Array.isArray(value))
    return schema['prefixItems']
      ? []
      : asArray(value).flatMap((each, index) => judgeWithin(schema['items'], each, index))
  const declared = declaredMembers(document, given)
  return Object.entries(asRecord(value)).flatMap(([name, each]) => {
    if (isOfHal(name)) return name === '_embedded' ? judgeWithin(memberAt(schema, 'properties', name), each, name) : []
    return declared && !declared.has(name)
      ? [`${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`]
      : judgeWithin(memberAt(schema, 'properties', name), each, name)
  })
}

/** A2.2 judges the members of HAL. */
export const isOfHal = (name: string): boolean => /^_(?:links|embedded|templates)$/.test(name)

/** The names of all members that the schema declares; undefined if it leaves them open. */
export function declaredMembers(document: Json, given: Json | undefined): ReadonlySet<string> | undefined {
  const alternatives = alternativesOf(document, given)
  const isOpen = alternatives.some(
    each => each['patternProperties'] !== undefined || (each['additionalProperties'] ?? false) !== false,
  )
  const properties = alternatives.flatMap(each => Object.keys(asRecord(each['properties'])))
  return isOpen || properties.length === 0 ? undefined : new Set(properties)
}
