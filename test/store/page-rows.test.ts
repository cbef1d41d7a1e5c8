/** Which pages are read without a look at the octets of each row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RowLengths } from '../../src/store/page-rows.ts'

test('a page is bounded until twice its rows fit, by the longest that its table has had', () => {
  const lengths = new RowLengths()
  const rows: readonly (readonly [size: number, octets: number | undefined, bound: number | undefined])[] = [
    [19, 40_000, undefined],
    [19, 39_999, 39_999],
    [0, 2000, undefined],
    [20, 40_000, 40_000],
    [20, undefined, undefined],
  ]
  assert.equal(lengths.boundOf('orders', { size: 1, octets: 1e9 }), 1e9, 'nothing is known')
  lengths.note('orders', 1000)
  lengths.note('orders', 10)
  lengths.note('products', 1)
  for (const [size, octets, bound] of rows)
    assert.equal(
      lengths.boundOf('orders', { size, ...(octets !== undefined && { octets }) }),
      bound,
      `${size}, ${octets}`,
    )
  lengths.note('orders', 2000)
  assert.equal(lengths.boundOf('orders', { size: 19, octets: 40_000 }), 40_000)
})
