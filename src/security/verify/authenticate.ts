/**
 * The caller of a message: the first demand of the policy that its Security block meets, and the
 * identity that it names.
 */

import { hash } from 'node:crypto'
import type { Maybe } from '../../base/maybe.ts'
import type { AttachmentForm } from '../../contract/endpoint-rule.ts'
import type { Caller } from '../../contract/policy.ts'
import type { Element } from '../../xml/index.ts'
import type { Certificate } from '../crypto/certificate.ts'
import {
  type CoveredPart,
  type Demand,
  exchangePolicyOf,
  isProofRequired,
  type KeyForm,
  type SecurityPolicy,
  type SignedAttachments,
  signedAttachmentsOf,
} from '../policy/policy.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity } from '../security-fault.ts'
import { isInside } from '../tree/tree-edit.ts'
import { CipherValueName } from '../vocabulary.ts'
import { type ExaminedBlock, type Incoming, isSignerKnown, type Signer } from './incoming.ts'
import { isCertificateToken, readBinaryToken, readCertificates } from './key-info.ts'
import type { Assertion } from './saml.ts'
import type { VerifiedSignature } from './signature.ts'
import { readAuthenticator } from './ticket-use.ts'
import { type UsernameToken, verifyUsername } from './username-token.ts'

const signedWords: Readonly<Record<SignedAttachments, string>> = {
  Attachments: 'signed',
  CompleteAttachments: 'signed with its fields',
}
const isSignedAs = (form: AttachmentForm | undefined, as: SignedAttachments): boolean =>
  form === 'complete' || (form === 'content' && as === 'Attachments')

export class Authentication {
  readonly #found: ExaminedBlock
  readonly #policy: SecurityPolicy
  readonly #guard: VerificationContext
  readonly #message: Incoming
  /** The demands of the requested operation. */
  readonly #demands: readonly Demand[]

  constructor(examined: ExaminedBlock, policy: SecurityPolicy, guard: VerificationContext, message: Incoming) {
    this.#found = examined
    this.#policy = policy
    this.#demands = exchangePolicyOf(policy, message.body).anyOf
    this.#guard = guard
    this.#message = message
  }

