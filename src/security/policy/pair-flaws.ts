/**
 * Flaws of the service's own key pair: reported at start, and before an operation is performed
 * whose reply the pair would have to sign.
 */
import { findKeyWeakness } from '../crypto/key-strength.ts'
import type { Decryption } from './verification-context.ts'

/** The kinds of keys for which this code has algorithms of XML Signature and XML Encryption. */
const messageKeyKinds: ReadonlySet<string | undefined> = new Set(['rsa', 'ec'])

/** Why a key cannot be used; undefined for a sound one. */
export function findKeyFlaw(key: Decryption['key']): string | undefined {
  const weakness = findKeyWeakness(key)
  if (weakness !== undefined) return weakness
  const { asymmetricKeyType: kind } = key
  return messageKeyKinds.has(kind) ? undefined : `a key of the kind ${kind}, for which messages have no algorithm`
}

/** RSA transports the keys of content (XML Encryption §5.5); on a curve one is agreed on (§5.6). */
export const canDecrypt = ({ key }: Decryption): boolean => messageKeyKinds.has(key.asymmetricKeyType)
/** As the published AlgorithmSuite has it (WS-SecurityPolicy 1.3 §6.1). */
export const canDecryptBySuite = ({ key }: Decryption): boolean => key.asymmetricKeyType === 'rsa'

/**
 * Why a pair cannot sign replies; undefined if it can.
 * @param now milliseconds since 1970; if undefined, validity is not checked
 */
export function findSigningFlaw({ key, certificate }: Decryption, now?: number): string | undefined {
  if (key.asymmetricKeyType !== 'rsa')
    return `a key of the kind ${key.asymmetricKeyType}, while the published AlgorithmSuite signs by RSA (WS-SecurityPolicy 1.3 §6.1)`
  if (!certificate.maySign) return 'a certificate whose keyUsage has no digitalSignature'
  if (now === undefined) return undefined
  const { notBefore, notAfter } = certificate
  if (now < notBefore) return `a certificate that is valid from ${writeInstant(notBefore)} on`
  return now > notAfter ? `a certificate that ended at ${writeInstant(notAfter)}` : undefined
}

const writeInstant = (milliseconds: number): string => new Date(milliseconds).toISOString()
