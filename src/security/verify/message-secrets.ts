/**
 * The secrets with which a message is signed and encrypted (WSS 1.1 §7.3, §9; WS-SecureConversation
 * 1.3 §7), found by their references. What always holds, by number:
 *  (1) All failures of a key look the same.
 *  (2) At most `keysMax` keys are decrypted and `derivedMax` derived, each once.
 *  (3) The key that signs a message is the only one in it: nothing else is decrypted, so a
 *      signature that anyone can make does not turn the service into an oracle for another party's
 *      ciphertext.
 *  (4) A derived key either signs or decrypts, never both.
 */
import type { KeyObject } from 'node:crypto'
import type { Element } from '../../xml/index.ts'
import { type Allowances, harmlessAllowances, readDigestMethod } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { type KeyTransport, readKeyWrap, readMask, receiveKey, unwrapKey } from '../crypto/cipher.ts'
import { deriveKey, type ExchangeKey, exchangeKeyOctetsMin, exchangeKeyOf } from '../crypto/derived-key.ts'
import { agreeOnKey } from '../crypto/key-agreement.ts'
import { findNamed } from '../crypto/trust.ts'
import type { KeyForm } from '../policy/policy.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity, refuseAlgorithm } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import {
  onlyChildNamed,
  optionalChild,
  readBase64,
  requiredAttribute,
  requiredChild,
  trimmedText,
} from '../tree/strict-children.ts'
import { inlineIncludes } from '../tree/xop-inline.ts'
import {
  AgreementMethodName,
  algorithmAttribute,
  CipherDataName,
  CipherValueName,
  DerivedKeyTokenName,
  DigestMethodName,
  EncryptedKeyName,
  EncryptionMethodName,
  KeyInfoName,
  KeyNameName,
  MGFName,
  OAEPparamsName,
  xenc11Ns,
  xencNs,
} from '../vocabulary.ts'
import { readAgreement } from './agreement-method.ts'
import { readDerivedKeyToken } from './derived-key-token.ts'
import type { IncomingParts } from './incoming-parts.ts'
import {
  followReference,
  type KeyReference,
  readCertificates,
  readKeyReference,
  requireMatchingCertificate,
  requireNoStatements,
} from './key-info.ts'

const keysMax = 4
const derivedMax = 8

/** A secret and its origin. */
export interface MessageSecret {
  readonly octets: Buffer
  /** The key that it is or is derived from: one that was sent encrypted, or one known by name. */
  readonly source: ExchangeKey | KeyObject
  readonly form: KeyForm
}

/** A secret from an EncryptedKey, in this message or in its request. */
export interface SentSecret extends MessageSecret {
  readonly source: ExchangeKey
}

/** What a secret is used for. */
type SecretUse = 'sign' | 'decrypt'

export interface SecretMeans {
  readonly guard: Pick<VerificationContext, 'decrypts' | 'secrets'>
  readonly allow: Allowances
  readonly identifiers: Identifiers
  readonly parts: IncomingParts
  /** For a reply: the key of its request. */
  readonly exchangeKey: ExchangeKey | undefined
}

export class MessageSecrets {
  readonly #means: SecretMeans
  readonly #received = new Map<Element, ExchangeKey>()
  readonly #derived = new Map<Element, SentSecret>()
  readonly #sources = new Set<MessageSecret['source']>()
  #signing: ExchangeKey | undefined
  /** Derived keys by their first octets. */
  readonly #uses = new Map<string, SecretUse>()
  /** The forms in which secrets were used. */
  readonly forms = new Set<KeyForm>()

  constructor(means: SecretMeans) {
    this.#means = means
  }

  /** The secret of an EncryptedKey, for the data that it lists. */
  receiveForData(element: Element): MessageSecret {
    return this.#use(this.#receive(element), 'decrypt')
  }

