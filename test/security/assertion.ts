/** SAML assertions for tests, as an issuer would make them. */
import assert from 'node:assert/strict'
import { createHash, sign } from 'node:crypto'
import { dsNs, saml1Ns, saml2Ns } from '../../src/security/vocabulary.ts'
import { canonicalize, Malformed, parseXml } from '../../src/xml/index.ts'
import { keyPair, now } from './message.ts'

export interface AssertionDraft {
  readonly version?: '1.1' | '2.0'
  readonly issuer?: string
  readonly subject?: string
  readonly audience?: string | undefined
  /** When it was issued. */
  readonly at?: number
  readonly from?: number
  readonly until?: number | undefined
  readonly method?: 'bearer' | 'holder-of-key' | 'sender-vouches' | 'other'
  /** The KeyInfo of the subject confirmation. */
  readonly keyInfo?: string
  /** More among the conditions, and in the confirmation data's tag. */
  readonly conditions?: string
  /** In the tag of the AuthnStatement (SAML 2.0), and in that of the name. */
  readonly session?: string
  readonly naming?: string
  readonly data?: string
  /** Undefined: not signed. */
  readonly signer?: string | undefined
  readonly id?: string
}

const writeTime = (at: number) => new Date(at).toISOString()

export function writeAssertion(said: AssertionDraft = {}): string {
  const { version = '2.0', issuer = 'urn:issuer', subject = 'alice', method = 'bearer', id = 'a1' } = said
  const { at = now, from = at - 60_000, keyInfo = '', conditions = '', data = '' } = said
  const { session = '', naming = '' } = said
  const until = 'until' in said ? said.until : at + 300_000
  const audience = 'audience' in said ? said.audience : 'urn:service'
  const ends = until === undefined ? '' : ` NotOnOrAfter="${writeTime(until)}"`
  const unsigned =
    version === '2.0'
      ? `<saml:Assertion xmlns:saml="${saml2Ns}" ID="${id}" Version="2.0" IssueInstant="${writeTime(at)}"><saml:Issuer>${issuer}</saml:Issuer>` +
        `<saml:Subject><saml:NameID${naming}>${subject}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:${method}">` +
        `<saml:SubjectConfirmationData${data}>${keyInfo}</saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>` +
        `<saml:Conditions NotBefore="${writeTime(from)}"${ends}>${audience === undefined ? '' : `<saml:AudienceRestriction><saml:Audience>urn:other</saml:Audience><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`}${conditions}</saml:Conditions>` +
        `<saml:AuthnStatement AuthnInstant="${writeTime(at)}"${session}/></saml:Assertion>`
      : `<saml:Assertion xmlns:saml="${saml1Ns}" AssertionID="${id}" MajorVersion="1" MinorVersion="1" Issuer="${issuer}" IssueInstant="${writeTime(at)}">` +
        `<saml:Conditions NotBefore="${writeTime(from)}"${ends}>${audience === undefined ? '' : `<saml:AudienceRestrictionCondition><saml:Audience>${audience}</saml:Audience></saml:AudienceRestrictionCondition>`}${conditions}</saml:Conditions>` +
        `<saml:AuthenticationStatement AuthenticationInstant="${writeTime(at)}"><saml:Subject><saml:NameIdentifier${naming}>${subject}</saml:NameIdentifier>` +
        `<saml:SubjectConfirmation><saml:ConfirmationMethod>urn:oasis:names:tc:SAML:1.0:cm:${method}</saml:ConfirmationMethod>${keyInfo}</saml:SubjectConfirmation></saml:Subject></saml:AuthenticationStatement></saml:Assertion>`
  const signer = 'signer' in said ? said.signer : 'ca'
  return signer === undefined ? unsigned : issueAssertion(unsigned, signer, id)
}

function canonicalOf(text: string): string {
  const document = parseXml(Buffer.from(text))
  assert.ok(!(document instanceof Malformed))
  return canonicalize(document.root, { exclusive: true, comments: false })
}

type AssertionSigner = Pick<ReturnType<typeof keyPair>, 'key' | 'certificate'>

/** The assertion with an enveloped signature by this key, before its end. */
export function issueAssertion(
  assertion: string,
  signer: string,
  id: string,
  key: AssertionSigner = keyPair(signer),
): string {
  const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#'
  const digest = createHash('sha256').update(canonicalOf(assertion)).digest('base64')
  const signedInfo =
    `<ds:SignedInfo xmlns:ds="${dsNs}"><ds:CanonicalizationMethod Algorithm="${c14n}"/><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>` +
    `<ds:Reference URI="#${id}"><ds:Transforms><ds:Transform Algorithm="${dsNs}enveloped-signature"/><ds:Transform Algorithm="${c14n}"/></ds:Transforms>` +
    `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>${digest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`
  const value = sign('sha256', Buffer.from(canonicalOf(signedInfo)), key.key).toString('base64')
  const certificate = key.certificate.der.toString('base64')
  const signature =
    `<ds:Signature xmlns:ds="${dsNs}">${signedInfo}<ds:SignatureValue>${value}</ds:SignatureValue>` +
    `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></ds:Signature>`
  return assertion.replace('</saml:Assertion>', `${signature}</saml:Assertion>`)
}

/** The key of a test person in a KeyInfo, as a certificate or as a bare key. */
export function writeKeyInfo(name: string, kind: 'certificate' | 'value'): string {
  const { certificate } = keyPair(name)
  if (kind === 'certificate') {
    return `<ds:KeyInfo xmlns:ds="${dsNs}"><ds:X509Data><ds:X509Certificate>${certificate.der.toString('base64')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`
  }
  const { kty, n = '', e = '', x = '', y = '' } = certificate.key.export({ format: 'jwk' })
  const base64 = (...parts: string[]) =>
    Buffer.concat(parts.map(part => Buffer.from(part, 'base64url'))).toString('base64')
  const value =
    kty === 'RSA'
      ? `<ds:RSAKeyValue><ds:Modulus>${base64(n)}</ds:Modulus><ds:Exponent>${base64(e)}</ds:Exponent></ds:RSAKeyValue>`
      : `<d:ECKeyValue xmlns:d="http://www.w3.org/2009/xmldsig11#"><d:NamedCurve URI="urn:oid:1.2.840.10045.3.1.7"/><d:PublicKey>${base64('BA', x, y)}</d:PublicKey></d:ECKeyValue>`
  return `<ds:KeyInfo xmlns:ds="${dsNs}"><ds:KeyValue>${value}</ds:KeyValue></ds:KeyInfo>`
}
