/** Policies: mistakes at start (X14), publication, and the port of the SOAP face. */
import assert from 'node:assert/strict'
import { createHash, createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { CertificateTrust } from '../../src/security/crypto/trust.ts'
import { type Demand, findPolicyMistakes, type SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { AssertionIssuer, VerificationContext } from '../../src/security/policy/verification-context.ts'
import { writeSecurityPolicy } from '../../src/security/policy/ws-security-policy.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import {
  attachmentCompleteUri,
  attachmentContentUri,
  BinarySecurityTokenName,
  base64TypeUri,
  dsNs,
  keyIdentifierThumbprintUri,
  SecurityName,
  strTransformUri,
  wsseNs,
  wsuNs,
  x509v3Uri,
} from '../../src/security/vocabulary.ts'
import { createWsSecurity } from '../../src/security/ws-security.ts'
import type { PackedParts } from '../../src/soap/security-port.ts'
import { soap11, soap12 } from '../../src/soap/version.ts'
import { canonicalize, Malformed, parseXml } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  messageId,
  now,
  openMessage,
  plainMessage,
  securePolicy,
  signAgain,
  signedDemand,
  signedMessage,
  signedPolicy,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const issuers = new Map([['urn:issuer', { trust: trustOf('ca') }]])
const audiences = ['urn:service']
const saml = { issuers, audiences, vouchers: trustOf('ca') }
const all: Partial<VerificationContext> = {
  trust: trustOf('ca'),
  saml,
  decrypts: [keyPair('bob')],
  secrets: new Map([['s', createSecretKey(Buffer.alloc(32))]]),
  kerberos: () => undefined,
}

const rows: [string, Demand, Partial<VerificationContext>, RegExp | undefined][] = [
  ['a UsernameToken', { caller: 'username' }, {}, undefined],
  ['a signed message', signedDemand, all, undefined],
  ['a secret', { ...signedDemand, caller: 'secret' }, all, undefined],
  ['a ticket', { caller: 'kerberos' }, all, undefined],
  ['an assertion of a bearer', { caller: 'saml', confirmations: ['bearer'] }, all, undefined],
  [
    'an assertion with a key, and no other trust',
    { ...signedDemand, caller: 'saml', confirmations: ['holder-of-key'] },
    { saml },
    undefined,
  ],
  [
    'an assertion that is vouched for',
    { caller: 'saml', confirmations: ['sender-vouches'], timestamp: true, signed: ['Body', 'Timestamp', 'Token'] },
    all,
    undefined,
  ],
  ['what comes encrypted', { ...signedDemand, encrypted: ['Body', messageId] }, all, undefined],
  ['no trusted signer', signedDemand, {}, /no signer is trusted/],
  ['an empty list of authorities', signedDemand, { trust: new CertificateTrust({}) }, /no signer is trusted/],
  ['no secret', { ...signedDemand, caller: 'secret' }, { ...all, secrets: new Map() }, /no signer is trusted/],
  ['a certificate that signs nothing', { caller: 'x509' }, all, /add Body to signed/],
  [
    'a certificate that signs a Timestamp alone',
    { caller: 'x509', timestamp: true, signed: ['Timestamp'] },
    all,
    /Body/,
  ],
  ['a signature that could be replayed', { caller: 'x509', signed: ['Body'] }, all, /replayed/],
  [
    'a signed Timestamp that need not be there',
    { caller: 'x509', signed: ['Body', 'Timestamp'] },
    all,
    /set timestamp/,
  ],
  ['no kind of password', { caller: 'username', passwords: [] }, {}, /passwords/],
  ['a signature that does not cover the name', { ...signedDemand, caller: 'username' }, all, /add Token/],
  ['no verifier of tickets', { caller: 'kerberos' }, {}, /configure kerberos/],
  ['no confirmation', { caller: 'saml' }, all, /confirmations/],
  ['no issuer', { caller: 'saml', confirmations: ['bearer'] }, {}, /issuer/],
  [
    'an issuer without a certificate',
    { caller: 'saml', confirmations: ['bearer'] },
    { saml: { issuers: new Map([['x', { trust: new CertificateTrust({}) }]]), audiences } },
    /without a certificate/,
  ],
  [
    'several issuers, one of which has no rule',
    { caller: 'saml', confirmations: ['bearer'] },
    {
      saml: {
        issuers: new Map<string, AssertionIssuer>([
          ...issuers,
          ['urn:partner', { trust: trustOf('ca'), people: 'same' }],
        ]),
        audiences,
      },
    },
    /several issuers.*give each a rule in people/,
  ],
  [
    'several issuers, each with its rule',
    { caller: 'saml', confirmations: ['bearer'] },
    {
      saml: {
        issuers: new Map<string, AssertionIssuer>([
          ['urn:issuer', { trust: trustOf('ca'), people: 'same' }],
          ['urn:partner', { trust: trustOf('ca'), people: { 'maria@partner': 'partner' } }],
        ]),
        audiences,
      },
    },
    undefined,
  ],
  ['no audience', { caller: 'saml', confirmations: ['bearer'] }, { saml: { issuers, audiences: [] } }, /audience/],
  [
    'vouchers whose signature need not cover the assertion',
    { ...signedDemand, caller: 'saml', confirmations: ['sender-vouches'] },
    all,
    /add Token/,
  ],
  [
    'no voucher',
    { caller: 'saml', confirmations: ['sender-vouches'], timestamp: true, signed: ['Body', 'Timestamp', 'Token'] },
    { ...all, saml: { issuers, audiences } },
    /voucher/,
  ],
  ['a held key that signs nothing', { caller: 'saml', confirmations: ['holder-of-key'] }, all, /Body/],
  [
    'no key to decrypt with',
    { ...signedDemand, encrypted: ['Body'] },
    { ...all, decrypts: [] },
    /no key to decrypt with; configure one/,
  ],
  ['an encrypted Timestamp', { ...signedDemand, encrypted: ['Timestamp'] }, all, /encrypted Timestamp/],
  ['encrypted attachments', { ...signedDemand, encrypted: ['Attachments'] }, all, /add Attachments to signed/],
  [
    'the Security block itself',
    { ...signedDemand, signed: ['Body', 'Timestamp', SecurityName] },
    all,
    /holds the signature/,
  ],
  [
    'a secret that has no token',
    { ...signedDemand, caller: 'secret', signed: ['Body', 'Timestamp', 'Token'] },
    all,
    /no Token/,
  ],
]
for (const [title, demand, means, mistake] of rows) {
  test(`X14: ${title}: ${mistake ? 'a mistake' : 'fine'}`, () => {
    const found = findPolicyMistakes({ required: true, anyOf: [demand] }, createGuard(now, means))
    if (mistake)
      assert.ok(
        found.some(each => mistake.test(each)),
        found.join('; '),
      )
    else assert.deepEqual(found, [])
  })
}

test('X14: no way at all, and a freshness that the memory could not keep', () => {
  assert.match(findPolicyMistakes({ required: true, anyOf: [] }, createGuard(now))[0]!, /anyOf/)
  for (const freshness of [{ age: Infinity }, { age: 0 }, { age: Number.NaN }, { skew: -1 }, { skew: Infinity }]) {
    assert.match(findPolicyMistakes({ ...securePolicy, freshness }, createGuard(now, all))[0]!, /freshness/)
  }
})

test('X14: a policy that cannot be enforced does not start', () => {
  assert.throws(() => createWsSecurity(signedPolicy, createGuard(now)), /no signer is trusted/)
})

test('published: WS-SecurityPolicy, well-formed, with every way and every part', () => {
  const text = writeSecurityPolicy(
    { required: true, anyOf: rows.filter(row => !row[3]).map(([, demand]) => demand) },
    'p',
  )
  const document = parseXml(Buffer.from(text))
  assert.ok(!(document instanceof Malformed))
  const has = (local: string) => assert.ok(text.includes(`<sp:${local}`), local)
  for (const local of [
    'UsernameToken',
    'HashPassword',
    'X509Token',
    'SamlToken',
    'KerberosToken',
    'AsymmetricBinding',
    'IncludeTimestamp',
    'SignedParts',
    'EncryptedParts',
    'Body',
    'SignedSupportingTokens',
  ])
    has(local)
  assert.match(text, /<sp:Header Name="MessageID" Namespace="urn:a"\/>/)
  assert.doesNotMatch(text, /<wsp:All\/>/)
  assert.match(writeSecurityPolicy({ ...securePolicy, required: false }, 'p'), /<wsp:All\/>/)
})

test('WSS §8.5: a reply confirms the signatures of its request, under its own', async () => {
  const { key, certificate } = keyPair('alice')
  const signature = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] } as const
  const request = protectMessage(plainMessage(), { timestamp: {}, signature }, now)
  const secured = await expectAccepted(
    verifyOrRefuse(openMessage(request.envelope), signedPolicy, createGuard(now, all)),
  )
  const reply = (confirms: readonly Buffer[]) =>
    openMessage(protectMessage(plainMessage(), { timestamp: {}, signature, confirms }, now).envelope)
  const read = (confirms: readonly Buffer[], sent: readonly Buffer[]) =>
    verifyOrRefuse({ ...reply(confirms), sent }, signedPolicy, createGuard(now, all))
  assert.deepEqual(request.signatures, secured.confirms)
  await expectAccepted(read(secured.confirms, request.signatures))
  await expectAccepted(read([], []))
  await expectRefusal(read([], request.signatures), 'FailedCheck', /another request/)
  await expectRefusal(read([Buffer.from('other')], request.signatures), 'FailedCheck', /another request/)
  await expectRefusal(
    read([...secured.confirms, Buffer.from('other')], request.signatures),
    'FailedCheck',
    /another request/,
  )
  const unsigned = protectMessage(plainMessage(), { timestamp: {}, confirms: request.signatures }, now).envelope
  await expectRefusal(
    verifyOrRefuse({ ...openMessage(unsigned), sent: request.signatures }, signedPolicy, createGuard(now, all)),
    'FailedCheck',
    /not signed/,
  )
  const none = openMessage(signedMessage())
  await expectRefusal(
    verifyOrRefuse({ ...none, sent: request.signatures }, signedPolicy, createGuard(now, all)),
    'FailedCheck',
    /another request/,
  )
})

