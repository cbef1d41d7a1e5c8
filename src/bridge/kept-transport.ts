/**
 * Requests to a REST service over persistent connections. What always holds, by number:
 *  (1) Content is sent and received at the speed of the slower side, and its memory is freed once
 *      it is gone; content that fails ends the connection, so a part is never taken for the whole.
 *  (2) Coded responses are not requested; one that arrives is decoded within the same bound.
 */
import type { OctetDecoder, Pieces } from '../base/octets.ts'
import { PassingOctets } from '../base/passing-octets.ts'
import type { HttpOptions } from '../client/connection-pool.ts'
import { TransportFailure } from '../client/errors.ts'
import { createHttpPool } from '../client/http-transport.ts'
import { type ArrivingOctets, longestDefault, type TransportResponse } from '../client/transport.ts'
import type { HttpFields } from '../http/message.ts'
import { describeGarbage, type PortAnswer } from './port-caller.ts'
import {
  type BackendRequest,
  FlowingContent,
  type PassingBody,
  type RestAnswer,
  type RestBounds,
  type RestReception,
  type RestTransport,
} from './rest-transport.ts'

export interface KeptTransportOptions extends HttpOptions {
  /** Decoders of content codings by name; default: none. */
  readonly decoders?: Readonly<Record<string, OctetDecoder>> | undefined
}

export interface KeptTransport {
  readonly ask: RestTransport
  /** Accepts no more requests; those under way end without a response. */
  close(): void
}

/** @param base an address of the service; each request goes to its host */
export function createKeptTransport(base: string, options: KeptTransportOptions = {}): KeptTransport {
  const { longest = longestDefault, decoders = {} } = options
  const { origin } = new URL(base)
  const pool = createHttpPool(base, options)
  const ask: RestTransport = async (request, bounds, reception) => {
    try {
      const response = await pool.send({
        method: request.method,
        target: request.address.slice(origin.length),
        ...(await writeSent(request)),
        timeLimit: bounds.timeLimit,
        signal: reception.signal,
        passing: choosePassing(bounds, reception),
      })
      return readResponse(response, longest, decoders)
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      return { kind: 'silence', why: thrown.why, mayHaveRun: thrown.mayHaveRun }
    }
  }
  return { ask, close: () => pool.close() }
}

async function writeSent({ fields, content }: BackendRequest) {
  const names = Object.keys(fields).map(name => name.toLowerCase())
  const requestFields = names.includes('accept-encoding') ? fields : { ...fields, 'accept-encoding': 'identity' }
  if (content instanceof FlowingContent) return { fields: requestFields, content: undefined, flowing: content.pieces }
  if (!(content instanceof FormData))
    return { fields: requestFields, content: content instanceof Uint8Array ? [content] : content }
  const form = new Response(content) // writes it by RFC 7578
  const octets = new Uint8Array(await form.arrayBuffer())
  return { fields: { ...requestFields, 'content-type': form.headers.get('content-type') ?? '' }, content: [octets] }
}

function choosePassing({ longestPassing }: RestBounds, { mayPass }: RestReception) {
  if (!mayPass || longestPassing === undefined) return undefined
  return {
    mayPass: (status: number, fields: HttpFields) => codingOf(fields) === 'identity' && mayPass({ status, fields }),
    octetsMax: longestPassing,
  }
}

/** RFC 9110 §8.4.1.3: x-gzip is gzip. */
const codingOf = (fields: HttpFields): string =>
  fields['content-encoding']?.trim().toLowerCase().replace(/^x-/, '') || 'identity'

function readResponse(
  { status, fields, content, arriving }: TransportResponse,
  longest: number,
  decoders: Readonly<Record<string, OctetDecoder>>,
): RestAnswer {
  const head = { kind: 'response' as const, status, fields }
  if (arriving) return { ...head, content, passing: passArriving(arriving) }
  const coding = codingOf(fields)
  if (coding === 'identity' || content.length === 0) return { ...head, content }
  const decode = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined
  const decoded = decode?.(content, longest)
  if (decoded === 'too-large') return { kind: 'silence', why: 'too-long', mayHaveRun: true }
  return decoded
    ? { ...head, content: decoded }
    : describeGarbage(
        status,
        `content in the coding ${coding}, which was not requested and is ${decode ? 'invalid' : 'unknown'}`,
      )
}

function passArriving(arriving: ArrivingOctets): PassingBody {
  const { promise: failure, resolve: settle } = Promise.withResolvers<PortAnswer | undefined>()
  const leave = () => {
    arriving.drop()
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
