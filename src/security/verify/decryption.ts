/**
 * XML Encryption as WS-Security uses it (WSS §9), coming in. What always holds, by number:
 *  (1) The one parser reads what was decrypted, at its place in the tree and within its limits, and
 *      its identifiers join the others: it is part of the document in every respect.
 *  (2) Every failure of a key or a ciphertext is one and the same.
 *  (3) CBC does not prove the maker of a ciphertext: it is accepted only under a signature that was
 *      verified before, or by allowance.
 *  (4) At most `keysMax` keys and `dataMax` pieces of data, each decrypted once.
 */

import { hash, type KeyObject } from 'node:crypto'
import { type Element, Malformed, type Node } from '../../xml/index.ts'
import { type Allowances, readDigestMethod } from '../crypto/algorithm.ts'
import {
  decryptOctets,
  type KeyTransport,
  readCipher,
  readKeyWrap,
  readMask,
  receiveKey,
  unwrapKey,
} from '../crypto/cipher.ts'
import { findNamed } from '../crypto/trust.ts'
import type { VerificationContext } from '../policy/verification-context.ts'
import { failSecurity } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import {
  onlyChildNamed,
  optionalChild,
  readBase64,
  requiredAttribute,
  requiredChild,
  trimmedText,
} from '../tree/strict-children.ts'
import { isInside, parseFragment, replaceElement } from '../tree/tree-edit.ts'
import {
  algorithmAttribute,
  CipherDataName,
  CipherValueName,
  DataReferenceName,
  DigestMethodName,
  EncryptedDataName,
  EncryptedHeaderName,
  EncryptedKeyName,
  EncryptionMethodName,
  KeyIdentifierName,
  KeyInfoName,
  KeyNameName,
  keyIdentifierEncryptedKeyUri,
  MGFName,
  OAEPparamsName,
  ReferenceListName,
  SecurityTokenReferenceName,
  typeAttribute,
  uriAttribute,
  valueTypeAttribute,
  xenc11Ns,
  xencNs,
} from '../vocabulary.ts'
import { findToken, readCertificates, readKeyReference } from './key-info.ts'

const keysMax = 4
const dataMax = 16

export class Decryptor {
  readonly #guard: VerificationContext
  readonly #allow: Allowances
  readonly #identifiers: Identifiers
  readonly #isSigned: (element: Element) => boolean
  readonly #secrets = new Map<Element, Buffer>()
  readonly #done = new Set<Element>()
  /** Elements that came encrypted, or all of whose content did. */
  readonly revealed = new Set<Element>()
  /** Header blocks among them. */
  readonly blocks: Element[] = []

  /** @param isSigned whether a verified signature covers an element */
  constructor(
    guard: VerificationContext,
    allow: Allowances,
    identifiers: Identifiers,
    isSigned: (element: Element) => boolean,
  ) {
    this.#guard = guard
    this.#allow = allow
    this.#identifiers = identifiers
    this.#isSigned = isSigned
  }

