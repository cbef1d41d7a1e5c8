/** Resources that a map describes (docs/bridge.md, "The map"), before a service that is a function. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBridge, describeBridge } from '../../src/bridge/bridged-service.ts'
import { describeResources } from '../../src/bridge/described-resources.ts'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import type { PortCaller } from '../../src/bridge/port-caller.ts'
import type { BridgeResources } from '../../src/contract/bridge-resources.ts'
import { exchange, type Port, port } from '../../src/contract/exchange.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { startHosted } from '../host/hosted-service.ts'
import { etagOf } from './resource-bridge.ts'

const stock = x.namespace('urn:stock')
const StockItem = stock.type('StockItem', {
  partNo: x.element(x.int),
  name: x.element(x.string),
  taken: x.element(x.dateTime).optional(),
  rev: x.element(x.int),
})
const Other = stock.type('Other', { partNo: x.element(x.int), note: x.element(x.string) })
const one = x.object({ item: x.element(StockItem).optional() })
const element = (name: string, content: Parameters<typeof stock.element>[1]) => stock.element(name, content)
const Code = stock.element('Code', x.object({ code: x.element(x.int) }))
const One = stock.element('One', one)
const All = stock.element('All', x.object({ item: x.element(StockItem).many(0) }))
const Nothing = stock.element('Nothing', x.object({}))
const Made = stock.element('Made', x.object({ partNo: x.element(x.int) }))
const New = stock.element('New', x.object({ name: x.element(x.string) }))
const Whole = stock.element('Whole', x.object({ item: x.element(StockItem) }))
const Scrapped = stock.element('Scrapped', x.object({ code: x.element(x.int), rev: x.element(x.int) }))
const Renamed = stock.element('Renamed', x.object({ code: x.element(x.int), title: x.element(x.string) }))
const Session = element('Session', x.object({ id: x.element(x.string) }))

const StockPort = port('StockPort', {
  namespace: 'urn:stock:wsdl',
  allow: [anyone],
  exchanges: {
    FetchStockItem: exchange({ action: 'urn:1', input: Code, output: One, safe: true }),
    Inventory: exchange({ action: 'urn:2', input: Nothing, output: All, safe: true }),
    BookIn: exchange({ action: 'urn:3', input: New, output: Made }),
    Amend: exchange({ action: 'urn:4', input: Whole, output: Nothing }),
    Scrap: exchange({ action: 'urn:5', input: Scrapped, output: Nothing }),
    Rename: exchange({ action: 'urn:6', input: Renamed, output: Nothing }),
    Others: exchange({
      action: 'urn:7',
      input: Nothing,
      output: stock.element('OtherAll', x.object({ item: x.element(Other).many(0) })),
      safe: true,
    }),
    Locked: exchange({ action: 'urn:8', input: Nothing, output: All, safe: true, allow: [role('clerk')] }),
    Unsafe: exchange({ action: 'urn:9', input: Nothing, output: All }),
    Blocked: exchange({ action: 'urn:10', input: Nothing, output: All, safe: true, requestHeaders: { Session } }),
    GetThing: exchange({ action: 'urn:11', input: Code, output: One, safe: true }),
  },
})
const Second = port('Second', {
  namespace: 'urn:second:wsdl',
  allow: [anyone],
  exchanges: { Elsewhere: exchange({ action: 'urn:12', input: Nothing, output: All, safe: true }) },
})
const contract = service('stock', { namespace: 'urn:stock', resources: [], ports: [StockPort, Second] })

const described = {
  parts: {
    get: 'FetchStockItem',
    list: 'Inventory',
    create: 'BookIn',
    update: 'Amend',
    remove: 'Scrap',
    id: 'partNo',
    version: 'rev',
  },
} satisfies BridgeResources<typeof contract>

test('names that a contract does not have do not compile', () => {
  const read = { get: 'FetchStockItem', list: 'Inventory' } as const
  const none = [
    // @ts-expect-error no such exchange
    { parts: { ...read, get: 'FetchItem', id: 'partNo' } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error no such exchange
    { parts: { ...read, update: 'Ammend', id: 'partNo' } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error no such member of the item
    { parts: { ...read, id: 'partNumber' } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error no such member of the item
    { parts: { ...read, id: 'partNo', version: 'revision' } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error no identifier
    { parts: { ...read } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error of another port
    { parts: { ...read, list: 'Elsewhere', id: 'partNo' } } satisfies BridgeResources<typeof contract>,
    // @ts-expect-error no such word
    { parts: { ...read, id: 'partNo', delete: 'Scrap' } } satisfies BridgeResources<typeof contract>,
  ]
  for (const each of none) assert.throws(() => describeResources(contract.ports, each, []), /^Error: resources\.parts/)
})

/** A stock in memory, which accepts messages as the backend does. */
function keepStock() {
  const items = new Map([[7, { partNo: 7, name: 'nut', rev: 1 }]])
  const asked: (readonly [string, unknown])[] = []
  const call: PortCaller = async (name, { input }) => {
    asked.push([name, input])
    const said = input as { code: number; name: string; item: { partNo: number; name: string; rev: number } }
    const answers: Record<string, () => unknown> = {
      FetchStockItem: () => ({ item: items.get(said.code) }),
      Inventory: () => ({ item: [...items.values()] }),
      BookIn: () => {
        const partNo = items.size + 7
        items.set(partNo, { partNo, name: said.name, rev: 1 })
        return { partNo }
      },
      Amend: () => [items.set(said.item.partNo, { ...said.item, rev: said.item.rev + 1 }), {}][1],
      Scrap: () => [items.delete(said.code), {}][1],
    }
    return { kind: 'answer', content: answers[name]?.(), blocks: {} }
  }
  return { call, asked, items }
}

