/** attacks.md, X2–X13 and M5: one message that holds, and what is done to it. Each row names the check that refuses. */
import assert from 'node:assert/strict'
import { createHash, createHmac, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import type { SecurityPolicy } from '../../src/security/policy/policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import { dsNs, wsseNs, wsuNs } from '../../src/security/vocabulary.ts'
import { writeElement } from '../../src/xml/index.ts'
import {
  guard,
  now,
  open,
  outcome,
  pair,
  plainMessage,
  refused,
  securePolicy,
  resigned as signedAgain,
  signedMessage,
  signedPolicy,
  taken,
  trusting,
} from './message.ts'

const trust = trusting('ca')
const alice = pair('alice')

type Row = [string, (text: string) => string, SecurityFault, RegExp]
const swap = (from: string | RegExp, to: string) => (text: string) => {
  const changed = text.replace(from, to)
  assert.notEqual(changed, text, 'the attack changes nothing')
  return changed
}

/** The message again with another SignedInfo, signed by a key that is trusted: what is left is what the rules forbid. */
const resigned =
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
    resigned(info => info.replace(/URI="#[^"]*"/, 'URI=""')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 an external Reference',
    resigned(info => info.replace(/URI="#[^"]*"/, 'URI="http://127.0.0.1/x"')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 an external Reference with the identifier in it',
    resigned(info => info.replace(/URI="#/, 'URI="http://127.0.0.1/#')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 a Reference to a file',
    resigned(info => info.replace(/URI="#[^"]*"/, 'URI="file:///etc/passwd"')),
    'FailedCheck',
    /not in this document/,
  ],
  [
    'X3 XPointer',
    resigned(info => info.replace(/URI="#([^"]*)"/, `URI="#xpointer(id('$1'))"`)),
    'FailedCheck',
    /not in this document/,
  ],
  ['X3 no URI at all', resigned(info => info.replace(/ URI="#[^"]*"/, '')), 'InvalidSecurity', /without URI/],
  ...[
    'http://www.w3.org/TR/1999/REC-xpath-19991116',
    'http://www.w3.org/TR/1999/REC-xslt-19991116',
    'http://www.w3.org/2002/06/xmldsig-filter2',
    `${dsNs}base64`,
    'http://www.w3.org/2006/12/xml-c14n11',
  ].map(
    (uri): Row => [
      `X3 the transform ${uri}`,
      resigned(info => info.replace('<ds:Transforms>', `<ds:Transforms><ds:Transform Algorithm="${uri}"/>`)),
      'UnsupportedAlgorithm',
      /transform/,
    ],
  ),
  [
    'X3 two canonicalizations',
    resigned(info => info.replace(/(<ds:Transform Algorithm="[^"]*"\/>)/, '$1$1')),
    'UnsupportedAlgorithm',
    /transform/,
  ],
  [
    'X3 enveloped-signature after the canonicalization',
    resigned(info =>
      info.replace('</ds:Transforms>', `<ds:Transform Algorithm="${dsNs}enveloped-signature"/></ds:Transforms>`),
    ),
    'UnsupportedAlgorithm',
    /transform/,
  ],
  [
    'X3 another element among the transforms',
    resigned(info => info.replace('<ds:Transforms>', '<ds:Transforms><ds:Object/>')),
    'InvalidSecurity',
    /Transforms/,
  ],
  // X4
  [
    'X4 no Reference',
    resigned(info => info.replace(/<ds:Reference.*<\/ds:Reference>/s, '')),
    'InvalidSecurity',
    /without references/,
  ],
  [
    'X4 nine References',
    resigned(info => info.replace(first(info), first(info).repeat(8))),
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
    text => swap('o-1', 'o-2')(text).replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA'),
    'FailedCheck',
    /SignatureValue/,
  ],
  // X5
  [
    'X5 an element inside a DigestValue',
    resigned(info => info.replace('<ds:DigestValue>', '<ds:DigestValue><x/>')),
    'FailedCheck',
    /inside/,
  ],
  [
    'X5 an element inside the SignatureValue',
    swap('<ds:SignatureValue>', '<ds:SignatureValue><x/>'),
    'FailedCheck',
    /inside/,
  ],
  [
    'X5 a digest with more behind it',
    resigned(info => info.replace('</ds:DigestValue>', '!</ds:DigestValue>')),
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
    /with more in it/,
  ],
  [
    'X6 two KeyInfos',
    text => text.replace(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '$&$&'),
    'InvalidSecurity',
    /with more in it/,
  ],
  [
    'X6 two DigestValues',
    resigned(info => info.replace(/<ds:DigestValue>.*?<\/ds:DigestValue>/, '$&$&')),
    'InvalidSecurity',
    /more in it/,
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
  ['X6 text in the block', swap('<ds:Signature ', 'x<ds:Signature '), 'InvalidSecurity', /text/],
  [
    'X6 a Reference with more in it',
    resigned(info => info.replace('</ds:DigestValue>', '</ds:DigestValue><ds:Object/>')),
    'InvalidSecurity',
    /Reference with more in it/,
  ],
  // X7
  [
    'X7 RSA with SHA-1',
    resigned(info => info.replace('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256', `${dsNs}rsa-sha1`)),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 RSA with MD5',
    resigned(info => info.replace('#rsa-sha256', '#rsa-md5')),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 no algorithm',
    resigned(info => info.replace('xmldsig-more#rsa-sha256', 'xmldsig-more#none')),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 a digest with SHA-1',
    resigned(info => info.replace('http://www.w3.org/2001/04/xmlenc#sha256', `${dsNs}sha1`)),
    'UnsupportedAlgorithm',
    /digest/,
  ],
  [
    'X7 a digest with MD5',
    resigned(info =>
      info.replace('http://www.w3.org/2001/04/xmlenc#sha256', 'http://www.w3.org/2001/04/xmldsig-more#md5'),
    ),
    'UnsupportedAlgorithm',
    /digest/,
  ],
  [
    'X7 HMACOutputLength',
    resigned(info =>
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
    resigned(info => info.replace('#rsa-sha256', '#hmac-sha256')),
    'FailedCheck',
    /does not fit the algorithm/,
  ],
  [
    'X7 ECDSA with an RSA key',
    resigned(info => info.replace('#rsa-sha256', '#ecdsa-sha256')),
    'FailedCheck',
    /does not fit the algorithm/,
  ],
  [
    'X7 PKCS#1 v1.5 passed off as PSS',
    resigned(info =>
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
    resigned(info => info.replace('</ds:SignedInfo>', '<ds:Object/></ds:SignedInfo>')),
    'InvalidSecurity',
    /SignedInfo with more in it/,
  ],
  [
    'X7 a DigestMethod with parameters',
    resigned(info => info.replace(/(<ds:DigestMethod Algorithm="[^"]*")\/>/, '$1><x/></ds:DigestMethod>')),
    'UnsupportedAlgorithm',
    /DigestMethod with parameters/,
  ],
  [
    'X9 257 prefixes',
    resigned(info =>
      info.replace(
        /(<ds:Transform Algorithm="([^"]*)")\/>/,
        `$1><e:InclusiveNamespaces xmlns:e="$2" PrefixList="${'p '.repeat(257)}"/></ds:Transform>`,
      ),
    ),
    'InvalidSecurity',
    /too many prefixes/,
  ],
  // X8
  ['X8 no KeyInfo', swap(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, ''), 'SecurityTokenUnavailable', /one key/],
  [
    'X8 an empty KeyInfo',
    swap(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '<ds:KeyInfo/>'),
    'SecurityTokenUnavailable',
    /one key/,
  ],
  [
    'X8 a KeyInfo with two keys',
    swap('<ds:KeyInfo>', '<ds:KeyInfo><ds:KeyName>clara</ds:KeyName>'),
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
    swap(/<ds:KeyInfo>.*<\/ds:KeyInfo>/s, '<ds:KeyInfo><ds:RetrievalMethod URI="http://127.0.0.1/key"/></ds:KeyInfo>'),
    'SecurityTokenUnavailable',
    /unsupported kind/,
  ],
  [
    'X8 a reference to a token elsewhere',
    swap(/<wsse:Reference URI="#[^"]*"/, '<wsse:Reference URI="http://127.0.0.1/token"'),
    'SecurityTokenUnavailable',
    /not in this message/,
  ],
  [
    'X8 a token that is no certificate',
    swap(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, '$1AAAA'),
    'FailedAuthentication',
    /not trusted/,
  ],
  [
    'X8 a token that is no base64',
    swap(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, '$1A!AA'),
    'InvalidSecurityToken',
    /base64/,
  ],
  [
    'X8 a token of 17 KB',
    swap(/(<wsse:BinarySecurityToken [^>]*>)[^<]*/, `$1${'AAAA'.repeat(5700)}`),
    'InvalidSecurityToken',
    /too long/,
  ],
  ['X8 a token of another type', swap(/#X509v3/, '#X509v1'), 'UnsupportedSecurityToken', /without a certificate/],
  // X9
  [
    'X9 a canonicalization of SignedInfo that is not taken',
    resigned(info =>
      info.replace(/<ds:CanonicalizationMethod Algorithm="[^"]*"/, '<ds:CanonicalizationMethod Algorithm="urn:none"'),
    ),
    'UnsupportedAlgorithm',
    /canonicalization/,
  ],
  [
    'X9 a canonicalization of SignedInfo without an Algorithm',
    resigned(info => info.replace(/<ds:CanonicalizationMethod Algorithm="[^"]*"/, '<ds:CanonicalizationMethod')),
    'InvalidSecurity',
    /without Algorithm/,
  ],
  [
    'X9 parameters that a canonicalization does not have',
    resigned(info =>
      info.replace(/(<ds:CanonicalizationMethod Algorithm="[^"]*")\/>/, '$1><x/></ds:CanonicalizationMethod>'),
    ),
    'UnsupportedAlgorithm',
    /parameters/,
  ],
  [
    'X9 InclusiveNamespaces of the inclusive form',
    resigned(info =>
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
    resigned(info => info.replace(/<ds:CanonicalizationMethod[^>]*>/, '')),
    'InvalidSecurity',
    /without its methods/,
  ],
  [
    'X9 a Body that has no canonical form, with the digest of nothing',
    text =>
      resigned(info => info.replace(/<ds:DigestValue>[^<]*/, `<ds:DigestValue>${digest('')}`))(
        swap('xmlns:o="urn:o"', 'xmlns:o="relative"')(text),
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
    swap(
      /<wsu:Timestamp wsu:Id=("[^"]*")(.*)<\/wsu:Timestamp>/s,
      '<t:Timestamp xmlns:t="urn:t" wsu:Id=$1$2</t:Timestamp>',
    ),
    'UnsupportedSecurityToken',
    /unknown element in the Security block/,
  ],
  [
    'X10 an Algorithm in a namespace',
    resigned(info => info.replace('<ds:SignatureMethod Algorithm', `<ds:SignatureMethod ds:Algorithm`)),
    'InvalidSecurity',
    /without Algorithm/,
  ],
  [
    'X10 a URI in a namespace beside none',
    resigned(info => info.replace('<ds:Reference URI', `<ds:Reference ds:URI`)),
    'InvalidSecurity',
    /without URI/,
  ],
  // X11
  ['X11 no signature at all', swap(/<ds:Signature .*<\/ds:Signature>/s, ''), 'InvalidSecurity', /x509: not there/],
  [
    'X11 a signature over the Timestamp only',
    resigned(info => info.replace(first(info), '')),
    'InvalidSecurity',
    /Body is not signed/,
  ],
  [
    'X11 a signature over the Body only',
    resigned(
      info => first(info) && info.replace(/(<ds:Reference.*?<\/ds:Reference>)<ds:Reference.*<\/ds:Reference>/s, '$1'),
    ),
    'InvalidSecurity',
    /Timestamp is not signed/,
  ],
  ['X11 no Timestamp', swap(/<wsu:Timestamp.*<\/wsu:Timestamp>/s, ''), 'FailedCheck', /not in this document/],
  ['X11 a Timestamp without Created', swap(/<wsu:Created>[^<]*<\/wsu:Created>/, ''), 'InvalidSecurity', /missing/],
  ['X11 a Timestamp that is none', swap(/<wsu:Created>[^<]*/, '<wsu:Created>yesterday'), 'InvalidSecurity', /form/],
  ['X11 a Timestamp without a zone', swap(/Z<\/wsu:Created>/, '</wsu:Created>'), 'InvalidSecurity', /form/],
  [
    'X11 a Timestamp that ends before it begins',
    swap(/<wsu:Expires>[^<]*/, '<wsu:Expires>2001-01-01T00:00:00Z'),
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

/** The key of alice, as her message would bring it along. */
function keyValue(): string {
  const { n = '', e = '' } = alice.certificate.key.export({ format: 'jwk' })
  const base64 = (text: string) => Buffer.from(text, 'base64url').toString('base64')
  return `<ds:KeyInfo><ds:KeyValue><ds:RSAKeyValue><ds:Modulus>${base64(n)}</ds:Modulus><ds:Exponent>${base64(e)}</ds:Exponent></ds:RSAKeyValue></ds:KeyValue></ds:KeyInfo>`
}

for (const [title, attack, fault, why] of rows) {
  test(title, async () => {
    await refused(outcome(open(attack(signedMessage())), securePolicy, guard(now, { trust })), fault, why)
  })
}

test('the rows tell: signed again without a change, the message is taken', async () => {
  await taken(outcome(open(resigned(info => info)(signedMessage())), securePolicy, guard(now, { trust })))
})

test('no certificate is trusted where none is configured', async () => {
  await refused(outcome(open(signedMessage()), securePolicy, guard(now)), 'SecurityTokenUnavailable', /no certificate/)
})

test('a UsernameToken beside a signature is refused where none is taken', async () => {
  const username = { name: 'alice', password: 'open sesame', kind: 'digest' } as const
  const text = signedMessage(alice, {}, { username, timestamp: {} })
  await taken(outcome(open(text), securePolicy, guard(now, { trust })))
  await refused(
    outcome(open(text), signedPolicy, guard(now, { trust })),
    'UnsupportedSecurityToken',
    /unsupported kind of Password/,
  )
  const wrong = signedMessage(alice, {}, { username: { ...username, password: 'wrong' }, timestamp: {} })
  const x509First: SecurityPolicy = { required: true, anyOf: [...signedPolicy.anyOf, { caller: 'username' }] }
  await refused(outcome(open(wrong), x509First, guard(now, { trust })), 'FailedAuthentication')
})

test('X5: comments change nothing of what is signed, and cut nothing short', async () => {
  const text = signedMessage()
  const commented = text
    .replace('o-1', 'o<!-- evil -->-1')
    .replace(/<ds:DigestValue>(....)/, '<ds:DigestValue>$1<!-- x -->')
    .replace(/<ds:SignatureValue>(....)/, '<ds:SignatureValue>$1<!-- x -->')
  const { body } = await taken(outcome(open(commented), signedPolicy, guard(now, { trust })))
  assert.match(writeElement(body), />o-1</)
})

test('X7: what a policy allows by name is taken, and nothing else', async () => {
  const legacy = resigned(info => info.replaceAll('http://www.w3.org/2001/04/xmlenc#sha256', `${dsNs}sha1`))
  const result = await outcome(
    open(legacy(signedMessage())),
    { ...signedPolicy, allow: ['sha1'] },
    guard(now, { trust }),
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
  await refused(outcome(open(text), signedPolicy, guard(now, { trust })), 'FailedCheck', /does not fit the algorithm/)
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
    const result = await outcome(open(signedMessage()), signedPolicy, guard(now + offset, { trust }))
    assert.equal(result instanceof Insecure ? result.fault : 'taken', expected)
  })
}

test('X11: a long Expires does not make an old message new, unless the policy says so', async () => {
  const text = signedMessage(alice, {}, { timestamp: { lifetime: 3_600_000 } })
  await refused(outcome(open(text), signedPolicy, guard(now + 300_000, { trust })), 'MessageExpired')
  const policy: SecurityPolicy = { ...signedPolicy, freshness: { age: 3_600_000 } }
  await taken(outcome(open(text), policy, guard(now + 300_000, { trust })))
})

test('X12: a message is taken once, for as long as it is of now', async () => {
  const here = guard(now, { trust })
  const text = signedMessage()
  await taken(outcome(open(text), signedPolicy, here))
  await refused(outcome(open(text), signedPolicy, here), 'FailedAuthentication', /seen before/)
  assert.deepEqual([...here.memory.values()], [now + 300_000])
  const instance = { ...guard(now + 1, { trust }), seen: here.seen }
  await refused(outcome(open(text), signedPolicy, instance), 'FailedAuthentication', /seen before/)
  await taken(outcome(open(signedMessage()), signedPolicy, guard(now, { trust })))
})

test('X12: an ECDSA signature that was varied is the same message', async () => {
  const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
  const text = signedMessage(pair('p256'))
  const [, value = ''] = /<ds:SignatureValue>([^<]*)/.exec(text) ?? []
  const octets = Buffer.from(value, 'base64')
  const s = order - BigInt(`0x${octets.subarray(32).toString('hex')}`)
  const varied = Buffer.concat([octets.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]).toString(
    'base64',
  )
  const here = guard(now, { trust })
  await taken(outcome(open(text.replace(value, varied)), signedPolicy, guard(now, { trust })))
  await taken(outcome(open(text), signedPolicy, here))
  await refused(outcome(open(text.replace(value, varied)), signedPolicy, here), 'FailedAuthentication', /seen before/)
})

test('X12: a message that does not hold leaves nothing in the memory', async () => {
  const here = guard(now, { trust })
  for (const [, attack] of rows) await outcome(open(attack(signedMessage())), securePolicy, here)
  assert.equal(here.memory.size, 0)
})

test('what a sender is told is of a fault alone', async () => {
  const told = new Map<SecurityFault, Set<string>>()
  for (const [, attack] of rows) {
    const result = await outcome(open(attack(signedMessage())), securePolicy, guard(now, { trust }))
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
    const message = open(text)
    const before = process.cpuUsage()
    assert.ok((await outcome(message, securePolicy, guard(now, { trust }))) instanceof Insecure)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 100_000, `${(user + system) / 1000} ms`)
  }
})
