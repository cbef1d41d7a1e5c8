/**
 * The symmetric binding (WS-SecurityPolicy 1.3 §7.4, WSS 1.1 §7.3) with and without derived keys
 * (WS-SecureConversation 1.3 §7): one message that holds, and changes to it, in both directions.
 * Each row names the check that refuses.
 */
import assert from 'node:assert/strict'
import { createHash, createHmac, createSecretKey, randomBytes, sign } from 'node:crypto'
import { test } from 'node:test'
import type { KeyForm } from '../../src/contract/endpoint-rule.ts'
import { encryptOctets, transportKey } from '../../src/security/crypto/cipher.ts'
import { defaultLabel, deriveKey, type ExchangeKey, exchangeKeyOf } from '../../src/security/crypto/derived-key.ts'
import { suiteTransport } from '../../src/security/policy/algorithm-suite.ts'
import { findPolicyMistakes, type SecurityPolicy } from '../../src/security/policy/policy.ts'
import type { VerificationContext } from '../../src/security/policy/verification-context.ts'
import { sealKey, writeEncryptedKey, writeSentReference } from '../../src/security/protect/encrypt.ts'
import type { AnswerExchange, RequestExchange } from '../../src/security/protect/exchange-protection.ts'
import { protectMessage } from '../../src/security/protect/protect.ts'
import { Insecure, type SecurityFault } from '../../src/security/security-fault.ts'
import type { Incoming } from '../../src/security/verify/incoming.ts'
import {
  derivationUri,
  dsNs,
  keyIdentifierEncryptedKeyUri,
  wsseNs,
  wsuNs,
  xenc11Ns,
  xencNs,
} from '../../src/security/vocabulary.ts'
import { createWsSecurity } from '../../src/security/ws-security.ts'
import { soap12 } from '../../src/soap/version.ts'
import { canonicalize, type Element, Malformed, parseXml, writeElement } from '../../src/xml/index.ts'
import {
  createGuard,
  expectAccepted,
  expectRefusal,
  keyPair,
  now,
  openMessage,
  plainMessage,
  signedDemand,
  signedMessage,
  signedPolicy,
  soap11Uri,
  soap12Uri,
  trustOf,
  verifyOrRefuse,
} from './message.ts'

const alice = keyPair('alice')
const bob = keyPair('bob')
const means: Partial<VerificationContext> = { trust: trustOf('ca'), decrypts: [bob] }
const forms = ['direct', 'derived'] as const

const policyOf = (symmetric: KeyForm, encrypts = true): SecurityPolicy => ({
  required: true,
  anyOf: [{ ...signedDemand, symmetric, ...(encrypts && { encrypted: ['Body'] as const }) }],
})
const signed = ['Headers', 'Timestamp', 'Body'] as const
const request = (form: KeyForm, more: Partial<RequestExchange> = {}, version?: string) =>
  protectMessage(
    plainMessage(version),
    { timestamp: {}, exchange: { to: bob.certificate, form, signed, encrypts: true, endorsedBy: alice, ...more } },
    now,
  )
const verify = (text: string, policy: SecurityPolicy, more: Partial<VerificationContext> = {}) =>
  verifyOrRefuse(openMessage(text), policy, createGuard(now, { ...means, ...more }))

/** Made by DerivedKeyUtils of WSS4J 3.0.4. */
const vectors = {
  usual: 'd92548aee8083026b4d01ff6175100075735f46d74565b1aa244fec66d68afa5f1a2cf64cc51e230f084e0e6458f06a1',
  labelled: 'd141f8c796482c32bc62c7a1a8ede9e03b623d62c1da64bdda6e13b02f3e56e859',
}

test('WS-SecureConversation 1.3 §7: P_SHA1 gives the octets that WSS4J derives', () => {
  const secret = Buffer.from('0123456789abcdef')
  const nonce = Buffer.from('fedcba9876543210')
  const derive = (label: string, offset: number, length: number) =>
    deriveKey(secret, { label, nonce, offset, length }).toString('hex')
  assert.equal(derive(defaultLabel, 0, 48), vectors.usual)
  assert.equal(derive('a label', 7, 33), vectors.labelled)
  assert.equal(derive(defaultLabel, 16, 32), vectors.usual.slice(32))
})

for (const form of forms)
  for (const encrypts of [false, true])
    for (const version of [soap11Uri, soap12Uri])
      test(`§7.4: ${form} keys, ${encrypts ? 'encrypted' : 'signed'}, in ${version}`, async () => {
        const { envelope, signatures, exchangeKey } = request(form, { encrypts }, version)
        assert.equal(/o-1/.test(envelope), !encrypts)
        assert.equal(/DerivedKeyToken/.test(envelope), form === 'derived')
        const proven = await expectAccepted(verify(envelope, policyOf(form, encrypts)))
        assert.match(writeElement(proven.body), /o-1/)
        assert.ok(proven.covers(proven.body))
        assert.equal(proven.caller?.subject, `certificate of ${alice.certificate.der.length} octets`)
        assert.deepEqual(proven.confirms, signatures)
        assert.equal(
          proven.signer?.kind === 'exchange' && proven.signer.source.digest.equals(exchangeKey!.digest),
          true,
        )
      })

