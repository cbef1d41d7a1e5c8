/**
 * XML Encryption as WS-Security uses it (WSS §9), coming in. What always holds, by number:
 *  (1) What was decrypted is read by the one parser, at its place in the tree and within its limits, and what it identifies is
 *      entered with the rest: it is part of the document, for good and ill.
 *  (2) Whatever goes wrong with a key or a ciphertext is one and the same failure.
 *  (3) CBC says nothing of who made a ciphertext: it is taken only under a signature that was verified before, or by allowance.
 *  (4) At most `mostKeys` keys and `mostData` pieces of data, each decrypted once.
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
  xencNs,
} from '../vocabulary.ts'
import { findToken, readCertificates, readKeyReference } from './key-info.ts'

const mostKeys = 4
const mostData = 16

export class Decrypting {
  private readonly guard: VerificationContext
  private readonly allow: Allowances
  private readonly identifiers: Identifiers
  private readonly signed: (element: Element) => boolean
  private readonly keys = new Map<Element, Buffer>()
  private readonly done = new Set<Element>()
  /** Elements that came encrypted, or all of whose content did. */
  readonly revealed = new Set<Element>()
  /** Header blocks among them. */
  readonly blocks: Element[] = []

  /** @param signed whether a verified signature covers an element */
  constructor(
    guard: VerificationContext,
    allow: Allowances,
    identifiers: Identifiers,
    signed: (element: Element) => boolean,
  ) {
    this.guard = guard
    this.allow = allow
    this.identifiers = identifiers
    this.signed = signed
  }

  /** An EncryptedKey of the block: what it lists is decrypted with it (WSS §9.2). */
  key(element: Element): void {
    const list = optionalChild(element, ReferenceListName)
    if (list) this.list(list, this.secretIn(element))
  }

  /** A ReferenceList (WSS §9.1). */
  list(list: Element, secret?: Buffer): void {
    for (const reference of list.elements()) {
      if (reference.name !== DataReferenceName) failSecurity('InvalidSecurity', 'a list of something else')
      const found = this.identifiers.referred(requiredAttribute(reference, uriAttribute))
      const data =
        found?.name === EncryptedDataName ? found : failSecurity('InvalidSecurity', 'a reference to no EncryptedData')
      if (!this.done.has(data)) this.data(data, secret)
    }
  }

  /** Puts in the place of an EncryptedData what it holds (XML Encryption §4.4). */
  data(data: Element, offered?: Buffer): void {
    if (this.done.size >= mostData) failSecurity('InvalidSecurity', 'too much encrypted data')
    this.done.add(data)
    const method = plainMethod(requiredChild(data, EncryptionMethodName))
    const cipher = readCipher(method) ?? failSecurity('UnsupportedAlgorithm', 'a cipher that is not taken')
    if (cipher.mode === 'cbc' && !this.allow.has('cbc') && !isInside(data, this.signed)) {
      failSecurity('UnsupportedAlgorithm', 'CBC without a signature over it')
    }
    const secret = this.secretOf(optionalChild(data, KeyInfoName), offered)
    const plain = decryptOctets(cipher, secret, sealedIn(data)) ?? failSecurity('FailedCheck', 'decryption')
    const at = data.parent ?? failSecurity('InvalidSecurity', 'an encrypted envelope')
    const nodes = parseFragment(plain, at)
    this.place(
      data,
      at,
      nodes instanceof Malformed ? failSecurity('FailedCheck', 'decryption') : nodes,
      data.attribute(typeAttribute),
    )
  }

  private place(data: Element, parent: Element, nodes: readonly Node[], type: string | undefined): void {
    if (type === `${xencNs}Content`) {
      if (parent.children.every(child => child === data || blank(child))) this.revealed.add(parent)
      replaceElement(data, nodes)
    } else if (type === `${xencNs}Element`) {
      const [element, another] = nodes.filter(node => !blank(node))
      this.element(
        data,
        parent,
        element?.kind === 'element' && !another ? element : failSecurity('FailedCheck', 'decryption'),
      )
    } else failSecurity('UnsupportedAlgorithm', 'data of a type that is not taken')
    for (const node of nodes) if (node.kind === 'element') this.identifiers.add(node)
  }

  /** WSS §9.3: an EncryptedHeader is the wrapping of one block, which stands in its place. */
  private element(data: Element, parent: Element, element: Element): void {
    this.revealed.add(element)
    const wrapped = parent.name === EncryptedHeaderName && parent.parent !== undefined
    replaceElement(wrapped ? parent : data, [element])
    if (!wrapped) return
    if (parent.elements().length !== 1) failSecurity('InvalidSecurity', 'an EncryptedHeader with more in it')
    this.blocks.push(element)
  }

  /** The key that a KeyInfo of data names, or the one that came with the list. */
  private secretOf(keyInfo: Element | undefined, offered: Buffer | undefined): Buffer {
    const [child, another] = keyInfo?.elements() ?? []
    if (!child) return offered ?? failSecurity('SecurityTokenUnavailable', 'data without a key')
    if (another) return failSecurity('SecurityTokenUnavailable', 'data with two keys')
    if (child.name === EncryptedKeyName) return this.secretIn(child)
    if (child.name === KeyNameName) return this.shared(trimmedText(child)).export()
    if (child.name !== SecurityTokenReferenceName)
      return failSecurity('SecurityTokenUnavailable', 'a key of another kind')
    const identifier = optionalChild(child, KeyIdentifierName)
    if (identifier?.attribute(valueTypeAttribute) === keyIdentifierEncryptedKeyUri)
      return this.digested(readBase64(identifier))
    const token = findToken(child, this.identifiers)
    return token.name === EncryptedKeyName
      ? this.secretIn(token)
      : failSecurity('SecurityTokenUnavailable', 'no EncryptedKey')
  }

  /** WSS §7.3: a key of this message by the SHA-1 of its encrypted form. */
  private digested(digest: Buffer): Buffer {
    for (const [element, secret] of this.keys) {
      if (hash('sha1', sealedIn(element), 'buffer').equals(digest)) return secret
    }
    return failSecurity('SecurityTokenUnavailable', 'a key that is not in this message')
  }

  private shared(name: string): KeyObject {
    return this.guard.secrets?.get(name) ?? failSecurity('SecurityTokenUnavailable', 'a name of no secret')
  }

  private secretIn(element: Element): Buffer {
    const known = this.keys.get(element)
    if (known) return known
    if (this.keys.size >= mostKeys) return failSecurity('InvalidSecurity', 'too many keys')
    const secret = this.unwrapped(element) ?? failSecurity('FailedCheck', 'decryption')
    this.keys.set(element, secret)
    return secret
  }

  private unwrapped(element: Element): Buffer | undefined {
    const method = requiredChild(element, EncryptionMethodName)
    const keyInfo = optionalChild(element, KeyInfoName)
    const size = readKeyWrap(requiredAttribute(method, algorithmAttribute))
    if (size === undefined) {
      const transport = this.transport(method)
      return receiveKey(this.privateKey(keyInfo), sealedIn(element), transport)
    }
    const kek = this.shared(
      trimmedText(
        onlyChildNamed(keyInfo ?? failSecurity('SecurityTokenUnavailable', 'a key without a key'), KeyNameName),
      ),
    )
    return kek.symmetricKeySize === size ? unwrapKey(kek, sealedIn(element)) : undefined
  }

  /** XML Encryption §5.5. */
  private transport(method: Element): KeyTransport {
    const uri = requiredAttribute(method, algorithmAttribute)
    if (uri === `${xencNs}rsa-1_5` && this.allow.has('rsa-1_5')) return 'rsa-1_5'
    const modern = uri === 'http://www.w3.org/2009/xmlenc11#rsa-oaep'
    if (!modern && uri !== `${xencNs}rsa-oaep-mgf1p`)
      return failSecurity('UnsupportedAlgorithm', 'a key transport that is not taken')
    const digest = optionalChild(method, DigestMethodName)
    const mgf = optionalChild(method, MGFName)
    if (mgf && !modern) return failSecurity('UnsupportedAlgorithm', 'a mask that rsa-oaep-mgf1p does not have')
    const label = optionalChild(method, OAEPparamsName)
    return {
      digest: digest ? readDigestMethod(digest, harmless) : 'sha1',
      mask:
        (mgf ? readMask(requiredAttribute(mgf, algorithmAttribute)) : 'sha1') ??
        failSecurity('UnsupportedAlgorithm', 'a mask that is not taken'),
      label: label ? readBase64(label) : Buffer.alloc(0),
    }
  }

  /** The key of this side that a KeyInfo names; the only one where it names none. */
  private privateKey(keyInfo: Element | undefined): KeyObject {
    const keys = this.guard.decrypts ?? []
    const unavailable = () => failSecurity('SecurityTokenUnavailable', 'a key that is not here')
    if (!keyInfo) return keys.length === 1 ? keys[0]!.key : unavailable()
    const reference = readKeyReference(keyInfo, this.identifiers)
    if (reference.kind === 'certificate') {
      return keys.find(({ certificate }) => findNamed(certificate, reference.reference))?.key ?? unavailable()
    }
    const der = reference.kind === 'certificates' ? reference.der : undefined
    const octets = der ?? (reference.kind === 'token' ? readCertificates(reference.element).der : unavailable())
    return keys.find(({ certificate }) => certificate.der.equals(octets))?.key ?? unavailable()
  }
}

/** SHA-1 in OAEP needs no resistance against collisions (RFC 8017 §B.1). */
const harmless: Allowances = new Set(['sha1'])

const blank = (node: Node): boolean => node.kind === 'text' && node.value.trim() === ''

/** The algorithm of an EncryptionMethod without parameters. */
function plainMethod(method: Element): string {
  if (method.elements().length > 0) return failSecurity('UnsupportedAlgorithm', 'a cipher with parameters')
  return requiredAttribute(method, algorithmAttribute)
}

const sealedIn = (element: Element): Buffer =>
  readBase64(onlyChildNamed(requiredChild(element, CipherDataName), CipherValueName), 'FailedCheck')
