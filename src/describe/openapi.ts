/**
 * OpenAPI 3.1 of a service, all its versions in one document (rule A9.1). The addresses and the media types are those
 * that the face of HTTP serves: they are given, so that there is one table of them.
 */

import type { Json } from '../base/objects.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields, Scalar } from '../contract/field.ts'
import { capitalize } from '../contract/lexical/text.ts'
import { type Operation, requireKind } from '../contract/operation.ts'
import { isPublic } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { newestVersion, type Service, viewOfVersion } from '../contract/service.ts'
import { isScalar } from '../contract/shape.ts'
import { jobFields } from '../contract/xml-message.ts'
import { componentName, type JsonSchema, Schemas, scalarSchema } from './json-schema.ts'
import { writeJsonText } from './json-text.ts'
import {
  createLinks,
  errorStatus,
  errors,
  headers,
  link,
  type Members,
  octetsSchema,
  parameters,
  patch,
  problemResponse,
  problemSchema,
  refTo,
  removal,
} from './openapi-components.ts'

/** One address and what can be asked of it. */
export interface Address {
  /** Below the version, `{id}` where an identifier stands. */
  readonly template: string
  readonly methods: ReadonlyMap<string, Operation>
  /** A list of those that refer to one item. */
  readonly within?: { readonly of: Resource; readonly by: string }
}
export interface OpenApiOptions {
  /** Where `/api` is: `https://api.example.org`, or nothing for wherever the document came from. */
  readonly address?: string
  readonly addresses: (seen: Service) => readonly Address[]
  /** The media types that an operation answers in, the preferred one first. */
  readonly answers: (operation: Operation, version: string) => readonly string[]
}

export function describeOpenApi(service: Service, options: OpenApiOptions): string {
  return writeJsonText(writeOpenApi(service, options))
}

export function writeOpenApi(service: Service, options: OpenApiOptions): { readonly [name: string]: Json } {
  const served = Object.entries(service.versions).filter(([, rule]) => !rule.retired)
  const parts = served.map(([version]) => new VersionDocument(viewOfVersion(service, version), version, options))
  return {
    openapi: '3.1.0',
    info: { title: service.title, version: newestVersion(service) },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: options.address ?? '/' }],
    tags: [...service.resources.map(({ name }) => ({ name })), ...service.jobs.map(({ job }) => ({ name: job }))],
    paths: Object.assign({}, ...parts.map(part => part.paths())),
    components: {
      schemas: Object.assign({ Problem: problemSchema, Link: link }, ...parts.map(part => part.schemas.all)),
      responses: Object.assign({}, errors, ...parts.map(part => part.faults())),
      parameters: Object.assign({}, parameters, ...parts.map(part => part.parameters)),
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        basic: { type: 'http', scheme: 'basic', description: 'Over TLS, and on loopback.' },
      },
    },
  }
}

interface MediaContent {
  readonly required: boolean
  /** Media type → what it holds. */
  readonly content: Members
  readonly [member: string]: Json
}

/** What one version adds to the document. */
class VersionDocument {
  readonly schemas: Schemas
  readonly parameters: Record<string, JsonSchema> = {}
  private readonly declared = new Map<string, Fault>()
  private readonly service: Service
  private readonly version: string
  private readonly options: OpenApiOptions
  private readonly addresses: readonly Address[]

  constructor(service: Service, version: string, options: OpenApiOptions) {
    this.service = service
    this.version = version
    this.options = options
    this.addresses = options.addresses(service)
    this.schemas = new Schemas(`${version}.`)
  }

  paths(): Members {
    return Object.fromEntries(
      this.addresses.map(address => [
        `/api/${this.version}${address.template}`,
        {
          ...(address.template.includes('{id}') && { parameters: [refTo('parameters', 'id')] }),
          ...Object.fromEntries(
            [...address.methods]
              .filter(([method]) => method in verbs)
              .map(([method, operation]) => [method.toLowerCase(), this.operation(address, method, operation)]),
          ),
        },
      ]),
    )
  }

  /** Problems that the contract declares, a response each. */
  faults(): Members {
    return Object.fromEntries(
      [...this.declared].map(([name, fault]) => [
        this.faultName(name),
        problemResponse(fault.title, {
          allOf: [refTo('schemas', 'Problem'), this.schemas.object(fault.detail, 'answer')],
        }),
      ]),
    )
  }
  private readonly faultName = (name: string): string => `${this.version}.${componentName(name)}`

