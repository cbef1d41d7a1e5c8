/**
 * XML Encryption of incoming messages, as WS-Security uses it (WSS §9). What always holds, by
 * number:
 *  (1) The one parser reads decrypted text, at its place in the tree and within its limits, and its
 *      identifiers join the others: it is part of the document in every respect.
 *  (2) All failures of a ciphertext look the same, and so do those of a key (`message-secrets.ts`).
 *  (3) CBC does not prove the author of a ciphertext: it is accepted only under a signature that
 *      was verified before, or by allowance.
 *  (4) At most `dataMax` pieces of data and one for each attachment are decrypted, each once.
 *  (5) Under a signature over its ciphertext, CBC is accepted only where the plaintext must be
 *      elements, or an attachment with its fields: nothing in the message signs the key, and
 *      another key turns the octets into other octets. Those may be a text, whose first octets an
 *      attacker chooses by trying keys; but they do not become elements or fields.
 */

import type { PackedPart } from '../../soap/security-port.ts'
import { type Element, Malformed, type Node } from '../../xml/index.ts'
import type { Allowances } from '../crypto/algorithm.ts'
import { type Cipher, decryptOctets, readCipher } from '../crypto/cipher.ts'
import { failSecurity, refuseAlgorithm } from '../security-fault.ts'
import { readCoveredFields } from '../tree/attachment-fields.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import {
  onlyChildNamed,
  optionalChild,
  requiredAttribute,
  requiredChild,
  trimmedText,
} from '../tree/strict-children.ts'
import { isInside, parseFragment, replaceElement } from '../tree/tree-edit.ts'
import {
  algorithmAttribute,
  attachmentCiphertextUri,
  CipherDataName,
  CipherReferenceName,
  CipherTransformsName,
  DataReferenceName,
  EncryptedDataName,
  EncryptedHeaderName,
  EncryptionMethodName,
  encryptedCompleteUri,
  encryptedContentUri,
  KeyInfoName,
  KeySizeName,
  mimeTypeAttribute,
  ReferenceListName,
  SignatureName,
  TransformName,
  typeAttribute,
  uriAttribute,
  xencNs,
} from '../vocabulary.ts'
import type { IncomingParts } from './incoming-parts.ts'
import { type MessageSecret, type MessageSecrets, readSealed } from './message-secrets.ts'

const dataMax = 16
const contentType = `${xencNs}Content`
const elementType = `${xencNs}Element`
/** Less fits in one block, and finding a key that decrypts it to `<a/>` takes 2^40 attempts. */
const markupOctetsMin = 16

/** Facts about the message outside its secrets. */
interface DecryptionFacts {
  readonly allow: Allowances
  readonly identifiers: Identifiers
  readonly parts: IncomingParts
  /** The Security block. */
  readonly block: Element
  /** Whether a verified signature covers an element, or the attachment with this Content-ID. */
  readonly isSigned: (target: Element | string) => boolean
}

export class Decryptor {
  readonly #secrets: MessageSecrets
  readonly #facts: DecryptionFacts
  readonly #done = new Set<Element>()
  /** Elements that arrived encrypted, themselves or with all their content. */
  readonly revealed = new Set<Element>()
  /** Header blocks among these elements, each with the data that it was. */
  readonly sealed = new Map<Element, Element>()

  constructor(secrets: MessageSecrets, facts: DecryptionFacts) {
    this.#secrets = secrets
    this.#facts = facts
  }

