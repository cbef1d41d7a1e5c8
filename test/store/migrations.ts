/** How a contract may change between two starts, and what a store makes of it. */
import assert from 'node:assert/strict'
import type { Fields } from '../../src/contract/field.ts'
import { t } from '../../src/contract/field.ts'
import type { Values } from '../../src/contract/implement.ts'
import { type Rules, resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { type FillProgress, isFormer, type Store, Unavailable } from '../../src/service/store.ts'
import type { Case } from './battery.ts'

const notes = (fields: Fields, rules: Partial<Rules> = {}, more: string[] = []): Service =>
  service('notes', {
    namespace: 'urn:notes',
    resources: ['notes', ...more].map(name =>
      resource(name, { fields: { id: t.id('n'), ...fields } }).rules({ allow: {}, ...rules } as never),
    ),
  }) as unknown as Service // a service of these resources is read as one of any

/** `diglot migrate --apply` */
const asked = { drop: [], now: 0, isPlan: false, tell: () => {} }
const inner = (fields: Fields) => ({ inner: t.object(fields) })
const shade = (...values: [string, ...string[]]) => t.enum(...values).optional()
const stands: Values = { text: 'Some words', color: 'red', inner: { a: 1 } }
const was: Fields = {
  text: t.string(),
  color: t.enum('red', 'green'),
  ...inner({ a: t.int(), shade: shade('dark', 'light') }),
  maybe: t.int().optional(),
  nil: t.int().nullable().optional(),
}
const less = (name: string): Fields => Object.fromEntries(Object.entries(was).filter(([each]) => each !== name))

/** The contract becomes this, and existing rows read as before. */
const additions: readonly (readonly [what: string, now: Service, then?: Values])[] = [
  ['a new resource', notes(was, {}, ['others'])],
  ['a new optional field', notes({ ...was, extra: t.dateTime().optional() })],
  ['a new optional field that may be null', notes({ ...was, extra: t.list(t.long()).optional().nullable() })],
  [
    'a new field with a default',
    notes({
      ...was,
      extra: t.string().default("it's"),
      day: t.date().default('2026-01-31'),
      sum: t.decimal(5, 2).default('-1.50'),
      whole: t.long().default(-(2n ** 62n)),
      share: t.double().default(-0),
      far: t.double().default(1e21),
      farthest: t.double().default(Infinity),
      nearest: t.double().default(-Infinity),
      none: t.double().default(NaN),
      raw: t.bytes().default(new Uint8Array([0, 255])),
      yes: t.boolean().default(true),
      list: t.list(t.string()).default(['a"b']),
      nothing: t.int().nullable().default(null),
      some: t.int().nullable().default(5),
      set: t.int().readOnly().default(0),
      ...inner({ a: t.int(), shade: shade('dark', 'light'), c: t.int().default(3) }),
    }),
    {
      ...stands,
      extra: "it's",
      day: '2026-01-31',
      sum: '-1.50',
      whole: -(2n ** 62n),
      share: -0,
      far: 1e21,
      farthest: Infinity,
      nearest: -Infinity,
      none: NaN,
      raw: new Uint8Array([0, 255]),
      yes: true,
      list: ['a"b'],
      nothing: null,
      some: 5,
      set: 0,
      inner: { a: 1, c: 3 },
    },
  ],
  [
    'an optional field has a default',
    notes({
      ...was,
      maybe: t.int().default(5),
      nil: t.int().default(1),
      ...inner({ a: t.int(), shade: t.enum('dark', 'light').default('dark') }),
    }),
    { ...stands, maybe: 5, nil: 1, inner: { a: 1, shade: 'dark' } },
  ],
  ['a required field has a default', notes({ ...was, text: t.string().default('none') })],
  ['a new order and filter', notes(was, { filter: ['text', 'color'], sort: ['maybe'], order: ['-text'] })],
  ['a further value of an enumeration', notes({ ...was, color: t.enum('red', 'green', 'blue') })],
  ['an enumeration opened to any text', notes({ ...was, color: t.string() })],
  ['any text narrowed to the stored values', notes({ ...was, text: t.enum('Some words', 'others') })],
  ['a value of an enumeration that nothing has is gone', notes({ ...was, color: t.enum('red') })],
  ['a required field is optional', notes({ ...was, text: t.string().optional() })],
  ['a field may be null', notes({ ...was, maybe: t.int().optional().nullable(), text: t.string().nullable() })],
  [
    'an optional member of an object',
    notes({ ...was, ...inner({ a: t.int(), shade: shade('dark', 'light', 'none'), b: t.string().optional() }) }),
  ],
  [
    'whole numbers may be longer',
    notes({ ...was, ...inner({ a: t.long(), shade: shade('dark', 'light') }), maybe: t.long().optional() }),
    { ...stands, inner: { a: 1n } },
  ],
  ['other facets', notes({ ...was, text: t.string({ min: 1, max: 20, pattern: '.*' }) })],
]

/** The contract becomes this, and the store refuses to start and says so. */
const others: readonly (readonly [what: string, now: Service, says: RegExp])[] = [
  ['a required field is gone', notes(less('text')), /notes\.text is no longer declared[\s\S]*--drop notes\.text/],
  [
    'a field is of another kind',
    notes({ ...was, maybe: t.string().optional() }),
    /notes\.maybe was of kind int and is now of kind string/,
  ],
  [
    'a number becomes an enumeration',
    notes({ ...was, maybe: t.enum('1', '2').optional() }),
    /notes\.maybe was of kind int and is now of kind enum/,
  ],
  [
    'any text becomes a number',
    notes({ ...was, text: t.double() }),
    /notes\.text was of kind string and is now of kind double/,
  ],
  [
    'any text becomes a length of time, whose order no SQL makes',
    notes({ ...was, text: t.duration() }),
    /notes\.text was of kind string and is now of kind duration\n *-- declare a field of the new kind next to text[^\n]*$/,
  ],
  ['a decimal has other places', notes({ ...was, text: t.decimal(5, 2) }), /notes\.text was of kind string/],
  [
    'a new required field',
    notes({ ...was, extra: t.int() }),
    /notes\.extra is new and required[\s\S]*add column "extra"/,
  ],
  [
    'an optional field that is absent somewhere is required',
    notes({ ...was, maybe: t.int() }),
    /notes\.maybe has absent values[\s\S]*update "notes" set "maybe"/,
  ],
  [
    'a value of an enumeration that stands is gone',
    notes({ ...was, color: t.enum('green') }),
    /notes\.color has values that the contract no longer allows: red[\s\S]*update/,
  ],
  [
    'any text narrowed to less than stands',
    notes({ ...was, text: t.enum('others') }),
    /notes\.text has values that the contract no longer allows: Some words/,
  ],
  [
    'a member of an object is gone',
    notes({ ...was, ...inner({ shade: shade('dark', 'light') }) }),
    /notes\.inner\.a is no longer declared/,
  ],
  [
    'a new required member of an object',
    notes({ ...was, ...inner({ a: t.int(), b: t.int(), shade: shade('dark', 'light') }) }),
    /notes\.inner\.b is new and required/,
  ],
  [
    'a member of an object allows fewer values',
    notes({ ...was, ...inner({ a: t.int(), shade: shade('light') }) }),
    /notes\.inner\.shade no longer allows dark/,
  ],
  [
    'several at once',
    notes({ ...less('text'), color: t.int(), maybe: t.boolean().optional() }),
    /text[\s\S]*color[\s\S]*maybe/,
  ],
]

const refusals = others.map(
  ([what, now, says]): Case => [
    `the contract has shrunk or changed: ${what}: refused at start with the SQL to run, and nothing is touched`,
    async place => {
      const first = await place.open(notes(was))
      await first.write(writer => writer.put('notes', 'n-1', { ...stands, id: 'n-1' }, {}, undefined, 1))
      await first.close()
      await assert.rejects(
        async () => await place.open(now),
        thrown => {
          assert.ok(thrown instanceof Error)
          assert.match(thrown.message, says)
          return true
        },
      )
      const again = await place.open(notes(was))
      const found = await again.read(reader => reader.get('notes', 'n-1'))
      assert.ok(found && !isFormer(found))
      assert.deepEqual(found.value, { ...stands, id: 'n-1' })
      await again.close()
    },
  ],
)

/** The printed SQL, with what a person writes for the dots. */
const cureOf = (message: string, values: string): string =>
  message
    .split('\n')
    .map(line => line.trim())
    .filter(line => /;(?: --|$)/.test(line))
    .map(line => line.replace(/ set .*(?= -- converted)/, ` set ${values};`))
    .join('\n')

const retyped: readonly (readonly [
  what: string,
  from: Fields,
  to: Fields,
  stood: unknown,
  values: string,
  then: unknown,
])[] = [
  ['a text to a number', { n: t.string() }, { n: t.int() }, '42', '"n#new" = cast("n" as integer)', 42],
  ['a number to a text', { n: t.int() }, { n: t.string() }, 42, '"n#new" = cast("n" as text)', '42'],
  [
    'a length of time, which has two columns, to a number',
    { n: t.duration() },
    { n: t.int() },
    'PT2H',
    '"n#new" = 2',
    2,
  ],
  ['a text to a boolean', { n: t.string() }, { n: t.boolean() }, 'yes', `"n#new" = ("n" = 'yes')`, true],
]

export const migrations: readonly Case[] = [
  ...retyped.map(
    ([what, from, to, stood, values, then]): Case => [
      `the contract has another kind: the printed way turns ${what}, with its column, index and values`,
      async place => {
        const rules = { filter: ['n'], sort: ['n'] }
        const first = await place.open(notes(from, rules))
        await first.write(writer => writer.put('notes', 'n-1', { id: 'n-1', n: stood }, {}, undefined, 1))
        await first.close()
        let message = ''
        await assert.rejects(
          async () => await place.open(notes(to, rules)),
          (thrown: Error) => {
            message = thrown.message
            return true
          },
        )
        await place.direct?.(cureOf(message, values))
        const store = await place.open(notes(to, rules))
        const query = {
          filters: [{ field: 'n', is: 'eq', value: then }],
          within: 'all',
          sort: [],
          size: 9,
          counted: true,
        } as const
        await store.write(writer => writer.put('notes', 'n-2', { id: 'n-2', n: then }, {}, undefined, 1))
        const found = await store.read(reader => reader.list('notes', query))
        assert.deepEqual(
          found.items.map(each => each.value),
          [
            { id: 'n-1', n: then },
            { id: 'n-2', n: then },
          ],
        )
        await store.close()
      },
    ],
  ),
  ...additions.map(
    ([what, now, then = stands]): Case => [
      `the contract has grown: ${what}`,
      async place => {
        const first = await place.open(notes(was))
        await first.write(writer => writer.put('notes', 'n-1', { ...stands, id: 'n-1' }, {}, undefined, 1))
        await first.close()
        for (let start = 0; start < 2; start++) {
          const store = await place.open(now)
          const found = await store.read(reader => reader.get('notes', 'n-1'))
          assert.ok(found && !isFormer(found))
          assert.deepEqual(found.value, { ...then, id: 'n-1' })
          for (const { name } of now.resources) {
            const id = `n-new-${start}`
            await store.write(writer => writer.put(name, id, { ...then, id }, {}, undefined, 1))
          }
          await store.close()
        }
      },
    ],
  ),
  [
    'the contract has grown: a search path finds what stood before, and is forgotten when it goes',
    async place => {
      const first = await place.open(notes(was))
      await first.write(async writer => {
        for (let i = 0; i < 1100; i++) {
          const id = `n-${i}`
          await writer.put('notes', id, { ...stands, text: i === 700 ? 'needle' : 'hay', id }, {}, undefined, 1)
        }
      })
      await first.close()
      const found = async (contract: Service) => {
        const store = await place.open(contract)
        const query = { filters: [], within: 'all', sort: [], size: 10, counted: true, words: ['NEEDLE'] } as const
        const page = await store.read(reader => reader.list('notes', query))
        await store.close()
        return page.total
      }
      assert.equal(await found(notes(was, { search: ['text'] })), 1)
      assert.equal(await found(notes(was)), 0)
      assert.equal(await found(notes(was, { search: ['color', 'text'] })), 1)
    },
  ],
  [
    'the contract has grown: a filter by references within finds what stood before, few or many, and goes again',
    async place => {
      const of: Fields = { ...was, rows: t.list(t.object({ note: t.ref('notes') })).optional() }
      const filter = ['rows.note']
      const query = (id: string) =>
        ({
          filters: [{ field: 'rows.note', is: 'eq', value: id }],
          within: 'all',
          sort: [],
          size: 3,
          counted: true,
        }) as const
      const find = async (store: Store, id: string) => {
        const page = await store.read(reader => reader.list('notes', query(id)))
        return page.items.map(each => each.id)
      }
      const put = (store: Store, id: string, note: string) =>
        store.write(writer => writer.put('notes', id, { ...stands, rows: [{ note }], id }, {}, undefined, 1))
      const first = await place.open(notes(of))
      await put(first, 'n-1', 'n-9')
      const few = await place.open(notes(of, { filter }))
      await put(first, 'n-2', 'n-9') // by the older program, which runs on
      await put(few, 'n-3', 'n-8')
      assert.deepEqual([await find(few, 'n-9'), await find(few, 'n-8')], [['n-1', 'n-2'], ['n-3']])
      await few.close()
      await first.close()
      const without = await place.open(notes(of))
      await without.close()
      await place.direct?.(
        `insert into "notes" ("id", "_version", "_created", "_modified", "text", "color", "inner", "rows")
          with recursive n(i) as (select 1 union all select i + 1 from n where i < 10500)
          select 'r-' || i, 1, 0, 0, 'hay', 'red', '{"a":1}', '[{"note":"r-' || (i % 3500) || '"}]' from n`,
      )
      const many = await place.open(notes(of, { filter }))
      const expected = ['r-3507', 'r-7', 'r-7007']
      assert.deepEqual((await find(many, 'r-7')).sort(), expected, 'while its index is made')
      assert.equal(await many.fill?.(), true)
      assert.deepEqual((await find(many, 'r-7')).sort(), expected)
      assert.deepEqual(await find(many, 'n-9'), ['n-1', 'n-2'])
      await many.close()
    },
  ],
  [
    'the contract has grown: a search path over a large table is refused until its words are made, and holds nothing up',
    async place => {
      const first = await place.open(notes(was))
      await first.write(writer =>
        writer.put('notes', 'n-0', { ...stands, text: 'old needle', id: 'n-0' }, {}, undefined, 1),
      )
      await first.close()
      await place.direct?.(
        `insert into "notes" ("id", "_version", "_created", "_modified", "text", "color", "inner")
          with recursive n(i) as (select 1 union all select i + 1 from n where i < 10500)
          select 'r-' || i, 1, i, i, 'hay', 'red', '{"a":1}' from n`,
      )
      const find = async (store: Store, word: string) => {
        const query = { filters: [], within: 'all', sort: [], size: 3, counted: true, words: [word] } as const
        const page = await store.read(reader => reader.list('notes', query))
        return [page.items.map(each => each.id), page.total]
      }
      const here = await place.open(notes(was, { search: ['text'] }))
      await assert.rejects(async () => await find(here, 'needle'), Unavailable)
      await here.write(writer =>
        writer.put('notes', 'n-1', { ...stands, text: 'new needle', id: 'n-1' }, {}, undefined, 2),
      )
      const told: FillProgress[] = []
      assert.equal(await here.fill?.(progress => told.push(progress)), true)
      const ofWords = told.filter(({ what }) => what === 'words of notes')
      const rowsTotal = 10_502
      assert.deepEqual(
        ofWords.map(each => [each.rowsDone, each.rowsTotal]),
        Array.from({ length: 24 }, (_, i) => [Math.min(i * 500, rowsTotal), rowsTotal]),
        'each batch is told',
      )
      assert.deepEqual(
        ofWords.map(each => each.isOver),
        ofWords.map((_, i) => i === ofWords.length - 1),
      )
      const found: readonly [string, unknown][] = [
        ['needle', [['n-1', 'n-0'], 2]],
        ['hay', [['r-10500', 'r-10499', 'r-10498'], undefined]],
        ['old', [['n-0'], 1]],
      ]
      for (const [word, expected] of found) assert.deepEqual(await find(here, word), expected)
      const there = await place.open(notes(was, { search: ['color', 'text'] }))
      await assert.rejects(async () => await find(there, 'needle'), Unavailable)
      for (const [word, expected] of found.slice(0, 1))
        assert.deepEqual(await find(here, word), expected, 'its index is another now')
      assert.equal(await there.fill?.(), true)
      assert.deepEqual(await find(there, 'needle'), [['n-1', 'n-0'], 2])
      assert.deepEqual((await find(there, 'RED'))[1], undefined)
      assert.deepEqual(await find(here, 'needle'), [['n-1', 'n-0'], 2])
      await here.close()
      await there.close()
    },
  ],
  [
    'the contract has grown: nulls that stood where they were the only nothing are still null',
    async place => {
      const first = await place.open(notes({ nil: t.int().nullable() }))
      await first.write(writer => writer.put('notes', 'n-1', { id: 'n-1', nil: null }, {}, undefined, 1))
      await first.close()
      const store = await place.open(notes({ nil: t.int().nullable().optional() }))
      await store.write(writer => writer.put('notes', 'n-2', { id: 'n-2' }, {}, undefined, 1))
      const values = await store.read(async reader => {
        const both = [await reader.get('notes', 'n-1'), await reader.get('notes', 'n-2')]
        return both.map(each => each && !isFormer(each) && each.value)
      })
      assert.deepEqual(values, [{ id: 'n-1', nil: null }, { id: 'n-2' }])
      await store.close()
      await assert.rejects(async () => await place.open(notes({ nil: t.int().optional() })), /null values/)
    },
  ],
  [
    'the contract has lost a default: what it stood for stays, and where nothing is stored it is refused',
    async place => {
      const allowed = { ...was, extra: t.int() }
      const first = await place.open(notes({ ...was, extra: t.int().default(3) }))
      await first.write(writer => writer.put('notes', 'n-1', { ...stands, extra: 4, id: 'n-1' }, {}, undefined, 1))
      await first.close()
      await (await place.open(notes(allowed))).close()
      const members = { a: t.int(), shade: shade('dark', 'light') }
      const inside = (extra: Fields) => notes({ ...was, ...extra, ...inner({ ...members, b: t.int().default(1) }) })
      await (await place.open(inside({ extra: t.int() }))).close()
      const bare = notes({ ...allowed, ...inner({ a: t.int(), shade: shade('dark', 'light'), b: t.int() }) })
      await assert.rejects(async () => await place.open(bare), /inner\.b had a default and is now required without one/)
      await (await place.open(inside({ extra: t.int().default(3) }))).close()
      await place.direct?.(`update "notes" set "extra" = null`)
      await assert.rejects(async () => await place.open(inside({ extra: t.int() })), /notes\.extra has absent values/)
    },
  ],
  [
    'the contract has a shorter max: G16, the values that are longer are told until none is',
    async place => {
      const facets = (max: number | undefined) => (max === undefined ? {} : { max })
      const start = async (text: number | undefined, bytes = 9, isAsked = false): Promise<string[]> => {
        const told: string[] = []
        const contract = notes({ text: t.string(facets(text)).optional(), raw: t.bytes(facets(bytes)).optional() })
        const store = await place.open(contract, {
          ...(isAsked && { migration: asked }),
          warn: says => void told.push(says),
        })
        if (text === undefined)
          await store.write(async writer => {
            const raw = new Uint8Array(7)
            await writer.put('notes', 'n-1', { id: 'n-1', text: 'ab\u{1F600}', raw }, {}, undefined, 1)
            await writer.put('notes', 'n-2', { id: 'n-2', text: 'abcdef' }, {}, undefined, 1)
            await writer.put('notes', 'n-3', { id: 'n-3' }, {}, undefined, 1)
          })
        await store.close()
        return told
      }
      assert.deepEqual(await start(undefined), [], 'nothing is stored yet')
      assert.deepEqual(await start(6), [], 'the longest has six characters')
      const told = await start(3, 6)
      assert.equal(told.length, 2)
      assert.match(told[0]!, /^notes\.text: 1 row has a value longer than its max of 3 \(the longest: 6\): /)
      assert.match(told[1]!, /^notes\.raw: 1 row has a value longer than its max of 6 \(the longest: 7\): /)
      const two = await start(2)
      assert.match(two[0]!, /^notes\.text: 2 rows have a value longer .* raise max to 6, or shorten the values: select/)
      assert.deepEqual(await start(2), two, 'told at each start')
      assert.deepEqual(await start(2, 9, true), two, 'and in `diglot migrate`')
      assert.deepEqual(await start(6), [])
    },
  ],
  [
    'the contract has a shorter max: G16, a start looks at some rows, and says where there are more',
    async place => {
      const start = async (max: number, isAsked = false): Promise<string[]> => {
        const told: string[] = []
        const contract = notes({ text: t.string({ max }) })
        const warn = (says: string) => void told.push(says)
        await (await place.open(contract, { ...(isAsked && { migration: asked }), warn })).close()
        return told
      }
      await start(9)
      await place.direct?.(
        `insert into "notes" ("id", "_version", "_created", "_modified", "text")
          with recursive n(i) as (select 1 union all select i + 1 from n where i < 10001)
          select 'r-' || i, 1, i, i, 'hay' from n`,
      )
      const unseen = /^notes\.text: its max is 8 and was 9: the first 10000 rows keep it, .*diglot migrate --plan/
      assert.match((await start(8))[0]!, unseen)
      assert.match((await start(8))[0]!, unseen, 'a program that stores nine may still run')
      assert.match((await start(2))[0]!, /^notes\.text: 10000 rows .*, among the first 10000 rows/)
      assert.match((await start(2, true))[0]!, /^notes\.text: 10001 rows [^,]*: a client/)
      assert.deepEqual(await start(8, true), [])
      assert.deepEqual(await start(8), [], 'all rows have been looked at')
      assert.match((await start(7))[0]!, /its max is 7 and was 8/)
      await place.direct?.(`delete from "_shape" where "of" = 'max notes'`)
      for (let i = 0; i < 2; i++)
        assert.match((await start(8))[0]!, /its max is 8 and was not remembered: the first 10000/)
      assert.deepEqual([await start(8, true), await start(8)], [[], []])
    },
  ],
  [
    'names that a database does not tell apart are refused at start',
    async place => {
      await assert.rejects(
        async () => await place.open(notes({ total: t.int(), Total: t.int() })),
        /differ only in case/,
      )
      await assert.rejects(async () => await place.open(notes({ _version: t.int() })), /_version/)
    },
  ],
  ...refusals,
]
