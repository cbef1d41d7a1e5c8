/**
 * OpenAPI of a service, with all its versions in one document (rule A9.1). Addresses and media
 * types are arguments, taken from the tables with which the REST face serves them.
 */

import { type Json, omitUndefined } from '../base/objects.ts'
import type { Fault } from '../contract/fault.ts'
import { type AnyField, type Fields, mayBeLeftOut, type Scalar } from '../contract/field.ts'
import { allowsComparison, type Comparison, findFilterField } from '../contract/filter-field.ts'
import { headersOfOperation, isOfRequest, isOfResponse } from '../contract/header.ts'
import { capitalize } from '../contract/lexical/text.ts'
import { listAncestors } from '../contract/nesting.ts'
import {
  demandsPrecondition,
  faultsWithWords,
  isCreatedByPut,
  isPaged,
  listTakesWords,
  type Operation,
  type OperationOf,
  singularOf,
} from '../contract/operation.ts'
import { describeField, summaryOf, textsOfOperation } from '../contract/operation-texts.ts'
import { isPublic } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { namespaceOf, newestVersion, type Service } from '../contract/service.ts'
import { isScalar } from '../contract/shape.ts'
import { joinSentences } from '../contract/texts.ts'
import { viewOfVersion } from '../contract/version-view.ts'
import { componentName, doubleNumberSchema, type JsonSchema, scalarSchema } from './json-schema.ts'
import { writeJsonText } from './json-text.ts'
import { feedSchemas } from './openapi-changes.ts'
import {
  errorResponses,
  formContent,
  headerComponents,
  jsonPatchSchema,
  linkSchema,
  type Members,
  octetsContent,
  type PreferenceName,
  parameterComponents,
  parentParameter,
  preferenceNames,
  preferParameter,
  problemResponse,
  problemSchema,
  refHeaders,
  refTo,
  removalSchema,
  statusOfError,
  textSchema,
} from './openapi-components.ts'
import { type OpenApiRelease, type OpenApiVersion, openApiReleases } from './openapi-releases.ts'
import { comparedFields, VersionSchemas } from './openapi-schemas.ts'
import { PortJsonSchemas } from './port-json-schema.ts'

/** One address and its operations. */
export interface Address {
  /** The path below the version, with `{id}` for an identifier. */
  readonly template: string
  readonly methods: ReadonlyMap<string, Operation>
  /** For a list of the items that refer to one item. */
  readonly within?: { readonly of: Resource; readonly by: string }
}
/** Facts that an OpenAPI description needs besides the contract. */
export interface OpenApiOptions {
  /** The base of `/api`: `https://api.example.org`; by default the document's own. */
  readonly address?: string
  readonly addresses: (view: Service) => readonly Address[]
  /** The media types of an operation's responses, most preferred first. */
  readonly answers: (operation: Operation, version: string) => readonly string[]
  /** Faults of a backend, by which any operation may end. Default: none. */
  readonly faultsBehind?: readonly Fault[]
  /** The OpenAPI version; default 3.1, which more tools read. */
  readonly release?: OpenApiVersion
}

/** The document of `describeOpenApi` as JSON. */
export function writeOpenApi(service: Service, options: OpenApiOptions): string {
  return writeJsonText(describeOpenApi(service, options))
}

/** The REST face of a contract as an OpenAPI document. */
export function describeOpenApi(service: Service, options: OpenApiOptions): { readonly [name: string]: Json } {
  const release = openApiReleases[options.release ?? '3.1']
  const served = Object.entries(service.versions).filter(([, rule]) => !rule.retired)
  const parts = served.map(([version]) => new VersionDocument(viewOfVersion(service, version), version, options))
  return {
    openapi: release.version,
    info: {
      ...omitUndefined({ ...infoOf(service), contact: service.contact, license: service.license }),
      version: newestVersion(service),
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: options.address ?? '/' }],
    tags: release.tags(service),
    paths: Object.assign({}, ...parts.map(part => part.paths()), release.paths),
    components: {
      schemas: Object.assign(
        { Problem: problemSchema, Link: linkSchema, ...feedSchemas },
        ...parts.map(part => ({ ...part.schemas.all, ...part.elements.all })),
      ),
      responses: errorResponses,
      parameters: Object.assign({}, parameterComponents, ...parts.map(part => part.parameters)),
      headers: headerComponents,
      securitySchemes: credentialSchemes,
    },
  }
}

