/** A mock of an OpenAPI document: at its addresses, by its schemas, with what was created (docs/mock.md). */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import clinic from '../../examples/clinic/service.ts'
import orders from '../../examples/orders/service.ts'
import tickets from '../../examples/tickets/service.ts'
import { type Json, jsonItems, objectOf, stringOf } from '../../src/base/objects.ts'
import { findMismatch } from '../../src/check/schema-judge.ts'
import type { ExamplePlace } from '../../src/describe/example-text.ts'
import { parseJson } from '../../src/http/json.ts'
import { contentOf, type Request } from '../../src/http/message.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { Losses } from '../../src/import/loss.ts'
import { OpenApiDocument } from '../../src/import/openapi/openapi-document.ts'
import { findSuccess, listRestOperations, type RestOperation } from '../../src/import/openapi/operations.ts'
import { makeContentExample, makeSchemaExample } from '../../src/mock/openapi-example.ts'
import { createOpenApiMock } from '../../src/mock/openapi-mock.ts'
import { type OpenApiMockServer, startOpenApiMock } from '../../src/mock/start-mock.ts'
import { describeService } from '../../src/pages/openapi.ts'

const petsFile = join(import.meta.dirname, 'pets.yaml')
const parse = await loadAnyParser()
const open = (text: string): OpenApiDocument =>
  new OpenApiDocument(text, 'api.json', { find: () => undefined, parse, losses: new Losses() })

const base: Omit<Request, 'method' | 'target' | 'fields' | 'content'> = {
  scheme: 'http',
  version: '1.1',
  from: '127.0.0.1',
}

/** A request with an example of all that the operation asks for. */
function makeRequest(document: OpenApiDocument, operation: RestOperation, seed: number): Request {
  const place = (name: string): ExamplePlace => ({ seed, name, item: 1, idOf: () => undefined, given: {} })
  const made = (parameter: Readonly<Record<string, Json>>): string => {
    const value = makeSchemaExample(document, parameter['schema'], place(stringOf(parameter['name'])))
    return jsonItems(value).length > 0 ? jsonItems(value).join(',') : String(value)
  }
  const of = (where: string) =>
    operation.allParameters.filter(each => each['in'] === where && (where === 'path' || each['required'] === true))
  const path = of('path').reduce(
    (text, each) => text.replace(`{${stringOf(each['name'])}}`, encodeURIComponent(made(each))),
    operation.address,
  )
  const query = new URLSearchParams(of('query').map(each => [stringOf(each['name']), made(each)])).toString()
  const contents = Object.entries(objectOf(document.resolve(operation.request).value['content']))
  const [type, media] = contents.find(([name]) => /json$/.test(name)) ?? contents[0] ?? []
  const content =
    type === undefined
      ? ''
      : /json$/.test(type)
        ? JSON.stringify(makeContentExample(document, media, place(operation.id)))
        : 'octets'
  return {
    ...base,
    method: operation.method,
    target: query === '' ? path : `${path}?${query}`,
    fields: {
      authorization: 'Bearer any',
      'api-key': 'any',
      'x-key': 'any',
      ...Object.fromEntries(of('header').map(each => [stringOf(each['name']).toLowerCase(), made(each)])),
      ...(type === undefined ? {} : { 'content-type': type.replace('*/*', 'text/plain') }),
    },
    content: contentOf(content),
  }
}

const documents: readonly (readonly [string, () => string | Promise<string>])[] = [
  ['a pet store', () => readFileSync(petsFile, 'utf8')],
  ['orders', () => describeService(orders)],
  ['orders, as OpenAPI 3.2', () => describeService(orders, undefined, '3.2')],
  ['clinic', () => describeService(clinic)],
  ['tickets', () => describeService(tickets)],
]
for (const [title, read] of documents)
  test(`each operation of ${title}, called with an example, responds as the document says`, async () => {
    const document = open(await read())
    for (const seed of [1, 2, 3])
      for (const operation of listRestOperations(document)) {
        const answer = createOpenApiMock(document, { seed })
        const response = await answer(makeRequest(document, operation, seed))
        const [status = '', described = {}] = findSuccess(operation) ?? []
        assert.equal(String(response.status), status, `${operation.place}: ${String(response.content)}`)
        const type = String(response.fields['content-type'] ?? '')
        const contents = objectOf(document.resolve(described).value['content'])
        if (!/json/.test(type)) continue
        const wrong = findMismatch(
          document.root,
          objectOf(contents[type])['schema'],
          JSON.parse(String(response.content)),
        )
        assert.equal(wrong, undefined, `${operation.place}, seed ${seed}`)
      }
  })

