/** RFC 2046 §5.1.1, RFC 2387: of a forwarded package the root is read, the rest passes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refused } from '../../src/service/refusal.ts'
import { splitPackage } from '../../src/soap/mime/split-package.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const head = 'Content-Type: text/xml;\r\n charset=utf-8\r\nContent-ID: <root@x>\r\n'
const whole = (fields = head, root = '<Envelope/>', preamble = '') =>
  `${preamble}--b\r\n${fields}\r\n${root}\r\n--b\r\nContent-ID: <1@x>\r\n\r\n\u0000\u00ff--b not a line\r\n--b--\r\nend`

async function* cut(text: string, size: number, told: { isClosed?: boolean } = {}): AsyncGenerator<Uint8Array> {
  try {
    const octets = Buffer.from(text, 'latin1')
    for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size)
  } finally {
    told.isClosed = true
  }
}
const split = async (text: string, { size = 1000, start = undefined as string | undefined, limit = 10_000 } = {}) => {
  const { before, root, type, rest } = await splitPackage(cut(text, size), 'b', start, limit)
  const left: Uint8Array[] = []
  for await (const piece of rest) left.push(piece)
  const latin = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1')
  return { before: latin(before), root: latin(root), type, rest: latin(Buffer.concat(left)) }
}

describe('(1) root and rest of a package', () => {
  for (const size of [1, 2, 3, 7, 1000])
    test(`in pieces of ${size} octets`, async () => {
      for (const preamble of ['', 'This is a package.\r\n', '\r\n']) {
        const text = whole(head, '<Envelope/>', preamble)
        const found = await split(text, { size })
        assert.equal(found.root, '<Envelope/>')
        assert.equal(found.type, 'text/xml; charset=utf-8')
        assert.equal(found.before + found.root + found.rest, text, 'no octet is lost')
        assert.ok(found.before.endsWith('\r\n\r\n') && found.rest.startsWith('\r\n--b\r\nContent-ID: <1@x>'))
      }
    })
  test('an empty root, a root without fields, and one without a type', async () => {
    assert.equal((await split(whole(head, ''))).root, '')
    const bare = await split('--b\r\n\r\n<Envelope/>\r\n--b--')
    assert.deepEqual([bare.root, bare.type, bare.rest], ['<Envelope/>', '', '\r\n--b--'])
    assert.equal((await split(whole('CONTENT-TYPE :  text/xml \r\n'))).type, 'text/xml')
  })
  test('octets that look like a line break belong to the root', async () => {
    const root = '<a>\r\n-b\r\n\r\n--c\r\n</a>'
    assert.equal((await split(whole(head, root), { size: 1 })).root, root)
  })
})

describe('RFC 2387 §3.2 the root is the part that start names', () => {
  for (const start of ['<root@x>', 'root@x', undefined])
    test(`${start}`, async () => assert.equal((await split(whole(), { start })).root, '<Envelope/>'))
  test('and has to be the first', async () => {
    await assert.rejects(split(whole(), { start: '<1@x>' }), refusal(/the root is not the first part/))
    await assert.rejects(split(whole('Content-Type: text/xml\r\n'), { start: 'a' }), refusal(/not the first part/))
  })
})

describe('RFC 2045 §6 the transfer encoding of the root', () => {
  for (const [encoding, isTaken] of [
    ['binary', true],
    ['8BIT', true],
    ['7bit', true],
    ['base64', false],
    ['quoted-printable', false],
    ['x7bit', false],
    ['binary2', false],
  ] as const)
    test(`${encoding} is ${isTaken ? 'taken' : 'refused'}`, async () => {
      const asked = split(whole(`${head}Content-Transfer-Encoding: ${encoding}\r\n`))
      if (isTaken) assert.equal((await asked).root, '<Envelope/>')
      else await assert.rejects(asked, refusal(/the root has a transfer encoding/))
    })
})

describe('(2) the part in memory', () => {
  test('is limited, to the octet', async () => {
    const text = whole()
    const limit = text.length + 2 // and the line that it follows
    assert.equal((await split(text, { limit })).root, '<Envelope/>')
    await assert.rejects(split(text, { limit: limit - 1 }), refusal(/too-long/))
  })
  test('is only the root: the rest is read when it is needed', async () => {
    const text = `${whole().slice(0, -20)}${'x'.repeat(5000)}`
    const found = await split(text, { size: 10, limit: 400 })
    assert.equal(found.before + found.root + found.rest, text)
  })
  test('costs time in proportion to its octets, however the package is cut', () =>
    assertCpuMsBelow(100, async () => {
      const text = whole(head, 'x'.repeat(2 * 1024 * 1024))
      const found = await split(text, { size: 256, limit: 4 * 1024 * 1024 })
      assert.equal(found.root.length, 2 * 1024 * 1024)
    }))
  test('is released if the rest is not wanted', async () => {
    const told: { isClosed?: boolean } = {}
    const { rest } = await splitPackage(cut(`${whole()}${'x'.repeat(5000)}`, 50, told), 'b', undefined, 1000)
    for await (const _ of rest) break
    assert.equal(told.isClosed, true)
  })
})

for (const [title, text] of [
  ['no boundary', 'no package at all'],
  ['another boundary', whole().replaceAll('--b', '--c')],
  ['no end of its fields', '--b\r\nContent-Type: text/xml\r\n'],
  ['no end of its root', '--b\r\n\r\n<Envelope/>'],
  ['nothing', ''],
] as const)
  test(`a package with ${title} is refused`, async () => {
    for (const size of [1, 1000]) await assert.rejects(split(text, { size }), refusal(/ends before its root does/))
  })

function refusal(says: RegExp) {
  return (thrown: unknown): boolean => thrown instanceof Refused && says.test(JSON.stringify(thrown.refusal))
}