const credentialSchemes: Members = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic', description: 'Over TLS, and on loopback.' },
  key: { type: 'apiKey', in: 'header', name: 'Api-Key', description: 'A key that the service has issued.' },
}
/** One of them is enough. */
const requiredCredentials = Object.keys(credentialSchemes).map(name => ({ [name]: [] }))

interface MediaContent {
  readonly description?: string
  readonly required: boolean
  /** Media type → its schema. */
  readonly content: Members
  readonly [member: string]: Json
}

/** The part of the document that describes one version. */
class VersionDocument {
  readonly schemas: VersionSchemas
  /** The types of ports. */
  readonly elements: PortJsonSchemas
  readonly parameters: Record<string, JsonSchema> = {}
  readonly #service: Service
  readonly #version: string
  readonly #options: OpenApiOptions
  readonly #addresses: readonly Address[]
  readonly #release: OpenApiRelease

  constructor(service: Service, version: string, options: OpenApiOptions) {
    this.#service = service
    this.#version = version
    this.#options = options
    this.#addresses = options.addresses(service)
    this.#release = openApiReleases[options.release ?? '3.1']
    this.schemas = new VersionSchemas(`${version}.`, namespaceOf(service, version), service.resources)
    this.elements = new PortJsonSchemas(`${version}.xml.`)
  }

