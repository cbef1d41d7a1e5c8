/**
 * One battery for every store. A case is a row: the invariant it holds (numbers are those of
 * `service/store.ts`), and the conversation that shows it. A store that can't hold one names it,
 * with the reason.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { Values } from '../../src/contract/implement.ts'
import { parseScaledDecimal } from '../../src/contract/lexical/decimal.ts'
import type { Service } from '../../src/contract/service.ts'
import { isScalar } from '../../src/contract/shape.ts'
import { inMemoryFile } from '../../src/service/file-content.ts'
import { Refused } from '../../src/service/refusal.ts'
import {
  type Filter,
  type ItemPage,
  isFormer,
  type JobRow,
  type Query,
  type Snapshot,
  type Sort,
  type Store,
  type StoreReader,
  type StoreWriter,
  Unavailable,
} from '../../src/service/store.ts'
import type { MigrationWish } from '../../src/store/migration.ts'
import { crowdedFilters } from './crowded-filters.ts'
import { every, everything, members } from './every-type.ts'
import { files } from './files.ts'
import { migrations } from './migrations.ts'
import { rollingChanges } from './rolling-changes.ts'

export interface StoreOptions {
  /** Milliseconds that one work may hold a transaction. */
  readonly work?: number
  readonly changesKept?: number
  readonly formerKept?: number
  readonly migration?: MigrationWish
  readonly warn?: (says: string) => void
}
/** Where one store keeps its data: opened, closed and opened again. */
export interface Place {
  open(service: Service, options?: StoreOptions): Promise<Store>
  /** Where it is, for stores that have an address. */
  readonly url?: string
  /** Statements that no program of ours runs: they stand for what an older one has left. */
  direct?(text: string): Promise<void>
  remove(): Promise<void>
}

export type Case = readonly [title: string, run: (place: Place) => Promise<void>]

const plain: Query = { filters: [], within: 'all', sort: [], size: 100, counted: false }
const item = (value: Values = {}): Values => value

const get = async (store: Store, resource: string, id: string) => await store.read(reader => reader.get(resource, id))
export const list = async (store: Store, resource: string, query: Partial<Query> = {}): Promise<ItemPage> =>
  await store.read(reader => reader.list(resource, { ...plain, ...query }))
export const idsOf = (page: ItemPage): string[] => page.items.map(each => each.id)
const put = (store: Store, id: string, value: Values = {}, seen?: number, now = 1000) =>
  store.write(writer =>
    writer.put('items', id, item({ id, ...value }), {}, seen === undefined ? undefined : { version: seen }, now),
  )

async function version(store: Store, resource: string, id: string): Promise<number | undefined> {
  return (await get(store, resource, id))?.version
}
const refusedAs = (kind: string, stands?: number) => (thrown: unknown) => {
  assert.ok(thrown instanceof Refused, String(thrown))
  assert.deepEqual(thrown.refusal, stands === undefined ? { kind } : { kind, version: stands })
  return true
}

const using =
  (run: (store: Store) => Promise<void>, options?: StoreOptions) =>
  async (place: Place): Promise<void> => {
    const store = await place.open(everything, options)
    try {
      await run(store)
    } finally {
      await store.close()
    }
  }

const oneItem: readonly Case[] = [
  [
    'what was never there is undefined',
    using(async store => assert.equal(await get(store, 'items', 'i-1'), undefined)),
  ],
  [
    'those of several ids that are there come by their ids, in one question; none for what a database cannot name',
    using(async store => {
      for (let i = 0; i < 5; i++) await put(store, `i-${i}`, { rank: i })
      const gone = (await get(store, 'items', 'i-4')) as Snapshot
      await store.write(writer => writer.remove('items', 'i-4', gone.version, 0))
      const ids = ['i-3', 'i-1', 'i-1', 'i-4', 'i-none', 'i-1\u0000', `'"\\`, '']
      const found = await store.read(reader => reader.getAll('items', ids))
      assert.deepEqual([...found.keys()].sort(), ['i-1', 'i-3'])
      for (const [id, item] of found) assert.deepEqual(item, await get(store, 'items', id))
      assert.equal((await store.read(reader => reader.getAll('items', []))).size, 0)
      const within = await store.write(async writer => {
        await writer.put('items', 'i-new', { id: 'i-new', rank: 9 }, {}, undefined, 1)
        return writer.getAll('items', ['i-new', 'i-0'])
      })
      assert.deepEqual([...within.keys()].sort(), ['i-0', 'i-new'])
    }),
  ],
  [
    'a first put makes a version, and the item comes back as it went in',
    using(async store => {
      const made = await put(store, 'i-1', { note: 'a' }, undefined, 5)
      const expected = { ...made, id: 'i-1', modified: 5, created: 5, value: { id: 'i-1', note: 'a' }, kept: {} }
      assert.ok(Number.isSafeInteger(made.version) && made.version > 0)
      assert.deepEqual(made, expected)
      assert.deepEqual(await get(store, 'items', 'i-1'), expected)
    }),
  ],
  [
    'a write that reads an item while it changes it finds the new value behind that, in any order',
    using(async store => {
      const before = await put(store, 'i-1', { rank: 1 })
      await store.write(async writer => {
        const reading = writer.get('items', 'i-1')
        const changing = writer.put('items', 'i-1', { id: 'i-1', rank: 2 }, {}, before, 2000)
        await Promise.all([reading, changing])
        const found = await writer.get('items', 'i-1')
        assert.deepEqual(found && !isFormer(found) && found.value, { id: 'i-1', rank: 2 })
      })
    }),
  ],
  [
    'a put over the version seen makes the next one; creation stays, what is left out goes',
    using(async store => {
      const before = await put(store, 'i-1', { note: 'a', rank: 1 }, undefined, 5)
      const made = await put(store, 'i-1', { rank: 2 }, before.version, 9)
      const { version } = made
      const expected = { id: 'i-1', version, modified: 9, created: 5, value: { id: 'i-1', rank: 2 }, kept: {} }
      assert.ok(version > before.version)
      assert.deepEqual(made, expected)
      assert.deepEqual(await get(store, 'items', 'i-1'), expected)
    }),
  ],
  [
    'a put that has not seen the current version is stale, and names it',
    using(async store => {
      const { version: seen } = await put(store, 'i-1')
      const { version: current } = await put(store, 'i-1', { rank: 1 }, seen)
      await assert.rejects(put(store, 'i-1'), refusedAs('stale', current))
      await assert.rejects(put(store, 'i-1', {}, seen), refusedAs('stale', current))
      await assert.rejects(put(store, 'i-2', {}, seen), refusedAs('stale'))
      await assert.rejects(
        store.write(writer => writer.remove('items', 'i-1', seen, 0)),
        refusedAs('stale', current),
      )
      await assert.rejects(
        store.write(writer => writer.move('items', 'i-2', 'i-1', seen, 0)),
        refusedAs('stale'),
      )
      assert.equal(await version(store, 'items', 'i-1'), current)
      assert.equal(await get(store, 'items', 'i-2'), undefined)
    }),
  ],
  [
    'nothing is there under a name with U+0000, which PostgreSQL cannot hold',
    using(async store => {
      await put(store, 'i-1')
      const name = 'i-1\u0000'
      await store.read(async reader => {
        assert.equal(await reader.get('items', name), undefined)
        assert.equal(await reader.recall('people', name), undefined)
        assert.equal(await reader.job(name), undefined)
        assert.equal(await reader.file('things', name, 'picture'), undefined)
      })
    }),
  ],
  [
    'kept outputs come back in the types of the contract',
    using(async store => {
      const [value] = fc.sample(members(every), { numRuns: 1, seed: 1 })
      const kept = { weigh: { grams: 2n ** 62n, proof: new Uint8Array([1, 255]) } }
      await store.write(writer => writer.put('things', 'x-1', { ...value, id: 'x-1' }, kept, undefined, 1))
      const found = await get(store, 'things', 'x-1')
      assert.ok(found && !isFormer(found))
      assert.deepEqual(found.kept, kept)
    }),
  ],
  [
    '(4) values of every kind of field come back exactly, by id and in a list',
    using(async store => {
      let last = 0
      await fc.assert(
        fc.asyncProperty(members(every), members(every), async (first, second) => {
          const id = `x-${++last}`
          let stands: Snapshot | undefined
          const half = Object.fromEntries(Object.entries(first).filter((_, i) => i % 2 === 0))
          for (const given of [first, second, { ...second, ...half }, second]) {
            const value = { ...given, id }
            stands = await store.write(writer => writer.put('things', id, value, {}, stands, last))
            const found = await get(store, 'things', id)
            assert.ok(found && !isFormer(found))
            assert.deepEqual(found.value, value)
          }
          const { items } = await list(store, 'things', { size: 1 })
          assert.deepEqual(items[0]?.value, { ...second, id })
        }),
        { numRuns: 100 },
      )
    }),
  ],
  [
    'text of any kind is a value and never SQL, JSON or a pattern',
    using(async store => {
      for (const [i, note] of [
        `'); drop table items; --`,
        '"',
        '%',
        '\\',
        '$1',
        '?',
        '{"a":1}',
        '\u{1F600}',
        'null',
      ].entries()) {
        await put(store, `i-${i}`, { note })
        assert.deepEqual(idsOf(await list(store, 'items', { filters: [{ field: 'note', is: 'eq', value: note }] })), [
          `i-${i}`,
        ])
        assert.equal(await get(store, 'items', note), undefined)
      }
    }),
  ],
  [
    'a name that the contract does not have is a fault of the program',
    using(async store => {
      await assert.rejects(async () => get(store, 'nothing', 'i-1'), Error)
      const filters: Filter[] = [{ field: 'id" or 1=1 --', is: 'eq', value: 1 }]
      await assert.rejects(async () => list(store, 'items', { filters }), Error)
      await assert.rejects(
        async () => list(store, 'items', { sort: [{ field: '_version', descending: false }] }),
        Error,
      )
    }),
  ],
]

