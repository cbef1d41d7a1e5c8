/** Work that a start leaves for later is done, or the operator reads why it is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { addFillGauges } from '../../src/host/operations/gauges.ts'
import { Metrics } from '../../src/host/operations/metrics.ts'
import { type FillerSite, StoreFiller } from '../../src/host/operations/store-filler.ts'
import type { TellFilling } from '../../src/service/store.ts'

const site = (failed: FillerSite['failed'], lines: unknown[] = [], elapsed = () => 0): FillerSite => ({
  failed,
  logger: { info: (fields, message) => void lines.push([message, fields]) },
  elapsed,
})

test('a failure reaches the log with its cause and its cure, and is tried again until all is done', async () => {
  const told: Error[] = []
  const answers = [() => Promise.reject(new Error('disk full')), async () => false, async () => true]
  let calls = 0
  const filler = new StoreFiller(
    { fill: () => answers[calls++]!() },
    site(thrown => told.push(thrown as Error)),
  )
  for (let i = 0; i < 5; i++) await filler.run()
  assert.equal(calls, 3)
  assert.equal(told.length, 1)
  assert.match(told[0]?.message ?? '', /Mend the cause: it is tried again/)
  assert.match(String(told[0]?.cause), /disk full/)
})

test('one filling runs at a time, and one that the end of the service stopped is not reported', async () => {
  const told: unknown[] = []
  const waiting = Promise.withResolvers<boolean>()
  let calls = 0
  const fill = (): Promise<boolean> => {
    calls++
    return waiting.promise
  }
  const filler = new StoreFiller(
    { fill },
    site(thrown => told.push(thrown)),
  )
  const first = filler.run()
  await filler.run()
  filler.stop()
  waiting.reject(new Error('the store is closed'))
  await first
  assert.deepEqual([calls, told], [1, []])
})

test('a store that leaves nothing for later is called once', async () => {
  const filler = new StoreFiller(
    {},
    site(() => assert.fail('nothing fails')),
  )
  await filler.run()
  await filler.run()
})

test('the log reports the start and the end of a filling, and between them its progress every ten seconds; so do the gauges', async () => {
  let now = 0
  const lines: unknown[] = []
  const tells: TellFilling[] = []
  const waiting = Promise.withResolvers<boolean>()
  const fill = (tell?: TellFilling): Promise<boolean> => {
    if (tell) tells.push(tell)
    return waiting.promise
  }
  const filler = new StoreFiller(
    { fill },
    site(assert.ifError, lines, () => now),
  )
  const figures = new Metrics()
  addFillGauges(figures, filler)
  const ofFill = async () =>
    (await figures.listFamilies())
      .filter(({ name }) => name.startsWith('diglot_fill'))
      .map(({ name, aggregator, values }) => [name, aggregator, values])
  const running = filler.run()
  const begin = { what: 'words of notes', rowsDone: 500, rowsTotal: 100_000, isOver: false }
  for (let rowsDone = 500; rowsDone <= 3000; rowsDone += 500, now += 4900) tells[0]?.({ ...begin, rowsDone })
  assert.deepEqual(await ofFill(), [
    ['diglot_fill_rows_done', 'max', [{ labels: { what: 'words of notes' }, value: 3000 }]],
    ['diglot_fill_rows_total', 'max', [{ labels: { what: 'words of notes' }, value: 100_000 }]],
  ])
  now = 40_000
  tells[0]?.({ ...begin, rowsDone: 100_000, isOver: true })
  const of = { what: 'words of notes', rowsTotal: 100_000 }
  assert.deepEqual(lines, [
    ['filling begins, while the service runs', { ...of, rowsDone: 500, seconds: 0 }],
    ['filling continues', { ...of, rowsDone: 2000, rowsPerSecond: 102, seconds: 15 }],
    ['filled', { ...of, rowsDone: 100_000, rowsPerSecond: 2488, seconds: 40 }],
  ])
  assert.deepEqual(
    (await ofFill()).map(each => each[2]),
    [[], []],
    'what is filled has no figure',
  )
  waiting.resolve(true)
  await running
})

test('a filling that another process completed after a failure here no longer has a figure', async () => {
  const answers = [
    async (tell?: TellFilling) => {
      tell?.({ what: 'words of notes', rowsDone: 0, rowsTotal: 7, isOver: false })
      await turn()
      throw new Error('disk full')
    },
    async () => true,
  ]
  const filler = new StoreFiller(
    { fill: tell => answers.shift()!(tell) },
    site(() => {}),
  )
  await filler.run()
  assert.equal(filler.unfinished.length, 1)
  await filler.run()
  assert.equal(filler.unfinished.length, 0)
})
