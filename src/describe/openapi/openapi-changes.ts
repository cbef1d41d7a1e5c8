/** The feed of changes in OpenAPI: its pages, and the stream, which 3.1 cannot describe. */
import type { JsonSchema } from '../json-schema.ts'
import { linksSchema, type Members, refTo } from './openapi-components.ts'

const int64: JsonSchema = { type: 'integer', format: 'int64' }

/** One page as JSON, which a client gets that accepts anything. */
export const feedSchemas: Members = {
  Change: {
    type: 'object',
    properties: {
      sequence: int64,
      resource: { type: 'string' },
      id: { type: 'string' },
      version: int64,
      what: { type: 'string' },
      operation: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
    },
    required: ['sequence', 'resource', 'id', 'version', 'what', 'at'],
  },
  ChangesPage: {
    type: 'object',
    properties: {
      items: { type: 'array', items: refTo('schemas', 'Change') },
      next: int64,
      more: { type: 'boolean' },
      _links: linksSchema(['next'], ['self', 'next']),
    },
    required: ['items', 'next', 'more', '_links'],
  },
}

/** CloudEvents 1.0 in the JSON format; `data` says which item has changed. */
const changeSchema: JsonSchema = {
  type: 'object',
  properties: {
    specversion: { const: '1.0' },
    id: { type: 'string' },
    sequence: { type: 'string' },
    source: { type: 'string', format: 'uri-reference' },
    type: { type: 'string' },
    subject: { type: 'string' },
    time: { type: 'string', format: 'date-time' },
    datacontenttype: { const: 'application/json' },
    data: {
      type: 'object',
      properties: {
        resource: { type: 'string' },
        id: { type: 'string' },
        version: int64,
        what: { type: 'string' },
        operation: { type: 'string' },
      },
      required: ['resource', 'id', 'version', 'what'],
    },
  },
  required: ['specversion', 'id', 'sequence', 'source', 'type', 'subject', 'time', 'data'],
}
/** §4.14.3.1: one event of the stream, with JSON as its `data`. */
const eventSchema: JsonSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    event: { type: 'string' },
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: changeSchema },
  },
  required: ['id', 'data'],
}

const pageContent: Members = { 'application/json': { schema: refTo('schemas', 'ChangesPage') } }
const pageParameters: readonly JsonSchema[] = [
  { name: 'after', in: 'query', schema: { type: 'string', pattern: '^[0-9]{1,15}(-[0-9]{1,16})?$' } },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
]

const describeRead = (parameters: readonly JsonSchema[], description: string, content: Members): JsonSchema => ({
  get: {
    operationId: 'ListChanges',
    summary: 'Changes',
    tags: ['changes'],
    security: [{}, { bearer: [] }, { basic: [] }, { key: [] }],
    parameters,
    responses: {
      200: { description, content },
      400: refTo('responses', 'BadRequest'),
      401: refTo('responses', 'Unauthorized'),
      406: refTo('responses', 'NotAcceptable'),
      410: refTo('responses', 'Gone'),
      429: refTo('responses', 'TooManyRequests'),
      503: refTo('responses', 'Unavailable'),
    },
  },
})

const visible = 'The changes that the caller may see.'
/** For 3.1: one type, as for every response. */
export const describePages = (): JsonSchema =>
  describeRead(pageParameters, `${visible} Also as application/cloudevents-batch+json, text/event-stream.`, pageContent)

/** For 3.2: a page, a page as a batch of events, and a stream. */
export const describeFeed = (): JsonSchema =>
  describeRead([...pageParameters, { name: 'Last-Event-ID', in: 'header', schema: { type: 'string' } }], visible, {
    ...pageContent,
    'application/cloudevents-batch+json': { schema: { type: 'array', items: changeSchema } },
    'text/event-stream': { itemSchema: eventSchema },
  })
