/** What a call tells others: the store, the audit, the workers, and any observer. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { listOperations } from '../../src/contract/operation.ts'
import { anonymous, type Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import { Refused } from '../../src/service/refusal.ts'
import type { AuditRecord, Store } from '../../src/service/store.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'

/** The orders service, and what its calls report. */
async function startObserved(parts: { readonly replica?: Pick<Store, 'read'> } = {}) {
  const { store, clock, ask: askPlain } = await startOrdersService()
  const turns: unknown[] = []
  const deeds: AuditRecord[] = []
  const watched: string[] = []
  let startedJobs = 0
  let count = 0
  const calls = createServiceCalls(app, {
    store: {
      ...store,
      read: work => store.read(work),
      write: (work, turn) => {
        turns.push(turn)
        return store.write(work, turn)
      },
    },
    ...parts,
    limiter: createMemoryLimiter(),
    clock: () => clock.now,
    id: prefix => `${prefix}-own${++count}`,
    started: () => void startedJobs++,
    done: deed => void deeds.push(deed),
    watch: ({ request, operation, subject }, by) => {
      watched.push(`${by} ${request} ${operation} of ${subject} begins`)
      return () => watched.push(`${operation} ends`)
    },
  })
  const ask = async (caller: Caller, name: string, more: Partial<Call> = {}) => {
    const operation = listOperations(app.contract).find(each => each.name === name) ?? assert.fail(name)
    const admitted = await calls.admit(operation, caller, '192.0.2.7', 'rest')
    return calls.perform({ admitted, face: 'rest', request: 'r-1', ...more })
  }
  return { ask, askPlain, store, clock, turns, deeds, watched, startedJobs: () => startedJobs }
}

const proceed: Partial<Call> = { expects: () => 'proceed' }
const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }
const report = { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }
const isRefusal = (kind: string) => (thrown: unknown) => thrown instanceof Refused && thrown.refusal.kind === kind

describe('the audit has a line for each change, naming the item that was made or changed', () => {
  const rows: readonly (readonly [Caller, operation: string, more: Partial<Call>, resource: string, id: string])[] = [
    [clara, 'CreateOrder', input(draft), 'orders', 'o-own1'],
    [clara, 'CancelOrder', { id: 'o-1' }, 'orders', 'o-1'],
    [maria, 'DeleteProduct', { id: 'p-20', ...proceed }, 'products', 'p-20'],
    [maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) }, 'customers', 'c-2'],
    [clara, 'StartReport', input(report), 'reports', 'j-own1'],
    [clara, 'CreateSearch', input({ q: 'lamp' }), 'orders', 's-own1'],
  ]
  for (const [caller, operation, more, resource, id] of rows)
    test(operation, async () => {
      const { ask, store, clock, deeds, watched } = await startObserved()
      const outcome = await ask(caller, operation, more)
      const version = 'item' in outcome ? outcome.item.version : undefined
      const line = {
        at: clock.now,
        subject: caller.subject,
        operation,
        resource,
        id,
        version,
        face: 'rest',
        request: 'r-1',
      }
      assert.deepEqual(deeds, [line])
      const all = await store.read(reader => reader.deeds(0, Infinity, 999))
      const kept = all.find(each => each.resource === resource && each.id === id)
      assert.deepEqual([kept?.operation, kept?.version], [operation, version])
      assert.deepEqual(watched, [`call r-1 ${operation} of ${caller.subject} begins`, `${operation} ends`])
    })
  test('the audit has no line for a call that is refused or only reads', async () => {
    const { ask, deeds, store, watched } = await startObserved()
    await assert.rejects(ask(alice, 'CancelOrder', { id: 'o-2' }), isRefusal('not-found'))
    assert.deepEqual(
      watched,
      ['call r-1 CancelOrder of alice begins', 'CancelOrder ends'],
      'its end is told all the same',
    )
    await ask(clara, 'GetOrder', { id: 'o-1' })
    assert.deepEqual(deeds, [])
    assert.deepEqual(await store.read(reader => reader.deeds(0, Infinity, 9)), [])
  })
})

