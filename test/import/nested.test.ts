/** Addresses within items of others, `/orders/{order}/notes`, become resources in resources. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { implement } from '../../src/contract/implement.ts'
import type { Service } from '../../src/contract/service.ts'
import { writeJson } from '../../src/http/json.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { createDocumentFinder } from '../../src/import/document-files.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { writeServiceTypescript } from '../../src/import/openapi/write-service.ts'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from '../service/nested-shop.ts'

const parse = await loadAnyParser()
const importText = (text: string) => readImportedService(text, 'test.json', { find: createDocumentFinder([]), parse })

const text = { type: 'string' }
const object = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})
const answer = (schema: object) => ({ description: 'It.', content: { 'application/json': { schema } } })
/** A collection at an address: it lists, makes and gets. */
const collection = (
  path: string,
  parameter: string,
  members: object,
  methods: readonly string[] = ['get', 'post', 'one'],
) => {
  const item = object({ id: text, ...members })
  return {
    [path]: {
      ...(methods.includes('get') && { get: { responses: { 200: answer({ type: 'array', items: item }) } } }),
      ...(methods.includes('post') && {
        post: { requestBody: { content: answer(object(members)).content }, responses: { 201: answer(item) } },
      }),
    },
    [`${path}/{${parameter}}`]: methods.includes('one')
      ? { get: { responses: { 200: answer(item) } } }
      : { delete: { responses: { 204: { description: 'Gone.' } } } },
  }
}
const importPaths = (...paths: readonly object[]) => {
  const imported = importText(
    writeJson({
      openapi: '3.1.0',
      info: { title: 'Nests', version: '1' },
      paths: Object.assign({}, ...paths),
    } as never),
  )
  const { service, losses } = imported
  const places = service.resources.map(({ name, within }) => (within === undefined ? name : `${name} within ${within}`))
  return {
    imported,
    places,
    losses: losses.map(each => `${each.place}: ${each.detail}`).filter(each => !/addresses begin|^security/.test(each)),
  }
}
const orders = collection('/orders', 'orderId', { note: text })

/** [what, paths, the resources, of each loss a part] */
const cases: readonly (readonly [string, readonly object[], readonly string[], (readonly string[])?])[] = [
  [
    'a member names the parent',
    [orders, collection('/orders/{orderId}/lines', 'id', { order: text, a: text })],
    ['orders', 'lines within order'],
  ],
  [
    'as …Id',
    [orders, collection('/orders/{o}/lines', 'id', { orderId: text, a: text })],
    ['orders', 'lines within orderId'],
  ],
  [
    'as the parameter',
    [orders, collection('/orders/{of}/lines', 'id', { of: text, a: text })],
    ['orders', 'lines within of'],
  ],
  [
    'no member names the parent: one is added',
    [orders, collection('/orders/{orderId}/lines', 'id', { a: text })],
    ['orders', 'lines within order'],
    ['the parameter orderId is the field order'],
  ],
  [
    'three deep',
    [
      orders,
      collection('/orders/{o}/lines', 'id', { order: text, a: text }),
      collection('/orders/{o}/lines/{l}/marks', 'id', { line: text, b: text }),
    ],
    ['orders', 'lines within order', 'marks within line'],
  ],
  [
    'the parent is named by a number',
    [orders, collection('/orders/{o}/lines', 'id', { order: { type: 'integer' }, a: text })],
    ['orders', 'lines'],
    ['/orders/{}/lines: is at /lines'],
  ],
  [
    'the parent has no item that is read',
    [
      collection('/orders', 'o', { note: text }, ['post']),
      collection('/orders/{o}/lines', 'id', { order: text, a: text }),
    ],
    ['orders', 'lines'],
    ['/orders/{}/lines: is at /lines'],
  ],
  [
    'a name of queries',
    [orders, collection('/orders/{page}/lines', 'id', { page: text, a: text })],
    ['orders', 'lines'],
    ['is at /lines'],
  ],
  [
    'a word before the collection, without items',
    [orders, collection('/shops/{shop}/lines', 'id', { a: text })],
    ['orders', 'lines'],
    ['/shops/{}/lines: is at /lines', 'the parameter shop is the field shop'],
  ],
]
describe('OpenAPI paths below an item', () => {
  for (const [what, paths, expected, told = []] of cases)
    test(what, () => {
      const { places, losses } = importPaths(...paths)
      assert.deepEqual(places, expected)
      assert.ok(
        losses.length === told.length && told.every(each => losses.some(loss => loss.includes(each))),
        losses.join('\n'),
      )
    })

  test('the written TypeScript reads as if written by hand', () => {
    const lines = collection('/orders/{o}/lines', 'id', { order: text, a: text })
    const { imported } = importPaths(orders, lines)
    const written = writeServiceTypescript(imported, 'nests.json')
    assert.match(written, /within: 'order',\n {2}fields: \{[^}]*order: t\.ref\('orders'\), /)
  })
})

test('the imported contract is served at the addresses of the document', async () => {
  const { imported } = importPaths(orders, collection('/orders/{o}/lines', 'id', { orderId: text, a: text }))
  const { service } = imported
  const app = implement(service, {} as never)
  await using served = await startTestService(service, app)
  const roles = service.resources
    .flatMap(({ given }) => Object.values(given.allow).flat())
    .map(each => each?.role ?? '')
  const ask = served.fetchAs({ subject: 'ann', roles })
  const post = async (path: string, value: object) => {
    const headers = { 'content-type': 'application/json' }
    const made = await ask(served.address + path, { method: 'POST', headers, body: JSON.stringify(value) })
    assert.equal(made.status, 201, await made.clone().text())
    return made.headers.get('location') ?? ''
  }
  const order = await post('/api/v1/orders', { note: 'x' })
  const line = await post(`${new URL(order, served.address).pathname}/lines`, { a: 'y' })
  const { orderId, a } = (await (await ask(new URL(line, served.address).href)).json()) as Record<string, string>
  assert.deepEqual([orderId, a], [order.split('/').at(-1), 'y'])
})

const addressesOf = ({ resources }: Pick<Service, 'resources'>) =>
  resources.map(({ name, within, fields }) => [name, within, within && fields[within]?.isReadOnly])

test('the description of nested resources is imported as nested resources, at the same addresses', async () => {
  await using served = await startTestService(shop, app)
  const described = await (await served.fetchAs()(`${served.address}/openapi.json`)).text()
  const { service, losses } = importText(described)
  const known = addressesOf(shop).filter(([, within]) => within !== undefined)
  assert.ok(known.length > 1)
  for (const each of known)
    assert.deepEqual(
      addressesOf(service).find(([name]) => name === each[0]),
      each,
    )
  assert.deepEqual(
    losses.filter(each => / is at |does not start/.test(each.detail)),
    [],
  )
})
