/**
 * Encrypts parts of an outgoing message to the holder of a certificate (WSS §9, XML Encryption §3).
 */

import { type KeyObject, randomBytes } from 'node:crypto'
import { decodeBase64Url, encodeBase64 } from '../../base/base64.ts'
import type { NamingForm } from '../../contract/endpoint-rule.ts'
import type { SentPart } from '../../soap/security-port.ts'
import { type Element, writeAttribute, writeElement } from '../../xml/index.ts'
import { digestUri } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import {
  type Cipher,
  cipherUri,
  encryptOctets,
  type KeyTransport,
  maskUri,
  transportKey,
  wrapKey,
  wrapUri,
} from '../crypto/cipher.ts'
import { agreeOnKey, createOriginator } from '../crypto/key-agreement.ts'
import { curveUris } from '../crypto/key-strength.ts'
import type { CoveredPart } from '../policy/policy.ts'
import { writeCoveredFields } from '../tree/attachment-fields.ts'
import { replaceElement, trustedFragment } from '../tree/tree-edit.ts'
import * as n from '../vocabulary.ts'
import {
  createId,
  type ProtectionDraft,
  partFieldsOf,
  partUri,
  writeCertificateReference,
  writeTokenReference,
} from './protection-draft.ts'

/**
 * The encrypted parts, and the certificate that they are encrypted to (XML Encryption 1.1, WSS 1.1
 * §9).
 */
export interface Encryption {
  /** The certificate of the receiver. */
  readonly to: Certificate
  /**
   * Body: its content. Token: the UsernameToken or assertion. Header blocks: each in an
   * EncryptedHeader of its own. Attachments: each in its place in the package.
   */
  readonly parts: readonly CoveredPart[]
  /** How the message names the receiver's certificate. Default: `thumbprint`. */
  readonly refer?: NamingForm
  /** Default: AES-256-GCM. */
  readonly cipher?: Cipher
  /**
   * To an RSA key. Default: RSA-OAEP with SHA-256 and MGF1 with SHA-1, the pair that most receivers
   * know. For a key on an elliptic curve, an agreement (ECDH-ES) takes its place.
   */
  readonly transport?: KeyTransport
}

const defaultCipher: Cipher = { mode: 'gcm', size: 32 }
const defaultTransport: KeyTransport = { digest: 'sha256', mask: 'sha1', label: Buffer.alloc(0) }

/** The use of one secret, and how the encrypted data refers to it. */
export interface EncryptingSecret {
  readonly cipher: Cipher
  readonly secret: Buffer
  /** A SecurityTokenReference. */
  readonly reference: string
  /** The signature covers the ciphertexts. */
  readonly isSignedAfter: boolean
}

/**
 * Encrypts the parts in place.
 * @param isSignedAfter the signature covers the ciphertexts
 * @returns the EncryptedKey and the EncryptedData of attachments, which belong in the Security
 * block where a receiver reads them before it needs them (WSS §9)
 */
export function encryptParts(
  draft: ProtectionDraft,
  encryption: Encryption,
  isSignedAfter: boolean,
): readonly Element[] {
  const { to, parts, refer, cipher = defaultCipher, transport = defaultTransport } = encryption
  const id = createId('EK')
  const secret = randomBytes(cipher.size)
  const { list, data } = encryptInPlace(draft, parts, {
    cipher,
    secret,
    reference: writeSentReference(id),
    isSignedAfter,
  })
  const key = writeEncryptedKey(id, sealKey(to, secret, transport, refer), list)
  return trustedFragment([key, ...data].join(''), draft.security)
}

/** The elements by which a receiver finds the encrypted parts. */
interface EncryptedParts {
  /** The ReferenceList. */
  readonly list: string
  /** The EncryptedData of each attachment. */
  readonly data: readonly string[]
}

