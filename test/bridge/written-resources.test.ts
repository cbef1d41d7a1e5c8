/** Changes of resources that a bridge finds among the operations of a SOAP service (docs/bridge.md). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openPort } from '../../src/bridge/bridged-service.ts'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import type { PortDressOptions } from '../../src/client/port-dress.ts'
import { exchange, type Port, type PortExchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { type AnyXmlType, type XmlType, x } from '../../src/contract/xml-type.ts'
import { startHosted } from '../host/hosted-service.ts'
import { etagOf, startResourceBridge } from './resource-bridge.ts'

const shop = x.namespace('urn:shop')
const Part = shop.type('Part', {
  partNo: x.element(x.int),
  name: x.element(x.simple(x.string, { maxLength: 8 })),
  weight: x.element(x.decimal).optional(),
  tags: x.element(x.string).many(),
})
const NoSuchPart = shop.element('NoSuchPart', x.object({ partNo: x.element(x.int) }))
const PartLocked = shop.element('PartLocked', x.object({ by: x.element(x.string) }))
const partNo = { partNo: x.element(x.int) }
const message = <M extends Parameters<typeof x.object>[0]>(name: string, members: M) =>
  shop.element(name, x.object(members))
const reads = {
  GetPart: exchange({
    action: 'get',
    input: message('GetPart', partNo),
    output: message('GetPartResponse', { part: x.element(Part).optional() }),
    faults: { NoSuchPart },
  }),
  ListParts: exchange({
    action: 'list',
    input: message('ListParts', {}),
    output: message('ListPartsResponse', { part: x.element(Part).many() }),
  }),
}
const shopPort = port('Shop', {
  namespace: 'urn:shop:wsdl',
  allow: [anyone],
  exchanges: {
    ...reads,
    AddPart: exchange({
      action: 'add',
      input: message('AddPart', { part: x.element(Part) }),
      output: message('AddPartResponse', {}),
    }),
    UpdatePart: exchange({
      action: 'update',
      input: message('UpdatePart', { part: x.element(Part), note: x.element(x.string).optional() }),
      output: message('UpdatePartResponse', {}),
      faults: { NoSuchPart, PartLocked },
      statuses: { PartLocked: 409 },
    }),
    DeletePart: exchange({
      action: 'delete',
      input: message('DeletePart', partNo),
      output: 'empty',
      faults: { NoSuchPart },
    }),
  },
})
type PartValue = (typeof Part)['value']

async function startShop() {
  const parts = new Map<number, PartValue>([[7, { partNo: 7, name: 'bolt', weight: '1.50', tags: ['steel'] }]])
  const asked: string[] = []
  let hold: Promise<void> | undefined
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [shopPort] }), {
    Shop: {
      GetPart: ({ partNo }, ctx) => ({ part: parts.get(partNo) ?? ctx.fail('NoSuchPart', { partNo }, 'no such part') }),
      ListParts: () => ({ part: [...parts.values()] }),
      AddPart: ({ part }) => {
        asked.push(`add ${part.partNo}`)
        if (part.name !== 'ghost') parts.set(part.partNo, part)
        return {}
      },
      UpdatePart: async ({ part }, ctx) => {
        asked.push(`update ${part.partNo}`)
        await hold
        if (part.name === 'locked') ctx.fail('PartLocked', { by: 'ann' }, 'locked by ann')
        if (!parts.has(part.partNo)) ctx.fail('NoSuchPart', { partNo: part.partNo }, 'no such part')
        parts.set(part.partNo, part)
        return {}
      },
      DeletePart: ({ partNo }, ctx) => {
        asked.push(`delete ${partNo}`)
        if (partNo === 99) ctx.fail('NoSuchPart', { partNo }, 'no such part')
        parts.delete(partNo)
      },
    },
  })
  const { server } = await startHosted({}, behind)
  const slow = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    hold = promise
    return resolve
  }
  return { parts, asked, slow, address: `http://127.0.0.1:${server.port}/soap/Shop` }
}

const startBridge = (to: string, bridged: Port = shopPort, timeLimit?: number, worn: PortDressOptions = {}) =>
  startResourceBridge(to, bridged, { ...(timeLimit !== undefined && { timeLimit }), worn })

test('an item is made by POST: 201, its address, and the tag of what is kept', async () => {
  const { address, parts, asked } = await startShop()
  const { send } = await startBridge(address)
  const made = await send('POST', '/api/v1/parts', { partNo: 20, name: 'nut' })
  assert.equal(made.status, 201, made.text)
  assert.match(String(made.fields['location']), /\/api\/v1\/parts\/20$/)
  assert.deepEqual(parts.get(20), { partNo: 20, name: 'nut', tags: [] }, 'what repeats may be left out')
  const got = await send('GET', '/api/v1/parts/20')
  assert.equal(got.fields['etag'], made.fields['etag'])
  assert.deepEqual(asked, ['add 20'])
})

test('an item is replaced and patched if it is as the caller has read it, else 412', async () => {
  const { address, parts, asked } = await startShop()
  const { send } = await startBridge(address)
  const first = etagOf(await send('GET', '/api/v1/parts/7'))
  const full = { partNo: 7, name: 'screw', tags: ['brass', 'm4'] }
  const put = await send('PUT', '/api/v1/parts/7', full, { 'if-match': first })
  assert.equal(put.status, 200, put.text)
  assert.deepEqual(parts.get(7), full)
  const second = etagOf(put)
  assert.notEqual(second, first)
  const stale = await send('PUT', '/api/v1/parts/7', { ...full, name: 'late' }, { 'if-match': first })
  assert.equal(stale.status, 412, stale.text)
  parts.set(7, { ...(parts.get(7) as PartValue), weight: '9' }) // by another program
  const merge = { 'content-type': 'application/merge-patch+json' }
  assert.equal((await send('PATCH', '/api/v1/parts/7', { name: 'x' }, { ...merge, 'if-match': second })).status, 412)
  const third = etagOf(await send('GET', '/api/v1/parts/7'))
  const patched = await send('PATCH', '/api/v1/parts/7', { name: 'pin' }, { ...merge, 'if-match': third })
  assert.equal(patched.status, 200, patched.text)
  assert.deepEqual(parts.get(7), { ...full, name: 'pin', weight: '9' })
  assert.deepEqual(asked, ['update 7', 'update 7'], 'what is refused is not asked behind')
})

test('an item is removed, and then is 404', async () => {
  const { address, parts, asked } = await startShop()
  const { send } = await startBridge(address)
  assert.equal((await send('DELETE', '/api/v1/parts/7', undefined, { 'if-match': '"x"' })).status, 412)
  const etag = etagOf(await send('GET', '/api/v1/parts/7'))
  assert.equal((await send('DELETE', '/api/v1/parts/7', undefined, { 'if-match': etag })).status, 204)
  assert.equal(parts.size, 0)
  for (const method of ['GET', 'DELETE']) assert.equal((await send(method, '/api/v1/parts/7')).status, 404, method)
  assert.deepEqual(asked, ['delete 7'])
})

test('each failure of a change has its response, which says if nothing was sent', async () => {
  const { address, asked, slow } = await startShop()
  const { send, notes } = await startBridge(address)
  const etag = etagOf(await send('GET', '/api/v1/parts/7'))
  const put = (value: object) =>
    send('PUT', '/api/v1/parts/7', { partNo: 7, name: 'bolt', ...value }, { 'if-match': etag })
  const long = await put({ name: 'far too long' })
  assert.equal(long.status, 422, long.text)
  assert.match(long.text, /"\/name"/)
  assert.match((await put({ partNo: 8 })).text, /an item keeps its identifier/)
  assert.deepEqual(asked, [])
  const locked = await put({ name: 'locked' })
  assert.equal(locked.status, 409, locked.text)
  assert.match(locked.text, /PartLocked/)
  const ghost = await send('POST', '/api/v1/parts', { partNo: 30, name: 'ghost' })
  assert.equal(ghost.status, 502)
  assert.match(ghost.text, /has carried it out, but does not return the item/)
  assert.match(notes.join(), /AddPart: 30 cannot be read after this change/)
  const release = slow()
  const hasty = await startBridge(address, shopPort, 2000)
  const late = await hasty.send('PUT', '/api/v1/parts/7', { partNo: 7, name: 'nail' }, { 'if-match': etag })
  assert.equal(late.status, 504)
  assert.match(late.text, /may have been carried out/)
  release()
})

test('a slow change delays no change of another item', async () => {
  const { address, parts, slow, asked } = await startShop()
  parts.set(8, { partNo: 8, name: 'nut', tags: [] })
  const { send } = await startBridge(address)
  const [seven, eight] = [await send('GET', '/api/v1/parts/7'), await send('GET', '/api/v1/parts/8')]
  const release = slow()
  const waiting = send('PUT', '/api/v1/parts/7', { partNo: 7, name: 'a' }, { 'if-match': etagOf(seven) })
  for (let tries = 0; tries < 1000 && asked.length === 0; tries++) await new Promise(resolve => setTimeout(resolve, 2))
  assert.equal((await send('DELETE', '/api/v1/parts/8', undefined, { 'if-match': etagOf(eight) })).status, 204)
  assert.equal((await send('POST', '/api/v1/parts', { partNo: 9, name: 'b' })).status, 201)
  release()
  assert.equal((await waiting).status, 200)
})

test('changes are in OpenAPI, and pages have forms for them', async () => {
  const { address } = await startShop()
  const { send } = await startBridge(address)
  const document = JSON.parse((await send('GET', '/openapi.json')).text)
  assert.equal((await new Validator().validate(document)).valid, true)
  const methods = (path: string) => Object.keys(document.paths[path] ?? {}).filter(each => /^[a-z]+$/.test(each))
  const [list, item] = Object.keys(document.paths)
    .filter(path => /\/parts(?:\/|$)/.test(path))
    .sort()
  assert.ok(methods(list ?? '').includes('post'))
  for (const method of ['put', 'patch', 'delete']) assert.ok(methods(item ?? '').includes(method), method)
  const page = await send('GET', '/api/v1/parts/7', undefined, { accept: 'text/html' })
  assert.match(page.text, /<form/)
})

// What is guessed

const only = (exchanges: Record<string, PortExchange>) =>
  port('Guess', { namespace: 'urn:guess', exchanges: { ...reads, ...exchanges } })
const writeOf = (input: PortExchange['input'], output: PortExchange['output'] = 'empty', more = {}) =>
  exchange({ action: 'w', input, output: output as never, ...more }) as unknown as PortExchange
const NewPart = shop.type('NewPart', {
  name: Part.definition.kind === 'complex' ? x.element(x.string) : x.element(x.string),
  tags: x.element(x.string).many(),
})
const Session = shop.element('Session', x.string)

describe('of the exchanges of a port', () => {
  for (const [title, exchanges, expected] of [
    ['none', {}, ''],
    [
      'a create whose item is chosen by the client',
      { CreatePart: writeOf(message('C1', { part: x.element(Part) })) },
      'create',
    ],
    [
      'members side by side',
      { ModifyPart: writeOf(message('C2', { ...partNo, name: x.element(x.simple(x.string, { maxLength: 8 })) })) },
      'change',
    ],
    [
      'a member of other bounds',
      { ModifyPart: writeOf(message('C2', { ...partNo, name: x.element(x.simple(x.string, { maxLength: 9 })) })) },
      '',
    ],
    ['the item itself', { ReplacePart: writeOf(shop.element('C3', Part)) }, 'change'],
    [
      'an identifier beside the item',
      { UpdatePart: writeOf(message('C4', { ...partNo, data: x.element(Part) })) },
      'change',
    ],
    [
      'another spelling',
      {
        update_part: writeOf(message('C5', { part: x.element(Part) })),
        removePartById: writeOf(message('C6', { part_no: x.element(x.int) })),
      },
      'change remove',
    ],
    [
      'more that is needed',
      { UpdatePart: writeOf(message('C7', { part: x.element(Part), reason: x.element(x.string) })) },
      '',
    ],
    [
      'two of one verb',
      {
        UpdatePart: writeOf(message('C8', { part: x.element(Part) })),
        ChangePart: writeOf(message('C9', { part: x.element(Part) })),
      },
      '',
    ],
    ['header blocks', { DeletePart: writeOf(message('D1', partNo), 'empty', { requestHeaders: { Session } }) }, ''],
    [
      'a removal that needs more',
      { DeletePart: writeOf(message('D2', { ...partNo, reason: x.element(x.string) })) },
      '',
    ],
    [
      'what only a new item can be given',
      {
        AddPart: writeOf(message('D7', { part: x.element(Part) })),
        UpdatePart: writeOf(message('D8', { ...partNo, tags: x.element(x.string).many() })),
      },
      'create',
    ],
    [
      'some members of the item',
      { UpdatePart: writeOf(message('D9', { ...partNo, tags: x.element(x.string).many() })) },
      'change',
    ],
    ['another noun', { DeleteOrder: writeOf(message('D3', partNo)) }, ''],
    ['many items', { CreatePart: writeOf(message('D4', { part: x.element(Part).many() })) }, ''],
    ['a list of identifiers', { DeletePart: writeOf(message('D5', { partNo: x.element(x.int).many() })) }, ''],
    [
      'an unknown identifier of what was made',
      { CreatePart: writeOf(message('D6', { part: x.element(NewPart) })) },
      '',
    ],
  ] as const)
    test(`${title}: ${expected || 'nothing is written'}`, () => {
      const [found] = guessResources([openPort(only(exchanges), [anyone])])
      assert.deepEqual(
        Object.keys(found?.writes ?? {})
          .filter(each => !['readOnly', 'filled', 'compared'].includes(each))
          .join(' '),
        expected,
      )
    })
})

test('if the service chooses the identifier and sets fields, they are read-only', async () => {
  const Task = shop.type('Task', {
    id: x.element(x.long),
    title: x.element(x.string),
    done: x.element(x.boolean).optional(),
    created: x.element(x.dateTime),
  })
  const tasks = port('Tasks', {
    namespace: 'urn:tasks',
    allow: [anyone],
    exchanges: {
      GetTask: exchange({
        action: 'a',
        input: message('GetTask', { id: x.element(x.long) }),
        output: message('T1', { task: x.element(Task).optional() }),
      }),
      ListTasks: exchange({ action: 'b', input: 'empty', output: message('T2', { task: x.element(Task).many() }) }),
      CreateTask: exchange({
        action: 'c',
        input: message('CreateTask', { title: x.element(x.string), done: x.element(x.boolean).optional() }),
        output: message('T3', { taskId: x.element(x.long) }),
      }),
      UpdateTask: exchange({
        action: 'd',
        input: message('UpdateTask', {
          id: x.element(x.long),
          title: x.element(x.string),
          done: x.element(x.boolean).optional(),
        }),
        output: 'empty',
      }),
      DeleteTask: exchange({
        action: 'e',
        input: message('DeleteTask', { taskId: x.element(x.long) }),
        output: 'empty',
      }),
    },
  })
  const rows = new Map<bigint, (typeof Task)['value']>()
  let last = 40n
  const created = '2026-01-02T03:04:05Z'
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [tasks] }), {
    Tasks: {
      GetTask: ({ id }) => ({ task: rows.get(id) }),
      ListTasks: () => ({ task: [...rows.values()] }),
      CreateTask: given => {
        rows.set(++last, { id: last, created, ...given })
        return { taskId: last }
      },
      UpdateTask: given => void rows.set(given.id, { created, ...given }),
      DeleteTask: ({ taskId }) => void rows.delete(taskId),
    },
  })
  const { server } = await startHosted({}, behind)
  const { send } = await startBridge(`http://127.0.0.1:${server.port}/soap/Tasks`, tasks)
  const made = await send('POST', '/api/v1/tasks', { title: 'write' })
  assert.equal(made.status, 201, made.text)
  assert.match(String(made.fields['location']), /\/tasks\/41$/)
  const { id, title, created: at } = JSON.parse(made.text)
  assert.deepEqual([id, title, at], ['41', 'write', created])
  assert.equal((await send('POST', '/api/v1/tasks', { title: 'x', created })).status, 422)
  const etag = etagOf(made)
  const put = await send('PUT', '/api/v1/tasks/41', { title: 'read', done: true }, { 'if-match': etag })
  assert.equal(put.status, 200, put.text)
  assert.deepEqual(rows.get(41n), { id: 41n, title: 'read', done: true, created })
  const now = etagOf(await send('GET', '/api/v1/tasks/41'))
  assert.equal((await send('DELETE', '/api/v1/tasks/41', undefined, { 'if-match': now })).status, 204)
  assert.equal(rows.size, 0)
})

/** Get and List of boxes, which a text identifies. */
const readsOfBoxes = <T>(Box: XmlType<T>) => ({
  GetBox: exchange({
    action: 'a',
    input: message('GetBox', { id: x.element(x.string) }),
    output: message('GetBoxResponse', { box: x.element(Box).optional() }),
  }),
  ListBoxes: exchange({
    action: 'b',
    input: 'empty',
    output: message('ListBoxesResponse', { box: x.element(Box).many() }),
  }),
})
const guessBoxes = (
  members: Parameters<typeof x.object>[0],
  writes: (Box: AnyXmlType) => Record<string, PortExchange>,
) => {
  const Box = shop.type('Box', members) as XmlType<unknown>
  const boxes = port('Boxes', { namespace: 'urn:boxes', exchanges: { ...readsOfBoxes(Box), ...writes(Box) } })
  return guessResources([openPort(boxes, [anyone])])[0]?.writes
}

