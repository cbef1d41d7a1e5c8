/**
 * SAML 1.1 and 2.0 assertions as security tokens (SAML Token Profile 1.1). What always holds, by number:
 *  (1) An assertion says something because an issuer configured here signed it, that very element and nothing else; or, for
 *      sender-vouches alone, because a trusted voucher's signature over the message covers it.
 *  (2) It is of now, for an audience that this service is, and has an end. A condition that is not known here refuses it.
 *  (3) A key in a subject confirmation is the subject's because (1) holds, and for no other reason.
 */
import type { KeyObject } from 'node:crypto'
import { canonicalize, type Element, internName, type Name } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { Certificate } from '../crypto/certificate.ts'
import type { AssertionTrust } from '../policy/verification-context.ts'
import { failSecurity, orFail } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import {
  optionalChild,
  readInstant,
  requiredAttribute,
  requiredChild,
  textOnly,
  trimmedText,
} from '../tree/strict-children.ts'
import { assertionIdAttribute, KeyInfoName, SignatureName, saml1Ns, saml2Ns, upperIdAttribute } from '../vocabulary.ts'
import { type KeyReference, readKeyReference, requireTrusted } from './key-info.ts'
import { verifySignature } from './signature.ts'

export type SubjectConfirmation = 'bearer' | 'holder-of-key' | 'sender-vouches'

export interface Assertion {
  readonly element: Element
  /** Whether its issuer's signature holds; otherwise it needs a voucher. */
  readonly signed: boolean
  readonly subject: string
  readonly confirmations: ReadonlyMap<SubjectConfirmation, Element>
  /** Milliseconds since 1970. */
  readonly until: number
  /** Set when it may be used once: what makes a second use known. */
  readonly once: string | undefined
}

export interface Asserting {
  readonly identifiers: Identifiers
  readonly allow: Allowances
  readonly now: number
  readonly skew: number
  readonly trust: AssertionTrust
}

/** All in which the two versions differ, as two columns. */
interface SamlVersion {
  readonly uri: string
  readonly id: Name
  readonly version: (assertion: Element) => boolean
  readonly issuer: (assertion: Element) => string
  readonly subject: (assertion: Element) => Element
  readonly name: Name
  readonly methods: (confirmation: Element) => string[]
  /** What conditions there are beside the audience: those that ask nothing, and those that allow one use. */
  readonly audience: Name
  readonly harmless: ReadonlySet<Name>
  readonly once: ReadonlySet<Name>
  readonly prefix: string
}

const in1 = (local: string) => internName(saml1Ns, local)
const in2 = (local: string) => internName(saml2Ns, local)
const attribute = (local: string) => internName('', local)

const editions: readonly SamlVersion[] = [
  {
    uri: saml1Ns,
    id: assertionIdAttribute,
    version: assertion =>
      assertion.attribute(attribute('MajorVersion')) === '1' && assertion.attribute(attribute('MinorVersion')) === '1',
    issuer: assertion => requiredAttribute(assertion, attribute('Issuer'), 'InvalidSecurityToken'),
    subject: subject1,
    name: in1('NameIdentifier'),
    methods: confirmation => confirmation.elements(in1('ConfirmationMethod')).map(method => trimmedText(method)),
    audience: in1('AudienceRestrictionCondition'),
    harmless: new Set([in1('DoNotCacheCondition')]),
    once: new Set(),
    prefix: 'urn:oasis:names:tc:SAML:1.0:cm:',
  },
  {
    uri: saml2Ns,
    id: upperIdAttribute,
    version: assertion => assertion.attribute(attribute('Version')) === '2.0',
    issuer: assertion => trimmedText(requiredChild(assertion, in2('Issuer'), 'InvalidSecurityToken')),
    subject: assertion => requiredChild(assertion, in2('Subject'), 'InvalidSecurityToken'),
    name: in2('NameID'),
    methods: confirmation => [requiredAttribute(confirmation, attribute('Method'), 'InvalidSecurityToken')],
    audience: in2('AudienceRestriction'),
    harmless: new Set([in2('ProxyRestriction')]),
    once: new Set([in2('OneTimeUse')]),
    prefix: 'urn:oasis:names:tc:SAML:2.0:cm:',
  },
]

const known: readonly SubjectConfirmation[] = ['bearer', 'holder-of-key', 'sender-vouches']

export const isAssertion = ({ name }: Element): boolean =>
  name.local === 'Assertion' && editions.some(({ uri }) => uri === name.uri)

/** What this assertion says, if it may be believed; one without a signature is left to a voucher. @throws Insecure */
export function verifyAssertion(element: Element, asserting: Asserting): Assertion {
  const edition = editions.find(({ uri }) => uri === element.name.uri)
  if (!edition?.version(element)) return failSecurity('UnsupportedSecurityToken', 'an assertion of another version')
  const issuer = edition.issuer(element)
  const signature = optionalChild(element, SignatureName, 'InvalidSecurityToken')
  if (signature) issued(element, signature, issuer, asserting)
  else if (!asserting.trust.issuers.has(issuer))
    return failSecurity('FailedAuthentication', 'an issuer that is not trusted')
  const subject = edition.subject(element)
  const [until, once] = conditions(element, edition, asserting)
  const id = requiredAttribute(element, edition.id, 'InvalidSecurityToken')
  return {
    element,
    signed: signature !== undefined,
    subject: textOnly(requiredChild(subject, edition.name, 'InvalidSecurityToken')),
    confirmations: confirmations(subject, edition, asserting),
    until,
    once: once ? `wss:saml:${issuer}\n${id}` : undefined,
  }
}

