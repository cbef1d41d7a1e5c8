/** The parts common to the OpenAPI documents of all services: problems, headers, parameters. */
import type { Json } from '../../base/objects.ts'

import { identifierSchema, type JsonSchema } from '../json-schema.ts'

export type Members = Readonly<Record<string, Json>>
export const refTo = (kind: 'responses' | 'parameters' | 'headers' | 'schemas', name: string): JsonSchema => ({
  $ref: `#/components/${kind}/${name}`,
})

/** A reference without variables is a template, too (RFC 6570 §2). */
export const linkSchema: JsonSchema = {
  type: 'object',
  properties: { href: { type: 'string', format: 'uri-template' }, templated: { type: 'boolean' } },
  required: ['href'],
}
/**
 * Other links may be present but are not described: next to optional members, a schema for all
 * others makes a type that TypeScript does not allow (TS2411), so generated clients would not
 * compile.
 */
export const linksSchema = (names: readonly string[], required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(['self', ...names].map(name => [name, refTo('schemas', 'Link')])),
  ...(required.length > 0 && { required }),
})
/** For text that JSON Schema cannot describe; without a schema a client gets `unknown`. */
export const textSchema: JsonSchema = { type: 'string' }
/**
 * Raw octets have no JSON type (OpenAPI 3.1 §4.8.14.2), and no schema judges them. Generators make
 * a file of the type and format of OpenAPI 3.0; without the type they make any value, and some send
 * it as JSON.
 */
const octetsSchema = (mediaType: string): JsonSchema => ({
  type: 'string',
  format: 'binary',
  contentMediaType: mediaType,
})
export const octetsContent = (types: readonly string[]): Members =>
  Object.fromEntries(types.map(type => [type, { schema: octetsSchema(type) }]))

/** A message some of whose octets are separate parts (RFC 7578). */
export const formContent: Members = {
  'multipart/form-data': {
    schema: {
      type: 'object',
      properties: {
        message: { type: 'object', description: 'The content, without octets that come as parts of their own.' },
      },
      additionalProperties: {
        ...octetsSchema('application/octet-stream'),
        description: 'Octets of the member of this name; the largest part is the last one.',
      },
    },
    encoding: { message: { contentType: 'application/json' } },
  },
}

export const removalSchema: JsonSchema = {
  type: 'object',
  properties: {
    removed: { type: 'integer', minimum: 0 },
    refused: { type: 'integer', minimum: 0 },
    more: { type: 'boolean', description: 'More items may be removable: repeat the request.' },
    _links: linksSchema([]),
  },
  required: ['removed', 'refused'],
}
/** RFC 6902 §4. */
export const jsonPatchSchema: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
      path: { type: 'string' },
      from: { type: 'string' },
      value: {},
    },
    required: ['op', 'path'],
  },
}
/** RFC 9457 §3.1, and the places of flaws in the content. */
export const problemMembers: Readonly<Record<string, JsonSchema>> = {
  type: { type: 'string', format: 'uri-reference' },
  title: { type: 'string' },
  status: { type: 'integer' },
  detail: { type: 'string' },
  instance: { type: 'string', format: 'uri-reference' },
  errors: {
    type: 'array',
    items: {
      type: 'object',
      properties: { pointer: { type: 'string' }, code: { type: 'string' }, detail: { type: 'string' } },
      required: ['code', 'detail'],
      xml: { name: 'i' },
    },
    xml: { wrapped: true },
  },
}
/** RFC 9457 Appendix B. */
export const problemXml: JsonSchema = { name: 'problem', namespace: 'urn:ietf:rfc:7807' }
/** RFC 9457 §3.2: the members by which `rest/problem.ts` extends problems of the service itself. */
export const refusalMembers: Readonly<Record<string, JsonSchema>> = {
  parameter: { type: 'string', description: 'The query parameter that is wrong.' },
  state: { type: 'string', description: 'The state that does not allow the change.' },
  possible: {
    type: 'array',
    items: { type: 'string', xml: { name: 'i' } },
    description: 'The actions that the state allows.',
    xml: { wrapped: true },
  },
  offers: {
    type: 'array',
    items: { type: 'string', xml: { name: 'i' } },
    description: 'The media types or content codings that are available.',
    xml: { wrapped: true },
  },
  incident: { type: 'string', description: 'The number by which the log of the service has the error.' },
}
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: { ...problemMembers, ...refusalMembers },
  required: ['status'],
  xml: problemXml,
}

export const refHeaders = (names: readonly string[]): Members =>
  Object.fromEntries(names.map(name => [name, refTo('headers', name)]))

export function problemResponse(description: string, schema: JsonSchema, more: readonly string[] = []): Members {
  return {
    description,
    ...(more.length > 0 && { headers: refHeaders(more) }),
    content: { 'application/problem+json': { schema }, 'application/problem+xml': { schema } },
  }
}

