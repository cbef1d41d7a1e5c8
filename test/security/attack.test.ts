/**
 * The attacks X2–X13 and M5: one message that holds, and changes to it. Each row names the check
 * that refuses.
 */
import assert from 'node:assert/strict'
import { createHash, createHmac, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { dsNs, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import { writeElement } from '../../src/xml/index.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  plainMessage,
  securePolicy,
  signAgain as signedAgain,
  signedMessage,
  signedPolicy,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const trust = trustOf('ca')
const alice = keyPair('alice')

type Row = [string, (text: string) => string, SecurityFault, RegExp]
const replaceText = (from: string | RegExp, to: string) => (text: string) => {
  const changed = text.replace(from, to)
  assert.notEqual(changed, text, 'the attack changes nothing')
  return changed
}

/**
 * The message again with another SignedInfo, signed by a trusted key, so that only the rules can
 * refuse it.
 */
const signAgainWith =
  (change: (signedInfo: string) => string) =>
  (text: string): string =>
    signedAgain(text.replace(/<ds:SignedInfo.*<\/ds:SignedInfo>/s, change), alice.key)
const first = (signedInfo: string) => /<ds:Reference.*?<\/ds:Reference>/s.exec(signedInfo)![0]
const id = (text: string, tag: string) => new RegExp(`<${tag}[^>]* wsu:Id="([^"]*)"`).exec(text)![1]!
const digest = (text: string) => createHash('sha256').update(text).digest('base64')

const rows: Row[] = [
  // X2
  [
    'X2 two elements with one wsu:Id',
    text =>
      text
        .replace('<a:MessageID ', `<a:MessageID xmlns:u="${wsuNs}" u:Id="${id(text, 's:Body')}" `)
        .replace(/ wsu:Id="[^"]*"( xmlns:wsu="[^"]*")?>m-1/, '>m-1'),
    'InvalidSecurity',
    /twice/,
  ],
  [
    'X2 a wsu:Id and an xml:id',
    text => text.replace('<o:GetOrder ', `<o:GetOrder xml:id="${id(text, 's:Body')}" `),
    'InvalidSecurity',
    /twice/,
  ],
  [
    'X2 a wsu:Id and the Id of a Signature',
    text => text.replace(/Id="SIG-[^"]*"/, `Id="${id(text, 's:Body')}"`),
    'InvalidSecurity',
    /twice/,
  ],
  [
    'X2 an AssertionID',
    text =>
      text.replace(
        '<o:GetOrder ',
        `<x:A xmlns:x="urn:oasis:names:tc:SAML:1.0:assertion" AssertionID="${id(text, 's:Body')}"/><o:GetOrder `,
      ),
    'InvalidSecurity',
    /twice/,
  ],
  [
    'X2 one element with two identifiers that are one',
    text => text.replace('<s:Body', `<s:Body xml:id="${id(text, 's:Body')}"`),
    'InvalidSecurity',
    /twice/,
  ],
  // X3
  [
    'X3 a Reference to the whole document',
    signAgainWith(info => info.replace(/URI="#[^"]*"/, 'URI=""')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 an external Reference',
    signAgainWith(info => info.replace(/URI="#[^"]*"/, 'URI="http://127.0.0.1/x"')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 an external Reference with the identifier in it',
    signAgainWith(info => info.replace(/URI="#/, 'URI="http://127.0.0.1/#')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 a Reference to a file',
    signAgainWith(info => info.replace(/URI="#[^"]*"/, 'URI="file:///etc/passwd"')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 XPointer',
    signAgainWith(info => info.replace(/URI="#([^"]*)"/, `URI="#xpointer(id('$1'))"`)),
    'FailedCheck',
    /not in this document/,
  ],
  ['X3 no URI at all', signAgainWith(info => info.replace(/ URI="#[^"]*"/, '')), 'InvalidSecurity', /without URI/],
  ...[
    'http://www.w3.org/TR/1999/REC-xpath-19991116',
    'http://www.w3.org/TR/1999/REC-xslt-19991116',
    'http://www.w3.org/2002/06/xmldsig-filter2',
    `${dsNs}base64`,
    'http://www.w3.org/2006/12/xml-c14n11',
  ].map(
    (uri): Row => [
      `X3 the transform ${uri}`,
      signAgainWith(info => info.replace('<ds:Transforms>', `<ds:Transforms><ds:Transform Algorithm="${uri}"/>`)),
      'UnsupportedAlgorithm',
      /transform/,
    ],
  ),
  [
    'X3 two canonicalizations',
    signAgainWith(info => info.replace(/(<ds:Transform Algorithm="[^"]*"\/>)/, '$1$1')),
    'UnsupportedAlgorithm',
    /transform/,
  ],
  [
    'X3 enveloped-signature after the canonicalization',
    signAgainWith(info =>
      info.replace('</ds:Transforms>', `<ds:Transform Algorithm="${dsNs}enveloped-signature"/></ds:Transforms>`),
    ),
    'UnsupportedAlgorithm',
    /transform/,
  ],
  [
    'X3 another element among the transforms',
    signAgainWith(info => info.replace('<ds:Transforms>', '<ds:Transforms><ds:Object/>')),
    'InvalidSecurity',
    /Transforms/,
  ],
  // X4
  [
    'X4 no Reference',
    signAgainWith(info => info.replace(/<ds:Reference.*<\/ds:Reference>/s, '')),
    'InvalidSecurity',
    /without references/,
  ],
  [
    'X4 25 References',
    signAgainWith(info => info.replace(first(info), first(info).repeat(24))),
    'InvalidSecurity',
    /too many references/,
  ],
  [
    'X4 a thousand References, and no key that is trusted',
    text => text.replace(/<ds:Reference.*<\/ds:Reference>/s, info => first(info).repeat(1000)),
    'InvalidSecurity',
    /too many references/,
  ],
  [
    'X4 the SignatureValue is checked before a digest',
    text => replaceText('o-1', 'o-2')(text).replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA'),
    'FailedCheck',
    /SignatureValue/,
  ],
  // X5
  [
    'X5 an element inside a DigestValue',
    signAgainWith(info => info.replace('<ds:DigestValue>', '<ds:DigestValue><x/>')),
    'FailedCheck',
    /inside/,
  ],
  [
    'X5 an element inside the SignatureValue',
    replaceText('<ds:SignatureValue>', '<ds:SignatureValue><x/>'),
    'FailedCheck',
    /inside/,
  ],
  [
    'X5 a digest with more behind it',
    signAgainWith(info => info.replace('</ds:DigestValue>', '!</ds:DigestValue>')),
    'FailedCheck',
    /does not contain base64/,
  ],
  // X6
  [
    'X6 two Signatures',
    text => text.replace(/<ds:Signature .*<\/ds:Signature>/s, whole => whole + whole.replace(/Id="SIG-/, 'Id="other-')),
    'InvalidSecurity',
    /two Signatures/,
  ],
  [
    'X6 two SignedInfos',
    text => text.replace(/<ds:SignedInfo.*<\/ds:SignedInfo>/s, '$&$&'),
    'InvalidSecurity',
    /without SignedInfo and SignatureValue/,
  ],
  [
    'X6 a SignedInfo behind the value',
    text => text.replace('<ds:KeyInfo>', `${/<ds:SignedInfo.*<\/ds:SignedInfo>/s.exec(text)![0]}<ds:KeyInfo>`),
    'InvalidSecurity',
    /with unexpected content/,
  ],
  [
    'X6 two KeyInfos',
    text => text.replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '$&$&'),
    'InvalidSecurity',
    /with unexpected content/,
  ],
  [
    'X6 two DigestValues',
    signAgainWith(info => info.replace(/<ds:DigestValue>.*?<\/ds:DigestValue>/, '$&$&')),
    'InvalidSecurity',
    /unexpected content/,
  ],
  [
    'X6 two Security blocks for one role',
    text => text.replace('</s:Header>', `<w:Security xmlns:w="${wsseNs}"/></s:Header>`),
    'InvalidSecurity',
    /two Security blocks/,
  ],
  [
    'X6 two Timestamps',
    text => text.replace(/<wsu:Timestamp.*<\/wsu:Timestamp>/s, whole => whole + whole.replace(/ wsu:Id="[^"]*"/, '')),
    'InvalidSecurity',
    /two/,
  ],
  [
    'X6 a Signature that is not a child of the block',
    text => text.replace(/<ds:Signature .*<\/ds:Signature>/s, '<x:w xmlns:x="urn:x">$&</x:w>'),
    'UnsupportedSecurityToken',
    /unknown element in the Security block/,
  ],
  ['X6 text in the block', replaceText('<ds:Signature ', 'x<ds:Signature '), 'InvalidSecurity', /text/],
  [
    'X6 a Reference with more in it',
    signAgainWith(info => info.replace('</ds:DigestValue>', '</ds:DigestValue><ds:Object/>')),
    'InvalidSecurity',
    /Reference with unexpected content/,
  ],
  // X7
  [
    'X7 RSA with SHA-1',
    signAgainWith(info => info.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', `${dsNs}rsa-sha1`)),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 RSA with MD5',
    signAgainWith(info => info.replace('#rsa-sha256', '#rsa-md5')),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 no algorithm',
    signAgainWith(info => info.replace('xmldsig-more#rsa-sha256', 'xmldsig-more#none')),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 a digest with SHA-1',
    signAgainWith(info => info.replace('http://www.w3.org/2001/04/xmlenc#sha256', `${dsNs}sha1`)),
    'UnsupportedAlgorithm',
    /digest/,
  ],
  [
    'X7 a digest with MD5',
    signAgainWith(info =>
      info.replace('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmldsig-more#md5'),
    ),
    'UnsupportedAlgorithm',
    /digest/,
  ],
  [
    'X7 HMACOutputLength',
    signAgainWith(info =>
      info.replace(
        /<ds:SignatureMethod Algorithm="[^"]*"\/>/,
        '<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>',
      ),
    ),
    'UnsupportedAlgorithm',
    /parameters/,
  ],
  [
    'X7 HMAC with a public key',
    signAgainWith(info => info.replace('#rsa-sha256', '#hmac-sha256')),
    'FailedCheck',
    /does not fit the algorithm/,
  ],
  [
    'X7 ECDSA with an RSA key',
    signAgainWith(info => info.replace('#rsa-sha256', '#ecdsa-sha256')),
    'FailedCheck',
    /does not fit the algorithm/,
  ],
  [
    'X7 PKCS#1 v1.5 passed off as PSS',
    signAgainWith(info =>
      info.replace(
        'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
        'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
      ),
    ),
    'FailedCheck',
    /SignatureValue/,
  ],
  [
    'X6 something else among the References',
    signAgainWith(info => info.replace('</ds:SignedInfo>', '<ds:Object/></ds:SignedInfo>')),
    'InvalidSecurity',
    /SignedInfo with unexpected content/,
  ],
  [
    'X7 a DigestMethod with parameters',
    signAgainWith(info => info.replace(/(<ds:DigestMethod Algorithm="[^"]*")\/>/, '$1><x/></ds:DigestMethod>')),
    'UnsupportedAlgorithm',
    /DigestMethod with parameters/,
  ],
  [
    'X9 257 prefixes',
    signAgainWith(info =>
      info.replace(
        /(<ds:Transform Algorithm="([^"]*)")\/>/,
        `$1><e:InclusiveNamespaces xmlns:e="$2" PrefixList="${'p '.repeat(257)}"/></ds:Transform>`,
      ),
    ),
    'InvalidSecurity',
    /too many prefixes/,
  ],
  // X8
  ['X8 no KeyInfo', replaceText(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, ''), 'SecurityTokenUnavailable', /one key/],
  [
    'X8 an empty KeyInfo',
    replaceText(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '<ds:KeyInfo/>'),
    'SecurityTokenUnavailable',
    /one key/,
  ],
  [
    'X8 a KeyInfo with two references',
    replaceText('<ds:KeyInfo>', '<ds:KeyInfo><ds:X509Data/>'),
    'SecurityTokenUnavailable',
    /one key/,
  ],
  [
    'X8 a KeyValue, of the very key',
    text => text.replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, keyValue),
    'SecurityTokenUnavailable',
    /no certificate/,
  ],
  [
    'X8 a RetrievalMethod',
    replaceText(
      /<ds:KeyInfo>.*<\/ds:KeyInfo>/s,
      '<ds:KeyInfo><ds:RetrievalMethod URI="http://127.0.0.1/key"/></ds:KeyInfo>',
    ),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  [
    'X8 a reference to a token elsewhere',
    replaceText(/<wsse:Reference URI="#[^"]*"/, '<wsse:Reference URI="http://127.0.0.1/token"'),
    'SecurityTokenUnavailable',
    /not in this message/,
  ],
  [
    'X8 a token that is not a certificate',
    replaceText(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, '$1AAAA'),
    'FailedAuthentication',
    /not trusted/,
  ],
  [
    'X8 a token that is not base64',
    replaceText(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, '$1A!AA'),
    'InvalidSecurityToken',
    /base64/,
  ],
  [
    'X8 a token of 17 KB',
    replaceText(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, `$1${'AAAA'.repeat(5700)}`),
    'InvalidSecurityToken',
    /too long/,
  ],
  [
    'X8 a token of another type',
    replaceText(/#X509v3/, '#X509v1'),
    'UnsupportedSecurityToken',
    /without a certificate/,
  ],
  // X9
  [
    'X9 an unsupported canonicalization of SignedInfo',
    signAgainWith(info =>
      info.replace(/<ds:CanonicalizationMethod Algorithm="[^"]*"/, '<ds:CanonicalizationMethod Algorithm="urn:none"'),
    ),
    'UnsupportedAlgorithm',
    /canonicalization/,
  ],
  [
    'X9 a canonicalization of SignedInfo without an Algorithm',
    signAgainWith(info => info.replace(/<ds:CanonicalizationMethod Algorithm="[^"]*"/, '<ds:CanonicalizationMethod')),
    'InvalidSecurity',
    /without Algorithm/,
  ],
  [
    'X9 parameters that a canonicalization does not have',
    signAgainWith(info =>
      info.replace(/(<ds:CanonicalizationMethod Algorithm="[^"]*")\/>/, '$1><x/></ds:CanonicalizationMethod>'),
    ),
    'UnsupportedAlgorithm',
    /parameters/,
  ],
  [
    'X9 InclusiveNamespaces of the inclusive form',
    signAgainWith(info =>
      info.replace(
        /<ds:Transform Algorithm="([^"]*)"\/>/,
        '<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"><e:InclusiveNamespaces xmlns:e="$1" PrefixList="s"/></ds:Transform>',
      ),
    ),
    'UnsupportedAlgorithm',
    /parameters/,
  ],
  [
    'X9 a SignedInfo without a canonicalization',
    signAgainWith(info => info.replace(/<ds:CanonicalizationMethod[^>]*>/, '')),
    'InvalidSecurity',
    /without its methods/,
  ],
  [
    'X9 a Body that has no canonical form, with the digest of nothing',
    text =>
      signAgainWith(info => info.replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>${digest('')}`))(
        replaceText('xmlns:o="urn:o"', 'xmlns:o="relative"')(text),
      ),
    'FailedCheck',
    /relative/,
  ],
  // X10
  [
    'X10 a Signature of another namespace',
    text => text.replaceAll(`"${dsNs}"`, '"urn:ds"'),
    'UnsupportedSecurityToken',
    /unknown element in the Security block/,
  ],
  [
    'X10 a Timestamp of another namespace',
    replaceText(
      /<wsu:Timestamp wsu:Id=("[^"]*")(.*)<\/wsu:Timestamp>/s,
      '<t:Timestamp xmlns:t="urn:t" wsu:Id=$1$2</t:Timestamp>',
    ),
    'UnsupportedSecurityToken',
    /unknown element in the Security block/,
  ],
  [
    'X10 an Algorithm in a namespace',
    signAgainWith(info => info.replace('<ds:SignatureMethod Algorithm', `<ds:SignatureMethod ds:Algorithm`)),
    'InvalidSecurity',
    /without Algorithm/,
  ],
  [
    'X10 a URI attribute in a namespace next to one in none',
    signAgainWith(info => info.replace('<ds:Reference URI', `<ds:Reference ds:URI`)),
    'InvalidSecurity',
    /without URI/,
  ],
  // X11
  [
    'X11 no signature at all',
    replaceText(/<ds:Signature .*<\/ds:Signature>/s, ''),
    'InvalidSecurity',
    /x509: not there/,
  ],
  [
    'X11 a signature over the Timestamp only',
    signAgainWith(info => info.replace(first(info), '')),
    'InvalidSecurity',
    /Body is not signed/,
  ],
  [
    'X11 a signature over the Body only',
    signAgainWith(
      info => first(info) && info.replace(/(<ds:Reference.*?<\/ds:Reference>)<ds:Reference.*<\/ds:Reference>/s, '$1'),
    ),
    'InvalidSecurity',
    /Timestamp is not signed/,
  ],
  ['X11 no Timestamp', replaceText(/<wsu:Timestamp.*<\/wsu:Timestamp>/s, ''), 'FailedCheck', /not in this document/],
  [
    'X11 a Timestamp without Created',
    replaceText(/<wsu:Created>[^<]*<\/wsu:Created>/, ''),
    'InvalidSecurity',
    /missing/,
  ],
  ['X11 an invalid Timestamp', replaceText(/<wsu:Created>[^<]*/, '<wsu:Created>yesterday'), 'InvalidSecurity', /form/],
  ['X11 a Timestamp without a zone', replaceText(/Z<\/wsu:Created>/, '</wsu:Created>'), 'InvalidSecurity', /form/],
  [
    'X11 a Timestamp that ends before it begins',
    replaceText(/<wsu:Expires>[^<]*/, '<wsu:Expires>2001-01-01T00:00:00Z'),
    'InvalidSecurity',
    /ends before/,
  ],
  [
    'X11 an unknown child of the block',
    text => text.replace('<ds:Signature ', '<x:Token xmlns:x="urn:x"/><ds:Signature '),
    'UnsupportedSecurityToken',
    /unknown element in the Security block/,
  ],
]

/** The key of alice, as her message would carry it. */
function keyValue(): string {
  const { n = '', e = '' } = alice.certificate.key.export({ format: 'jwk' })
  const base64 = (text: string) => Buffer.from(text, 'base64url').toString('base64')
  return `<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${base64(n)}</ds:Modulus><ds:Exponent>${base64(e)}</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>`
}

for (const [title, attack, fault, why] of rows) {
  test(title, async () => {
    await expectRefusal(
      verifyOrRefuse(openMessage(attack(signedMessage())), securePolicy, createGuard(now, { trust })),
      fault,
      why,
    )
  })
}

test('control: signed again without a change, the message is accepted', async () => {
  await expectAccepted(
    verifyOrRefuse(
      openMessage(signAgainWith(info => info)(signedMessage())),
      securePolicy,
      createGuard(now, { trust }),
    ),
  )
})

test('without configuration no certificate is trusted', async () => {
  await expectRefusal(
    verifyOrRefuse(openMessage(signedMessage()), securePolicy, createGuard(now)),
    'SecurityTokenUnavailable',
    /no certificate/,
  )
})

test('a UsernameToken next to a signature is refused if it is not supported', async () => {
  const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
  const text = signedMessage(alice, {}, { username, timestamp: {} })
  await expectAccepted(verifyOrRefuse(openMessage(text), securePolicy, createGuard(now, { trust })))
  await expectRefusal(
    verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust })),
    'UnsupportedSecurityToken',
    /unsupported kind of Password/,
  )
  const wrong = signedMessage(alice, {}, { username: { ...username, password: 'wrong' }, timestamp: {} })
  const x509First: SecurityPolicy = { required: true, anyOf: [...signedPolicy.anyOf, { caller: 'username' }] }
  await expectRefusal(
    verifyOrRefuse(openMessage(wrong), x509First, createGuard(now, { trust })),
    'FailedAuthentication',
  )
})

test('X5: comments change nothing of what is signed, and truncate nothing', async () => {
  const text = signedMessage()
  const commented = text
    .replace('o-1', 'o<!-- evil -->-1')
    .replace(/<ds:DigestValue>(....)/, '<ds:DigestValue>$1<!-- x -->')
    .replace(/<ds:SignatureValue>(....)/, '<ds:SignatureValue>$1<!-- x -->')
  const { body } = await expectAccepted(
    verifyOrRefuse(openMessage(commented), signedPolicy, createGuard(now, { trust })),
  )
  assert.match(writeElement(body), />o-1</)
})

test('X7: what a policy allows by name is accepted, and nothing else', async () => {
  const legacy = signAgainWith(info => info.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', `${dsNs}sha1`))
  const result = await verifyOrRefuse(
    openMessage(legacy(signedMessage())),
    { ...signedPolicy, allow: ['sha1'] },
    createGuard(now, { trust }),
  )
  assert.ok(result instanceof Insecure && /a digest is wrong/.test(result.why)) // it was computed, and differs
})

test('X7: an HMAC made with the octets of the public key', async () => {
  const { der } = alice.certificate
  const forged = createHmac('sha256', alice.certificate.key.export({ type: 'spki', format: 'der' }))
    .update(der)
    .digest('base64')
  const text = signedMessage()
    .replace('xmldsig-more#rsa-sha256', 'xmldsig-more#hmac-sha256')
    .replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${forged}`)
  await expectRefusal(
    verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now, { trust })),
    'FailedCheck',
    /does not fit the algorithm/,
  )
})

test('X7: a secret that is too short signs nothing', () => {
  const key = createSecretKey(Buffer.alloc(15))
  const signature = { key, by: { name: 'clara' }, parts: ['Body'] } as const
  assert.throws(() => protectMessage(plainMessage(), { signature }, now).envelope, TypeError)
})

const times: [string, number, string][] = [
  ['when it was made', 0, 'taken'],
  ['a minute before, by our clock', -60_000, 'taken'],
  ['more than a minute before', -60_001, 'MessageExpired'],
  ['at its last millisecond', 299_999, 'taken'],
  ['at its Expires', 300_000, 'MessageExpired'],
]
for (const [title, offset, expected] of times) {
  test(`X11, WSS §10: a Timestamp read ${title}: ${expected}`, async () => {
    const result = await verifyOrRefuse(
      openMessage(signedMessage()),
      signedPolicy,
      createGuard(now + offset, { trust }),
    )
    assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
  })
}

test('X11: a long Expires does not make an old message new, unless the policy allows it', async () => {
  const text = signedMessage(alice, {}, { timestamp: { lifetime: 3_600_000 } })
  await expectRefusal(
    verifyOrRefuse(openMessage(text), signedPolicy, createGuard(now + 300_000, { trust })),
    'MessageExpired',
  )
  const policy: SecurityPolicy = { ...signedPolicy, freshness: { age: 3_600_000 } }
  await expectAccepted(verifyOrRefuse(openMessage(text), policy, createGuard(now + 300_000, { trust })))
})

test('X12: a message is accepted once, for as long as it is valid', async () => {
  const here = createGuard(now, { trust })
  const text = signedMessage()
  await expectAccepted(verifyOrRefuse(openMessage(text), signedPolicy, here))
  await expectRefusal(verifyOrRefuse(openMessage(text), signedPolicy, here), 'FailedAuthentication', /seen before/)
  assert.deepEqual([...here.memory.values()], [now + 300_000])
  const instance = { ...createGuard(now + 1, { trust }), seen: here.seen }
  await expectRefusal(verifyOrRefuse(openMessage(text), signedPolicy, instance), 'FailedAuthentication', /seen before/)
  await expectAccepted(verifyOrRefuse(openMessage(signedMessage()), signedPolicy, createGuard(now, { trust })))
})

test('X12: a varied ECDSA signature is the same message', async () => {
  const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
  const text = signedMessage(keyPair('p256'))
  const [, value = ''] = /<ds:SignatureValue>([^<]*)/.exec(text) ?? []
  const octets = Buffer.from(value, 'base64')
  const s = order - BigInt(`0x${octets.subarray(32).toString('hex')}`)
  const varied = Buffer.concat([octets.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]).toString(
    'base64',
  )
  const here = createGuard(now, { trust })
  await expectAccepted(
    verifyOrRefuse(openMessage(text.replace(value, varied)), signedPolicy, createGuard(now, { trust })),
  )
  await expectAccepted(verifyOrRefuse(openMessage(text), signedPolicy, here))
  await expectRefusal(
    verifyOrRefuse(openMessage(text.replace(value, varied)), signedPolicy, here),
    'FailedAuthentication',
    /seen before/,
  )
})

test('X12: a refused message leaves nothing in the memory', async () => {
  const here = createGuard(now, { trust })
  for (const [, attack] of rows) await verifyOrRefuse(openMessage(attack(signedMessage())), securePolicy, here)
  assert.equal(here.memory.size, 0)
})

test('a sender is told nothing but the fault', async () => {
  const told = new Map<SecurityFault, Set<string>>()
  for (const [, attack] of rows) {
    const result = await verifyOrRefuse(openMessage(attack(signedMessage())), securePolicy, createGuard(now, { trust }))
    assert.ok(result instanceof Insecure && result.refusal.kind === 'security')
    const { subcode, detail } = result.refusal
    told.set(result.fault, (told.get(result.fault) ?? new Set()).add(`${subcode.uri} ${subcode.local} ${detail}`))
  }
  for (const [fault, details] of told) assert.equal(details.size, 1, fault)
})

test('a hostile Security block costs less than 100 ms', async () => {
  const hostile = [
    signedMessage().replace(/(<ds:KeyInfo>)/, `$1${'<ds:KeyName>x</ds:KeyName>'.repeat(9000)}`),
    signedMessage().replace(/<ds:Signature /, `${'<wsse:BinarySecurityToken/>'.repeat(9000)}<ds:Signature `),
    plainMessage(
      undefined,
      `<w:Security xmlns:w="${wsseNs}" xmlns:u="${wsuNs}">${Array.from({ length: 9000 }, (_, at) => `<u:Timestamp u:Id="i${at}"/>`).join('')}</w:Security>`,
    ),
    signedMessage().replace(
      /PrefixList|<ds:CanonicalizationMethod Algorithm="([^"]*)"\/>/,
      `<ds:CanonicalizationMethod Algorithm="$1"><e:InclusiveNamespaces xmlns:e="$1" PrefixList="${'p '.repeat(20_000)}"/></ds:CanonicalizationMethod>`,
    ),
    signedMessage().replace(
      /<ds:KeyInfo>.*<\/ds:KeyInfo>/s,
      `<ds:KeyInfo><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>${'CN=a+'.repeat(10_000)}</ds:X509IssuerName><ds:X509SerialNumber>${'1'.repeat(60_000)}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></ds:KeyInfo>`,
    ),
  ]
  for (const text of hostile) {
    const message = openMessage(text)
    await assertCpuMsBelow(100, async () =>
      assert.ok((await verifyOrRefuse(message, securePolicy, createGuard(now, { trust }))) instanceof Insecure),
    )
  }
})
