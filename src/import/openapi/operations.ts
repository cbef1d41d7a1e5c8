/** The operations of an OpenAPI document, each with the parts of its path. */

import { type Json, type JsonObject, jsonItems, objectEntries, objectOf, stringOf } from '../../base/objects.ts'
import type { OpenApiDocument } from './openapi-document.ts'

export interface RestOperation {
  /** Upper case. */
  readonly method: string
  /** With the base: `/api/v2/orders/{id}`. */
  readonly address: string
  /** Without the base, the words `api` and `rest` and the version: `/orders/{id}`. */
  readonly path: string
  readonly segments: readonly PathSegment[]
  /** As in the document, without the base: `/api/v2/orders/{id}`. */
  readonly template: string
  /** The names of the parameters in its path. */
  readonly parameters: readonly string[]
  /** `v2`; undefined: no part of its address names a version. */
  readonly version: string | undefined
  /** The operationId, or empty. */
  readonly id: string
  readonly comment: string
  readonly query: readonly JsonObject[]
  readonly headers: readonly JsonObject[]
  readonly cookies: readonly JsonObject[]
  /** Includes those of the path and of cookies. */
  readonly allParameters: readonly JsonObject[]
  readonly request: Json | undefined
  readonly responses: readonly (readonly [status: string, response: Json])[]
  /** Whether it has its own servers. */
  readonly isElsewhere: boolean
  /** Names of the requests that the service sends in turn. */
  readonly callbacks: readonly string[]
  /** Undefined: the document says nothing about its callers. */
  readonly security: readonly JsonObject[] | undefined
  /** `POST /api/v2/orders`: for the reader. */
  readonly place: string
}
export interface PathSegment {
  readonly text: string
  /** The text is the name of a parameter. */
  readonly isParameter: boolean
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query']

export function listRestOperations(document: OpenApiDocument): readonly RestOperation[] {
  const { root } = document
  const base = basePathOf(root)
  return objectEntries(root['paths']).flatMap(([path, item]) => {
    if (path.startsWith('x-')) return [] // an extension (OpenAPI §4.8.8)
    const shared = document.resolve(item).value
    const own = methods.flatMap(method => {
      const operation = shared[method]
      return operation === undefined ? [] : [[method.toUpperCase(), objectOf(operation)] as const]
    })
    return [...own, ...objectEntries(shared['additionalOperations'])].map(([method, operation]) =>
      readOperation(document, { method, path, base, shared, operation }),
    )
  })
}

/** The first server, with the defaults of its variables; empty: the document names none. */
export function serverAddressOf(root: JsonObject): string {
  const [server] = jsonItems(root['servers'])
  const variables = objectOf(objectOf(server)['variables'])
  return stringOf(objectOf(server)['url']).replace(/\{([^}]*)\}/g, (_, name: string) =>
    stringOf(objectOf(variables[name])['default']),
  )
}
const basePathOf = (root: JsonObject): string =>
  serverAddressOf(root)
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '')
    .replace(/\/+$/, '')

interface OperationParts {
  readonly method: string
  readonly path: string
  readonly base: string
  readonly shared: JsonObject
  readonly operation: JsonObject
}
function readOperation(
  document: OpenApiDocument,
  { method, path, base, shared, operation }: OperationParts,
): RestOperation {
  const parameters = joinParameters(document, [shared['parameters'], operation['parameters']])
  const security = operation['security'] ?? document.root['security']
  return {
    method,
    address: `${base}${path}`,
    ...splitPath(base, path),
    template: path,
    parameters: [...new Set(Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name = '']) => name))],
    id: stringOf(operation['operationId']),
    comment: stringOf(operation['description']) || stringOf(operation['summary']),
    query: parameters.filter(each => each['in'] === 'query'),
    headers: parameters.filter(each => each['in'] === 'header'),
    cookies: parameters.filter(each => each['in'] === 'cookie'),
    allParameters: parameters,
    request: operation['requestBody'],
    responses: Object.entries(objectOf(operation['responses'])),
    isElsewhere: [shared['servers'], operation['servers']].some(each => jsonItems(each).length > 0),
    callbacks: Object.keys(objectOf(operation['callbacks'])),
    security: security === undefined ? undefined : jsonItems(security).map(objectOf),
    place: `${method} ${path}`,
  }
}

/** OpenAPI §4.8.10: a parameter of an operation overrides one of its path. */
function joinParameters(document: OpenApiDocument, given: readonly (Json | undefined)[]): readonly JsonObject[] {
  const all = given.flatMap(jsonItems).map(each => document.resolve(each).value)
  return [...new Map(all.map(each => [`${stringOf(each['in'])} ${stringOf(each['name'])}`, each])).values()]
}

function splitPath(base: string, path: string): Pick<RestOperation, 'path' | 'segments' | 'version'> {
  const words = (text: string): string[] => text.split('/').filter(Boolean)
  const version = [...words(base), ...words(path)].find(each => /^v\d+$/i.test(each))?.toLowerCase()
  const rest = words(path)
  // Each occurs once: what follows `/api/v1` is a name, such as `/api/v1/api`.
  const kinds = new Set([/^api$/i, /^rest$/i, /^v\d+(?:\.\d+)*$/i])
  for (const kind of rest.map(word => [...kinds].find(each => each.test(word)))) {
    if (kind === undefined || !kinds.delete(kind)) break
    rest.shift()
  }
  const segments = rest.map(each => {
    const parameter = /^\{([^}]*)\}$/.exec(each)?.[1]
    return { text: parameter ?? each, isParameter: parameter !== undefined }
  })
  return { path: `/${rest.join('/')}`, segments, version }
}

/** The feed of changes, which every service of ours has by itself. */
export const isOwnFeed = ({ id, method, path }: Pick<RestOperation, 'id' | 'method' | 'path'>): boolean =>
  id === 'ListChanges' && method === 'GET' && path === '/changes'
/** Whether the document describes a service of ours. */
export function hasOwnFeed(root: JsonObject): boolean {
  const { get } = objectOf(objectOf(root['paths'])['/changes'])
  return isOwnFeed({ id: stringOf(objectOf(get)['operationId']), method: 'GET', path: '/changes' })
}

/** The address without the names of its parameters: `/orders/{}`. */
export const addressOf = (segments: readonly PathSegment[]): string =>
  segments.map(({ text, isParameter }) => `/${isParameter ? '{}' : text}`).join('')

/** The first response with one of these statuses, or `default` if none is declared a success. */
export const findSuccess = ({ responses }: RestOperation): readonly [string, Json] | undefined =>
  responses.find(([status]) => /^2/.test(status)) ?? responses.find(([status]) => status === 'default')
