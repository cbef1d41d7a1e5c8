/**
 * Keys that the holders of two elliptic keys agree on (XML Encryption 1.1 §5.6.4, ECDH-ES), and the
 * keys derived from them (§5.4.1, ConcatKDF of NIST SP 800-56A).
 */

import { createHash, createSecretKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { attempt, isCryptoError } from '../../base/attempt.ts'
import type { Hash } from './algorithm.ts'
import { curves, keyDetailsOf } from './key-strength.ts'

/** The parameters of a derivation, which either party can repeat. */
export interface AgreedDerivation {
  readonly digest: Hash
  /** OtherInfo: the statements of both parties about the key, concatenated. */
  readonly info: Uint8Array
}

/** Octets of ConcatKDF (SP 800-56A §5.8.1): hashes of a counter, the agreed secret and the rest. */
export function deriveByConcat(secret: Uint8Array, { digest, info }: AgreedDerivation, length: number): Buffer {
  const parts: Buffer[] = []
  for (let made = 0; made < length; made += parts.at(-1)!.length) {
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(parts.length + 1)
    parts.push(createHash(digest).update(counter).update(secret).update(info).digest())
  }
  return Buffer.concat(parts).subarray(0, length)
}

/** Undefined unless both keys are on the same supported curve. */
export function agreeOnKey(
  own: KeyObject,
  other: KeyObject,
  derivation: AgreedDerivation,
  length: number,
): KeyObject | undefined {
  const [curve, another] = [own, other].map(supportedCurveOf)
  if (curve === undefined || curve !== another) return undefined
  const secret = attempt(() => diffieHellman({ privateKey: own, publicKey: other }), isCryptoError)
  return secret && createSecretKey(deriveByConcat(secret, derivation, length))
}

/** A pair that serves one agreement with the holder of a key. */
export function createOriginator(receiver: KeyObject): {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
} {
  const namedCurve = supportedCurveOf(receiver)
  if (namedCurve === undefined) throw new Error('a key agreement needs a key on P-256, P-384 or P-521')
  return generateKeyPairSync('ec', { namedCurve })
}

function supportedCurveOf(key: KeyObject): string | undefined {
  const { namedCurve = '' } = keyDetailsOf(key)
  return key.asymmetricKeyType === 'ec' && curves.has(namedCurve) ? namedCurve : undefined
}
