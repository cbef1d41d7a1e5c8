/**
 * Policies as the stacks of partners publish them: WCF, Apache CXF, Metro, WebLogic, Axis2 with
 * Rampart. Each is read as a rule that is obeyed, or refused by the first demand that is not met.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExchangeSecurity } from '../../src/contract/endpoint-rule.ts'
import { importText } from './folder-find.ts'

const sp = 'http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'
const sp11 = 'http://schemas.xmlsoap.org/ws/2005/07/securitypolicy'
const nest = (...inside: readonly string[]): string => `<wsp:Policy>${inside.join('')}</wsp:Policy>`
const policyOf = (uri: string, inside: string): string =>
  `<wsp:Policy xmlns:wsp="http://schemas.xmlsoap.org/ws/2004/09/policy" xmlns:sp="${uri}"><wsp:ExactlyOne><wsp:All>${inside}</wsp:All></wsp:ExactlyOne></wsp:Policy>`

interface Attached {
  readonly binding: string
  readonly input?: string
  readonly output?: string
  readonly uri?: string
}
const importWith = ({ binding, input = '', output = '', uri = sp }: Attached) => {
  const at = (inside: string) => (inside === '' ? '' : policyOf(uri, inside))
  return importText(`<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:t="urn:bank"
  xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" targetNamespace="urn:bank">
  <types><xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:bank">
    <xs:element name="Pay" type="xs:string"/><xs:element name="Paid" type="xs:string"/><xs:element name="Branch" type="xs:string"/></xs:schema></types>
  <message name="Pay"><part name="in" element="t:Pay"/><part name="branch" element="t:Branch"/></message>
  <message name="Paid"><part name="out" element="t:Paid"/></message>
  <portType name="Bank"><operation name="Pay"><input message="t:Pay"/><output message="t:Paid"/></operation></portType>
  <binding name="Bank" type="t:Bank">${at(binding)}
    <soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <operation name="Pay"><soap:operation soapAction="p"/>
      <input>${at(input)}<soap:header message="t:Pay" part="branch" use="literal"/><soap:body parts="in" use="literal"/></input>
      <output>${at(output)}<soap:body use="literal"/></output></operation>
  </binding>
  <service name="Bank"><port name="Bank" binding="t:Bank"><soap:address location="http://b.example/"/></port></service>
</definitions>`)
}
const read = (attached: Attached) => {
  const contract = importWith(attached)
  const policy = contract.policies.get('Bank') ?? assert.fail('no policy')
  return { rule: policy.security.get('Pay'), unmet: policy.unmet.get('Pay'), addressing: policy.addressing }
}

const x509 = (include: string, ...inside: readonly string[]): string =>
  `<sp:X509Token sp:IncludeToken="${sp}/IncludeToken/${include}">${nest(...inside, '<sp:WssX509V3Token10/>')}</sp:X509Token>`
interface Choice {
  readonly initiator?: string
  readonly recipient?: string
  readonly suite?: string
  readonly layout?: string
  readonly more?: string
  readonly stamp?: string
}
const mutual = ({
  initiator = x509('AlwaysToRecipient'),
  recipient = x509('Never', '<sp:RequireIssuerSerialReference/>'),
  suite = 'Basic256Sha256',
  layout = 'Lax',
  stamp = '<sp:IncludeTimestamp/>',
  more = '',
}: Choice = {}): string =>
  `<sp:AsymmetricBinding>${nest(
    `<sp:InitiatorToken>${nest(initiator)}</sp:InitiatorToken>`,
    `<sp:RecipientToken>${nest(recipient)}</sp:RecipientToken>`,
    `<sp:AlgorithmSuite>${nest(`<sp:${suite}/>`)}</sp:AlgorithmSuite>`,
    `<sp:Layout>${nest(`<sp:${layout}/>`)}</sp:Layout>`,
    stamp,
    more,
    '<sp:OnlySignEntireHeadersAndBody/>',
  )}</sp:AsymmetricBinding>`
const wss10 = `<sp:Wss10>${nest('<sp:MustSupportRefKeyIdentifier/>', '<sp:MustSupportRefIssuerSerial/>')}</sp:Wss10>`
const wss11 = (...more: readonly string[]): string =>
  `<sp:Wss11>${nest('<sp:MustSupportRefKeyIdentifier/>', '<sp:MustSupportRefIssuerSerial/>', '<sp:MustSupportRefThumbprint/>', '<sp:MustSupportRefEncryptedKey/>', ...more)}</sp:Wss11>`
const confirming = wss11('<sp:RequireSignatureConfirmation/>')
const trust = `<sp:Trust13>${nest('<sp:MustSupportIssuedTokens/>', '<sp:RequireClientEntropy/>', '<sp:RequireServerEntropy/>')}</sp:Trust13>`
const parts = (kind: string, ...inside: readonly string[]): string =>
  `<sp:${kind}>${['<sp:Body/>', ...inside].join('')}</sp:${kind}>`
const signedBody = parts('SignedParts')
const header = (name: string, uri = 'http://www.w3.org/2005/08/addressing'): string =>
  `<sp:Header Name="${name}" Namespace="${uri}"/>`
const both = (inside: string) => ({ input: inside, output: inside })

const overTls = (...more: readonly string[]): string =>
  `<sp:TransportBinding>${nest(
    `<sp:TransportToken>${nest('<sp:HttpsToken RequireClientCertificate="false"/>')}</sp:TransportToken>`,
    `<sp:AlgorithmSuite>${nest('<sp:Basic256/>')}</sp:AlgorithmSuite>`,
    `<sp:Layout>${nest('<sp:Strict/>')}</sp:Layout>`,
    ...more,
  )}</sp:TransportBinding>`
const username = (kind: string): string =>
  `<sp:${kind}>${nest(`<sp:UsernameToken sp:IncludeToken="${sp}/IncludeToken/AlwaysToRecipient">${nest('<sp:WssUsernameToken10/>')}</sp:UsernameToken>`)}</sp:${kind}>`
const named = [{ by: 'username', passwords: ['text'], signed: false }] as const

/** As `mutual` says by default. */
const namedService = { reference: 'issuer-serial', unsent: ['service'] } as const