  /** An EncryptedKey of the block: it decrypts the data that it lists (WSS §9.2). */
  decryptForKey(element: Element): void {
    const list = optionalChild(element, ReferenceListName)
    if (list) this.decryptListed(list, this.#secrets.receiveForData(element))
  }

  /** A ReferenceList (WSS §9.1). */
  decryptListed(list: Element, secret?: MessageSecret): void {
    for (const reference of list.elements()) {
      if (reference.name !== DataReferenceName)
        failSecurity('InvalidSecurity', 'a ReferenceList with something other than a DataReference')
      const found = this.#facts.identifiers.findReferred(requiredAttribute(reference, uriAttribute))
      // BSP 1.1 R3006, R5608: of a header block, also its EncryptedHeader.
      const named = found?.name === EncryptedHeaderName ? onlyChildNamed(found, EncryptedDataName) : found
      const data =
        named?.name === EncryptedDataName
          ? named
          : failSecurity('InvalidSecurity', 'a reference to something other than EncryptedData')
      if (!this.#done.has(data)) this.#decryptData(data, secret)
    }
  }

  /** An EncryptedData of the block itself. That of an attachment stays after it is opened. */
  decryptChild(data: Element): void {
    if (!this.#done.has(data)) this.#decryptData(data)
  }

  /** @param offered the secret of the list that names it */
  #decryptData(data: Element, offered?: MessageSecret): void {
    const { parts } = this.#facts
    if (this.#done.size >= dataMax + parts.count) failSecurity('InvalidSecurity', 'too much encrypted data')
    this.#done.add(data)
    const cipher = readCipherMethod(requiredChild(data, EncryptionMethodName))
    const findSecret = () =>
      this.#secrets.findForData(optionalChild(data, KeyInfoName)) ??
      offered ??
      failSecurity('SecurityTokenUnavailable', 'data without a key')
    const open = (sealed: Buffer) =>
      decryptOctets(cipher, findSecret().octets, sealed) ?? failSecurity('FailedCheck', 'decryption')
    const reference = optionalChild(requiredChild(data, CipherDataName), CipherReferenceName)
    if (reference) this.#openAttachment(data, reference, cipher, open)
    else this.#openElement(data, cipher, open)
  }

  /** SwA Profile 1.1 §5.5: the octets of an attachment, whose EncryptedData is in the block. */
  #openAttachment(data: Element, reference: Element, cipher: Cipher, open: (sealed: Buffer) => Buffer): void {
    const { parts, block, allow, isSigned } = this.#facts
    const type = data.attribute(typeAttribute)
    const isContent = type === encryptedContentUri
    if (data.parent !== block || !(isContent || type === encryptedCompleteUri))
      failSecurity('InvalidSecurity', 'a CipherReference that is not of an attachment')
    const [id, { bytes, fields }] = parts.require(readCipherReference(data, reference))
    if (parts.isOpened(id)) failSecurity('InvalidSecurity', 'an attachment that is encrypted twice')
    if (cipher.mode === 'cbc' && !allow.has('cbc')) {
      if (!isSigned(id)) failSecurity('UnsupportedAlgorithm', 'CBC without a signature over it')
      if (isContent) failSecurity('UnsupportedAlgorithm', 'CBC of an attachment without its fields') // (5)
    }
    const plain = open(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))
    if (isContent) parts.open(id, openContent(data, plain, fields), isSigned(id))
    else parts.open(id, readComplete(plain), false)
  }

  /** Replaces an EncryptedData by its content (XML Encryption §4.4). */
  #openElement(data: Element, cipher: Cipher, open: (sealed: Buffer) => Buffer): void {
    const { allow, isSigned, parts } = this.#facts
    if (cipher.mode === 'cbc' && !allow.has('cbc') && !isInside(data, isSigned)) {
      failSecurity('UnsupportedAlgorithm', 'CBC without a signature over it')
    }
    const type = data.attribute(typeAttribute)
    if (type !== contentType && type !== elementType)
      refuseAlgorithm('encrypted data of an unsupported type', type ?? 'none')
    const plain = open(readSealed(data, parts))
    const parent = data.parent ?? failSecurity('InvalidSecurity', 'an encrypted envelope')
    if (isInside(parent, ({ name }) => name === SignatureName))
      failSecurity('InvalidSecurity', 'encrypted data inside a Signature') // BSP 1.1 R5440
    const parsed = parseFragment(plain, parent)
    const nodes = parsed instanceof Malformed ? failSecurity('FailedCheck', 'decryption') : parsed
    if (cipher.mode === 'cbc' && !allow.has('cbc') && !isMarkup(plain, nodes, parent))
      failSecurity('FailedCheck', 'CBC of a text, or of too few octets, whose key no signature covers: use GCM') // (5)
    this.#place(data, parent, nodes, type)
  }

