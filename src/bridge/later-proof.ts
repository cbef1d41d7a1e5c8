/**
 * What is stored about a request whose response comes later: the digest of the secret in the
 * response's address, and what the response has to relate to and to prove. Once it has arrived,
 * also the digest of its message, which identifies a second copy.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { fromKeptRequest, toKeptRequest } from '../client/kept-request.ts'
import type { SentRequest } from '../client/opened-answer.ts'

export interface LaterProof {
  readonly secret: string
  readonly request: SentRequest | undefined
  /** The digest of the message that ended the call. */
  readonly taken: string | undefined
}

interface KeptProof extends Partial<ReturnType<typeof toKeptRequest>> {
  readonly secret: string
  readonly taken?: string | undefined
}

export const digestLater = (of: string | Uint8Array): string => hash('sha256', of, 'hex')

export const matchesSecret = ({ secret }: Pick<LaterProof, 'secret'>, given: string): boolean =>
  timingSafeEqual(Buffer.from(secret), Buffer.from(digestLater(given)))

export const writeProof = (secret: string, request: SentRequest): string =>
  JSON.stringify({ secret: digestLater(secret), ...toKeptRequest(request) } satisfies KeptProof)

/** Forgets the key of the exchange. */
export const writeTakenProof = ({ secret }: LaterProof, taken: string | undefined): string =>
  JSON.stringify({ secret, taken } satisfies KeptProof)

/** @param text the result of `writeProof` or `writeTakenProof` */
export function readProof(text: string): LaterProof {
  const { secret, taken, id, ...about } = JSON.parse(text) as KeptProof
  return { secret, request: id === undefined ? undefined : fromKeptRequest({ id, ...about }), taken }
}
