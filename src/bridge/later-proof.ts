/**
 * What is kept of a request whose answer comes later: the digest of the secret in the address of
 * the answer, and what the answer has to relate to and to prove. Once it came, the digest of its
 * message, by which a second copy is known.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { fromKeptRequest, toKeptRequest } from '../client/kept-request.ts'
import type { SentRequest } from '../client/opened-answer.ts'

export interface LaterProof {
  readonly secret: string
  readonly request: SentRequest | undefined
  /** Of the message that ended the call. */
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

/** The key of the exchange is forgotten. */
export const writeTaken = ({ secret }: LaterProof, taken: string | undefined): string =>
  JSON.stringify({ secret, taken } satisfies KeptProof)

/** @param text of `writeProof` or `writeTaken` */
export function readProof(text: string): LaterProof {
  const { secret, taken, id, ...about } = JSON.parse(text) as KeptProof
  return { secret, request: id === undefined ? undefined : fromKeptRequest({ id, ...about }), taken }
}