  paths(): Members {
    return Object.fromEntries(
      this.#addresses.map(address => [
        `/api/${this.#version}${address.template}`,
        {
          ...this.#pathParameters(address),
          ...Object.fromEntries(
            [...address.methods]
              .filter(([method]) => method in this.#release.methods)
              .map(([method, operation]) => [
                method.toLowerCase(),
                this.#describeOperation(address, method, operation),
              ]),
          ),
        },
      ]),
    )
  }

  /** The identifiers of parents, then that of the item. */
  #pathParameters({ template }: Address): Members {
    const names = [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
    const parameters = names.map(name => (name === 'id' ? refTo('parameters', 'id') : parentParameter(name)))
    return parameters.length === 0 ? {} : { parameters }
  }

  #describeOperation(address: Address, method: string, operation: Operation): Members {
    const open = isPublic(operation.grants)
    const rule = this.#service.versions[this.#version]
    const body = this.#requestContent(operation, method)
    return {
      operationId: this.#operationId(address, operation, method),
      ...omitUndefined(summaryMembers(operation)),
      tags: [tagOf(operation)],
      ...((rule?.deprecated ?? rule?.sunset) !== undefined && { deprecated: true }),
      security: open ? [{}, ...requiredCredentials] : requiredCredentials,
      parameters: this.#parametersOf(address, method, operation),
      ...(body && { requestBody: body }),
      responses: {
        ...this.#successResponses(operation, method),
        ...this.#failureResponses(address, method, operation, open),
      },
    }
  }

  /**
   * Unique in the document: the version, the name of the operation, its address, and the method
   * where an exchange is called by one other than POST.
   */
  #operationId({ template, within }: Address, operation: Operation, method = 'POST'): string {
    const first = this.#addresses.find(({ methods }) => [...methods.values()].includes(operation))
    const place = within ? `Of${capitalize(singularOf(within.of))}` : first?.template === template ? '' : 'Here'
    const way = operation.kind === 'exchange' && method !== 'POST' ? `By${capitalize(method.toLowerCase())}` : ''
    return `${this.#version}_${operation.name}${place}${way}`
  }

  #parametersOf(address: Address, method: string, operation: Operation): readonly JsonSchema[] {
    const once = method === 'POST' && keepsAnswer(operation) ? ['idempotencyKey'] : []
    return [
      ...this.#queryParameters(address, operation),
      ...this.#headerParameters(operation),
      ...[...conditionsOf(operation), ...once].map(name => refTo('parameters', name)),
      ...this.#preferParameter(preferencesOf(operation, method)),
    ]
  }

  #preferParameter(names: readonly PreferenceName[]): readonly JsonSchema[] {
    if (names.length === 0) return []
    const known = ['prefer', ...names].join('.')
    this.parameters[known] = preferParameter(names)
    return [refTo('parameters', known)]
  }

  /** Headers of the contract that have an HTTP field, and the blocks of a port as JSON. */
  #headerParameters(operation: Operation): readonly JsonSchema[] {
    const { name } = operation
    if (operation.kind === 'exchange')
      return Object.entries(operation.exchange.requestHeaders).map(([block, root]) => ({
        name: `Soap-${block}`,
        in: 'header',
        content: { 'application/json': { schema: this.elements.element(root) } },
      }))
    return headersOfOperation(this.#service, this.#version, name)
      .filter(isOfRequest)
      .flatMap(({ field, content, isRequired }) =>
        field === undefined || content === 'xml' || !isScalar(content.shape)
          ? []
          : [
              {
                name: field,
                in: 'header',
                ...describedParameter(content),
                ...(isRequired && { required: true }),
                schema: scalarSchema(content.shape),
              },
            ],
      )
  }

  #answerHeaders({ name }: Operation): Members {
    const headers = headersOfOperation(this.#service, this.#version, name).filter(isOfResponse)
    return Object.fromEntries(
      headers.flatMap(({ field, content }) =>
        field === undefined || content === 'xml' || !isScalar(content.shape)
          ? []
          : [[field, { ...describedParameter(content), schema: scalarSchema(content.shape) }]],
      ),
    )
  }

  #queryParameters(address: Address, operation: Operation): readonly JsonSchema[] {
    if (operation.kind === 'bulk') return this.#filterParameters(operation.resource, operation.resource.given.filter)
    if (operation.kind === 'get') return [refTo('parameters', 'fields')]
    if (operation.kind !== 'list' && operation.kind !== 'search' && operation.kind !== 'getSearch') return []
    const paging = pageControls.map(name => refTo('parameters', name))
    if (operation.kind === 'list') {
      const words = this.#takesWords(operation) ? [refTo('parameters', 'q')] : []
      return [...paging, ...words, ...this.#filterParameters(operation.resource, operation.resource.given.filter)]
    }
    if (operation.kind === 'getSearch' || address.template !== '/search') return paging
    return [...paging, refTo('parameters', 'q'), ...this.#equalityParameters(operation.resource)]
  }

  #takesWords(operation: Operation): boolean {
    return operation.kind === 'list' && listTakesWords(this.#service, operation.resource)
  }

  /**
   * A parameter for equality with a field, and one for each comparison: `total[gte]=10` (rule
   * A4.23).
   */
  #filterParameters(resource: Resource, names: readonly string[] = []): readonly JsonSchema[] {
    return comparedFields(resource, names).flatMap(([name, found]) => {
      const schema = parameterSchema(found.shape)
      const comparisons = comparisonsOf[found.shape.kind].filter(each => allowsComparison(found, each))
      return [
        this.#refToParameter(resource, name, '', schema),
        ...comparisons.map(each => this.#refToParameter(resource, name, each, schema)),
        this.#refToParameter(resource, name, 'in', { type: 'array', items: schema }, { explode: false }),
        ...(allowsComparison(found, 'absent')
          ? [this.#refToParameter(resource, name, 'absent', { type: 'boolean' })]
          : []),
      ]
    })
  }
  #equalityParameters(resource: Resource): readonly JsonSchema[] {
    const by = comparedFields(resource, resource.given.searchBy ?? [])
    return by.map(([name, { shape }]) => this.#refToParameter(resource, name, '', parameterSchema(shape)))
  }
  #refToParameter(
    resource: Resource,
    name: string,
    comparison: string,
    schema: JsonSchema,
    more: JsonSchema = {},
  ): JsonSchema {
    const known = `${this.#version}.${componentName(resource.name)}.${componentName(name)}${comparison && `.${comparison}`}`
    // `size` is the page size, `size[eq]` a field.
    const operator = comparison || (name === 'q' || pageControls.includes(name) ? 'eq' : '')
    const field = findFilterField(resource, name)?.field
    const about = field && describedParameter(field)
    this.parameters[known] = { name: operator ? `${name}[${operator}]` : name, in: 'query', ...about, schema, ...more }
    return refTo('parameters', known)
  }

  /** Content of requests, by media type. */
  #requestContent(operation: Operation, method: string): MediaContent | undefined {
    switch (operation.kind) {
      case 'create':
      case 'replace':
        return this.#documentContent(this.schemas.draft(operation))
      case 'patch':
        return this.#sentContent(
          { 'application/merge-patch+json': { schema: this.schemas.patch(operation.resource) } },
          { 'application/json-patch+json': { schema: jsonPatchSchema } },
        )
      case 'act':
        return this.#inputContent(operation, operation.action.input, operation.action.rel)
      case 'createSearch':
        return this.#documentContent(this.schemas.criteria(operation.resource))
      case 'search': // RFC 10008: the content of QUERY is the criteria
        return method === 'QUERY' ? this.#documentContent(this.schemas.criteria(operation.resource)) : undefined
      case 'startJob':
        return this.#inputContent(operation, operation.job.input, operation.job.one)
      case 'exchange': {
        const { input, passingMax } = operation.exchange
        if (input === 'empty' || method === 'GET') return undefined
        const { content, ...others } = this.#documentContent(this.elements.element(input), true, textSchema)
        return { ...others, content: { ...content, ...(passingMax !== undefined && formContent) } }
      }
      case 'putFile':
        return { content: octetsContent(operation.file.mediaTypes), required: true }
      default:
        return undefined
    }
  }
  /** The same content in JSON and in XML. */
  #documentContent(schema: JsonSchema, required = true, xml: JsonSchema = schema): MediaContent {
    return this.#sentContent({ 'application/json': { schema } }, { 'application/xml': { schema: xml } }, required)
  }
  #sentContent(preferred: Members, others: Members, required = true): MediaContent {
    return this.#release.describesOtherRequests
      ? { required, content: { ...preferred, ...others } }
      : { description: `Also as ${Object.keys(others).join(', ')}.`, required, content: preferred }
  }
  #inputContent({ name }: Operation, fields: Fields, element: string): MediaContent | undefined {
    if (Object.keys(fields).length === 0) return undefined
    const isRequired = Object.values(fields).some(field => !mayBeLeftOut(field))
    return this.#documentContent(this.schemas.input(fields, name, element), isRequired)
  }

  #successResponses(operation: Operation, method: string): Members {
    const preferences = preferencesOf(operation, method)
    const applied = preferences.length > 0 ? ['Preference-Applied'] : []
    const allHeaders = (names: readonly string[]): Members => ({
      ...refHeaders([...names, ...applied]),
      ...this.#answerHeaders(operation),
    })
    const response: WriteResponse = (status, description, schema, names) => ({
      [status]: {
        description: joinSentences(description, this.#otherTypes(operation)),
        headers: allHeaders(names),
        content: this.#contentByType(operation, schema),
        ...this.#links(operation),
      },
      // RFC 7240 §4.2: then 201 and 202 have no content
      ...(status === 200 &&
        preferences.includes('return') && {
          204: { description: 'Done; by `return=minimal`.', headers: allHeaders(minimalHeaders(operation, names)) },
        }),
    })
    const itemHeaders = ['ETag', 'Last-Modified', 'Cache-Control', 'Vary']
    switch (operation.kind) {
      case 'get':
      case 'replace':
      case 'patch':
        return {
          ...response(200, 'The item.', this.schemas.item(operation.resource), itemHeaders),
          ...(operation.kind === 'replace' &&
            isCreatedByPut(operation.resource) &&
            response(201, 'Created.', this.schemas.item(operation.resource), [...itemHeaders, 'Location'])),
        }
      case 'create':
        return response(201, 'Created.', this.schemas.item(operation.resource), [...itemHeaders, 'Location'])
      case 'list':
      case 'search':
        return response(200, 'A page of items.', this.schemas.page(operation.resource), [
          ...itemHeaders,
          ...(method === 'QUERY' ? ['Location'] : []),
        ])
      case 'createSearch':
        return response(201, 'The search; its results are at Location.', this.schemas.search(operation.resource), [
          'Location',
        ])
      case 'getSearch':
        return response(200, 'A page of results.', this.schemas.resultsPage(operation.resource), itemHeaders)
      case 'remove':
        return { 204: { description: 'Removed.' } }
      case 'bulk':
        return response(200, 'How many were removed, and how many were not.', removalSchema, [])
      case 'act':
      case 'look':
      case 'kept':
        return this.#actionResponse(operation, response)
      case 'getFile':
        return this.#fileResponses(operation, allHeaders)
      case 'putFile':
        return {
          201: { description: 'Created.', headers: allHeaders(['ETag', 'Last-Modified', 'Location']) },
          204: { description: 'Replaced.', headers: allHeaders(['ETag', 'Last-Modified']) },
        }
      case 'startJob':
        return response(202, 'The job has been accepted.', this.schemas.job(), ['Location', 'Retry-After'])
      case 'getJob':
      case 'cancelJob':
        return response(200, 'The job.', this.schemas.job(), [...(operation.safe ? itemHeaders : []), 'Retry-After'])
      case 'getResult':
        return response(200, 'The result.', this.schemas.linked(operation.job.one, operation.job.output), itemHeaders)
      case 'exchange':
        if (operation.exchange.later)
          return response(202, 'The call has been made; the answer comes later.', this.schemas.job(), [
            'Location',
            'Retry-After',
          ])
        return this.#portResponse(operation, response, operation.safe ? ['ETag'] : [])
      case 'getAnswer':
        return this.#portResponse(operation, response, ['ETag', 'Last-Modified'])
    }
  }

  /** RFC 9110 §14, §15.3.7: several ranges are sent as `multipart/byteranges`. */
  #fileResponses({ file }: OperationOf<'getFile'>, allHeaders: (names: readonly string[]) => Members): Members {
    const validators = ['ETag', 'Last-Modified', 'Cache-Control', 'Vary', 'Accept-Ranges']
    const content = octetsContent(file.mediaTypes)
    return {
      200: { description: 'The octets.', headers: allHeaders(validators), content },
      206: {
        description: 'The ranges.',
        headers: allHeaders([...validators, 'Content-Range']),
        content: { ...content, ...octetsContent(['multipart/byteranges']) },
      },
    }
  }

  #portResponse(
    { exchange: { output } }: OperationOf<'exchange' | 'getAnswer'>,
    response: WriteResponse,
    names: readonly string[],
  ): Members {
    if (typeof output !== 'object') return { 204: { description: 'Done.' } }
    return response(200, 'The answer.', this.elements.element(output), names)
  }

  #actionResponse(
    { kind, action, resource }: Extract<Operation, { readonly action: unknown }>,
    response: WriteResponse,
  ): Members {
    const schema = action.output ? this.schemas.linked(action.rel, action.output) : this.schemas.item(resource)
    if (kind === 'act' && action.kept) return response(201, `The ${action.rel}.`, schema, ['Location'])
    const names = kind === 'act' && action.output ? [] : ['ETag', 'Last-Modified']
    return response(200, action.output ? `The ${action.rel}.` : 'The item.', schema, names)
  }

  #contentByType(operation: Operation, schema: JsonSchema): Members {
    const described = this.#typesOf(operation).filter(type => this.#describes(operation, type))
    return Object.fromEntries(described.map(type => [type, contentOf(operation, type, schema)]))
  }
  /** In words, where this OpenAPI version has no schema for them. */
  #otherTypes(operation: Operation): string {
    const others = this.#typesOf(operation).filter(type => !this.#describes(operation, type))
    return others.length === 0 ? '' : `Also as ${others.join(', ')}.`
  }
  readonly #typesOf = (operation: Operation): readonly string[] => this.#options.answers(operation, this.#version)
  readonly #describes = (operation: Operation, type: string): boolean =>
    this.#release.describesContent(type, isOfPort(operation))

  /** Links from an item to its transitions, by its id (OpenAPI 3.1 §4.8.20). */
  #links(operation: Operation): Members {
    if (operation.kind !== 'create' && operation.kind !== 'get') return {}
    const { resource } = operation
    const parents = listAncestors(resource, this.#service.resources).map(({ by }) => [by, `$request.path.${by}`])
    const target = resource.isSingle
      ? {}
      : { parameters: { ...Object.fromEntries(parents.toReversed()), id: '$response.body#/id' } }
    const found = this.#addresses.flatMap(address =>
      [...address.methods.values()].flatMap(each =>
        (each.kind === 'act' || each.kind === 'look' || (each.kind === 'get' && operation.kind === 'create')) &&
        each.resource === resource
          ? [
              [
                each.kind === 'get' ? 'self' : componentName(each.action.link),
                { operationId: this.#operationId(address, each), ...target },
              ] as const,
            ]
          : [],
      ),
    )
    return found.length > 0 ? { links: Object.fromEntries(found) } : {}
  }

  #failureResponses({ template }: Address, method: string, operation: Operation, open: boolean): Members {
    const isNamed = template.includes('{')
    const item = isNamed || ('resource' in operation && operation.resource.isSingle)
    const sends = this.#requestContent(operation, method) !== undefined
    const isPlaced = isNamed && 'resource' in operation && operation.kind !== 'getSearch'
    const once = method === 'POST' && keepsAnswer(operation)
    const names = [
      ...(isPlaced ? [operation.safe ? 'Moved' : 'MovedAsAsked'] : []),
      'BadRequest',
      'Unauthorized', // even where anyone may call: for invalid credentials
      ...(open && operation.safe ? [] : ['Forbidden']),
      ...(item ? ['NotFound'] : []),
      ...(this.#typesOf(operation).length > 0 || operation.kind === 'getFile' ? ['NotAcceptable'] : []),
      ...(operation.safe ? [] : ['Conflict']),
      ...(isNamed ? ['Gone'] : []),
      'PreconditionFailed', // RFC 9110 §13.2.1: for any method
      ...(operation.kind === 'getFile' ? ['RangeNotSatisfiable'] : []),
      ...(sends ? ['ContentTooLarge', 'UnsupportedMediaType'] : []),
      ...(sends || once ? ['Unprocessable'] : []),
      ...(demandsPrecondition(operation) ? ['PreconditionRequired'] : []),
      'TooManyRequests',
      'InternalError',
      'Unavailable',
    ]
    const shared = Object.fromEntries(names.map(name => [statusOfError[name] ?? 500, refTo('responses', name)]))
    const unchanged = operation.kind === 'getJob' ? 'JobNotModified' : 'NotModified'
    const conditional = operation.safe && { 304: refTo('responses', unchanged) }
    const behind = this.#options.faultsBehind?.filter(({ status }) => !Object.hasOwn(shared, status)) ?? []
    return { ...conditional, ...shared, ...this.#problemResponses(behind), ...this.#declaredResponses(operation) }
  }

  /** Declared faults by status; other problems may have the same status. */
  #declaredResponses(operation: Operation): Members {
    return operation.kind === 'exchange' || operation.kind === 'getAnswer'
      ? this.#portFaults(operation)
      : this.#problemResponses(this.#takesWords(operation) ? faultsWithWords(operation) : operation.faults)
  }
  #problemResponses(faults: readonly Fault[]): Members {
    return Object.fromEntries(
      [...Map.groupBy(faults, fault => fault.status)].map(([status, those]) => [
        status,
        problemResponse(joinTitles(those), this.#problemSchema(those)),
      ]),
    )
  }
  #problemSchema(faults: readonly Fault[]): JsonSchema {
    const own = faults.map(fault => {
      const types = listProblemTypes(this.#options.address, fault)
      return { types, schema: this.schemas.problem(fault, types) }
    })
    const mapping = Object.fromEntries(
      own.flatMap(({ types, schema }) => types.map(type => [type, String(schema['$ref'])])),
    )
    return {
      anyOf: [...own.map(({ schema }) => schema), refTo('schemas', 'Problem')],
      ...this.#release.problemDiscriminator(mapping),
    }
  }

  /**
   * The element of a fault is the member `fault` of its problem. It is optional, so any other
   * problem with that status matches, too, and clients can look for it in each.
   */
  #portFaults(operation: OperationOf<'exchange' | 'getAnswer'>): Members {
    const { faults, exchange } = operation
    return Object.fromEntries(
      [...Map.groupBy(faults, fault => fault.status)].map(([status, those]) => {
        const own = those.flatMap(({ fault }) => {
          const root = exchange.faults[fault]
          const properties = root && { fault: this.elements.element(root) }
          return properties
            ? [{ fault, schema: { allOf: [refTo('schemas', 'Problem'), { type: 'object', properties }] } }]
            : []
        })
        const [only, ...others] = own
        const schema =
          others.length > 0
            ? { anyOf: own.map(each => ({ title: each.fault, ...each.schema })) }
            : (only?.schema ?? refTo('schemas', 'Problem'))
        return [status, problemResponse(those.map(({ title }) => title).join('; '), schema)]
      }),
    )
  }
}