test('the hook of the face: the block that is targeted, the clock and the parts of the message', async () => {
  const { now: _, ...means } = createGuard(0, { ...all, trust: trustOf('ca') })
  const prove = createWsSecurity({ anyOf: securePolicy.anyOf }, means)
  const asked = (text: string, demanded: boolean, at = now) => {
    const document = parseXml(Buffer.from(text))
    assert.ok(!(document instanceof Malformed))
    const version = document.root.name === soap11.envelope ? soap11 : soap12
    const blocks = document.root.elements(version.header)[0]?.elements() ?? []
    const body = document.root.elements(version.body)[0]!
    return {
      version,
      document,
      body,
      blocks,
      targeted: blocks,
      isProcessed: () => false,
      demanded,
      now: at,
      address: 'urn:here',
      from: '',
      confidential: true,
      parts: new Map(),
    }
  }
  const evidence = asked(signedMessage(), true)
  const proven = await prove(evidence)
  assert.equal(proven.body, evidence.body)
  assert.match(proven.caller?.subject ?? '', /certificate/)
  assert.equal((await prove(asked(plainMessage(), false))).caller, undefined)
  await assert.rejects(async () => prove(asked(plainMessage(), true)))
  await assert.rejects(async () => prove(asked(signedMessage(), true, now + 600_000)))
  await assert.rejects(async () => prove({ ...asked(signedMessage(), true), targeted: [] }))
})