test('a time is no version if those who change the item set it', () => {
  const versionOf = (type: AnyXmlType) =>
    guessBoxes({ id: x.element(x.string), size: x.element(x.int), timestamp: x.element(type) }, Box => ({
      UpdateBox: writeOf(message('UpdateBox', { box: x.element(Box) })),
    }))?.compared
  assert.deepEqual([x.dateTime, x.base64Binary].map(versionOf), [undefined, 'timestamp'])
})

test('an identifier that has to be sent is ours if it may be any text, else the service chooses it', () => {
  const createOf = (id: AnyXmlType) =>
    guessBoxes({ id: x.element(id), size: x.element(x.int) }, Box => ({
      CreateBox: writeOf(message('CreateBox', { box: x.element(Box) })),
    }))?.create?.exchange
  const short = x.simple(x.string, { maxLength: 5 })
  assert.deepEqual([x.string, short, x.long].map(createOf), ['CreateBox', undefined, undefined])
})

test('a version of the service travels with each change, as it was compared', async () => {
  const Box = shop.type('Box', {
    id: x.element(x.string),
    size: x.element(x.int),
    rowVersion: x.element(x.int),
  })
  const named = { id: x.element(x.string), rowVersion: x.element(x.int).optional() }
  const boxes = port('Boxes', {
    namespace: 'urn:boxes',
    allow: [anyone],
    exchanges: {
      ...readsOfBoxes(Box),
      UpdateBox: exchange({
        action: 'c',
        input: message('UpdateBox', { ...named, data: x.element(message('B3', { size: x.element(x.int) }).type()) }),
        output: 'empty',
      }),
      DeleteBox: exchange({ action: 'd', input: message('DeleteBox', named), output: 'empty' }),
    },
  })
  let box: (typeof Box)['value'] | undefined = { id: 'b', size: 1, rowVersion: 7 }
  const seen: unknown[] = []
  let gets = 0
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [boxes] }), {
    Boxes: {
      GetBox: () => {
        // Another program changes it between the comparison and the removal.
        if (++gets === 99 && box) box = { ...box, rowVersion: 9 }
        return { box }
      },
      ListBoxes: () => ({ box: box ? [box] : [] }),
      UpdateBox: given => {
        seen.push(given)
        box = { id: given.id, size: given.data.size, rowVersion: 8 }
      },
      DeleteBox: given => {
        seen.push(given)
        box = undefined
      },
    },
  })
  const { server } = await startHosted({}, behind)
  const { send } = await startBridge(`http://127.0.0.1:${server.port}/soap/Boxes`, boxes)
  const first = etagOf(await send('GET', '/api/v1/boxes/b'))
  const merge = { 'content-type': 'application/merge-patch+json', 'if-match': first }
  assert.equal((await send('PATCH', '/api/v1/boxes/b', { size: 2 }, merge)).status, 200)
  assert.deepEqual(seen, [{ id: 'b', rowVersion: 7, data: { size: 2 } }])
  const second = await send('GET', '/api/v1/boxes/b')
  const ifMatch = { 'if-match': etagOf(second) }
  assert.equal(
    (await send('PUT', '/api/v1/boxes/b', { size: 2, rowVersion: 1 }, ifMatch)).status,
    422,
    'it is read-only',
  )
  const remove = () => send('DELETE', '/api/v1/boxes/b', undefined, ifMatch)
  gets = 97 // one comparison of the call, and one at the removal
  assert.equal((await remove()).status, 412)
  assert.equal(seen.length, 1, 'nothing is sent')
  const third = await send('GET', '/api/v1/boxes/b')
  assert.equal((await send('DELETE', '/api/v1/boxes/b', undefined, { 'if-match': etagOf(third) })).status, 204)
  assert.deepEqual(seen[1], { id: 'b', rowVersion: 9 })
})

