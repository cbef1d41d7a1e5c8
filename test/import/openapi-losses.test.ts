/** What an OpenAPI document has and a contract cannot say is told in one line with its place; nothing is lost in silence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Implementation } from '../../src/contract/implement.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'
import { describeService } from '../../src/pages/openapi.ts'

const parse = await loadAnyParser()
const how = { find: () => undefined, parse }
const documentOf = (paths: object, more: object = {}): string =>
  JSON.stringify({ openapi: '3.1.0', info: { title: 'Shop', version: '1' }, paths, ...more })
const linesOf = (losses: readonly { readonly place: string; readonly detail: string }[]): readonly string[] =>
  losses.map(({ place, detail }) => `${place}: ${detail}`)
const tellPort = (text: string) => linesOf(readRestPort(text, 'shop.json', [], how).losses)
const tellService = (text: string) => linesOf(readImportedService(text, 'shop.json', how).losses)

const text = { type: 'string' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = { 200: json({ type: 'object', properties: { a: text } }) }
const item = json({ type: 'object', required: ['id'], properties: { id: text, note: text } })
const orders = {
  '/orders': { get: { responses: { 200: json({ type: 'array', items: item.content['application/json'].schema }) } } },
  '/orders/{id}': { get: { responses: { 200: item } } },
}

const cases: readonly (readonly [clause: string, document: string, told: readonly string[]])[] = [
  ['§4.8.17 fields of responses', documentOf({ '/a': { get: { responses: { ...ok, 404: { description: 'None.', headers: { 'X-Total': { schema: text }, 'X-Page': { schema: text }, ETag: { schema: text } } } } } } }), ['GET /a: the response fields X-Total, X-Page are left out']],
  ['§4.8.20 links', documentOf({ '/a': { get: { responses: { 200: { ...ok[200], links: { next: { operationId: 'b' } } } } } } }), ['GET /a: the link next is left out']],
  ['§4.8.18 callbacks', documentOf({ '/a': { post: { callbacks: { done: {}, failed: {} }, responses: ok } } }), ['POST /a: the callbacks done, failed are left out']],
  ['§4.8.1 webhooks', documentOf({ '/a': { get: { responses: ok } } }, { webhooks: { sold: { post: { responses: ok } } } }), ['webhook sold: is left out: the service sends this request, and does not receive it']],
  ['§4.8.16 a second success', documentOf({ '/a': { get: { responses: { ...ok, 203: json({ type: 'object', properties: { b: text } }) } } } }), ['GET /a: the content of 203 is left out: an answer is that of 200']],
  ['§4.8.16 a second success with the same content', documentOf({ '/a': { get: { responses: { 200: json({ $ref: '#/components/schemas/A' }), 203: json({ $ref: '#/components/schemas/A' }) } } } }, { components: { schemas: { A: { type: 'object', properties: { a: text } } } } }), []],
  ['§4.8.10 an operationId that is already in use', documentOf({ '/a': { get: { operationId: 'read', responses: ok } }, '/b': { get: { operationId: 'read', responses: ok } } }), ['GET /b: shares its operationId with another operation: it is Read2']],
] // biome-ignore format: a table
for (const [clause, document, told] of cases)
  test(`OpenAPI ${clause}, of each operation`, () => assert.deepEqual(tellPort(document), told))
for (const [clause, document, told] of cases.slice(0, 5))
  test(`OpenAPI ${clause}, of a service`, () => {
    const lines = tellService(document)
    for (const each of told) assert.ok(lines.includes(each), lines.join('\n'))
  })

const record = { type: 'object', properties: { a: text, b: text } }
const map = { type: 'object', additionalProperties: text }
/** Each keyword of JSON Schema 2020-12 that narrows values and that no contract keeps; and where it says nothing. */
const keywords: readonly (readonly [clause: string, schema: object, told: string | undefined])[] = [
  ['Core §10.2.1.4', { ...text, not: { const: '' } }, 'not is'],
  ['Core §10.2.2.1', { ...record, if: { required: ['a'] }, else: { required: ['b'] } }, 'if is'],
  ['Core §10.2.2.1 alone', { ...record, if: { required: ['a'] } }, undefined],
  ['Core §10.2.2.4', { ...record, dependentSchemas: { a: { required: ['b'] } } }, 'dependentSchemas is'],
  ['Core §10.3.1.1', { type: 'array', items: text, prefixItems: [text] }, 'prefixItems is'],
  ['Core §10.3.1.3', { type: 'array', items: text, contains: { const: 'a' }, minContains: 2 }, 'contains is'],
  ['Core §10.3.2.4', { ...record, propertyNames: { maxLength: 1 } }, 'propertyNames is'],
  ['Core §10.3.2.4 of a map', { ...map, propertyNames: { maxLength: 1 } }, undefined],
  ['Core §11.2', { type: 'array', items: text, unevaluatedItems: false }, 'unevaluatedItems is'],
  ['Core §11.2 of all', { type: 'array', items: text, unevaluatedItems: true }, undefined],
  ['Validation §6.1.2 of objects', { ...record, enum: [{ a: 'x' }] }, 'enum is'],
  ['Validation §6.1.2 of texts', { ...text, enum: ['x'] }, undefined],
  ['Validation §6.1.3 of a list', { type: 'array', items: text, const: ['x'] }, 'const is'],
  ['Validation §6.5.1', { ...record, maxProperties: 1 }, 'maxProperties is'],
  ['Validation §6.5.1 of a map', { ...map, maxProperties: 1 }, undefined],
  ['Validation §6.5.2', { ...record, minProperties: 1 }, 'minProperties is'],
  ['Validation §6.5.2 of none', { ...record, minProperties: 0 }, undefined],
  ['Validation §6.5.4', { ...record, dependentRequired: { a: ['b'] } }, 'dependentRequired is'],
  ['Validation §8.5', { ...text, contentMediaType: 'application/json', contentSchema: record }, 'contentSchema is'],
  ['draft 7', { ...record, dependencies: { a: ['b'] } }, 'dependencies is'],
  ['several', { ...record, not: { required: ['a'] }, maxProperties: 1 }, 'not, maxProperties are'],
]
for (const [clause, schema, told] of keywords)
  test(`JSON Schema ${clause}: an unsupported keyword is reported, within members, lists and alternatives too`, () => {
    const asked = { type: 'object', properties: { f: { type: 'array', items: { allOf: [schema] } } } }
    const operation = { post: { requestBody: json({ $ref: '#/components/schemas/Asked' }), responses: { 204: {} } } }
    const document = documentOf({ '/a': operation }, { components: { schemas: { Asked: asked, Other: { not: {} } } } })
    for (const tell of [tellPort, tellService]) {
      const lines = tell(document).filter(each => / (?:is|are) not checked$/.test(each))
      assert.deepEqual(lines, told === undefined ? [] : [`Asked: ${told} not checked`])
    }
  })

