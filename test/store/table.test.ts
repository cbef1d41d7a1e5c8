/** Names of a contract as names of a database, and the indexes that its lists need. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Fields, t } from '../../src/contract/field.ts'
import { type Rules, resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { compileTables } from '../../src/store/table.ts'

const shopOf = (names: readonly string[], fields: Fields = {}, rules: Partial<Rules> = {}): Service =>
  service('shop', {
    namespace: 'urn:shop',
    resources: names.map(name =>
      resource(name, { fields: { id: t.id('x'), ...fields } }).rules({ allow: {}, ...rules } as never),
    ),
  }) as unknown as Service // a service of these resources is read as one of any
const compile = (of: Service) => compileTables(of, sqlite)

describe('a name that a database cannot hold, or not distinguish from another, is an error at start:', () => {
  const long = 'n'.repeat(50)
  const rows: readonly (readonly [what: string, first: string, second: string, says: RegExp | undefined])[] = [
    ['two that differ in case alone', 'note', 'Note', /"note" and "Note" differ only in case/],
    ['one of our own', '_note', 'x', /"_note" is not a valid name in a database/],
    ['one of SQLite', 'SQLite_note', 'x', /"SQLite_note" is not a valid name/],
    ['a quotation mark', 'no"te', 'x', /is not a valid name/],
    ['a number sign', 'no#te', 'x', /is not a valid name/],
    ['a NUL', 'no\0te', 'x', /is not a valid name/],
    ['51 octets', `${long}n`, 'x', /use at most 50 bytes/],
    ['51 octets of 50 characters', `é${'n'.repeat(49)}`, 'x', /use at most 50 bytes/],
    ['50 octets may be', long, 'x', undefined],
    ['what is ours inside of a name may be', 'a_note', 'asqlite_', undefined],
  ]
  for (const [what, first, second, says] of rows) {
    const named: [string, Service][] = [
      [`fields of notes`, shopOf(['notes'], { [first]: t.string(), [second]: t.string() })],
      [`resources`, shopOf([first, second])],
    ]
    for (const [place, of] of named)
      test(`${what}, among ${place}`, () => {
        if (says === undefined) assert.ok(compile(of))
        else
          assert.throws(
            () => compile(of),
            (thrown: Error) => says.test(thrown.message) && thrown.message.startsWith(`${place}: `),
          )
      })
  }
  test('a field that has the name of the identifier in another case', () => {
    assert.throws(() => compile(shopOf(['notes'], { ID: t.string() })), /"id" and "ID" differ only in case/)
  })
})

describe('the index of a field has only rows with a value, if no order needs the others:', () => {
  const rows: readonly (readonly [what: string, field: Fields[string], rules: Partial<Rules>, isPartial: boolean])[] = [
    ['optional and filtered', t.int().optional(), { filter: ['rank'] }, true],
    ['optional and sorted', t.int().optional(), { sort: ['rank'] }, false],
    ['optional, filtered and sorted', t.int().optional(), { filter: ['rank'], sort: ['rank'] }, false],
    ['required and filtered', t.int(), { filter: ['rank'] }, false],
    ['required and sorted', t.int(), { sort: ['rank'] }, false],
  ]
  for (const [what, rank, rules, isPartial] of rows)
    test(what, () => {
      const indexes = compile(shopOf(['notes'], { rank }, rules)).get('notes')?.indexes ?? []
      const [own] = indexes.filter(({ columns }) => columns[0]?.name === 'rank')
      assert.equal(own?.where, isPartial ? 'rank' : undefined)
      assert.deepEqual(own?.columns, [
        { name: 'rank', descending: false },
        { name: 'id', descending: false },
      ])
    })
})