  private operation(address: Address, method: string, operation: Operation): Members {
    const open = isPublic(operation.grants)
    const rule = this.service.versions[this.version]
    const body = this.content(operation)
    return {
      operationId: this.operationId(address, operation),
      summary: summary(operation),
      tags: ['resource' in operation ? operation.resource.name : operation.job.job],
      ...((rule?.deprecated ?? rule?.sunset) !== undefined && { deprecated: true }),
      security: open ? [{}, { bearer: [] }, { basic: [] }] : [{ bearer: [] }, { basic: [] }],
      parameters: this.parametersOf(address, method, operation),
      ...(body && { requestBody: body }),
      responses: { ...this.success(operation), ...this.failures(address, method, operation, open) },
    }
  }

  /** Unique in the document: the version, the name, and what it is within. */
  private operationId({ template, within }: Address, operation: Operation): string {
    const first = this.addresses.find(({ methods }) => [...methods.values()].includes(operation))
    const place = within ? `Of${capitalize(requireKind(within.of))}` : first?.template === template ? '' : 'Here'
    return `${this.version}_${operation.name}${place}`
  }

  private parametersOf(address: Address, method: string, operation: Operation): readonly JsonSchema[] {
    const conditional = operation.safe ? ['ifNoneMatch', 'ifModifiedSince'] : changes(operation) ? ['ifMatch'] : []
    const once = method === 'POST' ? ['idempotencyKey'] : []
    return [
      ...this.query(address, operation),
      ...[...conditional, ...once, ...(method === 'GET' ? [] : ['prefer'])].map(name => refTo('parameters', name)),
    ]
  }

  private query(address: Address, operation: Operation): readonly JsonSchema[] {
    if (operation.kind === 'bulk') return this.filters(operation.resource, operation.resource.given.filter)
    if (operation.kind === 'get') return [refTo('parameters', 'fields')]
    if (operation.kind !== 'list' && operation.kind !== 'search' && operation.kind !== 'getSearch') return []
    const paging = controls.map(name => refTo('parameters', name))
    if (operation.kind === 'list')
      return [...paging, ...this.filters(operation.resource, operation.resource.given.filter)]
    if (operation.kind === 'getSearch' || address.template !== '/search') return paging
    return [...paging, refTo('parameters', 'q'), ...this.equalities(operation.resource)]
  }

  /** Each field by itself, and by comparison: `total[gte]=10` (rule A4.23). */
  private filters(resource: Resource, names: readonly string[] = []): readonly JsonSchema[] {
    return scalarsOf(resource, names).flatMap(([name, shape]) => {
      const schema = scalarSchema(shape)
      return [
        this.parameter(resource, name, '', schema),
        ...comparisonsOf[shape.kind].map(each => this.parameter(resource, name, each, schema)),
        this.parameter(resource, name, 'in', { type: 'array', items: schema }, { explode: false }),
      ]
    })
  }
  private equalities(resource: Resource): readonly JsonSchema[] {
    const by = scalarsOf(resource, resource.given.searchBy ?? [])
    return by.map(([name, shape]) => this.parameter(resource, name, '', scalarSchema(shape)))
  }
  private parameter(
    resource: Resource,
    name: string,
    comparison: string,
    schema: JsonSchema,
    more: JsonSchema = {},
  ): JsonSchema {
    const known = `${this.version}.${componentName(resource.name)}.${componentName(name)}${comparison && `.${comparison}`}`
    const asked = comparison || (name === 'q' || controls.includes(name) ? 'eq' : '') // `size` is of the page, `size[eq]` the field
    this.parameters[known] = { name: asked ? `${name}[${asked}]` : name, in: 'query', schema, ...more }
    return refTo('parameters', known)
  }

  /** What is sent, by media type. */
  private content(operation: Operation): MediaContent | undefined {
    const json = (schema: JsonSchema): MediaContent => ({ required: true, content: { 'application/json': { schema } } })
    switch (operation.kind) {
      case 'create':
      case 'replace':
        return json(this.draft(operation))
      case 'patch':
        return {
          content: {
            'application/merge-patch+json': { schema: { type: 'object' } },
            'application/json-patch+json': { schema: patch },
          },
          required: true,
        }
      case 'act':
        return this.inputOf(operation.action.input)
      case 'createSearch': {
        const scalars = scalarsOf(operation.resource, operation.resource.given.searchBy ?? [])
        const by = Object.fromEntries(scalars.map(([name, shape]) => [name, scalarSchema(shape)]))
        return json({
          type: 'object',
          properties: { q: { type: 'string' }, ...by },
          required: ['q'],
          additionalProperties: false,
        })
      }
      case 'startJob':
        return this.inputOf(operation.job.input)
      case 'putFile':
        return {
          content: Object.fromEntries(operation.file.mediaTypes.map(type => [type, {}])),
          required: true,
        }
      default:
        return undefined
    }
  }
  private inputOf(fields: Fields): MediaContent | undefined {
    if (Object.keys(fields).length === 0) return undefined
    const schema = this.schemas.object(fields, 'content')
    return { required: requiredOf(schema).length > 0, content: { 'application/json': { schema } } }
  }