const csv = { 'text/csv': { schema: text } }
const operations: readonly (readonly [clause: string, operation: object, told: string])[] = [
  ['§4.8.13 a content of several types', { requestBody: { content: { ...ok[200].content, ...csv } }, responses: ok }, 'the request media type text/csv is left out'],
  ['§4.8.16 a response of several types', { responses: { 200: { content: { ...ok[200].content, ...csv } } } }, 'the response media type text/csv is left out'],
  ['§4.8.10 servers of its own', { servers: [{ url: 'https://b.example' }], responses: ok }, 'has its own servers: requests go to those of the document'],
  ['3.2 §4.12.1 the whole query', { parameters: [{ in: 'querystring', name: 'q', content: ok[200].content }], responses: ok }, 'the query string q is left out'],
] // biome-ignore format: a table
for (const [clause, operation, told] of operations)
  test(`OpenAPI ${clause} is reported`, () => {
    const document = documentOf({ '/a': { post: { operationId: 'ask', ...operation } } })
    for (const tell of [tellPort, tellService])
      assert.ok(tell(document).includes(`POST /a: ${told}`), tell(document).join())
  })

test('OpenAPI §4.8.17 fields of a success are members of an answer, but not of a resource', () => {
  const document = documentOf({ ...orders, '/orders/{id}': { get: { responses: { 200: { ...item, headers: { 'X-Total': { schema: text } } } } } } })
  assert.deepEqual(tellPort(document), [])
  const lines = tellService(document)
  assert.ok(lines.includes('GET /orders/{id}: the response field X-Total is left out'), lines.join('\n'))
}) // biome-ignore format: one line

