/** Rule A4.18: coded content is whole, of its coding, and within its limit; else it is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { codingStreams, decodings, gunzipWithin } from '../../src/host/zlib-codings.ts'
import { Undecodable } from '../../src/rest/content-coding.ts'

const content = Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * at) % 251))
const encodings = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync }

const collect = async (octets: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(octets))
async function* inPieces(octets: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size)
}

test('gzip and br are accepted by any Node, zstd if it detects a truncated frame', () => {
  assert.deepEqual(Object.keys(decodings).slice(0, 2), ['gzip', 'br'])
  assert.deepEqual(Object.keys(codingStreams.decode).toSorted(), Object.keys(decodings).toSorted())
})

for (const [name, decode] of Object.entries(decodings)) {
  const coded = encodings[name as keyof typeof encodings](content)
  const stream = codingStreams.decode[name]
  assert.ok(stream)

  test(`${name}: coded content is decoded unchanged, whole and piece by piece`, async () => {
    assert.deepEqual(decode(coded, content.length), content)
    assert.deepEqual(await collect(stream(inPieces(coded, 100))), content)
  })

  test(`${name}: one octet more than the limit is too large, not invalid (RFC 9110 §15.5.14)`, () =>
    assert.equal(decode(coded, content.length - 1), 'too-large'))

  test(`${name}: cut short anywhere`, async () => {
    for (let length = 0; length < coded.length; length += 13) {
      assert.equal(decode(coded.subarray(0, length), 10_000), undefined, `${length} octets`)
      if (length > 0) await assert.rejects(collect(stream(inPieces(coded.subarray(0, length), 100))), Undecodable)
    }
    assert.equal(decode(coded.subarray(0, -1), 10_000), undefined)
  })

  test(`${name}: octets of no coding`, async () => {
    assert.equal(decode(Buffer.from('not coded at all'), 10_000), undefined)
    await assert.rejects(collect(stream(inPieces(Buffer.from('not coded at all'), 5))), Undecodable)
  })

  test(`${name}: an error of the source is thrown unchanged`, async () => {
    const cause = new Error('the sender went away')
    async function* failing() {
      yield coded.subarray(0, 20)
      throw cause
    }
    await assert.rejects(collect(stream(failing())), thrown => thrown === cause)
  })
}

test('gzip with octets after it', () => {
  assert.equal(gunzipWithin(Buffer.concat([gzipSync(content), Buffer.from('more')]), 10_000), undefined)
})
