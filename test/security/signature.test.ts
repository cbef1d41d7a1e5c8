/**
 * XML Signature, out and in: every algorithm, every way to name a key, every part; the proven
 * element is the one that is read.
 */
import assert from 'node:assert/strict'
import { createHash, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { fitsKey } from '../../src/security/crypto/algorithm.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { Demand, SecurityPolicy } from '../../src/security/policy/policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import type { Signing } from '../../src/security/protect/sign.ts'
import { canonicalize, type Element, Malformed, parseXml } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  messageId,
  now,
  openMessage,
  plainMessage,
  signAgain,
  signedDemand,
  signedMessage,
  signedPolicy,
  soap11Uri,
  soap12Uri,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const trust = trustOf('ca')
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
    const text = signedMessage(keyPair(name), more)
    const message = openMessage(text)
    const secured = await expectAccepted(verifyOrRefuse(message, signedPolicy, createGuard(now, { trust })))
    assert.equal(secured.body, message.body)
    assert.equal(secured.covers(message.body), true)
    await expectRefusal(
      verifyOrRefuse(openMessage(text.replace('o-1', 'o-2')), signedPolicy, createGuard(now, { trust })),
      'FailedCheck',
      /digest/,
    )
  })
}

for (const hash of ['sha256', 'sha384', 'sha512'] as const) {
  test(`XML Signature §6.3.1: HMAC with ${hash}, with a shared secret`, async () => {
    const signature: Signing = { key: secret, by: { name: 'clara' }, parts: ['Body', 'Timestamp'], hash }
    const text = protectMessage(plainMessage(), { timestamp: {}, signature }, now).envelope
    const policy: SecurityPolicy = { required: true, anyOf: [{ ...signedDemand, caller: 'secret' }] }
    const secured = await expectAccepted(verifyOrRefuse(openMessage(text), policy, createGuard(now, { secrets })))
    assert.equal(secured.caller?.subject, 'clara')
    const other = new Map([['clara', createSecretKey(Buffer.alloc(32, 8))]])
    await expectRefusal(
      verifyOrRefuse(openMessage(text), policy, createGuard(now, { secrets: other })),
      'FailedCheck',
      /SignatureValue/,
    )
    await expectRefusal(
      verifyOrRefuse(openMessage(text), policy, createGuard(now, { secrets: new Map() })),
      'SecurityTokenUnavailable',
    )
    await expectRefusal(
      verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { secrets, trust })),
      'InvalidSecurity',
      /x509: not there/,
    )
  })
}

const pinned = new CertificateTrust({ certificates: [keyPair('alice').pem, keyPair('p256').pem] })
for (const refer of ['direct', 'issuer-serial', 'thumbprint', 'key-identifier', 'embedded'] as const) {
  test(`X.509 Token Profile §3.2: a certificate referred to by ${refer}`, async () => {
    const { key, certificate } = keyPair('alice')
    const text = signedMessage(keyPair('alice'), { key, by: { certificate, refer } })
    await expectAccepted(verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust: pinned })))
    const carried = refer === 'direct' || refer === 'embedded'
    const known = verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust }))
    await (carried ? expectAccepted(known) : expectRefusal(known, 'SecurityTokenUnavailable'))
    await expectRefusal(
      verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust: trustOf('stranger') })),
      carried ? 'FailedAuthentication' : 'SecurityTokenUnavailable',
    )
  })
}