/** With its public address, and with the path alone, as used without one (RFC 9457 §3.1.1). */
function listProblemTypes(address = '', { fault }: Fault): readonly string[] {
  const path = (URL.canParse(address) ? new URL(address).pathname : address).replace(/\/+$/, '')
  const bases = new Set([address.replace(/\/+$/, ''), path])
  return [...bases].map(base => `${base}/problems/${fault}`)
}

const joinTitles = (faults: readonly Fault[]): string =>
  faults.map(({ title, description }) => joinSentences(title, description)).join('; ')

/** A resource, a job or a port. */
function tagOf(operation: Operation): string {
  if ('resource' in operation) return operation.resource.name
  return 'job' in operation ? (operation.port?.port ?? operation.job.job) : operation.port.port
}

type WriteResponse = (status: number, description: string, schema: JsonSchema, names: readonly string[]) => Members

/** Whether its responses are messages of a port. */
const isOfPort = (operation: Operation): boolean =>
  operation.kind === 'getAnswer' || (operation.kind === 'exchange' && !operation.exchange.later)
/** XML follows `xml` of the schema; a port's XML is described by its WSDL, octets by nothing. */
function contentOf(operation: Operation, type: string, schema: JsonSchema): Members {
  if (/[/+]json$/.test(type)) return { schema }
  if (/[/+]xml$/.test(type)) return { schema: isOfPort(operation) ? textSchema : schema }
  return type.startsWith('text/') ? { schema: textSchema } : {}
}