test('SwA Profile 1.1 §5.4: attachments that must be signed', async () => {
  const policy: SecurityPolicy = {
    required: true,
    anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', 'Attachments'] }],
  }
  const octets = Buffer.from('a picture')
  const partsOf = (...ids: string[]): PackedParts => new Map(ids.map(id => [id, { type: 'image/png', bytes: octets }]))
  await expectAccepted(
    verifyOrRefuse({ ...openMessage(signedMessage()), parts: partsOf() }, policy, createGuard(now, all)),
  )
  const beside = { ...openMessage(signedMessage()), parts: partsOf('a@b') }
  await expectRefusal(
    verifyOrRefuse(beside, policy, createGuard(now, all)),
    'InvalidSecurity',
    /attachment is not signed/,
  )
  const include = '<i:Include xmlns:i="http://www.w3.org/2004/08/xop/include" href="cid:a%40b"/>'
  const { key, certificate } = keyPair('alice')
  const signature = { key, by: { certificate, refer: 'direct' }, parts: ['Body', 'Timestamp'] } as const
  const whole = plainMessage(undefined, '', `<data>${octets.toString('base64')}</data>`)
  const text = protectMessage(whole, { timestamp: {}, signature }, now).envelope.replace(
    octets.toString('base64'),
    include,
  )
  await expectAccepted(verifyOrRefuse({ ...openMessage(text), parts: partsOf('a@b') }, policy, createGuard(now, all)))
  await expectRefusal(
    verifyOrRefuse({ ...openMessage(text), parts: partsOf('a@b', 'c') }, policy, createGuard(now, all)),
    'InvalidSecurity',
  )
  const outside = signedMessage().replace('</s:Header>', `<h>${include}</h></s:Header>`)
  await expectRefusal(
    verifyOrRefuse({ ...openMessage(outside), parts: partsOf('a@b') }, policy, createGuard(now, all)),
    'InvalidSecurity',
  )
})

