/**
 * X8: the holder of a key. Paths (RFC 5280 §6), validity, usage, revocation, names of certificates.
 */
import assert from 'node:assert/strict'
import { createHash, createSecretKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestUri, readDigestMethod } from '../../src/security/crypto/algorithm.ts'
import { Certificate } from '../../src/security/crypto/certificate.ts'
import { NotDer, readDer, readDerValues, readObjectIdentifier } from '../../src/security/crypto/der.ts'
import {
  parseDistinguishedName,
  readDistinguishedName,
  sameDistinguishedName,
  writeDistinguishedName,
} from '../../src/security/crypto/distinguished-name.ts'
import { RevocationLists } from '../../src/security/crypto/revocation.ts'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import type { SecurityFault } from '../../src/security/security-fault.ts'
import { Identifiers } from '../../src/security/tree/identifiers.ts'
import { readKeyReference } from '../../src/security/verify/key-info.ts'
import { wsuNs, x509PathUri, x509v3Uri } from '../../src/security/vocabulary.ts'
import { type Document, parseXml } from '../../src/xml/index.ts'
import { createRsaKey, der, extension, identifier, issueCertificate, octetString, sequence, testTime } from './issue.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  signedMessage,
  signedPolicy,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const pemsOf = (...names: string[]) => names.map(name => keyPair(name).pem)

const rows: [string, string, CertificateTrust, boolean, string[]][] = [
  ['one of an authority', 'alice', trustOf('ca'), true, []],
  ['one of another authority', 'alice', trustOf('stranger'), false, []],
  ['a pinned one', 'alice', new CertificateTrust({ certificates: pemsOf('alice') }), true, []],
  ['a pinned authority that issued it', 'alice', new CertificateTrust({ certificates: pemsOf('ca') }), false, []],
  ['one that signed itself', 'stranger', trustOf('ca'), false, []],
  ['no anchors', 'alice', new CertificateTrust({}), false, []],
  ['an expired one', 'expired', trustOf('ca'), false, []],
  ['an expired one, pinned', 'expired', new CertificateTrust({ certificates: pemsOf('expired') }), false, []],
  ['one whose key may only encrypt', 'bob', trustOf('ca'), false, []],
  ['one whose key may only encrypt, pinned', 'bob', new CertificateTrust({ certificates: pemsOf('bob') }), false, []],
  ['a critical extension that is not known', 'critical', trustOf('ca'), false, []],
  ['one that was signed with SHA-1', 'sha1', trustOf('ca'), false, []],
  ['one of an authority below', 'leaf', trustOf('ca'), false, []],
  ['one of an authority below, which came along', 'leaf', trustOf('ca'), true, ['between']],
  ['one of an authority below, which is configured', 'leaf', trustOf('between'), true, []],
  ['one below an authority that may have none below', 'deep', trustOf('ca'), false, ['below', 'between']],
  ['one issued by a certificate that is not an authority', 'child', trustOf('ca'), false, ['alice']],
  [
    'one issued by a pinned certificate',
    'child',
    new CertificateTrust({ certificates: pemsOf('alice') }),
    false,
    ['alice'],
  ],
  ['one by another key under the name of the authority', 'forged', trustOf('ca'), false, []],
  ['the same, which came along', 'forged', trustOf('ca'), false, ['impostor']],
  ['one by another key under the name of an authority below', 'offake', trustOf('ca'), false, ['between']],
  ['one by the key of the authority under another name', 'alice', trustOf('renamed'), false, []],
  ['one issued by a certificate without BasicConstraints', 'ofplain', trustOf('ca'), false, ['plain']],
  ['one issued by a certificate with cA false', 'ofnotca', trustOf('ca'), false, ['notca']],
  ['an authority that may not sign certificates', 'ofnosign', trustOf('ca'), false, ['nosign']],
  ['an authority with a critical extension that is not known', 'ofodd', trustOf('ca'), false, ['odd']],
  ['three certificates that came along, in any order', 'leaf', trustOf('ca'), true, ['alice', 'between', 'bob']],
  [
    'six certificates that came along',
    'leaf',
    trustOf('ca'),
    false,
    ['alice', 'bob', 'p256', 'p384', 'p521', 'between'],
  ],
]
for (const [title, name, trust, expected, others] of rows) {
  test(`RFC 5280 §6: ${title}: ${expected ? 'trusted' : 'not trusted'}`, () => {
    const carried = others.map(each => keyPair(each).certificate.der)
    for (let again = 0; again < 2; again++) {
      assert.equal(trust.findTrusted(keyPair(name).certificate.der, now, carried) !== undefined, expected)
    }
  })
}