  /** An EncryptedKey of the block: it decrypts the data that it lists (WSS §9.2). */
  decryptForKey(element: Element): void {
    const list = optionalChild(element, ReferenceListName)
    if (list) this.decryptListed(list, this.#receiveSecret(element))
  }

  /** A ReferenceList (WSS §9.1). */
  decryptListed(list: Element, secret?: Buffer): void {
    for (const reference of list.elements()) {
      if (reference.name !== DataReferenceName) failSecurity('InvalidSecurity', 'a ReferenceList of something else')
      const found = this.#identifiers.findReferred(requiredAttribute(reference, uriAttribute))
      const data =
        found?.name === EncryptedDataName
          ? found
          : failSecurity('InvalidSecurity', 'a reference to something other than EncryptedData')
      if (!this.#done.has(data)) this.decryptData(data, secret)
    }
  }

  /**
   * Replaces an EncryptedData by its content (XML Encryption §4.4).
   * @param offered the secret of the list that names it
   */
  decryptData(data: Element, offered?: Buffer): void {
    if (this.#done.size >= dataMax) failSecurity('InvalidSecurity', 'too much encrypted data')
    this.#done.add(data)
    const uri = readPlainMethod(requiredChild(data, EncryptionMethodName))
    const cipher = readCipher(uri) ?? failSecurity('UnsupportedAlgorithm', 'an unsupported cipher')
    if (cipher.mode === 'cbc' && !this.#allow.has('cbc') && !isInside(data, this.#isSigned)) {
      failSecurity('UnsupportedAlgorithm', 'CBC without a signature over it')
    }
    const secret = this.#findSecret(optionalChild(data, KeyInfoName), offered)
    const plain = decryptOctets(cipher, secret, readSealed(data)) ?? failSecurity('FailedCheck', 'decryption')
    const parent = data.parent ?? failSecurity('InvalidSecurity', 'an encrypted envelope')
    const nodes = parseFragment(plain, parent)
    this.#place(
      data,
      parent,
      nodes instanceof Malformed ? failSecurity('FailedCheck', 'decryption') : nodes,
      data.attribute(typeAttribute),
    )
  }

  #place(data: Element, parent: Element, nodes: readonly Node[], type: string | undefined): void {
    if (type === `${xencNs}Content`) {
      if (parent.children.every(child => child === data || isBlankText(child))) this.revealed.add(parent)
      replaceElement(data, nodes)
    } else if (type === `${xencNs}Element`) {
      const [element, another] = nodes.filter(node => !isBlankText(node))
      this.#placeElement(
        data,
        parent,
        element?.kind === 'element' && !another ? element : failSecurity('FailedCheck', 'decryption'),
      )
    } else failSecurity('UnsupportedAlgorithm', 'encrypted data of an unsupported type')
    for (const node of nodes) if (node.kind === 'element') this.#identifiers.add(node)
  }

