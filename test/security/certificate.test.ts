/** X8: whose key it is. Paths (RFC 5280 §6), validity, usage, revocation, names of certificates. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Certificate, parseDistinguishedName, sameDistinguishedName } from '../../src/security/crypto/certificate.ts'
import { NotDer, readDerValues, readObjectIdentifier } from '../../src/security/crypto/der.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { SecurityFault } from '../../src/security/security-fault.ts'
import { wsuNs, x509PathUri, x509v3Uri } from '../../src/security/vocabulary.ts'
import { guard, now, open, outcome, pair, refused, signedMessage, signedPolicy, taken, trusting } from './message.ts'

const pems = (...names: string[]) => names.map(name => pair(name).pem)

const rows: [string, string, CertificateTrust, boolean, string[]][] = [
  ['one of an authority', 'alice', trusting('ca'), true, []],
  ['one of another authority', 'alice', trusting('stranger'), false, []],
  ['a pinned one', 'alice', new CertificateTrust({ certificates: pems('alice') }), true, []],
  ['a pinned authority that issued it', 'alice', new CertificateTrust({ certificates: pems('ca') }), false, []],
  ['one that signed itself', 'stranger', trusting('ca'), false, []],
  ['no anchors', 'alice', new CertificateTrust({}), false, []],
  ['an expired one', 'expired', trusting('ca'), false, []],
  ['an expired one, pinned', 'expired', new CertificateTrust({ certificates: pems('expired') }), false, []],
  ['one whose key may only encrypt', 'bob', trusting('ca'), false, []],
  ['one whose key may only encrypt, pinned', 'bob', new CertificateTrust({ certificates: pems('bob') }), false, []],
  ['a critical extension that is not known', 'critical', trusting('ca'), false, []],
  ['one that was signed with SHA-1', 'sha1', trusting('ca'), false, []],
  ['one of an authority below', 'leaf', trusting('ca'), false, []],
  ['one of an authority below, which came along', 'leaf', trusting('ca'), true, ['between']],
  ['one of an authority below, which is configured', 'leaf', trusting('between'), true, []],
  ['one below an authority that may have none below', 'deep', trusting('ca'), false, ['below', 'between']],
  ['one that somebody issued who is no authority', 'child', trusting('ca'), false, ['alice']],
  [
    'one that somebody issued who is pinned',
    'child',
    new CertificateTrust({ certificates: pems('alice') }),
    false,
    ['alice'],
  ],
  ['one by another key under the name of the authority', 'forged', trusting('ca'), false, []],
  ['the same, which came along', 'forged', trusting('ca'), false, ['impostor']],
  ['one by another key under the name of an authority below', 'offake', trusting('ca'), false, ['between']],
  ['one by the key of the authority under another name', 'alice', trusting('renamed'), false, []],
  ['one that somebody issued of whom nothing is said', 'ofplain', trusting('ca'), false, ['plain']],
  ['one that somebody issued who is said to be no authority', 'ofnotca', trusting('ca'), false, ['notca']],
  ['an authority that may not sign certificates', 'ofnosign', trusting('ca'), false, ['nosign']],
  ['an authority with a critical extension that is not known', 'ofodd', trusting('ca'), false, ['odd']],
  ['three certificates that came along, in any order', 'leaf', trusting('ca'), true, ['alice', 'between', 'bob']],
  [
    'six certificates that came along',
    'leaf',
    trusting('ca'),
    false,
    ['alice', 'bob', 'p256', 'p384', 'p521', 'between'],
  ],
]
for (const [title, name, trust, expected, others] of rows) {
  test(`RFC 5280 §6: ${title}: ${expected ? 'trusted' : 'not trusted'}`, () => {
    const carried = others.map(each => pair(each).certificate.der)
    for (let again = 0; again < 2; again++) {
      assert.equal(trust.findTrusted(pair(name).certificate.der, now, carried) !== undefined, expected)
    }
  })
}

test('RFC 5280 §4.1.2.5: from notBefore on, until notAfter', () => {
  const { der, notBefore, notAfter } = pair('alice').certificate
  const trust = trusting('ca')
  assert.ok(trust.findTrusted(der, notBefore))
  assert.ok(trust.findTrusted(der, Math.min(notAfter, pair('ca').certificate.notAfter) - 1))
  assert.equal(trust.findTrusted(der, notBefore - 1), undefined)
  assert.equal(trust.findTrusted(der, notAfter), undefined)
})

test('a certificate that is withdrawn is refused at once, and so is what its authority issued', async () => {
  const withdrawn = new Set<bigint>()
  const revoked = ({ serial }: Certificate) => withdrawn.has(serial)
  const trust = new CertificateTrust({ authorities: pems('ca'), revoked })
  await taken(outcome(open(signedMessage()), signedPolicy, guard(now, { trust })))
  withdrawn.add(pair('alice').certificate.serial)
  await refused(outcome(open(signedMessage()), signedPolicy, guard(now, { trust })), 'FailedAuthentication')
  withdrawn.clear()
  withdrawn.add(pair('ca').certificate.serial)
  await refused(outcome(open(signedMessage()), signedPolicy, guard(now, { trust })), 'FailedAuthentication')
})

test('X.509 Token Profile §3.1: a path in a token', async () => {
  const { der } = pair('leaf').certificate
  const path = Buffer.concat([pair('between').certificate.der, der])
  const sequence = Buffer.concat([Buffer.of(0x30, 0x82, path.length >> 8, path.length & 0xff), path])
  const text = signedMessage(pair('leaf'))
    .replace(der.toString('base64'), sequence.toString('base64'))
    .replace(x509v3Uri, x509PathUri)
  await taken(outcome(open(text.replace(x509v3Uri, x509PathUri)), signedPolicy, guard(now, { trust: trusting('ca') })))
  await refused(
    outcome(open(signedMessage(pair('leaf'))), signedPolicy, guard(now, { trust: trusting('ca') })),
    'FailedAuthentication',
  )
  const none = text.replace(sequence.toString('base64'), 'MAA=')
  await refused(
    outcome(open(none), signedPolicy, guard(now, { trust: trusting('ca') })),
    'InvalidSecurityToken',
    /path/,
  )
})

test('X8: the key of a stranger, with the certificate of alice beside it', async () => {
  const trust = trusting('ca')
  const forged = signedMessage(pair('stranger'))
  const own = pair('stranger').certificate.der.toString('base64')
  await refused(outcome(open(forged), signedPolicy, guard(now, { trust })), 'FailedAuthentication')
  const claimed = forged.replace(own, pair('alice').certificate.der.toString('base64'))
  await refused(outcome(open(claimed), signedPolicy, guard(now, { trust })), 'FailedCheck', /SignatureValue/)
  const both = forged.replace(
    '<wsse:BinarySecurityToken',
    `<wsse:BinarySecurityToken xmlns:u="${wsuNs}" u:Id="a" ValueType="${x509v3Uri}">${pair('alice').certificate.der.toString('base64')}</wsse:BinarySecurityToken><wsse:BinarySecurityToken`,
  )
  await refused(outcome(open(both), signedPolicy, guard(now, { trust })), 'FailedAuthentication')
})

const names: [string, string, boolean][] = [
  ['CN=alice,O=Org', 'CN=alice,O=Org', true],
  ['CN=alice, O=Org', 'cn=ALICE,o=org', true],
  ['CN=alice,O=Org', 'O=Org,CN=alice', true], // from the root down, as some peers write it
  ['CN=alice;O=Org', 'CN=alice,O=Org', true],
  ['CN=a  b', 'CN=a b', true],
  ['CN=a\\, b', 'CN="a, b"', true],
  ['CN=a\\2C b', 'CN=a\\, b', true],
  ['CN=Lu\\C4\\8Di\\C4\\87', 'CN=Lučić', true],
  ['CN=a\u{1f600}', 'CN=a\\F0\\9F\\98\\80', true],
  ['2.5.4.3=alice', 'OID.2.5.4.3=alice', true],
  ['CN=a+OU=b,O=c', 'OU=b+CN=a,O=c', true],
  ['EMAILADDRESS=a@b', 'E=a@b', true],
  ['CN=alice', 'CN=alicia', false],
  ['CN=alice,O=Org', 'CN=alice', false],
  ['CN=alice,O=Org', 'CN=alice+O=Org', false],
  ['CN=a\\,O=b', 'CN=a,O=b', false],
]
for (const [one, other, expected] of names) {
  test(`RFC 4514 §3: ${one} is ${expected ? '' : 'not '}${other}`, () => {
    const [a, b] = [parseDistinguishedName(one), parseDistinguishedName(other)]
    assert.ok(a && b)
    assert.equal(sameDistinguishedName(a, b), expected)
  })
}
for (const text of ['CN', 'nobody=a', 'CN="a', 'CN="a"b', '=a']) {
  test(`RFC 4514 §3: ${text} is no name`, () => assert.equal(parseDistinguishedName(text), undefined))
}

test('X.690: what is cut short or of another form is refused', () => {
  for (const octets of [
    [0x30],
    [0x30, 1],
    [0x30, 0x80, 0, 0],
    [0x30, 0x85, 0, 0, 0, 0, 1, 0],
    [0x1f, 1, 0],
    [0x30, 0x82, 1],
    [0x30, 0x84, 0xff, 0xff, 0xff, 0xff],
  ]) {
    assert.throws(() => readDerValues(Buffer.from(octets)), NotDer)
  }
  assert.equal(readObjectIdentifier(Buffer.from('2a864886f70d010105', 'hex')), '1.2.840.113549.1.1.5')
  assert.equal(readObjectIdentifier(Buffer.from('8837', 'hex')), '2.999')
})

const key = (inside: string) => `<ds:KeyInfo>${inside}</ds:KeyInfo>`
const reference = (inside: string) => key(`<wsse:SecurityTokenReference>${inside}</wsse:SecurityTokenReference>`)
const token = `<wsse:BinarySecurityToken ValueType="${x509v3Uri}">${pair('alice').certificate.der.toString('base64')}</wsse:BinarySecurityToken>`
const serial = (issuer: string, number: string) =>
  `<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${issuer}</ds:X509IssuerName><ds:X509SerialNumber>${number}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>`
const ec = (uri: string, point: string) =>
  key(
    `<ds:KeyValue><d:ECKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#"><d:NamedCurve URI="${uri}"/><d:PublicKey>${point}</d:PublicKey></d:ECKeyValue></ds:KeyValue>`,
  )
const keyInfos: [string, string, SecurityFault | 'taken', RegExp][] = [
  ['WSS §7.4 an embedded token', reference(`<wsse:Embedded>${token}</wsse:Embedded>`), 'taken', /^$/],
  [
    'the certificate itself, as WSS4J writes it',
    reference(
      `<wsse:KeyIdentifier ValueType="${x509v3Uri}">${pair('alice').certificate.der.toString('base64')}</wsse:KeyIdentifier>`,
    ),
    'taken',
    /^$/,
  ],
  ['Embedded with nothing', reference('<wsse:Embedded/>'), 'SecurityTokenUnavailable', /Embedded/],
  [
    'Embedded with two tokens',
    reference(`<wsse:Embedded>${token}${token}</wsse:Embedded>`),
    'SecurityTokenUnavailable',
    /Embedded/,
  ],
  ['an empty reference', reference(''), 'SecurityTokenUnavailable', /does not name one token/],
  [
    'a reference with two',
    reference(`<wsse:Embedded>${token}</wsse:Embedded><wsse:Embedded/>`),
    'SecurityTokenUnavailable',
    /does not name one token/,
  ],
  [
    'a reference of another kind',
    reference('<ds:RetrievalMethod URI="#x"/>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  [
    'a KeyIdentifier of another kind',
    reference('<wsse:KeyIdentifier ValueType="urn:x">AAAA</wsse:KeyIdentifier>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  ['X509Data with nothing', key('<ds:X509Data/>'), 'SecurityTokenUnavailable', /one certificate/],
  [
    'X509Data with two names',
    key('<ds:X509Data><ds:X509SKI>AAAA</ds:X509SKI><ds:X509SKI>AAAA</ds:X509SKI></ds:X509Data>'),
    'SecurityTokenUnavailable',
    /one certificate/,
  ],
  [
    'X509Data with a subject',
    key('<ds:X509Data><ds:X509SubjectName>CN=alice</ds:X509SubjectName></ds:X509Data>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  ['an issuer that is no name', reference(serial('alice', '1')), 'SecurityTokenUnavailable', /issuer or serial/],
  [
    'a serial number that is none',
    reference(serial('CN=alice', '0x1')),
    'SecurityTokenUnavailable',
    /issuer or serial/,
  ],
  [
    'a serial number of another',
    reference(serial('O=Diglot tests,CN=Test CA', '1')),
    'SecurityTokenUnavailable',
    /unknown certificate/,
  ],
  [
    'a key of another kind',
    key('<ds:KeyValue><ds:DSAKeyValue/></ds:KeyValue>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  ['another curve', ec('urn:oid:1.3.132.0.10', 'BAAA'), 'InvalidSecurityToken', /unsupported curve/],
  ['a point in another form', ec('urn:oid:1.2.840.10045.3.1.7', 'AgAA'), 'InvalidSecurityToken', /unsupported form/],
  [
    'a point that is not on the curve',
    ec('urn:oid:1.2.840.10045.3.1.7', Buffer.alloc(65, 4).toString('base64')),
    'InvalidSecurityToken',
    /EC key/,
  ],
]
for (const [title, keyInfo, expected, why] of keyInfos) {
  test(`X8 KeyInfo: ${title}: ${expected}`, async () => {
    const text = signedMessage().replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, keyInfo)
    const result = outcome(open(text), signedPolicy, guard(now, { trust: trusting('ca') }))
    await (expected === 'taken' ? taken(result) : refused(result, expected, why))
  })
}

test('X8: a token in another encoding, and a pinned certificate whose time is over', async () => {
  const hex = signedMessage().replace(/EncodingType="[^"]*"/, 'EncodingType="urn:hex"')
  await refused(
    outcome(open(hex), signedPolicy, guard(now, { trust: trusting('ca') })),
    'UnsupportedSecurityToken',
    /encoding/,
  )
  const { key, certificate } = pair('expired')
  const old = signedMessage(pair('expired'), { key, by: { certificate, refer: 'thumbprint' } })
  const trust = new CertificateTrust({ certificates: pems('expired') })
  await refused(outcome(open(old), signedPolicy, guard(now, { trust })), 'FailedAuthentication', /not trusted now/)
})

test('RFC 5280: octets that were a certificate are trusted or not, whatever was done to them, and nothing is thrown', () => {
  const whole = ['alice', 'leaf', 'between', 'bob', 'p256'].map(name => pair(name).certificate.der)
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.constantFrom(...whole), damage, (der, changes) => {
      const damaged = Buffer.from(der)
      for (const [at, octet] of changes) damaged[at % der.length] = octet
      const trust = trusting('ca')
      if (!damaged.equals(der)) assert.equal(trust.findTrusted(damaged, now, [damaged]), undefined)
    }),
    { numRuns: 3000 },
  )
})

const octets = (text: string): string => Buffer.from(text, 'hex').toString('latin1')
/** An extension of the certificate of `name` with one octet of its value changed. */
const changed = (name: string, from: string, to: string): Buffer => {
  const der = pair(name).certificate.der.toString('latin1')
  assert.ok(der.includes(octets(from)), 'the certificate has the extension')
  return Buffer.from(der.replace(octets(from), octets(to)), 'latin1')
}
for (const [title, from, to] of [
  ['KeyUsage', '0603551d0f0101ff04040302', '0603551d0f0101ff0404031f'],
  ['SubjectKeyIdentifier', '0603551d0e04160414', '0603551d0e0416041f'],
] as const)
  test(`RFC 5280 §4.2: a ${title} that is not DER: not a certificate`, () => {
    assert.throws(() => new Certificate(changed('alice', from, to)), NotDer)
    assert.equal(trusting('ca').findTrusted(changed('alice', from, to), now), undefined)
  })