const formerItems: readonly Case[] = [
  [
    '(1) a removed item is a former one, and its key goes on from its last version',
    using(async store => {
      const first = await put(store, 'i-1')
      const last = await put(store, 'i-1', {}, first.version)
      await store.write(writer => writer.remove('items', 'i-1', last.version, 0))
      assert.deepEqual(await get(store, 'items', 'i-1'), {
        id: 'i-1',
        version: await version(store, 'items', 'i-1'),
        to: undefined,
      })
      assert.ok(((await version(store, 'items', 'i-1')) ?? 0) > last.version, 'a removal has a version, too')
      const again = await put(store, 'i-1', {}, undefined, 70)
      assert.ok(again.version > last.version)
      assert.equal(again.created, 70)
      await store.write(writer => writer.remove('items', 'i-1', again.version, 0))
      const gone = (await version(store, 'items', 'i-1')) ?? 0
      assert.ok(gone > again.version)
      assert.ok((await put(store, 'i-1')).version > gone)
    }),
  ],
  [
    'RFC 9110 §8.8.2.1 a change after the clock was set back has a later time than the one before, by a second',
    using(async store => {
      const [noon, hour] = [Date.UTC(2026, 10, 22, 12), 3_600_000]
      const first = await put(store, 'i-1', { rank: 1 }, undefined, noon + hour)
      const second = await put(store, 'i-1', { rank: 2 }, first.version, noon)
      assert.equal(second.modified, noon + hour + 1000)
      assert.equal(((await get(store, 'items', 'i-1')) as Snapshot).modified, second.modified)
      const third = await put(store, 'i-1', { rank: 3 }, second.version, noon + 2 * hour)
      assert.equal(third.modified, noon + 2 * hour)
      const skewed = await put(store, 'i-1', { rank: 4 }, third.version, noon + 2 * hour - 50)
      assert.equal(skewed.modified, third.modified, 'clocks of two machines differ')
      assert.ok(skewed.version > third.version)
      const behind = await put(store, 'i-1', { rank: 5 }, skewed.version, noon + 2 * hour - 1001)
      assert.equal(behind.modified, third.modified + 1000)
    }),
  ],
  [
    'RFC 9110 §8.8.2.1 a row that two machines change, one of them 5 s behind, stays within two hours of both',
    using(async store => {
      const [now, behind] = [Date.UTC(2026, 10, 22, 12), 5000]
      let row = await put(store, 'i-1', { rank: 0 }, undefined, now)
      for (let n = 1; n <= 20; n++) row = await put(store, 'i-1', { rank: n }, row.version, now - (n % 2) * behind)
      assert.ok(row.modified > now && row.modified <= now + 20_000)
      const far = await put(store, 'i-2', {}, undefined, now + 7_200_001)
      const kept = await put(store, 'i-2', { rank: 1 }, far.version, now)
      assert.equal(kept.modified, far.modified)
      assert.equal((await put(store, 'i-2', { rank: 2 }, kept.version, now + 1)).modified, far.modified + 1000)
    }),
  ],
  [
    'a moved item names the one that stays, until its key is used again',
    using(async store => {
      const { version } = await put(store, 'i-1')
      await put(store, 'i-2')
      await store.write(writer => writer.move('items', 'i-1', 'i-2', version, 0))
      const former = await get(store, 'items', 'i-1')
      assert.ok(former && isFormer(former) && former.to === 'i-2' && former.version > version)
      assert.deepEqual(idsOf(await list(store, 'items')), ['i-2'])
      assert.ok((await put(store, 'i-1')).version > former.version)
      const found = await get(store, 'items', 'i-1')
      assert.ok(found && !isFormer(found))
    }),
  ],
  [
    'what a work has made it can change, move and remove before it commits, and its key is a former one then',
    using(async store => {
      let runs = 0
      await store.write(async writer => {
        runs++
        const create = (id: string) => writer.put('items', id, { id }, {}, undefined, 1)
        const [gone, moved, changed] = [await create('i-1'), await create('i-2'), await create('i-3')]
        await writer.put('items', 'i-3', { id: 'i-3', rank: 5 }, {}, changed, 1)
        await writer.remove('items', 'i-1', gone.version, 1)
        await writer.move('items', 'i-2', 'i-3', moved.version, 1)
      })
      assert.equal(runs, 1, 'it collides with itself')
      const formers = await Promise.all(['i-1', 'i-2'].map(id => get(store, 'items', id)))
      assert.deepEqual(
        formers.map(each => each && isFormer(each) && each.to),
        [undefined, 'i-3'],
      )
      const stays = await get(store, 'items', 'i-3')
      assert.ok(stays && !isFormer(stays) && stays.value['rank'] === 5)
    }),
  ],
  [
    '(1) whatever is done to a key, no version is ever used twice for it',
    using(async store => {
      const doing = fc.constantFrom('put', 'put', 'remove', 'move', 'fail')
      let key = 0
      await fc.assert(
        fc.asyncProperty(fc.array(doing, { minLength: 1, maxLength: 12 }), async all => {
          const id = `i-${++key}`
          const seen: number[] = []
          for (const what of all) {
            const stands = await get(store, 'items', id)
            const now = stands && !isFormer(stands) ? stands.version : undefined
            if (what === 'put') seen.push((await put(store, id, {}, now)).version)
            else if (what === 'fail')
              await assert.rejects(
                store.write(async writer => {
                  await writer.put('items', id, { id }, {}, now === undefined ? undefined : { version: now }, 1)
                  throw new Error('no')
                }),
              )
            else if (now !== undefined)
              await store.write(writer =>
                what === 'remove' ? writer.remove('items', id, now, 1) : writer.move('items', id, 'i-0', now, 1),
              )
          }
          assert.ok(
            seen.every((version, i) => i === 0 || version > (seen[i - 1] ?? 0)),
            String(seen),
          )
        }),
        { numRuns: 30 },
      )
    }),
  ],
  [
    '(1) a file has versions of its own, which go on when its item was removed and made again',
    using(async store => {
      const bytes = new Uint8Array([0, 1, 255])
      const give = (now: number) =>
        store.write(writer =>
          writer.putFile('things', 'x-1', 'picture', { mediaType: 'image/png', octets: inMemoryFile(bytes) }, now),
        )
      const look = async () => await store.read(reader => reader.file('things', 'x-1', 'picture'))
      const make = () =>
        store.write(writer =>
          writer.put('things', 'x-1', { ...fc.sample(members(every), 1)[0], id: 'x-1' }, {}, undefined, 1),
        )
      const { version: first } = await make()
      assert.equal(await look(), undefined)
      const given = await give(5)
      assert.deepEqual(given, { mediaType: 'image/png', version: given.version, modified: 5 })
      const { octets, ...file } = (await look()) ?? assert.fail('it is not there')
      assert.deepEqual(file, given)
      assert.deepEqual(octets.inMemory, bytes)
      await store.write(writer => writer.remove('things', 'x-1', first, 6))
      assert.equal(await look(), undefined)
      await make()
      assert.equal(await look(), undefined)
      assert.ok((await give(7)).version > given.version)
    }),
  ],
]

const pageEnds: readonly Case[] = [
  [
    'a page ends before its items exceed the octets that are allowed, and has one at least',
    using(async store => {
      for (const [i, length] of [10, 4000, 300].entries()) await put(store, `i-${i}`, { note: 'x'.repeat(length) })
      const order: Partial<Query> = { sort: [{ field: 'id', descending: false }] }
      const alone = await Promise.all([0, 1, 2].map(offset => list(store, 'items', { ...order, offset, size: 1 })))
      const [a = 0, b = 0, c = 0] = alone.map(page => page.octets)
      assert.ok(a > 10 && b > 4000 && c > 300 && a < c, String([a, b, c]))
      const rows: readonly (readonly [size: number, octets: number, count: number, isCut: boolean])[] = [
        [3, 0, 1, true],
        [3, a - 1, 1, true],
        [3, a + b - 1, 1, true],
        [3, a + b, 2, true],
        [3, a + b + c - 1, 2, true],
        [3, a + b + c, 3, false],
        [2, a + b - 1, 1, true],
        [2, a + b, 2, false],
        [2, a + b + c, 2, false],
        [1, a, 1, false],
      ]
      for (const [size, octets, count, isCut] of rows) {
        const page = await list(store, 'items', { ...order, size, octets, counted: true })
        assert.equal(page.total, 3, 'also of what did not fit')
        const told = [page.items.length, page.octets, page.isCut, page.more.after]
        assert.deepEqual(told, [count, [a, b, c].slice(0, count).reduce((x, y) => x + y), isCut, count < 3])
      }
      assert.equal((await list(store, 'items', { ...order, size: 3 })).octets, a + b + c)
    }),
  ],
  [
    'also where all rows of the pages before were short',
    using(async store => {
      await put(store, 'i-0', { note: '' })
      const order: Partial<Query> = { sort: [{ field: 'id', descending: false }], size: 20, octets: 8192 }
      for (let i = 0; i < 2; i++) assert.equal((await list(store, 'items', order)).items.length, 1)
      for (let i = 1; i < 20; i++) await put(store, `i-${i}`, { note: 'x'.repeat(1000) })
      for (let i = 0; i < 2; i++) {
        const page = await list(store, 'items', order)
        assert.ok(page.isCut && page.octets <= 8192 && page.items.length === 8, String(page.items.length))
      }
    }),
  ],
  [
    'so does a page behind a cursor, within the rows that equal it, at their end and beyond',
    using(async store => {
      const ranks = [1, 1, 1, 2, 2, undefined]
      for (const [i, rank] of ranks.entries())
        await put(store, `i-${i}`, { note: 'x'.repeat(100), ...(rank !== undefined && { rank }) })
      for (const descending of [false, true]) {
        const sort = [{ field: 'rank', descending }]
        const all = await list(store, 'items', { sort })
        const alone = await Promise.all(all.items.map((_, offset) => list(store, 'items', { sort, offset, size: 1 })))
        for (const backwards of [false, true])
          for (const [at, { edges }] of alone.entries()) {
            const from = edges && { ...edges.first, backwards }
            const rest = backwards ? all.items.slice(0, at).toReversed() : all.items.slice(at + 1)
            for (let size = 1; size <= ranks.length; size++)
              for (let fitting = 1; fitting <= ranks.length; fitting++) {
                const sizes = rest.slice(0, fitting).map(each => alone[all.items.indexOf(each)]?.octets ?? 0)
                const octets = sizes.reduce((x, y) => x + y, 0)
                const page = await list(store, 'items', { sort, size, octets, ...(from && { from }) })
                const expected = rest.slice(0, Math.min(size, fitting)).map(each => each.id)
                assert.deepEqual(idsOf(page), backwards ? expected.toReversed() : expected)
                assert.equal(backwards ? page.more.before : page.more.after, rest.length > expected.length)
                assert.equal(page.isCut, fitting < size && fitting < rest.length)
              }
          }
      }
    }),
  ],
]