test('OpenAPI §4.8.12 a cookie of an operation of a resource', () => {
  const cookie = { in: 'cookie', name: 'session', schema: text }
  const lines = tellService(documentOf({ ...orders, '/orders/{id}': { get: { parameters: [cookie], responses: { 200: item } } } }))
  assert.ok(lines.includes('GET /orders/{id}: the cookie session is left out'), lines.join('\n'))
}) // biome-ignore format: one line

test('OpenAPI §4.8.8.2 two templates of one address: the first counts, and the other is an exchange', () => {
  const found = readImportedService(documentOf({ ...orders, '/orders/{name}': { get: { operationId: 'named', responses: { 200: item } } } }), 'shop.json', how)
  const lines = linesOf(found.losses)
  assert.ok(lines.includes('GET /orders/{name}: has the method and the address of GET /orders/{id}'), lines.join('\n'))
  assert.ok(lines.includes('GET /orders/{name}: belongs to no resource: it is the exchange Named'))
  assert.deepEqual(found.service.resources.map(({ name }) => name), ['orders'])
}) // biome-ignore format: one line

test('JSON Schema §6.1.2, §6.1.3 a schema whose only values are true and false is a boolean, even without a type', () => {
  const members = { more: { const: true }, flag: { enum: [true, false] }, typed: { type: 'boolean' } }
  const document = documentOf({ '/a': { get: { responses: { 200: json({ type: 'object', properties: members }) } } } })
  const { port, losses } = readRestPort(document, 'shop.json', [], how)
  assert.deepEqual(linesOf(losses), ['GetAResponse.more: its values are not checked: an enumeration has texts'])
  const { output } = port.exchanges['GetA'] ?? {}
  assert.ok(output && output !== 'empty')
  const { definition } = output.type()
  assert.ok(definition.kind === 'complex')
  for (const { particle } of Object.values(definition.members))
    assert.deepEqual(particle.kind === 'element' && particle.type().definition, { kind: 'builtIn', name: 'boolean' })
})

// What is imported starts, whatever the names of others are

const withHeaders = (...parameters: readonly object[]): object => ({
  ...orders,
  '/orders/{id}': { get: { parameters, responses: { 200: item } } },
})
const inHeader = (name: string, schema: object = text) => ({ in: 'header', name, schema })
const itemOf = (properties: object): object => ({ get: { responses: { 200: json({ type: 'object', properties }) } } })
const whyNoHeader = 'is left out: a header is one value, in a field whose name has letters, digits and "-"; declare one'

