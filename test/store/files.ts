/** Files that are more than one piece: what a store keeps of them, for whom, and until when. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  collectOctets,
  inMemoryFile,
  pieceOctets,
  RemovedFileError,
  stageContent,
} from '../../src/service/file-content.ts'
import { Refused } from '../../src/service/refusal.ts'
import { type FileOctets, type Store, type StoredFile, Unavailable } from '../../src/service/store.ts'
import type { Case } from './battery.ts'
import { every, everything, members } from './every-type.ts'

const hour = 3_600_000
const size = 5 * pieceOctets + 1000
/** No two stretches of it are alike, nor are those of another seed. */
function octets(seed: number, length = size): Uint8Array {
  const made = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < made.length; i++) made[i] = Math.imul(i + 1, 2654435761) ^ seed
  return new Uint8Array(made.buffer, 0, length)
}

async function* arriving(all: Uint8Array, step = 60_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < all.length; at += step) yield all.subarray(at, at + step)
}

let names = 0
const keepIn = (store: Store, content: AsyncIterable<Uint8Array>, limit = size, now = 0) =>
  stageContent({ store, clock: () => now, id: prefix => `${prefix}-${++names}` }, content, limit)

async function kept(store: Store, all: Uint8Array, now = 0): Promise<FileOctets> {
  return (await keepIn(store, arriving(all), size, now)) ?? assert.fail('more than the limit')
}
const give = (store: Store, content: FileOctets, now = 0) =>
  store.write(writer => writer.putFile('things', 'x-1', 'picture', { mediaType: 'image/png', octets: content }, now))
async function look(store: Store): Promise<StoredFile> {
  const found = await store.read(reader => reader.file('things', 'x-1', 'picture'))
  return found ?? assert.fail('the file is not there')
}
const same = async (store: Store, expected: Uint8Array) =>
  assert.ok(Buffer.from(expected).equals(await collectOctets((await look(store)).octets)), 'other octets')

const make = (store: Store) =>
  store.write(writer =>
    writer.put('things', 'x-1', { ...fc.sample(members(every), 1)[0], id: 'x-1' }, {}, undefined, 1),
  )

const using =
  (run: (store: Store) => Promise<void>) =>
  async ({ open }: Parameters<Case[1]>[0]): Promise<void> => {
    const store = await open(everything)
    try {
      await run(store)
    } finally {
      await store.close()
    }
  }

/** Rows of a content of this size: its pieces and its name. */
const rows = Math.ceil(size / pieceOctets) + 1

