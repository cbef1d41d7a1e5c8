/** What an OpenAPI document has and a contract cannot say is told in one line with its place; nothing is lost in silence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'

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
  ['§4.8.1 webhooks', documentOf({ '/a': { get: { responses: ok } } }, { webhooks: { sold: { post: { responses: ok } } } }), ['webhook sold: is left out: the service calls, and is not called']],
  ['§4.8.16 a second success', documentOf({ '/a': { get: { responses: { ...ok, 203: json({ type: 'object', properties: { b: text } }) } } } }), ['GET /a: the content of 203 is left out: an answer is that of 200']],
  ['§4.8.16 a second success with the same content', documentOf({ '/a': { get: { responses: { 200: json({ $ref: '#/components/schemas/A' }), 203: json({ $ref: '#/components/schemas/A' }) } } } }, { components: { schemas: { A: { type: 'object', properties: { a: text } } } } }), []],
  ['§4.8.10 an operationId that is taken', documentOf({ '/a': { get: { operationId: 'read', responses: ok } }, '/b': { get: { operationId: 'read', responses: ok } } }), ['GET /b: shares its operationId with another operation: it is Read2']],
] // biome-ignore format: a table
for (const [clause, document, told] of cases)
  test(`OpenAPI ${clause}, of each operation`, () => assert.deepEqual(tellPort(document), told))
for (const [clause, document, told] of cases.slice(0, 5))
  test(`OpenAPI ${clause}, of a service`, () => {
    const lines = tellService(document)
    for (const each of told) assert.ok(lines.includes(each), lines.join('\n'))
  })

test('OpenAPI §4.8.17 fields of a success are members of an answer, and are left out of a resource', () => {
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

test('JSON Schema §6.1.2, §6.1.3 what is true or false alone is a boolean, also without a type', () => {
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
