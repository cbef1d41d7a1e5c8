/**
 * Jobs (rules A3.1–A3.3) as workers see them: retried, queued again, cancelled, lost, started by
 * the clock.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { job } from '../../src/contract/job.ts'
import { anonymous, anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'
import { startJobWorkers } from '../../src/host/jobs/job-workers.ts'
import { parseSchedule } from '../../src/host/jobs/schedule-instants.ts'
import { type JobContext, listFailedJobs, retryJob, runNextJob } from '../../src/service/job.ts'
import { queuedJob } from '../../src/service/job-queue.ts'
import { type Schedule, type ScheduleOf, startDueJobs } from '../../src/service/schedule.ts'
import { type JobRow, Unavailable } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const tallies = resource('tallies', { fields: { id: t.id('t'), count: t.int() } }).rules({
  allow: { read: [anyone], create: [anyone], change: [anyone] },
})
const sums = job('sums', { input: { what: t.string() }, output: { what: t.string() }, allow: [anyone], timeLimit: 5 })
const contract = service('work', { namespace: 'urn:work', resources: [tallies], jobs: [sums], versions: { v1: {} } })

type Does = (try_: number, ctx: Parameters<Run>[0], progress: Parameters<Run>[2]) => Promise<void> | void
type Run = NonNullable<Parameters<typeof implement<typeof contract>>[1]['sums']>['run']

/** A store with one tally, a manual clock, and a job with a given handler. */
function place(does: Does = () => {}) {
  let now = 1_000_000
  let tries = 0
  const store = openSqliteStore(contract, ':memory:')
  const thrown: unknown[] = []
  const app = implement(contract, {
    tallies: {},
    sums: {
      run: async (ctx, input, progress) => {
        await does(++tries, ctx, progress)
        return { what: input.what }
      },
    },
  })
  const working: JobContext = {
    app,
    store,
    clock: () => now,
    id: createItemIdentifier,
    failed: (_, why) => void thrown.push(why),
  }
  const start = async (): Promise<string> => {
    const row = queuedJob(createItemIdentifier('j'), 'sums', anonymous, { what: 'x' }, now)
    await store.write(async writer => {
      await writer.put('tallies', 't-1', { id: 't-1', count: 0 }, {}, undefined, now)
      await writer.putJob(row)
    })
    return row.id
  }
  const row = async (id: string): Promise<JobRow> => (await store.read(reader => reader.job(id))) as JobRow
  const go = () => runNextJob(working, new AbortController().signal)
  return { store, working, thrown, start, row, go, pass: (by: number) => (now += by), tries: () => tries }
}

