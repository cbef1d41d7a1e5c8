/**
 * Reads the value of a parameter from its texts, by its style (OpenAPI §4.8.12.3). The texts are
 * already decoded, so an encoded delimiter inside a value counts as one.
 */
import { type Json, type JsonObject, objectOf, stringOf } from '../base/objects.ts'
import { parseJson } from '../http/json.ts'
import type { Pairs } from '../http/uri.ts'
import type { OpenApiDocument } from '../import/openapi/openapi-document.ts'
import { expansions, type ParameterStyle, readParameterStyle } from '../import/openapi/parameter-style.ts'
import { contentSchema, readMapFacts, readSchemaFacts, type SchemaFacts } from '../import/openapi/schema-facts.ts'

/** The whole query, or the text in the place of the parameter. */
type GivenTexts = { readonly pairs: Pairs } | { readonly text: string | undefined }

export const schemaOfParameter = (document: OpenApiDocument, parameter: JsonObject): Json | undefined =>
  parameter['schema'] ?? contentSchema(document, parameter)

/** Undefined: it is missing, or not in its style. */
export function readParameter(document: OpenApiDocument, parameter: JsonObject, given: GivenTexts): Json | undefined {
  const name = stringOf(parameter['name'])
  const how = readParameterStyle(parameter)
  const facts = readSchemaFacts(document, schemaOfParameter(document, parameter))
  if (how.isJson) return readJsonText('pairs' in given ? new Map(given.pairs).get(name) : given.text)
  const typeOf = (key: string): string => readSchemaFacts(document, schemaOfMember(document, facts, key)).type
  if (facts.type === 'object') {
    const pairs = 'pairs' in given ? findMembers(name, given.pairs, how, facts) : splitMembers(name, given.text, how)
    return pairs && Object.fromEntries(pairs.map(([key, text]) => [key, readTypedText(text, typeOf(key))]))
  }
  const texts =
    'pairs' in given
      ? listNamedTexts(name, given.pairs)
      : splitTexts(name, given.text, { ...how, isExploded: how.isExploded && facts.type === 'array' })
  const [first, ...others] = texts ?? []
  if (first === undefined) return undefined
  if (facts.type !== 'array') return readTypedText(first, facts.type)
  const items = readSchemaFacts(document, facts.schema['items']).type
  const all = others.length > 0 ? [first, ...others] : first.split(jointOf(how))
  return all.map(text => readTypedText(text, items))
}

const jointOf = ({ style }: ParameterStyle): string => decodeURIComponent(expansions[style].joint)

/** Some services repeat a name with brackets. */
const listNamedTexts = (name: string, pairs: Pairs): readonly string[] =>
  pairs.filter(([key]) => key === name || key === `${name}[]`).map(([, text]) => text)

/** A text without its name, split into its exploded parts; undefined: it has another style. */
function splitTexts(name: string, text: string | undefined, { style, isExploded }: ParameterStyle) {
  const { first, between, isNamed } = expansions[style]
  if (text === undefined || text === '' || !text.startsWith(first)) return undefined
  const rest = text.slice(first.length)
  const parts = isExploded && style !== 'cookie' && style !== 'form' ? rest.split(between) : [rest]
  if (!isNamed || style !== 'matrix') return parts
  const own = parts.map(each =>
    each === name ? '' : each.startsWith(`${name}=`) ? each.slice(name.length + 1) : undefined,
  )
  return own.every(each => each !== undefined) ? own : undefined
}

// Objects

/** Pairs of the query that are members; undefined: none. */
function findMembers(name: string, pairs: Pairs, how: ParameterStyle, { schema }: SchemaFacts): Pairs | undefined {
  if (how.style !== 'deepObject' && !how.isExploded) {
    const [text] = listNamedTexts(name, pairs)
    return text === undefined ? undefined : pairUp(text.split(jointOf(how)))
  }
  const known = objectOf(schema['properties'])
  if (how.style !== 'deepObject' && Object.keys(known).length === 0) return [] // any name belongs to it
  const found = pairs.flatMap(([key, text]): Pairs => {
    const member = how.style === 'deepObject' ? deepMember(name, key) : Object.hasOwn(known, key) ? key : undefined
    return member === undefined ? [] : [[member, text]]
  })
  return found.length === 0 ? undefined : found
}
const deepMember = (name: string, key: string): string | undefined =>
  key.startsWith(`${name}[`) && key.endsWith(']') ? key.slice(name.length + 1, -1) : undefined

function splitMembers(name: string, text: string | undefined, how: ParameterStyle): Pairs | undefined {
  const { first, between } = expansions[how.style]
  if (text === undefined || !text.startsWith(first)) return undefined
  if (!how.isExploded) return pairUp((splitTexts(name, text, how)?.[0] ?? '').split(jointOf(how)))
  return text
    .slice(first.length)
    .split(between)
    .map(each => {
      const [key = '', value = ''] = each.split(/=(.*)/s)
      return [key, value]
    })
}
const pairUp = (texts: readonly string[]): Pairs =>
  texts.flatMap((key, at): Pairs => (at % 2 === 0 && key !== '' ? [[key, texts[at + 1] ?? '']] : []))

const schemaOfMember = (document: OpenApiDocument, { schema }: SchemaFacts, key: string): Json | undefined =>
  objectOf(schema['properties'])[key] ?? readMapFacts(document, schema)?.value

// Scalars

function readJsonText(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined
  const { value } = parseJson(text)
  return value === undefined ? text : value
}
function readTypedText(text: string, type: string): Json {
  if (/^(integer|number)\b/.test(type) && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return parseJson(text).value ?? Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}