test('RFC 5280 §4.1.2.5: from notBefore through notAfter, inclusive', () => {
  const { der, notBefore, notAfter } = keyPair('alice').certificate
  const trust = trustOf('ca')
  assert.ok(trust.findTrusted(der, notBefore))
  const last = Math.min(notAfter, keyPair('ca').certificate.notAfter)
  assert.ok(trust.findTrusted(der, last))
  assert.equal(trust.findTrusted(der, notBefore - 1), undefined)
  assert.equal(trust.findTrusted(der, last + 1), undefined)
})

test('a withdrawn certificate is refused at once, and so is any that its authority issued', async () => {
  const withdrawn = new Set<bigint>()
  const revoked = ({ serial }: Certificate) => withdrawn.has(serial)
  const trust = new CertificateTrust({ authorities: pemsOf('ca'), revoked })
  await expectAccepted(verifyOrRefuse(openMessage(signedMessage()), signedPolicy, createGuard(now, { trust })))
  withdrawn.add(keyPair('alice').certificate.serial)
  await expectRefusal(
    verifyOrRefuse(openMessage(signedMessage()), signedPolicy, createGuard(now, { trust })),
    'FailedAuthentication',
  )
  withdrawn.clear()
  withdrawn.add(keyPair('ca').certificate.serial)
  await expectRefusal(
    verifyOrRefuse(openMessage(signedMessage()), signedPolicy, createGuard(now, { trust })),
    'FailedAuthentication',
  )
})

test('a remembered certificate is still checked against the clock and its lists each time', () => {
  const { der, notAfter } = keyPair('alice').certificate
  const text = der.toString('base64')
  let decoded = 0
  const decode = () => {
    decoded++
    return der
  }
  let lists: RevocationLists | undefined
  const trust = new CertificateTrust({ authorities: pemsOf('ca'), revocation: 'ifKnown' }, 'trust', {
    lists: () => lists,
  })
  const isTrusted = (at: number) => typeof trust.judgeSpelling(text, at, decode) !== 'string'
  assert.deepEqual([isTrusted(now), isTrusted(now), decoded], [true, true, 1])
  assert.deepEqual([isTrusted(notAfter + 1), isTrusted(now)], [false, true])
  lists = new RevocationLists([])
  const before = decoded
  assert.deepEqual([isTrusted(now), decoded], [true, before + 1], 'other lists are other facts')
})

test('a certificate that is not trusted, or has a very long encoding, is decoded each time', () => {
  const { der } = keyPair('alice').certificate
  const timesDecoded = (trust: CertificateTrust, text: string): number => {
    let decoded = 0
    for (let again = 0; again < 3; again++)
      trust.judgeSpelling(text, now, () => {
        decoded++
        return der
      })
    return decoded
  }
  const text = der.toString('base64')
  assert.equal(timesDecoded(trustOf('stranger'), text), 3)
  assert.equal(timesDecoded(trustOf('ca'), text + ' '.repeat(10_000)), 3)
  assert.equal(timesDecoded(trustOf('ca'), text), 1)
})

test('XML Signature §4.5.4: certificates of X509Data have no order, and mean the last one of their path', () => {
  const read = (...names: string[]) => {
    const certificates = names.map(each => keyPair(each).certificate.der.toString('base64'))
    const written = certificates.map(each => `<ds:X509Certificate>${each}</ds:X509Certificate>`).join('')
    const text = `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>${written}</ds:X509Data></ds:KeyInfo>`
    const { root } = parseXml(Buffer.from(text)) as Document
    const found = readKeyReference(root, new Identifiers(root))
    assert.ok(found.kind === 'certificates' && found.others.length === names.length - 1)
    return names.find(each => keyPair(each).certificate.der.equals(found.der))
  }
  assert.equal(read('leaf', 'between', 'ca'), 'leaf')
  assert.equal(read('ca', 'between', 'leaf'), 'leaf')
  assert.equal(read('between', 'leaf'), 'leaf')
  assert.equal(read('ca'), 'ca')
  assert.equal(read('alice', 'stranger'), 'alice')
})