const deed = {
  at: 1,
  subject: 'ada',
  operation: 'x',
  resource: 'items',
  id: 'i-1',
  version: 1,
  face: 'rest',
  request: 'r',
}
const transactions: readonly Case[] = [
  ...(['at once', 'after a while'] as const).map(
    (when): Case => [
      `(2) what work throws ${when} comes through, and nothing that it did stays`,
      using(async store => {
        const { version: seen } = await put(store, 'i-1')
        const problem = new Refused({ kind: 'forbidden' })
        const work = (writer: StoreWriter) => {
          const done = [
            writer.put('items', 'i-1', { id: 'i-1', rank: 1 }, {}, { version: seen }, 1),
            writer.put('items', 'i-2', { id: 'i-2' }, {}, undefined, 1),
            writer.putFile(
              'things',
              'x-1',
              'picture',
              { mediaType: 'image/png', octets: inMemoryFile(new Uint8Array()) },
              1,
            ),
            writer.remember('space', 'key', { value: 'v', expires: 1e13 }, 1),
            writer.putJob(jobRow('j-1')),
            writer.changed(change('i-1', 2)),
          ]
          const fail = (): never => {
            throw problem
          }
          if (when === 'at once' && !done.some(each => each instanceof Promise)) return fail()
          return Promise.all(done)
            .then(() => sleep(2))
            .then(fail)
        }
        await assert.rejects(store.write(work), thrown => thrown === problem)
        assert.equal(await version(store, 'items', 'i-1'), seen)
        assert.equal(await get(store, 'items', 'i-2'), undefined)
        await store.read(async reader => {
          assert.equal(await reader.file('things', 'x-1', 'picture'), undefined)
          assert.equal(await reader.recall('space', 'key'), undefined)
          assert.equal(await reader.job('j-1'), undefined)
          assert.deepEqual(await reader.changes(0, 10), [])
        })
      }),
    ],
  ),
  [
    '(2) a reader or writer that outlives its work is refused, whatever became of the work',
    using(async store => {
      const no = new Refused({ kind: 'forbidden' })
      const ends: Readonly<Record<string, () => unknown>> = {
        'it resolved at once': () => 1,
        'it resolved later': () => sleep(2),
        'it threw': () => {
          throw no
        },
        'it rejected': () => sleep(2).then(() => Promise.reject(no)),
      }
      const keepIn =
        <T>(kept: T[], end: () => unknown) =>
        (given: T) => {
          kept.push(given)
          return end()
        }
      const whole: Query = { filters: [], within: 'all', sort: [], size: 1, counted: false }
      const uses: Readonly<Record<string, (reader?: StoreReader, writer?: StoreWriter) => unknown>> = {
        'reader.get': reader => reader?.get('items', 'i-1'),
        'reader.list': reader => reader?.list('items', { ...whole, counted: true }),
        'reader.list by words': reader => reader?.list('items', { ...whole, counted: true, words: ['a'] }),
        'writer.get': (_, writer) => writer?.get('items', 'i-1'),
        'writer.put': (_, writer) => writer?.put('items', 'i-1', { id: 'i-1' }, {}, undefined, 1),
        'writer.changed': (_, writer) => writer?.changed(change('i-1', 1)),
        'writer.record': (_, writer) => writer?.record(deed),
      }
      for (const [end, ending] of Object.entries(ends)) {
        const [readers, writers]: [StoreReader[], StoreWriter[]] = [[], []]
        await Promise.allSettled([
          (async () => store.read(keepIn(readers, ending)))(),
          (async () => store.write(keepIn(writers, ending)))(),
        ])
        for (const [name, use] of Object.entries(uses))
          await assert.rejects(
            async () => await use(readers[0], writers[0]),
            /after its transaction had ended/,
            `${name} after ${end}`,
          )
      }
      assert.equal(await get(store, 'items', 'i-1'), undefined)
    }),
  ],
  [
    '(3) of twenty that saw the same version, one wins',
    using(async store => {
      const { version: seen } = await put(store, 'i-1')
      const all = await Promise.allSettled(Array.from({ length: 20 }, (_, rank) => put(store, 'i-1', { rank }, seen)))
      const won = all.filter(each => each.status === 'fulfilled')
      assert.equal(won.length, 1)
      const left = await version(store, 'items', 'i-1')
      for (const each of all) if (each.status === 'rejected') refusedAs('stale', left)(each.reason)
      const stands = await get(store, 'items', 'i-1')
      assert.ok(stands && !isFormer(stands))
      assert.deepEqual(stands.value, won[0]?.value.value)
    }),
  ],
  [
    '(3) of twenty that make the same key, one wins; of twenty that count, none is lost',
    using(async store => {
      const made = await Promise.allSettled(Array.from({ length: 20 }, () => put(store, 'i-1', { rank: 0 })))
      assert.equal(made.filter(each => each.status === 'fulfilled').length, 1)
      const count = () =>
        store.write(async writer => {
          const stands = await writer.get('items', 'i-1')
          assert.ok(stands && !isFormer(stands))
          const rank = Number(stands.value['rank']) + 1
          await sleep(1)
          await writer.put('items', 'i-1', { id: 'i-1', rank }, {}, stands, 1)
        })
      await Promise.all(Array.from({ length: 20 }, count))
      const stands = await get(store, 'items', 'i-1')
      assert.ok(stands && !isFormer(stands))
      assert.equal(stands.value['rank'], 20)
    }),
  ],
  [
    '(3) what was only read still holds when the change commits: of two works that read each other’s item one fails',
    using(async store => {
      await put(store, 'i-1', { rank: 1 })
      await put(store, 'i-2', { rank: 1 })
      const leave = (own: string, other: string) =>
        store.write(async writer => {
          const [mine, theirs] = [await writer.get('items', own), await writer.get('items', other)]
          assert.ok(mine && !isFormer(mine) && theirs && !isFormer(theirs))
          await sleep(2)
          if (theirs.value['rank'] === 1) await writer.put('items', own, { id: own, rank: 0 }, {}, mine, 1)
        })
      await Promise.all([leave('i-1', 'i-2'), leave('i-2', 'i-1')])
      const { items } = await list(store, 'items', { filters: [{ field: 'rank', is: 'eq', value: 1 }] })
      assert.equal(items.length, 1)
    }),
  ],
  [
    'within a write its own changes are seen; outside nothing is, until it is answered',
    using(async store => {
      const before = await put(store, 'i-1', { rank: 1 })
      let outside: unknown
      let inside: number | undefined
      await store.write(async writer => {
        inside = (await writer.put('items', 'i-1', { id: 'i-1', rank: 2 }, {}, before, 1)).version
        assert.equal((await writer.get('items', 'i-1'))?.version, inside)
        assert.deepEqual(
          idsOf(await writer.list('items', { ...plain, filters: [{ field: 'rank', is: 'eq', value: 2 }] })),
          ['i-1'],
        )
        outside = Promise.resolve(get(store, 'items', 'i-1')).then(found => found?.version)
        await sleep(5)
      })
      const seen = await outside
      assert.equal(await version(store, 'items', 'i-1'), inside)
      assert.ok(seen === before.version || seen === inside)
    }),
  ],
  [
    'a read is one consistent look, however long it takes',
    using(async store => {
      const before = await put(store, 'i-1', { rank: 1 })
      let written: Promise<Snapshot> = Promise.resolve(before)
      await store.read(async reader => {
        assert.equal((await reader.get('items', 'i-1'))?.version, before.version)
        written = put(store, 'i-1', { rank: 2 }, before.version)
        await Promise.race([written, sleep(20)])
        assert.equal((await reader.get('items', 'i-1'))?.version, before.version)
      })
      assert.equal(await version(store, 'items', 'i-1'), (await written).version)
    }),
  ],
  [
    'writes that come together each get their own outcome',
    using(async store => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 60 }, (_, i) =>
          store.write(async writer => {
            await writer.put('items', `i-${i}`, { id: `i-${i}` }, {}, undefined, 1)
            if (i % 3 === 0) await sleep(0)
            if (i % 2 === 0) throw new Refused({ kind: 'gone' })
            return i
          }),
        ),
      )
      for (const [i, each] of outcomes.entries())
        if (each.status === 'fulfilled') assert.equal(each.value, i)
        else refusedAs('gone')(each.reason)
      const { items } = await list(store, 'items')
      assert.equal(items.length, 30)
      assert.ok(items.every(each => Number(each.id.slice(2)) % 2 === 1))
    }),
  ],
  [
    'work that is over can neither write nor read',
    using(async store => {
      let kept: StoreWriter | undefined
      await store.write(writer => {
        kept = writer
        return writer.put('items', 'i-1', { id: 'i-1' }, {}, undefined, 1)
      })
      await assert.rejects(async () => await kept?.put('items', 'i-2', { id: 'i-2' }, {}, undefined, 1))
      await assert.rejects(async () => await kept?.get('items', 'i-1'))
      assert.equal(await get(store, 'items', 'i-2'), undefined)
    }),
  ],
  [
    'work that hangs is undone and unavailable; the others go on',
    using(
      async store => {
        let late: Promise<unknown> | undefined
        const hanging = store.write(async writer => {
          await writer.put('items', 'i-1', { id: 'i-1' }, {}, undefined, 1)
          late = sleep(600).then(() => writer.put('items', 'i-3', { id: 'i-3' }, {}, undefined, 1))
          late.catch(() => {})
          await late
        })
        const other = put(store, 'i-2')
        await assert.rejects(hanging, Unavailable)
        await other
        await assert.rejects(async () => await late)
        assert.equal(await get(store, 'items', 'i-1'), undefined)
        assert.equal(await get(store, 'items', 'i-3'), undefined)
        await put(store, 'i-4')
        assert.deepEqual(idsOf(await list(store, 'items')), ['i-2', 'i-4'])
      },
      { work: 300 },
    ),
  ],
  [
    'a store that is closed is unavailable, and not ready',
    async place => {
      const store = await place.open(everything)
      assert.equal(await store.ready(), true)
      const written = put(store, 'i-1')
      await store.close()
      assert.equal((await written).id, 'i-1')
      assert.equal(await store.ready(), false)
      await assert.rejects(put(store, 'i-2'), Unavailable)
      await assert.rejects(async () => get(store, 'items', 'i-1'), Unavailable)
    },
  ],
]

