/** One request to a REST service: a response with all of its content, or why none came. */
import { errorCodeOf } from '../base/attempt.ts'
import { type Pieces, takeBounded } from '../base/octets.ts'
import { PassingOctets } from '../base/passing-octets.ts'
import { ArrivingContent } from '../client/arriving-content.ts'
import { TransportFailure } from '../client/errors.ts'
import { longestDefault } from '../client/transport.ts'
import type { PortAnswer } from './port-caller.ts'
import { type ArrivedHead, FlowingContent, FlowingRequest, type ServiceTime } from './rest-flow.ts'

export interface RestAsk {
  readonly method: string
  readonly address: string
  readonly fields: Readonly<Record<string, string>>
  /** Of several parts: its media type is theirs. */
  readonly content: string | Uint8Array | FormData | FlowingContent | undefined
}
export type RestAnswer =
  | {
      readonly kind: 'response'
      readonly status: number
      /** Without parameters, in lower case; empty: none. */
      readonly mediaType: string
      readonly fields: Headers
      readonly content: Uint8Array
      /** The content, in place of `content`, where it passes. */
      readonly passing?: PassingBody
    }
  | Extract<PortAnswer, { readonly kind: 'silence' }>

export interface RestBounds {
  /** Milliseconds, connecting and reading included. */
  readonly timeLimit: number
  /** Octets of an answer; default 16 MiB. */
  readonly longest?: number
  /** Octets of one that passes. */
  readonly longestPassing?: number
}

export interface RestFetch {
  readonly signal?: AbortSignal | undefined
  /** By its head: whether a response passes. */
  readonly mayPass?: (response: Pick<ArrivedHead, 'status' | 'headers'>) => boolean
}

export async function fetchAnswer(
  { method, address, fields, content }: RestAsk,
  bounds: RestBounds,
  { signal, mayPass }: RestFetch = {},
): Promise<RestAnswer> {
  const limit = new AnswerLimit(bounds.timeLimit, signal)
  const flow =
    content instanceof FlowingContent ? new FlowingRequest({ method, address, fields, content }, limit) : undefined
  try {
    const response = flow
      ? await flow.send()
      : await fetch(address, {
          method,
          headers: fields,
          redirect: 'manual',
          signal: limit.signal,
          ...(content !== undefined && { body: content as Uint8Array<ArrayBuffer> | string | FormData }),
        })
    return await readResponse(response, bounds, limit, mayPass?.(response) === true)
  } catch (thrown) {
    if (flow?.failure) throw flow.failure.reason
    return explainSilence(limit.signal.aborted ? limit.signal.reason : thrown)
  } finally {
    limit.stop()
    flow?.end()
  }
}

async function readResponse(
  response: ArrivedHead,
  { timeLimit, longest = longestDefault, longestPassing = 0 }: RestBounds,
  limit: AnswerLimit,
  isPassing: boolean,
): Promise<RestAnswer> {
  const { status, headers, body } = response
  const head = {
    kind: 'response' as const,
    status,
    mediaType: (headers.get('content-type') ?? '').replace(/;.*$/s, '').trim().toLowerCase(),
    fields: headers,
  }
  if (body && isPassing) {
    if (Number(headers.get('content-length')) > longestPassing)
      return { kind: 'silence', why: 'too-long', mayHaveRun: true }
    const abandon = () => limit.abandon()
    return {
      ...head,
      content: new Uint8Array(0),
      passing: passBody(body, abandon, { timeLimit, octetsMax: longestPassing }),
    }
  }
  const octets = body ? await takeBounded(body, longest) : new Uint8Array(0)
  return octets ? { ...head, content: octets } : { kind: 'silence', why: 'too-long', mayHaveRun: true }
}

/** The time of a service: it stands still while others are waited for. */
class AnswerLimit implements ServiceTime {
  readonly #timeLimit: number
  readonly #controller = new AbortController()
  readonly signal: AbortSignal
  #timer: NodeJS.Timeout | undefined
  constructor(timeLimit: number, signal: AbortSignal | undefined) {
    this.#timeLimit = timeLimit
    this.signal = AbortSignal.any([this.#controller.signal, ...(signal ? [signal] : [])])
    this.start()
  }
  start(): void {
    this.stop()
    this.#timer = setTimeout(() => this.#controller.abort(new DOMException('late', 'TimeoutError')), this.#timeLimit)
  }
  stop(): void {
    clearTimeout(this.#timer)
  }
  abandon(): void {
    this.#controller.abort()
  }
}

/** Octets of a response that pass. */
export interface PassingBody {
  readonly octets: PassingOctets
  readonly over: Promise<void>
  readonly failure: Promise<PortAnswer | undefined>
}

function passBody(
  body: AsyncIterable<Uint8Array>,
  abandon: () => void,
  bounds: { readonly timeLimit: number; readonly octetsMax: number },
): PassingBody {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  const pause = () => {
    gate = Promise.withResolvers<void>()
  }
  const arriving = new ArrivingContent({ pause, resume: () => gate.resolve(), abandon }, bounds)
  const pump = async () => {
    for await (const piece of body) {
      arriving.add([piece], piece)
      await gate.promise
    }
    arriving.end()
  }
  pump().catch(() =>
    arriving.fail(new TransportFailure('lost', 'the connection ended before the response was complete', begunFacts)),
  )
  const { promise: failure, resolve: settle } = Promise.withResolvers<PortAnswer | undefined>()
  const leave = () => {
    arriving.drop()
    gate.resolve()
    settle({ kind: 'silence', why: 'closed', mayHaveRun: true })
  }
  async function* read(): Pieces {
    const pieces = arriving[Symbol.asyncIterator]()
    try {
      for (let next = await pieces.next(false); !next.done; ) next = await pieces.next(yield next.value)
      settle(undefined)
    } catch (thrown) {
      if (thrown instanceof TransportFailure) settle({ kind: 'silence', why: thrown.why, mayHaveRun: true })
      throw thrown instanceof TransportFailure ? new Error(thrown.detail, { cause: thrown }) : thrown
    } finally {
      leave()
    }
  }
  return { octets: new PassingOctets(read, leave), over: arriving.over, failure }
}
const begunFacts = { mayHaveRun: true, begun: true }

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
  const cause = thrown.name === 'TypeError' ? thrown.cause : thrown // of `fetch`, of node:http
  if (cause === thrown && errorCodeOf(cause) === '') throw thrown
  if (unopened.has(errorCodeOf(cause))) return { kind: 'silence', why: 'unreachable', mayHaveRun: false }
  return { kind: 'silence', why: 'lost', mayHaveRun: true }
}
