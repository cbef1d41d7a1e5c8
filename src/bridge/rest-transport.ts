/** One request to a REST service: a response with all of its content, or why none came. */
import { errorCodeOf } from '../base/attempt.ts'
import { takeBounded } from '../base/octets.ts'
import { longestDefault } from '../client/transport.ts'
import type { PortAnswer } from './port-caller.ts'

export interface RestAsk {
  readonly method: string
  readonly address: string
  readonly fields: Readonly<Record<string, string>>
  /** Of several parts: its media type is theirs. */
  readonly content: string | Uint8Array | FormData | undefined
}
export type RestAnswer =
  | {
      readonly kind: 'response'
      readonly status: number
      /** Without parameters, in lower case; empty: none. */
      readonly mediaType: string
      readonly fields: Headers
      readonly content: Uint8Array
    }
  | Extract<PortAnswer, { readonly kind: 'silence' }>

export interface RestBounds {
  /** Milliseconds, connecting and reading included. */
  readonly timeLimit: number
  /** Octets of an answer; default 16 MiB. */
  readonly longest?: number
}

export async function fetchAnswer(
  asked: RestAsk,
  { timeLimit, longest = longestDefault }: RestBounds,
  signal?: AbortSignal,
): Promise<RestAnswer> {
  const { method, address, fields, content } = asked
  try {
    const response = await fetch(address, {
      method,
      headers: fields,
      redirect: 'manual',
      signal: AbortSignal.any([AbortSignal.timeout(timeLimit), ...(signal ? [signal] : [])]),
      ...(content !== undefined && { body: content as Uint8Array<ArrayBuffer> | string | FormData }),
    })
    const octets = response.body ? await takeBounded(response.body, longest) : new Uint8Array(0)
    if (!octets) return { kind: 'silence', why: 'too-long', mayHaveRun: true }
    return {
      kind: 'response',
      status: response.status,
      mediaType: (response.headers.get('content-type') ?? '').replace(/;.*$/s, '').trim().toLowerCase(),
      fields: response.headers,
      content: octets,
    }
  } catch (thrown) {
    return explainSilence(thrown)
  }
}

/** Where no connection was opened, nothing was carried out. */
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
  if (thrown.name !== 'TypeError') throw thrown
  if (unopened.has(errorCodeOf(thrown.cause))) return { kind: 'silence', why: 'unreachable', mayHaveRun: false }
  return { kind: 'silence', why: 'lost', mayHaveRun: true }
}