test('both versions, with header blocks and the token covered', async () => {
  for (const version of [soap11Uri, soap12Uri]) {
    const { key, certificate } = keyPair('alice')
    const parts = ['Body', 'Timestamp', 'Token', messageId] as const
    const signature: Signing = { key, by: { certificate, refer: 'direct' }, parts }
    const policy: SecurityPolicy = {
      required: true,
      anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', messageId] }],
    }
    const text = protectMessage(plainMessage(version), { timestamp: {}, signature }, now).envelope
    const message = openMessage(text)
    const secured = await expectAccepted(verifyOrRefuse(message, policy, createGuard(now, { trust })))
    assert.equal(secured.covers(message.header!.elements(messageId)[0]!), true)
    const changed = text.replace('>m-1<', '>m-2<')
    await expectRefusal(verifyOrRefuse(openMessage(changed), policy, createGuard(now, { trust })), 'FailedCheck')
    const second = text.replace('<a:MessageID', '<a:MessageID xmlns:a="urn:a">m-0</a:MessageID><a:MessageID')
    await expectRefusal(
      verifyOrRefuse(openMessage(second), policy, createGuard(now, { trust })),
      'InvalidSecurity',
      /MessageID is not signed/,
    )
  }
})

test('Exclusive C14N: prefixes declared outside, and listed ones, do not break a signature', async () => {
  const text = signedMessage()
  const moved = text.replace('<s:Envelope ', '<s:Envelope xmlns:unused="urn:unused" ')
  await expectAccepted(verifyOrRefuse(openMessage(moved), signedPolicy, createGuard(now, { trust })))
})

test('a verified message names its signer', async () => {
  const secured = await expectAccepted(
    verifyOrRefuse(openMessage(signedMessage()), signedPolicy, createGuard(now, { trust })),
  )
  assert.match(secured.caller?.subject ?? '', /certificate of/)
  const nobody = createGuard(now, { trust })
  const unknown = { ...nobody, identities: { ...nobody.identities, certificate: () => undefined } }
  await expectRefusal(verifyOrRefuse(openMessage(signedMessage()), signedPolicy, unknown), 'FailedAuthentication')
})

test('a name under a signature: the token is covered too, and the signer may sign for it', async () => {
  const demand: Demand = { caller: 'username', timestamp: true, signed: ['Body', 'Timestamp', 'Token'] }
  const policy: SecurityPolicy = { required: true, anyOf: [demand] }
  const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
  const { key, certificate } = keyPair('p256')
  const by = (signature: Signing) =>
    openMessage(protectMessage(plainMessage(), { timestamp: {}, username, signature }, now).envelope)
  const direct = { certificate, refer: 'direct' } as const
  const whole = by({ key, by: direct, parts: ['Body', 'Timestamp', 'Token'] })
  assert.equal(
    (await expectAccepted(verifyOrRefuse(whole, policy, createGuard(now, { trust, secrets })))).caller?.subject,
    'alice',
  )
  const open1 = by({ key, by: direct, parts: ['Body', 'Timestamp'] })
  await expectRefusal(
    verifyOrRefuse(open1, policy, createGuard(now, { trust, secrets })),
    'InvalidSecurity',
    /Token is not signed/,
  )
  const other = by({ key: secret, by: { name: 'clara' }, parts: ['Body', 'Timestamp', 'Token'] })
  await expectRefusal(
    verifyOrRefuse(other, policy, createGuard(now, { trust, secrets })),
    'InvalidSecurity',
    /signed by another party/,
  )
})

test('X7: keys that fit no algorithm', () => {
  const rsa = { hash: 'sha256', family: 'rsa' } as const
  const n = Buffer.alloc(1025, 0xff).toString('base64url')
  const long = createPublicKey({ key: { kty: 'RSA', n, e: 'AQAB' }, format: 'jwk' })
  assert.equal(fitsKey(rsa, long), false)
  assert.equal(fitsKey(rsa, secret), false)
  assert.equal(fitsKey({ ...rsa, family: 'ecdsa' }, keyPair('k1').key), false)
  assert.equal(fitsKey({ ...rsa, family: 'ecdsa' }, secret), false)
  assert.equal(fitsKey({ ...rsa, family: 'hmac' }, keyPair('alice').key), false)
  assert.equal(fitsKey(rsa, keyPair('alice').key), true)
})