test('a resource whose exchanges have other names is listed, made, changed and removed', async () => {
  const { call, asked, items } = keepStock()
  const resources = describeResources(contract.ports, described, [])
  const declared = resources.map(each => each.resource)
  const app = createBridge(
    describeBridge('stock', 'urn:stock', contract.ports, declared),
    { callerOf: () => call, note: assert.fail },
    resources,
  )
  const { ask } = await startHosted({}, app)
  const json = { 'content-type': 'application/json' }
  const merge = { 'content-type': 'application/merge-patch+json' }
  const parts = '/api/v1/parts'
  const got = await ask('GET', `${parts}/7`)
  assert.deepEqual([got.status, JSON.parse(got.text).name], [200, 'nut'])
  assert.equal(got.fields['last-modified'], undefined, 'RFC 9110 §8.8.2.1: nothing says when it was changed')
  const unchanged = await ask('GET', `${parts}/7`, { 'if-modified-since': new Date().toUTCString() })
  assert.equal(unchanged.status, 200)
  const dated = { ...merge, 'if-unmodified-since': new Date(Date.now() + 3_600_000).toUTCString() }
  const undecided = await ask('PATCH', `${parts}/7`, dated, '{"name":"screw"}')
  assert.equal(undecided.status, 428, 'RFC 9110 §13.1.4: such a date is ignored')
  assert.equal((await ask('GET', `${parts}/9`)).status, 404)
  assert.match((await ask('GET', `${parts}?name=nut`)).text, /"partNo":7/)
  assert.doesNotMatch((await ask('GET', `${parts}?name=bolt`)).text, /"partNo"/)
  const made = await ask('POST', parts, json, '{"name":"bolt"}')
  assert.deepEqual([made.status, made.fields['location']], [201, `${parts}/8`], made.text)
  assert.equal((await ask('PATCH', `${parts}/8`, merge, '{"name":"screw"}')).status, 428)
  const fields = { ...merge, 'if-match': etagOf(made) }
  const changed = await ask('PATCH', `${parts}/8`, fields, '{"name":"screw"}')
  assert.equal(changed.status, 200, changed.text)
  assert.deepEqual(asked.find(([name]) => name === 'Amend')?.[1], { item: { partNo: 8, name: 'screw', rev: 1 } })
  assert.equal((await ask('PATCH', `${parts}/8`, fields, '{"name":"x"}')).status, 412)
  const removed = await ask('DELETE', `${parts}/8`, { 'if-match': etagOf(changed) })
  assert.equal(removed.status, 204, removed.text)
  assert.deepEqual(asked.find(([name]) => name === 'Scrap')?.[1], { code: 8, rev: 2 })
  assert.deepEqual([...items.keys()], [7])
})

