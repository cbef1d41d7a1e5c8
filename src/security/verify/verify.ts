/**
 * START HERE. The Security block of a message: what is demanded, what is proven, and the caller
 * (rules B5.1–B5.4). What always holds, by number:
 *  (1) What a signature proved is an object of the tree, and `VerifiedMessage` hands on that
 *      object. The Body is not looked up again: the one that was opened is asked for in what was
 *      covered, by identity, and nothing else makes a VerifiedMessage.
 *  (2) Everything in the block that is supported is checked, whether demanded or not. Everything
 *      else is refused.
 *  (3) The order is: shape, identifiers, Timestamp, the block's children in their order, tokens,
 *      the demands, and last the memory of what was seen; so a message that does not hold can
 *      neither fill the memory nor try passwords.
 *  (4) Work before the first trusted key is linear in the message; there is one Signature, and at
 *      most `referencesMax` references.
 * Deliberately absent: fetching anything, and where the message came from.
 */

import type { Caller } from '../../contract/policy.ts'
import type { Element, Name } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { isProofRequired, type SecurityPolicy } from '../policy/policy.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity } from '../security-fault.ts'
import { Identifiers } from '../tree/identifiers.ts'
import { optionalChild } from '../tree/strict-children.ts'
import { includedParts, inlineIncludes } from '../tree/xop-inline.ts'
import {
  BinarySecurityTokenName,
  CipherValueName,
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
import type { ExaminedBlock, Incoming, Signer } from './incoming.ts'
import { dereferenceToken, readKeyReference, requireConfirmed, requireTrusted } from './key-info.ts'
import { type Assertion, holderKey, isAssertion, verifyAssertion } from './saml.ts'
import { type VerifiedSignature, verifySignature } from './signature.ts'
import { requireConfirmation } from './signature-confirmation.ts'
import { defaultFreshness, verifyTimestamp } from './timestamp.ts'

/** A message whose policy holds. Nothing else makes one. */
export interface VerifiedMessage {
  /** Undefined where nothing is demanded, and the message does not say. */
  readonly caller: Caller | undefined
  /** The Body that was proven, if the policy demanded it; in any case the one to read. */
  readonly body: Element
  /** Whether a trusted signature covers this element: itself, not one like it. */
  readonly covers: (element: Element) => boolean
  /** The value of the signature that was verified: for the confirmation in the reply (WSS §8.5). */
  readonly confirms: Buffer | undefined
  /** Whose signature it is. */
  readonly signer: Signer | undefined
  /** Header blocks that came encrypted; the tree has them in their place now. */
  readonly blocks: readonly Element[]
}

/** What the policy demands of this message, proven. @throws Insecure */
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
  const found = new Examination(message, block, policy, guard).examine()
  const signer = found.signature?.signer
  if (signer?.kind === 'x509' && guard.trust) await requireConfirmed(signer.certificate, guard.trust, guard.now())
  const caller = await new Authentication(found, policy, guard, message).identifyCaller()
  const { signature, blocks } = found
  return {
    caller,
    body: message.body,
    covers: element => signature?.elements.has(element) ?? false,
    confirms: signature?.value,
    signer,
    blocks,
  }
}

/** WSS §5: one for each role. */
function findSecurityBlock(blocks: readonly Element[]): Element | undefined {
  const [block, another] = blocks.filter(({ name }) => name === SecurityName)
  return another ? failSecurity('InvalidSecurity', 'two Security blocks for one role') : block
}

const withoutProof = ({ body }: Incoming): VerifiedMessage => ({
  caller: undefined,
  body,
  covers: () => false,
  blocks: [],
  confirms: undefined,
  signer: undefined,
})

/** Nodes of the block, white space included: an honest one has some ten elements. */
const childrenMax = 100

/** (2), of one block. */
class Examination {
  readonly #message: Incoming
  readonly #block: Element
  readonly #guard: VerificationContext
  readonly #allow: Allowances
  readonly #now: number
  readonly #freshness: typeof defaultFreshness
  readonly #identifiers: Identifiers
  readonly #decryptor: Decryptor
  #signature: VerifiedSignature<Signer> | undefined
  readonly #inlined = new Map<string, Element>()
  #assertion: Assertion | undefined

  constructor(message: Incoming, block: Element, policy: SecurityPolicy, guard: VerificationContext) {
    this.#message = message
    this.#block = block
    this.#guard = guard
    this.#allow = new Set(policy.allow)
    this.#now = guard.now()
    this.#freshness = { ...defaultFreshness, ...policy.freshness }
    this.#identifiers = new Identifiers(message.envelope)
    const isSigned = (element: Element) => this.#signature?.elements.has(element) ?? false
    this.#decryptor = new Decryptor(guard, this.#allow, this.#identifiers, isSigned)
  }

