/**
 * What a call means, by rule id: policy, machine, preconditions, idempotency, references, jobs and
 * searches.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { anonymous, anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import type { Call, ExpectsResult } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { runNextJob } from '../../src/service/job.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { AuditRecord, ExpiringRecord, Store } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'

const proceed: Partial<Call> = { expects: () => 'proceed' }
const lines = [{ product: 'p-1', quantity: 2 }]
const draft = { customer: 'c-1', lines, currency: 'EUR' }
const kind = (answer: { readonly kind: string }): string => answer.kind

test('A5.2 the access table of orders.md, by caller and operation', async () => {
  const { ask } = await startOrdersService()
  const rows = [
    // operation, resource, anonymous, customer (c-1), clerk, manager
    ['GetProduct', { id: 'p-1' }, 'item', 'item', 'item', 'item'],
    [
      'ReplaceProduct',
      { id: 'p-1', ...proceed, ...input({ name: 'x', price: '1.00', stock: 1 }) },
      'unauthenticated',
      'forbidden',
      'forbidden',
      'item',
    ],
    ['GetOrder', { id: 'o-1' }, 'unauthenticated', 'item', 'item', 'item'],
    ['GetOrder', { id: 'o-2' }, 'unauthenticated', 'not-found', 'item', 'item'],
    ['CancelOrder', { id: 'o-2' }, 'unauthenticated', 'not-found', 'item', 'conflict'],
    ['CreateOrder', input({ ...draft, customer: 'c-2' }), 'unauthenticated', 'forbidden', 'item', 'item'],
    ['ShipOrder', { id: 'o-7', ...input({ carrier: 'dhl' }) }, 'unauthenticated', 'forbidden', 'item', 'conflict'],
    ['DeleteOrder', { id: 'o-5', ...proceed }, 'unauthenticated', 'forbidden', 'forbidden', 'removed'],
    [
      'DeleteOrders',
      { query: { filters: [{ field: 'state', is: 'eq', value: 'cancelled' }], sort: [], size: 1, counted: false } },
      'unauthenticated',
      'forbidden',
      'forbidden',
      'bulk',
    ],
    ['GetCustomer', { id: 'c-1' }, 'unauthenticated', 'item', 'item', 'item'],
    ['GetCustomer', { id: 'c-2' }, 'unauthenticated', 'not-found', 'item', 'item'],
    ['MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) }, 'unauthenticated', 'forbidden', 'forbidden', 'item'],
  ] as const
  for (const [name, of, ...expected] of rows)
    for (const [i, caller] of [anonymous, alice, clara, maria].entries())
      assert.equal(
        kind(await ask(caller, name, of as Partial<Call>)),
        expected[i],
        `${name} ${JSON.stringify(of)} by ${caller.subject}`,
      )
})

test('A5.2 a list holds only what the caller may see', async () => {
  const { ask } = await startOrdersService()
  const query = { filters: [], sort: [], size: 100, counted: true }
  const mine = await ask(alice, 'ListOrders', { query })
  const all = await ask(clara, 'ListOrders', { query })
  assert.ok(mine.kind === 'page' && all.kind === 'page')
  assert.equal(all.page.total, 100)
  assert.equal(mine.page.total, 34)
  assert.ok(mine.page.items.every(item => item.value['customer'] === 'c-1'))
})

test('A3.4 the machine decides: every edge can be taken; any other transition is a conflict that lists the possible ones', async () => {
  const { ask } = await startOrdersService()
  const edges: Record<string, Record<string, string>> = {
    placed: { PayOrder: 'paid', CancelOrder: 'cancelled' },
    paid: { CancelOrder: 'cancelled', ShipOrder: 'shipped' },
    shipped: { DeliverOrder: 'delivered' },
    delivered: {},
    cancelled: {},
  }
  const inputs: Record<string, Record<string, unknown>> = {
    ShipOrder: { carrier: 'dhl' },
    PayOrder: { method: 'card', amount: '' },
  }
  const states = Object.keys(edges)
  let next = 0
  for (const [i, state] of states.entries())
    for (const name of ['PayOrder', 'CancelOrder', 'ShipOrder', 'DeliverOrder']) {
      const id = `o-${i + 1 + 5 * next++}`
      const before = await ask(maria, 'GetOrder', { id })
      assert.ok(before.kind === 'item' && before.item.value['state'] === state)
      const given = { ...inputs[name], ...(name === 'PayOrder' && { amount: before.item.value['total'] }) }
      const answer = await ask(maria, name, { id, ...input(given) })
      const to = edges[state]?.[name]
      if (to === undefined) {
        assert.ok(answer.kind === 'conflict', `${name} of ${state}`)
        assert.equal(answer.state, state)
      } else {
        assert.ok(answer.kind === 'item' || answer.kind === 'output', `${name} of ${state}: ${answer.kind}`)
        assert.equal(answer.item.value['state'], to)
        assert.ok(answer.item.version > before.item.version)
      }
    }
})

test('A4.20 the version compared is the version changed: of twenty changes with one version, one wins', async () => {
  const { ask } = await startOrdersService()
  const before = await ask(maria, 'GetProduct', { id: 'p-1' })
  assert.ok(before.kind === 'item')
  const expects: Call['expects'] = current => (current?.version === before.item.version ? 'proceed' : 'failed')
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      ask(maria, 'ReplaceProduct', { id: 'p-1', expects, ...input({ name: `n${i}`, price: '1.00', stock: 1 }) }),
    ),
  )
  assert.equal(answers.filter(answer => answer.kind === 'item').length, 1)
  assert.equal(answers.filter(answer => answer.kind === 'stale').length, 19)
})

test('A3.4 of twenty simultaneous payments one succeeds', async () => {
  const { ask } = await startOrdersService()
  const order = await ask(clara, 'GetOrder', { id: 'o-1' })
  assert.ok(order.kind === 'item')
  const pay = () =>
    ask(clara, 'PayOrder', { id: 'o-1', ...input({ method: 'card', amount: order.item.value['total'] }) })
  const answers = await Promise.all(Array.from({ length: 20 }, pay))
  assert.deepEqual(answers.map(kind).sort(), [...Array.from({ length: 19 }, () => 'conflict'), 'output'])
  const kept = await ask(clara, 'GetOrderPayment', { id: 'o-1' })
  assert.ok(kept.kind === 'output' && kept.output['amount'] === order.item.value['total'])
})

test('A1.8 one key has one effect: a repeat gets the first outcome, another request is refused, another caller is separate', async () => {
  const { ask } = await startOrdersService()
  const once = { key: 'k', fingerprint: 'f', space: 'idempotency' } as const
  const first = await ask(alice, 'CreateOrder', { once, ...input(draft) })
  const again = await ask(alice, 'CreateOrder', { once, ...input(draft) })
  assert.deepEqual(again, JSON.parse(JSON.stringify(first)))
  assert.equal(
    kind(await ask(alice, 'CreateOrder', { once: { ...once, fingerprint: 'g' }, ...input(draft) })),
    'key-reused',
  )
  const other = await ask(clara, 'CreateOrder', { once, ...input(draft) })
  assert.ok(first.kind === 'item' && other.kind === 'item' && other.item.id !== first.item.id)
  const bad = { once: { ...once, key: 'b' }, ...input({ ...draft, customer: 'c-9' }) }
  assert.equal(kind(await ask(clara, 'CreateOrder', bad)), 'invalid')
  assert.equal(
    kind(await ask(clara, 'CreateOrder', { ...bad, ...input(draft) })),
    'item',
    'a refused key is free again',
  )
  const many = { once: { ...once, key: 'm' }, ...input(draft) }
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(clara, 'CreateOrder', many)))
  assert.deepEqual(answers.map(kind).sort(), ['in-flight', 'in-flight', 'in-flight', 'in-flight', 'item'])
})

test('A1.8 a key may equal the MessageID of another request, also at the same time', async () => {
  const { ask } = await startOrdersService()
  const answers = await Promise.all(
    (['idempotency', 'message'] as const).map(space =>
      ask(clara, 'CreateOrder', { once: { key: 'k', fingerprint: space, space }, ...input(draft) }),
    ),
  )
  assert.deepEqual(answers.map(kind), ['item', 'item'])
})

test('A1.8 a key holds for a day; after that it may belong to another request', async () => {
  const { ask, clock } = await startOrdersService()
  const once = { key: 'k', fingerprint: 'f', space: 'idempotency' } as const
  const create = async (fingerprint = 'f') => {
    const made = await ask(alice, 'CreateOrder', { once: { ...once, fingerprint }, ...input(draft) })
    return made.kind === 'item' ? made.item.id : made.kind
  }
  const first = await create()
  clock.now += 24 * 3_600_000 - 1
  assert.equal(await create(), first)
  assert.equal(await create('g'), 'key-reused')
  clock.now += 1
  const second = await create('g')
  assert.match(second, /^o-/)
  assert.notEqual(second, first)
  assert.equal(await create('g'), second)
})

test('A1.8 an attempt that was rolled back is not audited: its key was used elsewhere', async () => {
  const { store, clock } = await startOrdersService()
  const done: AuditRecord[] = []
  const undone = new Error('it collides')
  let tries = 0
  // Like a database that runs work again because another instance was first.
  const write: Store['write'] = async work => {
    if (tries++ > 0) return store.write(work)
    const key = JSON.stringify(['clara', 'CreateOrder', 'k'])
    let memo: ExpiringRecord | undefined
    const first = store.write(async writer => {
      await work(writer)
      memo = await writer.recall('idempotency', key)
      throw undone
    })
    await assert.rejects(first, undone)
    assert.ok(memo)
    const kept = memo
    await store.write(writer => writer.remember('idempotency', key, kept, clock.now))
    return store.write(work)
  }
  const calls = createServiceCalls(app, {
    store: { ...store, write },
    limiter: createMemoryLimiter(),
    clock: () => clock.now,
    id: prefix => `${prefix}-once`,
    done: deed => void done.push(deed),
  })
  const creates = listOperations(app.contract).find(each => each.name === 'CreateOrder')
  assert.ok(creates)
  const admitted = await calls.admit(creates, clara, '127.0.0.1', 'rest')
  const once = { key: 'k', fingerprint: 'f', space: 'idempotency' } as const
  const call = { admitted, face: 'rest', request: 'r', once } as const
  assert.equal((await calls.perform({ ...call, ...input(draft) })).kind, 'item')
  assert.deepEqual(done, [])
  assert.equal((await calls.perform({ ...call, ...input(draft), once: { ...once, key: 'another' } })).kind, 'item')
  assert.equal(done.length, 1)
})

test('B7.4 a declared fault ends the call, and nothing the call did stays', async () => {
  const { ask } = await startOrdersService()
  const declined = await ask(alice, 'PayOrder', { id: 'o-1', ...input({ method: 'card', amount: '0.01' }) })
  assert.ok(declined.kind === 'declared' && declined.fault.fault === 'PaymentDeclined')
  await ask(maria, 'ReplaceProduct', { id: 'p-7', ...proceed, ...input({ name: 'x', price: '1.00', stock: 0 }) })
  const order = await ask(clara, 'GetOrder', { id: 'o-7' })
  const short = await ask(clara, 'ShipOrder', { id: 'o-7', ...input({ carrier: 'ups' }) })
  assert.ok(short.kind === 'declared' && short.fault.fault === 'OutOfStock', kind(short))
  assert.deepEqual(await ask(clara, 'GetOrder', { id: 'o-7' }), order)
})

test('A2.1 a server field in content is ignored if equal, refused if different', async () => {
  const { ask } = await startOrdersService()
  const order = await ask(clara, 'GetOrder', { id: 'o-1' })
  assert.ok(order.kind === 'item')
  const { value } = order.item
  const change = (server: { path: (string | number)[]; value: unknown }[]) =>
    ask(clara, 'ReplaceOrder', {
      id: 'o-1',
      ...proceed,
      ...input({ ...draft, lines: [{ product: 'p-1', quantity: 1 }] }, server),
    })
  assert.equal(
    kind(
      await change([
        { path: ['total'], value: value['total'] },
        { path: ['id'], value: 'o-1' },
      ]),
    ),
    'item',
  )
  const refused = await change([{ path: ['state'], value: 'paid' }])
  assert.ok(refused.kind === 'invalid' && refused.problems[0]?.code === 'readOnly')
})

test('A2.1 A4.4 read-only members inside objects are kept too; inside lists, if the item is otherwise unchanged', async () => {
  const own = { seen: t.int().optional().readOnly(), note: t.string().optional().internal() }
  const part = t.object({ name: t.string(), ...own })
  const which = t.union('kind', { a: { name: t.string(), ...own }, b: {}, c: { name: t.string(), ...own } })
  const fields = {
    id: t.id('t'),
    name: t.string(),
    place: part.optional(),
    which: which.optional(),
    parts: t.list(part),
  }
  const things = resource('things', { fields }).rules({
    precondition: false,
    allow: { change: [anyone], read: [anyone] },
  })
  const contract = service('things', { namespace: 'urn:x', resources: [things] })
  const store = openSqliteStore(contract, ':memory:')
  const calls = createServiceCalls(implement(contract, {}), {
    store,
    limiter: createMemoryLimiter(),
    clock: () => 0,
    id: String,
  })
  const [a, b] = [
    { name: 'a', seen: 1, note: 'n' },
    { name: 'b', seen: 2, note: 'm' },
  ]
  const stands = { id: 't-1', name: 'x', place: a, which: { kind: 'a', ...a }, parts: [a, b] }
  await store.write(writer => writer.put('things', 't-1', stands, {}, undefined, 0))
  const replaces = listOperations(contract).find(each => each.name === 'ReplaceThing')
  assert.ok(replaces)
  const admitted = await calls.admit(replaces, anonymous, '127.0.0.1', 'rest')
  const replaced = async (value: Record<string, unknown>) => {
    const outcome = await calls.perform({ admitted, face: 'rest', request: 'r', id: 't-1', ...input(value) })
    assert.ok(outcome.kind === 'item')
    return outcome.item.value
  }
  const sent = {
    name: 'y',
    place: { name: 'z' },
    which: { kind: 'a', name: 'a' },
    parts: [{ name: 'a' }, { name: 'c' }],
  }
  assert.deepEqual(await replaced(sent), {
    ...stands,
    name: 'y',
    place: { ...a, name: 'z' },
    parts: [a, { name: 'c' }],
  })
  const other = { name: 'y', which: { kind: 'c', name: 'a' }, parts: [] }
  assert.deepEqual(await replaced(other), { id: 't-1', ...other }, 'another case of a union has members of its own')
  assert.deepEqual(await replaced({ name: 'y', which: { kind: 'b' }, parts: [] }), {
    id: 't-1',
    name: 'y',
    which: { kind: 'b' },
    parts: [],
  })
})

test('A7.9 references hold: a named item must exist, and an item that is referred to stays', async () => {
  const { ask } = await startOrdersService()
  const order = await ask(clara, 'CreateOrder', input({ ...draft, lines: [{ product: 'p-99', quantity: 1 }] }))
  assert.ok(order.kind === 'invalid')
  assert.deepEqual(order.problems[0]?.path, ['lines', 0, 'product'])
  assert.equal(kind(await ask(maria, 'DeleteCustomer', { id: 'c-1', ...proceed })), 'conflict')
})

test('A7.6 gone and moved: 410 after removal until the identifier is reused; a redirect after a merger', async () => {
  const { ask } = await startOrdersService()
  const before = await ask(maria, 'GetProduct', { id: 'p-20' })
  assert.ok(before.kind === 'item')
  assert.equal(kind(await ask(maria, 'DeleteProduct', { id: 'p-20', ...proceed })), 'removed')
  assert.equal(kind(await ask(anonymous, 'GetProduct', { id: 'p-20' })), 'gone')
  const again = await ask(maria, 'ReplaceProduct', { id: 'p-20', ...input({ name: 'x', price: '1.00', stock: 1 }) })
  assert.ok(again.kind === 'item' && again.created)
  assert.ok(again.item.version > before.item.version, 'a version is never used twice')
  assert.equal(kind(await ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-3' }) })), 'conflict')
  const merged = await ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-none' }) })
  assert.ok(merged.kind === 'conflict' || merged.kind === 'invalid', 'there is no such customer')
  await ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) })
  assert.deepEqual(await ask(maria, 'GetCustomer', { id: 'c-3' }), { kind: 'moved', to: 'c-2' })
  assert.equal(
    kind(await ask(alice, 'GetCustomer', { id: 'c-3' })),
    'not-found',
    'who sees only their own learns nothing',
  )
  const orders = await ask(clara, 'ListOrders', {
    query: { filters: [{ field: 'customer', is: 'eq', value: 'c-3' }], sort: [], size: 10, counted: true },
  })
  assert.ok(orders.kind === 'page' && orders.page.total === 0)
})

test('A7.13 a change needs a precondition if the contract demands one; the results are 304 and 412', async () => {
  const { ask } = await startOrdersService()
  assert.equal(kind(await ask(maria, 'DeleteOrder', { id: 'o-5' })), 'precondition-required')
  const says = (verdict: ExpectsResult): Partial<Call> => ({ id: 'o-5', expects: () => verdict })
  assert.equal(kind(await ask(maria, 'GetOrder', says('unchanged'))), 'unchanged')
  assert.equal(kind(await ask(maria, 'DeleteOrder', says('failed'))), 'stale')
})

test('A8.1 a caller beyond the rate learns when to retry, and others are served', async () => {
  const { ask, clock } = await startOrdersService()
  const search = () => ask(clara, 'CreateSearch', input({ q: 'gift' }))
  for (let i = 0; i < 30; i++) assert.equal(kind(await search()), 'search')
  const over = await search()
  assert.ok(over.kind === 'too-many' && over.after > 0 && over.after <= 60)
  assert.equal(kind(await ask(maria, 'CreateSearch', input({ q: 'gift' }))), 'search')
  clock.now += 60_000
  assert.equal(kind(await search()), 'search')
})

test('A4.13 a search finds whole words in notes, customers and products, and belongs to its maker only', async () => {
  const { ask } = await startOrdersService()
  const found = async (q: string, by: object = {}) => {
    const made = await ask(clara, 'CreateSearch', input({ q, ...by }))
    assert.ok(made.kind === 'search')
    const answer = await ask(clara, 'GetSearch', {
      id: made.id,
      query: { filters: [], sort: [], size: 100, counted: true },
    })
    assert.ok(answer.kind === 'search')
    assert.equal(kind(await ask(maria, 'GetSearch', { id: made.id })), 'not-found')
    return answer.page?.total
  }
  assert.equal(await found('archer'), 34)
  assert.equal(await found('archer', { state: 'placed' }), 7)
  assert.equal(await found('arch'), 0)
  assert.ok(((await found('gift wrap')) ?? 0) > 0)
  assert.ok(((await found('brass lamp')) ?? 0) > 0)
  assert.equal(await found('%'), 0)
})

test('A3.1–A3.3 a job is queued, runs and completes with its result; a cancelled one never completes', async () => {
  const { ask, store, clock } = await startOrdersService()
  const failures: unknown[] = []
  let count = 0
  const working = {
    app,
    store,
    clock: () => clock.now,
    id: (prefix: string) => `${prefix}-${++count}`,
    failed: (_: unknown, thrown: unknown) => failures.push(thrown),
  }
  const start = () => ask(clara, 'StartReport', input({ from: '2026-01-01', to: '2026-12-31', kind: 'sales' }))
  const queued = await start()
  assert.ok(queued.kind === 'job' && queued.job.state === 'queued')
  assert.equal(kind(await ask(maria, 'GetReportJob', { id: queued.job.id })), 'not-found')
  assert.equal(kind(await ask(clara, 'GetReport', { id: queued.job.id })), 'not-found')
  const running = runNextJob(working, new AbortController().signal)
  await new Promise(resolve => setTimeout(resolve, 100))
  const seen = await ask(clara, 'GetReportJob', { id: queued.job.id })
  assert.ok(seen.kind === 'job' && seen.job.state === 'running')
  assert.equal(await running, true)
  assert.deepEqual(failures, [])
  const done = await ask(clara, 'GetReport', { id: queued.job.id })
  assert.ok(done.kind === 'result' && Array.isArray(done.output['rows']) && done.output['rows'].length > 20)
  const other = await start()
  assert.ok(other.kind === 'job')
  assert.equal(kind(await ask(clara, 'CancelReportJob', { id: other.job.id })), 'job')
  assert.equal(await runNextJob(working, new AbortController().signal), false)
  assert.equal(kind(await ask(clara, 'CancelReportJob', { id: other.job.id })), 'conflict')
})
