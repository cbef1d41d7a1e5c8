/**
 * START HERE. The Security block of a message: what is demanded, what is proven, who is asking (rules B5.1–B5.4).
 * What always holds, by number:
 *  (1) What a signature proved is an object of the tree, and `VerifiedMessage` hands on that object. The Body is not found again: the
 *      one that was opened is asked for in what was covered, by identity, and no other way leads to a Secured.
 *  (2) Everything in the block that this side takes is checked, whether demanded or not. What it does not take refuses.
 *  (3) The order is: shape, identifiers, Timestamp, the block's children as they stand, tokens, the demands, and last the
 *      memory of what was seen; so nobody can fill the memory, or try passwords, with a message that does not hold.
 *  (4) Work before the first trusted key is linear in the message; there is one Signature, and at most eight references.
 * Deliberately absent: fetching anything, and where the message came from.
 */
import { hash, type KeyObject } from 'node:crypto'
import type { Caller } from '../../contract/policy.ts'
import type { Element } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import type { CoveredPart, Demand, SecurityPolicy } from '../policy/policy.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity, Insecure } from '../security-fault.ts'
import { Identifiers } from '../tree/identifiers.ts'
import { optionalChild } from '../tree/strict-children.ts'
import { isInside } from '../tree/tree-edit.ts'
import { includedParts, inlineIncludes, readContentId } from '../tree/xop-inline.ts'
import {
  BinarySecurityTokenName,
  EncryptedDataName,
  EncryptedKeyName,
  kerberosTypes,
  ReferenceListName,
  SecurityName,
  SecurityTokenReferenceName,
  SignatureConfirmationName,
  SignatureName,
  TimestampName,
  UsernameTokenName,
  valueTypeAttribute,
} from '../vocabulary.ts'
import { Decrypting } from './decryption.ts'
import { dereferenceToken, readBinaryToken, readKeyReference, requireTrusted } from './key-info.ts'
import { type Assertion, holderKey, isAssertion, verifyAssertion } from './saml.ts'
import { type Verified, verifySignature } from './signature.ts'
import { requireConfirmation } from './signature-confirmation.ts'
import { freshness, type Stamped, verifyTimestamp } from './timestamp.ts'
import { type UsernameToken, verifyUsername } from './username-token.ts'

/** A message as the envelope was opened. */
export interface Incoming {
  readonly envelope: Element
  readonly header: Element | undefined
  readonly body: Element
  /** The header blocks that are targeted at this node. */
  readonly blocks: readonly Element[]
  readonly attachments?: Attachments
  /** The peer's address. */
  readonly from: string
  /** Whether a password may travel here as it is. */
  readonly confidential: boolean
  /** Of a reply: the values of the signatures in the request, which it has to confirm. */
  readonly sent?: readonly Buffer[]
}

/** The other parts of the package that the message came in. */
export interface Attachments {
  /** `cid:` URIs of all of them. */
  readonly uris: readonly string[]
  /** The octets that a signature digests: the content, or with the fields in their canonical form (SwA Profile 1.1 §5.4). */
  readonly octets: (uri: string, complete: boolean) => Uint8Array | undefined
}

/** A message whose policy holds. Nothing else makes one. */
export interface VerifiedMessage {
  /** Who is asking; undefined where nothing is demanded, and nothing was said of it. */
  readonly caller: Caller | undefined
  /** The Body that was proven, if the policy demanded it; in any case the one to read. */
  readonly body: Element
  /** Whether a trusted signature covers this element: itself, not one like it. */
  readonly covers: (element: Element) => boolean
  /** The value of the signature that was verified: for the confirmation in the reply (WSS §8.5). */
  readonly confirms: Buffer | undefined
  /** Header blocks that came encrypted, and stand in the Header since. */
  readonly blocks: readonly Element[]
}

/** Who signed, by what was trusted. */
export type Signer =
  | { readonly kind: 'x509'; readonly key: KeyObject; readonly certificate: Certificate }
  | { readonly kind: 'secret'; readonly key: KeyObject; readonly name: string }
  | { readonly kind: 'saml'; readonly key: KeyObject; readonly assertion: Assertion }

/** What the policy demands of this message, proven. @throws Insecure */
export async function verifyMessage(
  message: Incoming,
  policy: SecurityPolicy,
  guard: VerificationContext,
): Promise<VerifiedMessage> {
  const block = blockOf(message.blocks)
  if (!block) return policy.required ? failSecurity('InvalidSecurity', 'no Security block') : unsecured(message)
  const found = new Examination(message, block, policy, guard).read()
  const who = await new Authentication(found, policy, guard, message).caller()
  const { body } = message
  const { signature, blocks } = found
  return {
    caller: who,
    body,
    covers: element => signature?.elements.has(element) ?? false,
    confirms: signature?.value,
    blocks,
  }
}

