/**
 * The key of one exchange (WS-SecurityPolicy 1.3 §7.4): the client makes it for a request and sends
 * it encrypted to the certificate of the service; both messages are signed and encrypted with it.
 * It proves that a sender could decrypt it, and nothing of the party that has made it.
 */
import { hash } from 'node:crypto'

/** The octets of a key, and the name of its encrypted form. */
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
