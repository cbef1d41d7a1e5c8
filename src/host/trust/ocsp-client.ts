/**
 * Requests to OCSP responders (RFC 6960 §A.1). What it guards:
 *  (1) No redirect is followed; a response has at most `octetsMax`, and arrives for as long as the
 *      signal allows.
 *  (2) Requests take turns by the issuer of the certificate: one partner's certificates do not
 *      crowd out another's.
 *  (3) A request that a cache may answer is a GET; a responder that refuses it is asked by POST.
 */
import { takeBounded } from '../../base/octets.ts'
import type { OcspRequest } from '../../security/crypto/ocsp-statuses.ts'
import { Unavailable } from '../../service/store.ts'
import { WaitingLines } from '../../service/waiting-lines.ts'

/** Octets of a response, certificates included: honest ones have some 2,000. */
const octetsMax = 64 * 1024
/** Of an address that includes the request (RFC 5019 §5). */
const addressOctetsMax = 255
const lineBounds = { running: 8, waiting: 200, waitingOfCaller: 50 }
const waitMs = 5000

/** Sends requests to responders, in turns. */
export function createOcspClient(): (request: OcspRequest) => Promise<Buffer> {
  const lines = new WaitingLines(lineBounds, 'too many requests to OCSP responders are waiting')
  return async request => {
    try {
      return await lines.take(request.party, () => requestStatus(request), waitMs)
    } catch (thrown) {
      if (thrown instanceof Unavailable) throw new Error(String(thrown.cause), { cause: thrown })
      const { cause, message } = thrown as Error // from `fetch` or `requestStatus`
      throw cause instanceof Error ? new Error(cause.message, { cause }) : new Error(message, { cause: thrown })
    }
  }
}

/** (3) */
async function requestStatus({ address, request, isCacheable, signal }: OcspRequest): Promise<Buffer> {
  const options = { redirect: 'manual', signal } as const
  const accept = 'application/ocsp-response'
  const short = isCacheable ? shortAddress(address, request) : undefined
  if (short !== undefined) {
    const answer = await fetch(short, { ...options, headers: { accept } })
    if (answer.status === 200) return readOcspAnswer(answer)
    await answer.body?.cancel()
  }
  const headers = { 'content-type': 'application/ocsp-request', accept }
  return readOcspAnswer(await fetch(address, { ...options, method: 'POST', headers, body: new Uint8Array(request) }))
}

/** RFC 5019 §5, RFC 6960 §A.1: the address with the request in it, if that is short enough. */
function shortAddress(address: string, request: Buffer): string | undefined {
  const url = new URL(address)
  if (url.search !== '') return undefined
  url.pathname += `${url.pathname.endsWith('/') ? '' : '/'}${encodeURIComponent(request.toString('base64'))}`
  return url.href.length <= addressOctetsMax ? url.href : undefined
}

/** (1) */
async function readOcspAnswer(answer: Response): Promise<Buffer> {
  if (answer.status !== 200 || !answer.body) throw new Error(`the status is ${answer.status}`)
  const octets = await takeBounded(answer.body, octetsMax)
  if (!octets) throw new Error(`it is longer than ${octetsMax} octets`)
  return Buffer.from(octets)
}