const starts: readonly (readonly [what: string, paths: object, told: readonly string[]])[] = [
  ['RFC 9110 §5.1 a header whose name a contract cannot have', withHeaders(inHeader('api_key'), inHeader('1-a')), [`header api_key: ${whyNoHeader}`, `header 1-a: ${whyNoHeader}`]],
  ['RFC 9110 §5.1 a header of HTTP itself', withHeaders(inHeader('Link')), [`header Link: ${whyNoHeader}`]],
  ['OpenAPI §4.8.12 a header of several values', withHeaders(inHeader('X-Tags', { type: 'array', items: text })), [`header X-Tags: ${whyNoHeader}`]],
  ['OpenAPI §4.8.12 a header that may be null, declared twice', withHeaders(inHeader('X-Shop', { type: ['string', 'null'] }), inHeader('x-shop')), []],
  ['members that differ only in case', { '/orders/{id}': itemOf({ id: text, Note: text, note: text }) }, ['orders.note: differs from Note only in case; it is left out']],
  ['a member that differs only in case from the identifier', { '/orders/{id}': itemOf({ id: text, ID: text }) }, ['orders.ID: differs from id only in case; it is left out']],
  ['a parent parameter that is called id', { '/firms/{id}/papers/{paper}': itemOf({ paper: text }) }, ['/firms/{}/papers: the parameter id is the field firm']],
  ['a parameter that differs only in case from a member', { '/flows/{Sid}/revisions/{id}': itemOf({ id: text, sid: text }) }, []],
  ['singles of one name', { '/a-b': { ...itemOf({ x: text }), put: { responses: {} } }, '/a_b': { ...itemOf({ y: text }), put: { responses: {} } } }, ['GET /a_b: belongs to no resource: it is the exchange GetAB']],
  ['items removed by the name of one', { '/label/{id}': itemOf({ id: text, a: text }), '/label': { get: { parameters: [{ in: 'query', name: 'a', schema: text }], responses: {} }, delete: { responses: {} } } }, ['DELETE /label: removes many items by the name of the removal of one: it is left out; give the resource a plural']],
  ['a collection named by the singular of another', { '/labels/{id}': itemOf({ id: text }), '/label/{id}': itemOf({ id: text, a: text }) }, ['/label: is at /other-label']],
] // biome-ignore format: a table
for (const [what, paths, told] of starts)
  test(`the imported contract starts: ${what}`, () => {
    const lines = tellService(documentOf(paths))
    for (const each of told) assert.ok(lines.includes(each), lines.join('\n'))
    assert.deepEqual(lines.filter(each => each.includes('does not start')), [])
  }) // biome-ignore format: short

test('jobs with the same name are numbered', () => {
  const accepted = { 202: { headers: { Location: { schema: text } } } }
  const post = { requestBody: json({ type: 'object', properties: { a: text } }), responses: accepted }
  const found = readImportedService(documentOf({ '/a/report': { post }, '/b/report': { post } }), 'shop.json', how)
  assert.deepEqual(found.service.jobs.map(each => each.job), ['report', 'report2'])
}) // biome-ignore format: short

// Errors

const failing = (properties: object): string =>
  documentOf({ ...orders, '/orders/{id}': { get: { responses: { 200: item } }, patch: { requestBody: item, responses: { 200: item, 409: { description: 'Sold out.', ...json({ title: 'Refused', type: 'object', properties }) } } } } }) // biome-ignore format: one line

test('further members of an error become those of a fault, a code and a message too', () => {
  const problem = { type: text, title: text, status: { type: 'integer' }, detail: text, instance: text }
  const { service } = readImportedService(failing({ ...problem, code: text, message: text, left: { type: 'integer' } }), 'shop.json', how)
  const [fault] = service.resources[0]?.given.faults?.change ?? []
  assert.deepEqual(Object.keys(fault?.detail ?? {}), ['code', 'message', 'left'])
}) // biome-ignore format: one line

test('an error with only the usual members becomes an HTTP problem, and what is lost is reported', () => {
  const lines = tellService(failing({ code: text, message: text }))
  assert.ok(lines.includes('error Sold out.: is a problem of HTTP here, without code, message: declare a fault where callers need more'), lines.join('\n'))
}) // biome-ignore format: one line

// Our own

