/** Requests to a REST service by `fetch`, on any platform: each response is held in memory. */
import { errorCodeOf } from '../base/attempt.ts'
import { takeBounded } from '../base/octets.ts'
import { longestDefault } from '../client/transport.ts'
import { type BackendRequest, FlowingContent, type RestAnswer, type RestTransport } from './rest-transport.ts'

export const fetchResponse: RestTransport = async (
  { method, address, fields, content },
  { timeLimit, longest = longestDefault },
  { signal },
) => {
  const limit = AbortSignal.timeout(timeLimit)
  try {
    const response = await fetch(address, {
      method,
      headers: fields,
      redirect: 'manual',
      signal: AbortSignal.any([limit, ...(signal ? [signal] : [])]),
      ...writeBody(content),
    })
    const octets = response.body ? await takeBounded(response.body, longest) : new Uint8Array(0)
    if (!octets) return { kind: 'silence', why: 'too-long', mayHaveRun: true }
    const { status, headers } = response
    return { kind: 'response', status, fields: Object.fromEntries(headers), content: octets }
  } catch (thrown) {
    return explainSilence(thrown)
  }
}

function writeBody(content: BackendRequest['content']): RequestInit {
  if (content === undefined) return {}
  if (!(content instanceof FlowingContent)) return { body: content as Uint8Array<ArrayBuffer> | string | FormData }
  return { body: ReadableStream.from(content.pieces), duplex: 'half' } as RequestInit // which every platform has
}

/** If no connection was opened, nothing was carried out. */
const unopened = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

function explainSilence(thrown: unknown): RestAnswer {
  if (!(thrown instanceof Error)) throw thrown
  if (thrown.name === 'TimeoutError') return { kind: 'silence', why: 'late', mayHaveRun: true }
  if (thrown.name !== 'TypeError' || thrown.cause === undefined) throw thrown
  if (unopened.has(errorCodeOf(thrown.cause))) return { kind: 'silence', why: 'unreachable', mayHaveRun: false }
  return { kind: 'silence', why: 'lost', mayHaveRun: true }
}
