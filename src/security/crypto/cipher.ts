/**
 * The supported ciphers of XML Encryption 1.1, over octets: AES in GCM and CBC, RSA key transport,
 * AES key wrap.
 */

import {
  constants,
  createCipheriv,
  createDecipheriv,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import { attempt, isCryptoError } from '../../base/attempt.ts'
import { xenc11Ns, xencNs } from '../vocabulary.ts'
import type { Hash } from './algorithm.ts'
import { type Oaep, unwrapOaep, wrapOaep } from './oaep.ts'

export interface Cipher {
  readonly mode: 'gcm' | 'cbc'
  /** The length of the key in octets. */
  readonly size: 16 | 24 | 32
}

const sizes = [16, 24, 32] as const
const cipherOfUri: ReadonlyMap<string, Cipher> = new Map(
  sizes.flatMap((size): [string, Cipher][] => [
    [`${xenc11Ns}aes${size * 8}-gcm`, { mode: 'gcm', size }],
    [`${xencNs}aes${size * 8}-cbc`, { mode: 'cbc', size }],
  ]),
)
export const readCipher = (uri: string): Cipher | undefined => cipherOfUri.get(uri)
export const cipherUri = ({ mode, size }: Cipher): string =>
  `${mode === 'gcm' ? xenc11Ns : xencNs}aes${size * 8}-${mode}`

const keySizeOfUri: ReadonlyMap<string, number> = new Map(sizes.map(size => [`${xencNs}kw-aes${size * 8}`, size]))
/** The key length in octets of the AES key wrap with this URI. */
export const readKeyWrap = (uri: string): number | undefined => keySizeOfUri.get(uri)
export const wrapUri = (size: number): string => `${xencNs}kw-aes${size * 8}`

const maskOfUri: ReadonlyMap<string, Hash> = new Map(
  (['sha1', 'sha256', 'sha384', 'sha512'] as const).map(hash => [`${xenc11Ns}mgf1${hash}`, hash]),
)
export const readMask = (uri: string): Hash | undefined => maskOfUri.get(uri)
export const maskUri = (hash: Hash): string => `${xenc11Ns}mgf1${hash}`

/** XML Encryption §5.2: the initialization vector first, the tag of GCM last. */
export function encryptOctets({ mode, size }: Cipher, key: Buffer, plain: Uint8Array): Buffer {
  if (mode === 'gcm') {
    const vector = randomBytes(12)
    const cipher = createCipheriv(gcmName(size), key, vector)
    return Buffer.concat([vector, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  }
  const vector = randomBytes(16)
  const cipher = createCipheriv(`aes-${size * 8}-cbc`, key, vector)
  return Buffer.concat([vector, cipher.update(plain), cipher.final()])
}

/** The plain octets; undefined for any failure. */
export function decryptOctets({ mode, size }: Cipher, key: Buffer, sealed: Buffer): Buffer | undefined {
  return attempt(() => (mode === 'gcm' ? openGcm(size, key, sealed) : openCbc(size, key, sealed)), isCryptoError)
}

/** The cast: eight times 16, 24 or 32. */
const gcmName = (size: Cipher['size']) => `aes-${(size * 8) as 128 | 192 | 256}-gcm` as const

function openGcm(size: Cipher['size'], key: Buffer, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(gcmName(size), key, sealed.subarray(0, 12), { authTagLength: 16 })
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()])
}

/**
 * XML Encryption §5.2.1: the last octet is the number of padding octets, whose values are
 * arbitrary.
 */
function openCbc(size: Cipher['size'], key: Buffer, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv(`aes-${size * 8}-cbc`, key, sealed.subarray(0, 16)).setAutoPadding(false)
  const padded = Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()])
  const added = padded.at(-1) ?? 0
  return added >= 1 && added <= 16 ? padded.subarray(0, -added) : undefined
}

/** RFC 3394 §2.2.3.1. */
const wrapInitialValue = Buffer.alloc(8, 0xa6)

export function wrapKey(kek: KeyObject, secret: Buffer): Buffer {
  const cipher = createCipheriv(`id-aes${(kek.symmetricKeySize ?? 0) * 8}-wrap`, kek, wrapInitialValue)
  return Buffer.concat([cipher.update(secret), cipher.final()])
}

export function unwrapKey(kek: KeyObject, sealed: Buffer): Buffer | undefined {
  return attempt(() => {
    const decipher = createDecipheriv(`id-aes${(kek.symmetricKeySize ?? 0) * 8}-wrap`, kek, wrapInitialValue)
    return Buffer.concat([decipher.update(sealed), decipher.final()])
  }, isCryptoError)
}

/** How a key is encrypted to the holder of an RSA key. */
export type KeyTransport = Oaep | 'rsa-1_5'

export function transportKey(key: KeyObject, secret: Buffer, transport: KeyTransport): Buffer {
  if (transport !== 'rsa-1_5') return wrapOaep(key, secret, transport)
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, secret)
}

/**
 * PKCS#1 v1.5 always yields a key: a random one where the padding is wrong (implicit rejection).
 */
export function receiveKey(key: KeyObject, sealed: Buffer, transport: KeyTransport): Buffer | undefined {
  if (transport !== 'rsa-1_5') return unwrapOaep(key, sealed, transport)
  return attempt(() => privateDecrypt({ key, padding: constants.RSA_PKCS1_PADDING }, sealed), isCryptoError)
}