  /** An item as a client sends it; what a grant binds to a claim of the caller may be left out. */
  private draft({ kind, resource, grants }: Operation & { readonly resource: Resource }): JsonSchema {
    const schema = this.schemas.object(resource.fields, 'content', { _links: { type: 'object', readOnly: true } })
    const owned = kind === 'create' ? new Set(grants.flatMap(({ where }) => Object.keys(where))) : new Set<string>()
    const required = requiredOf(schema).filter(name => !owned.has(name))
    const name = `${capitalize(requireKind(resource))}${owned.size > 0 ? 'New' : ''}Draft`
    return this.schemas.define(name, { ...schema, required })
  }

  private item(resource: Resource): JsonSchema {
    const schema = this.schemas.object(resource.fields, 'answer', { _links: createLinks(relationsOf(resource)) })
    return this.schemas.define(capitalize(requireKind(resource)), schema)
  }
  private page(resource: Resource, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
    const properties = {
      ...more,
      items: { type: 'array', items: this.item(resource) },
      total: { type: 'integer', minimum: 0 },
      _links: createLinks(['next', 'previous']),
    }
    return this.schemas.define(`${capitalize(resource.name)}${'q' in more ? 'Search' : 'Page'}`, {
      type: 'object',
      properties,
      required: ['items', '_links'],
    })
  }
  private linked(name: string, fields: Fields): JsonSchema {
    return this.schemas.define(
      capitalize(name),
      this.schemas.object(fields, 'answer', { _links: createLinks(['related']) }),
    )
  }

  private success(operation: Operation): Members {
    const answer = (status: number, description: string, schema: JsonSchema, names: readonly string[]) => ({
      [status]: {
        description,
        headers: Object.fromEntries(names.map(name => [name, refTo('headers', name)])),
        content: this.answers(operation, schema),
        ...this.next(operation),
      },
    })
    const standing = ['ETag', 'Last-Modified', 'Cache-Control', 'Vary']
    switch (operation.kind) {
      case 'get':
      case 'replace':
      case 'patch':
        return {
          ...answer(200, 'The item.', this.item(operation.resource), standing),
          ...(operation.kind === 'replace' &&
            operation.resource.given.putCreates === true &&
            answer(201, 'Created.', this.item(operation.resource), [...standing, 'Location'])),
        }
      case 'create':
        return answer(201, 'Created.', this.item(operation.resource), [...standing, 'Location'])
      case 'list':
      case 'search':
        return answer(200, 'A page of them.', this.page(operation.resource), standing)
      case 'createSearch':
        return answer(
          201,
          'The search, and its first page.',
          this.page(operation.resource, { q: { type: 'string' } }),
          ['Location'],
        )
      case 'getSearch':
        return answer(
          200,
          'A page of what it found.',
          this.page(operation.resource, { q: { type: 'string' } }),
          standing,
        )
      case 'remove':
        return { 204: { description: 'Removed.' } }
      case 'bulk':
        return answer(200, 'How many were removed, and how many were not.', removal, [])
      case 'act':
      case 'look':
      case 'kept':
        return this.acted(operation, answer)
      case 'getFile':
        return {
          200: {
            description: 'The octets.',
            headers: { ETag: refTo('headers', 'ETag') },
            content: octetsSchema(operation.file.mediaTypes),
          },
        }
      case 'putFile':
        return { 201: { description: 'Kept.' }, 204: { description: 'Replaced.' } }
      case 'startJob':
        return answer(202, 'The job is waiting.', this.linked('Job', jobFields), ['Location', 'Retry-After'])
      case 'getJob':
      case 'cancelJob':
        return answer(200, 'The job.', this.linked('Job', jobFields), ['Retry-After'])
      case 'getResult':
        return answer(200, 'The result.', this.linked(operation.job.one, operation.job.output), standing)
    }
  }

  private acted(
    { kind, action, resource }: Extract<Operation, { readonly action: unknown }>,
    answer: (status: number, description: string, schema: JsonSchema, names: readonly string[]) => Members,
  ): Members {
    const schema = action.output ? this.linked(action.rel, action.output) : this.item(resource)
    if (kind === 'act' && action.kept) return answer(201, `The ${action.rel}.`, schema, ['Location'])
    return answer(200, action.output ? `The ${action.rel}.` : 'The item.', schema, ['ETag'])
  }

  private answers(operation: Operation, schema: JsonSchema): Members {
    const types = this.options.answers(operation, this.version)
    return Object.fromEntries(types.map(type => [type, /[/+]json$/.test(type) ? { schema } : {}]))
  }