describe('a job', () => {
  test('that throws is tried again, later each time, and finally has failed', async () => {
    const { start, row, go, pass, thrown } = place(() => {
      throw new Error('on purpose')
    })
    const id = await start()
    for (const [tries, wait] of [
      [1, 1000],
      [2, 2000],
    ] as const) {
      assert.equal(await go(), true)
      assert.deepEqual([(await row(id)).state, (await row(id)).tries], ['queued', tries])
      pass(wait - 1)
      assert.equal(await go(), false)
      pass(1)
    }
    await go()
    assert.deepEqual([(await row(id)).state, (await row(id)).failure], ['failed', 'error'])
    assert.equal(await go(), false)
    assert.equal(thrown.length, 3)
  })

  test('whose store is unreachable has lost no try', async () => {
    const { start, row, go, pass, thrown } = place(try_ => {
      if (try_ < 6) throw new Unavailable(2)
    })
    const id = await start()
    for (let i = 0; i < 6; i++) {
      await go()
      pass(2000)
    }
    assert.deepEqual([(await row(id)).state, (await row(id)).tries], ['completed', 1])
    assert.deepEqual(thrown, [])
  })

  test('that kills its workers finally has failed, and is not run again', async () => {
    const { store, start, row, go, pass, tries } = place()
    const id = await start()
    for (let i = 0; i < 13; i++) {
      await store.write(writer => writer.lease(['sums'], 1_000_000 + i * 60_000, 1_030_000 + i * 60_000))
      pass(60_000)
    }
    await go()
    assert.deepEqual([(await row(id)).state, (await row(id)).failure, tries()], ['failed', 'lost', 0])
  })

  test('is leased by another worker when its lease has ended; the first one changes nothing more', async () => {
    const first = Promise.withResolvers<void>()
    const refused: unknown[] = []
    const { store, start, row, go, pass } = place(async (try_, ctx) => {
      if (try_ === 1) await first.promise
      const { count = 0 } = (await ctx.items.get('tallies', 't-1')) ?? {}
      await ctx.items.change('tallies', 't-1', { count: count + 1 }).catch(why => {
        refused.push(why)
        throw why
      })
    })
    const id = await start()
    const slow = go()
    await pause(20)
    pass(31_000)
    assert.equal(await go(), true)
    assert.equal((await row(id)).state, 'completed')
    const { version } = await row(id)
    first.resolve()
    await slow
    const tally = await store.read(reader => reader.get('tallies', 't-1'))
    assert.ok(tally && 'value' in tally)
    assert.equal(tally.value['count'], 1)
    assert.equal(refused.length, 1)
    assert.equal((await row(id)).version, version)
  })

  test('that is cancelled while it runs changes nothing more and stays cancelled', async () => {
    const gate = Promise.withResolvers<void>()
    const { store, start, row, go } = place(async (_, ctx) => {
      await gate.promise
      await ctx.items.change('tallies', 't-1', { count: 1 })
    })
    const id = await start()
    const running = go()
    await pause(20)
    const seen = await row(id)
    await store.write(writer => writer.putJob({ ...seen, state: 'cancelled' }))
    gate.resolve()
    await running
    assert.equal((await row(id)).state, 'cancelled')
    const tally = await store.read(reader => reader.get('tallies', 't-1'))
    assert.ok(tally && 'value' in tally && tally.value['count'] === 0)
  })

  test('that is still running when its time is over is tried again', async () => {
    const brief = { ...sums, timeLimit: 0.05 }
    const { working, start, row, thrown } = place(() => new Promise(() => {}))
    const short: JobContext = { ...working, app: { ...working.app, contract: { ...contract, jobs: [brief] } } }
    const id = await start()
    await runNextJob(short, new AbortController().signal)
    assert.equal((await row(id)).state, 'queued')
    assert.equal((thrown[0] as Error).name, 'TimeoutError')
  })
})

test('jobs that have failed are listed, and one that is put back has all its tries', async () => {
  let good = false
  const { store, start, row, go, pass, working } = place(() => {
    if (!good) throw new Error('on purpose')
  })
  const id = await start()
  for (let i = 0; i < 3; i++) {
    await go()
    pass(10_000)
  }
  const {
    jobs: [failed, ...others],
    more,
  } = await listFailedJobs(store, 1)
  assert.deepEqual([failed?.id, failed?.failure, failed?.tries, others, more], [id, 'error', 3, [], false])
  assert.equal(await retryJob(store, 'j-none', working.clock()), false)
  assert.equal(await retryJob(store, id, working.clock()), true)
  assert.deepEqual(await listFailedJobs(store, 1), { jobs: [], more: false })
  good = true
  await go()
  assert.deepEqual([(await row(id)).state, (await row(id)).tries], ['completed', 1])
})

describe('workers', () => {
  test('that stop let a job finish within the limit', async () => {
    const { working, start, row } = place(() => pause(150))
    const id = await start()
    const all = startJobWorkers(working)
    await pause(50)
    await all.stop(5000)
    assert.equal((await row(id)).state, 'completed')
  })

  test('that stop give back an unfinished job, with its try, and it runs elsewhere', async () => {
    const { working, start, row } = place(try_ => (try_ === 1 ? new Promise(() => {}) : undefined))
    const id = await start()
    const all = startJobWorkers(working)
    await pause(50)
    await all.stop(20)
    assert.deepEqual([(await row(id)).state, (await row(id)).tries], ['queued', 0])
    const others = startJobWorkers(working)
    await pause(50)
    await others.stop(1000)
    assert.equal((await row(id)).state, 'completed')
  })
})