const aBranch = (name: string, schema: object, more: object = {}) => ({ type: 'object', properties: { [name]: schema }, required: [name], additionalProperties: false, ...more }) // biome-ignore format: short
const kept: readonly (readonly [what: string, schema: object])[] = [
  ['§9.2.1.3 alternatives, of a member and of a list', { type: 'object', properties: { id: text, by: { oneOf: [{ $ref: '#/components/schemas/Kite' }, text] }, all: { type: 'array', items: { anyOf: [text, { type: 'boolean' }] } } } }],
  ['§9.2.1.3 objects of one member each, whose names are free', { type: 'object', properties: { way: { oneOf: [aBranch('card', text), aBranch('cash', { $ref: '#/components/schemas/Kite' })] }, sum: text } }],
  ['§9.2.1.3 objects of one member each, whose names others have', { type: 'object', properties: { way: { oneOf: [aBranch('card', text), aBranch('sum', text)] }, sum: text, two: { oneOf: [aBranch('card', text), aBranch('b', text)] } } }],
  ['§9.2.1.3 alternatives in alternatives', { type: 'object', properties: { way: { oneOf: [aBranch('a', { oneOf: [aBranch('b', text), aBranch('c', text)] }), aBranch('d', text)] } } }],
  ['§9.2.1.3 objects of a member that may be absent, or with others', { type: 'object', properties: { way: { oneOf: [aBranch('a', text, { required: [] }), aBranch('b', text, { additionalProperties: true })] } } }],
  ['§8.3 octets in base64 and in hexadecimal', { type: 'object', properties: { a: { ...text, contentEncoding: 'base64' }, b: { ...text, contentEncoding: 'base16' } } }],
  ['§8.3 texts of a type of XML Schema', { type: 'object', properties: Object.fromEntries(['date', 'dateTime', 'token', 'decimal', 'gYear'].map(each => [each, { ...text, 'x-xsd': each }])) }],
  ['§6.3 lengths and values of texts', { type: 'object', properties: { a: { ...text, 'x-xsd': 'token', maxLength: 3 }, b: { ...text, 'x-xsd': 'NMTOKEN', enum: ['x', 'y'] } } }],
  ['§6.1.1 numbers, with INF and NaN', { type: 'object', properties: { a: { anyOf: [{ type: 'number', minimum: 0 }, { enum: ['INF', 'NaN'] }] }, b: { type: 'number' } } }],
] // biome-ignore format: a table
for (const [what, schema] of kept)
  test(`JSON Schema ${what}: an exchange has the same description after a second import`, async () => {
    const Kite = { type: 'object', properties: { tail: { type: 'number' } }, required: ['tail'] }
    const headers = { ETag: { schema: text }, 'X-Left': { schema: text } }
    const put = { operationId: 'fly', requestBody: json(schema), responses: { 200: { ...json(schema), headers } } }
    const describe = async (document: string) => {
      const { service } = readImportedService(document, 'shop.json', how)
      const described = await describeService({ contract: service, handlers: {} } as unknown as Implementation)
      return JSON.parse(described) as { readonly paths: object; readonly components: { readonly schemas: object } }
    }
    const first = await describe(documentOf({ '/kites/flight': { put } }, { components: { schemas: { Kite } } }))
    for (const [named] of JSON.stringify(schema).matchAll(/"x-xsd":"\w+"/g))
      assert.ok(JSON.stringify(first).includes(named), named)
    const second = await describe(JSON.stringify(first))
    assert.deepEqual([second.paths, second.components.schemas], [first.paths, first.components.schemas])
  })

const textual = (names: readonly string[]): readonly object[] =>
  names.map(name => ({ in: 'query', name, schema: text }))