/** The order of the contract, in plain code: absent first, then by the value that is meant. */
type Sortable = null | number | string
const sortable: Readonly<Record<string, (value: unknown) => Sortable>> = {
  rank: value => (value as number | undefined) ?? null,
  note: value => (value as string | undefined) ?? null,
  price: value => (value === undefined ? null : Number(parseScaledDecimal(String(value), 2))),
  at: value => (value === undefined ? null : Date.parse(String(value))),
  id: value => String(value),
}
/** Text by code point, as UTF-8 orders it: JavaScript's own order is that of UTF-16. */
const less = (a: Sortable, b: Sortable): number => {
  if (a === b) return 0
  if (a === null || b === null) return a === null ? -1 : 1
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}
const ordered = (rows: readonly Snapshot[], sort: readonly Sort[]): Snapshot[] =>
  rows.toSorted((a, b) => {
    for (const { field, descending } of sort) {
      const by = sortable[field] ?? String
      const difference = less(by(a.value[field]), by(b.value[field])) * (descending ? -1 : 1)
      if (difference !== 0) return difference
    }
    return (sort.length > 0 ? 0 : b.created - a.created) || less(a.id, b.id)
  })

const anItem = fc.record(
  {
    rank: fc.integer({ min: -2, max: 2 }),
    note: fc.constantFrom('', 'a', 'B', 'b', 'ä', 'Z', '\u{1F600}', '\uFFFD'),
    price: fc.constantFrom('-1.00', '0.00', '0.50', '9.00', '10.00'),
    at: fc.constantFrom(
      '2026-11-21T12:00:00Z',
      '2026-11-21T13:00:00+01:00',
      '2026-11-21T12:00:00.5Z',
      '2026-11-21T12:00:00.50Z',
      '2025-01-01T00:00:00-05:00',
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const fields = ['rank', 'note', 'price', 'at'] as const
const someSort = fc.uniqueArray(
  fc.record({ field: fc.constantFrom<string>(...fields, 'id'), descending: fc.boolean() }),
  { selector: each => each.field, maxLength: 5 },
)
const someFilter: fc.Arbitrary<Filter> = fc.constantFrom(...fields).chain(field =>
  fc.oneof(
    fc.record({
      field: fc.constant(field),
      is: fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte'),
      value: anItem.map(each => each[field]),
    }),
    fc.record({
      field: fc.constant(field),
      is: fc.constant('in' as const),
      value: fc.array(
        anItem.map(each => each[field]),
        { maxLength: 3 },
      ),
    }),
    fc.record({ field: fc.constant(field), is: fc.constant('absent' as const), value: fc.boolean() }),
  ),
)

function holds(row: Snapshot, filter: Filter): boolean {
  const by = sortable[filter.field] ?? String
  const own = by(row.value[filter.field])
  if (filter.is === 'in') return (filter.value as unknown[]).some(each => by(each) === own)
  if (filter.is === 'absent') return (own === null) === filter.value
  const to = by(filter.value)
  if (filter.is === 'eq' || filter.is === 'ne') return (own === to) === (filter.is === 'eq')
  if (own === null || to === null) return false
  const difference = less(own, to)
  return { gt: difference > 0, gte: difference >= 0, lt: difference < 0, lte: difference <= 0 }[filter.is]
}

/** Rows for one run of a property, distinguished from other runs' by their maker. */
async function fill(store: Store, maker: string, rows: readonly Values[]): Promise<Snapshot[]> {
  return await store.write(async writer => {
    const made: Snapshot[] = []
    for (const [i, row] of rows.entries()) {
      const id = `${maker}.${String(i).padStart(3, '0')}`
      made.push(await writer.put('items', id, { ...row, id, maker }, {}, undefined, i % 4))
    }
    return made
  })
}
let makers = 0
const nextMaker = (): string => `m-${++makers}`

type From = NonNullable<Query['from']>
/** The cursor that continues after a page, or before it. */
function onward(page: ItemPage, backwards: boolean): From | undefined {
  const edge = backwards ? page.edges?.first : page.edges?.last
  return edge && { ...edge, backwards }
}

async function walk(
  store: Store,
  query: Partial<Query>,
  from: From | undefined,
  backwards: boolean,
  between: (seen: readonly string[]) => Promise<void> = async () => {},
): Promise<string[]> {
  const seen: string[] = []
  for (let at = from, first = true; ; first = false) {
    const page = await list(store, 'items', { ...query, ...(at && { from: at }) })
    const ids = idsOf(page)
    seen.push(...(backwards ? ids.toReversed() : ids))
    if (!first) assert.equal(backwards ? page.more.after : page.more.before, true)
    if (!(backwards ? page.more.before : page.more.after)) return seen
    at = onward(page, backwards)
    await between(seen)
  }
}

const collections: readonly Case[] = [
  [
    'the newest first, then by id, when no order is asked for',
    using(async store => {
      await fill(
        store,
        'm',
        Array.from({ length: 6 }, () => ({})),
      )
      assert.deepEqual(idsOf(await list(store, 'items')), ['m.003', 'm.002', 'm.001', 'm.005', 'm.000', 'm.004'])
      const { edges } = await list(store, 'items', { size: 3 })
      assert.deepEqual(edges, { first: { keys: [3], id: 'm.003' }, last: { keys: [1], id: 'm.001' } })
    }),
  ],
  [
    'filters hold for just the rows for which they hold, in the order asked for',
    using(async store => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anItem, { maxLength: 20 }),
          fc.array(someFilter, { maxLength: 2 }),
          someSort,
          async (rows, filters, sort) => {
            const maker = nextMaker()
            const made = await fill(store, maker, rows)
            const expected = ordered(
              made.filter(row => filters.every(filter => holds(row, filter))),
              sort,
            )
            const page = await list(store, 'items', { filters, sort, within: [{ maker }], counted: true })
            assert.deepEqual(
              idsOf(page),
              expected.map(each => each.id),
            )
            assert.equal(page.total, expected.length)
            assert.deepEqual(
              page.items.map(each => each.value),
              expected.map(each => each.value),
            )
          },
        ),
        { numRuns: 80 },
      )
    }),
  ],
  [
    'every kind of scalar is found by its own value and by comparison with another',
    using(async store => {
      const values = fc.sample(members(every), { numRuns: 7, seed: 7 })
      for (const [i, value] of values.entries())
        await store.write(writer => writer.put('things', `x-${i}`, { ...value, id: `x-${i}` }, {}, undefined, i))
      const scalars = Object.entries(every).filter(([, { shape }]) => isScalar(shape))
      for (const [field] of scalars) {
        if (field === 'id') continue
        for (const [i, value] of values.entries()) {
          const own = value[field]
          if (own === undefined || own === null || Number.isNaN(own)) continue
          const where = async (is: Filter['is']) =>
            idsOf(await list(store, 'things', { filters: [{ field, is, value: own }] }))
          const [same, other, more, fewer] = [
            await where('eq'),
            await where('ne'),
            await where('gt'),
            await where('lt'),
          ]
          assert.ok(same.includes(`x-${i}`), `${field} ${String(own)}`)
          assert.equal(same.length + other.length, values.length, field)
          const ranked = values.filter(
            each => each[field] !== undefined && each[field] !== null && !Number.isNaN(each[field]),
          )
          assert.equal(same.length + more.length + fewer.length, ranked.length, field)
          assert.deepEqual((await where('gte')).length, same.length + more.length, field)
        }
        const { items } = await list(store, 'things', { sort: [{ field, descending: false }] })
        const back = await list(store, 'things', { sort: [{ field, descending: true }] })
        assert.equal(items.length, values.length)
        assert.equal(back.items.length, values.length)
      }
    }),
  ],
  ...(
    [
      [
        'dateTime',
        [
          '2026-11-21T00:00:00+14:00',
          '2026-11-20T12:00:00Z',
          '2026-11-20T12:00:00.000000000001Z',
          '2026-11-20T24:00:00Z',
          '10000-01-01T00:00:00Z',
        ],
      ],
      [
        'dateTime',
        ['-0001-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '999999999-01-01T00:00:00Z'],
      ],
      ['date', ['2026-11-21+14:00', '2026-11-21', '2026-11-21-05:00', '2026-11-22']],
      ['time', ['00:00:00+01:00', '00:00:00Z', '12:00:00Z', '12:00:00-01:00', '24:00:00Z']],
      ['duration', ['-P1Y', '-PT1.5S', '-PT1S', 'PT0S', 'PT0.5S', 'P1D', 'PT36H', 'P1M', 'P1Y', 'P13M']],
      ['whole', [-(10n ** 30n), -11n, -10n, -9n, 0n, 1n, 9n, 10n, 10n ** 30n, 10n ** 30n + 1n]],
      ['long', [-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]],
      ['money', ['-99999999999999.9999', '-0.0001', '0.0000', '0.0001', '9.0000', '10.0000', '99999999999999.9999']],
      ['double', [Number.NEGATIVE_INFINITY, -1.5, 0, 5e-324, 1, Number.MAX_VALUE, Number.POSITIVE_INFINITY]],
      ['boolean', [false, true]],
      ['string', ['', 'A', 'B', 'a', 'aa', 'b', 'ä']],
    ] as const
  ).map(
    ([field, values]): Case => [
      `a ${field} is ordered as its type is: ${String(values[0])} … ${String(values.at(-1))}`,
      using(async store => {
        const [other] = fc.sample(members(every), { numRuns: 1, seed: 3 })
        const all: readonly unknown[] = values
        for (const [i, value] of all.entries())
          await store.write(writer =>
            writer.put('things', `x-${i}`, { ...other, id: `x-${i}`, [field]: value }, {}, undefined, 1),
          )
        const expected = all.map((_, i) => `x-${i}`)
        assert.deepEqual(idsOf(await list(store, 'things', { sort: [{ field, descending: false }] })), expected)
        assert.deepEqual(
          idsOf(await list(store, 'things', { sort: [{ field, descending: true }] })),
          expected.toReversed(),
        )
        for (const [i, value] of all.entries()) {
          const rest = await list(store, 'things', {
            filters: [{ field, is: 'gte', value }],
            sort: [{ field, descending: false }],
          })
          assert.deepEqual(idsOf(rest), expected.slice(i))
        }
      }),
    ],
  ),
  [
    'paging by cursor gives every row once and in order, forwards and back, whatever the order and however large the page',
    using(async store => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anItem, { maxLength: 12 }),
          someSort,
          fc.integer({ min: 1, max: 5 }),
          async (rows, sort, size) => {
            const maker = nextMaker()
            const expected = ordered(await fill(store, maker, rows), sort).map(each => each.id)
            const query = { sort, size, within: [{ maker }] }
            assert.deepEqual(await walk(store, query, undefined, false), expected)
            const last = await list(store, 'items', { ...query, size: 100 })
            const end = onward(last, false)
            if (!end) return
            assert.deepEqual(
              await walk(store, query, { ...end, backwards: true }, true),
              expected.slice(0, -1).toReversed(),
            )
            const start = await list(store, 'items', { ...query, from: { ...end, backwards: false } })
            assert.deepEqual(start.items, [])
            assert.deepEqual(start.more, { before: true, after: false })
          },
        ),
        { numRuns: 60, endOnFailure: true },
      )
    }),
  ],
  [
    'paging by a number that may be NaN gives every row once: NaN has no order, and stands where absent values do',
    using(async store => {
      const [other] = fc.sample(members(every), { numRuns: 1, seed: 5 })
      const values = [NaN, 1, NaN, -0, 0, Infinity, NaN]
      for (const [i, double] of values.entries())
        await store.write(writer =>
          writer.put('things', `x-${i}`, { ...other, id: `x-${i}`, double }, {}, undefined, 1),
        )
      for (const descending of [false, true])
        for (const backwards of [false, true]) {
          const seen: string[] = []
          const sort = [{ field: 'double', descending }]
          const edge = (await list(store, 'things', { sort })).items.at(backwards ? -1 : 0)
          let from: From | undefined = edge && { keys: [edge.value['double']], id: edge.id, backwards }
          if (edge) seen.push(edge.id)
          while (from) {
            const page = await list(store, 'things', { sort, size: 2, from })
            seen.push(...(backwards ? idsOf(page).toReversed() : idsOf(page)))
            from = onward(page, backwards)
          }
          const rising = ['x-0', 'x-2', 'x-6', 'x-3', 'x-4', 'x-1', 'x-5']
          const falling = ['x-5', 'x-1', 'x-3', 'x-4', 'x-0', 'x-2', 'x-6']
          const expected = descending ? falling : rising
          assert.deepEqual(seen, backwards ? expected.toReversed() : expected)
        }
    }),
  ],
  [
    "rows that stay are each seen once, in order, while others come and go between pages, the cursor's own row too",
    using(async store => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anItem, { minLength: 1, maxLength: 12 }),
          someSort,
          fc.array(fc.tuple(fc.nat({ max: 11 }), anItem), { maxLength: 8 }),
          fc.boolean(),
          async (rows, sort, turns, backwards) => {
            const maker = nextMaker()
            const made = await fill(store, maker, rows)
            const gone = new Set<string>()
            const left = [...turns]
            let come = 0
            const between = async (): Promise<void> => {
              const [at, fresh] = left.pop() ?? []
              const row = made[at ?? 0]
              if (!fresh || !row) return
              if (!gone.has(row.id)) await store.write(writer => writer.remove('items', row.id, row.version, 1))
              gone.add(row.id)
              const id = `${maker}.new${++come}`
              await store.write(writer => writer.put('items', id, { ...fresh, id, maker }, {}, undefined, come % 4))
            }
            const query = { sort, size: 2, within: [{ maker }] }
            const all = ordered(made, sort)
            const page = await list(store, 'items', { ...query, size: 100 })
            const end = onward(page, false)
            const seen = backwards
              ? (await walk(store, query, end && { ...end, backwards: true }, true, between)).toReversed()
              : await walk(store, query, undefined, false, between)
            const stay = all
              .filter(each => !gone.has(each.id) && !(backwards && each.id === end?.id))
              .map(each => each.id)
            assert.deepEqual(
              seen.filter(id => stay.includes(id)),
              stay,
            )
            assert.equal(new Set(seen).size, seen.length)
          },
        ),
        { numRuns: 40 },
      )
    }),
  ],
  [
    'paging by number passes rows over, counts them all, and past the end there is an empty page',
    using(async store => {
      await fill(
        store,
        'm',
        Array.from({ length: 5 }, (_, rank) => ({ rank })),
      )
      const sort = [{ field: 'rank', descending: false }]
      const at = async (offset: number) => {
        const page = await list(store, 'items', { sort, size: 2, offset, counted: true })
        return [idsOf(page), page.total, page.more.before, page.more.after]
      }
      assert.deepEqual(await at(0), [['m.000', 'm.001'], 5, false, true])
      assert.deepEqual(await at(2), [['m.002', 'm.003'], 5, true, true])
      assert.deepEqual(await at(4), [['m.004'], 5, true, false])
      assert.deepEqual(await at(6), [[], 5, true, false])
      assert.equal((await list(store, 'items', { size: 2 })).total, undefined)
      const none = await list(store, 'makers', { offset: 3 })
      assert.deepEqual([none.items, none.more, none.edges], [[], { before: false, after: false }, undefined])
    }),
  ],
  [
    'a restricted caller sees the rows of any of their groups, and with no group none',
    using(async store => {
      await put(store, 'i-1', { maker: 'm-1', note: 'a' })
      await put(store, 'i-2', { maker: 'm-1', note: 'b' })
      await put(store, 'i-3', { maker: 'm-2', note: 'a' })
      await put(store, 'i-4', { rank: 5, price: '5.00' })
      const seen = async (within: Query['within'], filters: Filter[] = []) => {
        const page = await list(store, 'items', { within, filters, counted: true })
        assert.equal(page.total, page.items.length)
        return idsOf(page)
      }
      assert.deepEqual(await seen([]), [])
      assert.deepEqual(await seen([{}]), ['i-1', 'i-2', 'i-3', 'i-4'])
      assert.deepEqual(await seen([{ maker: 'm-1' }]), ['i-1', 'i-2'])
      assert.deepEqual(await seen([{ maker: 'm-1', note: 'b' }, { maker: 'm-2' }]), ['i-2', 'i-3'])
      assert.deepEqual(await seen([{ maker: 'm-1' }], [{ field: 'note', is: 'ne', value: 'a' }]), ['i-2'])
      assert.deepEqual(await seen([{ maker: 'm-1' }], [{ field: 'maker', is: 'eq', value: 'm-2' }]), [])
      assert.deepEqual(await seen([{ maker: 'M-1' }]), [])
      assert.deepEqual(await seen([{ rank: '5' }]), [], 'a claim is text, and a number equals none')
      assert.deepEqual(await seen([{ maker: "m-1' or '1'='1" }]), [])
    }),
  ],
]