  /** Undefined where the policy demands nothing and the block names no caller. @throws Insecure */
  async identifyCaller(): Promise<Caller | undefined> {
    if (!isProofRequired(this.#policy, this.#message.body) && this.#isSilent()) return undefined
    const demand = this.#demands.find(each => this.#explainUnmet(each) === undefined)
    if (!demand) {
      const reasons = this.#demands.map(each => `${each.caller}: ${this.#explainUnmet(each)}`)
      return failSecurity('InvalidSecurity', reasons.join('; '))
    }
    const { usernameToken, ticket } = this.#found
    const username = usernameToken && (await this.#verifyUsername(usernameToken))
    const principal = ticket && (await this.#verifyTicket(ticket))
    const caller = await this.#findCaller(demand, username, principal)
    await this.#rememberUse(demand, username)
    return caller
  }

  /** Whether nothing in the block names a caller: it only has a Timestamp, or only decrypts. */
  #isSilent(): boolean {
    const { signature, usernameToken, ticket, assertion } = this.#found
    return !(signature || usernameToken || ticket || assertion)
  }

  /** Why a demand is not met, as far as the message alone shows. */
  #explainUnmet(demand: Demand): string | undefined {
    const token = this.#findToken(demand)
    if (!token) return 'not there'
    const { stamped, signature, revealed } = this.#found
    if (demand.timestamp && !stamped) return 'no Timestamp'
    if (demand.signed?.length && !this.#mayCover(demand)) return 'signed by another party than demanded'
    if (demand.symmetric && !this.#areKeysOf(demand.symmetric)) return `keys are not ${demand.symmetric}`
    const isSigned = (part: CoveredPart) =>
      part === 'SigningToken'
        ? signature !== undefined && coversItsToken(signature)
        : this.#elementsOf(part, token).every(each => signature!.elements.has(each))
    const unsigned = demand.signed?.find(part => !isSigned(part))
    if (unsigned) return `${nameOfPart(unsigned)} is not signed`
    const added = demand.signed?.length && this.#processedBlocks().find(each => !signature!.elements.has(each))
    if (added) return `the block ${added.name.local} is not signed`
    const attached = signedAttachmentsOf(demand.signed)
    if (attached && !this.#areAttachmentsSigned(attached)) return `an attachment is not ${signedWords[attached]}`
    if (demand.encrypted?.includes('Attachments') && !this.#areAttachmentsEncrypted())
      return 'an attachment is not encrypted'
    const isEncrypted = (part: CoveredPart) => this.#elementsOf(part, token).every(each => revealed.has(each))
    const clear = demand.encrypted?.find(part => !isEncrypted(part))
    return clear && `${nameOfPart(clear)} is not encrypted`
  }

  /** Those that arrived encrypted among them. */
  #processedBlocks(): readonly Element[] {
    const { blocks, isProcessed = () => false } = this.#message
    return [...blocks, ...this.#found.blocks].filter(isProcessed)
  }

  /** Every part of the package, either by a reference to it or in a covered element. */
  #areAttachmentsSigned(as: SignedAttachments): boolean {
    const { signature, parts } = this.#found
    const isCovered = (holder: Element) =>
      holder.name === CipherValueName || isInside(holder, outer => signature?.elements.has(outer) ?? false)
    return (
      [...parts.attachments.keys()].every(
        id => isSignedAs(signature?.attachments.get(id), as) && !(as === 'CompleteAttachments' && parts.isRetyped(id)),
      ) && [...parts.holders.values()].every(isCovered)
    )
  }

  /** An octet string that travelled as a part of the XML is encrypted if its element is. */
  #areAttachmentsEncrypted(): boolean {
    const { parts } = this.#found
    return [...parts.attachments.keys()].every(id => parts.isOpened(id))
  }

  /** The token that names the caller as this demand requires, if present; true for a signature. */
  #findToken(demand: Demand): Element | true | undefined {
    const { caller, confirmations } = demand
    const { usernameToken, ticket, assertion } = this.#found
    if (caller === 'username') return usernameToken
    if (caller === 'kerberos') return ticket
    if (caller === 'saml')
      return assertion && this.#isConfirmed(assertion, confirmations) ? assertion.element : undefined
    if (caller === 'exchange') return this.#isOfExchange() ? true : undefined
    return this.#namingSigner(demand)?.kind === caller ? true : undefined
  }

  /** The signer that names the caller: the endorsing one, if an exchange key signs the message. */
  #namingSigner({ symmetric }: Demand): Signer | undefined {
    const { signature, endorsement } = this.#found
    return symmetric ? endorsement?.signer : signature?.signer
  }

  /** Whether a reply is signed with the key of its request. */
  #isOfExchange(): boolean {
    const signer = this.#found.signature?.signer
    return signer?.kind === 'exchange' && signer.source === this.#message.exchangeKey
  }

  /** SAML Token Profile 1.1 §3.5: whether the sender may use this assertion. */
  #isConfirmed(assertion: Assertion, allowed: Demand['confirmations'] = []): boolean {
    const { signature } = this.#found
    return allowed.some(kind => {
      if (!assertion.confirmations.has(kind)) return false
      if (kind === 'bearer') return assertion.signed
      if (kind === 'holder-of-key') return signature?.signer.kind === 'saml'
      return signature?.elements.has(assertion.element) === true && this.#isVoucher(signature.signer)
    })
  }

  #isVoucher(signer: Signer): boolean {
    const trust = this.#guard.saml?.vouchers
    return signer.kind === 'x509' && trust?.findTrusted(signer.certificate.der, this.#guard.now()) !== undefined
  }

