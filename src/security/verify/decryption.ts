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
import { type Allowances, digestOf } from '../crypto/algorithm.ts'
import { cipherOf, decrypt, maskOf, type Transport, unseal, unwrapKey, wrapOf } from '../crypto/cipher.ts'
import { named } from '../crypto/trust.ts'
import type { Guard } from '../policy/verification-context.ts'
import { fail } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import { attributeOf, base64, optional, required, sole, trimmed } from '../tree/strict-children.ts'
import { graft, isWithin, replace } from '../tree/tree-edit.ts'
import {
  Algorithm,
  CipherData,
  CipherValue,
  DataReference,
  DigestMethod,
  EncryptedData,
  EncryptedHeader,
  EncryptedKey,
  EncryptionMethod,
  KeyIdentifier,
  KeyInfo,
  KeyName,
  keyIdentifierEncryptedKey,
  MGF,
  OAEPparams,
  ReferenceList,
  SecurityTokenReference,
  Type,
  URI,
  ValueType,
  xenc,
} from '../vocabulary.ts'
import { certificatesIn, keyReference, tokenOf } from './key-info.ts'

const mostKeys = 4
const mostData = 16

export class Decrypting {
  private readonly guard: Guard
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
  constructor(guard: Guard, allow: Allowances, identifiers: Identifiers, signed: (element: Element) => boolean) {
    this.guard = guard
    this.allow = allow
    this.identifiers = identifiers
    this.signed = signed
  }

  /** An EncryptedKey of the block: what it lists is decrypted with it (WSS §9.2). */
  key(element: Element): void {
    const list = optional(element, ReferenceList)
    if (list) this.list(list, this.secretIn(element))
  }

  /** A ReferenceList (WSS §9.1). */
  list(list: Element, secret?: Buffer): void {
    for (const reference of list.elements()) {
      if (reference.name !== DataReference) fail('InvalidSecurity', 'a list of something else')
      const found = this.identifiers.referred(attributeOf(reference, URI))
      const data = found?.name === EncryptedData ? found : fail('InvalidSecurity', 'a reference to no EncryptedData')
      if (!this.done.has(data)) this.data(data, secret)
    }
  }

  /** Puts in the place of an EncryptedData what it holds (XML Encryption §4.4). */
  data(data: Element, offered?: Buffer): void {
    if (this.done.size >= mostData) fail('InvalidSecurity', 'too much encrypted data')
    this.done.add(data)
    const method = plainMethod(required(data, EncryptionMethod))
    const cipher = cipherOf(method) ?? fail('UnsupportedAlgorithm', 'a cipher that is not taken')
    if (cipher.mode === 'cbc' && !this.allow.has('cbc') && !isWithin(data, this.signed)) {
      fail('UnsupportedAlgorithm', 'CBC without a signature over it')
    }
    const secret = this.secretOf(optional(data, KeyInfo), offered)
    const plain = decrypt(cipher, secret, sealedIn(data)) ?? fail('FailedCheck', 'decryption')
    const at = data.parent ?? fail('InvalidSecurity', 'an encrypted envelope')
    const nodes = graft(plain, at)
    this.place(data, at, nodes instanceof Malformed ? fail('FailedCheck', 'decryption') : nodes, data.attribute(Type))
  }

  private place(data: Element, parent: Element, nodes: readonly Node[], type: string | undefined): void {
    if (type === `${xenc}Content`) {
      if (parent.children.every(child => child === data || blank(child))) this.revealed.add(parent)
      replace(data, nodes)
    } else if (type === `${xenc}Element`) {
      const [element, another] = nodes.filter(node => !blank(node))
      this.element(data, parent, element?.kind === 'element' && !another ? element : fail('FailedCheck', 'decryption'))
    } else fail('UnsupportedAlgorithm', 'data of a type that is not taken')
    for (const node of nodes) if (node.kind === 'element') this.identifiers.add(node)
  }

  /** WSS §9.3: an EncryptedHeader is the wrapping of one block, which stands in its place. */
  private element(data: Element, parent: Element, element: Element): void {
    this.revealed.add(element)
    const wrapped = parent.name === EncryptedHeader && parent.parent !== undefined
    replace(wrapped ? parent : data, [element])
    if (!wrapped) return
    if (parent.elements().length !== 1) fail('InvalidSecurity', 'an EncryptedHeader with more in it')
    this.blocks.push(element)
  }

