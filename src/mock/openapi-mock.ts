/**
 * An OpenAPI document as a service: each operation responds at its address with an example of its
 * response. What always holds:
 *  (1) Parameters and content are checked against their schemas before anything else.
 *  (2) The status, media type and content of a response are declared in the document.
 *  (3) Whatever is created, changed or removed shows in later responses of the same collection.
 */
import { createHash } from 'node:crypto'
import { decodePercent } from '../base/attempt.ts'
import {
  isJsonObject,
  type Json,
  type JsonObject,
  jsonItems,
  objectEntries,
  objectOf,
  stringOf,
} from '../base/objects.ts'
import { findMismatch } from '../check/schema-judge.ts'
import type { ExamplePlace } from '../describe/example-text.ts'
import { parseCookies } from '../http/cookie.ts'
import { parseJson, writeJson } from '../http/json.ts'
import { isJsonType, parseMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import { negotiateType } from '../http/negotiate.ts'
import { evaluatePreconditions, parsePreconditions } from '../http/precondition.ts'
import { respond } from '../http/respond.ts'
import { reasonPhrases } from '../http/status.ts'
import { type Pairs, parseQuery } from '../http/uri.ts'
import type { OpenApiDocument } from '../import/openapi/openapi-document.ts'
import { findSuccess, listRestOperations, type RestOperation } from '../import/openapi/operations.ts'
import { readSchemaFacts } from '../import/openapi/schema-facts.ts'
import { claimDemandedFault } from './demanded.ts'
import { makeContentExample, makeSchemaExample } from './openapi-example.ts'
import { MockedItems } from './openapi-state.ts'
import { readParameter, schemaOfParameter } from './read-parameter.ts'

/** The options of a mock of an OpenAPI document. */
export interface OpenApiMockOptions {
  readonly seed?: number | undefined
  /** Values by place, as text: `{ 'Pet.name': 'Rex' }`. */
  readonly examples?: Readonly<Record<string, string>> | undefined
}

const contentMax = 16 * 1024 * 1024

/** Returns the function from a request to its response. */
export function createOpenApiMock(
  document: OpenApiDocument,
  options: OpenApiMockOptions = {},
): (request: Request) => Promise<Response> {
  const site = new OpenApiSite(document, options)
  return async request => {
    try {
      return await site.answer(request)
    } catch (thrown) {
      if (thrown instanceof EarlyResponse) return thrown.response
      throw thrown
    }
  }
}

/** Thrown to end a request early with this response. */
class EarlyResponse {
  readonly response: Response
  constructor(response: Response) {
    this.response = response
  }
}
const endRequest = (status: number, detail: string, fields: Response['fields'] = {}): never => {
  throw new EarlyResponse(respond(status, { detail, fields }))
}

interface MockedRoute {
  readonly template: string
  readonly expression: RegExp
  readonly names: readonly string[]
  readonly operations: ReadonlyMap<string, RestOperation>
}

const isReading = ({ method }: Request): boolean => method === 'GET' || method === 'HEAD'

/** One request on its way through the mock. */
interface MockedRequest {
  readonly request: Request
  /** Without the base of the document. */
  readonly path: string
  readonly base: string
  readonly pairs: Pairs
  readonly route: MockedRoute
  readonly values: ReadonlyMap<string, string>
  readonly operation: RestOperation
}

class OpenApiSite {
  readonly #document: OpenApiDocument
  readonly #options: OpenApiMockOptions
  readonly #routes: readonly MockedRoute[]
  readonly #bases: readonly string[]
  readonly #items = new MockedItems()
  readonly #sent = new Map<Json, Json>()

  constructor(document: OpenApiDocument, options: OpenApiMockOptions) {
    this.#document = document
    this.#options = options
    const operations = listRestOperations(document)
    this.#routes = compileMockedRoutes(operations)
    const bases = operations.map(({ address, template }) => address.slice(0, address.length - template.length))
    this.#bases = [...new Set([...bases, ''])]
  }

  async answer(request: Request): Promise<Response> {
    const mocked = this.#findOperation(request)
    this.#requireCredentials(mocked)
    const content = await this.#readContent(mocked)
    this.#judgeParameters(mocked)
    const fault = claimDemandedFault(this.#faultsOf(mocked.operation).map(({ name }) => name))
    if (fault !== undefined) return this.#answerWithFault(mocked, fault)
    this.#judgePreconditions(mocked)
    const answer = this.#answerWell(mocked, content)
    const { etag, location } = answer.fields
    if (etag === undefined || isReading(mocked.request)) return answer
    // A change may return fewer members than a GET: the tag is that of the GET.
    const path = location === undefined ? mocked.path : String(location).slice(mocked.base.length)
    return { ...answer, fields: { ...answer.fields, etag: this.#readTag(mocked, path) ?? etag } }
  }

  // Preconditions

  /** RFC 9110 §13.2.2, where the GET of the same address declares an ETag. */
  #judgePreconditions(mocked: MockedRequest): void {
    const { request, route, operation, path } = mocked
    const preconditions = parsePreconditions(request.fields)
    if (preconditions.ifMatch === undefined && preconditions.ifNoneMatch === undefined) return
    const reads = route.operations.get('GET')
    if (!reads || !this.#hasTag(findSuccess(reads)?.[1])) return
    // An example stands for an item that no request has created: it can still be created.
    const isFree =
      preconditions.ifNoneMatch === '*' && !isReading(request) && this.#items.at(path.replace(/\/$/, '')) === undefined
    const etag = isFree ? undefined : this.#readTag(mocked, path)
    const result = evaluatePreconditions(preconditions, request.method, etag === undefined ? undefined : { etag })
    if (result === 'not-modified') throw new EarlyResponse({ status: 304, fields: etag === undefined ? {} : { etag } })
    if (result === 'failed')
      throw new EarlyResponse(
        this.#refuse(
          operation,
          [412],
          etag === undefined ? 'the resource does not exist' : `the current ETag is ${etag}`,
        ),
      )
  }
  /** The tag that a GET of this address would now have. */
  #readTag({ request, ...mocked }: MockedRequest, path: string): string | undefined {
    const { route, values } = this.#findRoute(path) ?? {}
    const operation = route?.operations.get('GET')
    if (!route || !values || !operation || this.#items.at(path.replace(/\/$/, '')) === 'gone') return undefined
    const reading: Request = { ...request, method: 'GET', fields: {} }
    const { etag } = this.#answerWell({ ...mocked, request: reading, path, route, values, operation }, undefined).fields
    return etag === undefined ? undefined : String(etag)
  }
  #hasTag(response: Json | undefined): boolean {
    return Object.keys(objectOf(this.#document.resolve(response).value['headers'])).some(name => /^etag$/i.test(name))
  }

  // Routing

  #findOperation(request: Request): MockedRequest {
    const [path = '', query = ''] = request.target.replace(/^[a-z]+:\/\/[^/]*/i, '').split(/\?(.*)/s)
    for (const base of this.#bases) {
      if (!path.startsWith(base)) continue
      const found = this.#findRoute(path.slice(base.length) || '/')
      if (!found) continue
      const { route, values } = found
      const { method } = request
      const operation = route.operations.get(method) ?? (method === 'HEAD' ? route.operations.get('GET') : undefined)
      const allow = [...route.operations.keys(), ...(route.operations.has('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
      if (!operation && method === 'OPTIONS') throw new EarlyResponse({ status: 204, fields: { allow } })
      if (!operation) return endRequest(405, `${route.template} has no ${method}`, { allow })
      const pairs = parseQuery(query) ?? endRequest(400, 'the query is not validly percent-encoded')
      return { request, path: path.slice(base.length) || '/', base, pairs, route, values, operation }
    }
    return endRequest(404, `the description has no address ${path}`)
  }
  #findRoute(path: string) {
    for (const route of this.#routes) {
      const [, ...texts] = route.expression.exec(path) ?? []
      if (texts.length === 0 && !route.expression.test(path)) continue
      const values = new Map(route.names.map((name, at) => [name, decodePercent(texts[at] ?? '') ?? '']))
      return { route, values }
    }
    return undefined
  }

  // What the request has to have

  /** Any credentials are accepted, since the mock knows no people. */
  #requireCredentials({ operation, request, pairs }: MockedRequest): void {
    const { security = [] } = operation
    if (security.length === 0 || security.some(each => Object.keys(each).length === 0)) return
    const schemes = objectOf(objectOf(this.#document.root['components'])['securitySchemes'])
    const isThere = (name: string): boolean => {
      const { type, in: place, name: key } = objectOf(this.#document.resolve(schemes[name]).value)
      if (type !== 'apiKey') return request.fields['authorization'] !== undefined || request.certificate !== undefined
      const word = stringOf(key)
      if (place === 'query') return pairs.some(([one]) => one === word)
      if (place === 'cookie') return parseCookies(request.fields['cookie'] ?? '').has(word)
      return request.fields[word.toLowerCase()] !== undefined
    }
    if (security.some(each => Object.keys(each).every(isThere))) return
    const names = security.map(each => Object.keys(each).join(' and ')).join(', or ')
    throw new EarlyResponse(
      this.#refuse(operation, [401], `credentials are missing: ${names}`, {
        'www-authenticate': 'Bearer realm="mock"',
      }),
    )
  }

  async #readContent({ operation, request }: MockedRequest): Promise<Json | undefined> {
    const described = this.#document.resolve(operation.request).value
    const contents = objectOf(described['content'])
    const octets = await request.content.bytes(contentMax)
    if (!octets) return endRequest(413, `a mock reads ${contentMax} octets at most`)
    if (octets.length === 0) {
      if (described['required'] === true)
        throw new EarlyResponse(this.#refuse(operation, [400, 422], 'content is required'))
      return undefined
    }
    if (Object.keys(contents).length === 0) return undefined
    const type = parseMediaType(request.fields['content-type'] ?? '')
    const essence = type?.essence ?? ''
    const found = Object.entries(contents).find(([name]) => negotiateType(name.split(';')[0], [essence]) !== undefined)
    if (!found)
      return endRequest(415, `send one of ${Object.keys(contents).join(', ')}`, {
        accept: Object.keys(contents).join(', '),
      })
    if (!isJsonType(essence)) return undefined
    const { value, failure } = parseJson(octets)
    if (failure) throw new EarlyResponse(this.#refuse(operation, [400], `not JSON: ${failure.reason} at ${failure.at}`))
    const wrong = findMismatch(
      this.#toSent(this.#document.root),
      this.#toSent(objectOf(found[1])['schema'] ?? true),
      value,
    )
    if (wrong !== undefined) throw new EarlyResponse(this.#refuse(operation, [422, 400], wrong))
    return value
  }

  /** OpenAPI §4.8.24: a `readOnly` member is required only in responses. */
  #toSent(json: Json): Json {
    if (typeof json !== 'object' || json === null) return json
    const known = this.#sent.get(json)
    if (known !== undefined) return known
    const sent = Array.isArray(json) ? json.map((each: Json) => this.#toSent(each)) : this.#toSentObject(objectOf(json))
    this.#sent.set(json, sent)
    return sent
  }
  #toSentObject(schema: JsonObject): Json {
    const members = Object.entries(schema).map(([name, each]) => [name, this.#toSent(each ?? null)] as const)
    const isSent = (name: Json): boolean =>
      readSchemaFacts(this.#document, objectOf(schema['properties'])[String(name)]).schema['readOnly'] !== true
    const { required } = schema
    return { ...Object.fromEntries(members), ...(Array.isArray(required) && { required: required.filter(isSent) }) }
  }

  /** (1) */
  #judgeParameters({ operation, request, pairs, values }: MockedRequest): void {
    const cookies = parseCookies(request.fields['cookie'] ?? '')
    for (const parameter of operation.allParameters) {
      const [name, place] = [stringOf(parameter['name']), stringOf(parameter['in'])]
      const text =
        place === 'path'
          ? values.get(name)
          : place === 'cookie'
            ? cookies.get(name)
            : request.fields[name.toLowerCase()]
      const value = readParameter(this.#document, parameter, place === 'query' ? { pairs } : { text })
      if (value === undefined && parameter['required'] === true)
        throw new EarlyResponse(this.#refuse(operation, [400, 422], `${name} is required in the ${place}`))
      const schema = schemaOfParameter(this.#document, parameter)
      if (value === undefined || schema === undefined) continue
      const wrong = findMismatch(this.#document.root, schema, value)
      if (wrong !== undefined) {
        const statuses: readonly [number, ...number[]] = place === 'path' ? [404, 400, 422] : [400, 422]
        throw new EarlyResponse(this.#refuse(operation, statuses, `${name} ${wrong.replace(/^the content /, '')}`))
      }
    }
  }

  /** Refuses with the first of these statuses that the operation declares, and its content. */
  #refuse(
    operation: RestOperation,
    statuses: readonly [number, ...number[]],
    detail: string,
    fields: Response['fields'] = {},
  ): Response {
    const declares = (status: number | 'default') =>
      operation.responses.find(([known]) => known === String(status))?.[1]
    const status = statuses.find(each => declares(each) !== undefined) ?? statuses[0]
    const described = this.#document.resolve(declares(status) ?? declares('default')).value
    const [type, media] = Object.entries(objectOf(described['content'])).find(([name]) => isJsonType(name)) ?? []
    if (type === undefined) return respond(status, { detail, fields })
    const example = makeContentExample(this.#document, media, this.#placeOf(operation, String(status)))
    const content = isJsonObject(example) ? writeJson(explainIn(example, status, detail)) : writeJson(example)
    return { status, fields: { 'content-type': type, ...fields }, content }
  }

  // Faults

  #faultsOf({ responses }: RestOperation) {
    return responses.flatMap(([status, response]) => {
      if (!/^[45]/.test(status) && status !== 'default') return []
      const number = /^\d+$/.test(status) ? Number(status) : status === 'default' ? 500 : Number(`${status[0]}00`)
      const phrase = (reasonPhrases[number] ?? 'Failure').replaceAll(/[^A-Za-z]/g, '')
      const { name } = this.#document.resolve(response)
      return [...new Set([phrase, ...(name === '' ? [] : [name])])].map(each => ({ name: each, number, response }))
    })
  }
  #answerWithFault({ operation, request }: MockedRequest, fault: string): Response {
    const { number, response } = this.#faultsOf(operation).find(({ name }) => name === fault)!
    return this.#write(request, number, response, this.#placeOf(operation, fault))
  }

  // Answers

  #placeOf(operation: RestOperation, name = ''): ExamplePlace {
    const { seed = 1, examples = {} } = this.#options
    return { seed, name: name || operation.id, item: 1, idOf: () => undefined, given: examples }
  }

  #answerWell(mocked: MockedRequest, content: Json | undefined): Response {
    const { operation, request } = mocked
    const [status = 'default', response = {}] = findSuccess(operation) ?? []
    const number = /^\d+$/.test(status) ? Number(status) : 200
    return this.#write(request, number, response, this.#placeOf(operation), example =>
      this.#applyState(mocked, content, example),
    )
  }

  /** (2) */
  #write(
    request: Request,
    status: number,
    given: Json,
    place: ExamplePlace,
    change: (example: Json) => { readonly content: Json; readonly fields?: Response['fields'] } = content => ({
      content,
    }),
  ): Response {
    const response = this.#document.resolve(given).value
    const contents = objectOf(response['content'])
    const fields = Object.fromEntries(
      objectEntries(response['headers']).flatMap(([name, header]) => this.#headerField(name, header, place)),
    )
    const types = Object.keys(contents)
    if (types.length === 0) return { status, fields: { ...fields, ...change({}).fields } }
    const concrete = types.map(each => each.replace(/^\*\/\*$/, 'application/json').replace(/\/\*$/, '/plain'))
    const type = negotiateType(request.fields['accept'], concrete)
    if (type === undefined) return respond(406, { detail: `available media types: ${types.join(', ')}` })
    const media = contents[types[concrete.indexOf(type)] ?? '']
    const named = schemaName(this.#document, objectOf(media)['schema'])
    const example = makeContentExample(this.#document, media, named === '' ? place : { ...place, name: named })
    const changed = change(example)
    const head = { 'content-type': type, ...fields, ...changed.fields }
    if (isJsonType(type)) {
      const written = writeJson(changed.content)
      const tag = this.#hasTag(response) && tagOfContent(written)
      return { status, fields: { ...head, ...(tag && { etag: tag }) }, content: written }
    }
    const text = typeof example === 'string' ? example : /^text\//.test(type) ? writeJson(changed.content) : 'example'
    return { status, fields: head, content: text }
  }
  #headerField(name: string, header: Json, place: ExamplePlace): readonly (readonly [string, string])[] {
    const { schema, example, required } = this.#document.resolve(header).value
    if (/^content-type$/i.test(name) || (required !== true && example === undefined)) return []
    const value = example ?? makeSchemaExample(this.#document, schema, { ...place, name })
    return [[name.toLowerCase(), typeof value === 'string' ? value : writeJson(value)]]
  }

  // State

  /** (3) */
  #applyState(mocked: MockedRequest, content: Json | undefined, example: Json) {
    const { operation, path, base, route } = mocked
    const address = path.replace(/\/$/, '')
    const itemsBelow = this.#routes.find(each => isItemOf(each.template, route.template))
    const body = objectOf(content)
    if (route.names.length > 0 && /\}$/.test(route.template)) return this.#applyToItem(mocked, address, body, example)
    if (!itemsBelow) return { content: this.#echo(operation, example, body) }
    const parameter = itemsBelow.names.at(-1) ?? 'id'
    if (operation.method === 'GET') return { content: this.#listItems(address, parameter, example) }
    if (operation.method !== 'POST' || !isJsonObject(example)) return { content: this.#echo(operation, example, body) }
    const created = this.#echo(operation, example, body) as JsonObject
    const key = identifierMember(created, parameter)
    const id = key === undefined ? String(this.#items.nextNumber()) : this.#newIdentifier(created[key])
    const item = key === undefined ? created : { ...created, [key]: id }
    const at = `${address}/${encodeURIComponent(String(id))}`
    this.#items.set(at, item)
    return { content: item, fields: { location: base + at } }
  }

  #applyToItem({ operation, route, values }: MockedRequest, address: string, body: JsonObject, example: Json) {
    const parameter = route.names.at(-1) ?? 'id'
    const known = this.#items.at(address)
    if (known === 'gone' && operation.method !== 'PUT')
      throw new EarlyResponse(this.#refuse(operation, [404, 410], 'the item was removed'))
    if (operation.method === 'DELETE') this.#items.set(address, undefined)
    if (!isJsonObject(example)) return { content: example }
    const key = identifierMember(example, parameter)
    const named =
      key === undefined ? example : { ...example, [key]: parseLike(example[key], values.get(parameter) ?? '') }
    const before = known === 'gone' || known === undefined ? named : { ...named, ...known }
    const now = ['PUT', 'PATCH', 'POST'].includes(operation.method)
      ? {
          ...(this.#echo(operation, before, body) as JsonObject),
          ...(key === undefined ? {} : { [key]: named[key] ?? null }),
        }
      : before
    if (['PUT', 'PATCH'].includes(operation.method)) this.#items.set(address, now)
    return { content: now }
  }

  #listItems(collection: string, parameter: string, example: Json): Json {
    const addressOf = (item: JsonObject): string | undefined => {
      const key = identifierMember(item, parameter)
      return key === undefined ? undefined : `${collection}/${encodeURIComponent(String(item[key]))}`
    }
    if (Array.isArray(example)) return this.#items.listWith(collection, numberItems(example, parameter), addressOf)
    const [member, items] = Object.entries(objectOf(example)).find(([, each]) => isJsonObject(jsonItems(each)[0])) ?? []
    if (member === undefined) return example
    const now = this.#items.listWith(collection, numberItems(jsonItems(items), parameter), addressOf)
    return { ...objectOf(example), [member]: now }
  }

  /** The members that were sent, as far as the response may have them. */
  #echo(operation: RestOperation, example: Json, body: JsonObject): Json {
    if (!isJsonObject(example)) return example
    const [, response] = findSuccess(operation) ?? []
    const media = Object.entries(objectOf(this.#document.resolve(response).value['content'])).find(([type]) =>
      isJsonType(type),
    )
    const { schema } = readSchemaFacts(this.#document, objectOf(media?.[1])['schema'])
    const kept = Object.entries(body).filter(([name, value]) => {
      const property = objectOf(schema['properties'])[name]
      return property !== undefined && findMismatch(this.#document.root, property, value) === undefined
    })
    return { ...example, ...Object.fromEntries(kept) }
  }

  #newIdentifier(like: Json | undefined): Json {
    const number = this.#items.nextNumber()
    if (typeof like !== 'string') return number
    if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(like))
      return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
    return `${like.replace(/[ -]?\d+$/, '').toLowerCase()}-${number}`
  }
}

/** RFC 9110 §8.8.3: different content has a different tag. */
const tagOfContent = (content: string): string => `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`

/**
 * Names take precedence over parameters: of two matching templates, the one with fewer parameters
 * counts.
 */
function compileMockedRoutes(operations: readonly RestOperation[]): readonly MockedRoute[] {
  const grouped = Map.groupBy(operations, ({ template }) => template)
  const routes = [...grouped].map(([template, all]) => ({
    template,
    expression: new RegExp(
      `^${template.replaceAll(/[.*+?^$()[\]\\|]/g, '\\$&').replaceAll(/\{[^{}]+\}/g, '([^/]+)')}/?$`,
    ),
    names: Array.from(template.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name),
    operations: new Map(all.map(each => [each.method, each])),
  }))
  return routes.sort((one, other) => one.names.length - other.names.length)
}

/** `/pets/{petId}` is an item of `/pets`. */
const isItemOf = (template: string, collection: string): boolean =>
  template.startsWith(`${collection.replace(/\/$/, '')}/`) &&
  /^\{[^{}]+\}$/.test(template.slice(collection.replace(/\/$/, '').length + 1))

/** The member that identifies an item: the parameter's name, or `id`. */
function identifierMember(item: JsonObject, parameter: string): string | undefined {
  const names = [parameter, 'id', ...Object.keys(item).filter(name => name.toLowerCase() === parameter.toLowerCase())]
  return names.find(name => ['string', 'number'].includes(typeof item[name]))
}
/** The text from an address in the type of the member. */
const parseLike = (like: Json | undefined, text: string): Json =>
  typeof like === 'number' && /^-?\d+$/.test(text) ? Number(text) : text

/** Items from one example would have the same identifier, so they are numbered. */
function numberItems(items: readonly Json[], parameter: string): readonly Json[] {
  const seen = new Set<Json>()
  return items.map((item, at) => {
    const key = isJsonObject(item) ? identifierMember(item, parameter) : undefined
    if (!isJsonObject(item) || key === undefined) return item
    const id = item[key] ?? null
    const own = !seen.has(id) ? id : typeof id === 'number' ? id + at : `${String(id)}-${at + 1}`
    seen.add(own)
    return { ...item, [key]: own }
  })
}

function schemaName(document: OpenApiDocument, schema: Json | undefined): string {
  const { name, type, schema: own } = readSchemaFacts(document, schema)
  return name || (type === 'array' ? readSchemaFacts(document, own['items']).name : '')
}

/** Puts the explanation where errors of this kind have it. */
function explainIn(example: JsonObject, status: number, detail: string): JsonObject {
  const word = ['detail', 'message', 'error_description', 'description', 'error'].find(
    name => typeof example[name] === 'string',
  )
  const isNumbered = typeof example['status'] === 'number'
  return { ...example, ...(isNumbered && { status }), ...(word !== undefined && { [word]: detail }) }
}