/** WSS §5: one for each role. */
function blockOf(blocks: readonly Element[]): Element | undefined {
  const [block, another] = blocks.filter(({ name }) => name === SecurityName)
  return another ? failSecurity('InvalidSecurity', 'two Security blocks for one role') : block
}

const unsecured = ({ body }: Incoming): VerifiedMessage => ({
  caller: undefined,
  body,
  covers: () => false,
  blocks: [],
  confirms: undefined,
})

/** What a Security block holds, after all in it that needs no asking was checked. */
interface Examined {
  readonly block: Element
  readonly stamped: Stamped | undefined
  readonly signature: Verified<Signer> | undefined
  readonly usernameToken: Element | undefined
  readonly ticket: Element | undefined
  readonly assertion: Assertion | undefined
  readonly revealed: ReadonlySet<Element>
  /** By Content-ID, the elements that hold the octets of parts. */
  readonly inlined: ReadonlyMap<string, Element>
  readonly blocks: readonly Element[]
}

/** Nodes of the block, white space included: an honest one has some ten elements. */
const mostChildren = 100

class Examination {
  private readonly message: Incoming
  private readonly block: Element
  private readonly guard: VerificationContext
  private readonly allow: Allowances
  private readonly now: number
  private readonly freshness: typeof freshness
  private readonly identifiers: Identifiers
  private readonly decrypting: Decrypting
  private signature: Verified<Signer> | undefined
  private inlined: ReadonlyMap<string, Element> = new Map()
  private asserted: Assertion | undefined

  constructor(message: Incoming, block: Element, policy: SecurityPolicy, guard: VerificationContext) {
    this.message = message
    this.block = block
    this.guard = guard
    this.allow = new Set(policy.allow)
    this.now = guard.now()
    this.freshness = { ...freshness, ...policy.freshness }
    this.identifiers = new Identifiers(message.envelope)
    const signed = (element: Element) => this.signature?.elements.has(element) ?? false
    this.decrypting = new Decrypting(guard, this.allow, this.identifiers, signed)
  }

  read(): Examined {
    const { block } = this
    const { envelope, attachments } = this.message
    if (block.children.length > mostChildren) return failSecurity('InvalidSecurity', 'too much in the Security block')
    const time = verifyTimestamp(block, this.now, this.freshness)
    for (let at = 0; at < block.children.length; at++) {
      const child = block.children[at]!
      if (child.kind === 'element' && child.name === EncryptedDataName) {
        this.decrypting.data(child)
        at-- // what it held stands there now
      } else if (child.kind === 'element') this.child(child)
      else if (child.kind === 'text' && child.value.trim() !== '')
        failSecurity('InvalidSecurity', 'text in the Security block')
    }
    const [ticket, second] = block
      .elements(BinarySecurityTokenName)
      .filter(token => kerberosTypes.has(token.attribute(valueTypeAttribute) ?? ''))
    if (second) return failSecurity('InvalidSecurity', 'two tickets')
    if (optionalChild(block, TimestampName) !== time?.element)
      return failSecurity('InvalidSecurity', 'an encrypted Timestamp')
    if (this.signature && attachments && includedParts(envelope).length > 0)
      failSecurity('FailedCheck', 'a part that is not signed')
    if (this.message.sent) requireConfirmation(block, this.message.sent, this.signature?.elements)
    const asserted = this.assertionIn()
    return {
      block,
      stamped: time,
      signature: this.signature,
      usernameToken: optionalChild(block, UsernameTokenName),
      ticket,
      assertion: asserted,
      revealed: this.decrypting.revealed,
      inlined: this.inlined,
      blocks: this.decrypting.blocks,
    }
  }

  private child(element: Element): void {
    if (element.name === SignatureName) this.verify(element)
    else if (element.name === EncryptedKeyName) this.decrypting.key(element)
    else if (element.name === ReferenceListName) this.decrypting.list(element)
    else if (!passive.has(element.name) && !isAssertion(element)) {
      failSecurity('UnsupportedSecurityToken', 'something in the Security block that is not known here')
    }
  }

  /** WSS §8: the one Signature that is a child of the block; those of assertions are theirs. */
  private verify(element: Element): void {
    if (this.signature) failSecurity('InvalidSecurity', 'two Signatures')
    const { identifiers, allow } = this
    const { envelope, attachments } = this.message
    if (attachments) this.inlined = inlineIncludes(envelope, attachments)
    this.signature = verifySignature<Signer>(element, {
      identifiers,
      allow,
      signer: keyInfo => this.signer(keyInfo),
      token: reference => dereferenceToken(reference, identifiers, this.guard.trust),
      attachment: (uri, complete) =>
        attachments?.octets(uri, complete) ?? failSecurity('FailedCheck', 'an attachment that is not there'),
    })
  }