describe('a pet store', () => {
  let mock: OpenApiMockServer
  before(async () => {
    mock = await startOpenApiMock(petsFile)
  })
  after(() => mock.close())
  const json = { 'content-type': 'application/json', 'x-key': '1' }
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = json) => {
    const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
    const response = await fetch(`${mock.url}/v1${path}`, {
      method,
      headers,
      ...(content !== undefined && { body: content }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
    }
  }

  test('its operations are printed, and responses name the mock and its seed', async () => {
    assert.ok(mock.operations.includes('GET /v1/pets/{petId}'))
    assert.equal((await ask('GET', '/pets')).headers.get('mock-service'), '"Pet Store"; seed=1')
  })

  const refusals: readonly (readonly [string, ...Parameters<typeof ask>, number, RegExp])[] = [
    [
      'a parameter that is not a number',
      'GET',
      '/pets?limit=x',
      undefined,
      json,
      400,
      /limit is "x": the schema says integer/,
    ],
    ['a number beyond its bound', 'GET', '/pets?limit=101', undefined, json, 400, /maximum 100/],
    ['an item of a list that is not in its enumeration', 'GET', '/pets?tag=a,z', undefined, json, 400, /one of/],
    ['an invalid identifier', 'GET', '/pets/x', undefined, json, 404, /petId/],
    ['content that is invalid', 'POST', '/pets', { name: 'R' }, json, 422, /\/name is "R": the schema has minLength 2/],
    ['content that is not JSON', 'POST', '/pets', '{', json, 400, /not JSON/],
    ['no content', 'POST', '/pets', undefined, json, 422, /required/],
    [
      'another media type',
      'POST',
      '/pets',
      'x',
      { 'x-key': '1', 'content-type': 'text/csv' },
      415,
      /application\/json/,
    ],
    ['no credentials', 'POST', '/pets', { name: 'Rex' }, { 'content-type': 'application/json' }, 401, /key/],
    ['an unknown method', 'PUT', '/pets/1', {}, json, 405, /has no PUT/],
    ['an unknown address', 'GET', '/cats', undefined, json, 404, /no address/],
    ['an unknown media type', 'GET', '/pets', undefined, { accept: 'text/csv' }, 406, /application\/json/],
  ]
  for (const [title, method, path, body, headers, status, detail] of refusals)
    test(`${title}: ${status}`, async () => {
      const answer = await ask(method, path, body, headers)
      assert.equal(answer.status, status)
      assert.match(JSON.stringify(answer.json).replaceAll('\\"', '"'), detail)
    })

  test('an error that the document describes has its own form', async () => {
    const text = readFileSync(petsFile, 'utf8').replace(
      '"422": { description: invalid }',
      '"422": { $ref: "#/components/responses/Taken" }',
    )
    const document = open(text)
    const operation = listRestOperations(document).find(({ id }) => id === 'createPet') ?? assert.fail()
    const request = { ...makeRequest(document, operation, 1), content: contentOf('{"name":1}') }
    const { status, fields, content } = await createOpenApiMock(document)(request)
    assert.deepEqual([status, fields['content-type']], [422, 'application/json'])
    assert.deepEqual(Object.keys(JSON.parse(String(content))), ['code', 'message'])
    assert.match(String(content), /the schema says string/)
  })

  test('a created, changed or removed item is seen in the item and in the list', async () => {
    const made = await ask('POST', '/pets', { name: 'Rex', kind: 'dog', unknown: 1 })
    assert.equal(made.status, 201)
    assert.deepEqual([made.json.name, made.json.kind, made.json.unknown], ['Rex', 'dog', undefined])
    const at = (made.headers.get('location') ?? '').replace('/v1', '')
    assert.deepEqual((await ask('GET', at)).json, made.json)
    const changed = await ask('PATCH', at, { name: 'Max' })
    assert.deepEqual(changed.json, { ...made.json, name: 'Max' })
    const namesOf = async () => (await ask('GET', '/pets')).json.map(({ id }: { id: number }) => id) as number[]
    const before = await namesOf()
    assert.ok(before.includes(made.json.id))
    assert.equal(new Set(before).size, before.length)
    for (const id of before) assert.equal((await ask('DELETE', `/pets/${id}`)).status, 204)
    assert.deepEqual(await namesOf(), [])
    assert.equal((await ask('GET', at)).status, 404)
  })

  test('an item that was not created is an example with the requested identifier', async () => {
    assert.equal((await ask('GET', '/pets/77')).json.id, 77)
    assert.deepEqual((await ask('GET', '/pets/77')).json, (await ask('GET', '/pets/77')).json)
  })

  test('it misbehaves as a mock of a contract does, with faults that the document declares', async () => {
    const fault = await ask('POST', '/pets', { name: 'Rex' }, { ...json, 'mock-behavior': 'fault=Taken' })
    assert.equal(fault.status, 409)
    assert.ok(fault.json.code >= 1000 && fault.json.code <= 1999)
    assert.equal(
      (await ask('POST', '/pets', { name: 'Rex' }, { ...json, 'mock-behavior': 'fault=Conflict' })).status,
      409,
    )
    const unknown = await ask('GET', '/pets/1', undefined, { 'mock-behavior': 'fault=Taken' })
    assert.deepEqual([unknown.status, /it declares NotFound/.test(unknown.json.detail)], [400, true])
    assert.equal(
      (await ask('GET', '/pets', undefined, { 'mock-behavior': 'unavailable=3' })).headers.get('retry-after'),
      '3',
    )
  })

  test('HEAD and OPTIONS work as in HTTP', async () => {
    const head = await ask('HEAD', '/pets')
    assert.deepEqual([head.status, head.json], [200, ''])
    assert.equal((await ask('OPTIONS', '/pets')).headers.get('allow'), 'GET, POST, HEAD, OPTIONS')
  })
})

test('a file that is not an OpenAPI document is refused with its name', async () => {
  await assert.rejects(startOpenApiMock(join(import.meta.dirname, 'none.yaml')), /none\.yaml not found/)
  await assert.rejects(
    startOpenApiMock(join(import.meta.dirname, '..', '..', 'package.json')),
    /package\.json is not an OpenAPI/,
  )
})

test('RFC 8259 §8.1 a document that begins with a byte order mark is mocked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-mock-'))
  const file = join(folder, 'marked.json')
  writeFileSync(file, '\ufeff{"openapi": "3.1.0", "info": {"title": "Marked"}, "paths": {"/a": {"get": {}}}}')
  try {
    await using mock = await startOpenApiMock(file)
    assert.deepEqual(mock.operations, ['GET /a'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('OpenAPI §4.8.24 a readOnly member is not required of a request, at any depth, and is in the response', async () => {
  const keyed = { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string', readOnly: true }, name: { type: 'string' } } } // biome-ignore format: one line
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/User' } } }
  const document = open(
    JSON.stringify({
      openapi: '3.1.0',
      paths: { '/users': { post: { requestBody: { content }, responses: { 201: { content } } } } },
      components: { schemas: { Key: keyed, User: { ...keyed, required: [...keyed.required, 'key'], properties: { ...keyed.properties, key: { $ref: '#/components/schemas/Key' } } } } },
    }),
  ) // biome-ignore format: a table
  const fields = { 'content-type': 'application/json' }
  const post = async (text: string) => await createOpenApiMock(document)({ ...base, method: 'POST', target: '/users', fields, content: contentOf(text) }) // biome-ignore format: one line
  const made = await post('{"name":"Ann","key":{"name":"k"}}')
  assert.deepEqual([made.status, Object.keys(JSON.parse(String(made.content)))], [201, ['id', 'name', 'key']])
  assert.equal((await post('{"key":{"name":"k"}}')).status, 422)
})

describe('a response has what its schema allows', () => {
  const pet = { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } }
  const pay = { type: 'object', required: ['by'], properties: { by: { const: 'card' } } }
  const document = open(
    JSON.stringify({
      openapi: '3.1.0',
      paths: {
        '/all': { get: { responses: { 200: { headers: { ETag: { schema: { type: 'string' } } }, content: { 'application/json': { schema: { $ref: '#/components/schemas/All' } } } } } } },
      },
      components: {
        schemas: {
          Cat: pet,
          Dog: pet,
          Pay: pay,
          Named: { oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }], discriminator: { propertyName: 'kind' } },
          Mapped: { oneOf: [{ $ref: '#/components/schemas/Dog' }, { $ref: '#/components/schemas/Cat' }], discriminator: { propertyName: 'kind', mapping: { cat: 'Cat', dog: '#/components/schemas/Dog' } } },
          Paid: { oneOf: [{ $ref: '#/components/schemas/Pay' }, { $ref: '#/components/schemas/Cat' }], discriminator: { propertyName: 'by' } },
          All: { type: 'object', properties: { pays: { type: 'array', items: { $ref: '#/components/schemas/Pay' } }, named: { $ref: '#/components/schemas/Named' }, mapped: { $ref: '#/components/schemas/Mapped' }, paid: { $ref: '#/components/schemas/Paid' } } },
        },
      },
    }),
  ) // biome-ignore format: a table
  const answered = (seed: number) =>
    createOpenApiMock(document, { seed })({
      ...base,
      method: 'GET',
      target: '/all',
      fields: {},
      content: contentOf(''),
    })
  const member = async (name: string): Promise<unknown> => JSON.parse(String((await answered(1)).content))[name]
  const rows: readonly (readonly [title: string, name: string, value: unknown])[] = [
    ['JSON Schema Validation §6.1.3 a constant in each item', 'pays', [{ by: 'card' }, { by: 'card' }]],
    ['OpenAPI §4.8.25 the name of the schema by its discriminator', 'named', { kind: 'Cat' }],
    ['OpenAPI §4.8.25.4 the name that the discriminator maps to it', 'mapped', { kind: 'dog' }],
    ['OpenAPI §4.8.25 but a constant of the schema stays', 'paid', { by: 'card' }],
  ]
  for (const [title, name, value] of rows) test(title, async () => assert.deepEqual(await member(name), value))

  const int64 = { minimum: -(2n ** 63n), maximum: 2n ** 63n - 1n }
  const numbers: readonly (readonly [title: string, schema: object])[] = [
    ['within 64 bits, which no double has exactly', int64],
    ['below zero', { exclusiveMaximum: 0 }],
    ['between two bounds below zero', { minimum: -3, maximum: -2 }],
    ['above a bound', { exclusiveMinimum: 40 }],
    ['around zero, in steps', { minimum: -7, maximum: 7, multipleOf: 5 }],
  ]
  for (const [title, facets] of numbers)
    test(`JSON Schema Validation §6.2 a whole number ${title}`, () => {
      const schema = { type: 'integer', ...facets }
      for (let item = 0; item < 30; item++) {
        const place = { seed: item, name: 'n', item, idOf: () => undefined, given: {} }
        const written = JSON.stringify(makeSchemaExample(document, schema, place))
        assert.equal(findMismatch({}, schema as never, parseJson(written).value ?? null), undefined, written)
      }
    })
  test('JSON Schema Validation §7.3 the formats of references and templates', () => {
    for (const format of ['uri-reference', 'iri-reference', 'uri-template', 'iri', 'uri']) {
      const place = { seed: 1, name: 'n', item: 1, idOf: () => undefined, given: {} }
      assert.match(String(makeSchemaExample(document, { type: 'string', format }, place)), /^\S*\/\S*$/)
    }
  })
  test('RFC 9110 §8.8.3 a declared ETag is a tag of the content', async () => {
    const [one, again, other] = await Promise.all([answered(1), answered(1), answered(2)])
    assert.match(String(one.fields['etag']), /^"[0-9a-f]{16}"$/)
    assert.equal(again.fields['etag'], one.fields['etag'])
    assert.equal(other.fields['etag'] === one.fields['etag'], String(other.content) === String(one.content))
  })
})

describe('RFC 9110 §13 preconditions are judged by the ETag that a GET of the address declares', () => {
  const pet = {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'string' }, name: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
  }
  const named = { ...pet, required: ['name'] }
  const content = (schema: object) => ({ 'application/json': { schema } })
  const tagged = (schema: object) => ({ headers: { ETag: { schema: { type: 'string' } } }, content: content(schema) })
  const requestBody = { content: content(named) }
  const text = JSON.stringify({
    openapi: '3.1.0',
    servers: [{ url: '/api' }],
    paths: {
      '/pets': { post: { requestBody, responses: { 201: tagged(pet) } } },
      '/pets/{id}': { get: { responses: { 200: tagged(pet) } }, put: { requestBody, responses: { 200: tagged(named), 412: { content: content({ type: 'object', properties: { title: { type: 'string' } } }) } } }, delete: { responses: { 204: {} } } },
      '/plain/{id}': { get: { responses: { 200: { content: content(pet) } } }, put: { requestBody, responses: { 200: { content: content(pet) } } } },
    },
  }) // biome-ignore format: a table
  const start = () => {
    const mock = createOpenApiMock(open(text))
    return async (method: string, target: string, fields: Readonly<Record<string, string>> = {}, sent = '{"name":"Rex"}') => {
      const isSent = method === 'PUT' || method === 'POST'
      const typed = isSent ? { 'content-type': 'application/json', ...fields } : fields
      const answer = await mock({ ...base, method, target: `/api${target}`, fields: typed, content: contentOf(isSent ? sent : '') })
      return { status: answer.status, tag: String(answer.fields['etag']), location: String(answer.fields['location']) }
    }
  } // biome-ignore format: one line each
  test('§13.1.1 If-Match allows a change only with the tag of the GET, which the response to a change has too', async () => {
    const ask = start()
    const { tag } = await ask('GET', '/pets/1')
    const changed = await ask('PUT', '/pets/1', { 'if-match': tag })
    assert.equal(changed.status, 200)
    assert.notEqual(changed.tag, tag)
    assert.equal((await ask('GET', '/pets/1')).tag, changed.tag)
    assert.equal((await ask('PUT', '/pets/1', { 'if-match': tag }, '{"name":"Ann"}')).status, 412)
    assert.equal((await ask('GET', '/pets/1')).tag, changed.tag, 'nothing was changed')
    assert.equal((await ask('DELETE', '/pets/1', { 'if-match': `"x", ${changed.tag}` })).status, 204)
    assert.equal((await ask('PUT', '/pets/1', { 'if-match': '*' })).status, 412)
    const made = await ask('POST', '/pets')
    assert.equal((await ask('GET', made.location.slice('/api'.length))).tag, made.tag)
  })
  test('§13.1.2 If-None-Match is 304 for an unchanged item, and prevents a second creation', async () => {
    const ask = start()
    const { tag } = await ask('GET', '/pets/1')
    const again = await ask('GET', '/pets/1', { 'if-none-match': `W/${tag}` })
    assert.deepEqual([again.status, again.tag], [304, tag])
    assert.equal((await ask('GET', '/pets/1', { 'if-none-match': '"x"' })).status, 200)
    assert.equal((await ask('PUT', '/pets/2', { 'if-none-match': '*' })).status, 200)
    assert.equal((await ask('PUT', '/pets/2', { 'if-none-match': '*' })).status, 412)
  })
  test('without a declared ETag no precondition is evaluated', async () => {
    const ask = start()
    assert.equal((await ask('PUT', '/plain/1', { 'if-match': '"x"' })).status, 200)
    assert.equal((await ask('GET', '/plain/1', { 'if-none-match': '*' })).status, 200)
  })
})