/** Rules A7.6–A7.18. */
const refusals: readonly (readonly [name: string, status: number, description: string, ...headers: string[]])[] = [
  ['Moved', 301, 'The resource has another address.', 'Location'],
  ['MovedAsAsked', 308, 'The resource has another address: repeat the request there.', 'Location'],
  ['BadRequest', 400, 'The request is malformed.'],
  ['Unauthorized', 401, 'Credentials are missing or invalid.', 'WWW-Authenticate'],
  ['Forbidden', 403, 'The caller may not do this.'],
  ['NotFound', 404, 'The resource does not exist, or the caller may not see it.'],
  ['NotAcceptable', 406, 'None of the accepted media types is available.'],
  [
    'Conflict',
    409,
    'The current state does not allow this; the problem lists what it allows. Or a request with the same key is still in progress.',
    'Retry-After',
  ],
  ['Gone', 410, 'The resource has been removed.'],
  ['PreconditionFailed', 412, 'A precondition failed: the resource has changed, or exists.', 'ETag'],
  ['ContentTooLarge', 413, 'The content exceeds its limit.'],
  ['UnsupportedMediaType', 415, 'This media type or content coding is not supported.'],
  ['RangeNotSatisfiable', 416, 'No part of the range is in the file.', 'Content-Range'],
  ['Unprocessable', 422, 'The content does not match its schema, or breaks a rule.'],
  ['PreconditionRequired', 428, 'If-Match is required.'],
  ['TooManyRequests', 429, 'The caller has exceeded a limit.', 'Retry-After'],
  ['InternalError', 500, 'An error of the service; the problem names the incident.'],
  ['Unavailable', 503, 'The service is busy, or its store cannot be reached.', 'Retry-After'],
]
export const statusOfError: Readonly<Record<string, number>> = Object.fromEntries(
  refusals.map(([name, status]) => [name, status]),
)
const notModified = (more: readonly string[]): Members => ({
  description: 'The client has the current representation.',
  headers: refHeaders(['ETag', 'Last-Modified', 'Cache-Control', 'Vary', 'Preference-Applied', ...more]),
})
export const errorResponses: Members = {
  NotModified: notModified([]),
  /** For a job that is not done. */
  JobNotModified: notModified(['Retry-After']),
  ...Object.fromEntries(
    refusals.map(([name, , description, ...more]) => [
      name,
      problemResponse(description, refTo('schemas', 'Problem'), more),
    ]),
  ),
}

const headerComponent = (description: string): JsonSchema => ({ description, schema: { type: 'string' } })
export const headerComponents: Members = {
  ETag: headerComponent('The entity tag of the representation (RFC 9110 §8.8.3).'),
  'Last-Modified': headerComponent('An HTTP date.'),
  'Cache-Control': headerComponent('Whether and how the response may be cached (RFC 9111).'),
  Vary: headerComponent('The request fields that chose the representation.'),
  Location: headerComponent('The address of the new resource; of a query, the one that finds the same by GET.'),
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  'Preference-Applied': headerComponent('The preferences that were honoured (RFC 7240 §3).'),
  'Accept-Ranges': headerComponent('`bytes`: parts of the content may be requested.'),
  'Content-Range': headerComponent('The octets that are sent, and the complete length (RFC 9110 §14.4).'),
  'WWW-Authenticate': headerComponent('The supported authentication schemes (RFC 9110 §11.6.1).'),
}

const parameterComponent = (
  where: 'query' | 'header' | 'path',
  name: string,
  schema: JsonSchema,
  description: string,
): JsonSchema => ({
  name,
  in: where,
  ...(where === 'path' && { required: true }),
  description,
  schema,
})
/** The identifier of the item that contains the described ones. */
export const parentParameter = (name: string): Members =>
  parameterComponent('path', name, identifierSchema, `The identifier of the ${name} that contains it.`)

export const parameterComponents: Members = {
  id: parameterComponent('path', 'id', identifierSchema, 'The identifier.'),
  page: parameterComponent(
    'query',
    'page',
    { type: 'integer', minimum: 1 },
    'A page by its number, instead of a cursor.',
  ),
  size: parameterComponent(
    'query',
    'size',
    { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    'Items on a page.',
  ),
  cursor: parameterComponent('query', 'cursor', { type: 'string' }, 'A position, from a link to another page.'),
  sort: parameterComponent(
    'query',
    'sort',
    { type: 'string' },
    'Fields, separated by commas; `-` before a field reverses its order.',
  ),
  fields: parameterComponent(
    'query',
    'fields',
    { type: 'string' },
    'The fields to include, separated by commas; the others are then absent, even if the schema requires them.',
  ),
  q: parameterComponent('query', 'q', { type: 'string' }, 'Words that must all occur.'),
  ifMatch: parameterComponent('header', 'If-Match', { type: 'string' }, 'Entity tags, one of which must be current.'),
  ifNoneMatch: parameterComponent(
    'header',
    'If-None-Match',
    { type: 'string' },
    'Entity tags of representations that the client has; with `*` a change may only create.',
  ),
  ifModifiedSince: parameterComponent('header', 'If-Modified-Since', { type: 'string' }, 'An HTTP date.'),
  ifUnmodifiedSince: parameterComponent('header', 'If-Unmodified-Since', { type: 'string' }, 'An HTTP date.'),
  range: parameterComponent('header', 'Range', { type: 'string' }, 'Octets: `bytes=0-499`, `bytes=-500`.'),
  ifRange: parameterComponent(
    'header',
    'If-Range',
    { type: 'string' },
    'The entity tag or the date of the file to which the range belongs; if the file has changed, all of it is sent.',
  ),
  idempotencyKey: parameterComponent(
    'header',
    'Idempotency-Key',
    { type: 'string' },
    'A quoted string; a request with credentials is carried out only once for each key.',
  ),
}

/** RFC 7240 §4, the parameter `handling` of §4.4, and `count` of PostgREST. */
const preferenceTexts = {
  handling: '`handling=lenient`: query parameters that are unknown are ignored.',
  count: '`count=exact`: `total` counts any number of items.',
  return: '`return=minimal`: a response without content.',
  'respond-async': '`respond-async`: the response is always asynchronous.',
  wait: '`wait=20`: the response shows the job when it has ended, or after this many seconds.',
} as const
export type PreferenceName = keyof typeof preferenceTexts
export const preferenceNames = Object.keys(preferenceTexts) as readonly PreferenceName[]

export const preferParameter = (names: readonly PreferenceName[]): JsonSchema =>
  parameterComponent('header', 'Prefer', { type: 'string' }, names.map(name => preferenceTexts[name]).join(' '))