test('an item that is imported again: properties next to a $ref, a page of items with a size, parents with an upper-case name', async () => {
  const properties = { id: text, size: text, left: { $ref: '#/components/schemas/Left', readOnly: true }, shopId: text }
  const cup = { type: 'object', properties, required: ['id', 'size', 'left'] }
  const list = { parameters: textual(['page', 'size', 'shopId']), responses: { 200: json({ type: 'array', items: cup }) } }
  const one = { responses: { 200: json(cup) } }
  const paths = { '/cups': { get: list, post: { requestBody: json(cup), responses: { 201: json(cup) } } }, '/cups/{id}': { get: one }, '/Shops/{shopId}': itemOf({ id: text }), '/Shops/{shopId}/Tins/{id}': itemOf({ id: text, a: text }) }
  const Left = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }
  const { service } = readImportedService(documentOf(paths, { components: { schemas: { Left } } }), 'shop.json', how)
  const [cups] = service.resources.filter(each => each.name === 'cups')
  assert.deepEqual(cups?.given.filter, ['shopId'])
  assert.equal(cups?.fields['left']?.isReadOnly, true)
  const tins = service.resources.find(each => each.name === 'tins')
  assert.deepEqual(tins?.fields['shop']?.shape, { kind: 'ref', resource: 'shops' })
}) // biome-ignore format: short

test('OpenAPI §4.8.17 a header field of a response is not a member of the content of an exchange', () => {
  const headers = { ETag: { schema: text }, 'Preference-Applied': { schema: text }, 'X-Left': { schema: text } }
  const document = documentOf({ '/a': { put: { operationId: 'a', responses: { 200: { ...ok[200], headers } } } } })
  const { service, losses } = readImportedService(document, 'shop.json', how)
  const { output } = service.ports[0]?.exchanges['A'] ?? {}
  assert.ok(output && output !== 'empty')
  const { definition } = output.type()
  assert.deepEqual(definition.kind === 'complex' && Object.keys(definition.members), ['a'])
  assert.deepEqual(linesOf(losses).filter(each => /field/.test(each)), ['PUT /a: the response field X-Left is left out'])
}) // biome-ignore format: short

test('an exchange of our own description keeps its name, and is one exchange in each style', async () => {
  const rows = { get: { operationId: 'count', requestBody: json({ type: 'object', properties: { a: { type: 'object', properties: { b: text } } } }), responses: ok }, post: { operationId: 'store', requestBody: item, responses: ok } }
  const made = readImportedService(documentOf({ '/rows/count': rows, '/api/v1/a': { get: { operationId: 'v1_a', responses: ok } }, '/b': { post: { operationId: 'findByQuery', responses: ok } } }), 'shop.json', how)
  const described = await describeService({ contract: made.service, handlers: {} } as unknown as Implementation)
  const again = readImportedService(described, 'shop.json', how)
  const exchangesOf = ({ service }: typeof made) =>
    service.ports.flatMap(({ exchanges }) => Object.entries(exchanges).map(([name, { isSafe }]) => [name, isSafe]))
  assert.deepEqual(exchangesOf(again), exchangesOf(made))
  assert.deepEqual(exchangesOf(made), [['Count', true], ['Store', false], ['V1A', true], ['FindByQuery', false]])
}) // biome-ignore format: short

test('a collection that is called api is imported, below the base of the same name', () => {
  const { service } = readImportedService(documentOf({ '/api/v1/api/{id}': itemOf({ id: text }) }), 'shop.json', how)
  assert.deepEqual(service.resources.map(({ name }) => name), ['api'])
}) // biome-ignore format: short

// Preconditions

const ifMatch = { in: 'header', name: 'If-Match', schema: text }
for (const [what, parameter, responses, precondition] of [
  ['a field that is required', { ...ifMatch, required: true }, {}, undefined],
  ['an answer with 428', ifMatch, { 428: {} }, undefined],
  ['a field that may be left out', ifMatch, {}, false],
  ['no If-Match', { in: 'query', name: 'a', schema: text }, {}, false],
] as const)
  test(`RFC 6585 §3 whether a change needs If-Match: ${what}`, () => {
    const change = { parameters: [parameter], requestBody: item, responses: { 200: item, ...responses } }
    const paths = { ...orders, '/orders/{id}': { get: { responses: { 200: item } }, patch: change } }
    const { service } = readImportedService(documentOf(paths), 'shop.json', how)
    assert.equal(service.resources[0]?.given.precondition, precondition)
  })

