/** Files leave room on the disk for other changes (store/disk-room.ts). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unavailable } from '../../src/service/store.ts'
import { isDiskFull, requireRoom } from '../../src/store/disk-room.ts'

const MiB = 1 << 20
const rows: readonly (readonly [title: string, free: number, all: number, spare: number, hasRoom: boolean])[] = [
  ['a large disk with 64 MiB', 64 * MiB, 1000 * MiB, 0, true],
  ['one octet less', 64 * MiB - 1, 1000 * MiB, 0, false],
  ['the rest of it is free within the file', 64 * MiB - 1, 1000 * MiB, 1, true],
  ['a small disk with a quarter', 10 * MiB, 40 * MiB, 0, true],
  ['a small disk with less', 10 * MiB - 1, 40 * MiB, 0, false],
]
for (const [title, free, all, spare, hasRoom] of rows)
  test(`${title}: ${hasRoom ? 'files are taken' : 'files are refused, with the cure'}`, () => {
    const ask = () =>
      requireRoom(
        '/data/shop.sqlite',
        () => spare,
        folder => {
          assert.equal(folder, '/data')
          return { bsize: 1, blocks: all, bavail: free }
        },
      )
    if (hasRoom) ask()
    else
      assert.throws(
        ask,
        thrown =>
          thrown instanceof Unavailable && /free on the disk of \/data.*free some space/.test(String(thrown.cause)),
      )
  })

test('a disk of unknown size accepts files', () => {
  requireRoom(
    '/data/shop.sqlite',
    () => 0,
    () => {
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
    },
  )
})

test('a disk with less than a mebibyte is full; one of unknown size is not', () => {
  const isFull = (free: number) => isDiskFull('/data/shop.sqlite', () => ({ bsize: 1, blocks: 40 * MiB, bavail: free }))
  assert.deepEqual([MiB, MiB - 1, 0].map(isFull), [false, true, true])
  const unknown = () => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
  }
  assert.equal(isDiskFull('/data/shop.sqlite', unknown), false)
})
