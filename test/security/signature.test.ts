/** XML Signature, out and in: every algorithm, every way to name a key, every part; and that the proven element is the one read. */
import assert from 'node:assert/strict'
import { createPublicKey, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { fitsKey } from '../../src/security/crypto/algorithm.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../../src/security/policy/policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import type { Signing } from '../../src/security/protect/sign.ts'
import {
  guard,
  messageId,
  now,
  open,
  outcome,
  pair,
  plainMessage,
  refused,
  signedDemand,
  signedMessage,
  signedPolicy,
  soap11Uri,
  soap12Uri,
  taken,
  trusting,
} from './message.ts'

const trust = trusting('ca')
const secret = createSecretKey(Buffer.alloc(32, 7))
const secrets = new Map([['clara', secret]])

const algorithms: [string, string, Partial<Signing>][] = [
  ['RSA-SHA256', 'alice', {}],
  ['RSA-SHA384', 'alice', { hash: 'sha384' }],
  ['RSA-SHA512', 'alice', { hash: 'sha512' }],
  ['RSA-PSS-SHA256', 'alice', { pss: true }],
  ['RSA-PSS-SHA384', 'alice', { pss: true, hash: 'sha384' }],
  ['RSA-PSS-SHA512', 'alice', { pss: true, hash: 'sha512' }],
  ['ECDSA-SHA256 on P-256', 'p256', {}],
  ['ECDSA-SHA384 on P-384', 'p384', { hash: 'sha384' }],
  ['ECDSA-SHA512 on P-521', 'p521', { hash: 'sha512' }],
]
for (const [title, name, more] of algorithms) {
  test(`XML Signature §6.4: ${title}`, async () => {
    const text = signedMessage(pair(name), more)
    const message = open(text)
    const secured = await taken(outcome(message, signedPolicy, guard(now, { trust })))
    assert.equal(secured.body, message.body)
    assert.equal(secured.covers(message.body), true)
    await refused(
      outcome(open(text.replace('o-1', 'o-2')), signedPolicy, guard(now, { trust })),
      'FailedCheck',
      /digest/,
    )
  })
}

for (const hash of ['sha256', 'sha384', 'sha512'] as const) {
  test(`XML Signature §6.3.1: HMAC with ${hash}, of a secret that both sides have`, async () => {
    const signature: Signing = { key: secret, by: { name: 'clara' }, parts: ['Body', 'Timestamp'], hash }
    const text = protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
    const policy: SecurityPolicy = { required: true, anyOf: [{ ...signedDemand, caller: 'secret' }] }
    const secured = await taken(outcome(open(text), policy, guard(now, { secrets })))
    assert.equal(secured.caller?.subject, 'clara')
    const other = new Map([['clara', createSecretKey(Buffer.alloc(32, 8))]])
    await refused(outcome(open(text), policy, guard(now, { secrets: other })), 'FailedCheck', /SignatureValue/)
    await refused(outcome(open(text), policy, guard(now, { secrets: new Map() })), 'SecurityTokenUnavailable')
    await refused(
      outcome(open(text), signedPolicy, guard(now, { secrets, trust })),
      'InvalidSecurity',
      /x509: not there/,
    )
  })
}

const pinned = new CertificateTrust({ certificates: [pair('alice').pem, pair('p256').pem] })
for (const refer of ['direct', 'issuer-serial', 'thumbprint', 'key-identifier', 'embedded'] as const) {
  test(`X.509 Token Profile §3.2: a certificate referred to by ${refer}`, async () => {
    const { key, certificate } = pair('alice')
    const text = signedMessage(pair('alice'), { key, by: { certificate, refer } })
    await taken(outcome(open(text), signedPolicy, guard(now, { trust: pinned })))
    const carried = refer === 'direct' || refer === 'embedded'
    const known = outcome(open(text), signedPolicy, guard(now, { trust }))
    await (carried ? taken(known) : refused(known, 'SecurityTokenUnavailable'))
    await refused(
      outcome(open(text), signedPolicy, guard(now, { trust: trusting('stranger') })),
      carried ? 'FailedAuthentication' : 'SecurityTokenUnavailable',
    )
  })
}

test('both versions, with header blocks and the token covered', async () => {
  for (const version of [soap11Uri, soap12Uri]) {
    const { key, certificate } = pair('alice')
    const parts = ['Body', 'Timestamp', 'Token', messageId] as const
    const signature: Signing = { key, by: { certificate, refer: 'direct' }, parts }
    const policy: SecurityPolicy = {
      required: true,
      anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', messageId] }],
    }
    const text = protectMessage(plainMessage(version), { timestamp: {}, signature }, now).envelope
    const message = open(text)
    const secured = await taken(outcome(message, policy, guard(now, { trust })))
    assert.equal(secured.covers(message.header!.elements(messageId)[0]!), true)
    const changed = text.replace('>m-1<', '>m-2<')
    await refused(outcome(open(changed), policy, guard(now, { trust })), 'FailedCheck')
    const second = text.replace('<a:MessageID', '<a:MessageID xmlns:a="urn:a">m-0</a:MessageID><a:MessageID')
    await refused(outcome(open(second), policy, guard(now, { trust })), 'InvalidSecurity', /MessageID is not signed/)
  }
})

test('Exclusive C14N: prefixes that are declared outside, and ones that are listed, do not break a signature', async () => {
  const text = signedMessage()
  const moved = text.replace('<s:Envelope ', '<s:Envelope xmlns:unused="urn:unused" ')
  await taken(outcome(open(moved), signedPolicy, guard(now, { trust })))
})

test('a Secured names who signed', async () => {
  const secured = await taken(outcome(open(signedMessage()), signedPolicy, guard(now, { trust })))
  assert.match(secured.caller?.subject ?? '', /certificate of/)
  const nobody = guard(now, { trust })
  const unknown = { ...nobody, identities: { ...nobody.identities, certificate: () => undefined } }
  await refused(outcome(open(signedMessage()), signedPolicy, unknown), 'FailedAuthentication')
})

test('a name under a signature: the token is covered too, and the signer is one who may', async () => {
  const demand: Demand = { caller: 'username', timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }
  const policy: SecurityPolicy = { required: true, anyOf: [demand] }
  const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
  const { key, certificate } = pair('p256')
  const by = (signature: Signing) =>
    open(protectMessage(plainMessage(), { timestamp: {}, username, signature }, now).envelope)
  const direct = { certificate, refer: 'direct' } as const
  const whole = by({ key, by: direct, parts: ['Body', 'Timestamp', 'Token'] })
  assert.equal((await taken(outcome(whole, policy, guard(now, { trust, secrets })))).caller?.subject, 'alice')
  const open1 = by({ key, by: direct, parts: ['Body', 'Timestamp'] })
  await refused(outcome(open1, policy, guard(now, { trust, secrets })), 'InvalidSecurity', /Token is not signed/)
  const other = by({ key: secret, by: { name: 'clara' }, parts: ['Body', 'Timestamp', 'Token'] })
  await refused(outcome(other, policy, guard(now, { trust, secrets })), 'InvalidSecurity', /signed by another party/)
})

test('X7: keys that no algorithm takes', () => {
  const rsa = { hash: 'sha256', family: 'rsa' } as const
  const n = Buffer.alloc(1025, 0xff).toString('base64url')
  const long = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
  assert.equal(fitsKey(rsa, long), false)
  assert.equal(fitsKey(rsa, secret), false)
  assert.equal(fitsKey({ ...rsa, family: 'ecdsa' }, pair('k1').key), false)
  assert.equal(fitsKey({ ...rsa, family: 'ecdsa' }, secret), false)
  assert.equal(fitsKey({ ...rsa, family: 'hmac' }, pair('alice').key), false)
  assert.equal(fitsKey(rsa, pair('alice').key), true)
})