test('a change tells the store its item, so that changes of one item queue; a creation tells only its caller', async () => {
  const { ask, turns } = await startObserved()
  await ask(clara, 'CreateOrder', input(draft))
  await ask(clara, 'CancelOrder', { id: 'o-1' })
  const started = await ask(clara, 'StartReport', input(report))
  await ask(clara, 'CancelReportJob', { id: started.kind === 'job' ? started.job.id : '' })
  assert.deepEqual(turns, [
    { caller: 'clara' },
    { item: 'orders o-1', caller: 'clara' },
    { caller: 'clara' },
    { item: 'reports j-own2', caller: 'clara' },
  ])
})

test('workers are notified of a started job once it is durable', async () => {
  const { ask, startedJobs } = await startObserved()
  await ask(clara, 'CreateSearch', input({ q: 'lamp' }))
  await ask(maria, 'DeleteProduct', { id: 'p-20', ...proceed })
  assert.equal(startedJobs(), 0)
  await ask(clara, 'StartReport', input(report))
  assert.equal(startedJobs(), 1)
  await assert.rejects(ask(anonymous, 'StartReport', input(report)), isRefusal('unauthenticated'))
  assert.equal(startedJobs(), 1)
})

test('A1.8 a key is remembered for a day, to the millisecond', async () => {
  const { ask, clock } = await startObserved()
  const once = { key: 'k', fingerprint: 'f', space: 'idempotency' } as const
  const create = async () => {
    const outcome = await ask(clara, 'CreateOrder', { once, ...input(draft) })
    return outcome.kind === 'item' && outcome.item.id
  }
  const begun = clock.now
  const first = await create()
  clock.now = begun + 24 * 3_600_000 - 1
  assert.equal(await create(), first)
  clock.now = begun + 24 * 3_600_000
  assert.notEqual(await create(), first)
})

test('A4.12 a search is kept for as long as the contract says, to the millisecond', async () => {
  const { ask, clock } = await startObserved()
  const keepMs = (app.contract.searches?.keep ?? 3600) * 1000
  const made = await ask(clara, 'CreateSearch', input({ q: 'lamp' }))
  const id = made.kind === 'search' ? made.id : assert.fail(made.kind)
  const query = { filters: [], sort: [], size: 10, counted: true }
  clock.now += keepMs - 1
  assert.equal((await ask(clara, 'GetSearch', { id, query })).kind, 'search')
  clock.now += 1
  await assert.rejects(ask(clara, 'GetSearch', { id, query }), isRefusal('not-found'))
  await assert.rejects(ask(clara, 'GetSearch', { id: 's-none', query }), isRefusal('not-found'))
  await assert.rejects(ask(clara, 'GetSearch', { query }), isRefusal('not-found'))
})

test('a read goes to the replica, a change to the store itself', async () => {
  const { store: behind } = await startOrdersService()
  let asked = 0
  const replica: Pick<Store, 'read'> = {
    read: work => {
      asked++
      return behind.read(work)
    },
  }
  const { ask } = await startObserved({ replica })
  const before = await ask(clara, 'GetOrder', { id: 'o-1' })
  assert.equal(asked, 1)
  await ask(clara, 'CancelOrder', { id: 'o-1' })
  assert.equal(asked, 1)
  assert.deepEqual(await ask(clara, 'GetOrder', { id: 'o-1' }), before, 'the replica is behind')
})

describe('A8.1 a request beyond the limit', () => {
  test('carries the limit, its window, and at least one second to wait', async () => {
    const { ask, clock } = await startObserved()
    const operation = listOperations(app.contract).find(each => each.name === 'CreateSearch') ?? assert.fail()
    const { count, seconds } = operation.limit
    for (let i = 0; i < count; i++) await ask(clara, 'CreateSearch', input({ q: 'lamp' }))
    for (const [passedMs, after] of [
      [0, seconds],
      [seconds * 1000 - 1001, 2],
      [1000, 1],
    ] as const) {
      clock.now += passedMs
      await assert.rejects(ask(clara, 'CreateSearch', input({ q: 'lamp' })), thrown => {
        assert.ok(thrown instanceof Refused)
        assert.deepEqual(thrown.refusal, { kind: 'too-many', after, limit: count, window: seconds })
        return true
      })
    }
    assert.equal((await ask(maria, 'CreateSearch', input({ q: 'lamp' }))).kind, 'search', 'others have their own')
  })
})
