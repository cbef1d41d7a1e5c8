/**
 * The algorithms that a published policy names, so that partners' stacks use and expect them
 * (WS-SecurityPolicy 1.3 §6.1): Basic256Sha256. Its RsaSha1 means RSA with SHA-256, as in .NET, and
 * its HmacSha1 means HMAC with SHA-256; a stack that follows the letter has to be configured.
 */
import type { Cipher, KeyTransport } from '../crypto/cipher.ts'

export const suiteName = 'Basic256Sha256'
/** Metro reads it, by its Java name, from an attribute that WS-SecurityPolicy leaves open. */
export const suiteSignature = 'SHA256withRSA'

/** CBC is safe here because the signature covers the ciphertext (EncryptBeforeSigning). */
export const suiteCipher: Cipher = { mode: 'cbc', size: 32 }
/** KwRsaOaep. */
export const suiteTransport: KeyTransport = { digest: 'sha1', mask: 'sha1', label: Buffer.alloc(0) }

/** The length of an exchange key in octets: [Min SKL], which the cipher needs as well. */
export const suiteKeyOctets = suiteCipher.size
/** [Sig KD] PSha1L192 and [Enc KD] PSha1L256, in octets. */
export const suiteDerivedOctets = { sign: 24, encrypt: 32 } as const