test('true follows the names; a resource that is not named is not served', () => {
  const ports: readonly Port[] = [
    port('Shop', {
      namespace: 'urn:shop',
      allow: [anyone],
      exchanges: {
        GetPart: exchange({ action: 'urn:1', input: Made, output: One, safe: true }),
        ListParts: exchange({ action: 'urn:2', input: Nothing, output: All, safe: true }),
      },
    }),
  ]
  const guessed = guessResources(ports)
  const names = (given: object) => describeResources(ports, { ...given }, guessed).map(each => each.resource.name)
  assert.deepEqual(names({ parts: true }), ['parts'])
  assert.deepEqual(names({ bits: { get: 'GetPart', list: 'ListParts', id: 'partNo' } }), ['bits'])
  assert.throws(() => names({ bits: true }), /resources\.bits is not found by names \(parts\): describe it/)
})

const read = { get: 'FetchStockItem', list: 'Inventory', id: 'partNo' }
const mistakes: readonly (readonly [title: string, given: unknown, reason: RegExp])[] = [
  ['what is no description', 7, /^resources\.parts must be true, or say which exchanges/],
  ['no id', { get: 'FetchStockItem', list: 'Inventory' }, /^resources\.parts\.id must be a name/],
  ['a name that is no text', { ...read, update: 7 }, /^resources\.parts\.update must be a name, or be left out/],
  ['a word that is not known', { ...read, delete: 'Scrap' }, /^resources\.parts\.delete is not known: use get,/],
  [
    'an exchange that is not there',
    { ...read, update: 'Ammend' },
    /update: Ammend is not an exchange of the map: it has/,
  ],
  [
    'exchanges of two ports',
    { ...read, list: 'Elsewhere' },
    /list: Elsewhere and FetchStockItem are of different ports/,
  ],
  ['a list that is not safe', { ...read, list: 'Unsafe' }, /list: Unsafe does not say that it is safe: write safe/],
  ['a list with header blocks', { ...read, list: 'Blocked' }, /list: Blocked has header blocks/],
  [
    'a list for other callers',
    { ...read, list: 'Locked' },
    /list: Locked and FetchStockItem are for different callers: give/,
  ],
  ['a list of other items', { ...read, list: 'Others' }, /list: Others returns items of a type other than/],
  ['a list that needs something', { ...read, list: 'GetThing' }, /list: GetThing must require no input/],
  ['a get that needs nothing', { ...read, get: 'Inventory' }, /get: Inventory must send one simple value/],
  ['an id that is not there', { ...read, id: 'constructor' }, /id: constructor is not a member .* it has partNo, name/],
  ['an id that is a time', { ...read, id: 'taken' }, /id: taken is not a member of the item that is text/],
  ['a version that is not there', { ...read, update: 'Amend', version: 'etag' }, /version: etag is not a member/],
  ['a version that nothing sends', { ...read, version: 'rev' }, /version: rev is not sent by update or remove/],
  ['a create that makes nothing', { ...read, create: 'Scrap' }, /create: Scrap must send an item/],
  ['an update that loses a member', { ...read, update: 'Rename' }, /update: Rename must send an item/],
  ['a removal that needs an item', { ...read, remove: 'Amend' }, /remove: Amend must send the identifier/],
]
for (const [title, given, reason] of mistakes)
  test(`a mistake in a map names its place and the cure: ${title}`, () => {
    assert.throws(
      () => describeResources(contract.ports, { parts: given }, []),
      thrown => {
        assert.match((thrown as Error).message, reason)
        return true
      },
    )
  })

test('a mistake in a map names its place and the cure: names of resources', () => {
  assert.throws(
    () => describeResources(contract.ports, { StockPort: read }, []),
    /resources\.StockPort is the name of a port/,
  )
  assert.throws(() => describeResources(contract.ports, { 'a b': read }, []), /resources\.a b: /)
})
