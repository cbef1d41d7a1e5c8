/** An OpenAPI document as one port: each operation is an exchange with its HTTP details. */

import { type Json, type JsonObject, objectOf, stringOf } from '../../base/objects.ts'
import { exchange, type Port, type PortExchange, port } from '../../contract/exchange.ts'
import type { Grant } from '../../contract/policy.ts'
import { type AnyRootElement, type AnyXmlType, type TypeMembers, x } from '../../contract/xml-type.ts'
import type { Find } from '../../describe/reader/wsdl-document.ts'
import { reasonPhrases } from '../../http/status.ts'
import type { DescriptionParser } from '../description-text.ts'
import { type Loss, Losses } from '../loss.ts'
import { toSegmentName } from './collections.ts'
import { ExchangeTypes, type JsonDifferences, listAnswerFields, type RestMessages } from './exchange-types.ts'
import { nameExchange } from './guess-exchanges.ts'
import { nameOfProblemType } from './guess-faults.ts'
import { recordOmissions, recordOtherAnswers, recordServers } from './left-out.ts'
import { OpenApiDocument } from './openapi-document.ts'
import { findSuccess, listRestOperations, type RestOperation, serverAddressOf } from './operations.ts'
import { findJsonContent, readSchemaFacts } from './schema-facts.ts'
import { toTypeName } from './schema-fields.ts'

/** How an exchange is called over HTTP. */
export interface RestExchange extends RestMessages {
  readonly method: string
  /** At the first level of RFC 6570, without the base of the document: `/orders/{id}`. */
  readonly template: string
  /** Names of declared faults by status, most specific first; `default`: all others. */
  readonly faults: ReadonlyMap<string, readonly string[]>
}

export interface RestPort {
  readonly name: string
  readonly namespace: string
  readonly port: Port
  readonly exchanges: ReadonlyMap<string, RestExchange>
  readonly differences: JsonDifferences
  /** The base of its first server, as in the document; empty: none. */
  readonly address: string
  readonly comments: ReadonlyMap<object, string>
  readonly losses: readonly Loss[]
}

const unasked = new Set(['HEAD', 'OPTIONS', 'TRACE'])

/** @throws NotOpenApi */
export function readRestPort(
  text: string,
  location: string,
  allow: readonly Grant[],
  how: { readonly find: Find; readonly parse: DescriptionParser },
): RestPort {
  const losses = new Losses()
  const document = new OpenApiDocument(text, location, { ...how, losses })
  const title = stringOf(objectOf(document.root['info'])['title'])
  const name = toSegmentName(title || 'service').toLowerCase()
  const namespace = `urn:${name}`
  const comments = new Map<object, string>()
  const types = new ExchangeTypes(document, x.namespace(namespace), losses, comments)
  const faults = new FaultElements(document, types)
  const declared: Record<string, PortExchange> = {}
  const exchanges = new Map<string, RestExchange>()
  const operations = listRestOperations(document)
    .filter(({ method }) => !unasked.has(method))
    .map(each => withKeys(document, each))
  for (const operation of operations) {
    const key = nameExchange(operation, declared)
    const messages = types.messages(key, operation)
    recordOtherAnswers(document, operation, losses)
    if (operation.id !== '' && key !== toTypeName(operation.id))
      losses.add(operation.place, `shares its operationId with another operation: it is ${key}`)
    const found = faults.of(key, operation)
    exchanges.set(key, {
      ...messages,
      method: operation.method,
      template: operation.template,
      faults: new Map(
        Map.groupBy(found, each => each.status)
          .entries()
          .map(([status, all]) => [status, all.map(each => each.fault)]),
      ),
    })
    declared[key] = exchange({
      action: `${namespace}/${key}`,
      input: messages.input,
      output: messages.output,
      faults: Object.fromEntries(found.map(({ fault, root }) => [fault, root])),
      statuses: Object.fromEntries(
        found.flatMap(({ status, fault }) => (/^\d+$/.test(status) ? [[fault, Number(status)]] : [])),
      ),
      allow,
      safe: operation.method === 'GET' || operation.method === 'QUERY',
      ...(operation.comment !== '' && { description: operation.comment }),
    })
  }
  recordOmissions(document, operations, losses, each =>
    listAnswerFields(document, findSuccess(each)?.[1]).map(([name]) => name),
  )
  recordServers(document, losses)
  nameAllTypes(Object.values(declared))
  for (const each of document.missing) losses.add(each, 'is referred to and was not found')
  const made = port('Operations', { namespace, service: toTypeName(title) || 'Service', exchanges: declared })
  const address = serverAddressOf(document.root)
  return { name, namespace, port: made, exchanges, differences: types, address, comments, losses: losses.all }
}