test('XML Encryption 1.1 §5.8.3: SHA-384 has a second name', () => {
  const read = (uri: string) =>
    readDigestMethod((parseXml(Buffer.from(`<m Algorithm="${uri}"/>`)) as Document).root, new Set())
  for (const space of ['xmlenc', 'xmldsig-more'])
    assert.equal(read(`http://www.w3.org/2001/04/${space}#sha384`), 'sha384')
  assert.equal(digestUri('sha384'), 'http://www.w3.org/2001/04/xmldsig-more#sha384')
})

test('X.509 Token Profile §3.1: a path in a token', async () => {
  const { der } = keyPair('leaf').certificate
  const path = Buffer.concat([keyPair('between').certificate.der, der])
  const sequence = Buffer.concat([Buffer.of(0x30, 0x82, path.length >> 8, path.length & 0xff), path])
  const text = signedMessage(keyPair('leaf'))
    .replace(der.toString('base64'), sequence.toString('base64'))
    .replace(x509v3Uri, x509PathUri)
  await expectAccepted(
    verifyOrRefuse(
      openMessage(text.replace(x509v3Uri, x509PathUri)),
      signedPolicy,
      createGuard(now, { trust: trustOf('ca') }),
    ),
  )
  await expectRefusal(
    verifyOrRefuse(
      openMessage(signedMessage(keyPair('leaf'))),
      signedPolicy,
      createGuard(now, { trust: trustOf('ca') }),
    ),
    'FailedAuthentication',
  )
  const none = text.replace(sequence.toString('base64'), 'MAA=')
  await expectRefusal(
    verifyOrRefuse(openMessage(none), signedPolicy, createGuard(now, { trust: trustOf('ca') })),
    'InvalidSecurityToken',
    /path/,
  )
})

