/** The octets of files: which are one value, which become pieces, and what happens to pieces. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  asStored,
  collectOctets,
  discardStaged,
  inMemoryFile,
  pieceOctets,
  type ReceivedFile,
  RemovedFileError,
  splitIntoPieces,
  stageContent,
} from '../../src/service/file-content.ts'
import type { Store } from '../../src/service/store.ts'

/** No two stretches of it are alike. */
function octetsOf(length: number): Uint8Array {
  const made = new Uint32Array(Math.ceil(length / 4) + 1)
  for (let i = 0; i < made.length; i++) made[i] = Math.imul(i + 1, 2654435761)
  return new Uint8Array(made.buffer, 0, length)
}
const digestOf = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex')
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.from(a).equals(Buffer.from(b))

/** A store that keeps staged pieces, and records its calls. */
function startStore({ fails = false } = {}) {
  const asked: string[] = []
  const pieces = new Map<number, Uint8Array>()
  const writer = {
    stage: (name: string, from: number, parts: readonly Uint8Array[], now: number) => {
      asked.push(`stage ${name} ${from}+${parts.length} at ${now}`)
      for (const [i, part] of parts.entries()) pieces.set(from + i, part.slice())
    },
    discard: (name: string) => {
      asked.push(`discard ${name}`)
      if (fails) throw new Error('the store is gone')
    },
  }
  const store = { write: async (work: (writer: unknown) => unknown) => work(writer) } as unknown as Store
  const whole = () => Buffer.concat([...pieces].sort(([a], [b]) => a - b).map(([, part]) => part))
  return { store, asked, pieces, whole }
}

async function* arriving(octets: Uint8Array, step: number, thrown?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += step) yield octets.subarray(at, at + step)
  if (thrown) throw thrown
}
const stage = (
  kept: ReturnType<typeof startStore>,
  octets: Uint8Array,
  { step = 60_000, limit = 1e9, thrown = undefined as Error | undefined } = {},
): Promise<ReceivedFile | undefined> =>
  stageContent(
    { store: kept.store, clock: () => 7, id: prefix => `${prefix}-1` },
    arriving(octets, step, thrown),
    limit,
  )

describe('a content', () => {
  for (const length of [0, 1, pieceOctets - 1, pieceOctets])
    test(`of ${length} octets is one value, and the store is not called`, async () => {
      const kept = startStore()
      const octets = octetsOf(length)
      const file = await stage(kept, octets)
      assert.ok(file?.inMemory && isSame(file.inMemory, octets))
      assert.deepEqual([file.length, file.name, file.digest()], [length, undefined, digestOf(octets)])
      assert.deepEqual(kept.asked, [])
    })

  for (const [length, asked] of [
    [pieceOctets + 1, ['0+2']],
    [4 * pieceOctets, ['0+4']],
    [4 * pieceOctets + 1, ['0+4', '4+1']],
    [9 * pieceOctets - 5, ['0+4', '4+4', '8+1']],
  ] as const)
    for (const step of [1000, pieceOctets, 3 * pieceOctets + 7])
      test(`(2) of ${length} octets is staged, four pieces in a transaction, arriving by ${step}`, async () => {
        const kept = startStore()
        const octets = octetsOf(length)
        const file = await stage(kept, octets, { step })
        assert.deepEqual([file?.length, file?.inMemory, file?.name], [length, undefined, 'file-1'])
        assert.equal(file?.digest(), digestOf(octets))
        assert.deepEqual(
          kept.asked,
          asked.map(part => `stage file-1 ${part} at 7`),
        )
        assert.ok(isSame(kept.whole(), octets), 'each octet at its place')
        const sizes = [...kept.pieces.values()].map(piece => piece.length)
        assert.ok(sizes.slice(0, -1).every(size => size === pieceOctets))
      })

  for (const length of [1000, pieceOctets + 1, 5 * pieceOctets])
    test(`(3) of ${length} octets is read up to its limit, and not one octet further`, async () => {
      const kept = startStore()
      assert.equal((await stage(kept, octetsOf(length), { limit: length }))?.length, length)
      const beyond = startStore()
      assert.equal(await stage(beyond, octetsOf(length), { limit: length - 1, step: 1000 }), undefined)
      const isStaged = length > pieceOctets + 1
      assert.equal(beyond.asked.at(-1), isStaged ? 'discard file-1' : undefined)
    })

  for (const length of [1000, 5 * pieceOctets])
    test(`(2) of ${length} octets that ends in an error leaves nothing behind`, async () => {
      const kept = startStore()
      const thrown = new Error('the sender has left')
      await assert.rejects(stage(kept, octetsOf(length), { thrown }), thrown)
      assert.equal(kept.asked.at(-1), length > pieceOctets ? 'discard file-1' : undefined)
    })

  test('(2) whose pieces cannot be discarded leaves them to a sweep', async () => {
    const kept = startStore({ fails: true })
    assert.equal(await stage(kept, octetsOf(5 * pieceOctets), { limit: 3 * pieceOctets, step: 1000 }), undefined)
    assert.equal(kept.asked.at(-1), 'discard file-1')
    await discardStaged(kept.store, undefined)
    assert.equal(kept.asked.length, 1, 'without a name there is nothing to discard')
  })
})

describe('stored octets', () => {
  const octets = octetsOf(1000)
  const collect = async (pieces: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(pieces))

  test('in one value are read in any range', async () => {
    const stored = asStored(octets)
    assert.deepEqual([stored.length, stored.name, await collectOctets(stored)], [1000, undefined, octets])
    for (const [from, to] of [
      [0, 1000],
      [0, 1],
      [999, 1000],
      [10, 10],
    ] as const)
      assert.ok(isSame(await collect(stored.read(from, to)), octets.subarray(from, to)))
    assert.equal(inMemoryFile(octets).digest(), digestOf(octets))
  })

  for (const step of [1, 7, 999, 1000])
    test(`in pieces of ${step} are read in any range, one piece after the other`, async () => {
      const asked: string[] = []
      const stored = splitIntoPieces('f', 1000, (from, to) => {
        asked.push(`${from}-${to}`)
        return octets.slice(from, Math.min(to, (Math.floor(from / step) + 1) * step))
      })
      assert.deepEqual([stored.length, stored.inMemory, stored.name], [1000, undefined, 'f'])
      for (const [from, to] of [
        [0, 1000],
        [5, 12],
        [999, 1000],
      ] as const)
        assert.ok(isSame(await collect(stored.read(from, to)), octets.subarray(from, to)), `${from} to ${to}`)
      assert.ok(isSame(await collectOctets(stored), octets))
      asked.splice(0)
      assert.equal((await collect(stored.read(10, 10))).length, 0)
      assert.deepEqual(asked, [])
    })

  test('(1) whose pieces have gone are an error that says so', async () => {
    for (const gone of [undefined, new Uint8Array(0)]) {
      const stored = splitIntoPieces('f', 1000, from => (from < 500 ? octets.slice(from, 500) : gone))
      await assert.rejects(collect(stored.read(0, 1000)), RemovedFileError)
      assert.equal((await collect(stored.read(0, 500))).length, 500)
    }
    assert.equal(new RemovedFileError().name, 'Swept')
  })
})
