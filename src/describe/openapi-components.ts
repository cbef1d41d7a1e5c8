/** What is the same in the OpenAPI document of every service: problems, headers, parameters. */
import type { Json } from '../base/objects.ts'

import { identifierSchema, type JsonSchema } from './json-schema.ts'

export type Members = Readonly<Record<string, Json>>
export const refTo = (kind: 'responses' | 'parameters' | 'headers' | 'schemas', name: string): JsonSchema => ({
  $ref: `#/components/${kind}/${name}`,
})

export const linkSchema: JsonSchema = {
  type: 'object',
  properties: { href: { type: 'string', format: 'uri-reference' }, templated: { type: 'boolean' } },
  required: ['href'],
}
export const linksSchema = (names: readonly string[]): JsonSchema => ({
  type: 'object',
  properties: Object.fromEntries(['self', ...names].map(name => [name, refTo('schemas', 'Link')])),
  additionalProperties: refTo('schemas', 'Link'),
})
export const octetsSchema = (types: readonly string[]): Members => Object.fromEntries(types.map(type => [type, {}]))

export const removalSchema: JsonSchema = {
  type: 'object',
  properties: { removed: { type: 'integer', minimum: 0 }, refused: { type: 'integer', minimum: 0 } },
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
const refusals: readonly (readonly [name: string, status: number, description: string, ...headers: string[]])[] = [
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
export const statusOfError: Readonly<Record<string, number>> = Object.fromEntries(
  refusals.map(([name, status]) => [name, status]),
)
export const errorResponses: Members = {
  NotModified: { description: 'The caller has it already.', headers: { ETag: refTo('headers', 'ETag') } },
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
  'Cache-Control': headerComponent('Whether and how it may be kept (RFC 9111).'),
  Vary: headerComponent('The request fields that chose the representation.'),
  Location: headerComponent('The address of what was made.'),
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 0 } },
  'WWW-Authenticate': headerComponent('The schemes that are taken (RFC 9110 §11.6.1).'),
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
  cursor: parameterComponent('query', 'cursor', { type: 'string' }, 'From a link to another page.'),
  sort: parameterComponent(
    'query',
    'sort',
    { type: 'string' },
    'Fields, separated by commas; `-` before one turns its order.',
  ),
  fields: parameterComponent('query', 'fields', { type: 'string' }, 'The fields to show, separated by commas.'),
  q: parameterComponent('query', 'q', { type: 'string' }, 'Words that must all occur.'),
  ifMatch: parameterComponent('header', 'If-Match', { type: 'string' }, 'Entity tags, one of which must still stand.'),
  ifNoneMatch: parameterComponent('header', 'If-None-Match', { type: 'string' }, 'Entity tags that the caller has.'),
  ifModifiedSince: parameterComponent('header', 'If-Modified-Since', { type: 'string' }, 'An HTTP date.'),
  idempotencyKey: parameterComponent(
    'header',
    'Idempotency-Key',
    { type: 'string' },
    'A quoted string: once under this key.',
  ),
  prefer: parameterComponent('header', 'Prefer', { type: 'string' }, 'RFC 7240.'),
}