test('X8: the key of a stranger, with the certificate of alice next to it', async () => {
  const trust = trustOf('ca')
  const forged = signedMessage(keyPair('stranger'))
  const own = keyPair('stranger').certificate.der.toString('base64')
  await expectRefusal(
    verifyOrRefuse(openMessage(forged), signedPolicy, createGuard(now, { trust })),
    'FailedAuthentication',
  )
  const claimed = forged.replace(own, keyPair('alice').certificate.der.toString('base64'))
  await expectRefusal(
    verifyOrRefuse(openMessage(claimed), signedPolicy, createGuard(now, { trust })),
    'FailedCheck',
    /SignatureValue/,
  )
  const both = forged.replace(
    '<wsse:BinarySecurityToken',
    `<wsse:BinarySecurityToken xmlns:u="${wsuNs}" u:Id="a" ValueType="${x509v3Uri}">${keyPair('alice').certificate.der.toString('base64')}</wsse:BinarySecurityToken><wsse:BinarySecurityToken`,
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(both), signedPolicy, createGuard(now, { trust })),
    'FailedAuthentication',
  )
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
  ['2.5.4.97=VATDE-1', 'organizationIdentifier=VATDE-1', true], // as OpenSSL writes it
  ['2.5.4.97=#0c0756415444452d31', '2.5.4.97=VATDE-1', true], // as Java writes it
  ['1.2.840.113549.1.9.1=#1603614062+CN=a', 'E=a@b+CN=a', true],
  ['2.5.4.46=#020105', 'DNQ=#020105', true], // not a text
  ['CN="Say ""a, b"""', 'CN=Say \\"a\\, b\\"', true], // as .NET writes it
  ['CN=\\#0c0161', 'CN=a', false],
  ['CN=#0c0161', 'CN=b', false],
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
for (const text of [
  'CN',
  'nobody=a',
  'CN="a',
  'CN="a"b',
  '=a',
  'CN=#',
  'CN=#0',
  'CN=#0c02aa',
  'CN=#0x',
  'CN=#0c0161zz',
]) {
  test(`RFC 4514 §3: ${text} is not a name`, () => assert.equal(parseDistinguishedName(text), undefined))
}

const utf8Attribute = (type: string, value: string, tag = 0x0c) =>
  sequence(identifier(type), der(tag, Buffer.from(value)))
const relative = (...attributes: readonly Buffer[]) => der(0x31, ...attributes)
const commonName = (value: string, tag?: number) => relative(utf8Attribute('2.5.4.3', value, tag))
const written: [string, Buffer, string][] = [
  ['§2.1: the leaf first', sequence(relative(utf8Attribute('2.5.4.6', 'DE')), commonName('a')), 'CN=a,C=DE'],
  [
    '§2.2: several attributes',
    sequence(relative(utf8Attribute('2.5.4.3', 'a'), utf8Attribute('2.5.4.11', 'b'))),
    'CN=a+OU=b',
  ],
  [
    '§2.3: organizationIdentifier by its identifier',
    sequence(relative(utf8Attribute('2.5.4.97', 'VATDE-1'))),
    '2.5.4.97=#0C0756415444452D31',
  ],
  [
    '§2.3: an e-mail address by its identifier',
    sequence(relative(utf8Attribute('1.2.840.113549.1.9.1', 'a@b', 0x16))),
    '1.2.840.113549.1.9.1=#1603614062',
  ],
  ['§2.4: a value that is not a text', sequence(commonName('\u0005', 0x02)), '2.5.4.3=#020105'],
  ['§2.4: what has a meaning', sequence(commonName('a"+,;<>\\=ü#')), 'CN=a\\"\\+\\,\\;\\<\\>\\\\=ü#'],
  ['§2.4: # at the beginning', sequence(commonName('##')), 'CN=\\##'],
  ['§2.4, XML Signature §4.5.4.1: spaces and controls', sequence(commonName('  a\n\0 ')), 'CN=\\20 a\\0A\\00\\20'],
]
for (const [title, octets, text] of written) {
  test(`RFC 4514 ${title}`, () => {
    assert.equal(writeDistinguishedName(readDer(octets)), text)
    assert.deepEqual(parseDistinguishedName(text), readDistinguishedName(readDer(octets)))
  })
}

test('X.690: truncated or malformed octets are refused', () => {
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
const token = `<wsse:BinarySecurityToken ValueType="${x509v3Uri}">${keyPair('alice').certificate.der.toString('base64')}</wsse:BinarySecurityToken>`
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
      `<wsse:KeyIdentifier ValueType="${x509v3Uri}">${keyPair('alice').certificate.der.toString('base64')}</wsse:KeyIdentifier>`,
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
    /unknown certificate/,
  ],
  [
    'X509Data with nine names',
    key(`<ds:X509Data>${'<ds:X509SKI>AAAA</ds:X509SKI>'.repeat(9)}</ds:X509Data>`),
    'SecurityTokenUnavailable',
    /one certificate/,
  ],
  [
    'X509Data with a subject',
    key('<ds:X509Data><ds:X509SubjectName>CN=alice</ds:X509SubjectName></ds:X509Data>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  ['an invalid name of an issuer', reference(serial('alice', '1')), 'SecurityTokenUnavailable', /issuer or serial/],
  ['an invalid serial number', reference(serial('CN=alice', '0x1')), 'SecurityTokenUnavailable', /issuer or serial/],
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
    const result = verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust: trustOf('ca') }))
    await (expected === 'taken' ? expectAccepted(result) : expectRefusal(result, expected, why))
  })
}

