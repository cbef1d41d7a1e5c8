/** RFC 9112 §6, §7: a response in many small pieces costs the checker what its octets cost. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { InvalidHead, ReplyReader } from '../../src/check/reply-reader.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { heldOctets } from '../support/held-memory.ts'

const octetsMax = 6 * 1024 * 1024
const chunk = `400\r\n${'a'.repeat(1024)}\r\n`
const framed = {
  'Content-Length': Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${octetsMax}\r\n\r\n${'a'.repeat(octetsMax)}`),
  chunked: Buffer.from(
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(octetsMax / 1024)}0\r\nx: y\r\n\r\n`,
  ),
}
function readInPieces(octets: Buffer, size: number): ReplyReader {
  const reader = new ReplyReader('GET')
  for (let at = 0; at < octets.length; at += size) reader.add(octets.subarray(at, at + size))
  return reader
}

for (const [framing, octets] of Object.entries(framed))
  it(`(2) ${framing}: 6 MiB in pieces of 512 octets take no longer than they need`, async () => {
    await assertCpuMsBelow(400, () => assert.equal(readInPieces(octets, 512).isDone, true))
    const { content, isWhole } = readInPieces(octets, 512).reply(0)
    assert.deepEqual([content.length, isWhole], [octetsMax, true])
  })

it('§7.1 a chunk for each octet takes no memory of its own', () => {
  const before = heldOctets()
  const reader = new ReplyReader('GET')
  reader.add(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))
  const chunks = Buffer.from('1\r\na\r\n1\r\nb\r\n'.repeat(512))
  for (let times = 0; times < 1024; times++) reader.add(chunks)
  const held = heldOctets() - before
  assert.ok(held < 24 * 1024 * 1024, `${held} octets are held`)
  reader.add(Buffer.from('0\r\n\r\n'))
  assert.equal(Buffer.from(reader.reply(0).content).toString(), 'ab'.repeat(512 * 1024))
})

for (const size of [1, 2, 3, 7])
  it(`§7.1 chunks and trailers in pieces of ${size}`, () => {
    const octets = Buffer.from(
      'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nx: y\r\n\r\n',
    )
    const reader = readInPieces(octets, size)
    const { status, content, isWhole } = reader.reply(0)
    assert.deepEqual([reader.isDone, status, String(content), isWhole], [true, 200, '97,98,99', true])
  })

for (const [title, head, endless] of [
  ['a head', 'HTTP/1.1 200 OK\r\n', 'x'.repeat(300 * 1024)],
  ['§7.1.1 the size of a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', `1;${'x'.repeat(20 * 1024)}`],
  ['RFC 9110 §15.2 a row of interim responses', '', 'HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n'.repeat(10 * 1024)],
  ['§7.1.2 trailers', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n', 'x: y\r\n'.repeat(50 * 1024)],
] as const)
  it(`${title} that does not end is no response`, () =>
    assert.throws(() => readInPieces(Buffer.from(head + endless), 4096), InvalidHead))
