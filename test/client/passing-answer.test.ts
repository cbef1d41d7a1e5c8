/** Parts that pass, without a connection: those that their reader leaves are dropped. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listEach, PassingOctets, type ReadingOrder } from '../../src/base/passing-octets.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import { passAnswerParts } from '../../src/client/passing-answer.ts'
import { StreamedPart } from '../../src/soap/codecs/values.ts'
import { openPackage } from '../../src/soap/mime/parts.ts'

const whole = '--b\r\n\r\n<a/>\r\n--b\r\nContent-ID: <1>\r\n\r\none\r\n--b\r\nContent-ID: <2>\r\n\r\ntwo\r\n--b--'

/** The octets of a package whose message refers to two parts, and how often it was dropped. */
async function open(text: string, reading: ReadingOrder = 'as written') {
  async function* pieces() {
    for (const octet of text) yield Buffer.from(octet)
  }
  const opened = await openPackage(pieces(), 'b', undefined, { root: 100, rest: 100 })
  assert.ok(opened)
  const parts = ['cid:1', 'cid:2'].map(each => opened.rest.take(each))
  assert.ok(parts.every(each => each instanceof StreamedPart))
  const drops: string[] = []
  const { value, failure } = await passAnswerParts(
    { parts },
    opened.rest,
    reading,
    () => void drops.push('dropped'),
    thrown => thrown,
  )
  return { octets: listEach(value, PassingOctets), drops, failure }
}
const collect = async (octets: PassingOctets): Promise<string> =>
  Buffer.concat(await Array.fromAsync(octets.read(), each => Buffer.from(each))).toString()

test('parts are read in any order, each once, and not dropped', async () => {
  const { octets, drops, failure } = await open(whole)
  const [one, two] = octets
  assert.ok(one && two)
  assert.deepEqual([await collect(one), await collect(two), drops], ['one', 'two', []])
  assert.equal(await failure, undefined)
})

test('a reader that leaves in the middle drops the package', async () => {
  const { octets, drops, failure } = await open(whole)
  for await (const _piece of octets[0]?.read() ?? []) break
  assert.deepEqual(drops, ['dropped'])
  assert.equal(((await failure) as TransportFailure).why, 'closed')
})

test('a broken package is dropped, and its reader gets an error', async () => {
  const { octets, drops, failure } = await open(whole.replace('--b--', '--bogus'))
  const [one, two] = octets
  assert.ok(one && two)
  await collect(one)
  const thrown = await collect(two).catch((each: unknown) => each)
  assert.ok(thrown !== undefined && !(thrown instanceof TransportFailure))
  assert.equal(await failure, thrown)
  assert.deepEqual(drops, ['dropped'])
})
