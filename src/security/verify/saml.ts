/**
 * SAML 1.1 and 2.0 assertions as security tokens (SAML Token Profile 1.1). What always holds, by
 * number:
 *  (1) An assertion counts because an issuer configured here signed it: that very element and
 *      nothing else; or, only for sender-vouches, because the signature of a trusted voucher over
 *      the message covers it.
 *  (2) It is valid now, has an end, and names this service as its audience. An unknown condition
 *      refuses it.
 *  (3) An issuer may identify only the people that its rule names.
 *  (4) A key in a subject confirmation is the subject's only because (1) holds.
 */

import type { KeyObject } from 'node:crypto'
import type { SubjectConfirmation } from '../../contract/endpoint-rule.ts'
import type { CanonicalBudget } from '../../xml/canonical-budget.ts'
import { type Element, internName, type Name } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { Certificate } from '../crypto/certificate.ts'
import type { AssertionSubject, AssertionTrust, SubjectRule } from '../policy/verification-context.ts'
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
import {
  type KeyReference,
  readKeyReference,
  requireMatchingCertificate,
  requireMatchingKey,
  requireTrusted,
} from './key-info.ts'
import { verifySignature } from './signature.ts'

export interface Assertion {
  readonly element: Element
  /** Whether its issuer's signature holds; otherwise it needs a voucher. */
  readonly signed: boolean
  /** The name of the person whom its issuer may identify; undefined: no person known here. */
  readonly person: string | undefined
  readonly confirmations: ReadonlyMap<SubjectConfirmation, Element>
  /** Milliseconds since 1970. */
  readonly until: number
  /** The key under which its use is remembered. */
  readonly use: string
  /** Whether its issuer allows only one use. */
  readonly isOneTime: boolean
}

export interface AssertionContext {
  readonly identifiers: Identifiers
  readonly budget: CanonicalBudget
  readonly allow: Allowances
  readonly now: number
  readonly skew: number
  readonly trust: AssertionTrust
}

/** All differences between the two versions, as two columns. */
interface SamlVersion {
  readonly uri: string
  readonly id: Name
  readonly version: (assertion: Element) => boolean
  readonly issuer: (assertion: Element) => string
  readonly subject: (assertion: Element, budget: CanonicalBudget) => Element
  readonly name: Name
  readonly methods: (confirmation: Element) => string[]
  /**
   * Conditions other than the audience: those that demand nothing, and those that allow one use.
   */
  readonly audience: Name
  readonly harmless: ReadonlySet<Name>
  readonly once: ReadonlySet<Name>
  readonly prefix: string
}

const saml1Name = (local: string) => internName(saml1Ns, local)
const saml2Name = (local: string) => internName(saml2Ns, local)
const attributeName = (local: string) => internName('', local)

const samlVersions: readonly SamlVersion[] = [
  {
    uri: saml1Ns,
    id: assertionIdAttribute,
    version: assertion =>
      assertion.attribute(attributeName('MajorVersion')) === '1' &&
      assertion.attribute(attributeName('MinorVersion')) === '1',
    issuer: assertion => requiredAttribute(assertion, attributeName('Issuer'), 'InvalidSecurityToken'),
    subject: readSaml1Subject,
    name: saml1Name('NameIdentifier'),
    methods: confirmation => confirmation.elements(saml1Name('ConfirmationMethod')).map(method => trimmedText(method)),
    audience: saml1Name('AudienceRestrictionCondition'),
    harmless: new Set([saml1Name('DoNotCacheCondition')]),
    once: new Set(),
    prefix: 'urn:oasis:names:tc:SAML:1.0:cm:',
  },
  {
    uri: saml2Ns,
    id: upperIdAttribute,
    version: assertion => assertion.attribute(attributeName('Version')) === '2.0',
    issuer: assertion => trimmedText(requiredChild(assertion, saml2Name('Issuer'), 'InvalidSecurityToken')),
    subject: assertion => requiredChild(assertion, saml2Name('Subject'), 'InvalidSecurityToken'),
    name: saml2Name('NameID'),
    methods: confirmation => [requiredAttribute(confirmation, attributeName('Method'), 'InvalidSecurityToken')],
    audience: saml2Name('AudienceRestriction'),
    harmless: new Set([saml2Name('ProxyRestriction')]),
    once: new Set([saml2Name('OneTimeUse')]),
    prefix: 'urn:oasis:names:tc:SAML:2.0:cm:',
  },
]

const confirmationKinds: readonly SubjectConfirmation[] = ['bearer', 'holder-of-key', 'sender-vouches']