for (const [transform, complete] of [
  [attachmentContentUri, false],
  [attachmentCompleteUri, true],
] as const) {
  test(`SwA Profile 1.1 §5.4: a Reference to an attachment (${complete ? 'complete' : 'content'})`, async () => {
    const policy: SecurityPolicy = {
      required: true,
      anyOf: [{ ...signedDemand, signed: ['Body', 'Timestamp', 'Attachments'] }],
    }
    const text = signAgain(
      signedMessage(),
      keyPair('alice').key,
      `<ds:Reference URI="cid:a"><ds:Transforms><ds:Transform Algorithm="${transform}"/></ds:Transforms><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>` +
        `<ds:DigestValue>${createHash('sha256')
          .update(complete ? 'Content-Type:image/png\r\noctets' : 'octets')
          .digest('base64')}</ds:DigestValue></ds:Reference>`,
    )
    const message = (octets: string) => ({
      ...openMessage(text),
      parts: new Map([
        ['a', { type: 'image/png', bytes: Buffer.from(octets), fields: { 'content-type': 'image/PNG' } }],
      ]),
    })
    await expectAccepted(verifyOrRefuse(message('octets'), policy, createGuard(now, all)))
    await expectRefusal(verifyOrRefuse(message('others'), policy, createGuard(now, all)), 'FailedCheck', /digest/)
    await expectRefusal(
      verifyOrRefuse(openMessage(text), policy, createGuard(now, all)),
      'FailedCheck',
      /missing attachment/,
    )
    const other = signAgain(text.replace(transform, dsNs), keyPair('alice').key)
    const raw = { ...message('octets'), ...openMessage(other) }
    await expectRefusal(
      verifyOrRefuse(raw, policy, createGuard(now, all)),
      'UnsupportedAlgorithm',
      /unsupported transform/,
    )
  })
}

