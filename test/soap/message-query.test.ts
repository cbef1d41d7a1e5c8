/** Rule A4.1: the position of a next page travels as text, which a caller may have made up. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeBase64Url } from '../../src/base/base64.ts'
import { t } from '../../src/contract/field.ts'
import { type Resource, resource } from '../../src/contract/resource.ts'
import { Refused } from '../../src/service/refusal.ts'
import { packTyped } from '../../src/service/typed-json.ts'
import { readQuery } from '../../src/soap/operations/message-query.ts'

const notes = resource('notes', {
  fields: {
    id: t.id('n'),
    rank: t.int({ min: 0, max: 9 }),
    mark: t.int().optional(),
    nil: t.string().nullable(),
    tags: t.list(t.string()),
    long: t.long(),
  },
}).rules({ allow: {}, sort: ['rank', 'mark', 'nil', 'long'] } as never) as unknown as Resource // read as any resource

const cursorOf = (place: unknown): string => encodeBase64Url(new TextEncoder().encode(packTyped(place)))
const read = (cursor: string) => readQuery(notes, { cursor }, {})
const place = (sort: unknown, keys: unknown, id: unknown = 'n-1') => ({ sort, keys, id })

describe('a position that fits is read:', () => {
  const rows: readonly (readonly [what: string, place: ReturnType<typeof place>])[] = [
    ['of the newest first', place([], [1_700_000_000_000])],
    ['of one field', place(['rank'], [3])],
    ['downwards', place(['-rank'], [3])],
    ['of several fields', place(['rank', '-mark'], [3, 4])],
    ['where an optional field is absent', place(['mark'], [null])],
    ['where a field is null', place(['nil'], [null])],
    ['of a whole number beyond what a double holds', place(['long'], [9_007_199_254_740_993n])],
  ]
  for (const [what, given] of rows)
    test(what, () => {
      const { from, sort, offset, counted } = read(cursorOf(given))
      assert.deepEqual(from, { keys: given.keys, id: 'n-1', backwards: false })
      const named = (given.sort as string[]).map(each => ({
        field: each.replace('-', ''),
        descending: each[0] === '-',
      }))
      assert.deepEqual([sort, offset, counted], [named, undefined, false])
    })
})

describe('a made-up position is refused, and the refusal names the child:', () => {
  const rows: readonly (readonly [what: string, place: unknown])[] = [
    ['a text', 'x'],
    ['null', null],
    ['a list', [1]],
    ['without an order', place(undefined, [1])],
    ['an order that is a text', place('rank', [1])],
    ['an order of numbers', place([1], [1])],
    ['without keys', place([], undefined)],
    ['keys that are a record', place([], { 0: 1, length: 1 })],
    ['without an identifier', { sort: [], keys: [1] }],
    ['an identifier that is a number', place([], [1], 7)],
    ['an identifier that no item has', place([], [1], 'n\u0000')],
    ['no key', place([], [])],
    ['two keys of the newest first', place([], [1, 2])],
    ['a time that is a text', place([], ['1'])],
    ['a time that is no whole number', place([], [1.5])],
    ['a time that is too large', place([], [2 ** 60])],
    ['a time that is null', place([], [null])],
    ['fewer keys than fields', place(['rank', 'mark'], [1])],
    ['more keys than fields', place(['rank'], [1, 2])],
    ['a key of another type', place(['rank'], ['1'])],
    ['a key out of range', place(['rank'], [10])],
    ['a required field that is null', place(['rank'], [null])],
    ['a field that does not exist', place(['none'], [1])],
    ['a field that is a list', place(['tags'], [['a']])],
    ['a name that every object has', place(['constructor'], ['x'])],
  ]
  for (const [what, given] of rows)
    test(what, () =>
      assert.throws(
        () => read(cursorOf(given)),
        thrown => {
          assert.ok(thrown instanceof Refused, String(thrown))
          const { kind, ...told } = thrown.refusal as { kind: string; problems: { path: unknown; detail: string }[] }
          assert.deepEqual([kind, told.problems[0]?.path], ['invalid', ['cursor']])
          return /is not a cursor of this service: use the `next` of a page/.test(told.problems[0]?.detail ?? '')
        },
      ),
    )
  test('a field that is not sorted by', () =>
    assert.throws(
      () => read(cursorOf(place(['id'], ['n-1']))),
      thrown => /is not a known sort field: use rank, mark/.test(JSON.stringify((thrown as Refused).refusal)),
    ))
  test('one field twice', () =>
    assert.throws(
      () => read(cursorOf(place(['rank', '-rank'], [1, 1]))),
      thrown => /rank is given twice/.test(JSON.stringify((thrown as Refused).refusal)),
    ))
})