type Change = (text: string) => string
const replaceText =
  (from: string | RegExp, to: string | ((found: string, ...groups: string[]) => string)): Change =>
  text => {
    const changed = text.replace(from, to as string)
    assert.notEqual(changed, text, 'the change changes nothing')
    return changed
  }
const chain =
  (...changes: readonly Change[]): Change =>
  text =>
    changes.reduce((changed, change) => change(changed), text)
const elements = (text: string, name: string): string[] =>
  text.match(new RegExp(`<${name}[ >].*?</${name}>`, 'gs')) ?? []
const first = (text: string, name: string): string => elements(text, name)[0] ?? assert.fail(name)
const last = (text: string, name: string): string => elements(text, name).at(-1) ?? assert.fail(name)
const without =
  (find: (text: string) => string): Change =>
  text =>
    text.replace(find(text), '')
const inSecurity =
  (added: string | ((text: string) => string)): Change =>
  text =>
    text.replace('</wsse:Security>', `${typeof added === 'string' ? added : added(text)}</wsse:Security>`)

// WS-SecureConversation 1.3 §7.1, of the key that signs: the second token.

const inToken = (from: string | RegExp, to: string) => (text: string) => {
  const token = last(text, 'wsc:DerivedKeyToken')
  return text.replace(token, replaceText(from, to)(token))
}
const offset = '<wsc:Offset>0</wsc:Offset>'
const length = '<wsc:Length>24</wsc:Length>'
const nonceOf = (octets: number) => `<wsc:Nonce>${randomBytes(octets).toString('base64')}</wsc:Nonce>`
const anyNonce = /<wsc:Nonce>[^<]*<\/wsc:Nonce>/
const anyReference = /<wsse:SecurityTokenReference.*<\/wsse:SecurityTokenReference>/s
const referTo = (id: string) =>
  `<wsse:SecurityTokenReference><wsse:Reference URI="#${id}"/></wsse:SecurityTokenReference>`

const same: readonly (readonly [string, Change])[] = [
  ['a Generation in place of the Offset', inToken(offset, '<wsc:Generation>0</wsc:Generation>')],
  ['neither of them', inToken(offset, '')],
  ['the Label that is the default', inToken(offset, `<wsc:Label>${defaultLabel}</wsc:Label>`)],
  ['an Algorithm', inToken('<wsc:DerivedKeyToken ', `<wsc:DerivedKeyToken Algorithm="${derivationUri}" `)],
  [
    'an Algorithm as WSS4J writes it',
    inToken('<wsc:DerivedKeyToken ', `<wsc:DerivedKeyToken wsc:Algorithm="${derivationUri}" `),
  ],
]
for (const [title, change] of same)
  test(`§7.1: a derived key with ${title}`, async () => {
    await expectAccepted(verify(change(request('derived').envelope), policyOf('derived')))
  })