test('WSS §8.3: a token is covered by a reference to it, with a default namespace declared', async () => {
  const { key } = keyPair('alice')
  const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  const written = signedMessage().replace('<wsse:SecurityTokenReference>', `<wsse:SecurityTokenReference wsu:Id="str">`)
  const [, token = ''] = /(<wsse:BinarySecurityToken .*<\/wsse:BinarySecurityToken>)/s.exec(written) ?? []
  const [, id, type, value] = /wsu:Id="([^"]*)" EncodingType="[^"]*" ValueType="([^"]*)">([^<]*)/.exec(token) ?? []
  const canonical =
    `<wsse:BinarySecurityToken xmlns="" xmlns:wsse="${wsseNs}" xmlns:wsu="${wsuNs}" EncodingType="${base64TypeUri}" ValueType="${type}" wsu:Id="${id}">` +
    `${value}</wsse:BinarySecurityToken>`
  const reference = (digest: string) =>
    `<ds:Reference URI="#str"><ds:Transforms><ds:Transform Algorithm="${strTransformUri}"><wsse:TransformationParameters>` +
    `<ds:CanonicalizationMethod Algorithm="${c14n}"/></wsse:TransformationParameters></ds:Transform></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference>`
  const digest = createHash('sha256').update(canonical).digest('base64')
  const message = openMessage(signAgain(written, key, reference(digest)))
  const { covers } = await expectAccepted(verifyOrRefuse(message, signedPolicy, createGuard(now, all)))
  assert.equal(
    covers(message.blocks.find(({ name }) => name === SecurityName)!.elements(BinarySecurityTokenName)[0]!),
    true,
  )
  const other = signAgain(written, key, reference(createHash('sha256').update('').digest('base64')))
  await expectRefusal(verifyOrRefuse(openMessage(other), signedPolicy, createGuard(now, all)), 'FailedCheck', /digest/)
  const none = signAgain(
    written,
    key,
    reference(digest).replace(/<wsse:TransformationParameters>.*<\/wsse:TransformationParameters>/, ''),
  )
  await expectRefusal(
    verifyOrRefuse(openMessage(none), signedPolicy, createGuard(now, all)),
    'InvalidSecurity',
    /TransformationParameters/,
  )
  const body = /<s:Body [^>]*wsu:Id="([^"]*)"/.exec(written)![1]!
  const elsewhere = signAgain(written, key, reference(digest).replace('#str', `#${body}`))
  await expectRefusal(
    verifyOrRefuse(openMessage(elsewhere), signedPolicy, createGuard(now, all)),
    'InvalidSecurity',
    /other than a token reference/,
  )
})

test('WSS §8.3: a certificate that is only named is covered as the token that it would be', async () => {
  const { key, certificate } = keyPair('alice')
  const trust = new CertificateTrust({ certificates: [keyPair('alice').pem] })
  for (const refer of ['thumbprint', 'issuer-serial', 'key-identifier'] as const) {
    const written = signedMessage(keyPair('alice'), { key, by: { certificate, refer } }).replace(
      '<wsse:SecurityTokenReference>',
      '<wsse:SecurityTokenReference wsu:Id="str">',
    )
    const octets = `<wsse:BinarySecurityToken xmlns="" xmlns:wsse="${wsseNs}" ValueType="${x509v3Uri}">${certificate.der.toString('base64')}</wsse:BinarySecurityToken>`
    const reference =
      `<ds:Reference URI="#str"><ds:Transforms><ds:Transform Algorithm="${strTransformUri}"><wsse:TransformationParameters>` +
      '<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></wsse:TransformationParameters></ds:Transform></ds:Transforms>' +
      `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>${createHash('sha256').update(octets).digest('base64')}</ds:DigestValue></ds:Reference>`
    await expectAccepted(
      verifyOrRefuse(
        openMessage(signAgain(written, key, reference)),
        signedPolicy,
        createGuard(now, { ...all, trust }),
      ),
    )
    const stranger = written.replace(
      '</s:Header>',
      `<wsse:SecurityTokenReference xmlns:wsse="${wsseNs}" xmlns:wsu="${wsuNs}" wsu:Id="other"><wsse:KeyIdentifier ValueType="${keyIdentifierThumbprintUri}">AAAA</wsse:KeyIdentifier></wsse:SecurityTokenReference></s:Header>`,
    )
    const unknown = signAgain(stranger, key, reference.replace('#str', '#other'))
    await expectRefusal(
      verifyOrRefuse(openMessage(unknown), signedPolicy, createGuard(now, { ...all, trust })),
      'SecurityTokenUnavailable',
      /unknown certificate/,
    )
    const other = reference.replace(/<ds:DigestValue>..../, '<ds:DigestValue>AAAA')
    await expectRefusal(
      verifyOrRefuse(openMessage(signAgain(written, key, other)), signedPolicy, createGuard(now, { ...all, trust })),
      'FailedCheck',
    )
  }
})