  /** The key that a KeyInfo of data names, or the one that came with the list. */
  private secretOf(keyInfo: Element | undefined, offered: Buffer | undefined): Buffer {
    const [child, another] = keyInfo?.elements() ?? []
    if (!child) return offered ?? fail('SecurityTokenUnavailable', 'data without a key')
    if (another) return fail('SecurityTokenUnavailable', 'data with two keys')
    if (child.name === EncryptedKey) return this.secretIn(child)
    if (child.name === KeyName) return this.shared(trimmed(child)).export()
    if (child.name !== SecurityTokenReference) return fail('SecurityTokenUnavailable', 'a key of another kind')
    const identifier = optional(child, KeyIdentifier)
    if (identifier?.attribute(ValueType) === keyIdentifierEncryptedKey) return this.digested(base64(identifier))
    const token = tokenOf(child, this.identifiers)
    return token.name === EncryptedKey ? this.secretIn(token) : fail('SecurityTokenUnavailable', 'no EncryptedKey')
  }

  /** WSS §7.3: a key of this message by the SHA-1 of its encrypted form. */
  private digested(digest: Buffer): Buffer {
    for (const [element, secret] of this.keys) {
      if (hash('sha1', sealedIn(element), 'buffer').equals(digest)) return secret
    }
    return fail('SecurityTokenUnavailable', 'a key that is not in this message')
  }

  private shared(name: string): KeyObject {
    return this.guard.secrets?.get(name) ?? fail('SecurityTokenUnavailable', 'a name of no secret')
  }

  private secretIn(element: Element): Buffer {
    const known = this.keys.get(element)
    if (known) return known
    if (this.keys.size >= mostKeys) return fail('InvalidSecurity', 'too many keys')
    const secret = this.unwrapped(element) ?? fail('FailedCheck', 'decryption')
    this.keys.set(element, secret)
    return secret
  }

  private unwrapped(element: Element): Buffer | undefined {
    const method = required(element, EncryptionMethod)
    const keyInfo = optional(element, KeyInfo)
    const size = wrapOf(attributeOf(method, Algorithm))
    if (size === undefined) {
      const transport = this.transport(method)
      return unseal(this.privateKey(keyInfo), sealedIn(element), transport)
    }
    const kek = this.shared(trimmed(sole(keyInfo ?? fail('SecurityTokenUnavailable', 'a key without a key'), KeyName)))
    return kek.symmetricKeySize === size ? unwrapKey(kek, sealedIn(element)) : undefined
  }

  /** XML Encryption §5.5. */
  private transport(method: Element): Transport {
    const uri = attributeOf(method, Algorithm)
    if (uri === `${xenc}rsa-1_5` && this.allow.has('rsa-1_5')) return 'rsa-1_5'
    const modern = uri === 'http://www.w3.org/2009/xmlenc11#rsa-oaep'
    if (!modern && uri !== `${xenc}rsa-oaep-mgf1p`)
      return fail('UnsupportedAlgorithm', 'a key transport that is not taken')
    const digest = optional(method, DigestMethod)
    const mgf = optional(method, MGF)
    if (mgf && !modern) return fail('UnsupportedAlgorithm', 'a mask that rsa-oaep-mgf1p does not have')
    const label = optional(method, OAEPparams)
    return {
      digest: digest ? digestOf(digest, harmless) : 'sha1',
      mask:
        (mgf ? maskOf(attributeOf(mgf, Algorithm)) : 'sha1') ??
        fail('UnsupportedAlgorithm', 'a mask that is not taken'),
      label: label ? base64(label) : Buffer.alloc(0),
    }
  }

  /** The key of this side that a KeyInfo names; the only one where it names none. */
  private privateKey(keyInfo: Element | undefined): KeyObject {
    const keys = this.guard.decrypts ?? []
    const unavailable = () => fail('SecurityTokenUnavailable', 'a key that is not here')
    if (!keyInfo) return keys.length === 1 ? keys[0]!.key : unavailable()
    const reference = keyReference(keyInfo, this.identifiers)
    if (reference.kind === 'certificate') {
      return keys.find(({ certificate }) => named(certificate, reference.reference))?.key ?? unavailable()
    }
    const der = reference.kind === 'certificates' ? reference.der : undefined
    const octets = der ?? (reference.kind === 'token' ? certificatesIn(reference.element).der : unavailable())
    return keys.find(({ certificate }) => certificate.der.equals(octets))?.key ?? unavailable()
  }
}

/** SHA-1 in OAEP needs no resistance against collisions (RFC 8017 §B.1). */
const harmless: Allowances = new Set(['sha1'])

const blank = (node: Node): boolean => node.kind === 'text' && node.value.trim() === ''

/** The algorithm of an EncryptionMethod without parameters. */
function plainMethod(method: Element): string {
  if (method.elements().length > 0) return fail('UnsupportedAlgorithm', 'a cipher with parameters')
  return attributeOf(method, Algorithm)
}

const sealedIn = (element: Element): Buffer => base64(sole(required(element, CipherData), CipherValue), 'FailedCheck')