/** PUT may create a single resource unless it exists. */
const isMadeOnce = (operation: Operation): boolean => operation.kind === 'create' && operation.resource.isSingle

/** Nothing is stored for a read or an exchange, except for a call that is answered later. */
const keepsAnswer = (operation: Operation): boolean =>
  !operation.safe && (operation.kind !== 'exchange' || operation.exchange.later !== undefined)

/** The precondition parameters that are useful here (RFC 9110 §13.1, §14.2). */
function conditionsOf(operation: Operation): readonly string[] {
  const { kind } = operation
  const unchanged = ['ifMatch', 'ifUnmodifiedSince']
  if (operation.safe)
    return ['ifNoneMatch', 'ifModifiedSince', ...unchanged, ...(kind === 'getFile' ? ['range', 'ifRange'] : [])]
  if (isMadeOnce(operation)) return ['ifNoneMatch']
  const makes = kind === 'putFile' || (kind === 'replace' && isCreatedByPut(operation.resource))
  if (makes) return [...unchanged, 'ifNoneMatch']
  return kind === 'replace' || kind === 'patch' || kind === 'remove' || kind === 'act' ? unchanged : []
}

/** The preferences that it honours (RFC 7240), by name. */
function preferencesOf(operation: Operation, method: string): readonly PreferenceName[] {
  const { kind, safe } = operation
  const isStarted = kind === 'startJob' || (kind === 'exchange' && operation.exchange.later !== undefined)
  const honours: Readonly<Record<PreferenceName, boolean>> = {
    handling: method !== 'DELETE', // an unknown filter of a removal is never ignored
    count: isPaged(operation),
    return: !safe && kind !== 'remove' && kind !== 'putFile',
    'respond-async': isStarted,
    wait: isStarted || kind === 'getJob' || kind === 'cancelJob',
  }
  return preferenceNames.filter(name => honours[name])
}

