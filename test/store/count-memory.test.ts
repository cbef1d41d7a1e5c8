/** Counts that are remembered: for which state, for which values, and how many. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CountMemory } from '../../src/store/count-memory.ts'
import { type Cell, sqlite } from '../../src/store/dialect.ts'
import { sql } from '../../src/store/sql.ts'
import { compileStatement, parameterAt } from '../../src/store/statement.ts'

const second = compileStatement(sqlite, sql`select count(*) from "a" where "b" = ${parameterAt(1)}`)

/** Counts from one on, so that what was counted and what was remembered differ. */
function countUp(memory: CountMemory) {
  let counted = 0
  return (...values: readonly Cell[]): number => memory.recall(second, values, () => ++counted)
}

test('a count is remembered for the values in its statement, whatever other values the list has', () => {
  const count = countUp(new CountMemory())
  assert.equal(count('cursor', 'x'), 1)
  assert.equal(count('another', 'x'), 1)
  assert.equal(count('cursor', 'y'), 2)
})

test('different values are counted apart: infinite, large, absent', () => {
  const count = countUp(new CountMemory())
  const values: readonly Cell[] = [1, 2n ** 62n, 2n ** 62n + 1n, Infinity, -Infinity, null, 0.5]
  for (const [i, value] of values.entries()) assert.equal(count('', value), i + 1)
  for (const [i, value] of values.entries()) assert.equal(count('', value), i + 1)
})

test('no count of another state is used', () => {
  const memory = new CountMemory()
  const count = countUp(memory)
  memory.follow(1)
  assert.equal(count('', 'x'), 1)
  memory.follow(1)
  assert.equal(count('', 'x'), 1)
  memory.follow(2)
  assert.equal(count('', 'x'), 2)
})

test('beyond a thousand, all are forgotten; a long value is counted each time', () => {
  const count = countUp(new CountMemory())
  for (let i = 0; i < 1000; i++) assert.equal(count('', i), i + 1)
  assert.equal(count('', 0), 1)
  assert.equal(count('', 1000), 1001)
  assert.equal(count('', 0), 1002)
  const long = 'x'.repeat(1000)
  assert.deepEqual([count('', long), count('', long)], [1003, 1004])
})
