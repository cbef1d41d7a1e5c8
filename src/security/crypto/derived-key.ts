/**
 * The key of an exchange, and keys derived from a secret: P_SHA1 (RFC 2246 §5), as
 * WS-SecureConversation 1.3 §7 uses it.
 */
import { createHmac, hash } from 'node:crypto'

/** What a key is derived by; a holder of the secret can repeat it. */
export interface KeyDerivation {
  readonly label: string
  readonly nonce: Uint8Array
  /** Octets of the sequence before the key. */
  readonly offset: number
  /** Of the key, in octets. */
  readonly length: number
}

/**
 * WS-SecureConversation 1.3 §7.1: the labels of client and service, where a token has no Label.
 */
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
 * The key of one exchange (WS-SecurityPolicy 1.3 §7.4): the client makes it for a request and sends
 * it encrypted to the certificate of the service; both messages are signed and encrypted with it.
 * It proves that a sender could decrypt it, and nothing of the party that has made it.
 */
export interface ExchangeKey {
  readonly octets: Buffer
  /** SHA-1 of its encrypted form, by which an answer refers to it (WSS 1.1 §7.3). */
  readonly digest: Buffer
}

/** Fewer sign nothing, and nothing is derived from them. */
export const exchangeKeyOctetsMin = 16

export const exchangeKeyOf = (octets: Buffer, sealed: Uint8Array): ExchangeKey => ({
  octets,
  digest: hash('sha1', sealed, 'buffer'),
})
