/**
 * JSON Schema keywords that narrow values but that no field and no type of an exchange keeps: one
 * line for each named schema or operation, so that none is lost silently.
 */
import { isJsonObject, type Json, type JsonObject, jsonItems, objectOf } from '../../base/objects.ts'
import type { Losses } from '../loss.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import type { RestOperation } from './operations.ts'

type Unchecked = (schema: JsonObject, given: Json) => boolean

const isNeverKept: Unchecked = () => true
/** For a map they are kept. */
const ofRecords: Unchecked = ({ properties }) => Object.keys(objectOf(properties)).length > 0
const ofParts: Unchecked = (_, given) => jsonItems(given).some(each => typeof each === 'object' && each !== null)

/** JSON Schema 2020-12, and `dependencies` from before; by what is lost with each. */
const uncheckedKeywords: Readonly<Record<string, Unchecked>> = {
  not: isNeverKept,
  // Core §10.2.2.1: without `if`, the other two have no effect.
  if: ({ then: hence, else: otherwise }) => hence !== undefined || otherwise !== undefined,
  contains: isNeverKept,
  prefixItems: isNeverKept,
  unevaluatedItems: (_, given) => given !== true,
  dependencies: isNeverKept,
  dependentRequired: isNeverKept,
  dependentSchemas: isNeverKept,
  contentSchema: isNeverKept,
  minProperties: (schema, given) => ofRecords(schema, given) && given !== 0,
  maxProperties: ofRecords,
  propertyNames: ofRecords,
  enum: ofParts,
  const: (_, given) => typeof given === 'object' && given !== null,
}

/** Keywords that contain a schema, or schemas in a list or by name. */
const inSchema = ['items', 'additionalProperties', 'unevaluatedProperties']
const inList = ['allOf', 'anyOf', 'oneOf']
const inMembers = ['properties', 'patternProperties']

export function recordUncheckedKeywords(
  document: OpenApiDocument,
  operations: readonly RestOperation[],
  losses: Losses,
): void {
  const found = new Map<string, Set<string>>()
  const seen = new Set<JsonObject>()
  const pending = operations.flatMap(operation =>
    listAskedSchemas(document, operation).map(given => ({ given, place: operation.place })),
  )
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { given } = next
    if (!isJsonObject(given)) continue
    const { value, name } = document.resolve(given)
    const place = name || next.place
    for (const schema of [given, value]) {
      if (seen.has(schema)) continue
      seen.add(schema)
      for (const keyword of listUnchecked(schema)) found.set(place, (found.get(place) ?? new Set()).add(keyword))
      pending.push(...listInnerSchemas(schema).map(part => ({ given: part, place })))
    }
  }
  for (const [place, keywords] of found)
    losses.add(place, `${[...keywords].join(', ')} ${keywords.size > 1 ? 'are' : 'is'} not checked`)
}

const listUnchecked = (schema: JsonObject): readonly string[] =>
  Object.entries(uncheckedKeywords).flatMap(([keyword, isLost]) => {
    const given = schema[keyword]
    return given !== undefined && isLost(schema, given) ? [keyword] : []
  })

export const listInnerSchemas = (schema: JsonObject): readonly (Json | undefined)[] => [
  ...inSchema.map(each => schema[each]),
  ...inList.flatMap(each => jsonItems(schema[each])),
  ...inMembers.flatMap(each => Object.values(objectOf(schema[each]))),
]

function listAskedSchemas(document: OpenApiDocument, operation: RestOperation): readonly (Json | undefined)[] {
  const { allParameters, request, responses } = operation
  const contents = [request, ...responses.map(([, response]) => response), ...allParameters].flatMap(each =>
    Object.values(objectOf(document.resolve(each).value['content'])).map(objectOf),
  )
  return [
    ...allParameters.map(each => each['schema']),
    ...contents.flatMap(each => [each['schema'], each['itemSchema']]),
  ]
}