const met: readonly (readonly [says: string, policy: Attached, rule: ExchangeSecurity])[] = [
  ['§6.5, ProtectTokens', { binding: mutual({ more: '<sp:ProtectTokens/>' }) + wss10 + signedBody }, { callers: [{ by: 'x509' }], ...namedService, protectTokens: true, answers: 'signed', confirmed: false }],
  ['Rampart, WSS 1.0', { binding: mutual({ layout: 'Strict' }) + wss10 + signedBody }, { callers: [{ by: 'x509' }], ...namedService, answers: 'signed', confirmed: false }],
  ['CXF, WSS 1.0, parts at messages', { binding: mutual() + wss10, ...both(parts('SignedParts', header('To'), header('Action'))) }, { callers: [{ by: 'x509' }], ...namedService, answers: 'signed', confirmed: false }],
  ['CXF, encrypted before it is signed', { binding: mutual({ more: '<sp:EncryptBeforeSigning/>' }) + wss11(), ...both(signedBody + parts('EncryptedParts')) }, { callers: [{ by: 'x509' }], ...namedService, encrypted: true, answers: 'encrypted', confirmed: false }],
  ['CXF, only requests are encrypted', { binding: mutual({ more: '<sp:EncryptBeforeSigning/>' }) + wss11(), input: signedBody + parts('EncryptedParts'), output: signedBody }, { callers: [{ by: 'x509' }], ...namedService, encrypted: true, answers: 'signed', confirmed: false }],
  ['Basic128Sha256', { binding: mutual({ suite: 'Basic128Sha256' }) + wss10 + signedBody }, { callers: [{ by: 'x509' }], ...namedService, suite: 'Basic128Sha256', answers: 'signed', confirmed: false }],
  ['CXF, Basic128Sha256 that encrypts', { binding: mutual({ suite: 'Basic128Sha256', more: '<sp:EncryptBeforeSigning/>' }) + confirming, ...both(signedBody + parts('EncryptedParts')) }, { callers: [{ by: 'x509' }], ...namedService, encrypted: true, suite: 'Basic128Sha256', answers: 'encrypted' }],
  ['Basic192Sha256, in answers alone', { binding: mutual({ suite: 'Basic192Sha256', more: '<sp:EncryptBeforeSigning/>' }) + confirming, input: signedBody, output: signedBody + parts('EncryptedParts') }, { callers: [{ by: 'x509' }], ...namedService, suite: 'Basic192Sha256', answers: 'encrypted' }],
  ['WCF and WebLogic, SHA-1', { binding: mutual({ suite: 'Basic256' }) + confirming + signedBody }, { callers: [{ by: 'x509' }], ...namedService, suite: 'Basic256', answers: 'signed' }],
  ['WCF, SHA-1, which signs alike', { binding: mutual({ suite: 'TripleDesRsa15' }) + confirming + signedBody }, { callers: [{ by: 'x509' }], ...namedService, suite: 'Basic256', answers: 'signed' }],
  ['Basic256Sha256Rsa15, which signs alike', { binding: mutual({ suite: 'Basic256Sha256Rsa15' }) + confirming + signedBody }, { callers: [{ by: 'x509' }], ...namedService, answers: 'signed' }],
  ['eID-Server, WSS 1.0: no message carries a certificate', { binding: mutual({ initiator: x509('Never', '<sp:RequireIssuerSerialReference/>') }) + wss10 + signedBody }, { callers: [{ by: 'x509' }], reference: 'issuer-serial', unsent: ['caller', 'service'], answers: 'signed', confirmed: false }],
  ['requests name the certificate of the service', { binding: mutual({ recipient: x509('AlwaysToInitiator', '<sp:RequireKeyIdentifierReference/>'), more: '<sp:EncryptBeforeSigning/>' }) + confirming, input: signedBody + parts('EncryptedParts'), output: signedBody }, { callers: [{ by: 'x509' }], reference: 'key-identifier', encrypted: true, answers: 'signed' }],
  ['WSS 1.0 knows no thumbprints', { binding: mutual({ recipient: x509('AlwaysToInitiator'), more: '<sp:EncryptBeforeSigning/>' }) + wss10, ...both(signedBody + parts('EncryptedParts')) }, { callers: [{ by: 'x509' }], reference: 'issuer-serial', encrypted: true, answers: 'encrypted', confirmed: false }],
  ['nothing is named', { binding: mutual({ recipient: x509('AlwaysToInitiator', '<sp:RequireIssuerSerialReference/>') }) + wss10 + signedBody }, { callers: [{ by: 'x509' }], answers: 'signed', confirmed: false }],
  ['a thumbprint is the default', { binding: mutual({ recipient: x509('Never', '<sp:RequireThumbprintReference/>') }) + confirming + signedBody }, { callers: [{ by: 'x509' }], unsent: ['service'], answers: 'signed' }],
  ['WCF, TransportWithMessageCredential', { binding: overTls('<sp:IncludeTimestamp/>') + username('SignedSupportingTokens') + wss11() + trust }, { callers: named, timestamp: true }],
  ['WCF, of its first version', { binding: overTls('<sp:IncludeTimestamp/>') + username('SignedSupportingTokens'), uri: sp11 }, { callers: named, timestamp: true }],
  ['WebLogic, a token over TLS', { binding: overTls() + username('SupportingTokens') }, { callers: named }],
  ['CXF, a token that TLS encrypts', { binding: overTls('<sp:IncludeTimestamp/>') + username('SignedEncryptedSupportingTokens') }, { callers: named, timestamp: true }],
] // biome-ignore format: a row a policy
for (const [says, policy, rule] of met)
  test(`WS-SecurityPolicy 1.3 §7: met: ${says}`, () =>
    assert.deepEqual(read(policy), { rule, unmet: undefined, addressing: false }))

