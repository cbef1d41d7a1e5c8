/** Keys on elliptic curves, for which a key is agreed on (XML Encryption 1.1 §5.6.4, §5.4.1). */
import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { encodeBase64 } from '../../src/base/base64.ts'
import { agreeOnKey, deriveByConcat } from '../../src/security/crypto/key-agreement.ts'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { Encryption } from '../../src/security/protect/encrypt.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import type { SecurityFault } from '../../src/security/security-fault.ts'
import { xenc11Ns } from '../../src/security/vocabulary.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signedDemand,
  soap11Uri,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const alice = keyPair('alice')
const secret: SecurityPolicy = { required: true, anyOf: [{ ...signedDemand, encrypted: ['Body'] }] }
const guardOf = (...names: readonly string[]) =>
  createGuard(now, { trust: trustOf('ca'), decrypts: names.map(name => keyPair(name)) })
const seal = (name: string, more: Partial<Encryption> = {}, version?: string) =>
  protectMessage(
    plainMessage(version),
    {
      timestamp: {},
      signature: {
        key: alice.key,
        by: { certificate: alice.certificate, refer: 'direct' },
        parts: ['Body', 'Timestamp'],
      },
      encryption: { to: keyPair(name).certificate, parts: ['Body'], ...more },
    },
    now,
  ).envelope

// RFC 7518 appendix C has the derivation of SP 800-56A, too.
const ofAlice = { kty: 'EC', crv: 'P-256', x: 'gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0', y: 'SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps', d: '0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo' } // biome-ignore format: a key
const ofBob = { kty: 'EC', crv: 'P-256', x: 'weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ', y: 'e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck', d: 'VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw' } // biome-ignore format: a key
const info = Buffer.concat([
  Buffer.from('\0\0\0\x07A128GCM\0\0\0\x05Alice\0\0\0\x03Bob', 'latin1'),
  Buffer.of(0, 0, 0, 128),
])

test('ConcatKDF: two parties agree on the key of RFC 7518 appendix C', () => {
  const [a, b] = [ofAlice, ofBob].map(key => createPrivateKey({ key, format: 'jwk' })) as [KeyObject, KeyObject]
  const by = { digest: 'sha256', info } as const
  for (const [own, other] of [
    [a, b],
    [b, a],
  ] as const) {
    const agreed = agreeOnKey(own, createPublicKey(other), by, 16)
    assert.equal(agreed?.export().toString('base64url'), 'VqqN6vgjbSBcIijNcacQGg')
  }
})
test('ConcatKDF: a key that is longer than a hash has several', () => {
  const by = { digest: 'sha256', info } as const
  const [short, long] = [20, 50].map(length => deriveByConcat(Buffer.from('z'), by, length)) as [Buffer, Buffer]
  assert.deepEqual([short.length, long.length], [20, 50])
  assert.ok(long.subarray(0, 20).equals(short))
  assert.notDeepEqual(long.subarray(32), long.subarray(0, 18))
})
test('no key is agreed on with a key of another curve, or of RSA', () => {
  const by = { digest: 'sha256', info } as const
  const { key } = keyPair('p256')
  for (const name of ['p384', 'alice']) assert.equal(agreeOnKey(key, keyPair(name).certificate.key, by, 16), undefined)
})

for (const name of ['p256', 'p384', 'p521'])
  for (const version of [soap11Uri, undefined])
    test(`§5.6.4 a Body encrypted to the certificate of ${name} (${version ?? 'SOAP 1.2'})`, async () => {
      const text = seal(name, {}, version)
      assert.doesNotMatch(text, /o-1/)
      assert.match(text, /ECDH-ES/)
      const message = openMessage(text)
      const { body } = await expectAccepted(verifyOrRefuse(message, secret, guardOf('bob', name)))
      assert.match(writeElement(body), /<o:GetOrder[^>]*><id>o-1<\/id><\/o:GetOrder>/)
      assert.notEqual(seal(name).match(/PublicKey>([^<]*)/)?.[1], text.match(/PublicKey>([^<]*)/)?.[1])
    })
test('§5.6 without RecipientKeyInfo it is for the only key of the service', async () => {
  const text = seal('p256').replace(/<xenc:RecipientKeyInfo>.*<\/xenc:RecipientKeyInfo>/s, '')
  await expectAccepted(verifyOrRefuse(openMessage(text), secret, guardOf('p256')))
  await expectRefusal(verifyOrRefuse(openMessage(text), secret, guardOf('p256', 'bob')), 'SecurityTokenUnavailable')
})
test('§5.4.1 parameters are a part of the key', async () => {
  for (const [from, to] of [
    ['PartyUInfo=""', 'PartyUInfo="00"'],
    ['PartyVInfo=""', ''],
    ['PartyVInfo=""', 'PartyVInfo="" SuppPubInfo="00" SuppPrivInfo=""'],
  ] as const)
    await expectAccepted(verifyOrRefuse(openMessage(seal('p256').replace(from, to)), secret, guardOf('p256')))
})

