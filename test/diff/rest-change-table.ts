/**
 * Single changes of an OpenAPI document, each with what it does to the callers that write what
 * changed and to those that read it (A9.3, A9.4). Tests hold `src/diff` against it; peers hold it
 * against clients.
 */
import type { Json } from '../../src/base/objects.ts'

type Members = { readonly [name: string]: Json }
export type Verdict = 'breaking' | 'compatible'

const schemaOf = (schema: Json): Members => ({ content: { 'application/json': { schema } } })
/** One operation; `Thing` is read and written. */
export const service = (thing: Json, more: Members = {}, operation: Members = {}): Json => ({
  openapi: '3.1.0',
  info: { title: 'x', version: '1' },
  components: { schemas: { Thing: thing }, ...more },
  paths: {
    '/things/{id}': {
      put: {
        requestBody: { required: true, ...schemaOf({ $ref: '#/components/schemas/Thing' }) },
        responses: { '200': schemaOf({ $ref: '#/components/schemas/Thing' }) },
        ...operation,
      },
    },
  },
})
export const object = (properties: Members, more: Members = {}): Json => ({ type: 'object', properties, ...more })
const closed = { additionalProperties: false }
const mapBy = (propertyNames: { readonly [keyword: string]: Json }) => ({
  type: 'object',
  additionalProperties: string,
  propertyNames,
})
export const string = { type: 'string' }
export const integer = { type: 'integer' }
const a = (schema: Json, more: Members = {}): Json => object({ a: schema }, more)
const pet = (kind: string): Json => object({ kind: { const: kind }, name: string }, { required: ['kind'] })