  private signer(keyInfo: Element | undefined): Signer {
    const reference = readKeyReference(keyInfo, this.identifiers)
    if (reference.kind === 'name') {
      const key =
        this.guard.secrets?.get(reference.name) ?? failSecurity('SecurityTokenUnavailable', 'a name of no secret')
      return { kind: 'secret', key, name: reference.name }
    }
    if (reference.kind === 'token' && isAssertion(reference.element)) {
      const asserted = this.assertionIn()
      if (asserted?.element !== reference.element)
        return failSecurity('InvalidSecurity', 'an assertion in another place')
      return { kind: 'saml', key: holderKey(asserted, this.identifiers), assertion: asserted }
    }
    const trust = this.guard.trust ?? failSecurity('SecurityTokenUnavailable', 'no certificate is trusted here')
    const certificate = requireTrusted(reference, trust, this.now)
    return { kind: 'x509', key: certificate.key, certificate }
  }

  /** The one assertion of the block; read once. */
  private assertionIn(): Assertion | undefined {
    const [element, another] = this.block.elements().filter(isAssertion)
    if (another) return failSecurity('InvalidSecurity', 'two assertions')
    if (!element || this.asserted?.element === element) return this.asserted
    const trust = this.guard.saml ?? failSecurity('UnsupportedSecurityToken', 'assertions are not taken here')
    const { identifiers, allow, now } = this
    this.asserted = verifyAssertion(element, { identifiers, allow, now, skew: this.freshness.skew, trust })
    return this.asserted
  }
}

/** Children of the block that are read when something refers to them, or when all of them are there. */
const passive = new Set([
  TimestampName,
  UsernameTokenName,
  BinarySecurityTokenName,
  SecurityTokenReferenceName,
  SignatureConfirmationName,
])

/** Who is asking, by the first demand that is met. */
class Authentication {
  private readonly found: Examined
  private readonly policy: SecurityPolicy
  private readonly guard: VerificationContext
  private readonly message: Incoming

  constructor(found: Examined, policy: SecurityPolicy, guard: VerificationContext, message: Incoming) {
    this.found = found
    this.policy = policy
    this.guard = guard
    this.message = message
  }

  async caller(): Promise<Caller | undefined> {
    if (!this.policy.required && this.silent) return undefined
    const met = this.policy.anyOf.find(demand => this.unmet(demand) === undefined)
    if (!met) {
      const why = this.policy.anyOf.map(demand => `${demand.caller}: ${this.unmet(demand)}`)
      return failSecurity('InvalidSecurity', why.join('; '))
    }
    const { usernameToken, ticket } = this.found
    const named = usernameToken && (await this.named(usernameToken))
    const principal = ticket && (await this.principal(ticket))
    const caller = await this.asked(met, named, principal)
    await this.remember(named)
    return caller
  }

  /** Whether the block says nothing of who is asking: a Timestamp, or what was encrypted. */
  private get silent(): boolean {
    const { signature, usernameToken, ticket, assertion } = this.found
    return !(signature || usernameToken || ticket || assertion)
  }

  /** Why a demand is not met, before anyone is asked who it is. */
  private unmet(demand: Demand): string | undefined {
    const token = this.token(demand)
    if (!token) return 'not there'
    const { stamped, signature } = this.found
    if (demand.timestamp && !stamped) return 'no Timestamp'
    if (demand.signed?.length && !this.mayCover(demand)) return 'not signed by whom it has to be'
    const open = demand.signed?.find(part => !this.elements(part, token).every(each => signature!.elements.has(each)))
    if (open) return `${partName(open)} is not signed`
    if (demand.signed?.includes('Attachments') && !this.attachmentsSigned()) return 'an attachment is not signed'
    const clear = demand.encrypted?.find(
      part => !this.elements(part, token).every(each => this.found.revealed.has(each)),
    )
    return clear && `${partName(clear)} is not encrypted`
  }

  /** Every part of the package, by a reference to it or in an element that is covered. */
  private attachmentsSigned(): boolean {
    const { signature, inlined } = this.found
    const referred = new Set([...(signature?.attachments ?? [])].map(readContentId))
    return (this.message.attachments?.uris ?? []).map(readContentId).every(id => {
      const holder = inlined.get(id)
      return referred.has(id) || (holder && isInside(holder, outer => signature?.elements.has(outer) ?? false))
    })
  }

