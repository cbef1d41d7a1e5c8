/** The protocol of memory in base/octets.ts: when a source hears that a piece may be freed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumePieces, type Pieces, releaseBuffer, takeBounded, watchPieces } from '../../src/base/octets.ts'
import { heldOctets } from '../support/held-memory.ts'

const piece = (octet: number): Uint8Array => Uint8Array.of(octet)

/** A source of three pieces that writes down what it is told. */
function createSource(): { readonly pieces: Pieces; readonly log: string[] } {
  const log: string[] = []
  async function* pieces(): Pieces {
    try {
      for (const octet of [1, 2, 3]) log.push(`${octet} ${(yield piece(octet)) ? 'freed' : 'kept'}`)
    } finally {
      log.push('ended')
    }
  }
  return { pieces: pieces(), log }
}

test('a loop that consumes has finished each piece when it asks for the next', async () => {
  const { pieces, log } = createSource()
  const seen: number[] = []
  for await (const [octet] of consumePieces(pieces)) {
    assert.deepEqual(
      log,
      seen.map(each => `${each} freed`),
      'no sooner',
    )
    seen.push(octet!)
  }
  assert.deepEqual(log, ['1 freed', '2 freed', '3 freed', 'ended'])
})

test('a loop frees only the pieces that it says it has finished', async () => {
  const { pieces, log } = createSource()
  let isDone = false
  for await (const [octet] of consumePieces(pieces, () => isDone)) isDone = octet === 2
  assert.deepEqual(log, ['1 kept', '2 freed', '3 kept', 'ended'])
})

test('a watcher sees each piece first, and the source learns what the reader decides', async () => {
  const { pieces, log } = createSource()
  const seen: number[] = []
  const watched = watchPieces(pieces, ([octet]) => seen.push(octet!))
  assert.deepEqual(seen, [], 'nothing is read before it is asked for')
  await watched.next()
  assert.deepEqual(seen, [1])
  await watched.next(true)
  await watched.next(false)
  await watched.next()
  assert.deepEqual(log, ['1 freed', '2 kept', '3 kept', 'ended'])
  assert.deepEqual(seen, [1, 2, 3])
})

for (const [title, leave] of [
  ['a loop that breaks', async (watched: Pieces) => void (await watched.return())],
  ['a loop that throws', (watched: Pieces) => assert.rejects(watched.throw(new Error('no')))],
] as const)
  test(`${title} ends the source`, async () => {
    const { pieces, log } = createSource()
    const watched = watchPieces(pieces, () => {})
    await watched.next()
    await leave(watched)
    assert.deepEqual(log, ['ended'])
  })

test('a watcher that throws ends the source, and its reader gets the error', async () => {
  const { pieces, log } = createSource()
  const tooLong = new Error('too long')
  const watched = watchPieces(pieces, ([octet]) => {
    if (octet === 2) throw tooLong
  })
  await watched.next()
  await assert.rejects(watched.next(true), thrown => thrown === tooLong)
  assert.deepEqual(log, ['1 freed', 'ended'])
})

test('errors of the source reach the reader', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield piece(1)
    throw new Error('the sender went away')
  }
  const consumed = consumePieces(failing())
  await consumed.next()
  await assert.rejects(consumed.next(), /went away/)
})

test('memory is freed only if nothing else uses a part of it', () => {
  const whole = new Uint8Array(10)
  const [slice, empty] = [new Uint8Array(10), new Uint8Array(10)]
  releaseBuffer(whole)
  assert.equal(whole.buffer.byteLength, 0)
  releaseBuffer(slice.subarray(0, 5))
  releaseBuffer(empty.subarray(0, 0))
  releaseBuffer(new Uint8Array(new SharedArrayBuffer(4)))
  assert.deepEqual([slice.length, empty.length], [10, 10])
})

test('octets that arrive one by one take their own memory, not that of their pieces', async () => {
  const mebi = 2 ** 20
  let grown = 0
  async function* oneByOne(): AsyncGenerator<Uint8Array> {
    const before = heldOctets()
    for (let at = 0; at < mebi; at++) yield piece(at & 255)
    grown = heldOctets() - before
  }
  const all = await takeBounded(oneByOne(), mebi)
  assert.ok(grown < 8 * mebi, `${grown} octets are held`)
  assert.ok(all?.every((octet, at) => octet === (at & 255)))
  assert.equal(all?.length, mebi)
})

test('small and large pieces keep their order', async () => {
  const sizes = [1, 5000, ...Array<number>(100).fill(3), 5000, 7, 2048, 0, 1]
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (const [at, size] of sizes.entries()) yield new Uint8Array(size).fill(at)
  }
  const octets = sizes.flatMap((size, at) => Array<number>(size).fill(at))
  assert.deepEqual([...((await takeBounded(pieces(), octets.length)) ?? [])], octets)
  assert.equal(await takeBounded(pieces(), octets.length - 1), undefined)
})
