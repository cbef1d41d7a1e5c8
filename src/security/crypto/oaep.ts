/**
 * RSAES-OAEP (RFC 8017 §7.1) where the label and the mask may have different hashes, as in XML
 * Encryption §5.5.2. Where the hashes are the same, OpenSSL does all the work. A sender cannot
 * learn what is wrong with a padding.
 */

import {
  constants,
  createHash,
  hash,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { attempt, isCryptoError } from '../../base/attempt.ts'
import type { Hash } from './algorithm.ts'

export interface Oaep {
  readonly digest: Hash
  /** The hash of MGF1. */
  readonly mask: Hash
  readonly label: Buffer
}

export function unwrapOaep(key: KeyObject, sealed: Buffer, { digest, mask, label }: Oaep): Buffer | undefined {
  if (digest === mask) {
    const padding = constants.RSA_PKCS1_OAEP_PADDING
    return attempt(() => privateDecrypt({ key, padding, oaepHash: digest, oaepLabel: label }, sealed), isCryptoError)
  }
  return attempt(() => {
    const block = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, sealed)
    return removePadding(block, digest, mask, label)
  }, isCryptoError)
}

export function wrapOaep(key: KeyObject, secret: Buffer, { digest, mask, label }: Oaep): Buffer {
  if (digest === mask) {
    return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: digest, oaepLabel: label }, secret)
  }
  const size = (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8
  return publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, addPadding(secret, size, digest, mask, label))
}

/** §7.1.2 step 3: every octet is checked, and all failures look the same. */
function removePadding(block: Buffer, digest: Hash, mask: Hash, label: Buffer): Buffer | undefined {
  const expected = hash(digest, label, 'buffer')
  const size = expected.length
  const seed = xorOctets(block.subarray(1, 1 + size), generateMask(block.subarray(1 + size), size, mask))
  const data = xorOctets(block.subarray(1 + size), generateMask(seed, block.length - size - 1, mask))
  let wrong = block[0]! | (timingSafeEqual(data.subarray(0, size), expected) ? 0 : 1)
  let looking = 1
  let from = 0
  for (let at = size; at < data.length; at++) {
    const one = Number(data[at] === 1)
    const zero = Number(data[at] === 0)
    from += looking & one ? at + 1 : 0
    wrong |= looking & (1 - one) & (1 - zero)
    looking &= 1 - one
  }
  return (wrong | looking) === 0 ? data.subarray(from) : undefined
}

/** §7.1.1 step 2. */
function addPadding(secret: Buffer, size: number, digest: Hash, mask: Hash, label: Buffer): Buffer {
  const expected = hash(digest, label, 'buffer')
  const length = size - expected.length - 1
  const data = Buffer.alloc(length)
  if (secret.length > length - expected.length - 1) throw new RangeError('the secret is too long for this key')
  expected.copy(data)
  data[length - secret.length - 1] = 1
  secret.copy(data, length - secret.length)
  const seed = randomBytes(expected.length)
  const masked = xorOctets(data, generateMask(seed, length, mask))
  return Buffer.concat([Buffer.of(0), xorOctets(seed, generateMask(masked, seed.length, mask)), masked])
}

/** §B.2.1. */
function generateMask(seed: Buffer, length: number, algorithm: Hash): Buffer {
  const parts: Buffer[] = []
  const counter = Buffer.alloc(4)
  for (let made = 0, count = 0; made < length; count++) {
    counter.writeUInt32BE(count)
    const part = createHash(algorithm).update(seed).update(counter).digest()
    made += part.length
    parts.push(part)
  }
  return Buffer.concat(parts).subarray(0, length)
}

const xorOctets = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((octet, at) => octet ^ b[at]!))