test('a function of the map gives each caller a token of its own, for reads, changes and actions', async () => {
  const desk = port('Desk', { ...shopPort, allow: [role('desk')], exchanges: {} })
  const guarded = openPort({ ...shopPort, port: 'Desk', names: desk.names }, [role('desk')])
  const seen: string[] = []
  const part: PartValue = { partNo: 7, name: 'bolt', tags: [] }
  const note = ({ caller }: { readonly caller: { readonly subject?: string | undefined } }) =>
    void seen.push(caller.subject ?? 'nobody')
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [guarded] }), {
    Desk: {
      GetPart: (_: unknown, ctx: never) => {
        note(ctx)
        return { part }
      },
      ListParts: (_: unknown, ctx: never) => {
        note(ctx)
        return { part: [part] }
      },
      AddPart: () => ({}),
      UpdatePart: (_: unknown, ctx: never) => {
        note(ctx)
        return {}
      },
      DeletePart: () => {},
    },
  } as never)
  const { server } = await startHosted({}, behind)
  const bearer: PortDressOptions = {
    credentials: {
      bearer: async caller => {
        if (caller?.subject === 'eve') throw new Error('no token for eve')
        return server.token(caller?.subject ?? 'nobody', caller?.subject ? ['desk'] : [])
      },
    },
  }
  const bridge = await startBridge(`http://127.0.0.1:${server.port}/soap/Desk`, shopPort, 20_000, bearer)
  const as = async (subject: string) => ({ authorization: `Bearer ${await bridge.server.token(subject, ['clerk'])}` })
  const got = await bridge.send('GET', '/api/v1/parts/7', undefined, await as('ann'))
  assert.equal(got.status, 200, got.text)
  assert.deepEqual(seen.splice(0), ['ann'])
  assert.equal((await bridge.send('GET', '/api/v1/parts', undefined, await as('bob'))).status, 200)
  assert.deepEqual(seen.splice(0), ['bob'])
  const put = await bridge.send('PUT', '/api/v1/parts/7', { ...part, name: 'nut' }, { ...(await as('bob')), 'if-match': etagOf(got) }) // biome-ignore format: one call
  assert.equal(put.status, 200, put.text)
  assert.deepEqual(new Set(seen.splice(0)), new Set(['bob']))
  assert.equal((await bridge.send('POST', '/api/v1/Shop/GetPart', { partNo: 7 }, await as('ann'))).status, 200)
  assert.deepEqual(seen.splice(0), ['ann'])
  const refused = await bridge.send('GET', '/api/v1/parts/7')
  assert.match(refused.text, /this caller may not do this/)
  seen.length = 0
  assert.equal((await bridge.send('GET', '/api/v1/parts/7', undefined, await as('eve'))).status, 500)
  assert.deepEqual(seen, [], 'nothing is sent')
})