const search: readonly Case[] = [
  [
    'words are found whole and in any case, wherever the search paths lead; all must occur, each anywhere',
    using(async store => {
      await store.write(async writer => {
        await writer.put('towns', 't-1', { id: 't-1', name: 'Gießen' }, {}, undefined, 1)
        await writer.put(
          'makers',
          'm-1',
          { id: 'm-1', name: 'Ada & Söhne', town: 't-1', motto: 'hidden' },
          {},
          undefined,
          1,
        )
        await writer.put('makers', 'm-2', { id: 'm-2', name: 'ΟΔΟΣ', motto: 'Always ready' }, {}, undefined, 1)
        const line = { maker: 'm-2', inner: { of: 't-1' }, remark: 'gift wrap' }
        await writer.put(
          'items',
          'i-1',
          { id: 'i-1', maker: 'm-1', note: '100% cotton, size_9; e-mail first' },
          {},
          undefined,
          9,
        )
        await writer.put(
          'items',
          'i-2',
          { id: 'i-2', note: 'nothing', lines: [{ maker: 'm-1', inner: {} }, line] },
          {},
          undefined,
          8,
        )
        await writer.put('items', 'i-3', { id: 'i-3', note: '', others: ['m-1', 'm-2'] }, {}, undefined, 7)
        await writer.put('items', 'i-4', { id: 'i-4', note: 'CAFÉ caf\u00e9 e\u0301', lines: [] }, {}, undefined, 6)
      })
      const find = async (...words: string[]) =>
        idsOf(await list(store, 'items', { words }))
          .map(id => id.slice(2))
          .join('')
      const rows: readonly (readonly [string[], string])[] = [
        [[], '1234'],
        [['cotton'], '1'],
        [['COTTON'], '1'],
        [['cott'], ''],
        [['otton'], ''],
        [['%'], '1'],
        [['100%'], '1'],
        [['100'], '1'],
        [['10_'], ''],
        [['_'], '1'],
        [['size_9'], '1'],
        [['size?9'], ''],
        [['e-mail'], '1'],
        [["'"], ''],
        [['\\'], ''],
        [['  '], '1234'],
        [['ada'], '12'],
        [['SÖHNE'], '12'],
        [['so\u0308hne'], '12'],
        [['sohne'], ''],
        [['giessen'], '12'],
        [['GIESSEN'], '12'],
        [['gießen', 'ada', 'cotton'], '1'],
        [['cotton', 'nothing'], ''],
        [['οδος'], '2'],
        [['οδοσ'], '2'],
        [['wrap'], '2'],
        [['gift', 'ada', 'giessen'], '2'],
        [['ready'], '3'],
        [['hidden'], '3'],
        [['café'], '4'],
        [['É'], '4'],
        [['words', 'that', 'nobody', 'wrote'], ''],
      ]
      for (const [words, expected] of rows) assert.equal(await find(...words), expected, words.join(' '))
      await store.sweep(0) // the index takes in what was written
      for (const [words, expected] of rows) assert.equal(await find(...words), expected, `${words.join(' ')}, by index`)
    }),
  ],
  [
    'A4.14 a search has as many words as its limit allows, whether its index leads or not',
    using(async store => {
      const words = Array.from({ length: 500 }, (_, i) => `w${i}`)
      const note = words.join(' ')
      await store.write(writer => writer.put('items', 'i-1', { id: 'i-1', note }, {}, undefined, 1))
      assert.deepEqual(idsOf(await list(store, 'items', { words })), ['i-1'])
      for (const missing of [0, 7, 8, 9, 250, 499])
        assert.deepEqual(idsOf(await list(store, 'items', { words: words.with(missing, 'none') })), [], `${missing}`)
      for (const count of [7, 8, 9, 10, 250])
        assert.deepEqual(idsOf(await list(store, 'items', { words: words.slice(-count) })), ['i-1'], `${count}`)
    }),
  ],
  [
    'a search sees the current state of the items that it looks through, as far as its caller may see them',
    using(async store => {
      await store.write(async writer => {
        await writer.put('makers', 'm-1', { id: 'm-1', name: 'Old' }, {}, undefined, 1)
        await writer.put('items', 'i-1', { id: 'i-1', maker: 'm-1' }, {}, undefined, 1)
      })
      const seen = await version(store, 'makers', 'm-1')
      await store.write(writer =>
        writer.put('makers', 'm-1', { id: 'm-1', name: 'New' }, {}, { version: seen ?? 0 }, 2),
      )
      const found = async (words: string[], within: Query['within'] = 'all') => {
        const page = await list(store, 'items', {
          words,
          within,
          counted: true,
          filters: [{ field: 'rank', is: 'eq', value: undefined }],
        })
        return [idsOf(page).length, page.total]
      }
      assert.deepEqual(await found(['old']), [0, 0])
      assert.deepEqual(await found(['new']), [1, 1])
      assert.deepEqual(await found(['new'], [{ maker: 'm-1' }]), [1, 1])
      assert.deepEqual(await found(['new'], [{ maker: 'm-2' }]), [0, 0])
      const last = await version(store, 'makers', 'm-1')
      await store.write(writer => writer.remove('makers', 'm-1', last ?? 0, 3))
      assert.deepEqual(await found(['new']), [0, 0])
    }),
  ],
  [
    'a search finds what a look at every item finds, whatever was written, changed, moved or removed',
    using(async store => {
      const word = fc.constantFrom(
        'alpha',
        'beta',
        'Gamma',
        '%',
        'x'.repeat(300),
        `${'x'.repeat(300)}y`,
        '"',
        "'",
        '\u{1F600}',
      )
      const text = fc.array(word, { maxLength: 3 }).map(words => words.join(' '))
      const maker = fc.constantFrom('m-0', 'm-1', 'm-2')
      const deed = fc.record({
        what: fc.constantFrom('put', 'put', 'put', 'name', 'remove'),
        id: fc.constantFrom('i-0', 'i-1', 'i-2', 'i-3'),
        maker: fc.option(maker, { nil: undefined }),
        lines: fc.array(maker, { maxLength: 2 }),
        text,
      })
      const items = new Map<string, Values>()
      const names = new Map<string, string>()
      const wordsAt = (item: Values): string[] => {
        const lines = (item['lines'] ?? []) as { maker: string }[] // written below
        const texts = [
          item['note'],
          ...[item['maker'], ...lines.map(each => each.maker)].map(id => names.get(String(id))),
        ]
        return texts.flatMap(each =>
          String(each ?? '')
            .toLowerCase()
            .split(' '),
        )
      }
      await fc.assert(
        fc.asyncProperty(
          fc.array(deed, { minLength: 1, maxLength: 8 }),
          fc.array(word, { minLength: 1, maxLength: 2 }),
          async (deeds, words) => {
            for (const { what, id, text, lines, maker } of deeds) {
              const [at, key, known] =
                what === 'name' ? (['makers', maker ?? 'm-0', names] as const) : (['items', id, items] as const)
              const found = known.has(key) ? await get(store, at, key) : undefined
              const stands = found && !isFormer(found) ? found : undefined
              const seen = stands?.version
              if (what === 'name') {
                const named = maker ?? 'm-0'
                await store.write(writer => writer.put('makers', named, { id: named, name: text }, {}, stands, 1))
                names.set(named, text)
              } else if (what === 'put') {
                const inner = lines.map(each => ({ maker: each, inner: {} }))
                const item: Values = { id, note: text, lines: inner, ...(maker !== undefined && { maker }) }
                await store.write(writer => writer.put('items', id, item, {}, stands, 1))
                items.set(id, item)
              } else if (seen !== undefined) {
                await store.write(writer => writer.remove('items', id, seen, 1))
                items.delete(id)
              }
            }
            const page = await list(store, 'items', { words, counted: true })
            const expected = [...items].flatMap(([id, item]) => {
              const has = wordsAt(item)
              return words.every(each => has.includes(each.toLowerCase())) ? [id] : []
            })
            assert.deepEqual(idsOf(page).sort(), expected.sort())
            assert.equal(page.total, expected.length)
          },
        ),
        { numRuns: 60, endOnFailure: true },
      )
    }),
  ],
  [
    'a filter by a reference within selects the items of which one refers to it, whatever was written since',
    using(async store => {
      const line = (maker: string, of?: string): Values => ({ maker, inner: of === undefined ? {} : { of } })
      await put(store, 'i-1', { lines: [line('m-1', 't-1'), line('m-2')], others: ['m-3'], rank: 1 })
      await put(store, 'i-2', { lines: [line('m-2', 't-2')], origin: { town: 't-1' }, rank: 2 })
      await put(store, 'i-3', { lines: [], others: ['m-1', 'm-3'], origin: {}, maker: 'm-1' })
      await put(store, 'i-4', { maker: 'm-2', note: 'm-2' })
      const seen = async (field: string, value: unknown, more: Partial<Query> = {}) => {
        const { filters = [], ...rest } = more
        const is = Array.isArray(value) ? 'in' : 'eq'
        const page = await list(store, 'items', { filters: [{ field, is, value }, ...filters], counted: true, ...rest })
        assert.equal(page.total, page.items.length)
        return idsOf(page)
          .map(id => id.slice(2))
          .sort()
          .join('')
      }
      const rows: readonly (readonly [string, string, unknown, Partial<Query>?])[] = [
        ['12', 'lines.maker', 'm-2'],
        ['1', 'lines.maker', 'm-1'],
        ['', 'lines.maker', 'm-3'],
        ['', 'lines.maker', 'm-'],
        ['', 'lines.maker', 'M-1'],
        ['', 'lines.maker', 'm-1" OR "m-2'],
        ['', 'lines.maker', 'm\0'],
        ['', 'lines.maker', undefined],
        ['12', 'lines.maker', ['m-1', 'm-2', 'm-9']],
        ['12', 'lines.maker', ['m-2', ...Array.from({ length: 2000 }, (_, i) => `n-${i}`)]],
        ['', 'lines.maker', []],
        ['1', 'lines.inner.of', 't-1'],
        ['12', 'lines.inner.of', ['t-2', 't-1']],
        ['13', 'others', 'm-3'],
        ['3', 'others', 'm-1'],
        ['2', 'origin.town', 't-1'],
        ['2', 'lines.maker', 'm-2', { filters: [{ field: 'rank', is: 'gt', value: 1 }] }],
        ['1', 'lines.maker', 'm-2', { filters: [{ field: 'others', is: 'eq', value: 'm-3' }] }],
        ['3', 'others', 'm-3', { within: [{ maker: 'm-1' }] }],
        ['2', 'lines.maker', 'm-2', { counted: 'exact', filters: [{ field: 'rank', is: 'eq', value: 2 }] }],
      ]
      const asked = async (how: string) => {
        for (const [expected, field, value, more] of rows)
          assert.equal(await seen(field, value, more), expected, `${field} ${String(value).slice(0, 40)}, ${how}`)
      }
      await asked('as written')
      await store.sweep(0)
      await asked('by index')
      await put(store, 'i-2', { lines: [line('m-1')] }, await version(store, 'items', 'i-2'))
      assert.deepEqual([await seen('lines.maker', 'm-2'), await seen('lines.maker', 'm-1')], ['1', '12'])
      const stands = await version(store, 'items', 'i-1')
      await store.write(writer => writer.remove('items', 'i-1', stands ?? 0, 3))
      assert.deepEqual([await seen('lines.maker', 'm-2'), await seen('lines.maker', 'm-1')], ['', '2'])
      await store.write(async writer => {
        await writer.put('items', 'i-5', { id: 'i-5', lines: [line('m-7')] }, {}, undefined, 4)
        const filters = [{ field: 'lines.maker', is: 'eq', value: 'm-7' }] as const
        assert.deepEqual(idsOf(await writer.list('items', { ...plain, filters })), ['i-5'], 'in its own transaction')
        assert.equal(await writer.has('items', filters), true)
      })
    }),
  ],
  [
    'words are searched where the contract has no path: then there are none to find',
    using(async store => {
      await store.write(writer => writer.put('towns', 't-1', { id: 't-1', name: 'here' }, {}, undefined, 1))
      assert.deepEqual(idsOf(await list(store, 'towns', { words: ['here'] })), [])
    }),
  ],
]

