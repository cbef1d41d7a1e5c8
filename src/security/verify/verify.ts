/**
 * START HERE. The Security block of a message: the demands, the proof, and the caller (rules
 * B5.1–B5.4). What always holds, by number:
 *  (1) A signature proves an object of the tree, and `VerifiedMessage` hands on that object. The
 *      Body is not looked up again: the opened Body has to be among the covered elements, by
 *      identity, and nothing else creates a VerifiedMessage.
 *  (2) Everything in the block that is supported is checked, whether demanded or not. Everything
 *      else is refused.
 *  (3) The order is: shape, identifiers, Timestamp, the block's children in their order, tokens,
 *      the demands, and last the memory of replays; so an invalid message can neither fill the
 *      memory nor try passwords.
 *  (4) Work before the first trusted key is linear in the message; there is one Signature with at
 *      most `referencesMax` references, and a second one only where a certificate endorses the
 *      signature of an exchange key.
 *  (5) An exchange key names no caller: the service's certificate is enough to create one.
 * Deliberately absent: fetching anything, and the origin of the message.
 */

import { createSecretKey } from 'node:crypto'
import type { Caller } from '../../contract/policy.ts'
import type { PackedParts } from '../../soap/security-port.ts'
import { CanonicalBudget } from '../../xml/canonical-budget.ts'
import type { Element } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { isProofRequired, type KeyForm, type SecurityPolicy } from '../policy/policy.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity } from '../security-fault.ts'
import { Identifiers } from '../tree/identifiers.ts'
import { optionalChild } from '../tree/strict-children.ts'
import { isInside } from '../tree/tree-edit.ts'
import { includedParts, inlineIncludes } from '../tree/xop-inline.ts'
import {
  BinarySecurityTokenName,
  DerivedKeyTokenName,
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
import { Authentication } from './authenticate.ts'
import { Decryptor } from './decryption.ts'
import { type ExaminedBlock, type Incoming, isSignerKnown, type Signer } from './incoming.ts'
import { IncomingParts } from './incoming-parts.ts'
import {
  dereferenceToken,
  isCertificateToken,
  readCertificates,
  readKeyReference,
  requireConfirmed,
  requireMatchingKey,
  requireNoStatements,
  requireTrusted,
} from './key-info.ts'
import { MessageSecrets } from './message-secrets.ts'
import { type Assertion, holderKey, isAssertion, verifyAssertion } from './saml.ts'
import { type VerifiedSignature, verifySignature } from './signature.ts'
import { requireReply } from './signature-confirmation.ts'
import { defaultFreshness, verifyTimestamp } from './timestamp.ts'

/** A message that meets its policy. Nothing else creates one. */
export interface VerifiedMessage {
  /** Undefined where nothing is demanded and the message names no caller. */
  readonly caller: Caller | undefined
  /** The Body to read; proven, if the policy demanded that. */
  readonly body: Element
  /** Whether a trusted signature covers this element itself, not one like it. */
  readonly covers: (element: Element) => boolean
  /** The values of the verified signatures, for the confirmations in the reply (WSS §8.5). */
  readonly confirms: readonly Buffer[]
  /**
   * The signer whose signature covers the message; the key of an exchange, where a certificate has
   * endorsed that.
   */
  readonly signer: Signer | undefined
  /** The forms in which the secrets of the message were used. */
  readonly keyForms: ReadonlySet<KeyForm>
  /** Header blocks that arrived encrypted; in the tree they are now in their place. */
  readonly blocks: readonly Element[]
  /** The attachments to read, decrypted where they were encrypted. */
  readonly parts: PackedParts
}

/** Proves what the policy demands of this message. @throws Insecure */
export async function verifyMessage(
  message: Incoming,
  policy: SecurityPolicy,
  guard: VerificationContext,
): Promise<VerifiedMessage> {
  const block = findSecurityBlock(message.blocks)
  if (!block)
    return isProofRequired(policy, message.body)
      ? failSecurity('InvalidSecurity', 'no Security block')
      : withoutProof(message)
  const examined = new Examination(message, block, policy, guard).examine()
  const { signature, endorsement, blocks } = examined
  const isKnown = isSignerKnown(examined, message)
  const certified = endorsement?.signer ?? signature?.signer
  if (certified?.kind === 'x509' && guard.trust) await requireConfirmed(certified.certificate, guard.trust, guard.now())
  const caller = await new Authentication(examined, policy, guard, message).identifyCaller()
  return {
    caller,
    body: message.body,
    covers: element => isKnown && signature?.elements.has(element) === true,
    confirms: [signature, endorsement].flatMap(each => (each ? [each.value] : [])),
    signer: signature?.signer,
    keyForms: examined.keyForms,
    blocks,
    parts: examined.parts.attachments,
  }
}

/** WSS §5: one for each role. */
function findSecurityBlock(blocks: readonly Element[]): Element | undefined {
  const [block, another] = blocks.filter(({ name }) => name === SecurityName)
  return another ? failSecurity('InvalidSecurity', 'two Security blocks for one role') : block
}

const withoutProof = ({ body, parts = new Map() }: Incoming): VerifiedMessage => ({
  caller: undefined,
  body,
  covers: () => false,
  blocks: [],
  parts,
  confirms: [],
  signer: undefined,
  keyForms: new Set(),
})

/** Nodes of the block, including white space: an honest block has some ten elements. */
const childrenMax = 100

/** (2), for one block. */
class Examination {
  readonly #message: Incoming
  readonly #block: Element
  readonly #guard: VerificationContext
  readonly #allow: Allowances
  readonly #now: number
  readonly #freshness: typeof defaultFreshness
  readonly #identifiers: Identifiers
  readonly #budget: CanonicalBudget
  readonly #decryptor: Decryptor
  readonly #secrets: MessageSecrets
  readonly #signatures: VerifiedSignature<Signer>[] = []
  readonly #parts: IncomingParts
  #assertion: Assertion | undefined

  constructor(message: Incoming, block: Element, policy: SecurityPolicy, guard: VerificationContext) {
    this.#message = message
    this.#block = block
    this.#guard = guard
    this.#allow = new Set(policy.allow)
    this.#now = guard.now()
    this.#freshness = { ...defaultFreshness, ...policy.freshness }
    this.#identifiers = new Identifiers(message.envelope)
    this.#parts = new IncomingParts(message.parts)
    this.#budget = new CanonicalBudget(message.envelope.to - message.envelope.from + this.#parts.octets)
    const isSigned = (target: Element | string) =>
      this.#signatures.some(({ elements, attachments }) =>
        typeof target === 'string' ? attachments.has(target) : elements.has(target),
      )
    const { exchangeKey } = message
    const facts = { allow: this.#allow, identifiers: this.#identifiers, parts: this.#parts }
    this.#secrets = new MessageSecrets({ ...facts, guard, exchangeKey })
    this.#decryptor = new Decryptor(this.#secrets, { ...facts, block, isSigned })
  }

  examine(): ExaminedBlock {
    const block = this.#block
    if (block.children.length > childrenMax + this.#parts.count)
      return failSecurity('InvalidSecurity', 'too many children of the Security block')
    const stamped = verifyTimestamp(block, this.#now, this.#freshness)
    this.#readChildren()
    const ticket = this.#findTicket()
    if (optionalChild(block, TimestampName) !== stamped?.element)
      return failSecurity('InvalidSecurity', 'an encrypted Timestamp')
    const { envelope, parts, sent, sentAt } = this.#message
    const sorted = sortSignatures(this.#signatures)
    const { endorsement } = sorted
    const signature = sorted.signature && coverSealed(sorted.signature, this.#decryptor.sealed)
    if (signature && parts && includedParts(envelope).length > 0)
      failSecurity('FailedCheck', 'a part that is not signed')
    if (sent) requireReply(block, this.#message, signature)
    if (stamped && sentAt !== undefined && stamped.created < sentAt - this.#freshness.skew)
      failSecurity('MessageExpired', 'a reply that is older than its request')
    const assertion = this.#readAssertion()
    return {
      stamped,
      signature,
      endorsement,
      keyForms: this.#secrets.forms,
      usernameToken: optionalChild(block, UsernameTokenName),
      ticket,
      assertion,
      revealed: this.#decryptor.revealed,
      parts: this.#parts,
      blocks: [...this.#decryptor.sealed.keys()],
    }
  }

  #readChildren(): void {
    const block = this.#block
    for (let at = 0; at < block.children.length; at++) {
      const child = block.children[at]!
      if (child.kind === 'element' && child.name === EncryptedDataName) {
        this.#decryptor.decryptChild(child)
        if (block.children[at] !== child) at-- // its content is now in its place
      } else if (child.kind === 'element') this.#readChild(child)
      else if (child.kind === 'text' && child.value.trim() !== '')
        failSecurity('InvalidSecurity', 'text in the Security block')
    }
  }

  #readChild(element: Element): void {
    if (element.name === SignatureName) this.#verifySignature(element)
    else if (element.name === EncryptedKeyName) this.#decryptor.decryptForKey(element)
    else if (element.name === ReferenceListName) this.#decryptor.decryptListed(element)
    else if (!passive.has(element.name) && !isAssertion(element)) {
      failSecurity('UnsupportedSecurityToken', 'an unknown element in the Security block')
    }
  }

  /**
   * WSS §8: a Signature that is a child of the block; those inside assertions are read with the
   * assertions.
   */
  #verifySignature(element: Element): void {
    if (this.#signatures.length === signaturesMax) failSecurity('InvalidSecurity', 'three Signatures')
    const { envelope, parts } = this.#message
    if (parts) inlineIncludes(envelope, this.#parts)
    const signature = verifySignature<Signer>(element, {
      identifiers: this.#identifiers,
      budget: this.#budget,
      allow: this.#allow,
      signer: keyInfo => this.#identifySigner(keyInfo),
      token: reference => dereferenceToken(reference, this.#identifiers, this.#guard.trust, this.#now),
      parts: this.#parts,
    })
    this.#signatures.push(signature)
  }

  #identifySigner(keyInfo: Element | undefined): Signer {
    const reference = readKeyReference(keyInfo, this.#identifiers)
    const sent = this.#secrets.findForSignature(reference)
    if (sent) return { kind: 'exchange', key: createSecretKey(sent.octets), source: sent.source }
    if (reference.kind === 'name') {
      const { name } = reference
      const key = this.#guard.secrets?.get(name) ?? failSecurity('SecurityTokenUnavailable', 'an unknown secret')
      return { kind: 'secret', key, name }
    }
    if (reference.kind === 'token' && isAssertion(reference.element)) {
      const assertion = this.#readAssertion()
      if (assertion?.element !== reference.element)
        return failSecurity('InvalidSecurity', 'an assertion outside of the Security block')
      const key = holderKey(assertion, this.#identifiers)
      requireMatchingKey(reference, key)
      return { kind: 'saml', key, assertion }
    }
    if (reference.names?.some(name => this.#guard.secrets?.has(name))) requireNoStatements(reference)
    const trust = this.#guard.trust ?? failSecurity('SecurityTokenUnavailable', 'no certificate is trusted here')
    const certificate = requireTrusted(reference, trust, this.#now)
    const token = reference.kind === 'token' ? reference.element : undefined
    return { kind: 'x509', key: certificate.key, certificate, token }
  }

  /** The one assertion of the block; verified once. */
  #readAssertion(): Assertion | undefined {
    const [element, another] = this.#block.elements().filter(isAssertion)
    if (another) return failSecurity('InvalidSecurity', 'two assertions')
    if (!element || this.#assertion?.element === element) return this.#assertion
    const trust = this.#guard.saml ?? failSecurity('UnsupportedSecurityToken', 'assertions are not supported here')
    const { skew } = this.#freshness
    this.#assertion = verifyAssertion(element, {
      identifiers: this.#identifiers,
      budget: this.#budget,
      allow: this.#allow,
      now: this.#now,
      skew,
      trust,
    })
    return this.#assertion
  }

  #findTicket(): Element | undefined {
    const [ticket, another] = this.#block
      .elements(BinarySecurityTokenName)
      .filter(token => kerberosTypes.has(token.attribute(valueTypeAttribute) ?? ''))
    return another ? failSecurity('InvalidSecurity', 'two tickets') : ticket
  }
}

const signaturesMax = 2

/**
 * WS-SecurityPolicy 1.3 §8.3: a second signature endorses the first. It is made with a certificate,
 * and covers the very Signature that an exchange key made; no other pair is allowed.
 */
function sortSignatures(found: readonly VerifiedSignature<Signer>[]): Pick<ExaminedBlock, 'signature' | 'endorsement'> {
  const [one, other] = found
  if (!other) return { signature: one, endorsement: undefined }
  const signature = found.find(({ signer }) => signer.kind === 'exchange')
  const endorsement = found.find(({ signer }) => signer.kind === 'x509')
  if (!signature || !endorsement?.elements.has(signature.element))
    return failSecurity('InvalidSecurity', 'two Signatures')
  requireNamedEndorser(signature, endorsement)
  return { signature, endorsement }
}

/**
 * §8.4: if the signature of the message covers a certificate, this has to be the endorser's.
 * Otherwise a trusted party that cannot read the message could endorse it, and so make it its own.
 */
function requireNamedEndorser({ elements }: VerifiedSignature<Signer>, { signer }: VerifiedSignature<Signer>): void {
  for (const element of elements) {
    if (signer.kind !== 'x509' || !isCertificateToken(element)) continue
    if (!readCertificates(element).der.equals(signer.certificate.der))
      failSecurity('InvalidSecurity', 'an endorsement by a party other than the one that the signed certificate names')
  }
}

/**
 * A signature over a ciphertext covers the block in it, as one over the Body covers its content.
 */
function coverSealed(
  signature: VerifiedSignature<Signer>,
  sealed: ReadonlyMap<Element, Element>,
): VerifiedSignature<Signer> {
  const covered = [...sealed].filter(([, data]) => isInside(data, outer => signature.elements.has(outer)))
  if (covered.length === 0) return signature
  return { ...signature, elements: new Set([...signature.elements, ...covered.map(([block]) => block)]) }
}

/** Children of the block that are read by reference, or after all the others. */
const passive = new Set([
  TimestampName,
  UsernameTokenName,
  BinarySecurityTokenName,
  SecurityTokenReferenceName,
  SignatureConfirmationName,
  DerivedKeyTokenName,
])