// XML Signature 1.1 §4.5: all that a KeyInfo says refers to one key.
const pinnedNames = (name: string) => {
  const { certificate } = keyPair(name)
  const hash = (algorithm: string) => createHash(algorithm).update(certificate.der).digest('base64')
  const spki = certificate.key.export({ type: 'spki', format: 'der' }).toString('base64')
  const { n, e } = certificate.key.export({ format: 'jwk' })
  const number = (text = '') => Buffer.from(text, 'base64url').toString('base64')
  const digest = (algorithm: string, value: string) =>
    `<d:X509Digest xmlns:d="http://www.w3.org/2009/xmldsig11#" Algorithm="${algorithm}">${value}</d:X509Digest>`
  return {
    carried: `<ds:X509Data><ds:X509Certificate>${certificate.der.toString('base64')}</ds:X509Certificate></ds:X509Data>`,
    certificate: `<ds:X509Certificate>${certificate.der.toString('base64')}</ds:X509Certificate>`,
    rsa: `<ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${number(n)}</ds:Modulus><ds:Exponent>${number(e)}</ds:Exponent></ds:RSAKeyValue></ds:KeyValue>`,
    der: `<d:DEREncodedKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#">${spki}</d:DEREncodedKeyValue>`,
    sha256: digest('http://www.w3.org/2001/04/xmlenc#sha256', hash('sha256')),
    sha1: digest('http://www.w3.org/2000/09/xmldsig#sha1', hash('sha1')),
    md5: digest('http://www.w3.org/2001/04/xmldsig-more#md5', hash('md5')),
    ski: `<ds:X509SKI>${certificate.subjectKeyIdentifier?.toString('base64')}</ds:X509SKI>`,
    subject: `<ds:X509SubjectName>${certificate.x509.subject.split('\n').reverse().join(',')}</ds:X509SubjectName>`,
  }
}
const alice = pinnedNames('alice')
const stranger = pinnedNames('leaf')
const data = (...names: string[]) => `<ds:X509Data>${names.join('')}</ds:X509Data>`
const named = '<ds:KeyName>any</ds:KeyName>'
const several: readonly [title: string, keyInfo: string, why?: RegExp, fault?: SecurityFault][] = [
  ['§4.5.2 a KeyValue of the certificate beside it', alice.carried + alice.rsa],
  ['§4.5.2 the KeyValue before it', alice.rsa + alice.carried],
  ['§4.5.2 a KeyValue of another key', alice.carried + stranger.rsa, /two keys/],
  ['§4.5.10 a DEREncodedKeyValue of the certificate', alice.carried + alice.der],
  ['§4.5.10 both forms of the key', alice.rsa + alice.der + alice.carried],
  ['§4.5.10 a DEREncodedKeyValue of another key', alice.der + stranger.der + alice.carried, /two keys/],
  [
    '§4.5.10 a DEREncodedKeyValue that is no key',
    `${alice.carried}<d:DEREncodedKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#">MAA=</d:DEREncodedKeyValue>`,
    /invalid key in DER/,
    'InvalidSecurityToken',
  ],
  ['§4.5.1 a KeyName, which nobody here knows', named + alice.carried],
  ['§4.5.1 a KeyName that is one of a shared secret', `<ds:KeyName>clara</ds:KeyName>${alice.carried}`, /two keys/],
  ['§4.5.1 a KeyName beside a bare key', named + alice.rsa, /no certificate/],
  ['§4.5 two certificates', alice.carried + stranger.carried, /one key/],
  ['§4.5 something else beside it', `${alice.carried}<ds:MgmtData/>`, /one key/],
  ['§4.5 more than eight statements', alice.carried + named.repeat(8), /one key/],
  ['§4.5.4 X509Digest', data(alice.sha256)],
  ['§4.5.4 X509Digest by SHA-1, which only names', data(alice.sha1)],
  ['§4.5.4 X509Digest of another', data(stranger.sha256), /unknown certificate/],
  ['§4.5.4 X509Digest by MD5', data(alice.md5), /digest/, 'UnsupportedAlgorithm'],
  ['§4.5.4 several names of one certificate', data(alice.subject, alice.ski, alice.sha256)],
  ['§4.5.4 names of two certificates', data(alice.ski, stranger.sha256), /two keys/],
  ['§4.5.4 the subject of another', data(alice.ski, stranger.subject), /two keys/],
  ['§4.5.4 names beside a certificate', data(alice.certificate, alice.subject, alice.ski, alice.sha256)],
  ['§4.5.4 the subject of another beside a certificate', data(alice.certificate, stranger.subject), /two keys/],
  ['§4.5.4 the digest of another beside a certificate', data(stranger.sha256, alice.certificate), /two keys/],
  [
    '§4.5.4 a name that cannot be read beside a certificate',
    data(
      alice.certificate,
      '<ds:X509SubjectName>nobody=x</ds:X509SubjectName>',
      alice.md5,
      '<ds:X509SKI>?</ds:X509SKI>',
    ),
  ],
  ['§4.5.4 an invalid subject', data(alice.ski, '<ds:X509SubjectName>=</ds:X509SubjectName>'), /invalid subject/],
  ['§4.5.4 a list beside the name is left to the settings', data(alice.ski, '<ds:X509CRL>AAAA</ds:X509CRL>')],
]
for (const [title, inside, why, fault = 'SecurityTokenUnavailable'] of several)
  test(`X8 XML Signature 1.1 ${title}: ${why ? 'refused' : 'taken'}`, async () => {
    const text = signedMessage().replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, key(inside))
    const trust = new CertificateTrust({ certificates: keyPair('alice').certificate.x509.toString() })
    const secrets = new Map([['clara', createSecretKey(Buffer.alloc(32, 1))]])
    const result = verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust, secrets }))
    await (why ? expectRefusal(result, fault, why) : expectAccepted(result))
  })