export function jobRow(id: string, more: Partial<JobRow> = {}): JobRow {
  const none = { output: undefined, failure: undefined }
  const times = { created: 10, modified: 10, leased: 0, due: 10, party: 'ada', turn: 0 }
  return {
    id,
    job: 'digests',
    state: 'queued',
    progress: 0,
    owner: 'ada',
    caller: '{}',
    input: '{"a":1}',
    ...none,
    tries: 0,
    version: 0,
    ...times,
    ...more,
  }
}
const change = (id: string, version: number) =>
  ({ at: 5, resource: 'items', id, version, what: 'changed', operation: 'PatchItem' }) as const

const records: readonly Case[] = [
  [
    'a memo is remembered once until it expires or is forgotten',
    using(async store => {
      const remember = (value: string, expires: number, now: number, key = 'k') =>
        store.write(writer => writer.remember('space', key, { value, expires }, now))
      const recall = async (space = 'space') => await store.read(reader => reader.recall(space, 'k'))
      assert.equal(await recall(), undefined)
      assert.equal(await remember('one', 100, 1), true)
      assert.equal(await remember('two', 200, 99), false)
      assert.deepEqual(await recall(), { value: 'one', expires: 100 })
      assert.equal(await recall('other'), undefined)
      assert.deepEqual(
        [...(await store.read(reader => reader.recallAll('space')))],
        [['k', { value: 'one', expires: 100 }]],
      )
      assert.equal((await store.read(reader => reader.recallAll('space', 0))).size, 0)
      assert.equal((await store.read(reader => reader.recallAll('other'))).size, 0)
      assert.equal(await remember('two', 200, 100), true)
      assert.deepEqual(await recall(), { value: 'two', expires: 200 })
      await store.write(writer => writer.forget('space', 'k'))
      assert.equal(await recall(), undefined)
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => remember(String(i), 100, 1, 'raced')))
      assert.equal(all.filter(Boolean).length, 1)
    }),
  ],
  [
    'a job comes back as it was written, and as it is written again',
    using(async store => {
      const look = async () => await store.read(reader => reader.job('j-1'))
      assert.equal(await look(), undefined)
      for (const row of [
        jobRow('j-1'),
        jobRow('j-1', {
          state: 'completed',
          progress: 0.25,
          output: '"ü"',
          failure: 'no',
          version: 1e13,
          leased: 1e12,
        }),
      ]) {
        const put = await store.write(writer => writer.putJob(row))
        assert.deepEqual(put, { ...row, version: put.version })
        assert.ok(put.version > row.version)
        assert.deepEqual(await look(), put)
      }
    }),
  ],
  [
    'a lease takes a job whose lease has ended, else the one that is due longest, of those named, and no other takes it',
    using(async store => {
      const lease = async (now: number, until: number, jobs = ['digests']) => {
        const isDue = await store.read(reader => reader.hasDueJob(jobs, now))
        const row = await store.write(writer => writer.lease(jobs, now, until))
        assert.equal(isDue, row !== undefined, 'what a worker is told by a read')
        return row
      }
      await store.write(async writer => {
        await writer.putJob(jobRow('j-1', { due: 20 }))
        await writer.putJob(jobRow('j-2', { due: 10 }))
        await writer.putJob(jobRow('j-3', { due: 5, job: 'other' }))
        await writer.putJob(jobRow('j-4', { due: 1, state: 'completed' }))
        await writer.putJob(jobRow('j-5', { due: 1, state: 'cancelled' }))
      })
      assert.equal(await lease(9, 100), undefined)
      assert.equal(await lease(100, 200, []), undefined)
      const before = (await store.read(reader => reader.job('j-2')))?.version ?? 0
      const first = await lease(15, 100)
      const version = first?.version ?? 0
      assert.ok(version > before)
      assert.deepEqual(
        first,
        jobRow('j-2', { state: 'running', leased: 100, due: 10, tries: 1, version, modified: 15 }),
      )
      assert.deepEqual(await store.read(reader => reader.job('j-2')), first)
      assert.equal(await lease(15, 100), undefined)
      assert.equal((await lease(30, 100))?.id, 'j-1')
      assert.equal(await lease(99, 300), undefined)
      const again = await lease(100, 300)
      assert.deepEqual([again?.id, again?.tries, again?.leased], ['j-2', 2, 300])
      assert.ok((again?.version ?? 0) > version)
      assert.equal((await lease(100, 300, ['digests', 'other']))?.id, 'j-1')
      assert.equal((await lease(100, 300, ['digests', 'other']))?.id, 'j-3')
    }),
  ],
  [
    'A8.1 parties take turns: the next turn of one is behind its own last, and not before the first of all',
    using(async store => {
      const add = (id: string, party: string, job = 'digests') =>
        store.write(async writer => {
          const { turn, waiting } = await writer.nextTurn(['digests'], party)
          await writer.putJob(jobRow(id, { party, turn, job }))
          return [turn, waiting]
        })
      const take = async (partyMax?: number) =>
        (await store.write(writer => writer.lease(['digests'], 100, 1000, partyMax)))?.id
      assert.deepEqual(await store.read(reader => reader.nextTurn([], 'a')), { turn: 0, waiting: 0 })
      for (const at of [0, 1, 2, 3]) assert.deepEqual(await add(`a-${at}`, 'a'), [at, at])
      await add('other-0', 'a', 'other')
      assert.deepEqual([await take(), await take()], ['a-0', 'a-1'])
      assert.deepEqual(await add('b-0', 'b'), [2, 0])
      assert.deepEqual(await add('b-1', 'b'), [3, 1])
      assert.deepEqual([await take(), await take(), await take(), await take()], ['a-2', 'b-0', 'a-3', 'b-1'])
      assert.deepEqual(await add('a-4', 'a'), [0, 0])
    }),
  ],
  [
    'jobs that an older program has queued are taken after the upgrade, each at its turn',
    async place => {
      const first = await place.open(everything)
      await first.write(async writer => {
        await writer.putJob(jobRow('j-1', { created: 2 }))
        await writer.putJob(jobRow('j-2', { created: 1 }))
      })
      await first.close()
      if (!place.direct) return
      await place.direct(`drop index "_job#turn"; drop index "_job#party"; drop index "_job#leased";
        alter table "_job" drop column "party"; alter table "_job" drop column "turn";
        create index "_job#due" on "_job" ("due", "created") where "state" in ('queued', 'running');
        delete from "_shape" where "of" = 'store' and "name" = 'jobs'`)
      await (await place.open(everything)).close()
      const store = await place.open(everything)
      const take = async () => (await store.write(writer => writer.lease(['digests'], 100, 1000)))?.id
      assert.deepEqual([await take(), await take(), await take()], ['j-2', 'j-1', undefined])
      await store.close()
    },
  ],
  ...['ended', 'failed', 'queued'].map(
    (name): Case => [
      `a database of an older program gets the index of ${name} jobs, once`,
      async place => {
        await (await place.open(everything)).close()
        const { direct } = place
        if (!direct) return
        const again = `create index "_job#${name}" on "_job" ("job")`
        await direct(`drop index "_job#${name}"; delete from "_shape" where "of" = 'store' and "name" = '${name}'`)
        await (await place.open(everything)).close()
        await assert.rejects(async () => direct(again), /already exists/)
        await direct(`drop index "_job#${name}"`)
        await (await place.open(everything)).close()
        await direct(again) // what is marked as made is not looked for again
      },
    ],
  ),
  [
    'a database of an older program gets the indexes of former items, once',
    async place => {
      await (await place.open(everything)).close()
      const { direct } = place
      if (!direct) return
      const drop = 'drop index "_former#version"; drop index "_file#emptied"'
      await direct(`${drop}; delete from "_shape" where "of" = 'store' and "name" = 'formers'`)
      await (await place.open(everything)).close()
      await direct(drop)
      await (await place.open(everything)).close() // what is marked as made is not looked for again
      await assert.rejects(async () => direct(drop))
    },
  ],
  [
    'the job whose turn it is is taken, past all that wait for their time, whether few are due or many',
    using(async store => {
      const add = (many: number, of: (i: number) => Partial<JobRow>) =>
        store.write(async writer => {
          for (let i = 0; i < many; i++) await writer.putJob(jobRow(`j-${JSON.stringify(of(i))}`, of(i)))
        })
      await add(300, i => ({ due: 1e6 + i, turn: i }))
      await add(1, () => ({ due: 1, turn: 90, job: 'other' }))
      const look = () => store.read(reader => reader.hasDueJob(['digests'], 100))
      const take = async () => (await store.write(writer => writer.lease(['digests'], 100, 1000)))?.turn
      assert.deepEqual([await look(), await take()], [false, undefined])
      await add(150, i => ({ due: i % 7, turn: 100 + ((i * 37) % 150) }))
      for (let i = 0; i < 150; i++) assert.deepEqual([await look(), await take()], [true, 100 + i])
      assert.deepEqual([await look(), await take()], [false, undefined])
    }),
  ],
  [
    'A8.1 jobs that wait for their time do not count among those that wait for a worker',
    using(async store => {
      await store.write(async writer => {
        for (let i = 0; i < 5; i++) await writer.putJob(jobRow(`j-${i}`, { party: 'a', turn: i, due: 10 * i }))
      })
      const next = (until?: number) => store.read(reader => reader.nextTurn(['digests'], 'a', until))
      assert.deepEqual(await next(), { turn: 5, waiting: 5 })
      assert.deepEqual(await next(20), { turn: 3, waiting: 3 })
      assert.deepEqual(await next(-1), { turn: 0, waiting: 0 })
    }),
  ],
  [
    'jobs of a state are counted up to a limit, and listed with the last changed first',
    using(async store => {
      await store.write(async writer => {
        for (let i = 0; i < 5; i++) await writer.putJob(jobRow(`j-${i}`, { state: 'failed', modified: i % 4 }))
        await writer.putJob(jobRow('j-6', { state: 'running' }))
      })
      await store.read(async reader => {
        assert.deepEqual(
          (await reader.jobs('failed', 4)).map(each => each.id),
          ['j-3', 'j-2', 'j-1', 'j-0'],
        )
        const counts = [
          ['failed', 10],
          ['failed', 3],
          ['running', 10],
          ['queued', 10],
        ] as const
        assert.deepEqual(
          await Promise.all(counts.map(([state, limit]) => reader.countJobs(state, limit))),
          [5, 3, 1, 0],
        )
      })
    }),
  ],
  [
    'A8.1 a lease passes over a party of which as many run as may',
    using(async store => {
      await store.write(async writer => {
        for (const [i, party] of ['a', 'a', 'a', 'b'].entries())
          await writer.putJob(jobRow(`j-${i}`, { party, turn: i }))
      })
      const take = async () => (await store.write(writer => writer.lease(['digests'], 100, 1000, 2)))?.id
      assert.deepEqual([await take(), await take(), await take(), await take()], ['j-0', 'j-1', 'j-3', undefined])
      const ended = await store.write(writer => writer.lease(['digests'], 1000, 2000, 2))
      assert.equal(ended?.id, 'j-0', 'one whose lease has ended is taken again')
    }),
  ],
  [
    'of many workers each takes another job',
    using(async store => {
      await store.write(async writer => {
        for (let i = 0; i < 6; i++) await writer.putJob(jobRow(`j-${i}`))
      })
      const taken = await Promise.all(
        Array.from({ length: 10 }, () => store.write(writer => writer.lease(['digests'], 20, 99))),
      )
      const ids = taken.flatMap(each => (each ? [each.id] : []))
      assert.deepEqual(
        ids.toSorted(),
        Array.from({ length: 6 }, (_, i) => `j-${i}`),
      )
    }),
  ],
  [
    'C6.1 changes are read in the order of commits, from where one was left, and what was undone is not among them',
    using(async store => {
      assert.deepEqual(await store.read(reader => reader.changes(0, 10)), [])
      assert.equal(await store.read(reader => reader.swept()), 0)
      await store.write(async writer => {
        await writer.changed(change('i-1', 1))
        await writer.changed(change('i-2', 1))
      })
      await assert.rejects(
        store.write(async writer => {
          await writer.changed(change('i-3', 1))
          throw new Error('no')
        }),
      )
      await store.write(writer => writer.changed(change('i-4', 1)))
      await store.write(writer =>
        writer.record({
          at: 1,
          subject: 'ada',
          operation: 'PatchItem',
          resource: 'items',
          id: 'i-4',
          version: undefined,
          face: 'rest',
          request: 'r',
        }),
      )
      const all = await store.read(reader => reader.changes(0, 10))
      assert.deepEqual(
        all.map(each => each.id),
        ['i-1', 'i-2', 'i-4'],
      )
      const [first, second, third] = all.map(each => each.sequence)
      assert.ok(
        first !== undefined &&
          second !== undefined &&
          third !== undefined &&
          0 < first &&
          first < second &&
          second < third,
      )
      assert.deepEqual(all[0], { ...change('i-1', 1), sequence: first })
      assert.deepEqual(
        (await store.read(reader => reader.changes(first, 1))).map(each => each.id),
        ['i-2'],
      )
      assert.deepEqual(await store.read(reader => reader.changes(third, 10)), [])
    }),
  ],
  [
    'a reader of changes that goes on from the last one seen misses none, while many write',
    using(async store => {
      const seen: string[] = []
      let last = 0
      const follow = async (): Promise<void> => {
        for (const each of await store.read(reader => reader.changes(last, 1000))) {
          assert.ok(each.sequence > last)
          seen.push(each.id)
          last = each.sequence
        }
      }
      const ids = Array.from({ length: 40 }, (_, i) => `i-${i}`)
      const writing = ids.map((id, i) =>
        store.write(async writer => {
          await writer.put('items', id, { id }, {}, undefined, 1)
          await writer.changed(change(id, 1))
          await sleep(i % 4)
        }),
      )
      while ((await Promise.race([Promise.all(writing), sleep(3)])) === undefined) await follow()
      await Promise.all(writing)
      await follow()
      assert.deepEqual(seen.toSorted(), ids.toSorted())
    }),
  ],
  [
    'a sweep deletes what has expired and nothing else, and counts it',
    using(
      async store => {
        const at = 1_000_000
        await store.write(async writer => {
          await writer.remember('s', 'old', { value: '', expires: at }, 1)
          await writer.remember('s', 'new', { value: '', expires: at + 1 }, 1)
          await writer.putJob(jobRow('done', { state: 'completed', modified: at - 60_000 }))
          await writer.putJob(jobRow('fresh', { state: 'failed', modified: at - 59_999 }))
          await writer.putJob(jobRow('waiting', { modified: 0 }))
          await writer.changed({ ...change('old', 1), at: at - 1000 })
          await writer.changed({ ...change('new', 1), at: at - 999 })
          for (let i = 0; i < 2500; i++) await writer.remember('many', String(i), { value: '', expires: 1 }, 0)
        })
        await put(store, 'i-1')
        assert.equal(await store.sweep(at), 2503)
        assert.equal(await store.sweep(at), 0)
        await store.read(async reader => {
          assert.equal(await reader.recall('s', 'old'), undefined)
          assert.ok(await reader.recall('s', 'new'))
          assert.equal(await reader.job('done'), undefined)
          assert.ok(await reader.job('fresh'))
          assert.ok(await reader.job('waiting'))
          assert.deepEqual(
            (await reader.changes(0, 10)).map(each => each.id),
            ['new'],
          )
          assert.equal(await reader.swept(), Number((await reader.changes(0, 1))[0]?.sequence) - 1)
          assert.ok(await reader.get('items', 'i-1'))
        })
        const last = (await store.read(reader => reader.changes(0, 10))).at(-1)?.sequence
        await store.sweep(at * 10)
        await store.sweep(at * 10)
        assert.equal(await store.read(reader => reader.swept()), last, 'C6.1 a later reader is told how far it went')
        await store.write(writer => writer.changed(change('later', 1)))
        assert.ok(
          ((await store.read(reader => reader.changes(0, 10)))[0]?.sequence ?? 0) > 2,
          'a sequence is not used again',
        )
      },
      { changesKept: 1000 },
    ),
  ],
]