const utc = (text: string): number => Date.parse(`${text}Z`)
describe('schedules', () => {
  const rows: readonly [at: number | string, now: string, last: string | undefined][] = [
    [60, '2026-03-01T12:34:56', '2026-03-01T12:34:00'],
    [86_400, '2026-03-01T12:34:56', '2026-03-01T00:00:00'],
    ['* * * * *', '2026-03-01T12:34:56', '2026-03-01T12:34:00'],
    ['30 3 * * *', '2026-03-01T03:29:59', '2026-02-28T03:30:00'],
    ['30 3 * * *', '2026-03-01T03:30:00', '2026-03-01T03:30:00'],
    ['*/15 8-17 * * 1-5', '2026-03-01T12:00:00', '2026-02-27T17:45:00'],
    ['0 0 29 2 *', '2026-03-01T00:00:00', '2024-02-29T00:00:00'],
    ['0 0 29 2 *', '1904-02-01T00:00:00', '1896-02-29T00:00:00'],
    ['0 12 13 * 5', '2026-03-12T00:00:00', '2026-03-06T12:00:00'],
    ['0 0 * * 7', '2026-03-04T00:00:00', '2026-03-01T00:00:00'],
    ['5,10-12/2,50 * * * *', '2026-03-01T12:13:00', '2026-03-01T12:12:00'],
    ['0 0 31 2 *', '2026-03-01T00:00:00', undefined],
  ]
  for (const [at, now, last] of rows)
    test(`${at} at ${now}: last ${last}`, () => {
      assert.equal(parseSchedule({ at })(utc(now)), last && utc(last))
    })
  const zoned: readonly [at: string, zone: string, now: string, last: string][] = [
    ['30 2 * * *', 'Europe/Vienna', '2026-03-28T12:00:00', '2026-03-28T01:30:00'],
    ['30 2 * * *', 'Europe/Vienna', '2026-03-29T00:59:59', '2026-03-28T01:30:00'],
    ['30 2 * * *', 'Europe/Vienna', '2026-03-29T12:00:00', '2026-03-29T01:00:00'],
    ['30 2 * * *', 'Europe/Vienna', '2026-10-25T00:30:00', '2026-10-25T00:30:00'],
    ['30 2 * * *', 'Europe/Vienna', '2026-10-25T12:00:00', '2026-10-25T00:30:00'],
    ['0 9 * * 1-5', 'America/New_York', '2026-03-09T12:59:59', '2026-03-06T14:00:00'],
    ['0 9 * * 1-5', 'America/New_York', '2026-03-09T13:00:00', '2026-03-09T13:00:00'],
    ['15 0 1 * *', 'Asia/Kathmandu', '2026-02-28T18:30:00', '2026-02-28T18:30:00'],
  ]
  for (const [at, zone, now, last] of zoned)
    test(`${at} in ${zone} at ${now} UTC: last ${last}`, () => {
      assert.equal(parseSchedule({ at, zone })(utc(now)), utc(last))
    })
  test('a remembered instant is the one that is computed anew, even if the clock goes back', () => {
    const at = { at: '17 */5 * * 1,3', zone: 'Europe/Vienna' }
    const known = parseSchedule(at)
    const start = utc('2026-03-27T00:00:00')
    for (const hours of [0, 1, 5, 6, 11, 30, 29, 55, 56, 100, 3, 120])
      assert.equal(known(start + hours * 3_600_000), parseSchedule(at)(start + hours * 3_600_000), `${hours} hours`)
  })
  test('a time zone that does not exist, and one of an interval', () => {
    assert.throws(() => parseSchedule({ at: '0 0 * * *', zone: 'Mars/Base' }), /"Mars\/Base" is not a time zone/)
    assert.throws(() => parseSchedule({ at: 60, zone: 'UTC' }), /has no time zone/)
  })
  for (const at of [
    0,
    -1,
    1.5,
    '',
    '* * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '5-1 * * * *',
    '*/0 * * * *',
    'a * * * *',
  ])
    test(`${at} is not a schedule`, () => {
      assert.throws(() => parseSchedule({ at }), /invalid interval of .* seconds|is not a valid schedule/)
    })

  const schedule: Schedule = { name: 'nightly', job: 'sums', at: 3600, input: () => ({ what: 'x' }), as: anonymous }
  const started = async (store: ReturnType<typeof place>['store']): Promise<number> => {
    let count = 0
    while (await store.write(writer => writer.lease(['sums'], 9e12, 9.1e12))) count++
    return count
  }

  test('an instant starts one job over all instances; the first look starts none; missed instants start one', async () => {
    const { store, working, pass } = place()
    const instants = parseSchedule(schedule)
    const look = () => Promise.all([1, 2, 3].map(() => startDueJobs(store, schedule, instants, working)))
    assert.deepEqual(await look(), [false, false, false])
    pass(3_600_000)
    assert.deepEqual((await look()).sort(), [false, false, true])
    pass(10 * 3_600_000)
    assert.deepEqual((await look()).sort(), [false, false, true])
    pass(-5 * 3_600_000)
    assert.deepEqual(await look(), [false, false, false], 'a clock that goes back starts nothing again')
    pass(3_600_000)
    assert.deepEqual((await look()).sort(), [false, false, true], 'and goes on from where it is')
    pass(-60_000)
    assert.deepEqual(await look(), [false, false, false], 'a clock that differs a little starts nothing again')
    assert.equal(await started(store), 3)
  })

  test('a store that does not respond is called once, and not again each second', async () => {
    const { working } = place()
    let asked = 0
    const ask = (): Promise<never> => {
      asked++
      return pause(2500).then(() => Promise.reject(new Unavailable()))
    }
    const told: unknown[] = []
    const stalled = (thrown: unknown): void => void told.push(thrown)
    const all = startJobWorkers(
      { ...working, stalled, store: { ...working.store, read: ask, write: ask } },
      [schedule],
      1,
    )
    await pause(2300)
    assert.equal(asked, 2, 'for a schedule, and for a job')
    await pause(500)
    assert.ok(told.length >= 2 && told.every(each => each instanceof Unavailable), 'an operator is told why')
    await all.stop(0)
  })

  test("a schedule in a contract has the contract's jobs and inputs", () => {
    const typed: ScheduleOf<typeof contract> = { ...schedule, job: 'sums', input: () => ({ what: 'x' }) }
    assert.equal(typed.job, 'sums')
    // @ts-expect-error the contract has no such job
    assert.ok({ ...typed, job: 'sum' } satisfies ScheduleOf<typeof contract>)
    // @ts-expect-error the job takes no number
    assert.ok({ ...typed, input: () => ({ what: 7 }) } satisfies ScheduleOf<typeof contract>)
  })
  const mistakes: readonly [what: string, mistaken: readonly Schedule[], told: RegExp][] = [
    [
      'a job that is not there',
      [{ ...schedule, job: 'none' }],
      /^the schedule nightly names the unknown job none: use sums/,
    ],
    [
      'no caller, in JavaScript',
      [{ ...schedule, as: undefined as never }],
      /^the schedule nightly: as must be the caller of the job: write it as /,
    ],
    [
      'a caller without claims',
      [{ ...schedule, as: { subject: 'clock', roles: [] } as never }],
      /^the schedule nightly: as must be /,
    ],
    ['input that is no function', [{ ...schedule, input: { what: 'x' } as never }], /input must be a function/],
    [
      'a member that schedules do not have',
      [{ ...schedule, every: 5 } as never],
      /^the schedule nightly: unknown member "every": use name, job, at, zone, input, as/,
    ],
    [
      'an input that the job does not take',
      [{ ...schedule, input: () => ({ what: 7 }) }],
      /^the schedule nightly: invalid input of sums: what /,
    ],
    [
      'an input without what is required',
      [{ ...schedule, input: () => ({}) }],
      /^the schedule nightly: invalid input of sums: what /,
    ],
    [
      'an input that fails',
      [{ ...schedule, input: () => assert.fail('no day') }],
      /^the schedule nightly: its input failed: no day$/,
    ],
    [
      'a time that there is not',
      [{ ...schedule, at: '0 25 * * *' }],
      /^the schedule nightly: "0 25 \* \* \*" is not a valid/,
    ],
    ['the name of another one', [schedule, { ...schedule, at: 60 }], /^two schedules are called nightly/],
  ]
  for (const [what, mistaken, told] of mistakes)
    test(`a schedule with ${what} ends the start`, () => {
      assert.throws(
        () => startJobWorkers(place().working, mistaken),
        ({ message }) => told.test(message),
      )
    })
})
