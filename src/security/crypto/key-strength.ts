/** The kinds and sizes of public keys that are accepted anywhere (NIST SP 800-131A §3). */

import type { KeyObject } from 'node:crypto'
import { memoizeByObject } from '../../base/memo.ts'

export const modulusBitsMin = 2048
export const modulusBitsMax = 8192 // one operation takes less than a millisecond
export const curves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/** By their names in JWK, how XML Signature names them (§4.5.2.3.1). */
export const curveUris: ReadonlyMap<string, string> = new Map([
  ['P-256', 'urn:oid:1.2.840.10045.3.1.7'],
  ['P-384', 'urn:oid:1.3.132.0.34'],
  ['P-521', 'urn:oid:1.3.132.0.35'],
])

/** Node asks OpenSSL each time, for a microsecond. */
export const keyDetailsOf = memoizeByObject((key: KeyObject) => key.asymmetricKeyDetails ?? {})

/** Why a key is refused: its kind, or its size. */
export function findKeyWeakness(key: KeyObject): string | undefined {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = keyDetailsOf(key)
  switch (key.asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if (modulusLength < modulusBitsMin) return `an RSA key of ${modulusLength} bits, below ${modulusBitsMin}`
      if (modulusLength > modulusBitsMax) return `an RSA key of ${modulusLength} bits, above ${modulusBitsMax}`
      return publicExponent < 3n ? 'an RSA key whose exponent is below 3' : undefined
    case 'ec':
      return curves.has(namedCurve) ? undefined : `a key on the curve ${namedCurve}`
    case 'ed25519':
    case 'ed448':
      return undefined
    default:
      return `a key of the kind ${key.asymmetricKeyType ?? 'unknown'}`
  }
}