/** Encrypts the parts in place. */
export function encryptInPlace(
  draft: ProtectionDraft,
  parts: readonly CoveredPart[],
  use: EncryptingSecret,
): EncryptedParts {
  const ids = parts.flatMap(part =>
    draft.elementsOf(part).map(element => encryptElement(element, part, use, draft.flag)),
  )
  const sealed = parts.includes('Attachments') ? draft.attached.map(part => encryptPart(part, use)) : []
  if (sealed.length > 0) draft.attached = sealed.map(({ part }) => part)
  return { list: writeReferenceList([...ids, ...sealed.map(({ id }) => id)]), data: sealed.map(({ data }) => data) }
}

/**
 * SwA Profile 1.1 §5.5.2. Where the ciphertext is signed, it contains the fields: so they are
 * signed, too, and they show a receiver that it has the right key.
 */
function encryptPart(part: SentPart, use: EncryptingSecret) {
  const id = createId('ED')
  const { mediaType, bytes } = part
  const isComplete = use.isSignedAfter
  const plain = isComplete ? Buffer.concat([writeCoveredFields(partFieldsOf(part)), bytes]) : bytes
  const transforms = `<xenc:Transforms><ds:Transform xmlns:ds="${n.dsNs}" Algorithm="${n.attachmentCiphertextUri}"/></xenc:Transforms>`
  const cipherReference = `<xenc:CipherReference URI=${writeAttribute(partUri(part.id))}>${transforms}</xenc:CipherReference>`
  const type = isComplete ? n.encryptedCompleteUri : n.encryptedContentUri
  const attributes = `Type="${type}" MimeType=${writeAttribute(mediaType)}`
  return {
    id,
    part: { ...part, mediaType: 'application/octet-stream', bytes: encryptOctets(use.cipher, use.secret, plain) },
    data: writeEncryptedData(id, attributes, use, `<xenc:CipherData>${cipherReference}</xenc:CipherData>`),
  }
}

const writeReferenceList = (ids: readonly string[]): string =>
  `<xenc:ReferenceList xmlns:xenc="${n.xencNs}">${ids.map(id => `<xenc:DataReference URI="#${id}"/>`).join('')}</xenc:ReferenceList>`

/** A secret that the holder of a certificate can read. */
interface SealedSecret {
  readonly octets: Buffer
  /** The EncryptionMethod. */
  readonly method: string
  /** The content of the KeyInfo. */
  readonly keyInfo: string
}

/**
 * Uses the transport for an RSA key, and an agreement (XML Encryption 1.1 §5.6.4) for a key on an
 * elliptic curve.
 */
export function sealKey(
  to: Certificate,
  secret: Buffer,
  transport: KeyTransport,
  refer: NamingForm = 'thumbprint',
): SealedSecret {
  if (to.key.asymmetricKeyType === 'ec') return sealByAgreement(to, secret, refer)
  const octets = transportKey(to.key, secret, transport)
  return { octets, method: writeTransportMethod(transport), keyInfo: writeCertificateReference(to, refer) }
}

/** An AES key wrap of 256 bits by a key of ConcatKDF with SHA-256, as it names its algorithm. */
function sealByAgreement(to: Certificate, secret: Buffer, refer: NamingForm): SealedSecret {
  const { publicKey, privateKey } = createOriginator(to.key)
  const kek = agreeOnKey(privateKey, to.key, { digest: agreedDigest, info: Buffer.alloc(1) }, agreedWrapSize)
  if (!kek) throw new Error(`no key can be agreed on with ${to.x509.subject}`)
  const derivation =
    `<xenc11:KeyDerivationMethod xmlns:xenc11="${n.xenc11Ns}" Algorithm="${n.concatUri}">` +
    `<xenc11:ConcatKDFParams AlgorithmID="0000" PartyUInfo="" PartyVInfo=""><ds:DigestMethod Algorithm="${digestUri(agreedDigest)}"/></xenc11:ConcatKDFParams></xenc11:KeyDerivationMethod>`
  const parties =
    `<xenc:OriginatorKeyInfo><ds:KeyValue>${writeEcKey(publicKey)}</ds:KeyValue></xenc:OriginatorKeyInfo>` +
    `<xenc:RecipientKeyInfo>${writeCertificateReference(to, refer)}</xenc:RecipientKeyInfo>`
  return {
    octets: wrapKey(kek, secret),
    method: `<xenc:EncryptionMethod Algorithm="${wrapUri(agreedWrapSize)}"/>`,
    keyInfo: `<xenc:AgreementMethod Algorithm="${n.agreementUri}">${derivation}${parties}</xenc:AgreementMethod>`,
  }
}
const agreedDigest = 'sha256'
const agreedWrapSize = 32