const renewals: readonly (readonly [title: string, ends: readonly number[], taken: boolean])[] = [
  ['the first has ended', [-1, 1], true],
  ['the second has ended', [1, -1], true],
  ['both are valid', [1, 2], true],
  ['both have ended', [-1, -2], false],
]
for (const [title, ends, taken] of renewals)
  for (const refer of ['key-identifier', 'thumbprint'] as const)
    test(`RFC 5280 §4.2.1.2 a certificate and its renewal for one key, by ${refer}: ${title}`, async () => {
      const holder = { name: 'CN=partner', key: createRsaKey() }
      const extensions = [extension('2.5.29.14', octetString(Buffer.alloc(20, 7)))]
      const day = 86_400_000
      const issued = ends.map(end =>
        issueCertificate({
          ...holder,
          by: holder,
          extensions,
          notBefore: testTime - 9 * day,
          notAfter: testTime + end * day,
        }),
      )
      const trust = new CertificateTrust({ certificates: issued.map(each => new X509Certificate(each).toString()) })
      const at = ends.indexOf(Math.max(...ends))
      const certificate = new Certificate(issued[at]!)
      const text = signedMessage(
        { ...keyPair('alice'), key: holder.key.privateKey, certificate },
        {
          key: holder.key.privateKey,
          by: { certificate, refer },
        },
      )
      const result = verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust }))
      await (taken ? expectAccepted(result) : expectRefusal(result, 'FailedAuthentication', /trusted now/))
    })

test('X8: a token in another encoding, and a pinned certificate that has expired', async () => {
  const hex = signedMessage().replace(/EncodingType="[^"]*"/, 'EncodingType="urn:hex"')
  await expectRefusal(
    verifyOrRefuse(openMessage(hex), signedPolicy, createGuard(now, { trust: trustOf('ca') })),
    'UnsupportedSecurityToken',
    /encoding/,
  )
  const { key, certificate } = keyPair('expired')
  const old = signedMessage(keyPair('expired'), { key, by: { certificate, refer: 'thumbprint' } })
  const trust = new CertificateTrust({ certificates: pemsOf('expired') })
  await expectRefusal(
    verifyOrRefuse(openMessage(old), signedPolicy, createGuard(now, { trust })),
    'FailedAuthentication',
    /not trusted now/,
  )
})

test('RFC 5280: octets that were a certificate are trusted or not, whatever was done to them, and nothing is thrown', () => {
  const whole = ['alice', 'leaf', 'between', 'bob', 'p256'].map(name => keyPair(name).certificate.der)
  const damage = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.constantFrom(...whole), damage, (der, changes) => {
      const damaged = Buffer.from(der)
      for (const [at, octet] of changes) damaged[at % der.length] = octet
      const trust = trustOf('ca')
      if (!damaged.equals(der)) assert.equal(trust.findTrusted(damaged, now, [damaged]), undefined)
    }),
    { numRuns: 3000 },
  )
})

const octets = (text: string): string => Buffer.from(text, 'hex').toString('latin1')
/** An extension of the certificate of `name` with one octet of its value changed. */
const changeExtension = (name: string, from: string, to: string): Buffer => {
  const der = keyPair(name).certificate.der.toString('latin1')
  assert.ok(der.includes(octets(from)), 'the certificate has the extension')
  return Buffer.from(der.replace(octets(from), octets(to)), 'latin1')
}
for (const [title, from, to] of [
  ['KeyUsage', '0603551d0f0101ff04040302', '0603551d0f0101ff0404031f'],
  ['SubjectKeyIdentifier', '0603551d0e04160414', '0603551d0e0416041f'],
] as const)
  test(`RFC 5280 §4.2: a ${title} that is not DER: not a certificate`, () => {
    assert.throws(() => new Certificate(changeExtension('alice', from, to)), NotDer)
    assert.equal(trustOf('ca').findTrusted(changeExtension('alice', from, to), now), undefined)
  })
