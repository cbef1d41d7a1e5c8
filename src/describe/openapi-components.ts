/** What is the same in the OpenAPI document of every service: problems, headers, parameters. */
import type { Json } from '../base/objects.ts'

import { identifierSchema, type JsonSchema } from './json-schema.ts'

export type Members = Readonly<Record<string, Json>>
export const refTo = (kind: 'responses' | 'parameters' | 'headers' | 'schemas', name: string): JsonSchema => ({
  $ref: `#/components/${kind}/${name}`,
})

export const link: JsonSchema = {
  type: 'object',
  properties: { href: { type: 'string', format: 'uri-reference' }, templated: { type: 'boolean' } },
  required: ['href'],
}
export const createLinks = (names: readonly string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(['self', ...names].map(name => [name, refTo('schemas', 'Link')])),
  additionalProperties: refTo('schemas', 'Link'),
})
export const octetsSchema = (types: readonly string[]): Members => Object.fromEntries(types.map(type => [type, {}]))

export const removal: JsonSchema = {
  type: 'object',
  properties: { removed: { type: 'integer', minimum: 0 }, refused: { type: 'integer', minimum: 0 } },
  required: ['removed', 'refused'],
}
/** RFC 6902 §4. */
export const patch: JsonSchema = {
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
/** RFC 9457 §3.1, and where content is wrong. */
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
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
      },
    },
  },
}

export function problemResponse(description: string, schema: JsonSchema, more: readonly string[] = []): Members {
  return {
    description,
    ...(more.length > 0 && { headers: Object.fromEntries(more.map(name => [name, refTo('headers', name)])) }),
    content: { 'application/problem+json': { schema }, 'application/problem+xml': {} },
  }
}

/** Rules A7.6–A7.18. */
const failures: readonly (readonly [name: string, status: number, description: string, ...headers: string[]])[] = [
  ['BadRequest', 400, 'The request is not of its syntax.'],
  ['Unauthorized', 401, 'Nobody has said who is asking, or it could not be proven.', 'WWW-Authenticate'],
  ['Forbidden', 403, 'This caller may not do this.'],
  ['NotFound', 404, 'There is none of this name, for this caller.'],
  ['NotAcceptable', 406, 'None of the media types that are accepted is offered.'],
  ['Conflict', 409, 'The state does not offer this; the problem says what it does offer.'],
  ['Gone', 410, 'It was here and is not any more.'],
  ['PreconditionFailed', 412, 'The version is another by now.', 'ETag'],
  ['ContentTooLarge', 413, 'The content is over its limit.'],
  ['UnsupportedMediaType', 415, 'Content of this media type is not taken here.'],
  ['Unprocessable', 422, 'The content breaks its declared shape or a rule.'],
  ['PreconditionRequired', 428, 'If-Match is demanded.'],
  ['TooManyRequests', 429, 'Over the limit of this caller.', 'Retry-After'],
  ['InternalError', 500, 'A bug of the service; the problem names the incident.'],
  ['Unavailable', 503, 'Busy, or about to stop.', 'Retry-After'],
]
export const errorStatus: Readonly<Record<string, number>> = Object.fromEntries(
  failures.map(([name, status]) => [name, status]),
)
export const errors: Members = {
  NotModified: { description: 'The caller has it already.', headers: { ETag: refTo('headers', 'ETag') } },
  ...Object.fromEntries(
    failures.map(([name, , description, ...more]) => [
      name,
      problemResponse(description, refTo('schemas', 'Problem'), more),
    ]),
  ),
}

const header = (description: string): JsonSchema => ({ description, schema: { type: 'string' } })
export const headers: Members = {
  ETag: header('The entity tag of the representation (RFC 9110 §8.8.3).'),
  'Last-Modified': header('An HTTP date.'),
  'Cache-Control': header('Whether and how it may be kept (RFC 9111).'),
  Vary: header('The request fields that chose the representation.'),
  Location: header('The address of what was made.'),
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': header('The schemes that are taken (RFC 9110 §11.6.1).'),
}

const parameter = (
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
export const parameters: Members = {
  id: parameter('path', 'id', identifierSchema, 'The identifier.'),
  page: parameter('query', 'page', { type: 'integer', minimum: 1 }, 'A page by its number, instead of a cursor.'),
  size: parameter('query', 'size', { type: 'integer', minimum: 1, maximum: 100, default: 20 }, 'Items on a page.'),
  cursor: parameter('query', 'cursor', { type: 'string' }, 'From a link to another page.'),
  sort: parameter('query', 'sort', { type: 'string' }, 'Fields, separated by commas; `-` before one turns its order.'),
  fields: parameter('query', 'fields', { type: 'string' }, 'The fields to show, separated by commas.'),
  q: parameter('query', 'q', { type: 'string' }, 'Words that must all occur.'),
  ifMatch: parameter('header', 'If-Match', { type: 'string' }, 'Entity tags, one of which must still stand.'),
  ifNoneMatch: parameter('header', 'If-None-Match', { type: 'string' }, 'Entity tags that the caller has.'),
  ifModifiedSince: parameter('header', 'If-Modified-Since', { type: 'string' }, 'An HTTP date.'),
  idempotencyKey: parameter('header', 'Idempotency-Key', { type: 'string' }, 'A quoted string: once under this key.'),
  prefer: parameter('header', 'Prefer', { type: 'string' }, 'RFC 7240.'),
}