  /** Whether this signer may cover the parts of the demand. */
  #mayCover({ caller, symmetric }: Demand): boolean {
    const kind = this.#found.signature?.signer.kind
    if (symmetric) return kind === 'exchange'
    if (caller === 'x509' || caller === 'secret') return kind === caller
    return kind === 'x509' || (caller === 'saml' && kind === 'saml')
  }

  /** WS-SecurityPolicy 1.3 §6.9: either all keys are derived or none. */
  #areKeysOf(form: KeyForm): boolean {
    const { keyForms } = this.#found
    return keyForms.size === 1 && keyForms.has(form)
  }

  /** The elements of a part: the very objects that will be read. */
  #elementsOf(part: CoveredPart, token: Element | true): Element[] {
    if (part === 'Body') return [this.#message.body]
    if (part === 'Timestamp') return this.#found.stamped ? [this.#found.stamped.element] : []
    if (part === 'Token') return token === true ? [] : [token]
    if (typeof part === 'string') return [] // checked separately
    return this.#message.header?.elements(part) ?? []
  }

  #verifyUsername(token: Element): Promise<UsernameToken> {
    const kinds = new Set(
      this.#demands.flatMap(({ caller, passwords = ['text', 'digest'] }) => (caller === 'username' ? passwords : [])),
    )
    if (!this.#message.confidential && !this.#found.revealed.has(token)) kinds.delete('text')
    return verifyUsername(token, kinds, this.#guard, this.#message.from)
  }

  async #verifyTicket(ticket: Element): Promise<string> {
    if (!this.#guard.kerberos) return failSecurity('UnsupportedSecurityToken', 'tickets are not supported here')
    const token = readBinaryToken(ticket)
    readAuthenticator(token)
    const proven = await this.#guard.kerberos(token)
    return proven?.principal ?? failSecurity('FailedAuthentication', 'an invalid ticket')
  }

  async #findCaller(
    demand: Demand,
    username: UsernameToken | undefined,
    principal: string | undefined,
  ): Promise<Caller> {
    const { caller } = demand
    const { identities } = this.#guard
    const { assertion } = this.#found
    if (caller === 'username' && username) return username.caller
    const signer = this.#namingSigner(demand)
    const found =
      caller === 'x509' && signer?.kind === 'x509'
        ? this.#findSigner(signer.certificate)
        : caller === 'secret' && signer?.kind === 'secret'
          ? identities.known(signer.name)
          : caller === 'saml' && assertion
            ? this.#findPerson(assertion)
            : caller === 'kerberos' && principal !== undefined
              ? identities.known(principal)
              : caller === 'exchange'
                ? exchangePartner
                : undefined
    return (await found) ?? failSecurity('FailedAuthentication', 'an unknown caller')
  }

  async #findSigner(certificate: Certificate): Promise<Caller | undefined> {
    const found = await this.#guard.identities.certificate(certificate.der)
    if (found?.subject !== undefined && this.#guard.mayName?.(certificate, found.subject) === false)
      return failSecurity('FailedAuthentication', `an authority that may not identify ${found.subject}`)
    return found
  }

  #findPerson({ person }: Assertion): Maybe<Caller | undefined> {
    return person === undefined
      ? failSecurity('FailedAuthentication', 'a subject whom the issuer may not identify')
      : this.#guard.identities.known(person)
  }

  /**
   * Whether the assertion alone names the caller: a party that reads it could send it with another
   * message, unless a signature of a known party binds it to this Body and this time.
   */
  #isBearerOnly(demand: Demand, assertion: Assertion): boolean {
    const { signature, stamped } = this.#found
    const bound = [assertion.element, this.#message.body, stamped?.element]
    const isBound = bound.every(each => each && signature?.elements.has(each))
    if (isBound && isSignerKnown(this.#found, this.#message)) return false
    return !this.#isConfirmed(
      assertion,
      demand.confirmations?.filter(kind => kind !== 'bearer'),
    )
  }

  /**
   * X12: a message, token or assertion that may arrive only once has not arrived before, at any
   * instance.
   */
  async #rememberUse(demand: Demand, username: UsernameToken | undefined): Promise<void> {
    const { signature, stamped, assertion, ticket } = this.#found
    const once: { readonly key: string; readonly until: number }[] = []
    if (username?.once) once.push(username.once)
    if (signature && stamped && signature.elements.has(stamped.element)) {
      once.push({ key: `wss:signature:${signature.digest}`, until: stamped.until })
    }
    if (ticket)
      once.push({
        key: `wss:ticket:${hash('sha256', readAuthenticator(readBinaryToken(ticket)), 'base64url')}`,
        until: this.#guard.now() + ticketLifeMs,
      })
    if (assertion && (assertion.isOneTime || (demand.caller === 'saml' && this.#isBearerOnly(demand, assertion))))
      once.push({ key: assertion.use, until: assertion.until })
    for (const { key, until } of once) {
      if (await this.#guard.seen(key, until)) failSecurity('FailedAuthentication', 'seen before')
    }
  }
}

/**
 * The party that could decrypt the key of a request, which is the service: the sender chose the
 * certificate.
 */
const exchangePartner: Caller = { subject: 'the service', roles: [], claims: {} }

/**
 * RFC 4120 §3.2.3: an authenticator is valid from five minutes before its time to five minutes
 * after it.
 */
const ticketLifeMs = 600_000

/**
 * WS-SecurityPolicy 1.3 §6.5: the signature covers the token whose key made it, or the token for
 * which a reference to its certificate stands (WSS §8.3).
 */
function coversItsToken({ signer, elements }: VerifiedSignature<Signer>): boolean {
  if (signer.kind === 'saml') return elements.has(signer.assertion.element)
  if (signer.kind !== 'x509') return false
  if (signer.token) return elements.has(signer.token)
  const { der } = signer.certificate
  return [...elements].some(each => isCertificateToken(each) && readCertificates(each).der.equals(der))
}

const nameOfPart = (part: CoveredPart): string => (typeof part === 'string' ? part : part.local)