  /** Where an item's transitions are, by its id (OpenAPI 3.1 §4.8.20). */
  private next(operation: Operation): Members {
    if (operation.kind !== 'create' && operation.kind !== 'get') return {}
    const { resource } = operation
    const parameters = { id: '$response.body#/id' }
    const found = this.addresses.flatMap(address =>
      [...address.methods.values()].flatMap(each =>
        (each.kind === 'act' || each.kind === 'look' || (each.kind === 'get' && operation.kind === 'create')) &&
        each.resource === resource
          ? [
              [
                each.kind === 'get' ? 'self' : componentName(each.action.link),
                { operationId: this.operationId(address, each), parameters },
              ] as const,
            ]
          : [],
      ),
    )
    return found.length > 0 ? { links: Object.fromEntries(found) } : {}
  }

  private failures({ template }: Address, method: string, operation: Operation, open: boolean): Members {
    const item = template.includes('{id}')
    const sends = this.content(operation) !== undefined
    const own = operation.kind === 'act' ? operation.action.faults : []
    for (const fault of own) this.declared.set(fault.fault, fault)
    const names = [
      'BadRequest',
      ...(open ? [] : ['Unauthorized', 'Forbidden']),
      ...(item ? ['NotFound'] : []),
      ...(this.options.answers(operation, this.version).length > 0 ? ['NotAcceptable'] : []),
      ...(operation.safe ? [] : ['Conflict']),
      ...(item ? ['Gone'] : []),
      ...(changes(operation) ? ['PreconditionFailed'] : []),
      ...(sends ? ['ContentTooLarge', 'UnsupportedMediaType', 'Unprocessable'] : []),
      ...(['PUT', 'PATCH', 'DELETE'].includes(method) && item ? ['PreconditionRequired'] : []),
      'TooManyRequests',
      'InternalError',
      'Unavailable',
    ]
    const shared = Object.fromEntries(names.map(name => [errorStatus[name] ?? 500, refTo('responses', name)]))
    const conditional = operation.safe && { 304: refTo('responses', 'NotModified') }
    return { ...conditional, ...shared, ...this.own(own, shared) }
  }

  /** A declared fault beside what else has its status. */
  private own(faults: readonly Fault[], shared: Readonly<Record<string, JsonSchema>>): Members {
    return Object.fromEntries(
      [...Map.groupBy(faults, fault => fault.status)].map(([status, those]) => [
        status,
        those.length === 1 && those[0] && !(status in shared)
          ? refTo('responses', this.faultName(those[0].fault))
          : problemResponse(those.map(({ title }) => title).join('; '), {
              anyOf: [
                ...those.map(({ detail }) => ({
                  allOf: [refTo('schemas', 'Problem'), this.schemas.object(detail, 'answer')],
                })),
                refTo('schemas', 'Problem'),
              ],
            }),
      ]),
    )
  }
}

/** OpenAPI 3.1 has no word for QUERY; what it asks for is asked by GET too. */
const verbs: Readonly<Record<string, true>> = { GET: true, POST: true, PUT: true, PATCH: true, DELETE: true }
const changes = ({ kind }: Operation): boolean => ['replace', 'patch', 'remove', 'act', 'putFile'].includes(kind)
const requiredOf = (schema: JsonSchema): readonly string[] => {
  const names = schema['required']
  return Array.isArray(names) ? names.filter(name => typeof name === 'string') : []
}

function scalarsOf(resource: Resource, names: readonly string[]): (readonly [name: string, shape: Scalar])[] {
  return names.flatMap(name => {
    const shape = resource.fields[name]?.shape
    return shape && isScalar(shape) ? [[name, shape] as const] : []
  })
}
const controls: readonly string[] = ['page', 'size', 'cursor', 'sort', 'fields']
const equality: readonly string[] = ['ne']
const order: readonly string[] = [...equality, 'gt', 'gte', 'lt', 'lte']
/** Comparisons that mean something for the type; the service accepts all of them for any. */
const comparisonsOf: Readonly<Record<Scalar['kind'], readonly string[]>> = {
  string: equality,
  boolean: equality,
  int: order,
  long: order,
  decimal: order,
  double: order,
  date: order,
  time: order,
  dateTime: order,
  duration: equality,
  bytes: equality,
  enum: equality,
  id: equality,
  ref: equality,
}

/** `PutProductPicture` → "Put product picture". */
const summary = ({ name }: Operation): string => {
  const words = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase()
  return capitalize(words)
}

function relationsOf(resource: Resource): readonly string[] {
  const actions = Object.values(resource.actions).map(({ link }) => link)
  return ['collection', 'edit', 'delete', ...Object.keys(resource.given.relations ?? {}), ...actions]
}