const retention: readonly Case[] = [
  [
    'the audit is read by time and removed by it, the oldest first; what stays is only added to',
    async place => {
      const store = await place.open(everything)
      const deed = { subject: 'ada', operation: 'x', resource: 'items', id: 'i-1', version: undefined, face: 'rest' }
      for (const at of [1, 2, 3]) await store.write(writer => writer.record({ ...deed, at, request: `r-${at}` }))
      const before = async (time: number) =>
        (await store.read(reader => reader.deeds(0, time, 10))).map(each => each.request)
      assert.deepEqual(await before(3), ['r-1', 'r-2'])
      const [first] = await store.read(reader => reader.deeds(0, 3, 1))
      assert.deepEqual(first, { ...deed, at: 1, request: 'r-1', sequence: first?.sequence })
      assert.deepEqual((await store.read(reader => reader.deeds(first?.sequence ?? 0, 9, 1)))[0]?.request, 'r-2')
      const [, second] = await store.read(reader => reader.deeds(0, 3, 2))
      const next = (after = 0) =>
        store.read(async reader => [(await reader.deeds(after, 2, 2)).length, await reader.lastDeed(after, 2)])
      assert.deepEqual(await next(), [1, second?.sequence], 'a read looks at so many deeds, not at all')
      assert.deepEqual(await next(second?.sequence), [0, (second?.sequence ?? 0) + 1])
      assert.deepEqual(await next((second?.sequence ?? 0) + 1), [0, undefined])
      const remove = (...each: readonly (number | undefined)[]) =>
        store.write(writer => writer.removeDeeds(each.map((sequence = 0) => [sequence, sequence])))
      assert.equal(await remove(first?.sequence), 1)
      assert.deepEqual(await before(9), ['r-2', 'r-3'], 'what was not read stays')
      assert.equal(await remove(first?.sequence, second?.sequence), 1)
      assert.deepEqual(await before(9), ['r-3'])
      if (place.direct) await assert.rejects(async () => place.direct?.(`delete from "_deed"`), /only added/)
      await store.close()
    },
  ],
  [
    'what is known of a removed identifier goes when its time is over, and its versions do not come back',
    async place => {
      const store = await place.open(everything, { formerKept: 60_000 })
      const now = Date.UTC(2026, 10, 22)
      const { version } = await put(store, 'i-1', {}, undefined, now)
      await store.write(writer => writer.remove('items', 'i-1', version, now))
      const { version: given } = await store.write(writer =>
        writer.putFile(
          'things',
          'x-1',
          'picture',
          { mediaType: 'image/png', octets: inMemoryFile(new Uint8Array(3)) },
          now,
        ),
      )
      assert.equal(await store.sweep(now + 60_000), 0)
      assert.ok(await get(store, 'items', 'i-1'))
      assert.equal(await store.sweep(now + 61_000), 1)
      assert.equal(await get(store, 'items', 'i-1'), undefined)
      assert.ok((await put(store, 'i-1', {}, undefined, now + 61_000)).version > version)
      const file = await store.read(reader => reader.file('things', 'x-1', 'picture'))
      assert.equal(file?.version, given, 'a file that is there stays')
      await store.close()
    },
  ],
]

