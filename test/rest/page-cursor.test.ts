/** Where a page begins, as text in a link: it comes back typed, and only for its own sort. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { readCursor, writeCursor } from '../../src/rest/page-cursor.ts'
import type { Sort } from '../../src/service/store.ts'

const things = resource('things', {
  fields: {
    id: t.id('t'),
    name: t.string(),
    count: t.int(),
    long: t.long(),
    money: t.decimal(8, 2),
    real: t.double(),
    day: t.date(),
    moment: t.dateTime(),
    flag: t.boolean(),
    kind: t.enum('a', 'b'),
    tags: t.list(t.string()),
  },
}).rules({ allow: { read: [anyone] } })
const by = (field: string, descending = false): Sort => ({ field, descending })
const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')

describe('a cursor is read as it was written', () => {
  const values: Readonly<Record<string, readonly unknown[]>> = {
    name: ['a', '', 'ä"\\,', undefined],
    count: [0, -7, 2 ** 31 - 1, undefined],
    long: [9_007_199_254_740_993n, 0n, -1n],
    money: ['12.50', '-0.01'],
    real: [1.5, -0.25, 1e300],
    day: ['2026-11-21'],
    moment: ['2026-11-21T12:00:00.000Z'],
    flag: [true, false],
    kind: ['a', 'b'],
  }
  for (const [field, all] of Object.entries(values))
    it(`of a sort by ${field}`, () => {
      for (const key of all)
        for (const backwards of [false, true])
          for (const sort of [[by(field)], [by(field, true)]]) {
            const from = { keys: [key], id: 't-1', backwards }
            assert.deepEqual(readCursor(things, sort, writeCursor(things, sort, from)), from)
          }
    })
  it('of a sort by several fields, and of no sort, whose key is the time of creation', () => {
    const sort = [by('count', true), by('name')]
    const from = { keys: [undefined, 'b'], id: 't-2', backwards: false }
    assert.deepEqual(readCursor(things, sort, writeCursor(things, sort, from)), from)
    const newest = { keys: [1_764_000_000_000], id: 't-3', backwards: true }
    assert.deepEqual(readCursor(things, [], writeCursor(things, [], newest)), newest)
  })
})

describe('a cursor is not accepted', () => {
  const sort = [by('count')]
  const rows: readonly (readonly [what: string, sort: readonly Sort[], text: string])[] = [
    ['of another sort', [by('name')], encode(['count', 0, 't-1', '1'])],
    ['of the opposite sort', [by('count', true)], encode(['count', 0, 't-1', '1'])],
    ['of a longer sort', [by('count'), by('name')], encode(['count', 0, 't-1', '1'])],
    ['whose identifier is none', sort, encode(['count', 0, 't 1', '1'])],
    ['whose identifier is a number', sort, encode(['count', 0, 1, '1'])],
    ['whose direction is another number', sort, encode(['count', 2, 't-1', '1'])],
    ['whose direction is true', sort, encode(['count', true, 't-1', '1'])],
    ['with a key less', sort, encode(['count', 0, 't-1'])],
    ['with a key more', sort, encode(['count', 0, 't-1', '1', '2'])],
    ['whose key is not of its type', sort, encode(['count', 0, 't-1', 'x'])],
    ['whose key is a number', sort, encode(['count', 0, 't-1', 1])],
    ['by a field that is no scalar', [by('tags')], encode(['tags', 0, 't-1', 'a'])],
    ['by a field that is not there', [by('none')], encode(['none', 0, 't-1', 'a'])],
    ['without a sort whose key is absent', [], encode(['', 0, 't-1', null])],
    ['without a sort whose key is no time', [], encode(['', 0, 't-1', '-1'])],
    ['without a sort whose key is beyond all times', [], encode(['', 0, 't-1', '1'.repeat(16)])],
    ['that is an object', sort, encode({ 0: 'count' })],
    ['that is a text', sort, encode('count')],
    ['that is empty', sort, ''],
    ['that is no JSON', sort, Buffer.from('["count"').toString('base64url')],
    ['that is no UTF-8', sort, Buffer.from([0x5b, 0xff, 0x5d]).toString('base64url')],
    ['that is no base64', sort, '%%%'],
    ['that is base64 of another kind', sort, `${encode(['count', 0, 't-1', '1'])}=`],
  ]
  for (const [what, asked, text] of rows) it(what, () => assert.equal(readCursor(things, asked, text), undefined))

  it('that is longer than 2,000 characters', () => {
    const ofLength = (length: number) => encode(['name', 0, 't-1', 'n'.repeat(length)])
    const [fits, exceeds] = [1481, 1482].map(ofLength)
    assert.deepEqual([fits?.length, exceeds?.length], [2000, 2002])
    assert.equal(readCursor(things, [by('name')], fits ?? '')?.id, 't-1')
    assert.equal(readCursor(things, [by('name')], exceeds ?? ''), undefined)
  })
  it('but one with keys of 15 digits is', () => {
    assert.deepEqual(readCursor(things, [], encode(['', 1, 't-1', '1'.repeat(15)])), {
      keys: [111_111_111_111_111],
      id: 't-1',
      backwards: true,
    })
  })
})