  /** WSS §9.3: an EncryptedHeader wraps one block, and is replaced by it. */
  #placeElement(data: Element, parent: Element, element: Element): void {
    this.revealed.add(element)
    const isBlock = parent.name === EncryptedHeaderName && parent.parent !== undefined
    replaceElement(isBlock ? parent : data, [element])
    if (!isBlock) return
    if (parent.elements().length !== 1) failSecurity('InvalidSecurity', 'an EncryptedHeader with more in it')
    this.blocks.push(element)
  }

  /** The secret that a KeyInfo of data names, or the one that was offered. */
  #findSecret(keyInfo: Element | undefined, offered: Buffer | undefined): Buffer {
    const [child, another] = keyInfo?.elements() ?? []
    if (!child) return offered ?? failSecurity('SecurityTokenUnavailable', 'data without a key')
    if (another) return failSecurity('SecurityTokenUnavailable', 'data with two keys')
    if (child.name === EncryptedKeyName) return this.#receiveSecret(child)
    if (child.name === KeyNameName) return this.#findShared(trimmedText(child)).export()
    if (child.name !== SecurityTokenReferenceName)
      return failSecurity('SecurityTokenUnavailable', 'a key of an unsupported kind')
    const identifier = optionalChild(child, KeyIdentifierName)
    if (identifier?.attribute(valueTypeAttribute) === keyIdentifierEncryptedKeyUri)
      return this.#findByDigest(readBase64(identifier))
    const token = findToken(child, this.#identifiers)
    return token.name === EncryptedKeyName
      ? this.#receiveSecret(token)
      : failSecurity('SecurityTokenUnavailable', 'no EncryptedKey')
  }

  /** WSS §7.3: a secret of this message by the SHA-1 of its encrypted form. */
  #findByDigest(digest: Buffer): Buffer {
    for (const [element, secret] of this.#secrets) {
      if (hash('sha1', readSealed(element), 'buffer').equals(digest)) return secret
    }
    return failSecurity('SecurityTokenUnavailable', 'a key that is not in this message')
  }

  #findShared(name: string): KeyObject {
    return this.#guard.secrets?.get(name) ?? failSecurity('SecurityTokenUnavailable', 'an unknown secret')
  }

  /** The secret in an EncryptedKey; decrypted once. */
  #receiveSecret(element: Element): Buffer {
    const known = this.#secrets.get(element)
    if (known) return known
    if (this.#secrets.size >= keysMax) return failSecurity('InvalidSecurity', 'too many keys')
    const secret = this.#unwrapSecret(element) ?? failSecurity('FailedCheck', 'decryption')
    this.#secrets.set(element, secret)
    return secret
  }

  #unwrapSecret(element: Element): Buffer | undefined {
    const method = requiredChild(element, EncryptionMethodName)
    const keyInfo = optionalChild(element, KeyInfoName)
    const size = readKeyWrap(requiredAttribute(method, algorithmAttribute))
    if (size === undefined) {
      const transport = this.#readTransport(method)
      return receiveKey(this.#findPrivateKey(keyInfo), readSealed(element), transport)
    }
    const named = keyInfo ?? failSecurity('SecurityTokenUnavailable', 'a key without a key')
    const kek = this.#findShared(trimmedText(onlyChildNamed(named, KeyNameName)))
    return kek.symmetricKeySize === size ? unwrapKey(kek, readSealed(element)) : undefined
  }

  /** XML Encryption §5.5. */
  #readTransport(method: Element): KeyTransport {
    const uri = requiredAttribute(method, algorithmAttribute)
    if (uri === `${xencNs}rsa-1_5` && this.#allow.has('rsa-1_5')) return 'rsa-1_5'
    const isModern = uri === `${xenc11Ns}rsa-oaep`
    if (!isModern && uri !== `${xencNs}rsa-oaep-mgf1p`)
      return failSecurity('UnsupportedAlgorithm', 'an unsupported key transport')
    const digest = optionalChild(method, DigestMethodName)
    const mgf = optionalChild(method, MGFName)
    if (mgf && !isModern) return failSecurity('UnsupportedAlgorithm', 'a mask that rsa-oaep-mgf1p does not have')
    const label = optionalChild(method, OAEPparamsName)
    return {
      digest: digest ? readDigestMethod(digest, harmlessAllowances) : 'sha1',
      mask:
        (mgf ? readMask(requiredAttribute(mgf, algorithmAttribute)) : 'sha1') ??
        failSecurity('UnsupportedAlgorithm', 'an unsupported mask'),
      label: label ? readBase64(label) : Buffer.alloc(0),
    }
  }

  /** The service's own key that a KeyInfo names; without a KeyInfo the only one. */
  #findPrivateKey(keyInfo: Element | undefined): KeyObject {
    const keys = this.#guard.decrypts ?? []
    const unavailable = () => failSecurity('SecurityTokenUnavailable', 'a key that is not here')
    if (!keyInfo) return keys.length === 1 ? keys[0]!.key : unavailable()
    const reference = readKeyReference(keyInfo, this.#identifiers)
    if (reference.kind === 'certificate') {
      return keys.find(({ certificate }) => findNamed(certificate, reference.reference))?.key ?? unavailable()
    }
    const der = reference.kind === 'certificates' ? reference.der : undefined
    const octets = der ?? (reference.kind === 'token' ? readCertificates(reference.element).der : unavailable())
    return keys.find(({ certificate }) => certificate.der.equals(octets))?.key ?? unavailable()
  }
}

/** SHA-1 in OAEP needs no resistance against collisions (RFC 8017 §B.1). */
const harmlessAllowances: Allowances = new Set(['sha1'])

const isBlankText = (node: Node): boolean => node.kind === 'text' && node.value.trim() === ''

/** The algorithm of an EncryptionMethod without parameters. */
function readPlainMethod(method: Element): string {
  if (method.elements().length > 0) return failSecurity('UnsupportedAlgorithm', 'a cipher with parameters')
  return requiredAttribute(method, algorithmAttribute)
}

/** The octets of its CipherValue. */
const readSealed = (element: Element): Buffer =>
  readBase64(onlyChildNamed(requiredChild(element, CipherDataName), CipherValueName), 'FailedCheck')
