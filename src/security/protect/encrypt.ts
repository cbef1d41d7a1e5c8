/**
 * Encrypts parts of a message on its way out to the holder of a certificate (WSS §9, XML Encryption
 * §3).
 */

import { randomBytes } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import { type Element, writeElement } from '../../xml/index.ts'
import { digestUri } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { type Cipher, cipherUri, encryptOctets, type KeyTransport, maskUri, transportKey } from '../crypto/cipher.ts'
import type { CoveredPart } from '../policy/policy.ts'
import { replaceElement, trustedFragment } from '../tree/tree-edit.ts'
import * as n from '../vocabulary.ts'
import { createId, type ProtectionDraft, writeCertificateReference, writeTokenReference } from './protection-draft.ts'

/** What is encrypted, and to which certificate (XML Encryption 1.1, WSS 1.1 §9). */
export interface Encryption {
  /** The certificate of the receiver. */
  readonly to: Certificate
  /**
   * Body: its content. Token: the UsernameToken or assertion. Header blocks: each in an
   * EncryptedHeader of its own.
   */
  readonly parts: readonly CoveredPart[]
  /** Default: AES-256-GCM. */
  readonly cipher?: Cipher
  /** Default: RSA-OAEP with SHA-256 and MGF1 with SHA-1, the pair that most receivers know. */
  readonly transport?: KeyTransport
}

const defaultCipher: Cipher = { mode: 'gcm', size: 32 }
const defaultTransport: KeyTransport = { digest: 'sha256', mask: 'sha1', label: Buffer.alloc(0) }

/** What one secret encrypts, and how the data refers to it. */
export interface EncryptingSecret {
  readonly cipher: Cipher
  readonly secret: Buffer
  /** A SecurityTokenReference. */
  readonly reference: string
}

/**
 * Encrypts the parts in their places.
 * @returns the EncryptedKey, which has to stand in the Security block where a receiver comes to it
 * in time (WSS §9)
 */
export function encryptParts(draft: ProtectionDraft, encryption: Encryption): readonly Element[] {
  const { to, parts, cipher = defaultCipher, transport = defaultTransport } = encryption
  const id = createId('EK')
  const secret = randomBytes(cipher.size)
  const list = encryptInPlace(draft, parts, { cipher, secret, reference: writeSentReference(id) })
  return trustedFragment(
    writeEncryptedKey(id, to, transport, transportKey(to.key, secret, transport), list),
    draft.security,
  )
}

/** Encrypts the parts in their places. @returns the ReferenceList that has to follow */
export const encryptInPlace = (draft: ProtectionDraft, parts: readonly CoveredPart[], use: EncryptingSecret): string =>
  writeReferenceList(parts.flatMap(part => draft.elementsOf(part).map(element => encryptElement(element, part, use))))

const writeReferenceList = (ids: readonly string[]): string =>
  `<xenc:ReferenceList xmlns:xenc="${n.xencNs}">${ids.map(id => `<xenc:DataReference URI="#${id}"/>`).join('')}</xenc:ReferenceList>`

/**
 * XML Encryption §3.5.1.
 * @param sealed the secret, encrypted to the certificate
 * @param list the ReferenceList of the data that it encrypts; empty where that stands elsewhere
 */
export const writeEncryptedKey = (
  id: string,
  to: Certificate,
  transport: KeyTransport,
  sealed: Buffer,
  list = '',
): string =>
  `<xenc:EncryptedKey xmlns:xenc="${n.xencNs}" xmlns:ds="${n.dsNs}" Id="${id}">${writeTransportMethod(transport)}` +
  `<ds:KeyInfo>${writeCertificateReference(to, 'thumbprint')}</ds:KeyInfo>${writeCipherData(sealed)}${list}</xenc:EncryptedKey>`

/** WSS §7.3: a reference to the EncryptedKey of this identifier. */
export const writeSentReference = (id: string): string =>
  writeTokenReference(`<wsse:Reference URI="#${id}"/>`, n.encryptedKeyTypeUri)

/** @returns the identifier of the EncryptedData */
function encryptElement(element: Element, part: CoveredPart, use: EncryptingSecret): string {
  const id = createId('ED')
  if (part === 'Body') {
    const content = element.children.map(child => writeElement(child)).join('')
    element.splice(0, Infinity, trustedFragment(writeEncryptedData(id, 'Content', content, use), element))
    return id
  }
  const data = writeEncryptedData(id, 'Element', writeElement(element), use)
  const isBlock = typeof part !== 'string'
  const text = isBlock ? `<wsse11:EncryptedHeader xmlns:wsse11="${n.wsse11Ns}">${data}</wsse11:EncryptedHeader>` : data
  replaceElement(element, trustedFragment(text, element.parent!))
  return id
}

function writeEncryptedData(id: string, type: 'Content' | 'Element', plain: string, use: EncryptingSecret): string {
  const { cipher, secret, reference } = use
  return (
    `<xenc:EncryptedData xmlns:xenc="${n.xencNs}" Id="${id}" Type="${n.xencNs}${type}"><xenc:EncryptionMethod Algorithm="${cipherUri(cipher)}"/>` +
    `<ds:KeyInfo xmlns:ds="${n.dsNs}" xmlns:wsse="${n.wsseNs}">${reference}</ds:KeyInfo>${writeCipherData(encryptOctets(cipher, secret, Buffer.from(plain)))}</xenc:EncryptedData>`
  )
}

const writeCipherData = (octets: Buffer): string =>
  `<xenc:CipherData><xenc:CipherValue>${encodeBase64(octets)}</xenc:CipherValue></xenc:CipherData>`

/** XML Encryption §5.5. */
function writeTransportMethod(transport: KeyTransport): string {
  if (transport === 'rsa-1_5') return `<xenc:EncryptionMethod Algorithm="${n.xencNs}rsa-1_5"/>`
  const { digest, mask, label } = transport
  const parameters =
    (label.length > 0 ? `<xenc:OAEPparams>${encodeBase64(label)}</xenc:OAEPparams>` : '') +
    `<ds:DigestMethod Algorithm="${digestUri(digest)}"/>`
  if (mask === 'sha1') {
    return `<xenc:EncryptionMethod Algorithm="${n.xencNs}rsa-oaep-mgf1p">${parameters}</xenc:EncryptionMethod>`
  }
  const mgf = `<xenc11:MGF xmlns:xenc11="${n.xenc11Ns}" Algorithm="${maskUri(mask)}"/>`
  return `<xenc:EncryptionMethod Algorithm="${n.xenc11Ns}rsa-oaep">${parameters}${mgf}</xenc:EncryptionMethod>`
}
