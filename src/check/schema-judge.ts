/**
 * Judges whether JSON matches a schema of an OpenAPI description: JSON Schema 2020-12, and
 * `nullable` of OpenAPI 3.0. An unknown keyword allows everything, so no judgement is false.
 */
import { writeJson } from '../http/json.ts'
import { matchesPattern } from './ecma-pattern.ts'
import { asArray, asRecord, asText, type Json, memberAt, type ProbedRecord, sameJson } from './probe-content.ts'
import { findReferenced, isOfHal } from './schema-sample.ts'

/** A schema may refer to itself. */
const depthMax = 64

interface JudgedValue {
  readonly document: Json
  readonly value: Json
  /** A JSON Pointer (RFC 6901) to the value. */
  readonly at: string
  readonly depth: number
}

/** What is wrong, and where; undefined if nothing. */
export function findMismatch(document: Json, schema: Json | undefined, value: Json): string | undefined {
  return judgeValue(schema, { document, value, at: '', depth: 0 })
}

function judgeValue(given: Json | undefined, judged: JudgedValue): string | undefined {
  if (given === undefined || given === true || judged.depth > depthMax) return undefined
  if (given === false) return describeMismatch(judged, 'nothing is allowed here')
  const schema = asRecord(given)
  if (judged.value === null && schema['nullable'] === true) return undefined
  for (const judge of judges) {
    const wrong = judge(schema, judged)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

type Judge = (schema: ProbedRecord, judged: JudgedValue) => string | undefined

const shownCharactersMax = 60
function describeMismatch({ at, value }: JudgedValue, says: string): string {
  const text = writeJson(value)
  const cut = text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
  return `${at === '' ? 'the content' : at} is ${cut}: ${says}`
}

const descend = (judged: JudgedValue, value = judged.value, at = judged.at): JudgedValue => ({
  ...judged,
  value,
  at,
  depth: judged.depth + 1,
})

const judgeReference: Judge = (schema, judged) => {
  const reference = asText(schema['$ref'])
  return reference === undefined ? undefined : judgeValue(findReferenced(judged.document, reference), descend(judged))
}

/** §10.2.1. For oneOf, one match is enough here: deciding that two match needs every keyword. */
const judgeCombination: Judge = ({ allOf, anyOf, oneOf }, judged) => {
  for (const part of asArray(allOf)) {
    const wrong = judgeValue(part, descend(judged))
    if (wrong !== undefined) return wrong
  }
  for (const parts of [asArray(anyOf), asArray(oneOf)]) {
    const wrong = parts.map(part => judgeValue(part, descend(judged)))
    if (wrong.length > 0 && !wrong.includes(undefined)) return wrong[0]
  }
  return undefined
}

const typeTests: Readonly<Record<string, (value: Json) => boolean>> = {
  __proto__: null as never,
  null: value => value === null,
  boolean: value => typeof value === 'boolean',
  string: value => typeof value === 'string',
  number: value => typeof value === 'number' || typeof value === 'bigint',
  integer: value => Number.isInteger(value) || typeof value === 'bigint',
  array: value => Array.isArray(value),
  object: value => typeof value === 'object' && value !== null && !Array.isArray(value),
}

const judgeType: Judge = ({ type, enum: choices, const: only }, judged) => {
  const types = [type].flat().flatMap(each => asText(each as Json | undefined) ?? [])
  if (types.length > 0 && !types.some(each => typeTests[each]?.(judged.value) ?? true))
    return describeMismatch(judged, `the schema says ${types.join(' or ')}`)
  if (Array.isArray(choices) && !asArray(choices).some(each => sameJson(each, judged.value)))
    return describeMismatch(judged, `the schema says one of ${writeJson(asArray(choices))}`)
  if (only !== undefined && !sameJson(only, judged.value))
    return describeMismatch(judged, `the schema says ${writeJson(only)}`)
  return undefined
}

const judgeNumber: Judge = (schema, judged) => {
  const { value } = judged
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined
  // In OpenAPI 3.0 they are booleans that say how the bound is meant.
  const [isAbove, isBelow] = [schema['exclusiveMinimum'] === true, schema['exclusiveMaximum'] === true]
  // A bound that was rounded to a double is compared with that precision.
  const near = (bound: number | bigint) => (typeof bound === 'bigint' || isExactBound(bound) ? value : Number(value))
  const bounds: readonly Bound[] = [
    ['minimum', bound => (isAbove ? near(bound) > bound : near(bound) >= bound)],
    ['maximum', bound => (isBelow ? near(bound) < bound : near(bound) <= bound)],
    ['exclusiveMinimum', bound => near(bound) > bound],
    ['exclusiveMaximum', bound => near(bound) < bound],
    ['multipleOf', step => isMultiple(value, step)],
  ]
  return describeFirstBound(schema, judged, bounds)
}

/** A binary fraction is not exactly the decimal that was written. */
function isMultiple(value: number | bigint, step: number | bigint): boolean {
  if (step <= 0) return true
  if (isExactInteger(value) && isExactInteger(step)) return BigInt(value) % BigInt(step) === 0n
  const times = Number(value) / Number(step)
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
}
const isExactBound = (bound: number): boolean => Math.abs(bound) <= Number.MAX_SAFE_INTEGER
const isExactInteger = (value: number | bigint): boolean => typeof value === 'bigint' || Number.isSafeInteger(value)

const judgeText: Judge = (schema, judged) => {
  const { value } = judged
  if (typeof value !== 'string') return undefined
  const { length } = [...value]
  const pattern = formatPatterns[asText(schema['format']) ?? '']
  if (pattern && !pattern.test(value)) return describeMismatch(judged, `the schema says ${asText(schema['format'])}`)
  const expression = asText(schema['pattern'])
  if (expression !== undefined && matchesPattern(expression, value) === false)
    return describeMismatch(judged, `the schema has pattern ${expression}`)
  return describeFirstBound(schema, judged, [
    ['minLength', bound => length >= bound],
    ['maxLength', bound => length <= bound],
  ])
}

/** RFC 3339 §5.6 and RFC 9562 §4. */
const formatPatterns: Readonly<Record<string, RegExp>> = {
  __proto__: null as never,
  date: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/,
  'date-time': /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
}

type Bound = readonly [name: string, holds: (bound: number | bigint) => boolean]

function describeFirstBound(schema: ProbedRecord, judged: JudgedValue, bounds: readonly Bound[]): string | undefined {
  const broken = bounds.find(([name, holds]) => {
    const bound = schema[name]
    return (typeof bound === 'number' || typeof bound === 'bigint') && !holds(bound)
  })
  return broken && describeMismatch(judged, `the schema has ${broken[0]} ${schema[broken[0]]}`)
}

const judgeItems: Judge = (schema, judged) => {
  const { value, at } = judged
  if (!Array.isArray(value)) return undefined
  const items = asArray(value)
  const tuple = asArray(schema['prefixItems'])
  for (const [index, item] of items.entries()) {
    const wrong = judgeValue(tuple[index] ?? schema['items'], descend(judged, item, `${at}/${index}`))
    if (wrong !== undefined) return wrong
  }
  if (schema['uniqueItems'] === true && new Set(items.map(item => writeJson(item))).size < items.length)
    return describeMismatch(judged, 'the schema says that items differ')
  return describeFirstBound(schema, judged, [
    ['minItems', bound => items.length >= bound],
    ['maxItems', bound => items.length <= bound],
  ])
}

const judgeMembers: Judge = (schema, judged) => {
  const { value, at, document } = judged
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const record = asRecord(value)
  const missing = asArray(schema['required']).find(
    name =>
      !isOfHal(String(name)) &&
      !Object.hasOwn(record, String(name)) &&
      // OpenAPI §4.8.24: a required member that is write-only is not in responses.
      resolvedMember(document, schema, String(name))['writeOnly'] !== true,
  )
  if (missing !== undefined) return describeMismatch(judged, `the schema requires ${missing}`)
  const isClosed = schema['patternProperties'] === undefined
  const members = Object.entries(record).filter(([name]) => !isOfHal(name))
  for (const [name, each] of members) {
    const wrongName = judgeValue(schema['propertyNames'], descend(judged, name, at))
    if (wrongName !== undefined) return wrongName
    const known = memberAt(schema, 'properties', name) ?? (isClosed ? schema['additionalProperties'] : undefined)
    const wrong = judgeValue(known, descend(judged, each, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`))
    if (wrong !== undefined) return wrong
  }
  return describeFirstBound(schema, judged, [['maxProperties', bound => members.length <= bound]])
}

function resolvedMember(document: Json, schema: ProbedRecord, name: string): ProbedRecord {
  const member = memberAt(schema, 'properties', name)
  const reference = asText(memberAt(member, '$ref'))
  return asRecord(reference === undefined ? member : findReferenced(document, reference))
}

const judges: readonly Judge[] = [
  judgeReference,
  judgeCombination,
  judgeType,
  judgeNumber,
  judgeText,
  judgeItems,
  judgeMembers,
]
