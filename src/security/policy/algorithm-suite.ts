/**
 * The algorithms that a published policy names, so that partners' stacks use and expect them
 * (WS-SecurityPolicy 1.3 §6.1): Basic256Sha256. Its RsaSha1 is read as RSA with SHA-256, as .NET
 * reads it, and its HmacSha1 as HMAC with SHA-256; a stack that follows the letter has to be told.
 */
import type { Cipher, KeyTransport } from '../crypto/cipher.ts'

export const suiteName = 'Basic256Sha256'
/** Metro reads it from an attribute, which WS-SecurityPolicy leaves open, by the name of Java. */
export const suiteSignature = 'SHA256withRSA'

/** CBC is safe here because the signature covers the ciphertext (EncryptBeforeSigning). */
export const suiteCipher: Cipher = { mode: 'cbc', size: 32 }
/** KwRsaOaep. */
export const suiteTransport: KeyTransport = { digest: 'sha1', mask: 'sha1', label: Buffer.alloc(0) }

/** Of the key of an exchange, in octets: [Min SKL], which the cipher needs as well. */
export const suiteKeyOctets = suiteCipher.size
/** [Sig KD] PSha1L192 and [Enc KD] PSha1L256, in octets. */
export const suiteDerivedOctets = { sign: 24, encrypt: 32 } as const
