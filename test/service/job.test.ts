/** Jobs (rules A3.1–A3.3): whom they belong to, what a state allows, and how an attempt ends. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fault } from '../../src/contract/fault.ts'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { job } from '../../src/contract/job.ts'
import { anyone, type Caller, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import type { Call } from '../../src/service/call.ts'
import { type JobContext, listFailedJobs, retryJob, runNextJob } from '../../src/service/job.ts'
import { type JobRow, Unavailable } from '../../src/service/store.ts'
import { input } from './orders-service.ts'
import { startService } from './service-of.ts'

const member = role('member')
const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] } })
const TooDark = fault('TooDark', { status: 409, title: 'Too dark' })
const counts = job('counts', {
  input: { what: t.string() },
  output: { seen: t.int() },
  faults: [TooDark],
  allow: [member],
  tries: 20,
})
const others = job('others', { input: {}, output: {}, allow: [member] })
const contract = service('work', {
  namespace: 'urn:work',
  resources: [notes],
  jobs: [counts, others],
  versions: { v1: {} },
})
const ann: Caller = { subject: 'ann', roles: ['member'], claims: {} }
const bob: Caller = { subject: 'bob', roles: ['member'], claims: {} }

type Run = NonNullable<Parameters<typeof implement<typeof contract>>[1]['counts']>['run']

/** The service, one queued job of `ann`, and its row in the store. */
async function startCount(run: Run = async () => ({ seen: 1 })) {
  const desk = await startService(
    implement(contract, { notes: {}, counts: { run }, others: { run: async () => ({}) } }),
  )
  const started = await desk.ask(ann, 'StartCount', input({ what: 'x' }))
  const id = started.kind === 'job' ? started.job.id : assert.fail(started.kind)
  const row = async () => (await desk.store.read(reader => reader.job(id))) ?? assert.fail('no row')
  const change = (to: Partial<JobRow>) =>
    desk.store.write(async writer => {
      const before = (await writer.job(id)) ?? assert.fail('no row')
      await writer.putJob({ ...before, ...to })
    })
  return { ...desk, id, row, change }
}

describe('A3.1 the address of a job', () => {
  const operations = ['GetCountJob', 'CancelCountJob', 'GetCount']
  test('leads its owner to it', async () => {
    const { ask, id, change } = await startCount()
    const told = await ask(ann, 'GetCountJob', { id })
    assert.ok(told.kind === 'job' && !told.created && told.job.id === id)
    await change({ state: 'completed', output: '{"seen":3}' })
    const result = await ask(ann, 'GetCount', { id })
    assert.deepEqual(result.kind === 'result' && [result.job.id, result.output], [id, { seen: 3 }])
  })
  for (const operation of operations) {
    test(`leads no other caller to it: ${operation}`, async () => {
      const { ask, id, change } = await startCount()
      await change({ state: 'running', output: '{"seen":3}' })
      assert.deepEqual(await ask(bob, operation, { id }), { kind: 'not-found' })
    })
    test(`leads to no job of another kind: ${operation}`, async () => {
      const { ask, change } = await startCount()
      const started = await ask(ann, 'StartOther', input({}))
      assert.ok(started.kind === 'job')
      await change({ state: 'completed' })
      assert.deepEqual(await ask(ann, operation, { id: started.job.id }), { kind: 'not-found' })
    })
    test(`leads to a job only if it was given out: ${operation}`, async () => {
      const { ask } = await startCount()
      assert.deepEqual(await ask(ann, operation, { id: 'j-none' }), { kind: 'not-found' })
      assert.deepEqual(await ask(ann, operation, {}), { kind: 'not-found' })
    })
  }
})

describe('A3.3 the state of a job', () => {
  for (const [state, cancels, results] of [
    ['queued', 'job', 'not-found'],
    ['running', 'job', 'not-found'],
    ['completed', 'conflict', 'result'],
    ['failed', 'conflict', 'not-found'],
    ['cancelled', 'conflict', 'not-found'],
  ] as const) {
    test(`${state}: cancelling it gives ${cancels}`, async () => {
      const { ask, id, change, row } = await startCount()
      await change({ state })
      const told = await ask(ann, 'CancelCountJob', { id })
      if (cancels === 'conflict') assert.deepEqual(told, { kind: 'conflict', state, possible: [] })
      else assert.ok(told.kind === 'job' && told.job.state === 'cancelled' && !told.created)
      assert.equal((await row()).state, cancels === 'conflict' ? state : 'cancelled')
    })
    test(`${state}: its result gives ${results}`, async () => {
      const { ask, id, change } = await startCount()
      await change({ state, output: '{"seen":3}' })
      assert.equal((await ask(ann, 'GetCount', { id })).kind, results)
    })
  }
  test('completed without an output it has no result', async () => {
    const { ask, id, change } = await startCount()
    await change({ state: 'completed', output: undefined })
    assert.deepEqual(await ask(ann, 'GetCount', { id }), { kind: 'not-found' })
  })
})

