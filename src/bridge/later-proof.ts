/**
 * What is kept of a request whose answer comes later: the digest of the secret in the address of
 * the answer, and what the answer has to relate to and to prove. Once it came, the digest of its
 * message, by which a second copy is known.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import type { SentRequest } from '../client/opened-answer.ts'

export interface LaterProof {
  readonly secret: string
  readonly request: SentRequest | undefined
  /** Of the message that ended the call. */
  readonly taken: string | undefined
}

interface KeptProof {
  readonly secret: string
  readonly id?: string
  readonly sent?: readonly string[]
  readonly key?: { readonly octets: string; readonly digest: string }
  readonly taken?: string | undefined
}

export const digestLater = (of: string | Uint8Array): string => hash('sha256', of, 'hex')

export const matchesSecret = ({ secret }: Pick<LaterProof, 'secret'>, given: string): boolean =>
  timingSafeEqual(Buffer.from(secret), Buffer.from(digestLater(given)))

export function writeProof(secret: string, { id, sent, exchangeKey }: SentRequest): string {
  const kept: KeptProof = {
    secret: digestLater(secret),
    id,
    sent: sent.map(encodeBase64),
    ...(exchangeKey && {
      key: { octets: encodeBase64(exchangeKey.octets), digest: encodeBase64(exchangeKey.digest) },
    }),
  }
  return JSON.stringify(kept)
}

/** The key of the exchange is forgotten. */
export const writeTaken = ({ secret }: LaterProof, taken: string | undefined): string =>
  JSON.stringify({ secret, taken } satisfies KeptProof)

/** @param text of `writeProof` or `writeTaken` */
export function readProof(text: string): LaterProof {
  const { secret, id, sent = [], key, taken } = JSON.parse(text) as KeptProof
  const octets = (kept: string): Buffer => Buffer.from(requireBase64(kept))
  const exchangeKey = key && { octets: octets(key.octets), digest: octets(key.digest) }
  return {
    secret,
    request: id === undefined ? undefined : { id, sent: sent.map(octets), exchangeKey },
    taken,
  }
}