type Row = readonly [title: string, change: Change, fault: SecurityFault, why: RegExp]
const derivations: readonly Row[] = [
  ['15 octets', inToken(length, '<wsc:Length>15</wsc:Length>'), 'InvalidSecurityToken', /too short/],
  ['65 octets', inToken(length, '<wsc:Length>65</wsc:Length>'), 'InvalidSecurityToken', /too long/],
  [
    '4,000,000,000 octets',
    inToken(length, '<wsc:Length>4000000000</wsc:Length>'),
    'InvalidSecurityToken',
    /small number/,
  ],
  ['a Length below zero', inToken(length, '<wsc:Length>-24</wsc:Length>'), 'InvalidSecurityToken', /small number/],
  [
    'a Length with an exponent',
    inToken(length, '<wsc:Length>1e3</wsc:Length>'),
    'InvalidSecurityToken',
    /small number/,
  ],
  ['two Lengths', inToken(length, length + length), 'InvalidSecurity', /two .*Length/],
  ['another Length', inToken(length, '<wsc:Length>32</wsc:Length>'), 'FailedCheck', /SignatureValue/],
  ['a key too far on', inToken(offset, '<wsc:Offset>233</wsc:Offset>'), 'InvalidSecurityToken', /too large an offset/],
  [
    'a late Generation',
    inToken(offset, '<wsc:Generation>999999999</wsc:Generation>'),
    'InvalidSecurityToken',
    /too large an offset/,
  ],
  ['another Generation', inToken(offset, '<wsc:Generation>1</wsc:Generation>'), 'FailedCheck', /SignatureValue/],
  [
    'Generation and Offset',
    inToken(offset, `<wsc:Generation>0</wsc:Generation>${offset}`),
    'InvalidSecurityToken',
    /both/,
  ],
  ['no Nonce', inToken(anyNonce, ''), 'InvalidSecurity', /Nonce is missing|Nonce} is missing/],
  ['an empty Nonce', inToken(anyNonce, '<wsc:Nonce/>'), 'InvalidSecurityToken', /empty/],
  ['a Nonce of 129 octets', inToken(anyNonce, nonceOf(129)), 'InvalidSecurityToken', /too long/],
  ['another Nonce', inToken(anyNonce, nonceOf(16)), 'FailedCheck', /SignatureValue/],
  [
    'a Label of 257 octets',
    inToken(offset, `<wsc:Label>${'l'.repeat(257)}</wsc:Label>`),
    'InvalidSecurityToken',
    /Label/,
  ],
  ['another Label', inToken(offset, '<wsc:Label>another</wsc:Label>'), 'FailedCheck', /SignatureValue/],
  ['Properties', inToken(offset, '<wsc:Properties/>'), 'UnsupportedSecurityToken', /Properties/],
  [
    'another Algorithm',
    inToken('<wsc:DerivedKeyToken ', '<wsc:DerivedKeyToken Algorithm="urn:md5" '),
    'UnsupportedAlgorithm',
    /derivation/,
  ],
  [
    'no secret',
    inToken(anyReference, ''),
    'InvalidSecurity',
    /SecurityTokenReference} is missing|SecurityTokenReference is missing/,
  ],
  [
    'itself as its secret (a cycle of one)',
    text => inToken(anyReference, referTo(/wsu:Id="(DK-[^"]*)"/.exec(last(text, 'wsc:DerivedKeyToken'))![1]!))(text),
    'UnsupportedSecurityToken',
    /other than an EncryptedKey/,
  ],
  [
    'another derived key as its secret (a chain)',
    text => inToken(anyReference, referTo(/wsu:Id="(DK-[^"]*)"/.exec(first(text, 'wsc:DerivedKeyToken'))![1]!))(text),
    'UnsupportedSecurityToken',
    /other than an EncryptedKey/,
  ],
  [
    'a certificate as its secret',
    text => inToken(anyReference, referTo(/wsu:Id="(X509-[^"]*)"/.exec(text)![1]!))(text),
    'UnsupportedSecurityToken',
    /other than an EncryptedKey/,
  ],
  [
    'the name of a secret',
    inToken(
      anyReference,
      `<wsse:SecurityTokenReference><ds:KeyName xmlns:ds="${dsNs}">acme</ds:KeyName></wsse:SecurityTokenReference>`,
    ),
    'UnsupportedSecurityToken',
    /other than an EncryptedKey/,
  ],
  [
    'its token in another block',
    text => {
      const token = last(text, 'wsc:DerivedKeyToken')
      const block = `<w:w xmlns:w="urn:w" xmlns:wsse="${wsseNs}" xmlns:wsu="${wsuNs}">${token}</w:w>`
      return text.replace(token, '').replace('</s:Header>', `${block}</s:Header>`)
    },
    'InvalidSecurity',
    /outside of the Security block/,
  ],
  [
    'a second token of its identifier',
    text => inSecurity(last(text, 'wsc:DerivedKeyToken'))(text),
    'InvalidSecurity',
    /twice/,
  ],
  ['no token', without(text => last(text, 'wsc:DerivedKeyToken')), 'SecurityTokenUnavailable', /not in this message/],
]
const secrets = new Map([['acme', createSecretKey(randomBytes(32))]])
for (const [title, change, fault, why] of derivations)
  test(`§7.1 refused: a derived key with ${title}`, async () => {
    await expectRefusal(verify(change(request('derived').envelope), policyOf('derived'), { secrets }), fault, why)
  })

// Signatures and keys, with and without derivation.

const anyKeyInfo = /<ds:KeyInfo>.*?<\/ds:KeyInfo>/s
const bySha1 = (digest: Buffer) =>
  `<wsse:SecurityTokenReference><wsse:KeyIdentifier ValueType="${keyIdentifierEncryptedKeyUri}">${digest.toString('base64')}</wsse:KeyIdentifier></wsse:SecurityTokenReference>`

/** The Signature again over a changed SignedInfo, or by another key: whoever has a key can do this. */
function signAgain(text: string, secret: Buffer, change: Change = each => each): string {
  const changed = text.replace(first(text, 'ds:Signature'), change(first(text, 'ds:Signature')))
  const document = parseXml(Buffer.from(changed))
  assert.ok(!(document instanceof Malformed))
  const find = (element: Element): Element | undefined =>
    element.name.local === 'SignedInfo' ? element : element.elements().map(find).find(Boolean)
  const octets = canonicalize(find(document.root)!, { exclusive: true, comments: false })
  const value = createHmac('sha256', secret).update(octets).digest('base64')
  return changed.replace(/<ds:SignatureValue>[^<]*/, `<ds:SignatureValue>${value}`)
}