/** OpenAPI §4.8.27: an API key in the query or a cookie becomes a parameter; our own are fields. */
function withKeys(document: OpenApiDocument, operation: RestOperation): RestOperation {
  const schemes = objectOf(objectOf(document.root['components'])['securitySchemes'])
  const named = new Set((operation.security ?? []).flatMap(each => Object.keys(each)))
  const keys = [...named].flatMap(each => {
    const { type, in: place, name = null, description } = document.resolve(schemes[each]).value
    const isKnown = operation.allParameters.some(known => known['name'] === name && known['in'] === place)
    if (type !== 'apiKey' || isKnown) return []
    return [{ in: place ?? null, name, schema: { type: 'string' }, ...(description !== undefined && { description }) }]
  })
  const keysOf = (place: string): readonly JsonObject[] => keys.filter(each => each.in === place)
  const { query, cookies } = operation
  return { ...operation, query: [...query, ...keysOf('query')], cookies: [...cookies, ...keysOf('cookie')] }
}

/** Types are made on demand, and report their losses then. */
function nameAllTypes(exchanges: readonly PortExchange[]): void {
  const known = new Set<AnyXmlType>()
  const visit = (type: AnyXmlType): void => {
    if (known.has(type)) return
    known.add(type)
    const { definition } = type
    if (definition.kind === 'derivable') visit(definition.type)
    else if (definition.kind === 'complex') visitMembers(definition.members)
  }
  const visitMembers = (members: TypeMembers): void => {
    for (const { particle } of Object.values(members)) {
      if (particle.kind === 'element') visit(particle.type())
      else if (particle.kind === 'choice') visitMembers(particle.members)
    }
  }
  for (const { input, output, faults } of exchanges)
    for (const root of [input, output, ...Object.values(faults)]) if (typeof root === 'object') visit(root.type())
}

interface DeclaredFault {
  readonly status: string
  readonly fault: string
  readonly root: AnyRootElement
}

/** The contents of error responses as elements: one for each schema and status. */
class FaultElements {
  readonly #document: OpenApiDocument
  readonly #types: ExchangeTypes
  readonly #made = new Map<string, { readonly schema: object; readonly fault: DeclaredFault }>()

  constructor(document: OpenApiDocument, types: ExchangeTypes) {
    this.#document = document
    this.#types = types
  }

  of(exchangeName: string, { responses }: RestOperation): readonly DeclaredFault[] {
    return responses.flatMap(([status, response]) =>
      /^[45](\d\d|XX)$|^default$/i.test(status) ? this.#declare(exchangeName, status, response) : [],
    )
  }

  /** One for each alternative, first those that identify themselves by `type` or title. */
  #declare(exchangeName: string, status: string, response: Json): readonly DeclaredFault[] {
    const schema = findJsonContent(this.#document, response)?.schema
    const usual = toTypeName(reasonPhrases[Number(status)] ?? (status === 'default' ? 'Failure' : `Status${status}`))
    const { options } = readSchemaFacts(this.#document, schema)
    if (options.length === 0) return this.#name([usual, `${exchangeName}${usual}`], status, schema)
    const cases = options.map(option => {
      const facts = readSchemaFacts(this.#document, option)
      const ownName = nameOfProblemType(facts.schema) || stringOf(facts.schema['title'])
      return { option, ownName: toTypeName(ownName), name: toTypeName(facts.name) }
    })
    return [...cases.filter(each => each.ownName !== ''), ...cases.filter(each => each.ownName === '')].flatMap(
      ({ option, ownName, name }, at) => {
        const own = ownName || (name === '' ? `${usual}${at + 1}` : `${usual}${name}`)
        return this.#name([own, `${exchangeName}${own}`], status, option)
      },
    )
  }

  /** The first of these names that no other schema has. */
  #name(names: readonly string[], status: string, schema: Json | undefined): readonly DeclaredFault[] {
    const { key } = readSchemaFacts(this.#document, schema)
    for (const name of names) {
      const known = this.#made.get(name)
      if (known?.schema === key) return [{ ...known.fault, status }]
      if (known) continue
      const members = this.#types.objectMembers(schema, name)
      if (!members) return []
      const fault = { status, fault: name, root: this.#types.root(name, members) }
      this.#made.set(name, { schema: key, fault })
      return [fault]
    }
    return []
  }
}