/** XML Signature 1.1 §4.5.2.3.1: a point that is not compressed. */
function writeEcKey(key: KeyObject): string {
  const { crv = '', x = '', y = '' } = key.export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.of(4), ...[x, y].map(each => decodeBase64Url(each) ?? Buffer.alloc(0))])
  return `<dsig11:ECKeyValue xmlns:dsig11="${n.dsig11Ns}"><dsig11:NamedCurve URI="${curveUris.get(crv)}"/><dsig11:PublicKey>${encodeBase64(point)}</dsig11:PublicKey></dsig11:ECKeyValue>`
}

/**
 * XML Encryption §3.5.1.
 * @param list the ReferenceList of the data that it encrypts; empty where that stands elsewhere
 */
export const writeEncryptedKey = (id: string, { octets, method, keyInfo }: SealedSecret, list = ''): string =>
  `<xenc:EncryptedKey xmlns:xenc="${n.xencNs}" xmlns:ds="${n.dsNs}" Id="${id}">${method}` +
  `<ds:KeyInfo>${keyInfo}</ds:KeyInfo>${writeCipherData(octets)}${list}</xenc:EncryptedKey>`

/** WSS §7.3: a reference to the EncryptedKey with this identifier. */
export const writeSentReference = (id: string): string =>
  writeTokenReference(`<wsse:Reference URI="#${id}"/>`, n.encryptedKeyTypeUri)

/**
 * WSS §9.3: an EncryptedHeader is as mandatory as the Security block.
 * @returns the identifier of the EncryptedData
 */
function encryptElement(element: Element, part: CoveredPart, use: EncryptingSecret, flag: string): string {
  const id = createId('ED')
  if (part === 'Body') {
    const content = element.children.map(child => writeElement(child)).join('')
    element.splice(0, Infinity, trustedFragment(encryptText(id, 'Content', content, use), element))
    return id
  }
  const data = encryptText(id, 'Element', writeElement(element), use)
  const isBlock = typeof part !== 'string'
  const text = isBlock
    ? `<wsse11:EncryptedHeader xmlns:wsse11="${n.wsse11Ns}"${flag}>${data}</wsse11:EncryptedHeader>`
    : data
  replaceElement(element, trustedFragment(text, element.parent!))
  return id
}

function encryptText(id: string, type: 'Content' | 'Element', plain: string, use: EncryptingSecret): string {
  const sealed = encryptOctets(use.cipher, use.secret, Buffer.from(plain))
  return writeEncryptedData(id, `Type="${n.xencNs}${type}"`, use, writeCipherData(sealed))
}

/** XML Encryption §3.4. */
const writeEncryptedData = (id: string, attributes: string, use: EncryptingSecret, cipherData: string): string =>
  `<xenc:EncryptedData xmlns:xenc="${n.xencNs}" Id="${id}" ${attributes}><xenc:EncryptionMethod Algorithm="${cipherUri(use.cipher)}"/>` +
  `<ds:KeyInfo xmlns:ds="${n.dsNs}" xmlns:wsse="${n.wsseNs}">${use.reference}</ds:KeyInfo>${cipherData}</xenc:EncryptedData>`

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