/** An EncryptedKey that brings this secret, and its identifier. */
function bring(secret: Buffer): readonly [element: string, id: string, key: ExchangeKey] {
  const sealed = sealKey(bob.certificate, secret, suiteTransport)
  const id = `EK-${randomBytes(8).toString('hex')}`
  return [writeEncryptedKey(id, sealed), id, exchangeKeyOf(secret, sealed.octets)]
}
/** A block that comes encrypted by AES-GCM, with a KeyInfo that has this reference. */
const encryptBlock = (key: Buffer, reference: string, id = 'ED-own') => {
  const sealed = encryptOctets({ mode: 'gcm', size: key.length as 32 }, key, Buffer.from('<x:secret xmlns:x="urn:x"/>'))
  return (
    `<xenc:EncryptedData xmlns:xenc="${xencNs}" Id="${id}" Type="${xencNs}Element"><xenc:EncryptionMethod Algorithm="${xenc11Ns}aes${key.length * 8}-gcm"/>` +
    `<ds:KeyInfo xmlns:ds="${dsNs}" xmlns:wsse="${wsseNs}">${reference}</ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${sealed.toString('base64')}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>`
  )
}
const listing = (...ids: readonly string[]) =>
  `<xenc:ReferenceList xmlns:xenc="${xencNs}">${ids.map(id => `<xenc:DataReference URI="#${id}"/>`).join('')}</xenc:ReferenceList>`
const inHeader = (block: string): Change => replaceText('</s:Header>', `<w:w xmlns:w="urn:w">${block}</w:w></s:Header>`)