test('peers 11, XML Signature §6.5: enveloped-signature on the Body, and inclusive C14N 1.0 and 1.1, are accepted', async () => {
  const inclusive = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
  const later = { exclusive: false, comments: false }
  const text = signedMessage().replace('<s:Envelope', '<s:Envelope xml:base="a/" xml:id="envelope" xml:lang="de"')
  const message = openMessage(text)
  for (const [transforms, form] of [
    [`<ds:Transform Algorithm="${dsNs}enveloped-signature"/>`, { exclusive: false, comments: false }],
    [`<ds:Transform Algorithm="${inclusive}"/>`, { exclusive: false, comments: false }],
    [`<ds:Transform Algorithm="${inclusive}#WithComments"/>`, { exclusive: false, comments: false }],
    ['<ds:Transform Algorithm="http://www.w3.org/2006/12/xml-c14n11"/>', { ...later, version: '1.1' }],
    ['<ds:Transform Algorithm="http://www.w3.org/2006/12/xml-c14n11#WithComments"/>', { ...later, version: '1.1' }],
    [
      `<ds:Transform Algorithm="${dsNs}enveloped-signature"/><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"><e:InclusiveNamespaces xmlns:e="http://www.w3.org/2001/10/xml-exc-c14n#" PrefixList="s"/></ds:Transform>`,
      { exclusive: true, comments: false, prefixes: ['s'] },
    ],
  ] as const) {
    const digest = createHash('sha256').update(canonicalize(message.body, form)).digest('base64')
    const changed = text.replace(
      /<ds:Transforms>.*?<\/ds:Transforms>(<ds:DigestMethod [^>]*>)<ds:DigestValue>[^<]*/s,
      (_, method) => `<ds:Transforms>${transforms}</ds:Transforms>${method}<ds:DigestValue>${digest}`,
    )
    const again = openMessage(signAgain(changed, keyPair('alice').key))
    const { body } = await expectAccepted(verifyOrRefuse(again, signedPolicy, createGuard(now, all)))
    assert.equal(body, again.body)
  }
})

const exclusiveUri = 'http://www.w3.org/2001/10/xml-exc-c14n#'
/** In each order that XML Signature allows and this service does not. */
const unsupported: readonly (readonly string[])[] = [
  ['http://www.w3.org/TR/1999/REC-xpath-19991116'],
  ['http://www.w3.org/2002/06/xmldsig-filter2', exclusiveUri],
  [`${dsNs}enveloped-signature`, 'http://www.w3.org/TR/1999/REC-xslt-19991116'],
  [`${dsNs}base64`],
  [exclusiveUri, `${dsNs}enveloped-signature`],
  [exclusiveUri, exclusiveUri],
  [`${dsNs}enveloped-signature`, `${dsNs}enveloped-signature`],
  [strTransformUri, exclusiveUri],
]
for (const kinds of unsupported)
  test(`XML Signature §6.6 the log names refused transforms: ${kinds.join(', ')}`, async () => {
    const transforms = kinds.map(each => `<ds:Transform Algorithm="${each}"/>`).join('')
    const changed = signedMessage().replace(
      /<ds:Transforms>.*?<\/ds:Transforms>/s,
      `<ds:Transforms>${transforms}</ds:Transforms>`,
    )
    const message = openMessage(signAgain(changed, keyPair('alice').key))
    const why = new RegExp(RegExp.escape(`an unsupported transform, or an order of them: ${kinds.join(' ')}`))
    await expectRefusal(verifyOrRefuse(message, signedPolicy, createGuard(now, all)), 'UnsupportedAlgorithm', why)
  })
