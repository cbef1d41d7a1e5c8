/** RFC 4648 and XML Schema Part 2 by clause: what each decoder accepts, in each of its two ways. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type Base64Rules,
  decodeBase64,
  decodeBase64Loosely,
  decodeBase64Url,
  decodeByBuffer,
  decodeHex,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
  looseBase64,
  looseBase64Url,
  requireBase64,
  strictBase64,
} from '../../src/base/base64.ts'

const octetsOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const vectors = [
  ['', '', ''],
  ['f', 'Zg==', '66'],
  ['fo', 'Zm8=', '666F'],
  ['foo', 'Zm9v', '666F6F'],
  ['foob', 'Zm9vYg==', '666F6F62'],
  ['fooba', 'Zm9vYmE=', '666F6F6261'],
  ['foobar', 'Zm9vYmFy', '666F6F626172'],
] as const
for (const [text, base64, hex] of vectors)
  test(`RFC 4648 §10: "${text}"`, () => {
    const octets = octetsOf(text)
    assert.equal(encodeBase64(octets), base64)
    assert.equal(encodeBase64Url(octets), base64.replaceAll('=', ''))
    assert.equal(encodeHex(octets), hex)
    assert.deepEqual(decodeBase64(base64), octets)
    assert.deepEqual(decodeBase64Loosely(base64), octets)
    assert.deepEqual(decodeBase64Url(base64), octets)
    assert.deepEqual(decodeHex(hex), octets)
    assert.deepEqual(decodeHex(hex.toLowerCase()), octets)
  })

/** What the strict decoder, the loose one and that of base64url accept. */
const rows: readonly (readonly [clause: string, text: string, accepted: string])[] = [
  ['§3.2 missing padding', 'Zg', 'loose url'],
  ['§3.2 half of the padding', 'Zg=', ''],
  ['§3.2 padding alone', '====', ''],
  ['§3.2 padding after a whole group', 'Zm9v====', ''],
  ['§3.2 padding of four for two', 'Zm9vZg====', ''],
  ['§3.3 a character of no alphabet', 'Zm9*', ''],
  ['§3.3 text after the padding', 'Zg==Zg==', ''],
  ['§3.3 one digit left over', 'Zm9vZ', ''],
  ['§3.3 a wide character that ends as a digit does', 'Zm9\u0176', ''],
  ['§3.3 a wide character in the last place', 'Zm8\u013d', ''],
  ['§3.3 half a surrogate pair', 'Zm9\ud800', ''],
  ['§3.5 unused bits that are not zero, of one octet', 'Zh==', 'loose url'],
  ['§3.5 unused bits that are not zero, of two octets', 'Zm9=', 'loose url'],
  ['§5 the alphabet of base64', '+/+/', 'strict loose'],
  ['§5 the alphabet of base64url', '-_-_', 'url'],
  ['§5 both alphabets', '+_+_', ''],
  ['§5 the last digit of the other alphabet', 'Zm-', 'url'],
  ['§5 the last digit of the other alphabet', 'Zm+', 'loose'],
  ['XML Schema Part 2 §3.2.16: white space anywhere', ' Z\tm\r\n9 v\n', 'strict loose url'],
  ['XML Schema Part 2 §3.2.16: white space in the padding', 'Zg= =', 'strict loose url'],
  ['XML Schema Part 2 §3.2.16: space that is not white space in XML', 'Zm9v\u00a0', ''],
  ['XML Schema Part 2 §3.2.16: a vertical tab', 'Zm9v\v', ''],
]
const waysOf: readonly (readonly [name: string, decode: (text: string) => unknown, rules: Base64Rules])[] = [
  ['strict', decodeBase64, strictBase64],
  ['loose', decodeBase64Loosely, looseBase64],
  ['url', decodeBase64Url, looseBase64Url],
]
for (const [clause, text, accepted] of rows)
  test(`${clause}: ${JSON.stringify(text)} is ${accepted === '' ? 'refused' : accepted}`, () => {
    for (const [name, decode, rules] of waysOf) {
      const isAccepted = accepted.split(' ').includes(name)
      assert.equal(decode(text) !== undefined, isAccepted, name)
      assert.equal(decodeByBuffer(text, rules) !== undefined, isAccepted, `${name}, by Buffer`)
    }
  })

const character = fc.oneof(
  fc.constantFrom(...'AZaz09+/-_gw'),
  fc.constantFrom('=', '==', ' ', '\n', '\f'),
  fc.constantFrom('\v', '*', '\u0141', '\u00a0', '\ud800'),
)
const likeBase64 = fc.oneof(
  fc.array(character, { maxLength: 12 }).map(all => all.join('')),
  fc.uint8Array({ maxLength: 40 }).map(encodeBase64),
  fc.tuple(fc.uint8Array({ maxLength: 9 }), character, fc.nat(12)).map(([octets, one, at]) => {
    const text = encodeBase64(octets)
    return text.slice(0, at) + one + text.slice(at + 1)
  }),
)

test('the decoder of the platform and the decoder with Buffer agree on every text', () => {
  for (const [name, decode, rules] of waysOf)
    fc.assert(
      fc.property(likeBase64, text => assert.deepEqual(decodeByBuffer(text, rules), decode(text), name)),
      { numRuns: 2000 },
    )
})

test('encoded octets are decoded to the same octets', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), octets => {
      assert.deepEqual(decodeBase64(encodeBase64(octets)), octets)
      assert.deepEqual(decodeBase64Url(encodeBase64Url(octets)), octets)
      assert.deepEqual(decodeHex(encodeHex(octets)), octets)
      assert.deepEqual(requireBase64(encodeBase64(octets)), octets)
    }),
  )
})

for (const text of ['6', '6g', '666', ' 66', '66 ', '\u0136\u0136', '6\u0131'])
  test(`§8: ${JSON.stringify(text)} is not hexadecimal`, () => assert.equal(decodeHex(text), undefined))

test('(3) octets are a Uint8Array with memory of their own', () => {
  for (const octets of [
    decodeBase64('AQID'),
    decodeByBuffer('AQID', strictBase64),
    decodeByBuffer(encodeBase64(new Uint8Array(10_000)), strictBase64),
    decodeHex('010203'),
  ]) {
    assert.ok(octets)
    assert.equal(Object.getPrototypeOf(octets), Uint8Array.prototype)
    assert.equal(octets.buffer.byteLength, octets.length)
  }
})

test('only the slice of a block is encoded', () => {
  const block = Uint8Array.of(0, 0x66, 0x6f, 0x6f, 0)
  assert.equal(encodeBase64(block.subarray(1, 4)), 'Zm9v')
  assert.equal(encodeHex(block.subarray(1, 4)), '666F6F')
})

test('five million octets, in both', () => {
  const octets = new Uint8Array(5_000_000).fill(0xab)
  assert.equal(decodeHex(encodeHex(octets))?.length, octets.length)
  assert.equal(decodeBase64(encodeBase64(octets))?.length, octets.length)
  assert.equal(decodeByBuffer(encodeBase64(octets), strictBase64)?.length, octets.length)
})

test('damaged text of our own is a SyntaxError', () => {
  assert.throws(() => requireBase64('Zg'), SyntaxError)
})