  examine(): ExaminedBlock {
    const block = this.#block
    if (block.children.length > childrenMax)
      return failSecurity('InvalidSecurity', 'too many children of the Security block')
    const stamped = verifyTimestamp(block, this.#now, this.#freshness)
    this.#readChildren()
    const ticket = this.#findTicket()
    if (optionalChild(block, TimestampName) !== stamped?.element)
      return failSecurity('InvalidSecurity', 'an encrypted Timestamp')
    const { envelope, attachments, sent } = this.#message
    if (this.#signature && attachments && includedParts(envelope).length > 0)
      failSecurity('FailedCheck', 'a part that is not signed')
    if (sent) requireConfirmation(block, sent, this.#signature?.elements)
    const assertion = this.#readAssertion()
    return {
      stamped,
      signature: this.#signature,
      usernameToken: optionalChild(block, UsernameTokenName),
      ticket,
      assertion,
      revealed: this.#decryptor.revealed,
      inlined: this.#inlined,
      blocks: this.#decryptor.blocks,
    }
  }

  #readChildren(): void {
    const block = this.#block
    for (let at = 0; at < block.children.length; at++) {
      const child = block.children[at]!
      if (child.kind === 'element' && child.name === EncryptedDataName) {
        this.#inlineParts(CipherValueName)
        this.#decryptor.decryptData(child)
        at-- // its content is in its place now
      } else if (child.kind === 'element') this.#readChild(child)
      else if (child.kind === 'text' && child.value.trim() !== '')
        failSecurity('InvalidSecurity', 'text in the Security block')
    }
  }

  #readChild(element: Element): void {
    if (element.name === SignatureName) this.#verifySignature(element)
    else if (element.name === EncryptedKeyName || element.name === ReferenceListName) {
      this.#inlineParts(CipherValueName)
      if (element.name === EncryptedKeyName) this.#decryptor.decryptForKey(element)
      else this.#decryptor.decryptListed(element)
    } else if (!passive.has(element.name) && !isAssertion(element)) {
      failSecurity('UnsupportedSecurityToken', 'an unknown element in the Security block')
    }
  }

  /** The octets of parts in place of their Includes: of all, or of those `within` such elements. */
  #inlineParts(within?: Name): void {
    const { envelope, attachments } = this.#message
    if (attachments) inlineIncludes(envelope, attachments, this.#inlined, within)
  }

  /**
   * WSS §8: the one Signature that is a child of the block; those inside assertions are read with
   * them.
   */
  #verifySignature(element: Element): void {
    if (this.#signature) failSecurity('InvalidSecurity', 'two Signatures')
    const { attachments } = this.#message
    this.#inlineParts()
    this.#signature = verifySignature<Signer>(element, {
      identifiers: this.#identifiers,
      allow: this.#allow,
      signer: keyInfo => this.#identifySigner(keyInfo),
      token: reference => dereferenceToken(reference, this.#identifiers, this.#guard.trust),
      attachment: (uri, complete) =>
        attachments?.octets(uri, complete) ?? failSecurity('FailedCheck', 'a missing attachment'),
    })
  }

  #identifySigner(keyInfo: Element | undefined): Signer {
    const reference = readKeyReference(keyInfo, this.#identifiers)
    if (reference.kind === 'name') {
      const { name } = reference
      const key = this.#guard.secrets?.get(name) ?? failSecurity('SecurityTokenUnavailable', 'an unknown secret')
      return { kind: 'secret', key, name }
    }
    if (reference.kind === 'token' && isAssertion(reference.element)) {
      const assertion = this.#readAssertion()
      if (assertion?.element !== reference.element)
        return failSecurity('InvalidSecurity', 'an assertion in another place')
      return { kind: 'saml', key: holderKey(assertion, this.#identifiers), assertion }
    }
    const trust = this.#guard.trust ?? failSecurity('SecurityTokenUnavailable', 'no certificate is trusted here')
    const certificate = requireTrusted(reference, trust, this.#now)
    return { kind: 'x509', key: certificate.key, certificate }
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

/** Children of the block that are read by reference, or once all the others are. */
const passive = new Set([
  TimestampName,
  UsernameTokenName,
  BinarySecurityTokenName,
  SecurityTokenReferenceName,
  SignatureConfirmationName,
])