export const isAssertion = ({ name }: Element): boolean =>
  name.local === 'Assertion' && samlVersions.some(({ uri }) => uri === name.uri)

/** The statements of an assertion; an unsigned one needs a voucher. @throws Insecure */
export function verifyAssertion(element: Element, context: AssertionContext): Assertion {
  const edition = samlVersions.find(({ uri }) => uri === element.name.uri)
  if (!edition?.version(element))
    return failSecurity('UnsupportedSecurityToken', 'an assertion of an unsupported version')
  const issuer = edition.issuer(element)
  const signature = optionalChild(element, SignatureName, 'InvalidSecurityToken')
  if (signature) verifyIssuer(element, signature, issuer, context)
  else if (!context.trust.issuers.has(issuer)) return failSecurity('FailedAuthentication', 'an untrusted issuer')
  const subject = edition.subject(element, context.budget)
  const name = requiredChild(subject, edition.name, 'InvalidSecurityToken')
  requireIssued(element, context)
  const [until, isOneTime] = verifyConditions(element, edition, context)
  const id = requiredAttribute(element, edition.id, 'InvalidSecurityToken')
  return {
    element,
    signed: signature !== undefined,
    person: findPerson(readSubjectName(name, issuer), context.trust.issuers.get(issuer)?.people),
    confirmations: readConfirmations(subject, edition, context),
    until: Math.min(until, verifySession(element, edition, context)),
    use: `wss:saml:${issuer}\n${id}`,
    isOneTime,
  }
}

const readSubjectName = (name: Element, issuer: string): AssertionSubject => ({
  issuer,
  name: textOnly(name),
  format: name.attribute(attributeName('Format')),
  qualifier: name.attribute(attributeName('NameQualifier')),
})

function findPerson(subject: AssertionSubject, rule: SubjectRule = 'same'): string | undefined {
  if (rule === 'same') return subject.name
  if (typeof rule === 'function') return rule(subject)
  return Object.hasOwn(rule, subject.name) ? rule[subject.name] : undefined
}

/** SAML 2.0 §2.3.3, SAML 1.1 §2.3.2: it says when it was issued, and that is not in the future. */
function requireIssued(element: Element, { now, skew }: AssertionContext): void {
  const issued = readTime(element, 'IssueInstant')
  if (issued === undefined) failSecurity('InvalidSecurityToken', 'an assertion without IssueInstant')
  else if (now + skew < issued) failSecurity('MessageExpired', 'an assertion that is not valid now')
}

/**
 * SAML 2.0 §2.7.2: a session that has ended no longer identifies the subject.
 * @returns the earliest end; infinite without a session
 */
function verifySession(element: Element, edition: SamlVersion, { now }: AssertionContext): number {
  const ends = element
    .elements(internName(edition.uri, 'AuthnStatement'))
    .map(statement => readTime(statement, 'SessionNotOnOrAfter') ?? Number.POSITIVE_INFINITY)
  const until = Math.min(Number.POSITIVE_INFINITY, ...ends)
  return now >= until ? failSecurity('MessageExpired', 'an assertion of a session that has ended') : until
}

/**
 * SAML 2.0 §5.4, SAML 1.1 §5.4: an enveloped signature of this issuer over this assertion alone.
 */
function verifyIssuer(element: Element, signature: Element, issuer: string, context: AssertionContext): void {
  const { trust } = context.trust.issuers.get(issuer) ?? failSecurity('FailedAuthentication', 'an untrusted issuer')
  const { identifiers, budget, allow, now } = context
  const signer = (keyInfo: Element | undefined) => requireTrusted(readKeyReference(keyInfo, identifiers), trust, now)
  const { elements } = verifySignature(signature, { identifiers, budget, allow, signer })
  if (elements.size !== 1 || !elements.has(element))
    failSecurity('FailedCheck', 'the signature is not over its assertion')
}

/** SAML 1.1 §2.4: every statement has a subject, and all subjects have to be the same. */
function readSaml1Subject(assertion: Element, budget: CanonicalBudget): Element {
  const subjects = assertion.elements().flatMap(statement => statement.elements(saml1Name('Subject')))
  const [first, ...others] = subjects
  if (!first) return failSecurity('InvalidSecurityToken', 'an assertion without a subject')
  if (others.length === 0) return first
  const octetsOf = (subject: Element) => {
    const form = { exclusive: true, comments: false }
    return Buffer.from(orFail('InvalidSecurityToken', 'a subject', () => budget.canonicalize(subject, form)))
  }
  const expected = octetsOf(first)
  if (others.some(other => !octetsOf(other).equals(expected)))
    return failSecurity('InvalidSecurityToken', 'two subjects')
  return first
}

