/** Two programs on one database, an older and a newer one, as they run beside each other. */
import assert from 'node:assert/strict'
import type { AnyField, Fields } from '../../src/contract/field.ts'
import { t } from '../../src/contract/field.ts'
import type { Values } from '../../src/contract/implement.ts'
import { type Rules, resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { InstanceLease } from '../../src/host/operations/instance-lease.ts'
import { Refused } from '../../src/service/refusal.ts'
import { isFormer, type Store, Unavailable } from '../../src/service/store.ts'
import type { MigrationWish } from '../../src/store/migration.ts'
import { type Case, idsOf, list, type Place } from './battery.ts'

const notes = (fields: Fields, rules: Partial<Rules> = {}, more: string[] = []): Service =>
  service('notes', {
    namespace: 'urn:notes',
    resources: ['notes', ...more].map(name =>
      resource(name, { fields: { id: t.id('n'), ...fields } }).rules({ allow: {}, ...rules } as never),
    ),
  }) as unknown as Service // a service of these resources is read as one of any
/** A library of what is called so, and of copies that refer to it. */
const libraryOf = (name: string, was?: string) => {
  const allow = {}
  const rules = { allow, filter: ['text'], search: ['text'] }
  const books = resource(name, { fields: { id: t.id('n'), text: t.string() }, ...(was !== undefined && { was }) })
  const copies = resource('copies', { fields: { id: t.id('c'), of: t.ref(name) } })
  return service('library', {
    namespace: 'urn:library',
    resources: [books.rules(rules as never), copies.rules({ allow, search: ['of.text'] } as never)],
  }) as unknown as Service
}
const papers = (fields: Fields) => resource('papers', { fields: { id: t.id('n'), ...fields } }).rules({ allow: {} })

const older: Fields = { text: t.string({ max: 50 }), at: t.dateTime().optional().nullable() }
const stands: Values = { id: 'n-1', text: 'words', at: '2026-01-31T10:00:00Z' }

async function readItem(store: Store): Promise<Values> {
  const found = await store.read(reader => reader.get('notes', 'n-1'))
  assert.ok(found && !isFormer(found))
  return found.value
}
async function replaceItem(store: Store, value: Values): Promise<void> {
  await store.write(async writer => {
    const found = await writer.get('notes', 'n-1')
    assert.ok(found && !isFormer(found))
    assert.ok(await writer.put('notes', 'n-1', value, found.kept, found, 2))
  })
}
async function fill(place: Place, contract: Service, value: Values): Promise<void> {
  const store = await place.open(contract)
  await store.write(writer => writer.put('notes', 'n-1', value, {}, undefined, 1))
  await store.close()
}
async function migrate(place: Place, contract: Service, wish: Partial<MigrationWish> = {}): Promise<string[]> {
  const told: string[] = []
  const tell = (says: string, text: string) => void told.push(`${says}: ${text}`)
  await (await place.open(contract, { migration: { drop: [], now: 0, isPlan: false, tell, ...wish } })).close()
  return told
}
const refused = (place: Place, contract: Service, says: RegExp): Promise<void> =>
  assert.rejects(async () => await place.open(contract), says)

const renamed: Fields = { title: t.string({ max: 50 }).was('text'), at: t.dateTime().optional().nullable() }

export const rollingChanges: readonly Case[] = [
  [
    'a rolling change: an optional field and a resource are added, and the older program keeps what it cannot see',
    async place => {
      const newer = notes({ ...older, channel: t.string({ max: 20 }).optional() }, { filter: ['channel'] }, ['others'])
      await fill(place, notes(older), stands)
      const before = await place.open(notes(older))
      const beside = await place.open(newer)
      await replaceItem(beside, { ...stands, channel: 'web' })
      await replaceItem(before, { ...stands, text: 'changed' })
      const after = await place.open(notes(older))
      assert.deepEqual(await readItem(after), { ...stands, text: 'changed' })
      await replaceItem(after, { ...stands, text: 'again' })
      const next = await place.open(newer)
      for (const store of [beside, next])
        assert.deepEqual(await readItem(store), { ...stands, text: 'again', channel: 'web' })
      for (const store of [before, beside, after, next]) await store.close()
      assert.deepEqual(await migrate(place, newer, { isPlan: true }), [])
    },
  ],
  [
    'a rolling change: a required field with a default is added, the older program goes on, and back',
    async place => {
      const newer = notes({ ...older, channel: t.string().default('post'), sum: t.date().default('2026-01-31') })
      const known = { channel: 'post', sum: '2026-01-31' }
      await fill(place, notes(older), stands)
      const before = await place.open(notes(older))
      const beside = await place.open(newer)
      assert.deepEqual(await readItem(beside), { ...stands, ...known })
      await replaceItem(before, { ...stands, text: 'by the older one' })
      await before.write(writer => writer.put('notes', 'n-2', { ...stands, id: 'n-2' }, {}, undefined, 3))
      assert.deepEqual(await readItem(beside), { ...stands, ...known, text: 'by the older one' })
      const found = async (is: string) => {
        const filters = [{ field: 'channel', is: 'eq', value: is }]
        return idsOf(await list(beside, 'notes', { filters } as never))
      }
      assert.deepEqual((await found('post')).sort(), ['n-1', 'n-2'], 'what it writes now has the default, too')
      const again = await place.open(notes(older))
      assert.deepEqual(await readItem(again), { ...stands, text: 'by the older one' })
      const other = await place.open(notes({ ...older, channel: t.string().default('web'), sum: t.date() }))
      assert.deepEqual((await readItem(other))['channel'], 'post', 'another default is for what comes')
      for (const store of [before, beside, again, other]) await store.close()
    },
  ],
  [
    'a rolling change: an optional field has a default, and what the older program leaves empty is filled',
    async place => {
      const of = (channel: AnyField) => notes({ ...older, channel }, { filter: ['channel'] })
      const [before, after] = [of(t.string().optional()), of(t.string().default('post'))]
      await fill(place, before, stands)
      const [one, other] = [await place.open(before), await place.open(after)]
      const { channel } = await readItem(other)
      assert.equal(channel, 'post')
      await replaceItem(one, stands)
      assert.equal((await readItem(other))['channel'], 'post', 'read as the default until then')
      const found = async () => {
        await new Promise(resolve => setImmediate(resolve)) // reads of one turn share a snapshot
        const filters = [{ field: 'channel', is: 'eq', value: 'post' }]
        return idsOf(await list(other, 'notes', { filters } as never))
      }
      assert.deepEqual(await migrate(place, after, { isPlan: true }).then(told => told.length), 1)
      assert.match(
        (await migrate(place, after))[0] ?? '',
        /^fill notes\.channel with its default where it is empty: update/,
      )
      assert.deepEqual(await found(), ['n-1'])
      assert.deepEqual(await migrate(place, after), [])
      for (const store of [one, other]) await store.close()
    },
  ],
  [
    'a rolling change: a unique key over items that have the same is refused with their names, then made, and kept until it is asked away',
    async place => {
      const fields = { ...older, day: t.date().optional() }
      const [free, kept] = [notes(fields), notes(fields, { unique: [['text'], ['text', 'day']] })]
      const first = await place.open(free)
      const value = { text: 'same', day: '2026-01-31' }
      await first.write(async writer => {
        for (const id of ['n-1', 'n-2', 'n-3']) await writer.put('notes', id, { ...value, id }, {}, undefined, 1)
        for (let i = 0; i < 14; i++) {
          const id = `r-${i}`
          await writer.put('notes', id, { text: `t${i >> 1}`, id }, {}, undefined, 1)
        }
      })
      await refused(
        place,
        kept,
        /notes: text must be unique, and these items have the same: n-1, n-3 and 1 more; r-0, r-1; .*; the first 5 of more/,
      )
      await refused(
        place,
        kept,
        /notes: text, day must be unique, .*: n-1, n-3 and 1 more\n[\s\S]*all of them: select "text", "day#order", count/,
      )
      await first.write(async writer => {
        for (const id of ['n-2', 'n-3', ...Array.from({ length: 7 }, (_, i) => `r-${2 * i}`)]) {
          const found = await writer.get('notes', id)
          assert.ok(found && !isFormer(found))
          await writer.remove('notes', id, found.version, 2)
        }
      })
      const second = await place.open(kept)
      const add = (store: Store, id: string) =>
        store.write(writer => writer.put('notes', id, { ...value, id }, {}, undefined, 1))
      for (const store of [first, second, await place.open(free)])
        await assert.rejects(
          add(store, 'n-4'),
          (thrown: unknown) => thrown instanceof Refused && thrown.refusal.kind === 'conflict',
        )
      assert.match((await migrate(place, free)).join(), /drop the index notes#=\(text\)/)
      await add(first, 'n-4')
      for (const store of [first, second]) await store.close()
    },
  ],
  [
    'a unique key whose index somebody has removed is made again by a start, or what stands in its way is named',
    async place => {
      const contract = notes(older, { unique: [['text']] })
      const lose = async (ids: readonly string[]): Promise<void> => {
        const store = await place.open(contract)
        await place.direct?.('drop index "notes#=(text)"')
        await store.write(async writer => {
          for (const id of ids) await writer.put('notes', id, { text: 'same', id }, {}, undefined, 1)
        })
        await store.close()
      }
      await lose(['n-1'])
      const store = await place.open(contract)
      await assert.rejects(
        store.write(writer => writer.put('notes', 'n-2', { text: 'same', id: 'n-2' }, {}, undefined, 1)),
        (thrown: unknown) => thrown instanceof Refused && thrown.refusal.kind === 'conflict',
      )
      await store.close()
      await lose(['n-3'])
      await refused(place, contract, /notes: text must be unique, and these items have the same: n-1, n-3/)
    },
  ],
  [
    'a rolling change: a unique key is kept by two programs at once, under the names of either',
    async place => {
      const one = await place.open(notes(older, { unique: [['text']] }))
      const other = await place.open(notes(renamed, { unique: [['title']] }))
      const add = (store: Store, field: string, id: string) =>
        store.write(async writer => {
          const taken = await writer.has('notes', [
            { field, is: 'eq', value: 'a' },
            { field: 'id', is: 'ne', value: id },
          ])
          if (!taken) await writer.put('notes', id, { id, [field]: 'a' }, {}, undefined, 1)
          return taken
        })
      for (let round = 0; round < 5; round++) {
        const all = await Promise.all(
          Array.from({ length: 6 }, (_, i) =>
            i % 2 === 0 ? add(one, 'text', `n-${round}-${i}`) : add(other, 'title', `n-${round}-${i}`),
          ),
        )
        assert.deepEqual(all.filter(isTaken => !isTaken).length, 1)
        await one.write(async writer => {
          const { items } = await writer.list('notes', {
            filters: [],
            within: 'all',
            sort: [],
            size: 10,
            counted: false,
          })
          for (const { id, version } of items) await writer.remove('notes', id, version, 2)
        })
      }
      for (const store of [one, other]) await store.close()
    },
  ],
  [
    'a rolling change: a field is renamed, found, searched and sorted beside the older program, and back',
    async place => {
      const rules = (field: string) => ({ filter: [field, 'at'], sort: [field], search: [field] })
      const [before, after] = [notes(older, rules('text')), notes(renamed, rules('title'))]
      await fill(place, before, stands)
      assert.deepEqual(await migrate(place, after, { isPlan: true }), [], 'nothing changes in the database')
      const [one, other] = [await place.open(before), await place.open(after)]
      const { text, ...others } = stands
      assert.deepEqual(await readItem(other), { ...others, title: text })
      await replaceItem(other, { ...others, title: 'by the newer one' })
      assert.deepEqual(await readItem(one), { ...others, text: 'by the newer one' })
      await replaceItem(one, { ...others, text: 'by the older one' })
      assert.deepEqual(await readItem(other), { ...others, title: 'by the older one' })
      const found = async (store: Store, field: string) => {
        const query = { filters: [{ field, is: 'eq', value: 'by the older one' }], sort: [{ field, descending: true }] }
        return idsOf(await list(store, 'notes', { ...query, words: ['older'] } as never))
      }
      assert.deepEqual([await found(one, 'text'), await found(other, 'title')], [['n-1'], ['n-1']])
      const again = await place.open(before)
      assert.deepEqual(await readItem(again), { ...others, text: 'by the older one' })
      for (const store of [one, other, again]) await store.close()
    },
  ],
  [
    'a rolling change: a rename that is not declared is asked about, of a field and of a resource',
    async place => {
      await fill(place, notes(older), stands)
      await refused(place, notes({ title: t.string(), at: t.dateTime().optional().nullable() }), /was\('text'\)/)
      await refused(
        place,
        service('notes', { namespace: 'urn:notes', resources: [papers(older)] }) as unknown as Service,
        /notes is gone and papers with the same fields is new: was it renamed\?[\s\S]*declare papers with was: 'notes'/,
      )
    },
  ],
  [
    'a rolling change: a new name that the database has already is not hidden behind the former one',
    async place => {
      const both = { ...older, title: t.string({ max: 50 }).optional() }
      await fill(place, notes(both), { ...stands, title: 'seen' })
      await refused(
        place,
        notes(renamed),
        /notes\.title is in the database by that name.*was text[\s\S]*--drop notes\.title/,
      )
      await migrate(place, notes(renamed), { drop: ['notes.title'] })
      const store = await place.open(notes(renamed))
      assert.equal((await readItem(store))['title'], 'words')
      await store.close()
    },
  ],
  [
    'a rolling change: a field that has its name in the database already is not asked about as renamed to itself',
    async place => {
      const title = t.string({ max: 50 }).optional()
      await fill(place, notes({ title }), { id: 'n-1', title: 'seen' })
      await refused(
        place,
        notes({ title: title.was('text') }),
        /^(?![\s\S]*was it renamed)[\s\S]*notes\.title is in the database by that name.*was text/,
      )
    },
  ],
  [
    'a rolling change: a search path is left and comes back, beside a program that has it',
    async place => {
      const [searched, unsearched] = [notes(older, { search: ['text'] }), notes(older)]
      await fill(place, searched, stands)
      const [one, other] = [await place.open(searched), await place.open(unsearched)]
      await replaceItem(other, { ...stands, text: 'changed' })
      await replaceItem(one, { ...stands, text: 'kept up' })
      const found = async (store: Store, word: string) => idsOf(await list(store, 'notes', { words: [word] }))
      assert.deepEqual(await found(one, 'kept'), ['n-1'])
      await replaceItem(other, { ...stands, text: 'unseen' })
      const again = await place.open(searched)
      assert.deepEqual([await found(again, 'unseen'), await found(again, 'kept')], [['n-1'], []])
      for (const store of [one, other, again]) await store.close()
      assert.match((await migrate(place, unsearched)).join('\n'), /drop the words notes\.text#words/)
    },
  ],
  [
    'a rolling change: an optional field of several columns is renamed, and a null stays a null',
    async place => {
      await fill(place, notes(older), { ...stands, at: null })
      const moved: Fields = { text: t.string({ max: 50 }), when: t.dateTime().optional().nullable().was('at') }
      const store = await place.open(notes(moved, { filter: ['when'] }))
      assert.deepEqual(await readItem(store), { id: 'n-1', text: 'words', when: null })
      await store.close()
    },
  ],
  [
    'a rolling change: an optional field that is removed keeps its values until they are dropped by name',
    async place => {
      await fill(place, notes(older, { filter: ['at', 'text'] }, ['others']), stands)
      const less = notes({ text: t.string({ max: 50 }) })
      const store = await place.open(less)
      await replaceItem(store, { id: 'n-1', text: 'less' })
      await store.close()
      const again = await place.open(notes(older, { filter: ['at', 'text'] }, ['others']))
      assert.deepEqual(await readItem(again), { ...stands, text: 'less' })
      await again.close()
      await refused(place, notes({ text: t.string({ max: 50 }), when: older['at'] as never }), /was it renamed\?/)
      for (const name of ['notes.text', 'notes'])
        await assert.rejects(migrate(place, less, { drop: [name] }), /is declared, and cannot be dropped/)
      for (const name of ['notes.none', 'notes.at.x', 'none', '_deed', 'notes."'])
        await assert.rejects(migrate(place, less, { drop: [name] }), /is not in the database/)
      const told = await migrate(place, less, { drop: ['notes.at', 'others'] })
      assert.match(told.join('\n'), /drop column "at"[\s\S]*drop table "others"/)
      const fresh = await place.open(notes(older, { filter: ['at'] }, ['others']))
      assert.deepEqual(await readItem(fresh), { id: 'n-1', text: 'less' })
      await fresh.close()
    },
  ],
  [
    'a rolling change: what an instance that runs declares is not dropped until it ends',
    async place => {
      const more = notes({ ...older, at: t.dateTime().optional() }, {}, ['others'])
      const less = notes({ text: older['text'] as AnyField })
      const running = await place.open(more)
      let now = 1_000_000
      const lease = new InstanceLease(running, more, { clock: () => now, failed: assert.ifError }, 'i-1')
      await lease.begin()
      for (const name of ['notes.at', 'others'])
        await assert.rejects(
          migrate(place, less, { drop: [name], now }),
          new RegExp(`${name} is declared by a running instance \\(.+, process ${process.pid}\\)[\\s\\S]*in 180 s`),
        )
      assert.deepEqual(await migrate(place, notes({ ...older, at: t.dateTime().optional() }), { drop: [] }), [])
      await lease.end()
      await migrate(place, less, { drop: ['others'], now })
      // An instance that was killed ends nothing: its record expires by itself.
      await lease.begin()
      now += 179_999
      await assert.rejects(migrate(place, less, { drop: ['notes.at'], now }), /expires in 1 s/)
      now += 1
      await running.close()
      await migrate(place, less, { drop: ['notes.at'], now })
      await assert.rejects(lease.end()) // its store is closed: this ends the timer
    },
  ],
  [
    'a rolling change: an instance whose field or table is dropped is unavailable, says what it lacks, and comes back',
    async place => {
      const [before, after] = [notes(older, {}, ['others']), notes({ text: t.string({ max: 50 }) })]
      await fill(place, before, stands)
      const store = await place.open(before)
      assert.deepEqual(await store.findDropped?.(), [])
      await migrate(place, after, { drop: ['notes.at', 'others'] })
      assert.deepEqual((await store.findDropped?.())?.toSorted(), ['notes.at', 'others'])
      const asks = ['notes', 'others'].flatMap(name => [
        async () => await store.read(reader => reader.get(name, 'n-1')),
        async () => await list(store, name),
        () => store.write(writer => writer.put(name, 'n-2', { ...stands, id: 'n-2' }, {}, undefined, 1)),
      ])
      for (const ask of asks) await assert.rejects(ask, Unavailable)
      assert.equal(await store.ready(), true, 'the database itself is there')
      await (await place.open(before)).close()
      assert.deepEqual(await store.findDropped?.(), [])
      assert.deepEqual(await readItem(store), { id: 'n-1', text: 'words' })
      await store.close()
    },
  ],
  [
    'a rolling change: a field of another kind is refused at start and by a migration, and nothing is touched',
    async place => {
      await fill(place, notes(older), stands)
      const other = notes({ ...older, text: t.int() })
      await refused(place, other, /was of kind string and is now of kind int/)
      await assert.rejects(migrate(place, other), /was of kind string/)
      const store = await place.open(notes(older))
      assert.deepEqual(await readItem(store), stands)
      await store.close()
    },
  ],
  [
    'a rolling change: a resource is renamed with all that is kept of it, beside the older program, and back',
    async place => {
      const [before, after] = [libraryOf('notes'), libraryOf('papers', 'notes')]
      const one = await place.open(before)
      const octets = { length: 2, inMemory: new Uint8Array([1, 2]), name: undefined }
      const deed = { at: 5, subject: 's', operation: 'o', version: 1, face: 'rest', request: 'r' }
      await one.write(async writer => {
        for (const id of ['n-1', 'n-2']) await writer.put('notes', id, { id, text: `word ${id}` }, {}, undefined, 1)
        await writer.put('copies', 'c-1', { id: 'c-1', of: 'n-1' }, {}, undefined, 1)
        await writer.putFile('notes', 'n-1', 'scan', { mediaType: 'image/png', octets }, 1)
        await writer.record({ ...deed, resource: 'notes', id: 'n-1' })
        await writer.changed({ at: 5, resource: 'notes', id: 'n-1', version: 1, what: 'created', operation: 'o' })
      })
      assert.deepEqual(await migrate(place, after, { isPlan: true }), [], 'nothing changes in the database')
      const other = await place.open(after)
      const look = async (store: Store, name: string) => ({
        item: (await store.read(reader => reader.get(name, 'n-1')))?.version,
        known: [...(await store.read(reader => reader.getAll(name, ['n-1', 'n-9']))).keys()],
        found: idsOf(
          await list(store, name, { words: ['word'], filters: [{ field: 'text', is: 'eq', value: 'word n-1' }] }),
        ),
        copies: idsOf(await list(store, 'copies', { words: ['n', '1'] })),
        has: await store.read(reader => reader.has(name, [{ field: 'text', is: 'eq', value: 'word n-2' }])),
        file: (await store.read(reader => reader.file(name, 'n-1', 'scan')))?.mediaType,
        told: await store.read(async reader => (await reader.changes(0, 9)).map(each => each.resource)),
        audit: await store.read(async reader => (await reader.deeds(0, 9, 9)).map(each => each.resource)),
      })
      const seen = async () => [await look(one, 'notes'), await look(other, 'papers')] as const
      const [old, now] = await seen()
      assert.deepEqual(now, { ...old, told: ['papers'], audit: ['papers'] })
      assert.deepEqual(
        [old.known, old.found, old.copies, old.has, old.file],
        [['n-1'], ['n-1'], ['c-1'], true, 'image/png'],
      )
      const removed = await other.write(async writer => {
        const item = await writer.getForChange('papers', 'n-2')
        assert.ok(item)
        await writer.move('papers', 'n-2', 'n-1', item.version, 2)
        await writer.put('papers', 'n-3', { id: 'n-3', text: 'new' }, {}, undefined, 2)
        await writer.record({ ...deed, resource: 'papers', id: 'n-3' })
        await writer.changed({ at: 6, resource: 'papers', id: 'n-3', version: 1, what: 'created', operation: 'o' })
        await writer.putFile('papers', 'n-3', 'scan', { mediaType: 'image/gif', octets }, 2)
        return writer.get('papers', 'n-2')
      })
      assert.ok(removed && isFormer(removed) && removed.to === 'n-1')
      assert.deepEqual(await one.read(reader => reader.get('notes', 'n-2')), removed)
      assert.equal((await one.read(reader => reader.file('notes', 'n-3', 'scan')))?.mediaType, 'image/gif')
      assert.deepEqual((await look(one, 'notes')).told, ['notes', 'notes'])
      assert.deepEqual((await look(one, 'notes')).audit, ['notes', 'notes'])
      const back = await place.open(before)
      assert.deepEqual(await look(back, 'notes'), await look(one, 'notes'))
      await other.write(async writer => {
        const item = await writer.get('papers', 'n-3')
        assert.ok(item)
        await writer.remove('papers', 'n-3', item.version, 3)
      })
      assert.ok(isFormer((await back.read(reader => reader.get('notes', 'n-3'))) ?? assert.fail('it was there')))
      const running = new InstanceLease(back, before, { clock: () => 1_000, failed: assert.ifError }, 'i-1')
      await running.begin()
      await assert.rejects(
        migrate(place, notes(older, {}, []), { drop: ['copies'], now: 1_000 }),
        /copies is declared by a running instance/,
      )
      await running.end()
      for (const store of [one, other, back]) await store.close()
    },
  ],
  [
    'a rolling change: what an instance needs of a renamed resource goes by the name of the database',
    async place => {
      const after = libraryOf('papers', 'notes')
      const store = await place.open(after)
      const lease = new InstanceLease(store, after, { clock: () => 1_000, failed: assert.ifError }, 'i-1')
      await lease.begin()
      const less = service('library', { namespace: 'urn:library', resources: [] }) as unknown as Service
      await assert.rejects(
        migrate(place, less, { drop: ['notes'], now: 1_000 }),
        /notes is declared by a running instance/,
      )
      await lease.end()
      await store.close()
    },
  ],
  [
    'a rolling change: a former name of a resource that cannot be followed is refused at start',
    async place => {
      const named = (...names: readonly (readonly [name: string, was?: string])[]) =>
        service('notes', {
          namespace: 'urn:notes',
          resources: names.map(([name, was]) =>
            resource(name, { fields: { id: t.id('n') }, ...(was !== undefined && { was }) }).rules({ allow: {} }),
          ),
        }) as unknown as Service
      await refused(place, named(['papers', 'papers']), /resource papers: was: 'papers' is its current name/)
      await refused(place, named(['papers', 'notes'], ['notes']), /was: 'notes' is the name of notes in the database/)
      await refused(
        place,
        named(['papers', 'notes'], ['sheets', 'notes']),
        /the resource papers: was: 'notes' is the name of sheets in the database: remove it from one/,
      )
      await (await place.open(named(['notes'], ['papers']))).close()
      await refused(
        place,
        named(['papers', 'notes']),
        /papers is in the database by that name, and the contract says that it was notes[\s\S]*--drop papers/,
      )
      await migrate(place, named(['papers', 'notes']), { drop: ['papers'] })
      await (await place.open(named(['papers', 'notes']))).close()
      await (await place.open(named(['papers', 'notes'], ['notes', 'papers']))).close()
    },
  ],
  [
    'a rolling change: a former name that cannot be followed is refused at start',
    async place => {
      const text = t.string().was('note')
      await refused(place, notes({ text, other: text }), /notes\.text: \.was\('note'\) is the name of notes\.other/)
      await refused(place, notes({ text, note: t.int() }), /notes\.text: \.was\('note'\) is the name of notes\.note/)
      await refused(
        place,
        notes({ note: text }),
        /notes\.note: \.was\('note'\) is its current name: give its former name, or remove it/,
      )
      await refused(place, notes({ lines: t.list(t.object({ text })) }), /notes\.lines\.text: \.was\('note'\)/)
    },
  ],
]