const refused: readonly (readonly [says: string, policy: Attached, unmet: RegExp])[] = [
  ['§6.1: Triple DES that encrypts', { binding: mutual({ suite: 'TripleDesSha256', more: '<sp:EncryptBeforeSigning/>' }) + confirming, ...both(signedBody + parts('EncryptedParts')) }, /the algorithms TripleDesSha256, of which Triple DES is not supported/],
  ['§6.1: keys by RSA PKCS#1 v1.5', { binding: mutual({ suite: 'Basic256Sha256Rsa15', more: '<sp:EncryptBeforeSigning/>' }) + confirming, input: signedBody, output: signedBody + parts('EncryptedParts') }, /the algorithms Basic256Sha256Rsa15, of which RSA PKCS#1 v1\.5 is not supported/],
  ['§6.1: a suite of its own', { binding: mutual({ suite: 'Basic256GCM' }) + confirming + signedBody }, /the algorithms Basic256GCM$/],
  ['§6.3: WCF, signed before it is encrypted', { binding: mutual() + confirming, ...both(signedBody + parts('EncryptedParts')) }, /signed before they are encrypted/],
  ['§6.4: WCF, an encrypted signature', { binding: mutual({ more: '<sp:EncryptSignature/>' }) + confirming + signedBody }, /EncryptSignature/],
  ['§6.2: no Timestamp', { binding: mutual({ stamp: '' }) + confirming + signedBody }, /signed messages without a Timestamp/],
  ['§6.7: a Timestamp at the end', { binding: mutual({ layout: 'LaxTsLast' }) + confirming + signedBody }, /LaxTsLast/],
  ['§5.1.1: a token that is not sent', { binding: mutual({ initiator: `<sp:SamlToken sp:IncludeToken="${sp}/IncludeToken/Never"/>` }) + confirming + signedBody }, /a token that messages refer to and do not carry/],
  ['§5.4.3: two ways to name certificates', { binding: mutual({ initiator: x509('Never', '<sp:RequireThumbprintReference/>') }) + confirming + signedBody }, /certificates that are named in two ways/],
  ['§4.2.1: encrypted blocks', { binding: mutual({ more: '<sp:EncryptBeforeSigning/>' }) + confirming, ...both(signedBody + parts('EncryptedParts', header('Branch', 'urn:bank'))) }, /encrypted header blocks/],
  ['§4.2.1: encrypted blocks of answers', { binding: mutual({ more: '<sp:EncryptBeforeSigning/>' }) + confirming, input: signedBody, output: `${signedBody}<sp:EncryptedParts>${header('Branch', 'urn:bank')}</sp:EncryptedParts>` }, /encrypted header blocks/],
  ['§4.1.2: elements by XPath in answers', { binding: mutual() + confirming + signedBody, output: '<sp:SignedElements><sp:XPath>//*</sp:XPath></sp:SignedElements>' }, /SignedElements/],
  ['§4.3.1: elements by XPath', { binding: `${mutual() + confirming + signedBody}<sp:RequiredElements><sp:XPath>//*</sp:XPath></sp:RequiredElements>` }, /RequiredElements/],
  ['§4.3.2: a block that nothing describes', { binding: `${mutual() + confirming + signedBody}<sp:RequiredParts>${header('Session', 'urn:other')}</sp:RequiredParts>` }, /the header block \{urn:other\}Session/],
  ['§7.5: answers whose Body is not signed', { binding: mutual() + confirming, input: signedBody }, /answers whose Body nothing signs/],
  ['§8: two kinds of tokens', { binding: overTls() + username('SupportingTokens') + username('SignedSupportingTokens') }, /SupportingTokens beside SignedSupportingTokens/],
  ['§8.5: a token that a signature does not cover in this form', { binding: mutual() + confirming + signedBody + username('SignedEncryptedSupportingTokens') }, /an encrypted token/],
  ['§7.3: a Timestamp alone', { binding: overTls('<sp:IncludeTimestamp/>') }, /a Timestamp without a token/],
] // biome-ignore format: a row a policy
for (const [says, policy, unmet] of refused)
  test(`WS-SecurityPolicy 1.3 ${says}: is refused, and named`, () => {
    const found = read(policy)
    assert.equal(found.rule, undefined)
    assert.match(found.unmet ?? 'nothing', unmet)
  })

test('WS-SecurityPolicy 1.3 §4.3.2: blocks of WS-Addressing that are required demand it, and declared ones are there', () => {
  const required = `<sp:RequiredParts>${header('MessageID')}${header('Branch', 'urn:bank')}</sp:RequiredParts>`
  const { addressing, unmet } = read({ binding: mutual() + confirming + signedBody, input: required })
  assert.deepEqual([addressing, unmet], [true, undefined])
})

test('WS-SecurityPolicy 1.3 §6.1: SHA-1 is reported, with what it gives up and the cure', () => {
  const { losses } = importWith({ binding: mutual({ suite: 'Basic128' }) + confirming + signedBody })
  assert.match(losses.map(({ detail }) => detail).join(), /Basic128, whose signatures use SHA-1.*Basic128Sha256/)
})

test('WS-SecurityPolicy 1.3 §6.1: a symmetric binding encrypts its key, so its suite has to', () => {
  const protection = `<sp:ProtectionToken>${nest(x509('Never'))}</sp:ProtectionToken>`
  const suite = (name: string) => `<sp:AlgorithmSuite>${nest(`<sp:${name}/>`)}</sp:AlgorithmSuite>`
  const endorsing = `<sp:EndorsingSupportingTokens>${nest(x509('AlwaysToRecipient'))}</sp:EndorsingSupportingTokens>`
  const readWith = (name: string) => {
    const binding = `<sp:SymmetricBinding>${nest(protection, suite(name), '<sp:IncludeTimestamp/>')}</sp:SymmetricBinding>`
    return read({ binding: binding + endorsing + confirming + signedBody })
  }
  assert.equal(readWith('Basic128Sha256').rule?.suite, 'Basic128Sha256')
  assert.match(readWith('Basic128Sha256Rsa15').unmet ?? '', /the algorithms Basic128Sha256Rsa15/)
})

const overHttps = (token: string): string =>
  `<sp:TransportBinding>${nest(`<sp:TransportToken>${nest(token)}</sp:TransportToken>`)}</sp:TransportBinding>`
const https = (...inside: readonly string[]): string => overHttps(`<sp:HttpsToken>${nest(...inside)}</sp:HttpsToken>`)
const transports: readonly (readonly [string, Attached, RegExp | undefined])[] = [
  ['nothing more', { binding: https() }, undefined],
  ['a certificate', { binding: https('<sp:RequireClientCertificate/>') }, /certificate of the client in TLS.*client-key/],
  ['a certificate, in 2005', { binding: overHttps('<sp:HttpsToken RequireClientCertificate="true"/>'), uri: sp11 }, /certificate of the client in TLS/],
  ['no certificate, in 2005', { binding: overHttps('<sp:HttpsToken RequireClientCertificate="false"/>'), uri: sp11 }, undefined],
  ['a password', { binding: https('<sp:HttpBasicAuthentication/>') }, /Basic credentials.*--authorization/],
  ['a digest', { binding: https('<sp:HttpDigestAuthentication/>') }, /Digest credentials of HTTP/],
] // biome-ignore format: a row a policy
for (const [title, attached, loss] of transports)
  test(`WS-SecurityPolicy 1.3 §5.4.10: a port over TLS that demands ${title} says so`, () => {
    const losses = importWith(attached).losses.map(({ detail }) => detail)
    if (loss) assert.match(losses.join('; '), loss)
    else assert.deepEqual(losses, [])
  })
