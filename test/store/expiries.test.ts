/** What a sweep looks for, by which it passes over no row that has to stay. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { job } from '../../src/contract/job.ts'
import { service } from '../../src/contract/service.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { compileExpiries } from '../../src/store/records.ts'

const day = 24 * 3_600_000

/** Milliseconds before a sweep that begins by this of the job table. */
function ageOf(keeps: readonly number[], text: RegExp): readonly number[] {
  const jobs = keeps.map((keep, i) => job(`report-${i}`, { keep, input: {}, output: {}, allow: [] }))
  const contract = service('reports', { namespace: 'urn:reports', resources: [], jobs })
  const found = compileExpiries(contract, sqlite, {}).filter(({ statement }) => text.test(statement.text))
  return found.map(({ values }) => -Number(values(0)[0]))
}

test('calls of exchanges that are gone are looked for among those that no job is kept for', () => {
  assert.deepEqual(ageOf([], /like/), [day, day])
  assert.deepEqual(ageOf([60, 7 * 86_400, 3600], /like/), [7 * day, 7 * day])
  assert.deepEqual(ageOf([60, 7 * 86_400], /"job" = /), [60_000, 7 * day])
})