/** SAML 2.0 §5.4, SAML 1.1 §5.4: an enveloped signature, by this issuer, over this assertion and nothing else. */
function issued(element: Element, signature: Element, issuer: string, asserting: Asserting): void {
  const trust =
    asserting.trust.issuers.get(issuer) ?? failSecurity('FailedAuthentication', 'an issuer that is not trusted')
  const { identifiers, allow, now } = asserting
  const signer = (keyInfo: Element | undefined) => requireTrusted(readKeyReference(keyInfo, identifiers), trust, now)
  const { elements } = verifySignature(signature, { identifiers, allow, signer })
  if (elements.size !== 1 || !elements.has(element))
    failSecurity('FailedCheck', 'the signature is not over its assertion')
}

/** SAML 1.1 §2.4: every statement has a subject of its own; here they are one. */
function subject1(assertion: Element): Element {
  const subjects = assertion.elements().flatMap(statement => statement.elements(in1('Subject')))
  const [first, ...others] = subjects
  if (!first) return failSecurity('InvalidSecurityToken', 'an assertion about nobody')
  const text = (subject: Element) =>
    orFail('InvalidSecurityToken', 'a subject', () => canonicalize(subject, { exclusive: true, comments: false }))
  if (others.some(other => text(other) !== text(first))) return failSecurity('InvalidSecurityToken', 'two subjects')
  return first
}

/** SAML 2.0 §2.5, SAML 1.1 §2.3.2.1: until when, and whether once only. */
function conditions(element: Element, edition: SamlVersion, { now, skew, trust }: Asserting): [number, boolean] {
  const all = requiredChild(element, internName(edition.uri, 'Conditions'), 'InvalidSecurityToken')
  const until = within(all, now, skew) ?? failSecurity('InvalidSecurityToken', 'an assertion without an end')
  let once = false
  let audiences = 0
  for (const condition of all.elements()) {
    if (condition.name === edition.audience) {
      audiences++
      const meant = condition.elements(internName(edition.uri, 'Audience')).map(audience => trimmedText(audience))
      if (!meant.some(uri => trust.audiences.includes(uri)))
        failSecurity('FailedAuthentication', 'an assertion for others')
    } else if (edition.once.has(condition.name)) once = true
    else if (!edition.harmless.has(condition.name))
      failSecurity('InvalidSecurityToken', 'a condition that is not known here')
  }
  if (audiences === 0) return failSecurity('FailedAuthentication', 'an assertion for anyone')
  return [until, once]
}

/** The end that NotOnOrAfter says, if there is one and now is within. */
function within(element: Element, now: number, skew: number): number | undefined {
  const from = time(element, 'NotBefore')
  const until = time(element, 'NotOnOrAfter')
  if ((from !== undefined && now + skew < from) || (until !== undefined && now >= until)) {
    return failSecurity('MessageExpired', 'an assertion that is not of now')
  }
  return until
}

function time(element: Element, local: string): number | undefined {
  const text = element.attribute(attribute(local))
  if (text === undefined) return undefined
  return readInstant(text.trim()) ?? failSecurity('InvalidSecurityToken', 'a time that is not in the form of one')
}

/** SAML 2.0 §2.4.1.1: those of the known methods that hold now. */
function confirmations(
  subject: Element,
  edition: SamlVersion,
  asserting: Asserting,
): Map<SubjectConfirmation, Element> {
  const found = new Map<SubjectConfirmation, Element>()
  for (const confirmation of subject.elements(internName(edition.uri, 'SubjectConfirmation'))) {
    const data = optionalChild(confirmation, internName(edition.uri, 'SubjectConfirmationData'), 'InvalidSecurityToken')
    if (data && !addressed(data, asserting)) continue
    for (const method of edition.methods(confirmation)) {
      const kind = known.find(each => `${edition.prefix}${each}` === method)
      if (kind && !found.has(kind)) found.set(kind, confirmation)
    }
  }
  return found
}

function addressed(data: Element, { now, skew, trust }: Asserting): boolean {
  const from = time(data, 'NotBefore')
  const until = time(data, 'NotOnOrAfter')
  const recipient = data.attribute(attribute('Recipient'))
  return (
    (from === undefined || now + skew >= from) &&
    (until === undefined || now < until) &&
    (recipient === undefined || trust.audiences.includes(recipient))
  )
}

/** The key that its subject holds (SAML Token Profile 1.1 §3.5.1), which the issuer vouches for. */
export function holderKey(assertion: Assertion, identifiers: Identifiers): KeyObject {
  const confirmation = assertion.confirmations.get('holder-of-key')
  if (!assertion.signed || !confirmation)
    return failSecurity('FailedAuthentication', 'an assertion that vouches for no key')
  const data = confirmation.elements().find(({ name }) => name.local === 'SubjectConfirmationData')
  const keyInfo = optionalChild(confirmation, KeyInfoName) ?? (data && optionalChild(data, KeyInfoName))
  return carriedKey(readKeyReference(keyInfo, identifiers))
}

function carriedKey(reference: KeyReference): KeyObject {
  if (reference.kind === 'value') return reference.key
  if (reference.kind !== 'certificates')
    return failSecurity('SecurityTokenUnavailable', 'a key that is not in the assertion')
  return orFail('InvalidSecurityToken', 'no certificate', () => new Certificate(reference.der).key)
}
