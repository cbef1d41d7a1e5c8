/** Each attempt expects one kind of error, and throws any other again. */
import assert from 'node:assert/strict'
import { createDecipheriv, privateDecrypt, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import {
  attempt,
  decodePercent,
  decodeUtf8,
  errorCodeOf,
  isCryptoError,
  isSyntaxError,
} from '../../src/base/attempt.ts'

const failWith = (thrown: unknown) => (): never => {
  throw thrown
}

test('an expected error becomes undefined, any other is thrown again', () => {
  assert.equal(
    attempt(() => 1, isSyntaxError),
    1,
  )
  assert.equal(attempt(failWith(new SyntaxError('no')), isSyntaxError), undefined)
  assert.throws(() => attempt(failWith(new TypeError('a mistake')), isSyntaxError), TypeError)
  assert.throws(
    () => attempt(failWith('text'), isSyntaxError),
    thrown => thrown === 'text',
  )
})

const block = (length: number): Buffer => Buffer.alloc(length, 7)
const decipher = (octets: Buffer, tag: Buffer, vector = block(12)): void => {
  const gcm = createDecipheriv('aes-128-gcm', block(16), vector, { authTagLength: 16 }).setAuthTag(tag)
  gcm.update(octets)
  gcm.final()
}
const refusals: readonly (readonly [title: string, work: () => unknown])[] = [
  ['octets that are not a certificate', () => new X509Certificate(block(9))],
  ['a tag that is wrong', () => decipher(block(5), block(16))],
  ['a tag that is too short', () => decipher(block(5), block(3))],
  ['no initialization vector', () => decipher(block(5), block(16), block(0))],
  ['a wrapped key that is not one', () => createDecipheriv('id-aes128-wrap', block(16), block(8)).update(block(24))],
  ['a private key that is not one', () => privateDecrypt('-----BEGIN PRIVATE KEY-----', block(5))],
]
for (const [title, work] of refusals)
  test(`node:crypto refuses ${title}`, () => assert.equal(attempt(work, isCryptoError), undefined))

test('a mistake in the use of node:crypto is thrown again', () => {
  assert.throws(() => attempt(() => new X509Certificate(undefined as never), isCryptoError), TypeError)
  assert.ok(!isCryptoError(new TypeError('x is not a function')))
  assert.ok(!isCryptoError(new Error('read ECONNRESET')))
})

test('RFC 3629: UTF-8, the byte order mark kept', () => {
  assert.equal(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa9)), '\ufeffé')
  for (const octets of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]])
    assert.equal(decodeUtf8(Uint8Array.from(octets)), undefined)
  assert.throws(() => decodeUtf8('text' as never), TypeError)
})

test('RFC 3986 §2.1: percent-encoded UTF-8', () => {
  assert.equal(decodePercent('%c3%a9+%2F'), 'é+/')
  for (const text of ['%', '%c', '%cg', '%ff', '%c3']) assert.equal(decodePercent(text), undefined)
})

test('an error has a code, or none', () => {
  assert.equal(errorCodeOf(Object.assign(new Error('no'), { code: 'ENOENT' })), 'ENOENT')
  for (const thrown of [new Error('no'), { code: 'ENOENT' }, undefined, Object.assign(new Error('no'), { code: 5 })])
    assert.equal(errorCodeOf(thrown), '')
})
