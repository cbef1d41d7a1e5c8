/**
 * The key of an exchange, and keys derived from a secret: P_SHA1 (RFC 2246 §5), as
 * WS-SecureConversation 1.3 §7 uses it.
 */
import { createHmac, hash } from 'node:crypto'

/** The parameters of a derivation; any holder of the secret can repeat it. */
export interface KeyDerivation {
  readonly label: string
  readonly nonce: Uint8Array
  /** How many octets of the sequence precede the key. */
  readonly offset: number
  /** The length of the key in octets. */
  readonly length: number
}

/** WS-SecureConversation 1.3 §7.1: the label of client and service where a token has no Label. */
export const defaultLabel = 'WS-SecureConversationWS-SecureConversation'

/** The octets at `offset` of P_SHA1(secret, label + nonce). */
export function deriveKey(secret: Uint8Array, { label, nonce, offset, length }: KeyDerivation): Buffer {
  const seed = Buffer.concat([Buffer.from(label), nonce])
  const digest = (octets: Uint8Array) => createHmac('sha1', secret).update(octets).digest()
  const parts: Buffer[] = []
  for (let made = 0, last: Buffer = digest(seed); made < offset + length; last = digest(last)) {
    const part = digest(Buffer.concat([last, seed]))
    parts.push(part)
    made += part.length
  }
  return Buffer.concat(parts).subarray(offset, offset + length)
}

/**
 * The key of one exchange (WS-SecurityPolicy 1.3 §7.4): the client creates it for a request and
 * sends it encrypted to the certificate of the service; it signs and encrypts both messages. It
 * proves that the sender of a reply could decrypt it, and nothing about the party that created it.
 */
export interface ExchangeKey {
  readonly octets: Buffer
  /** SHA-1 of its encrypted form, by which a reply refers to it (WSS 1.1 §7.3). */
  readonly digest: Buffer
}

/** A shorter key signs nothing, and no key is derived from it. */
export const exchangeKeyOctetsMin = 16

export const exchangeKeyOf = (octets: Buffer, sealed: Uint8Array): ExchangeKey => ({
  octets,
  digest: hash('sha1', sealed, 'buffer'),
})
