/**
 * Requests to OCSP responders (RFC 6960 §A.1). What it guards:
 *  (1) No redirect is followed; an answer is taken up to `octetsMax`, for as long as the signal
 *      allows.
 *  (2) Questions wait in turns, by the issuer of the certificate: the certificates of one partner
 *      shut those of no other out.
 */
import { takeBounded } from '../base/octets.ts'
import type { OcspPost } from '../security/crypto/ocsp-statuses.ts'
import { Unavailable } from '../service/store.ts'
import { WaitingLines } from '../service/waiting-lines.ts'

/** Octets of a response, certificates included: honest ones have some 2,000. */
const octetsMax = 64 * 1024
const lineBounds = { running: 8, waiting: 200, waitingOfCaller: 50 }
const waitMs = 5000

/** Posts questions to responders, in turns. */
export function createOcspClient(): (post: OcspPost) => Promise<Buffer> {
  const lines = new WaitingLines(lineBounds, 'as many questions to OCSP responders wait as may')
  return async post => {
    try {
      return await lines.take(post.party, () => requestStatus(post), waitMs)
    } catch (thrown) {
      if (thrown instanceof Unavailable) throw new Error(String(thrown.cause), { cause: thrown })
      const { cause, message } = thrown as Error // of `fetch`, or of `requestStatus`
      throw cause instanceof Error ? new Error(cause.message, { cause }) : new Error(message, { cause: thrown })
    }
  }
}

/** (1) */
async function requestStatus({ address, request, signal }: OcspPost): Promise<Buffer> {
  const answer = await fetch(address, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/ocsp-request', accept: 'application/ocsp-response' },
    body: new Uint8Array(request),
    signal,
  })
  if (answer.status !== 200 || !answer.body) throw new Error(`the status is ${answer.status}`)
  const octets = await takeBounded(answer.body, octetsMax)
  if (!octets) throw new Error(`it is longer than ${octetsMax} octets`)
  return Buffer.from(octets)
}
