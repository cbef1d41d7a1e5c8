/**
 * The algorithms that a published policy names, so that partners' stacks use and expect them
 * (WS-SecurityPolicy 1.3 §6.1). Where a suite has SHA-256, its RsaSha1 means RSA with SHA-256, as
 * in .NET, and its HmacSha1 means HMAC with SHA-256; a stack that follows the letter has to be
 * configured.
 */
import type { AlgorithmSuite } from '../../contract/endpoint-rule.ts'
import type { Hash } from '../crypto/algorithm.ts'
import type { Cipher, KeyTransport } from '../crypto/cipher.ts'

/** The algorithms of a suite; lengths are in octets. */
export interface SuiteAlgorithms {
  readonly name: AlgorithmSuite
  /** Of digests, signatures and HMAC. */
  readonly hash: Extract<Hash, 'sha1' | 'sha256'>
  /** CBC is safe here because the signature covers the ciphertext (EncryptBeforeSigning). */
  readonly cipher: Cipher
  /** [Min SKL], which the cipher needs as well. */
  readonly keyOctets: number
  /** [Sig KD] and [Enc KD]. */
  readonly derivedOctets: { readonly sign: number; readonly encrypt: number }
}

const defineSuite = (name: AlgorithmSuite, hash: SuiteAlgorithms['hash'], size: Cipher['size']): SuiteAlgorithms => ({
  name,
  hash,
  cipher: { mode: 'cbc', size },
  keyOctets: size,
  derivedOctets: { sign: Math.min(size, 24), encrypt: size },
})

const suites: Readonly<Record<AlgorithmSuite, SuiteAlgorithms>> = {
  Basic256Sha256: defineSuite('Basic256Sha256', 'sha256', 32),
  Basic192Sha256: defineSuite('Basic192Sha256', 'sha256', 24),
  Basic128Sha256: defineSuite('Basic128Sha256', 'sha256', 16),
  Basic256: defineSuite('Basic256', 'sha1', 32),
  Basic192: defineSuite('Basic192', 'sha1', 24),
  Basic128: defineSuite('Basic128', 'sha1', 16),
}

export const algorithmsOf = (name: AlgorithmSuite = 'Basic256Sha256'): SuiteAlgorithms => suites[name]

/** The default. */
export const usualSuite: SuiteAlgorithms = algorithmsOf()
export const suiteCipher: Cipher = usualSuite.cipher
/** KwRsaOaep, of all of them. */
export const suiteTransport: KeyTransport = { digest: 'sha1', mask: 'sha1', label: Buffer.alloc(0) }
export const suiteDerivedOctets: SuiteAlgorithms['derivedOctets'] = usualSuite.derivedOctets