  /** The secret that the KeyInfo of data names; undefined if it names nothing. */
  findForData(keyInfo: Element | undefined): MessageSecret | undefined {
    const [child, another] = keyInfo?.elements() ?? []
    if (!child) return undefined
    if (another) return failSecurity('SecurityTokenUnavailable', 'data with two keys')
    if (child.name === EncryptedKeyName) return this.receiveForData(child)
    const reference = readKeyReference(keyInfo, this.#means.identifiers)
    const secret = reference.kind === 'name' ? this.#findShared(reference.name) : this.#findSent(reference)
    return this.#use(secret ?? failSecurity('SecurityTokenUnavailable', 'a key of an unsupported kind'), 'decrypt')
  }

  /** The secret that the KeyInfo of a signature names, if it was sent encrypted. */
  findForSignature(reference: KeyReference): SentSecret | undefined {
    const secret = this.#findSent(reference)
    if (!secret) return undefined
    requireNoStatements(reference)
    this.#signing = secret.source
    return this.#use(secret, 'sign')
  }

  /** (3), (4) */
  #use<S extends MessageSecret>(secret: S, use: SecretUse): S {
    this.#sources.add(secret.source)
    if (this.#signing && this.#sources.size > 1)
      return failSecurity('InvalidSecurity', 'a second key besides the one that signs the message')
    this.forms.add(secret.form)
    if (secret.form === 'direct') return secret
    const known = secret.octets.toString('latin1', 0, exchangeKeyOctetsMin)
    if ((this.#uses.get(known) ?? use) !== use)
      return failSecurity('InvalidSecurity', 'a derived key that both signs and encrypts')
    this.#uses.set(known, use)
    return secret
  }

  /** The secret from an EncryptedKey, or a key derived from it; undefined: another kind of key. */
  #findSent(reference: KeyReference): SentSecret | undefined {
    if (reference.kind === 'encrypted-key') return this.#findByDigest(reference.digest)
    if (reference.kind !== 'token') return undefined
    const { element } = reference
    if (element.name === EncryptedKeyName) return this.#receive(element)
    return element.name === DerivedKeyTokenName ? this.#derive(element) : undefined
  }

  /** WSS §7.3: a key of this message or of its request, by the SHA-1 of its encrypted form. */
  #findByDigest(digest: Buffer): SentSecret {
    const { exchangeKey } = this.#means
    const known = [...this.#received.values(), ...(exchangeKey ? [exchangeKey] : [])]
    const source =
      known.find(each => each.digest.equals(digest)) ??
      failSecurity('SecurityTokenUnavailable', 'a key that is not in this message')
    return { octets: source.octets, source, form: 'direct' }
  }

  #derive(token: Element): SentSecret {
    const known = this.#derived.get(token)
    if (known) return known
    if (this.#derived.size >= derivedMax) return failSecurity('InvalidSecurity', 'too many derived keys')
    const { reference, derivation } = readDerivedKeyToken(token)
    const base = followReference(reference, this.#means.identifiers)
    const isChained = base.kind === 'token' && base.element.name === DerivedKeyTokenName
    const { octets, source } =
      (isChained ? undefined : this.#findSent(base)) ??
      failSecurity('UnsupportedSecurityToken', 'a key derived from something other than an EncryptedKey')
    if (octets.length < exchangeKeyOctetsMin) return failSecurity('FailedCheck', 'decryption')
    const secret: SentSecret = { octets: deriveKey(octets, derivation), source, form: 'derived' }
    this.#derived.set(token, secret)
    return secret
  }

  #findShared(name: string): MessageSecret {
    const key = this.#requireShared(name)
    return { octets: key.export(), source: key, form: 'direct' }
  }

  #requireShared(name: string): KeyObject {
    return this.#means.guard.secrets?.get(name) ?? failSecurity('SecurityTokenUnavailable', 'an unknown secret')
  }

  /** The secret in an EncryptedKey; decrypted once. */
  #receive(element: Element): SentSecret {
    const source = this.#received.get(element) ?? this.#decrypt(element)
    return { octets: source.octets, source, form: 'direct' }
  }

  #decrypt(element: Element): ExchangeKey {
    if (this.#received.size >= keysMax) return failSecurity('InvalidSecurity', 'too many keys')
    const octets = this.#unwrapSecret(element) ?? failSecurity('FailedCheck', 'decryption')
    const source = exchangeKeyOf(octets, readSealed(element, this.#means.parts))
    this.#received.set(element, source)
    return source
  }

  #unwrapSecret(element: Element): Buffer | undefined {
    const { allow, parts } = this.#means
    const method = requiredChild(element, EncryptionMethodName)
    const keyInfo = optionalChild(element, KeyInfoName)
    const size = readKeyWrap(requiredAttribute(method, algorithmAttribute))
    if (size === undefined) {
      const transport = readTransport(method, allow)
      return receiveKey(this.#findPrivateKey(keyInfo), readSealed(element, parts), transport)
    }
    const kek = this.#findWrappingKey(
      keyInfo ?? failSecurity('SecurityTokenUnavailable', 'a wrapped key without a KeyInfo'),
      size,
    )
    return kek?.symmetricKeySize === size ? unwrapKey(kek, readSealed(element, parts)) : undefined
  }

  /** One that was agreed on with the sender, or is shared by its name. */
  #findWrappingKey(keyInfo: Element, size: number): KeyObject | undefined {
    if (keyInfo.elements(AgreementMethodName).length === 0)
      return this.#requireShared(trimmedText(onlyChildNamed(keyInfo, KeyNameName)))
    const method = onlyChildNamed(keyInfo, AgreementMethodName)
    const { originator, recipient, derivation } = readAgreement(method, this.#means.allow)
    return agreeOnKey(this.#findPrivateKey(recipient), originator, derivation, size)
  }

  /** The service's private key that a KeyInfo names; without a KeyInfo, the only one. */
  #findPrivateKey(keyInfo: Element | undefined): KeyObject {
    const keys = this.#means.guard.decrypts ?? []
    const unavailable = () => failSecurity('SecurityTokenUnavailable', 'a key that the receiver does not have')
    if (!keyInfo) return keys.length === 1 ? keys[0]!.key : unavailable()
    const reference = readKeyReference(keyInfo, this.#means.identifiers)
    const found = keys.find(matchOf(reference) ?? unavailable()) ?? unavailable()
    requireMatchingCertificate(reference, found.certificate)
    return found.key
  }
}

/** Whether a key belongs to the certificate that a reference carries or names. */
function matchOf(reference: KeyReference): ((key: { readonly certificate: Certificate }) => boolean) | undefined {
  if (reference.kind === 'certificate') return ({ certificate }) => findNamed(certificate, reference.reference)
  const carried = reference.kind === 'token' ? readCertificates(reference.element) : reference
  return 'der' in carried ? ({ certificate }) => certificate.der.equals(carried.der) : undefined
}

/** XML Encryption §5.5. */
function readTransport(method: Element, allow: Allowances): KeyTransport {
  const uri = requiredAttribute(method, algorithmAttribute)
  if (uri === `${xencNs}rsa-1_5` && allow.has('rsa-1_5')) return 'rsa-1_5'
  const isModern = uri === `${xenc11Ns}rsa-oaep`
  if (!isModern && uri !== `${xencNs}rsa-oaep-mgf1p`) return refuseAlgorithm('an unsupported key transport', uri)
  const digest = optionalChild(method, DigestMethodName)
  const mgf = optionalChild(method, MGFName)
  if (mgf && !isModern) return failSecurity('UnsupportedAlgorithm', 'a mask that rsa-oaep-mgf1p does not have')
  const label = optionalChild(method, OAEPparamsName)
  const maskUri = mgf && requiredAttribute(mgf, algorithmAttribute)
  return {
    digest: digest ? readDigestMethod(digest, harmlessAllowances) : 'sha1',
    mask: maskUri === undefined ? 'sha1' : (readMask(maskUri) ?? refuseAlgorithm('an unsupported mask', maskUri)),
    label: label ? readBase64(label) : Buffer.alloc(0),
  }
}

/** The octets of its CipherValue, which may have arrived as a part. */
export function readSealed(element: Element, parts: IncomingParts): Buffer {
  const value = onlyChildNamed(requiredChild(element, CipherDataName), CipherValueName)
  inlineIncludes(value, parts)
  return readBase64(value, 'FailedCheck')
}