/** The message with an unqualified Id on Body and Timestamp, signed again. */
function signUnqualified(text: string, key: KeyObject): string {
  const changed = text.replace(/(<wsu:Timestamp|<s:Body)([^>]*?) (?:wsu|[a-z0-9]+):Id=/g, '$1$2 Id=')
  const document = parseXml(new TextEncoder().encode(changed))
  assert.ok(!(document instanceof Malformed))
  const all = (element: Element): readonly Element[] => [element, ...element.elements().flatMap(all)]
  const digested = all(document.root).reduce((written, element) => {
    const id = element.attributes.find(each => each.name.local === 'Id')?.value
    const octets = canonicalize(element, { exclusive: true, comments: false })
    const digest = createHash('sha256').update(octets).digest('base64')
    return written.replace(new RegExp(`(URI="#${id}".*?<ds:DigestValue>)[^<]*`), `$1${digest}`)
  }, changed)
  return signAgain(digested, key)
}

for (const [title, version, isIdentifier] of [
  ['is an identifier in SOAP 1.1', soap11Uri, true],
  ['is none on a Body of SOAP 1.2', soap12Uri, false],
] as const)
  test(`WSS §4.2 an unqualified Id on Body and Timestamp, as old stacks write it, ${title}`, async () => {
    const { key, certificate } = keyPair('alice')
    const signature = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] } as const
    const signed = protectMessage(plainMessage(version), { timestamp: {}, signature }, now).envelope
    const text = signUnqualified(signed, key)
    assert.match(text, /<s:Body[^>]* Id="/)
    const result = (of: string) => verifyOrRefuse(openMessage(of), signedPolicy, createGuard(now, { trust }))
    if (isIdentifier) {
      await expectAccepted(result(text))
      await expectRefusal(result(text.replace('o-1', 'o-2')), 'FailedCheck', /digest/)
    } else await expectRefusal(result(text), 'FailedCheck', /not in this document/)
  })

const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"'
const contentNames: readonly (readonly [title: string, body: string, list: string | undefined])[] = [
  ['a QName', '<o:a xmlns:o="urn:o" xmlns:p="urn:p">p:b</o:a>', 'p'],
  ['QNames', '<o:a xmlns:o="urn:o" xmlns:p="urn:p" xmlns:q="urn:q"> q:b\np:b </o:a>', 'p q'],
  ['a QName in an attribute', '<o:a xmlns:o="urn:o" xmlns:p="urn:p" of="p:b"/>', 'p'],
  ['a type', `<o:a xmlns:o="urn:o" xmlns:p="urn:p" ${xsi} i:type="p:B"/>`, 'p'],
  ['a type of the default namespace', `<o:a xmlns:o="urn:o" xmlns="urn:p" ${xsi} i:type="B"/>`, '#default'],
  ['a prefix of the envelope', '<o:a xmlns:o="urn:o">s:b</o:a>', 's'],
  ['a prefix that no one declares', '<o:a xmlns:o="urn:o" xmlns:p="urn:p">r:b</o:a>', undefined],
  ['an address', '<o:a xmlns:o="urn:o" xmlns:p="urn:p">p://b</o:a>', undefined],
]
for (const [title, body, list] of contentNames)
  test(`Exclusive C14N §1.3, BSP 1.1 R5406: the meaning of a prefix in content is signed: ${title}`, async () => {
    const { key, certificate } = keyPair('alice')
    const signature: Signing = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] }
    const text = protectMessage(plainMessage(undefined, '', body), { timestamp: {}, signature }, now).envelope
    const [, found] = /PrefixList="([^"]*)"/.exec(text) ?? []
    assert.equal(found, list)
    const verify = (message: string) => verifyOrRefuse(openMessage(message), signedPolicy, createGuard(now, { trust }))
    await expectAccepted(verify(text))
    const rebound = text.replace(/xmlns(:p)?="urn:p"/, 'xmlns$1="urn:evil"')
    if (list !== undefined && rebound !== text) await expectRefusal(verify(rebound), 'FailedCheck', /digest/)
  })