/** For a response without content: a PUT that is stored in another form has no validator. */
const minimalHeaders = ({ kind }: Operation, names: readonly string[]): readonly string[] =>
  names.filter(name => name !== 'Last-Modified' && (name !== 'ETag' || kind !== 'replace'))

const pageControls: readonly string[] = ['page', 'size', 'cursor', 'sort', 'fields']
const equalityComparisons: readonly Comparison[] = ['ne']
const orderComparisons: readonly Comparison[] = [...equalityComparisons, 'gt', 'gte', 'lt', 'lte']
/** Generated clients can write a number into a query, but no choice of it and the text INF. */
const parameterSchema = (shape: Scalar): JsonSchema =>
  shape.kind === 'double' ? doubleNumberSchema(shape) : scalarSchema(shape)
/** Useful comparisons for each kind, although the service accepts all of them for any kind. */
const comparisonsOf: Readonly<Record<Scalar['kind'], readonly Comparison[]>> = {
  string: equalityComparisons,
  boolean: equalityComparisons,
  int: orderComparisons,
  long: orderComparisons,
  decimal: orderComparisons,
  double: orderComparisons,
  date: orderComparisons,
  time: orderComparisons,
  dateTime: orderComparisons,
  duration: equalityComparisons,
  bytes: equalityComparisons,
  enum: equalityComparisons,
  id: equalityComparisons,
  ref: equalityComparisons,
}

function summaryMembers(operation: Operation) {
  const { title, description } = textsOfOperation(operation)
  return { summary: title ?? summaryOf(operation), description }
}

/** The description of a parameter, next to its schema. */
const describedParameter = (field: AnyField): JsonSchema => omitUndefined({ description: describeField(field) })

/** OpenAPI has one text for all versions: a paragraph for each that has a text. */
function infoOf({ title, description, versions }: Service) {
  const own = Object.entries(versions).flatMap(([version, rule]) =>
    rule.description === undefined || rule.retired ? [] : [`${version}: ${rule.description}`],
  )
  const all = [...(description === undefined ? [] : [description]), ...own]
  return { title, description: all.length === 0 ? undefined : all.join('\n\n') }
}