const restarts: readonly Case[] = [
  [
    'everything stands after a restart',
    async place => {
      const first = await place.open(everything)
      const [value] = fc.sample(members(every), { numRuns: 1, seed: 2 })
      await first.write(async writer => {
        await writer.put('things', 'x-1', { ...value, id: 'x-1' }, {}, undefined, 3)
        await writer.put('items', 'i-1', { id: 'i-1', note: 'words here' }, {}, undefined, 3)
        const { version } = await writer.put('items', 'i-2', { id: 'i-2' }, {}, undefined, 3)
        await writer.remove('items', 'i-2', version, 4)
        await writer.remember('s', 'k', { value: 'v', expires: 9 }, 1)
        await writer.putJob(jobRow('j-1'))
        await writer.changed(change('i-1', 1))
      })
      const [before, former, job] = [
        await get(first, 'things', 'x-1'),
        await get(first, 'items', 'i-2'),
        await first.read(reader => reader.job('j-1')),
      ]
      await first.close()
      const store = await place.open(everything)
      assert.deepEqual(await get(store, 'things', 'x-1'), before)
      assert.deepEqual(idsOf(await list(store, 'items', { words: ['here'] })), ['i-1'])
      assert.ok(former && isFormer(former))
      assert.deepEqual(await get(store, 'items', 'i-2'), former)
      await store.read(async reader => {
        assert.deepEqual(await reader.recall('s', 'k'), { value: 'v', expires: 9 })
        assert.deepEqual(await reader.job('j-1'), job)
        assert.equal((await reader.changes(0, 9)).length, 1)
      })
      await store.close()
    },
  ],
  ...migrations,
  ...rollingChanges,
  ...crowdedFilters,
]

/**
 * All that a store must hold. `gaps`: titles (or their beginning) that this one doesn't, each with
 * its reason.
 */
export function storeCases(
  name: string,
  makePlace: () => Promise<Place>,
  gaps: Readonly<Record<string, string>> = {},
): void {
  const cases = [
    ...oneItem,
    ...formerItems,
    ...transactions,
    ...collections,
    ...pageEnds,
    ...search,
    ...records,
    ...files,
    ...retention,
    ...restarts,
  ]
  describe(name, () => {
    const places: Place[] = []
    after(async () => {
      for (const place of places) await place.remove()
    })
    for (const [title, run] of cases) {
      const gap = Object.entries(gaps).find(([beginning]) => title.startsWith(beginning))
      test(title, { skip: gap?.[1] ?? false }, async () => {
        const place = await makePlace()
        places.push(place)
        await run(place)
      })
    }
  })
}