const shared: readonly Row[] = [
  [
    'X7 a truncated HMAC',
    replaceText(/(hmac-sha256")\/>/, '$1><ds:HMACOutputLength>8</ds:HMACOutputLength></ds:SignatureMethod>'),
    'UnsupportedAlgorithm',
    /parameters/,
  ],
  [
    'X7 a value of 8 octets',
    replaceText(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>AAAAAAAAAAA='),
    'FailedCheck',
    /SignatureValue/,
  ],
  [
    'X7 HMAC with SHA-1',
    replaceText(/[^"]*hmac-sha256/, `${dsNs}hmac-sha1`),
    'UnsupportedAlgorithm',
    /signature algorithm/,
  ],
  [
    'X7 the public key of a certificate as the secret',
    text => {
      const [, id = ''] = /wsu:Id="(X509-[^"]*)"/.exec(text) ?? []
      const der = alice.certificate.key.export({ type: 'spki', format: 'der' })
      return signAgain(text, der, replaceText(anyKeyInfo, `<ds:KeyInfo>${referTo(id)}</ds:KeyInfo>`))
    },
    'FailedCheck',
    /does not fit/,
  ],
  ['X1 the Body changed', replaceText(/(<s:Body[^>]*>)/, '$1 '), 'FailedCheck', /digest/],
  ['no endorsement', without(text => last(text, 'ds:Signature')), 'InvalidSecurity', /x509: not there/],
  ['an endorsement alone', without(text => first(text, 'ds:Signature')), 'FailedCheck', /not in this document/],
  [
    'no signature',
    chain(
      without(text => first(text, 'ds:Signature')),
      without(text => first(text, 'ds:Signature')),
    ),
    'UnsupportedAlgorithm',
    /CBC/,
  ],
  [
    'three signatures',
    text => inSecurity(last(text, 'ds:Signature').replace(/Id="SIG-[^"]*"/, 'Id="other"'))(text),
    'InvalidSecurity',
    /three Signatures/,
  ],
  [
    'a changed endorsement',
    text =>
      text.replace(last(text, 'ds:Signature'), whole =>
        whole.replace(/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA'),
      ),
    'FailedCheck',
    /SignatureValue/,
  ],
  [
    'a name beside the key that signs',
    text =>
      text.replace(first(text, 'ds:Signature'), whole =>
        whole.replace('</ds:KeyInfo>', '<ds:KeyName>any</ds:KeyName></ds:KeyInfo>'),
      ),
    'SecurityTokenUnavailable',
    /two keys/,
  ],
  [
    'the SHA-1 of a key that is not in this message',
    text => {
      const keyInfo = `<ds:KeyInfo>${bySha1(randomBytes(20))}</ds:KeyInfo>`
      return text.replace(first(text, 'ds:Signature'), whole => replaceText(anyKeyInfo, keyInfo)(whole))
    },
    'SecurityTokenUnavailable',
    /not in this message/,
  ],
  ['another wrapped key', replaceText(/(<xenc:CipherValue>)[^<]{8}/, '$1AAAAAAAA'), 'FailedCheck', /decryption/],
  [
    'a key of 8 octets',
    text =>
      text.replace(first(text, 'xenc:EncryptedKey'), whole =>
        whole.replace(
          /CipherValue>[^<]*/,
          `CipherValue>${transportKey(bob.key, randomBytes(8), suiteTransport).toString('base64')}`,
        ),
      ),
    'FailedCheck',
    /decryption|does not fit/,
  ],
  [
    'another key, which decrypts another block behind the signature',
    text => {
      const [element, id, { octets }] = bring(randomBytes(32))
      return chain(
        inHeader(encryptBlock(octets, writeSentReference(id))),
        inSecurity(element + listing('ED-own')),
      )(text)
    },
    'InvalidSecurity',
    /besides the one that signs/,
  ],
  [
    'another key, which decrypts another block before the signature',
    text => {
      const [element, id, { octets }] = bring(randomBytes(32))
      const early = replaceText(/<xenc:EncryptedKey/, `${element}${listing('ED-own')}<xenc:EncryptedKey`)
      return chain(early, inHeader(encryptBlock(octets, writeSentReference(id))))(text)
    },
    'InvalidSecurity',
    /besides the one that signs/,
  ],
  [
    'a shared secret, which decrypts another block',
    chain(
      inHeader(encryptBlock(secrets.get('acme')!.export(), `<ds:KeyName>acme</ds:KeyName>`)),
      inSecurity(listing('ED-own')),
    ),
    'InvalidSecurity',
    /besides the one that signs/,
  ],
  [
    'a second Timestamp',
    text => inSecurity(first(text, 'wsu:Timestamp').replace(/wsu:Id="[^"]*"/, ''))(text),
    'InvalidSecurity',
    /two/,
  ],
  ['an added block', replaceText('<a:MessageID ', '<a:MessageID x="y" '), 'FailedCheck', /digest/],
]
/** Where the Body is in clear, what moves has no ciphertext with it. */
const wrapped: readonly Row[] = [
  [
    'X1 the signed Body in a block, and another in its place',
    text => {
      const body = first(text, 's:Body')
      const forged = body.replace(/ wsu:Id="[^"]*"/, '')
      return text.replace(body, forged).replace('</s:Header>', `<w:w xmlns:w="urn:w">${body}</w:w></s:Header>`)
    },
    'InvalidSecurity',
    /Body is not signed/,
  ],
  [
    'X1 another signature in the place of the endorsed one, which stands in a block',
    text => {
      const endorsed = first(text, 'ds:Signature')
      const [element, id] = bring(Buffer.alloc(32, 1))
      const own = endorsed
        .replace(/Id="SIG-[^"]*"/, 'Id="SIG-own"')
        .replace(/<ds:KeyInfo>.*?<\/ds:KeyInfo>/s, `<ds:KeyInfo>${writeSentReference(id)}</ds:KeyInfo>`)
      const block = `<w:w xmlns:w="urn:w" xmlns:wsse="${wsseNs}">${endorsed}</w:w>`
      return signAgain(text.replace(endorsed, element + own), Buffer.alloc(32, 1)).replace(
        '</s:Header>',
        `${block}</s:Header>`,
      )
    },
    'InvalidSecurity',
    /two Signatures/,
  ],
]
for (const form of forms)
  for (const [title, change, fault, why] of wrapped)
    test(`§7.4 refused (${form} keys, signed alone): ${title}`, async () => {
      const { envelope } = request(form, { encrypts: false })
      await expectRefusal(verify(change(envelope), policyOf(form, false)), fault, why)
    })
for (const form of forms)
  for (const [title, change, fault, why] of shared)
    test(`§7.4 refused (${form} keys): ${title}`, async () => {
      await expectRefusal(verify(change(request(form).envelope), policyOf(form), { secrets }), fault, why)
    })

test('padding oracles: CBC of another party is not decrypted under a signature that anybody can make', async () => {
  const captured = request('direct').envelope
  const sealed = first(captured, 'xenc:EncryptedData')
  const exchange = { to: bob.certificate, form: 'direct', signed, encrypts: false, endorsedBy: alice } as const
  const { envelope } = protectMessage(plainMessage(undefined, '', sealed), { timestamp: {}, exchange }, now)
  const key = first(captured, 'xenc:EncryptedKey')
  const forged = inSecurity(key + first(captured, 'xenc:ReferenceList'))(envelope)
  await expectRefusal(verify(forged, policyOf('direct')), 'InvalidSecurity', /besides the one that signs/)
})

test('a derived key either signs or encrypts, also under another token', async () => {
  const { envelope, exchangeKey } = request('derived', { encrypts: false })
  const token = first(envelope, 'wsc:DerivedKeyToken')
  const nonce = Buffer.from(/<wsc:Nonce>([^<]*)/.exec(token)![1]!, 'base64')
  const id = /wsu:Id="(DK-[^"]*)"/.exec(token)![1]!
  const octets = deriveKey(exchangeKey!.octets, { label: defaultLabel, nonce, offset: 0, length: 24 })
  const both = chain(inHeader(encryptBlock(octets, referTo(id))), inSecurity(listing('ED-own')))(envelope)
  await expectRefusal(verify(both, policyOf('derived', false)), 'InvalidSecurity', /both signs and encrypts/)
  const twin = chain(
    inHeader(encryptBlock(octets, referTo('DK-twin'))),
    inSecurity(token.replace(id, 'DK-twin') + listing('ED-own')),
  )(envelope)
  await expectRefusal(verify(twin, policyOf('derived', false)), 'InvalidSecurity', /both signs and encrypts/)
})

test('at most eight keys are derived', async () => {
  const derived = (count: number) => {
    const { envelope, exchangeKey } = request('derived', { encrypts: false })
    const token = first(envelope, 'wsc:DerivedKeyToken')
    const added = Array.from({ length: count }, (_, at) => {
      const nonce = randomBytes(16)
      const octets = deriveKey(exchangeKey!.octets, { label: defaultLabel, nonce, offset: 0, length: 24 })
      const own = token
        .replace(/wsu:Id="[^"]*"/, `wsu:Id="DK-${at}"`)
        .replace(anyNonce, `<wsc:Nonce>${nonce.toString('base64')}</wsc:Nonce>`)
      return { own, id: `ED-${at}`, data: encryptBlock(octets, referTo(`DK-${at}`), `ED-${at}`) }
    })
    return chain(
      inHeader(added.map(({ data }) => data).join('')),
      inSecurity(added.map(({ own }) => own).join('') + listing(...added.map(({ id }) => id))),
    )(envelope)
  }
  await expectAccepted(verify(derived(7), policyOf('derived', false)))
  await expectRefusal(verify(derived(8), policyOf('derived', false)), 'InvalidSecurity', /too many derived keys/)
})

test('a symmetric demand takes its own form alone, and another demand takes no exchange key', async () => {
  const [direct, derived] = forms.map(form => request(form, { encrypts: false }).envelope) as [string, string]
  await expectRefusal(verify(direct, policyOf('derived', false)), 'InvalidSecurity', /keys are not derived/)
  await expectRefusal(verify(derived, policyOf('direct', false)), 'InvalidSecurity', /keys are not direct/)
  await expectRefusal(verify(direct, signedPolicy), 'InvalidSecurity', /x509: not there/)
  await expectRefusal(verify(signedMessage(), policyOf('direct', false)), 'InvalidSecurity', /x509: not there/)
  await expectRefusal(verify(direct, policyOf('direct')), 'InvalidSecurity', /Body is not encrypted/)
})

test('the endorsement may stand before the signature that it endorses', async () => {
  const { envelope } = request('derived', { encrypts: false })
  const [signature, endorsement] = [first(envelope, 'ds:Signature'), last(envelope, 'ds:Signature')]
  const turned = envelope.replace(endorsement, '').replace(signature, endorsement + signature)
  await expectAccepted(verify(turned, policyOf('derived', false)))
})

/** Another key in a request whose Body is in clear, signed and endorsed again. */
function requestWith(secret: Buffer): string {
  const { envelope } = request('direct', { encrypts: false })
  const keyed = envelope.replace(
    /(CipherValue>)[^<]*/,
    `$1${transportKey(bob.key, secret, suiteTransport).toString('base64')}`,
  )
  const signedAgain = signAgain(keyed, secret)
  const elementsOf = (text: string) => {
    const document = parseXml(Buffer.from(text))
    assert.ok(!(document instanceof Malformed))
    const security = document.root.elements()[0]!.elements().at(-1)!
    return security.elements().filter(({ name }) => name.local === 'Signature')
  }
  const canonical = (element: Element) => canonicalize(element, { exclusive: true, comments: false })
  const digest = createHash('sha256')
    .update(canonical(elementsOf(signedAgain)[0]!))
    .digest('base64')
  const old = last(signedAgain, 'ds:Signature')
  const digested = signedAgain.replace(old, old.replace(/(DigestValue>)[^<]*/, `$1${digest}`))
  const info = canonical(elementsOf(digested)[1]!.elements()[0]!)
  const value = sign('sha256', Buffer.from(info), alice.key).toString('base64')
  const current = last(digested, 'ds:Signature')
  return digested.replace(current, current.replace(/(SignatureValue>)[^<]*/, `$1${value}`))
}

test('nothing is done whose answer the key could not encrypt: one of 16 octets is none for AES-256', async () => {
  const policy: SecurityPolicy = { ...policyOf('direct', false), answers: 'encrypted' }
  const secure = createWsSecurity(policy, createGuard(now, means))
  const ask = async (text: string) => {
    const document = parseXml(Buffer.from(text))
    assert.ok(!(document instanceof Malformed))
    const { header, body } = openMessage(text)
    const [, block] = document.root.elements()[0]!.elements()
    assert.ok(header && body && block)
    const targeted = [block]
    const [, found] = document.root.elements()
    const evidence = {
      version: soap12,
      document,
      body: found!,
      blocks: targeted,
      targeted,
      isProcessed: () => false,
      demanded: true,
    }
    return secure({ ...evidence, now, address: '', from: '', confidential: true, parts: new Map() })
  }
  assert.ok((await ask(requestWith(randomBytes(32)))).protect)
  await assert.rejects(ask(requestWith(randomBytes(16))), (thrown: unknown) => {
    assert.ok(thrown instanceof Insecure)
    assert.match(thrown.why, /not of 32 octets/)
    return true
  })
})

test('X12 a request comes once, whoever endorses it', async () => {
  const guard = createGuard(now, means)
  const { envelope } = request('derived')
  const send = (text: string) => verifyOrRefuse(openMessage(text), policyOf('derived'), guard)
  await expectAccepted(send(envelope))
  await expectRefusal(send(envelope), 'FailedAuthentication', /seen before/)
})

test('the endorsement has to be by a trusted key, over the Signature', async () => {
  const stranger = keyPair('stranger')
  const { envelope } = request('direct', { endorsedBy: stranger })
  await expectRefusal(verify(envelope, policyOf('direct')), 'FailedAuthentication', /not trusted/)
  const bare = without(text => last(text, 'ds:Signature'))(request('direct').envelope)
  const stamped = protectMessage(
    plainMessage(),
    {
      timestamp: {},
      signature: { key: alice.key, by: { certificate: alice.certificate, refer: 'direct' }, parts: ['Timestamp'] },
    },
    now,
  ).envelope
  const apart = [
    first(stamped, 'wsu:Timestamp'),
    first(stamped, 'wsse:BinarySecurityToken'),
    last(stamped, 'ds:Signature'),
  ]
  const elsewhere = bare.replace(
    '</s:Header>',
    `<w:w xmlns:w="urn:w" xmlns:wsu="${wsuNs}">${apart[0]}</w:w></s:Header>`,
  )
  await expectRefusal(
    verify(inSecurity(`${apart[1]}${apart[2]}`)(elsewhere), policyOf('direct')),
    'InvalidSecurity',
    /two Signatures/,
  )
})

// Answers

const answerTo = (key: ExchangeKey, form: KeyForm, confirms: readonly Buffer[], more: Partial<AnswerExchange> = {}) =>
  protectMessage(
    plainMessage(undefined, '', '<o:Order xmlns:o="urn:o"><id>o-1</id></o:Order>'),
    { timestamp: {}, confirms, exchange: { key, form, signed, encrypts: true, ...more } },
    now,
  ).envelope
const answerPolicy = (symmetric: KeyForm): SecurityPolicy => ({
  required: true,
  anyOf: [{ caller: 'exchange', symmetric, timestamp: true, signed: ['Body', 'Timestamp'], encrypted: ['Body'] }],
})
type Asked = ReturnType<typeof request>
/** The client's own keys decrypt nothing of an answer. */
const prove = (text: string, form: KeyForm, { signatures: sent, exchangeKey }: Asked, told: Partial<Incoming> = {}) =>
  verifyOrRefuse(
    { ...openMessage(text), sent, exchangeKey: exchangeKey!, ...told },
    answerPolicy(form),
    createGuard(now, { trust: trustOf('ca') }),
  )

for (const form of forms) {
  const asked = request(form)
  const answer = answerTo(asked.exchangeKey!, form, asked.signatures)
  test(`WSS §7.3: an answer is proven by the key of its request (${form} keys)`, async () => {
    assert.match(answer, /EncryptedKeySHA1/)
    assert.doesNotMatch(answer, /o-1|<xenc:EncryptedKey|BinarySecurityToken/)
    const { body, covers } = await expectAccepted(prove(answer, form, asked))
    assert.ok(covers(body))
    assert.match(writeElement(body), /o-1/)
  })
  const other = request(form)
  const rows: readonly (readonly [string, string, SecurityFault, RegExp])[] = [
    [
      'another key',
      answerTo(other.exchangeKey!, form, asked.signatures),
      'SecurityTokenUnavailable',
      /not in this message/,
    ],
    [
      'a key that only has the digest of the right one',
      answerTo({ octets: randomBytes(32), digest: asked.exchangeKey!.digest }, form, asked.signatures),
      'FailedCheck',
      /SignatureValue/,
    ],
    [
      'one signature confirmed',
      answerTo(asked.exchangeKey!, form, asked.signatures.slice(0, 1)),
      'FailedCheck',
      /another request/,
    ],
    ['nothing confirmed', answerTo(asked.exchangeKey!, form, []), 'FailedCheck', /another request/],
    ['the request itself (a reflection)', asked.envelope, 'SecurityTokenUnavailable', /receiver does not have/],
    [
      'the Body in clear',
      answerTo(asked.exchangeKey!, form, asked.signatures, { encrypts: false }),
      'InvalidSecurity',
      /not encrypted/,
    ],
    [
      'the other form',
      answerTo(asked.exchangeKey!, form === 'direct' ? 'derived' : 'direct', asked.signatures),
      'InvalidSecurity',
      /keys are not/,
    ],
    [
      'no signature',
      without(text => first(text, 'ds:Signature'))(answer),
      'FailedCheck|UnsupportedAlgorithm' as SecurityFault,
      /./,
    ],
    [
      'a certificate that is trusted, in place of the key',
      signedMessage(alice, {}, { confirms: asked.signatures }),
      'InvalidSecurity',
      /exchange: not there/,
    ],
  ]
  test(`a key that an answer brings itself proves nothing (${form} keys)`, async () => {
    const exchange: RequestExchange = { to: bob.certificate, form, signed, encrypts: true, endorsedBy: alice }
    const { envelope } = protectMessage(plainMessage(), { timestamp: {}, confirms: asked.signatures, exchange }, now)
    const { signatures: sent, exchangeKey } = asked
    const message = { ...openMessage(envelope), sent, exchangeKey: exchangeKey! }
    const found = verifyOrRefuse(message, answerPolicy(form), createGuard(now, means))
    await expectRefusal(found, 'InvalidSecurity', /exchange: not there/)
  })
  for (const [title, text, fault, why] of rows)
    test(`an answer is refused (${form} keys): ${title}`, async () => {
      const found = await prove(text, form, asked)
      assert.ok(found instanceof Insecure, 'the answer was accepted')
      assert.match(found.fault, new RegExp(fault))
      assert.match(found.why, why)
    })
}

for (const form of forms) {
  const asked = request(form, { encrypts: false })
  const policy: SecurityPolicy = {
    required: true,
    anyOf: [{ caller: 'exchange', symmetric: form, timestamp: true, signed: ['Body', 'Timestamp'] }],
  }
  const proveLoose = (text: string) =>
    verifyOrRefuse(
      { ...openMessage(text), sent: asked.signatures, exchangeKey: asked.exchangeKey!, isUnconfirmed: true },
      policy,
      createGuard(now, { trust: trustOf('ca') }),
    )
  const answering = (confirms?: readonly Buffer[]) =>
    protectMessage(
      plainMessage(),
      {
        timestamp: {},
        ...(confirms && { confirms }),
        exchange: { key: asked.exchangeKey!, form, signed, encrypts: false },
      },
      now,
    ).envelope
  test(`§9.2: an answer that confirms nothing is proven by the key of its request (${form} keys)`, async () => {
    await expectAccepted(proveLoose(answering()))
    await expectAccepted(proveLoose(answering(asked.signatures)))
    await expectRefusal(proveLoose(answering([Buffer.from('other')])), 'FailedCheck', /another request/)
  })
  test(`§9.2: the request itself is no answer, however it names the key (${form} keys)`, async () => {
    const named = `<wsse:KeyIdentifier EncodingType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary" ValueType="${keyIdentifierEncryptedKeyUri}">${asked.exchangeKey!.digest.toString('base64')}</wsse:KeyIdentifier>`
    const endorsement = last(asked.envelope, 'ds:Signature')
    const reflected = asked.envelope
      .replace(endorsement, '')
      .replace(/<xenc:EncryptedKey.*?<\/xenc:EncryptedKey>/s, '')
      .replace(/<wsse:Reference URI="#EK[^>]*>/s, named)
    assert.notEqual(reflected, asked.envelope)
    await expectRefusal(proveLoose(reflected), 'FailedCheck', /the request itself/)
  })
}

test('X14 a symmetric policy that nothing could enforce is a mistake at start, with its cure', () => {
  const guard = createGuard(now, { trust: trustOf('ca') })
  assert.match(findPolicyMistakes(policyOf('direct'), guard).join('\n'), /no key to decrypt the key of an exchange/)
  const named: SecurityPolicy = { required: true, anyOf: [{ ...policyOf('direct').anyOf[0]!, caller: 'kerberos' }] }
  assert.match(findPolicyMistakes(named, createGuard(now, means)).join('\n'), /cannot endorse a signature; use x509/)
  const answers: SecurityPolicy = { required: true, anyOf: [{ caller: 'exchange' }] }
  assert.match(findPolicyMistakes(answers, createGuard(now, means)).join('\n'), /proves answers alone/)
  const answered: SecurityPolicy = { ...policyOf('direct'), answers: 'encrypted' }
  assert.deepEqual(findPolicyMistakes(answered, createGuard(now, means)), [], 'no certificate signs answers')
  assert.doesNotThrow(() => createWsSecurity(answered, createGuard(now, means)))
})