export const files: readonly Case[] = [
  [
    '(4) a file of many pieces comes back as it went in, and any range of it across their borders',
    using(async store => {
      const all = octets(1)
      const { version } = await give(store, await kept(store, all))
      const { octets: found, ...file } = await look(store)
      assert.deepEqual(file, { mediaType: 'image/png', version, modified: 0 })
      assert.deepEqual([found.length, found.inMemory === undefined], [size, true])
      await same(store, all)
      const near = fc
        .tuple(fc.nat(5), fc.integer({ min: -3, max: 3 }))
        .map(([piece, by]) => Math.min(size, Math.max(0, piece * pieceOctets + by)))
      const place = fc.oneof(fc.nat(size), near)
      await fc.assert(
        fc.asyncProperty(place, place, async (a, b) => {
          const [from, to] = [Math.min(a, b), Math.max(a, b)]
          const parts: Uint8Array[] = []
          for await (const part of found.read(from, to)) {
            assert.ok(part.length <= pieceOctets)
            parts.push(part)
          }
          assert.ok(Buffer.concat(parts).equals(all.subarray(from, to)), `${from} to ${to}`)
        }),
        { numRuns: 60 },
      )
    }),
  ],
  [
    'what fits one piece is one value, what has an octet more is pieces',
    using(async store => {
      const most = octets(1, pieceOctets)
      assert.deepEqual((await kept(store, most)).inMemory, most)
      assert.equal(await store.sweep(2 * hour), 0)
      const more = await kept(store, octets(1, pieceOctets + 1))
      assert.deepEqual([more.inMemory === undefined, more.length], [true, pieceOctets + 1])
      assert.equal(await store.sweep(2 * hour), 3)
    }),
  ],
  [
    'pieces without a file go after an hour, unless a call makes them one; those of a file stay',
    using(async store => {
      await give(store, await kept(store, octets(1)))
      const late = await kept(store, octets(2))
      assert.equal(await store.sweep(hour - 1), 0)
      await assert.rejects(give(store, late, hour), Unavailable, 'too late, swept or not')
      assert.equal(await store.sweep(hour), rows)
      await assert.rejects(give(store, late, 1), Unavailable)
      assert.equal(await store.sweep(1e15), 0)
      await same(store, octets(1))
    }),
  ],
  [
    'whoever reads while the file is replaced gets what they began with, or is cut short: never a mixture',
    using(async store => {
      const [first, second] = [octets(1), octets(2)]
      const { version } = await give(store, await kept(store, first))
      const reading = (await look(store)).octets.read(0, size)[Symbol.asyncIterator]()
      const parts = [(await reading.next()).value as Uint8Array]
      assert.ok((await give(store, await kept(store, second, 1000), 1000)).version > version)
      assert.equal(await store.sweep(1000 + 599_999), 0)
      parts.push((await reading.next()).value as Uint8Array)
      const read = Buffer.concat(parts)
      assert.ok(read.equals(first.subarray(0, read.length)))
      const slow = (await look(store)).octets
      assert.equal(await store.sweep(1000 + 600_000), rows, 'ten minutes are enough')
      await assert.rejects(reading.next(), RemovedFileError)
      await same(store, second)
      await give(store, inMemoryFile(new Uint8Array(3)), 2000)
      assert.ok(Buffer.from(second).equals(await collectOctets(slow)))
      assert.equal(await store.sweep(2000 + 600_000), rows)
      await same(store, new Uint8Array(3))
    }),
  ],
  [
    'the pieces of an item’s file go after it, and another of its name has none of them',
    using(async store => {
      const { version } = await make(store)
      const { version: before } = await give(store, await kept(store, octets(1)))
      await store.write(writer => writer.remove('things', 'x-1', version, 5000))
      assert.equal(await store.read(reader => reader.file('things', 'x-1', 'picture')), undefined)
      assert.equal(await store.sweep(5000 + 599_999), 0)
      assert.equal(await store.sweep(5000 + 600_000), rows)
      await make(store)
      assert.equal(await store.read(reader => reader.file('things', 'x-1', 'picture')), undefined)
      assert.ok((await give(store, await kept(store, octets(2)))).version > before)
    }),
  ],
  [
    '(2) a change that is undone leaves the old file as it was, and the pieces of the new one without a file',
    using(async store => {
      const { version } = await give(store, await kept(store, octets(1)))
      const other = await kept(store, octets(2))
      const undone = store.write(async writer => {
        await writer.putFile('things', 'x-1', 'picture', { mediaType: 'image/jpeg', octets: other }, 1)
        throw new Refused({ kind: 'forbidden' })
      })
      await assert.rejects(undone, Refused)
      assert.equal((await look(store)).version, version)
      assert.equal(await store.sweep(hour - 1), 0, 'the old ones were not retired')
      await store.write(writer => writer.discard(other.name ?? ''))
      assert.equal(await store.sweep(1), rows)
      await same(store, octets(1))
    }),
  ],
  [
    'what is a file cannot be discarded: whoever lost the answer to its commit may try',
    using(async store => {
      const content = await kept(store, octets(1))
      await give(store, content)
      await store.write(writer => writer.discard(content.name ?? ''))
      assert.equal(await store.sweep(1e15), 0)
      await same(store, octets(1))
    }),
  ],
  [
    'content over the limit, or cut short, leaves nothing that the next sweep does not take',
    using(async store => {
      async function* broken() {
        yield* arriving(octets(1).subarray(0, 5 * pieceOctets))
        throw new Error('cut')
      }
      await assert.rejects(keepIn(store, broken()), /cut/)
      assert.equal(await store.sweep(1), 5)
      let taken = 0
      async function* endless() {
        for (;;) yield new Uint8Array(50_000).fill(taken++)
      }
      assert.equal(await keepIn(store, endless()), undefined)
      assert.equal(taken, Math.floor(size / 50_000) + 1, 'no more is taken in than shows that it is too much')
      assert.equal(await store.sweep(1), 5)
    }),
  ],
  [
    'pieces of a large content are deleted in several short transactions',
    using(async store => {
      const all = octets(3, 70 * pieceOctets)
      const content = (await keepIn(store, arriving(all), all.length)) ?? assert.fail()
      assert.equal(await store.sweep(hour), 71)
      assert.equal(content.digest(), inMemoryFile(all).digest())
    }),
  ],
  [
    'files that an older program has kept as one value stand, in pieces, after the upgrade',
    async place => {
      const first = await place.open(everything)
      // A content that is given as one value is kept as one.
      const { version } = await give(first, inMemoryFile(octets(1)))
      await first.write(writer =>
        writer.putFile('things', 'x-2', 'picture', { mediaType: 'image/png', octets: inMemoryFile(octets(2, 9)) }, 7),
      )
      await first.close()
      await place.direct?.(`alter table "_file" drop column "content"; alter table "_file" drop column "length";
        alter table "_file" drop column "before"; drop table "_piece"; drop table "_content";
        update "_shape" set "is" = '1' where "of" = 'store' and "name" = 'format'`)
      for (let start = 0; start < 2; start++) {
        const store = await place.open(everything)
        const { octets: found, ...file } = await look(store)
        assert.deepEqual(file, { mediaType: 'image/png', version, modified: 0 })
        assert.deepEqual([found.length, found.inMemory === undefined], [size, true])
        await same(store, octets(1))
        const small = await store.read(reader => reader.file('things', 'x-2', 'picture'))
        assert.deepEqual(small?.octets.inMemory, octets(2, 9))
        await store.close()
      }
      const store = await place.open(everything)
      assert.ok((await give(store, await kept(store, octets(4)), 0)).version > version)
      assert.equal(await store.sweep(600_000), rows, 'its pieces go as those of any other')
      await same(store, octets(4))
      await store.close()
      await place.direct?.(`update "_shape" set "is" = '3' where "of" = 'store' and "name" = 'format'`)
      await assert.rejects(async () => await place.open(everything), /format 3/)
    },
  ],
]
