/** A port that is served by REST, called by a client of the OpenAPI document that describes it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOpenApiClient, OpenApiError, readOpenApi } from '../../src/bridge/openapi-client.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { type AnyXmlType, x } from '../../src/contract/xml-type.ts'
import { startHosted } from '../host/hosted-service.ts'

const stock = x.namespace('urn:stock')
const Part = stock.type('Part', { partNo: x.element(x.int), name: x.element(x.string) })
const partNo = { partNo: x.element(x.int) }
const nothing = {}
/** [a type of XML Schema, a value as a client of the document has it] */
const wholes = {
  byte: -128,
  short: -32768,
  int: -2147483648,
  unsignedByte: 255,
  unsignedShort: 65535,
  unsignedInt: 4294967295n,
  long: -(2n ** 63n),
  unsignedLong: 2n ** 64n - 1n,
  integer: -(2n ** 70n),
  nonNegativeInteger: 2n ** 70n,
} as const
const Wholes = stock.type(
  'Wholes',
  Object.fromEntries(Object.keys(wholes).map(name => [name, x.element(x[name as keyof typeof wholes] as AnyXmlType)])),
)
const ports = [
  port('Stock', {
    namespace: 'urn:stock',
    allow: [anyone],
    exchanges: {
      ListParts: exchange({
        action: 'list',
        input: stock.element('ListParts', x.object(nothing)),
        output: stock.element('Parts', x.object({ part: x.element(Part).many() })),
        safe: true,
      }),
      GetPart: exchange({
        action: 'get',
        input: stock.element('GetPart', x.object(partNo)),
        output: stock.element('Found', x.object({ part: x.element(Part) })),
        faults: {
          NoSuchPart: stock.element('NoSuchPart', x.object(partNo)),
          PartWithdrawn: stock.element('PartWithdrawn', x.object({ since: x.element(x.date) })),
          UnknownShelf: stock.element('UnknownShelf', x.object({ shelf: x.element(x.string) })),
        },
        statuses: { PartWithdrawn: 404, UnknownShelf: 422 },
      }),
      Echo: exchange({ action: 'echo', input: stock.element('Echo', Wholes), output: stock.element('Echoed', Wholes) }),
      ClearParts: exchange({
        action: 'clear',
        input: stock.element('ClearParts', x.object(nothing)),
        output: stock.element('Cleared', x.object(nothing)),
      }),
    },
  }),
] as const
const bolt = { partNo: 1, name: 'bolt' }
const app = implement(service('stock', { namespace: 'urn:stock', resources: [], ports }), {
  Stock: {
    ListParts: () => ({ part: [bolt] }),
    GetPart: ({ partNo: asked }, ctx) => {
      if (asked === 8) return ctx.fail('PartWithdrawn', { since: '2026-01-31' })
      return asked === 1 ? { part: bolt } : ctx.fail('NoSuchPart', { partNo: asked })
    },
    Echo: values => values,
    ClearParts: () => ({}),
  },
})

async function describeStock() {
  const { server } = await startHosted({}, app)
  const host = `127.0.0.1:${server.port}`
  return await readOpenApi(`http://${host}/openapi.json`, { fetch: [host] })
}

test('objects without members are sent and read as objects, and lose nothing', async () => {
  const api = await describeStock()
  assert.deepEqual(api.losses, [])
  const calls = createOpenApiClient(api) as Record<string, (input: object) => Promise<object>>
  const ask = async (name: string, input: object) => {
    const { ETag: tag, ...rest }: { readonly ETag?: string } = (await calls[name]?.(input)) ?? {}
    return [rest, tag !== undefined] as const
  }
  const listed = { part: [{ partNo: 1, name: 'bolt' }] }
  assert.deepEqual(await ask('V1StockListParts', {}), [listed, true])
  assert.deepEqual(await ask('V1StockListPartsByGet', {}), [listed, true])
  assert.deepEqual(await ask('V1StockGetPart', { partNo: 1 }), [{ part: { partNo: 1, name: 'bolt' } }, false])
  assert.deepEqual(await ask('V1StockClearParts', {}), [{}, false])
})

test('OpenAPI format registry: whole numbers of each type are sent and read with their bounds', async () => {
  const client = createOpenApiClient(await describeStock()) as Record<string, (input: object) => Promise<object>>
  assert.deepEqual({ ...(await client['V1StockEcho']?.(wholes)) }, wholes)
  for (const [name, value] of Object.entries(wholes).filter(([name]) => name !== 'integer' && !name.startsWith('non')))
    await assert.rejects(
      async () => client['V1StockEcho']?.({ ...wholes, [name]: Number(value) < 0 ? -(2n ** 65n) : 2n ** 65n }),
      new RegExp(`${name} must be`),
    )
  await assert.rejects(
    async () => client['V1StockEcho']?.({ ...wholes, nonNegativeInteger: -1n }),
    /nonNegativeInteger/,
  )
})

test('the element of a declared fault is in the detail of its problem, even if several have one status', async () => {
  const client = createOpenApiClient(await describeStock()) as Record<string, (input: object) => Promise<unknown>>
  for (const [partNo, name, fault] of [
    [9, 'NoSuchPart', { partNo: 9 }],
    [8, 'PartWithdrawn', { since: '2026-01-31' }],
  ] as const) {
    const thrown: unknown = await client['V1StockGetPart']?.({ partNo }).catch((reason: unknown) => reason)
    assert.ok(thrown instanceof OpenApiError, String(thrown))
    assert.deepEqual([thrown.status, thrown.fault], [404, name])
    assert.deepEqual((thrown.detail as { readonly fault: unknown }).fault, fault)
  }
})