test('OpenAPI §4.8.1 a version with two numbers is a version', () => {
  const { service } = readImportedService('openapi: "3.0"\ninfo: {title: Shop}\npaths: {}\n', 'shop.yaml', how)
  assert.equal(service.service, 'shop')
})

test('OpenAPI §4.8.8 an extension among the paths is not an address', () => {
  const { exchanges } = readRestPort(documentOf({ 'x-a': { get: {} }, '/a': { get: { responses: ok } } }), 'shop.json', [], how)
  assert.deepEqual([...exchanges.keys()], ['GetA'])
}) // biome-ignore format: one line

test('OpenAPI §4.8.5 servers after the first, and variables with a default, are reported', () => {
  const servers = [{ url: 'https://{host}/v1', variables: { host: { default: 'a.example' } } }, { url: '/v2' }]
  const lines = [
    'servers: the defaults of host apply: requests go to https://a.example/v1',
    'servers: requests go to the first, https://a.example/v1, and not to /v2',
  ]
  assert.deepEqual(tellPort(documentOf({}, { servers })), lines)
  assert.deepEqual(tellPort(documentOf({}, { servers: [{ url: '/v2' }] })), [])
})

const ofKind = (kind: object, members: object) => ({
  type: 'object',
  required: ['kind'],
  properties: { kind, ...members },
})
const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const animals = {
  Animal: { ...ofKind(text, { name: text }), discriminator: { propertyName: 'kind', mapping: { tiger: '#/components/schemas/Tiger' } } },
  Tiger: { allOf: [refTo('Animal'), { properties: { stripes: { type: 'integer' } } }] },
  Bear: { allOf: [refTo('Animal')], type: 'object' },
  Fish: { ...ofKind(text, { id: text, name: text }), discriminator: { propertyName: 'kind' } },
  Eel: { allOf: [refTo('Fish'), { properties: { length: { type: 'integer' } } }] },
} // biome-ignore format: a table
const cage = {
  type: 'object',
  required: ['id'],
  properties: { id: text, animal: refTo('Animal'), all: { type: 'array', items: refTo('Animal') } },
}
const zoo = readImportedService(
  documentOf(
    {
      '/cages': { get: { responses: { 200: json({ type: 'array', items: cage }) } } },
      '/cages/{id}': { get: { responses: { 200: json(cage) } } },
      '/fish': { get: { responses: { 200: json({ type: 'array', items: refTo('Fish') }) } } },
      '/fish/{id}': { get: { responses: { 200: json(refTo('Fish')) } } },
    },
    { components: { schemas: animals } },
  ),
  'zoo.json',
  how,
)
test('OpenAPI §4.8.25.1 a member whose type others extend is a union of these, by its discriminator', () => {
  const { fields } = zoo.service.resources.find(({ name }) => name === 'cages') ?? assert.fail()
  const { all, animal } = fields
  const union = animal?.shape
  assert.ok(union?.kind === 'union' && all?.shape.kind === 'list')
  assert.equal(union.on, 'kind')
  const cases = Object.entries(union.of).map(([name, members]) => [name, Object.keys(members)])
  assert.deepEqual(cases, [
    ['tiger', ['name', 'stripes']],
    ['Bear', ['name']],
  ])
  assert.equal(all.shape.item.shape, union)
})
test('OpenAPI §4.8.25.1 an item whose type others extend has only its own members, and the loss is reported', () => {
  const { fields } = zoo.service.resources.find(({ name }) => name === 'fish') ?? assert.fail()
  assert.deepEqual(Object.keys(fields), ['id', 'kind', 'name'])
  assert.ok(
    linesOf(zoo.losses).includes('Fish: may be Eel: what these add is left out'),
    linesOf(zoo.losses).join('\n'),
  )
})