test('hostile addresses and content reach the backend unchanged, or not at all', async () => {
  const Box = shop.type('Box', { id: x.element(x.string), label: x.element(x.string).optional() })
  const byId = { id: x.element(x.string) }
  const boxes = port('Boxes', {
    namespace: 'urn:boxes',
    allow: [anyone],
    exchanges: {
      ...readsOfBoxes(Box),
      UpdateBox: exchange({ action: 'c', input: message('UpdateBox', { box: x.element(Box) }), output: 'empty' }),
      DeleteBox: exchange({ action: 'd', input: message('DeleteBox', byId), output: 'empty' }),
    },
  })
  let box: (typeof Box)['value'] = { id: 'b' }
  const seen: string[] = []
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [boxes] }), {
    Boxes: {
      GetBox: ({ id }) => {
        seen.push(id)
        return id === 'b' ? { box } : {}
      },
      ListBoxes: () => ({ box: [box] }),
      UpdateBox: given => void (box = given.box),
      DeleteBox: ({ id }) => void seen.push(`removed ${id}`),
    },
  })
  const { server } = await startHosted({}, behind)
  const { send } = await startBridge(`http://127.0.0.1:${server.port}/soap/Boxes`, boxes)
  const ids = [
    'b</id><id>b',
    '<![CDATA[b]]>',
    '&b;',
    '../boxes/b',
    '__proto__',
    'b\u0000',
    'b\r\nx: y',
    'b'.repeat(3000),
  ]
  for (const id of ids) {
    for (const method of ['GET', 'DELETE'])
      assert.match(String((await send(method, `/api/v1/boxes/${encodeURIComponent(id)}`)).status), /^4/, id)
    for (const asked of seen.splice(0)) assert.equal(asked, id)
  }
  const etag = { 'if-match': etagOf(await send('GET', '/api/v1/boxes/b')) }
  const label = '</label></box><box><id>c</id>'
  assert.equal((await send('PUT', '/api/v1/boxes/b', { label }, etag)).status, 200)
  assert.deepEqual(box, { id: 'b', label })
  const now = { 'if-match': etagOf(await send('GET', '/api/v1/boxes/b')) }
  for (const value of [
    { label: '\u0000' },
    { id: 'c' },
    { label: 'x', more: 1 },
    JSON.parse('{"__proto__":{"id":"c"}}'),
  ]) {
    const { status, text } = await send('PUT', '/api/v1/boxes/b', value, now)
    assert.match(String(status), /^4/, text)
  }
  assert.deepEqual(box, { id: 'b', label })
})
