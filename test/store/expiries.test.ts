/** A sweep finds its rows without reading those that have to stay. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { job } from '../../src/contract/job.ts'
import { service } from '../../src/contract/service.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { compileExpiries, declareRecordTables } from '../../src/store/records.ts'
import { compileStatement } from '../../src/store/statement.ts'

const day = 24 * 3_600_000
const reports = service('reports', {
  ...{ namespace: 'urn:reports', resources: [] },
  jobs: [3600, 7 * 86_400].map((keep, i) => job(`report-${i}`, { keep, input: {}, output: {}, allow: [] })),
})

test('jobs of a short life are found by their kind, past all that are kept for longer', () => {
  const database = new DatabaseSync(':memory:')
  for (const text of declareRecordTables(sqlite)) database.exec(compileStatement(sqlite, text).text)
  const [sweep] = compileExpiries(reports, sqlite, {}).filter(({ statement }) => /"job" = /.test(statement.text))
  assert.ok(sweep)
  const { text } = sweep.statement
  const add = database.prepare(`insert into "_job" ("id", "job", "state", "progress", "owner", "caller", "input",
    "tries", "version", "created", "modified", "leased", "due") values (?, ?, 'done', 1, '', '', '', 0, 0, 0, ?, 0, 0)`)
  const now = 10 * day
  const values = sweep.values(now) as readonly (number | string)[]
  for (let i = 0; i < 1000; i++) add.run(`kept-${i}`, 'report-1', 5 * day + i)
  for (const [id, modified] of [['over', now - 2 * 3_600_000], ['young', now - 1000]] as const) add.run(id, 'report-0', modified) // biome-ignore format: one row
  const plan = database.prepare(`explain query plan ${text}`).all(...values).map(row => String(row['detail'])) // biome-ignore format: one row
  assert.ok(
    plan.some(line => /USING (COVERING )?INDEX _job#ended \(job=\? AND modified<\?\)/.test(line)),
    plan.join('\n'),
  )
  const gone = database.prepare(text).all(...values)
  assert.deepEqual(gone.map(row => row['id']), ['over']) // biome-ignore format: one row
  database.close()
})

/** Milliseconds before a sweep that begins by this of the job table. */
function ageOf(keeps: readonly number[], text: RegExp): readonly number[] {
  const jobs = keeps.map((keep, i) => job(`report-${i}`, { keep, input: {}, output: {}, allow: [] }))
  const contract = service('reports', { namespace: 'urn:reports', resources: [], jobs })
  const found = compileExpiries(contract, sqlite, {}).filter(({ statement }) => text.test(statement.text))
  return found.map(({ values }) => -Number(values(0)[0]))
}

test('calls of exchanges that are gone are searched only among those that no job is kept for', () => {
  assert.deepEqual(ageOf([], /like/), [day, day])
  assert.deepEqual(ageOf([60, 7 * 86_400, 3600], /like/), [7 * day, 7 * day])
  assert.deepEqual(ageOf([60, 7 * 86_400], /"job" = /), [60_000, 7 * day])
})

test('no sweep reads a whole table, also where the records of former items are kept for a time', () => {
  const database = new DatabaseSync(':memory:')
  for (const text of declareRecordTables(sqlite)) database.exec(compileStatement(sqlite, text).text)
  for (const { statement, values } of compileExpiries(reports, sqlite, { formerKept: day })) {
    const given = values(0) as readonly (number | string)[]
    const plan = database.prepare(`explain query plan ${statement.text}`).all(...given)
    const details = plan.map(row => String(row['detail']))
    assert.ok(!details.some(line => /^SCAN "?_/.test(line)), `${statement.text}: ${details.join('; ')}`)
  }
  database.close()
})

test('changes that are kept for ever have no sweep', () => {
  const count = (kept: object) =>
    compileExpiries(reports, sqlite, kept).filter(({ statement }) => statement.text.includes('"_change"')).length
  assert.deepEqual([count({}), count({ changesKept: Number.POSITIVE_INFINITY })], [1, 0])
})
