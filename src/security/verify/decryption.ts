/**
 * XML Encryption as WS-Security uses it (WSS §9), coming in. What always holds, by number:
 *  (1) The one parser reads what was decrypted, at its place in the tree and within its limits, and
 *      its identifiers join the others: it is part of the document in every respect.
 *  (2) Every failure of a ciphertext is one and the same, and that of a key (`message-secrets.ts`).
 *  (3) CBC does not prove the maker of a ciphertext: it is accepted only under a signature that was
 *      verified before, or by allowance.
 *  (4) At most `dataMax` pieces of data, each decrypted once.
 */

import { type Element, Malformed, type Node } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { decryptOctets, readCipher } from '../crypto/cipher.ts'
import { failSecurity } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import { optionalChild, requiredAttribute, requiredChild } from '../tree/strict-children.ts'
import { isInside, parseFragment, replaceElement } from '../tree/tree-edit.ts'
import {
  algorithmAttribute,
  DataReferenceName,
  EncryptedDataName,
  EncryptedHeaderName,
  EncryptionMethodName,
  KeyInfoName,
  ReferenceListName,
  typeAttribute,
  uriAttribute,
  xencNs,
} from '../vocabulary.ts'
import { type MessageSecret, type MessageSecrets, readSealed } from './message-secrets.ts'

const dataMax = 16

export class Decryptor {
  readonly #secrets: MessageSecrets
  readonly #allow: Allowances
  readonly #identifiers: Identifiers
  readonly #isSigned: (element: Element) => boolean
  readonly #done = new Set<Element>()
  /** Elements that came encrypted, or all of whose content did. */
  readonly revealed = new Set<Element>()
  /** Header blocks among them. */
  readonly blocks: Element[] = []

  /** @param isSigned whether a verified signature covers an element */
  constructor(
    secrets: MessageSecrets,
    allow: Allowances,
    identifiers: Identifiers,
    isSigned: (element: Element) => boolean,
  ) {
    this.#secrets = secrets
    this.#allow = allow
    this.#identifiers = identifiers
    this.#isSigned = isSigned
  }

  /** An EncryptedKey of the block: it decrypts the data that it lists (WSS §9.2). */
  decryptForKey(element: Element): void {
    const list = optionalChild(element, ReferenceListName)
    if (list) this.decryptListed(list, this.#secrets.receiveForData(element))
  }

  /** A ReferenceList (WSS §9.1). */
  decryptListed(list: Element, secret?: MessageSecret): void {
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
  decryptData(data: Element, offered?: MessageSecret): void {
    if (this.#done.size >= dataMax) failSecurity('InvalidSecurity', 'too much encrypted data')
    this.#done.add(data)
    const uri = readPlainMethod(requiredChild(data, EncryptionMethodName))
    const cipher = readCipher(uri) ?? failSecurity('UnsupportedAlgorithm', 'an unsupported cipher')
    if (cipher.mode === 'cbc' && !this.#allow.has('cbc') && !isInside(data, this.#isSigned)) {
      failSecurity('UnsupportedAlgorithm', 'CBC without a signature over it')
    }
    const { octets } =
      this.#secrets.findForData(optionalChild(data, KeyInfoName)) ??
      offered ??
      failSecurity('SecurityTokenUnavailable', 'data without a key')
    const plain = decryptOctets(cipher, octets, readSealed(data)) ?? failSecurity('FailedCheck', 'decryption')
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
}

const isBlankText = (node: Node): boolean => node.kind === 'text' && node.value.trim() === ''

/** The algorithm of an EncryptionMethod without parameters. */
function readPlainMethod(method: Element): string {
  if (method.elements().length > 0) return failSecurity('UnsupportedAlgorithm', 'a cipher with parameters')
  return requiredAttribute(method, algorithmAttribute)
}