describe('a hostile schema costs one example no more than a large one', () => {
  const placeOf = (name: string): ExamplePlace => ({ seed: 1, name, item: 1, idOf: () => undefined, given: {} })
  const make = (schema: Json, schemas: Json = {}): Json => {
    const document = open(JSON.stringify({ openapi: '3.1.0', paths: {}, components: { schemas } }))
    return makeSchemaExample(document, schema, placeOf('it'))
  }
  const thousand = (items: Json): Json => ({ type: 'array', minItems: 1000, items })

  test('a pattern that takes exponential time in the engine', () => {
    assert.match(String(make({ type: 'string', pattern: '^(x+)+y$', minLength: 60 })), /^x{59,}y$/)
    assert.ok(String(make({ type: 'string', pattern: '^((((a{100}){100}){100}){100}){100}$' })).length < 30_000)
  })
  test('thousands of thousands of items', () => {
    assert.throws(
      () => make(thousand(thousand(thousand({ type: 'integer' })))),
      /no example of it .*20000 values; lower/,
    )
    assert.throws(() => make({ type: 'array', minItems: 999_999_999, items: {} }), /20000 values; lower/)
    assert.throws(() => make({ type: 'string', minLength: 999_999_999 }), /100000 characters or items; lower/)
  })
  test('many members of its own kind', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`p${i}`, { $ref: '#/components/schemas/A' }]),
    )
    const made = make({ $ref: '#/components/schemas/A' }, { A: { type: 'object', properties } })
    assert.ok(JSON.stringify(made).length < 300_000)
  })
  test('an option of itself', () => {
    const anyOf = [{ $ref: '#/components/schemas/A' }]
    assert.deepEqual(make({ $ref: '#/components/schemas/A' }, { A: { anyOf } }), {})
  })
})