describe('A4.3 a precondition of a job is compared with its version', () => {
  for (const operation of ['GetCountJob', 'GetCount'])
    test(operation, async () => {
      const { ask, id, change, row } = await startCount()
      await change({ state: 'completed', output: '{"seen":3}' })
      const { version, modified } = await row()
      const given: unknown[] = []
      const compare =
        (verdict: ReturnType<NonNullable<Call['expects']>>): NonNullable<Call['expects']> =>
        current => {
          given.push([current?.version, current?.modified])
          return verdict
        }
      const unchanged = await ask(ann, operation, { id, expects: compare('unchanged') })
      assert.ok(unchanged.kind === 'unchanged' && unchanged.current.version === version)
      assert.ok(['job', 'result'].includes((await ask(ann, operation, { id, expects: compare('proceed') })).kind))
      if (operation === 'GetCountJob')
        assert.deepEqual(await ask(ann, operation, { id, expects: compare('failed') }), { kind: 'stale', version })
      for (const each of given) assert.deepEqual(each, [version, modified])
    })
})

describe('A3.2 an attempt that ends', () => {
  const failing = (thrown: () => never) => startCount(async () => thrown())

  test('badly delays the next by a second, doubled each time up to five minutes', async () => {
    const { runJob, clock, row } = await failing(() => {
      throw new Error('on purpose')
    })
    const waits: number[] = []
    for (let tries = 1; tries < 20; tries++) {
      assert.equal(await runJob(), true)
      const { due, leased, state } = await row()
      assert.deepEqual([state, leased, (await row()).tries], ['queued', 0, tries])
      waits.push(due - clock.now)
      clock.now = due
    }
    assert.deepEqual(
      waits.slice(0, 9),
      [1, 2, 4, 8, 16, 32, 64, 128, 256].map(seconds => seconds * 1000),
    )
    assert.deepEqual(new Set(waits.slice(9)), new Set([300_000]))
    await runJob()
    assert.deepEqual([(await row()).state, (await row()).failure], ['failed', 'error'])
  })

  test('because the store is unreachable waits as long as the store says, and does not count', async () => {
    const { runJob, clock, row, thrown } = await failing(() => {
      throw new Unavailable(7)
    })
    await runJob()
    const { state, tries, due, leased } = await row()
    assert.deepEqual([state, tries, due - clock.now, leased], ['queued', 0, 7000, 0])
    assert.deepEqual(thrown, [])
  })

  for (const [what, run, failure] of [
    ['by a declared fault has failed under its name', ctx => ctx.fail(TooDark), 'TooDark'],
    ['by a conflict has failed as one', ctx => ctx.conflict('no'), 'conflict'],
    ['by a refusal of the policy has failed as one', ctx => ctx.forbid(), 'forbidden'],
  ] satisfies (readonly [string, (ctx: Parameters<Run>[0]) => never, string])[])
    test(`${what}, and is not tried again`, async () => {
      const { runJob, row, thrown } = await startCount(async ctx => run(ctx))
      await runJob()
      assert.deepEqual([(await row()).state, (await row()).failure, (await row()).tries], ['failed', failure, 1])
      assert.equal(thrown.length, 1, 'the log has its cause')
      assert.equal(await runJob(), false)
    })

  test('well sets progress to 1 and keeps its output, and no later report counts', async () => {
    let report: ((part: number) => Promise<void>) | undefined
    const { runJob, row } = await startCount(async (_ctx, _input, progress) => {
      report = progress
      return { seen: 5 }
    })
    await runJob()
    const { state, progress, output } = await row()
    assert.deepEqual([state, progress, output], ['completed', 1, '{"seen":5}'])
    await assert.rejects(report?.(0.5) ?? Promise.resolve(), /has ended/)
    assert.equal((await row()).progress, 1)
  })
})

