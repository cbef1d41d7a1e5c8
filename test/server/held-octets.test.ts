/** What is kept of contents that are still arriving: bounded for all together, and given to those that are quick. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from '../../src/http/message.ts'
import { boundHeldOctets, HeldOctets, readMemory } from '../../src/server/held-octets.ts'
import { receiveOctets, withServer } from './raw-connection.ts'

test('above the bound the oldest contents end first, until there is room', () => {
  const ended: string[] = []
  const held = new HeldOctets(100)
  const content = (name: string) => ({ from: '192.0.2.1', crowdOut: () => void ended.push(name) })
  const [one, two, three] = [content('one'), content('two'), content('three')]
  held.add(one, 60)
  held.add(two, 40)
  assert.deepEqual([held.total, ended], [100, []])
  held.add(one, 1)
  assert.deepEqual([held.total, ended], [40, ['one']])
  held.remove(two)
  held.remove(two)
  assert.equal(held.total, 0)
  held.add(two, 50)
  held.add(three, 101)
  assert.deepEqual([held.total, ended], [0, ['one', 'two', 'three']], 'one that is longer than all may be ends, too')
})

test('above the bound the contents of the peer with the most octets end, not the oldest', () => {
  const ended: string[] = []
  const held = new HeldOctets(100)
  const content = (from: string) => ({ from, crowdOut: () => void ended.push(from) })
  held.add(content('slow and honest'), 30)
  for (let i = 0; i < 10; i++) held.add(content('many'), 20)
  held.add(content('late'), 10)
  assert.deepEqual([held.total, new Set(ended)], [100, new Set(['many'])])
})

test('contents take at most a quarter of the memory of the container, or else of the machine', () => {
  const gibibyte = 1024 ** 3
  const rows = [
    [64 * gibibyte, undefined],
    [2 * gibibyte, undefined],
    [gibibyte, gibibyte / 4],
    [gibibyte / 4, gibibyte / 16],
  ] as const
  for (const [memory, held] of rows) assert.equal(boundHeldOctets(memory), held, String(memory))
  assert.equal(readMemory(gibibyte, 8 * gibibyte), gibibyte)
  assert.equal(readMemory(2 ** 64, 8 * gibibyte), 8 * gibibyte)
  assert.equal(readMemory(0, 8 * gibibyte), 8 * gibibyte)
})

const readAll = async ({ content }: Request) => {
  const octets = await content.bytes(100_000)
  return { status: 200, fields: {}, content: String(octets?.length) }
}
/** As a package is read: what comes is kept. */
const keepPieces = async ({ content }: Request) => {
  let length = 0
  for await (const piece of content.chunks()) {
    length += piece.length
    content.keep?.(piece.length)
  }
  return { status: 200, fields: {}, content: String(length) }
}

for (const [how, serve] of [
  ['bytes', readAll],
  ['chunks', keepPieces],
] as const)
  describe(`contents that are read as ${how}`, () => {
    test('the oldest contents of stalled clients end with 503; a quick client is served', () =>
      withServer(
        serve,
        async ({ port }) => {
          const begin = (sent: number) => {
            const socket = connect(port, '127.0.0.1')
            const received = receiveOctets(socket)
            socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(sent)}`)
            return { socket, received }
          }
          const slow = []
          for (let i = 0; i < 4; i++) {
            slow.push(begin(50_000))
            await sleep(50)
          }
          const quick = begin(40_000)
          await sleep(50)
          quick.socket.write('x'.repeat(20_000))
          assert.match((await quick.received(1)).text, /^HTTP\/1\.1 200 .*\r\n60000$/s)
          const [first, second, third, fourth] = slow
          for (const each of [first, second])
            assert.match((await each!.received(1)).text, /^HTTP\/1\.1 503 .*more than 160000 octets/s)
          for (const each of [third, fourth]) {
            each!.socket.write('x'.repeat(10_000))
            assert.match((await each!.received(1)).text, /^HTTP\/1\.1 200 .*\r\n60000$/s)
          }
          for (const each of [...slow, quick]) each.socket.destroy()
        },
        { limits: { held: 160_000 } },
      ))
  })