  /** What says who is asking in the way of this demand, if it is there. */
  private token({ caller, confirmations }: Demand): Element | true | undefined {
    const { signature, usernameToken, ticket, assertion } = this.found
    if (caller === 'username') return usernameToken
    if (caller === 'kerberos') return ticket
    if (caller === 'saml') return assertion && this.confirmed(assertion, confirmations) ? assertion.element : undefined
    return signature?.signer.kind === caller ? true : undefined
  }

  /** SAML Token Profile 1.1 §3.5: that this assertion is the sender's to show. */
  private confirmed(assertion: Assertion, allowed: Demand['confirmations'] = []): boolean {
    const { signature } = this.found
    return allowed.some(kind => {
      if (!assertion.confirmations.has(kind)) return false
      if (kind === 'bearer') return assertion.signed
      if (kind === 'holder-of-key') return signature?.signer.kind === 'saml'
      return signature?.elements.has(assertion.element) === true && this.vouches(signature.signer)
    })
  }

  private vouches(signer: Signer): boolean {
    const trust = this.guard.saml?.vouchers
    return signer.kind === 'x509' && trust?.trusted(signer.certificate.der, this.guard.now()) !== undefined
  }

  /** Whether the signature is by somebody whose word covers the demand's parts. */
  private mayCover({ caller }: Demand): boolean {
    const kind = this.found.signature?.signer.kind
    if (caller === 'x509' || caller === 'secret') return kind === caller
    return kind === 'x509' || (caller === 'saml' && kind === 'saml')
  }

  /** The elements that a part is: those that will be read, themselves. */
  private elements(part: CoveredPart, token: Element | true): Element[] {
    if (part === 'Body') return [this.message.body]
    if (part === 'Timestamp') return this.found.stamped ? [this.found.stamped.element] : []
    if (part === 'Token') return token === true ? [] : [token]
    if (part === 'Attachments') return []
    return this.message.header?.elements(part) ?? []
  }

  private named(token: Element): Promise<UsernameToken> {
    const kinds = new Set(
      this.policy.anyOf.flatMap(({ caller, passwords = ['text', 'digest'] }) =>
        caller === 'username' ? passwords : [],
      ),
    )
    if (!this.message.confidential && !this.found.revealed.has(token)) kinds.delete('text')
    return verifyUsername(token, kinds, this.guard, this.message.from)
  }

  private async principal(ticket: Element): Promise<string> {
    if (!this.guard.kerberos) return failSecurity('UnsupportedSecurityToken', 'tickets are not taken here')
    const proven = await this.guard.kerberos(readBinaryToken(ticket))
    return proven?.principal ?? failSecurity('FailedAuthentication', 'the ticket')
  }

  private async asked(
    { caller }: Demand,
    named: UsernameToken | undefined,
    principal: string | undefined,
  ): Promise<Caller> {
    const { identities } = this.guard
    const { signature, assertion } = this.found
    if (caller === 'username' && named) return named.caller
    const signer = signature?.signer
    const found =
      caller === 'x509' && signer?.kind === 'x509'
        ? identities.certificate(signer.certificate.der)
        : caller === 'secret' && signer?.kind === 'secret'
          ? identities.known(signer.name)
          : caller === 'saml' && assertion
            ? identities.known(assertion.subject)
            : caller === 'kerberos' && principal !== undefined
              ? identities.known(principal)
              : undefined
    return (await found) ?? failSecurity('FailedAuthentication', 'nobody who is known here')
  }

  /** X12: what may come once has not come before, on any instance. */
  private async remember(named: UsernameToken | undefined): Promise<void> {
    const { signature, stamped, assertion, ticket } = this.found
    const once: { readonly key: string; readonly until: number }[] = []
    if (named?.once) once.push(named.once)
    if (signature && stamped && signature.elements.has(stamped.element)) {
      once.push({ key: `wss:signature:${signature.digest}`, until: stamped.until })
    }
    if (ticket)
      once.push({
        key: `wss:ticket:${hash('sha256', readBinaryToken(ticket), 'base64url')}`,
        until: this.guard.now() + ticketLife,
      })
    if (assertion?.once) once.push({ key: assertion.once, until: assertion.until })
    for (const { key, until } of once) {
      if (await this.guard.seen(key, until)) throw new Insecure('FailedAuthentication', 'seen before')
    }
  }
}

/** RFC 4120 §3.2.3: an authenticator is of now for five minutes to either side. */
const ticketLife = 600_000

const partName = (part: CoveredPart): string => (typeof part === 'string' ? part : part.local)