  #place(data: Element, parent: Element, nodes: readonly Node[], type: string): void {
    if (type === contentType) {
      if (parent.children.every(child => child === data || isBlankText(child))) this.revealed.add(parent)
      replaceElement(data, nodes)
    } else {
      const [element, another] = nodes.filter(node => !isBlankText(node))
      this.#placeElement(
        data,
        parent,
        element?.kind === 'element' && !another ? element : failSecurity('FailedCheck', 'decryption'),
      )
    }
    for (const node of nodes) if (node.kind === 'element') this.#facts.identifiers.add(node)
  }

  /** WSS §9.3: the block inside an EncryptedHeader replaces it; nothing else holds a block. */
  #placeElement(data: Element, parent: Element, element: Element): void {
    if (parent.name.local === 'Header' && parent.parent?.parent === undefined)
      failSecurity('InvalidSecurity', 'EncryptedData as a header block: use an EncryptedHeader (BSP 1.1 R3228)')
    this.revealed.add(element)
    const isBlock = parent.name === EncryptedHeaderName && parent.parent !== undefined
    replaceElement(isBlock ? parent : data, [element])
    if (!isBlock) return
    if (parent.elements().length !== 1) failSecurity('InvalidSecurity', 'an EncryptedHeader with unexpected content')
    this.sealed.set(element, data)
  }
}

/** The `cid:` URI of an attachment, unchanged (SwA Profile 1.1 §5.3.3). */
function readCipherReference(data: Element, reference: Element): string {
  const cipherData = onlyChildNamed(requiredChild(data, CipherDataName), CipherReferenceName)
  const transform = onlyChildNamed(onlyChildNamed(cipherData, CipherTransformsName), TransformName)
  const kind = requiredAttribute(transform, algorithmAttribute)
  if (kind !== attachmentCiphertextUri) refuseAlgorithm('an unsupported transform of a cipher text', kind)
  return requiredAttribute(reference, uriAttribute)
}

/** §5.5.2: the content of an attachment, whose media type the EncryptedData states. */
function openContent(data: Element, bytes: Buffer, fields: PackedPart['fields']): PackedPart {
  const type = data.attribute(mimeTypeAttribute) ?? ''
  return { type, bytes, fields: { ...fields, 'content-type': type } }
}

/** §5.5.2: an attachment with its fields. */
function readComplete(plain: Buffer): PackedPart {
  const { fields, end } = readCoveredFields(plain) ?? failSecurity('FailedCheck', 'decryption')
  return { type: fields['content-type'] ?? '', bytes: plain.subarray(end), fields }
}

/** (5): elements without text between them, or the empty Body of a message. */
const isMarkup = (plain: Buffer, nodes: readonly Node[], parent: Element): boolean =>
  plain.length === 0
    ? parent.name.local === 'Body' && parent.parent?.parent === undefined
    : plain.length >= markupOctetsMin &&
      nodes.some(({ kind }) => kind === 'element') &&
      nodes.every(node => node.kind !== 'text' || isBlankText(node))

const isBlankText = (node: Node): boolean => node.kind === 'text' && node.value.trim() === ''

/** XML Encryption §3.2: a KeySize must match the cipher; any other child is an error. */
function readCipherMethod(method: Element): Cipher {
  const uri = requiredAttribute(method, algorithmAttribute)
  const cipher = readCipher(uri) ?? refuseAlgorithm('an unsupported cipher', uri)
  const [size, another] = method.elements()
  if (another || (size && size.name !== KeySizeName))
    return failSecurity('UnsupportedAlgorithm', 'a cipher with parameters')
  if (size && trimmedText(size) !== String(cipher.size * 8))
    return failSecurity('InvalidSecurity', 'a KeySize that its cipher does not have')
  return cipher
}