/** A point of the plane that is not on the curve. */
const beside = encodeBase64(Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]))
const wrong: readonly (readonly [title: string, from: RegExp | string, to: string, fault: SecurityFault])[] = [
  ['another AlgorithmID', 'AlgorithmID="0000"', 'AlgorithmID="0001"', 'FailedCheck'],
  ['another SuppPubInfo', 'PartyVInfo=""', 'PartyVInfo="" SuppPubInfo="0001"', 'FailedCheck'],
  ['another digest', /(<xenc11:ConcatKDFParams[^>]*><ds:DigestMethod Algorithm=")[^"]*/, '$1http://www.w3.org/2001/04/xmlenc#sha512', 'FailedCheck'],
  ['a digest that is not allowed', /(<xenc11:ConcatKDFParams[^>]*><ds:DigestMethod Algorithm=")[^"]*/, '$1http://www.w3.org/2000/09/xmldsig#sha1', 'UnsupportedAlgorithm'],
  ['bits that are not whole octets', 'AlgorithmID="0000"', 'AlgorithmID="0410"', 'UnsupportedAlgorithm'],
  ['parameters that are not hexadecimal', 'AlgorithmID="0000"', 'AlgorithmID="00x"', 'InvalidSecurity'],
  ['another derivation', `${xenc11Ns}ConcatKDF`, `${xenc11Ns}pbkdf2`, 'UnsupportedAlgorithm'],
  ['another agreement', `${xenc11Ns}ECDH-ES`, 'http://www.w3.org/2001/04/xmlenc#dh', 'UnsupportedAlgorithm'],
  ['a nonce, which ECDH-ES does not have', '<xenc:OriginatorKeyInfo>', '<xenc:KA-Nonce>AA==</xenc:KA-Nonce><xenc:OriginatorKeyInfo>', 'UnsupportedAlgorithm'],
  ['no key of its sender', /<xenc:OriginatorKeyInfo>.*<\/xenc:OriginatorKeyInfo>/s, '', 'InvalidSecurity'],
  ['two keys of its sender', /(<ds:KeyValue>.*<\/ds:KeyValue>)(?=<\/xenc:OriginatorKeyInfo>)/s, '$1$1', 'SecurityTokenUnavailable'],
  ['a point that is not on its curve', /(PublicKey>)[^<]*/, `$1${beside}`, 'InvalidSecurityToken'],
  ['a key on another curve', /<dsig11:ECKeyValue.*<\/dsig11:ECKeyValue>/s, seal('p384').match(/<dsig11:ECKeyValue.*<\/dsig11:ECKeyValue>/s)?.[0] ?? '', 'FailedCheck'],
  ['a key wrap of another size', 'kw-aes256', 'kw-aes128', 'FailedCheck'],
  ['an RSA key transport', 'xmlenc#kw-aes256', 'xmlenc#rsa-oaep-mgf1p', 'SecurityTokenUnavailable'],
  ['a name beside it', '</xenc:AgreementMethod>', '</xenc:AgreementMethod><ds:KeyName>k</ds:KeyName>', 'InvalidSecurity'],
] // biome-ignore format: a table
for (const [title, from, to, fault] of wrong)
  test(`§5.6.4 ${title} is refused`, async () => {
    const text = seal('p256')
    const changed = text.replace(from, to)
    assert.notEqual(changed, text)
    await expectRefusal(verifyOrRefuse(openMessage(changed), secret, guardOf('p256', 'bob')), fault)
  })
test('a service without keys on that curve refuses as if it had no such key', async () => {
  await expectRefusal(verifyOrRefuse(openMessage(seal('p256')), secret, guardOf('bob')), 'SecurityTokenUnavailable')
  const toBob = seal('bob').replace(
    /(<xenc:EncryptedKey.*?<ds:KeyInfo>).*?(<\/ds:KeyInfo>)/s,
    `$1${
      seal('p256')
        .match(/<xenc:EncryptedKey.*?<ds:KeyInfo>(.*?)<\/ds:KeyInfo>/s)?.[1]
        ?.match(/<wsse:SecurityTokenReference.*<\/wsse:SecurityTokenReference>/s)?.[0]
    }$2`,
  )
  await expectRefusal(verifyOrRefuse(openMessage(toBob), secret, guardOf('bob', 'p256')), 'FailedCheck')
})