describe('A3.2 the lease of a job', () => {
  test('lasts 30 seconds, and each report of progress renews it; progress is from 0 to 1', async () => {
    const seen: unknown[] = []
    const started = await startCount(async (_ctx, _input, progress) => {
      const { clock, row } = started
      const look = async () => seen.push([(await row()).progress, (await row()).leased - clock.now])
      await look()
      for (const part of [0.25, -1, 7]) {
        clock.now += 10_000
        await progress(part)
        await look()
      }
      return { seen: 1 }
    })
    await started.runJob()
    assert.deepEqual(
      seen,
      [0, 0.25, 0, 1].map(part => [part, 30_000]),
    )
  })

  test('is not renewed by a report that is not a number, which ends the run as a mistake', async () => {
    let said = ''
    const started = await startCount(async (_ctx, _input, progress) => {
      await progress(0 / 0).catch(thrown => {
        said = String(thrown)
      })
      return { seen: 1 }
    })
    await started.runJob()
    assert.equal(said, 'Error: counts: progress(NaN): give the part that is done, from 0 to 1')
  })

  test('is renewed every five seconds while the job runs', async t => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const leases: number[] = []
    const started = await startCount(async () => {
      const { clock, row } = started
      const settle = async () => {
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
      }
      for (const ms of [4999, 1, 4999, 1]) {
        clock.now += ms
        t.mock.timers.tick(ms)
        await settle()
        leases.push((await row()).leased - clock.now)
      }
      return { seen: 1 }
    })
    await started.runJob()
    assert.deepEqual(leases, [25_001, 30_000, 25_001, 30_000])
  })

  for (const [tries, ends] of [
    [29, 'completed'],
    [30, 'failed'],
  ] as const)
    test(`may end ten times with the death of its worker, besides the attempts: after ${tries} it has ${ends}`, async () => {
      const { change, row, runJob } = await startCount()
      await change({ tries })
      assert.equal(await runJob(), true)
      const { state, failure } = await row()
      assert.deepEqual([state, failure], [ends, ends === 'failed' ? 'lost' : undefined])
    })

  test('is given back by a worker that stops, as is the attempt; the job is due at once', async () => {
    const stop = new AbortController()
    const { store, clock, row } = await startCount()
    const failed: unknown[] = []
    const app = implement(contract, {
      notes: {},
      counts: {
        run: async () => {
          stop.abort()
          return new Promise(() => {})
        },
      },
      others: { run: async () => ({}) },
    })
    const context: JobContext = {
      app,
      store,
      clock: () => clock.now,
      id: String,
      failed: (_, why) => void failed.push(why),
    }
    clock.now += 500
    assert.equal(await runNextJob(context, stop.signal), true)
    const { state, tries, due, leased } = await row()
    assert.deepEqual([state, tries, due, leased, failed], ['queued', 0, 0, 0, []])
  })
})

describe('a job that an instance queued whose clock was hours ahead', () => {
  const ahead = 5 * 3600_000
  const app = implement(contract, {
    notes: {},
    counts: { run: async () => ({ seen: 1 }) },
    others: { run: async () => ({}) },
  })
  const runAt = (clock: () => number, store: JobContext['store']) =>
    runNextJob({ app, store, clock, id: String, failed: (_, why) => assert.fail(String(why)) }, new AbortController().signal) // biome-ignore format: one line
  test('runs at once on another instance', async () => {
    const { store, clock, row } = await startCount()
    assert.equal(await runAt(() => clock.now - ahead, store), true)
    assert.equal((await row()).state, 'completed')
  })
  test('is also due at once after it was given back or put back there', async () => {
    const { store, clock, id, row, change } = await startCount()
    await change({ state: 'failed', failure: 'error', due: clock.now })
    assert.equal(await retryJob(store, id, clock.now), true)
    assert.equal(await runAt(() => clock.now - ahead, store), true)
    assert.equal((await row()).state, 'completed')
  })
})

test('each write of a job is watched until its end, even if it fails', async () => {
  const watched: string[] = []
  const { store, clock, id, row } = await startCount()
  const app = implement(contract, {
    notes: {},
    counts: {
      run: async ctx => {
        await ctx.items.create('notes', {})
        watched.push('between')
        await assert.rejects(ctx.items.change('notes', 'n-none', {}))
        return { seen: 1 }
      },
    },
    others: { run: async () => ({}) },
  })
  let count = 0
  await runNextJob(
    {
      app,
      store,
      clock: () => clock.now,
      id: prefix => `${prefix}-${++count}`,
      failed: (_, why) => assert.fail(String(why)),
      watch: ({ request, operation, subject }, by) => {
        watched.push(`${by} ${request} ${operation} ${subject}`)
        return () => watched.push('end')
      },
    },
    new AbortController().signal,
  )
  const begin = `job ${id} counts ann`
  assert.deepEqual(watched, [begin, 'end', 'between', begin, 'end'])
  assert.equal((await row()).state, 'completed')
})

describe('a job that has failed', () => {
  const fails = () =>
    startCount(async () => {
      throw new Error('on purpose')
    })
  test('is listed with its cause and its time', async () => {
    const { change, store, id, clock } = await fails()
    await change({ state: 'failed', failure: 'error', tries: 3, modified: clock.now })
    const told = { id, job: 'counts', owner: 'ann', failure: 'error', tries: 3, at: '2026-11-21T12:00:00.000Z' }
    assert.deepEqual((await listFailedJobs(store, 100)).jobs, [told])
    await change({ failure: undefined })
    assert.equal((await listFailedJobs(store, 100)).jobs[0]?.failure, '')
  })
  for (const state of ['queued', 'running', 'completed', 'cancelled'] as const)
    test(`is the only kind put back: one that is ${state} is not`, async () => {
      const { change, store, id, row } = await fails()
      await change({ state })
      const before = await row()
      assert.equal(await retryJob(store, id, 5), false)
      assert.deepEqual(await row(), before)
    })
  test('and is put back is like new: all attempts, no failure, due at once', async () => {
    const { change, store, id, row } = await fails()
    await change({ state: 'failed', failure: 'error', tries: 20, due: 9e12, leased: 7 })
    assert.equal(await retryJob(store, id, 5), true)
    const { state, tries, failure, due, leased, modified } = await row()
    assert.deepEqual([state, tries, failure, due, leased, modified], ['queued', 0, undefined, 0, 0, 5])
  })
})