/** [what changed, before, after, for writers, for readers, the place] */
export const changesOfTypes: readonly (readonly [string, Json, Json, Verdict, Verdict, string?])[] = [
  ['an optional member comes', a(string), object({ a: string, b: string }), 'compatible', 'compatible', 'Thing/b'],
  [
    'the default of a member changes',
    a({ ...string, default: 'x' }),
    a({ ...string, default: 'y' }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  ['a default comes', a(string), a({ ...string, default: 'x' }), 'breaking', 'compatible', 'Thing/a'],
  ['a default is removed', a({ ...string, default: 'x' }), a(string), 'breaking', 'compatible', 'Thing/a'],
  [
    'a required member has a default, and so may be left out',
    a(string, { required: ['a'] }),
    a({ ...string, default: 'x' }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  [
    '… where unknown members are refused',
    a(string, closed),
    object({ a: string, b: string }, closed),
    'compatible',
    'compatible',
    'Thing/b',
  ],
  [
    'a required member comes',
    a(string),
    object({ a: string, b: string }, { required: ['b'] }),
    'breaking',
    'compatible',
    'Thing/b',
  ],
  ['an optional member goes', object({ a: string, b: string }), a(string), 'breaking', 'breaking', 'Thing/b'],
  [
    'a required member goes',
    object({ a: string, b: string }, { required: ['b'] }),
    a(string),
    'breaking',
    'breaking',
    'Thing/b',
  ],
  ['a member becomes required', a(string), a(string, { required: ['a'] }), 'breaking', 'compatible', 'Thing/a'],
  ['a member becomes optional', a(string, { required: ['a'] }), a(string), 'compatible', 'breaking', 'Thing/a'],
  ['a text becomes a number', a(string), a(integer), 'breaking', 'breaking', 'Thing/a'],
  ['an integer becomes any number', a(integer), a({ type: 'number' }), 'compatible', 'breaking', 'Thing/a'],
  ['a number becomes an integer', a({ type: 'number' }), a(integer), 'breaking', 'compatible', 'Thing/a'],
  ['a value becomes a list', a(string), a({ type: 'array', items: string }), 'breaking', 'breaking', 'Thing/a'],
  ['a list becomes a value', a({ type: 'array', items: string }), a(string), 'breaking', 'breaking', 'Thing/a'],
  ['an object becomes a text', a(object({})), a(string), 'breaking', 'breaking', 'Thing/a'],
  ['null comes', a(string), a({ type: ['string', 'null'] }), 'compatible', 'breaking', 'Thing/a'],
  ['null goes', a({ type: ['string', 'null'] }), a(string), 'breaking', 'compatible', 'Thing/a'],
  [
    'null comes, in the words of 3.0',
    a(string),
    a({ type: 'string', nullable: true }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  ['null comes, by anyOf', a(string), a({ anyOf: [string, { type: 'null' }] }), 'compatible', 'breaking', 'Thing/a'],
  ['a value of an enumeration comes', a({ enum: ['x'] }), a({ enum: ['x', 'y'] }), 'compatible', 'breaking', 'Thing/a'],
  ['a value of an enumeration goes', a({ enum: ['x', 'y'] }), a({ enum: ['x'] }), 'breaking', 'compatible', 'Thing/a'],
  ['a text becomes an enumeration', a(string), a({ type: 'string', enum: ['x'] }), 'breaking', 'compatible', 'Thing/a'],
  [
    'an enumeration becomes any text',
    a({ type: 'string', enum: ['x'] }),
    a(string),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  ['a constant changes its case', a({ const: 1 }), a({ type: 'number' }), 'compatible', 'breaking', 'Thing/a'],
  [
    'a text may be longer',
    a({ ...string, maxLength: 5 }),
    a({ ...string, maxLength: 9 }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  [
    'a text must be shorter',
    a({ ...string, maxLength: 9 }),
    a({ ...string, maxLength: 5 }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  ['a longest text comes', a(string), a({ ...string, maxLength: 5 }), 'breaking', 'compatible', 'Thing/a'],
  [
    'a shortest text rises',
    a({ ...string, minLength: 1 }),
    a({ ...string, minLength: 2 }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  [
    'a shortest text falls',
    a({ ...string, minLength: 2 }),
    a({ ...string, minLength: 1 }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  ['a pattern comes', a(string), a({ ...string, pattern: '^x' }), 'breaking', 'compatible', 'Thing/a'],
  ['a pattern goes', a({ ...string, pattern: '^x' }), a(string), 'compatible', 'breaking', 'Thing/a'],
  [
    'a pattern changes',
    a({ ...string, pattern: '^x' }),
    a({ ...string, pattern: '^y' }),
    'breaking',
    'breaking',
    'Thing/a',
  ],
  ['a format comes', a(string), a({ ...string, format: 'date' }), 'breaking', 'compatible', 'Thing/a'],
  [
    'a format changes',
    a({ ...string, format: 'date' }),
    a({ ...string, format: 'date-time' }),
    'breaking',
    'breaking',
    'Thing/a',
  ],
  [
    'a maximum rises',
    a({ ...integer, maximum: 5 }),
    a({ ...integer, maximum: 9 }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  [
    'a maximum falls',
    a({ ...integer, maximum: 9 }),
    a({ ...integer, maximum: 5 }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  ['a minimum comes', a(integer), a({ ...integer, minimum: 0 }), 'breaking', 'compatible', 'Thing/a'],
  ['a step comes', a(integer), a({ ...integer, multipleOf: 5 }), 'breaking', 'compatible', 'Thing/a'],
  [
    'a list may be longer',
    a({ type: 'array', items: string, maxItems: 2 }),
    a({ type: 'array', items: string, maxItems: 3 }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  [
    'items must differ',
    a({ type: 'array', items: string }),
    a({ type: 'array', items: string, uniqueItems: true }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  [
    'an item changes its type',
    a({ type: 'array', items: string }),
    a({ type: 'array', items: integer }),
    'breaking',
    'breaking',
    'Thing/a[]',
  ],
  ['unknown members are refused from now on', a(string), a(string, closed), 'breaking', 'compatible', 'Thing'],
  ['unknown members are taken from now on', a(string, closed), a(string), 'compatible', 'compatible', 'Thing'],
  [
    'values of unknown members have another type',
    a(string, { additionalProperties: string }),
    a(string, { additionalProperties: integer }),
    'breaking',
    'breaking',
    'Thing/*',
  ],
  [
    'a map accepts names beyond its pattern',
    a(mapBy({ pattern: '^[a-z]{2}$' })),
    a(mapBy({})),
    'compatible',
    'breaking',
    'Thing/a/* (names)',
  ],
  [
    'a map lists its names from now on',
    a(mapBy({ maxLength: 2 })),
    a(mapBy({ maxLength: 2, enum: ['de', 'en'] })),
    'breaking',
    'compatible',
    'Thing/a/* (names)',
  ],
  [
    'a map has fewer members than before',
    a({ ...mapBy({}), maxProperties: 9 }),
    a({ ...mapBy({}), maxProperties: 3 }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  [
    'a choice comes',
    a({ oneOf: [pet('cat')] }),
    a({ oneOf: [pet('cat'), pet('dog')] }),
    'compatible',
    'breaking',
    'Thing/a',
  ],
  [
    'a choice goes',
    a({ oneOf: [pet('cat'), pet('dog')] }),
    a({ oneOf: [pet('cat')] }),
    'breaking',
    'compatible',
    'Thing/a',
  ],
  [
    'choices change their order, and one its name',
    a({ oneOf: [pet('cat'), pet('dog')] }),
    a({ oneOf: [pet('dog'), pet('cow')] }),
    'breaking',
    'breaking',
  ],
  ['any value becomes a text', a({}), a(string), 'breaking', 'compatible', 'Thing/a'],
  ['a text becomes any value', a(string), a({}), 'compatible', 'breaking', 'Thing/a'],
  [
    'a part of allOf comes',
    a(string),
    { allOf: [a(string), object({ b: string }, { required: ['b'] })] },
    'breaking',
    'compatible',
    'Thing/b',
  ],
]

const thing = a(string)
const query = (name: string, more: Members = {}): Json => ({ name, in: 'query', schema: string, ...more })
const response = (schema: Json = thing): Members => schemaOf(schema)
const plain = service(thing)
/** [what changed, before, after, for writers, for readers] */
export const changesOfOperations: readonly (readonly [string, Json, Json, Verdict | undefined, Verdict | undefined])[] =
  [
    ['a parameter comes', plain, service(thing, {}, { parameters: [query('q')] }), 'compatible', undefined],
    [
      'a required parameter comes',
      plain,
      service(thing, {}, { parameters: [query('q', { required: true })] }),
      'breaking',
      undefined,
    ],
    ['a parameter goes', service(thing, {}, { parameters: [query('q')] }), plain, 'breaking', undefined],
    [
      'a parameter becomes required',
      service(thing, {}, { parameters: [query('q')] }),
      service(thing, {}, { parameters: [query('q', { required: true })] }),
      'breaking',
      undefined,
    ],
    [
      'a parameter becomes optional',
      service(thing, {}, { parameters: [query('q', { required: true })] }),
      service(thing, {}, { parameters: [query('q')] }),
      'compatible',
      undefined,
    ],
    [
      'a parameter must be shorter',
      service(thing, {}, { parameters: [query('q')] }),
      service(thing, {}, { parameters: [query('q', { schema: { ...string, maxLength: 3 } })] }),
      'breaking',
      undefined,
    ],
    [
      'credentials are demanded',
      service(thing, {}, { security: [{}, { bearer: [] }] }),
      service(thing, {}, { security: [{ bearer: [] }] }),
      'breaking',
      undefined,
    ],
    [
      'another way to sign in comes',
      service(thing, {}, { security: [{ bearer: [] }] }),
      service(thing, {}, { security: [{ bearer: [] }, { basic: [] }] }),
      'compatible',
      undefined,
    ],
    [
      'an error comes',
      plain,
      service(thing, {}, { responses: { '200': response({ $ref: '#/components/schemas/Thing' }), '409': response() } }),
      undefined,
      'compatible',
    ],
    [
      'an error goes',
      service(thing, {}, { responses: { '200': response(), '409': response() } }),
      service(thing, {}, { responses: { '200': response() } }),
      undefined,
      'compatible',
    ],
    [
      'another success comes',
      service(thing, {}, { responses: { '200': response() } }),
      service(thing, {}, { responses: { '200': response(), '202': response() } }),
      undefined,
      'breaking',
    ],
    [
      'a media type of the answer goes',
      service(thing, {}, { responses: { '200': { content: { 'application/json': {}, 'text/csv': {} } } } }),
      service(thing, {}, { responses: { '200': { content: { 'application/json': {} } } } }),
      undefined,
      'breaking',
    ],
    [
      'a media type of the answer comes',
      service(thing, {}, { responses: { '200': { content: { 'application/json': {} } } } }),
      service(thing, {}, { responses: { '200': { content: { 'application/json': {}, 'text/csv': {} } } } }),
      undefined,
      'compatible',
    ],
    [
      'a media type of the content goes',
      service(
        thing,
        {},
        { requestBody: { required: true, content: { 'application/json': {}, 'application/xml': {} } } },
      ),
      service(thing, {}, { requestBody: { required: true, content: { 'application/json': {} } } }),
      'breaking',
      undefined,
    ],
    [
      'a media type of the content comes',
      service(thing, {}, { requestBody: { required: true, content: { 'application/json': {} } } }),
      service(
        thing,
        {},
        { requestBody: { required: true, content: { 'application/json': {}, 'application/xml': {} } } },
      ),
      'compatible',
      undefined,
    ],
    [
      'a field of the answer goes',
      service(thing, {}, { responses: { '200': { headers: { ETag: { schema: string } } } } }),
      service(thing, {}, { responses: { '200': {} } }),
      undefined,
      'breaking',
    ],
  ]