/** SAML 2.0 §2.5, SAML 1.1 §2.3.2.1. @returns the end, and whether only one use is allowed */
function verifyConditions(
  element: Element,
  edition: SamlVersion,
  { now, skew, trust }: AssertionContext,
): [number, boolean] {
  const all = requiredChild(element, internName(edition.uri, 'Conditions'), 'InvalidSecurityToken')
  const until = verifyValidity(all, now, skew) ?? failSecurity('InvalidSecurityToken', 'an assertion without an end')
  let once = false
  let audiences = 0
  for (const condition of all.elements()) {
    if (condition.name === edition.audience) {
      audiences++
      const named = condition.elements(internName(edition.uri, 'Audience')).map(audience => trimmedText(audience))
      if (!named.some(uri => trust.audiences.includes(uri)))
        failSecurity('FailedAuthentication', 'an assertion for another audience')
    } else if (edition.once.has(condition.name)) once = true
    else if (!edition.harmless.has(condition.name)) failSecurity('InvalidSecurityToken', 'an unknown condition')
  }
  if (audiences === 0) return failSecurity('FailedAuthentication', 'an assertion without an audience')
  return [until, once]
}

/** NotOnOrAfter, if present; refuses if now is outside the period. */
function verifyValidity(element: Element, now: number, skew: number): number | undefined {
  const from = readTime(element, 'NotBefore')
  const until = readTime(element, 'NotOnOrAfter')
  if ((from !== undefined && now + skew < from) || (until !== undefined && now >= until)) {
    return failSecurity('MessageExpired', 'an assertion that is not valid now')
  }
  return until
}

function readTime(element: Element, local: string): number | undefined {
  const text = element.attribute(attributeName(local))
  if (text === undefined) return undefined
  return readInstant(text.trim()) ?? failSecurity('InvalidSecurityToken', 'a time in an invalid form')
}

/** SAML 2.0 §2.4.1.1: the confirmations with a supported method that hold now. */
function readConfirmations(
  subject: Element,
  edition: SamlVersion,
  context: AssertionContext,
): Map<SubjectConfirmation, Element> {
  const confirmations = new Map<SubjectConfirmation, Element>()
  for (const confirmation of subject.elements(internName(edition.uri, 'SubjectConfirmation'))) {
    const data = optionalChild(confirmation, internName(edition.uri, 'SubjectConfirmationData'), 'InvalidSecurityToken')
    if (data && !isConfirmedHere(data, context)) continue
    for (const method of edition.methods(confirmation)) {
      const kind = confirmationKinds.find(each => `${edition.prefix}${each}` === method)
      if (kind && !confirmations.has(kind)) confirmations.set(kind, confirmation)
    }
  }
  return confirmations
}

function isConfirmedHere(data: Element, { now, skew, trust }: AssertionContext): boolean {
  const from = readTime(data, 'NotBefore')
  const until = readTime(data, 'NotOnOrAfter')
  const recipient = data.attribute(attributeName('Recipient'))
  return (
    (from === undefined || now + skew >= from) &&
    (until === undefined || now < until) &&
    (recipient === undefined || trust.audiences.includes(recipient))
  )
}

/** The subject's key, for which the issuer vouches (SAML Token Profile 1.1 §3.5.1). */
export function holderKey(assertion: Assertion, identifiers: Identifiers): KeyObject {
  const confirmation = assertion.confirmations.get('holder-of-key')
  if (!assertion.signed || !confirmation)
    return failSecurity('FailedAuthentication', 'an assertion that does not vouch for a key')
  const data = confirmation.elements().find(({ name }) => name.local === 'SubjectConfirmationData')
  const keyInfo = optionalChild(confirmation, KeyInfoName) ?? (data && optionalChild(data, KeyInfoName))
  return requireCarriedKey(readKeyReference(keyInfo, identifiers))
}

function requireCarriedKey(reference: KeyReference): KeyObject {
  if (reference.kind === 'value') {
    requireMatchingKey(reference, reference.key)
    return reference.key
  }
  if (reference.kind !== 'certificates')
    return failSecurity('SecurityTokenUnavailable', 'a key that is not in the assertion')
  const certificate = orFail('InvalidSecurityToken', 'an invalid certificate', () => new Certificate(reference.der))
  requireMatchingCertificate(reference, certificate)
  return certificate.key
}
