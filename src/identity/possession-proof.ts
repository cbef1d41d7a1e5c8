/**
 * Proofs that the sender of a request holds the key of its token (RFC 9449 §4.3). What it guards:
 *  (1) A proof is for one request: its method, its address and its token.
 *  (2) It is signed by the key of the token, by an asymmetric algorithm; no private key counts. The
 *      key is compared before it is used, so that no client chooses one whose use is expensive.
 *  (3) It was made a short while ago, and counts once, for all instances (§11.1).
 */
import { hash } from 'node:crypto'
import type { PossessionProof } from '../service/identity-port.ts'
import { tokenAlgorithms } from './bearer-token.ts'

/** (3) As for the time in a UsernameToken. */
const ageSecondsMax = 300
/** How many seconds the clocks of sender and instances may differ. */
const aheadSecondsMax = 60

/** The token of the request, and the thumbprint of its key (RFC 7638, SHA-256). */
export interface ProvenToken {
  readonly token: string
  readonly key: string
}

export interface VerifiedProof {
  /** (3) Names the proof among all of its key. */
  readonly id: string
  /** Milliseconds since 1970: later, it is too old, even if a clock is a minute behind. */
  readonly until: number
}

/** Undefined for an invalid proof. Whether it was used before is still to be asked. */
export async function verifyProof(
  { jwt, method, isAddress }: PossessionProof,
  { token, key }: ProvenToken,
  now: number,
): Promise<VerifiedProof | undefined> {
  const { EmbeddedJWK, calculateJwkThumbprint, decodeProtectedHeader, errors, jwtVerify } = await import('jose')
  try {
    if ((await calculateJwkThumbprint(decodeProtectedHeader(jwt).jwk ?? {}, 'sha256')) !== key) return undefined
    const { payload } = await jwtVerify(jwt, EmbeddedJWK, {
      algorithms: [...tokenAlgorithms],
      typ: 'dpop+jwt',
      requiredClaims: ['jti', 'iat'],
      currentDate: new Date(now),
      clockTolerance: 5,
    })
    const { jti, htm, htu, ath, iat = 0 } = payload
    const age = now / 1000 - iat
    if (age > ageSecondsMax || age < -aheadSecondsMax || typeof jti !== 'string' || jti === '') return undefined
    if (htm !== method || typeof htu !== 'string' || !isAddress(htu)) return undefined
    if (ath !== hash('sha256', token, 'base64url')) return undefined
    return { id: hash('sha256', jti, 'base64url'), until: (iat + ageSecondsMax + aheadSecondsMax) * 1000 }
  } catch (thrown) {
    if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) return undefined // malformed or invalid
    throw thrown
  }
}
