/** What the guesses about one document share, and the schemas that they examine first. */

import { type Json, type JsonObject, objectOf } from '../../base/objects.ts'
import type { Losses } from '../loss.ts'
import type { Collection } from './collections.ts'
import type { Nesting } from './find-nestings.ts'
import type { FaultGuess } from './guess-faults.ts'
import type { Grants } from './guess-grants.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { findSuccess, type RestOperation } from './operations.ts'
import { contentSchema, propertiesOf, readSchemaFacts } from './schema-facts.ts'
import type { SchemaFields } from './schema-fields.ts'

/** What all guesses about one document share. */
export interface GuessRoom {
  readonly document: OpenApiDocument
  readonly fields: SchemaFields
  readonly faults: FaultGuess
  readonly grants: Grants
  readonly losses: Losses
  /** Operations that a part of the contract already covers. */
  readonly claimed: Set<RestOperation>
  /** Prefixes of identifiers. */
  readonly prefixes: Set<string>
  /** The collections that are resources, by the schema of their items. */
  readonly byItem: ReadonlyMap<JsonObject, Collection>
  /** Collections whose items are inside other items. */
  readonly nestings: ReadonlyMap<Collection, Nesting>
}

/** The schema of one item, without an envelope such as `data`. */
export function findItemSchema(document: OpenApiDocument, collection: Collection): Json | undefined {
  const { one, many } = collection
  const operations = [one.get('GET'), many.get('POST'), one.get('PUT'), one.get('PATCH')]
  for (const each of operations) {
    const schema = each && unwrapItem(document, answerSchema(document, each))
    if (schema !== undefined) return schema
  }
  return findListed(document, many.get('GET')) ?? requestObject(document, many.get('POST'))
}
export const answerSchema = (document: OpenApiDocument, operation: RestOperation): Json | undefined =>
  contentSchema(document, findSuccess(operation)?.[1])

const isPlainObject = (document: OpenApiDocument, schema: Json | undefined): boolean => {
  const facts = readSchemaFacts(document, schema)
  return facts.type === 'object' && facts.options.length === 0 && propertiesOf(facts.schema).length > 0
}
function unwrapItem(document: OpenApiDocument, schema: Json | undefined): Json | undefined {
  if (schema === undefined || !isPlainObject(document, schema)) return undefined
  const [first, ...others] = propertiesOf(readSchemaFacts(document, schema).schema)
  const isEnvelope = first !== undefined && envelopeWords.has(first[0]) && others.length <= 2
  return isEnvelope && isPlainObject(document, first[1]) ? first[1] : schema
}
const envelopeWords = new Set(['data', 'item', 'result', 'resource', 'payload', 'response'])

/** The items of a list: an array, or the first array of objects in a page. */
export function findListed(document: OpenApiDocument, operation: RestOperation | undefined): Json | undefined {
  if (!operation) return undefined
  const facts = readSchemaFacts(document, answerSchema(document, operation))
  const arrays =
    facts.type === 'array' ? [facts] : propertiesOf(facts.schema).map(([, each]) => readSchemaFacts(document, each))
  return arrays
    .filter(each => each.type === 'array')
    .map(each => each.schema['items'])
    .find(each => isPlainObject(document, each))
}
export function requestObject(document: OpenApiDocument, operation: RestOperation | undefined): Json | undefined {
  const schema = operation && contentSchema(document, operation.request)
  return schema !== undefined && isPlainObject(document, schema) ? schema : undefined
}

/** The link relations that the items of a collection declare. */
export function listLinks(document: OpenApiDocument, collection: Collection): ReadonlySet<string> {
  const item = readSchemaFacts(document, findItemSchema(document, collection))
  const links = readSchemaFacts(document, objectOf(item.schema['properties'])['_links'])
  return new Set(propertiesOf(links.schema).map(([name]) => name))
}
