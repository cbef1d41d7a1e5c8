/**
 * One request and its response in the terms of Fetch, for Hono, Next, Deno and Bun. What always
 * holds:
 *  (1) Content is read on demand, so that the host holds its sender back; content that ends early
 *      is `Aborted`, and never passes for complete.
 *  (2) The next piece of streamed content is requested when the host has taken the previous one;
 *      the source ends when its reader leaves.
 * Fetch hides the target as it was sent (dot segments are removed), the version of HTTP, trailers
 * and Expect. The host bounds time and connections.
 */
import { addressBlock } from '../base/address.ts'
import { type Content, noContent, type Octets, type Request, type Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { Aborted } from './incoming-content.ts'
import type { HostFacts } from './node-exchange.ts'
import { discardContent, endSource } from './pipe.ts'
import { type FramedResponse, frameOrFail } from './response-framing.ts'
import type { ServerContext } from './server-context.ts'

type FetchRequest = globalThis.Request
type FetchResponse = globalThis.Response

/**
 * @param target the request-target below the path where the service is mounted
 * @param ended called once the content of the response has been read, or its reader has left
 */
export async function serveFetchExchange(
  context: Pick<ServerContext, 'serve' | 'onError'>,
  fetchRequest: FetchRequest,
  target: string,
  facts: HostFacts,
  ended: () => void = () => {},
): Promise<FetchResponse> {
  const request = createRequest(fetchRequest, target, facts)
  const exchange: AnsweredExchange = {
    method: fetchRequest.method,
    report: error => context.onError(error, request),
    ended,
  }
  try {
    return await toFetchResponse(await context.serve(request), exchange)
  } catch (error) {
    if (error instanceof Aborted) return toFetchResponse(respond(400, { detail: error.message }), exchange)
    exchange.report(error)
    return toFetchResponse(respond(500), exchange)
  }
}

interface AnsweredExchange {
  readonly method: string
  readonly report: (error: unknown) => void
  readonly ended: () => void
}

function createRequest(
  fetchRequest: FetchRequest,
  target: string,
  { from = '', scheme, host, carrier }: HostFacts,
): Request {
  const { method, headers, url } = fetchRequest
  const address = new URL(url)
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of headers) fields[name] = value
  if (host !== undefined || fields['host'] === undefined) fields['host'] = host ?? address.host
  return {
    method,
    target,
    fields,
    content:
      fetchRequest.body === null
        ? noContent
        : new FetchContent(fetchRequest.body, fields['content-length'], fetchRequest.signal),
    scheme: (scheme ?? address.protocol.slice(0, -1)) === 'https' ? 'https' : 'http',
    version: '1.1',
    from: addressBlock(from),
    gone: () => fetchRequest.signal,
    ...(carrier && { carrier }),
  }
}

/** (1) */
class FetchContent implements Content {
  readonly length: number | undefined
  readonly #body: ReadableStream<Uint8Array>
  readonly #signal: AbortSignal

  constructor(body: ReadableStream<Uint8Array>, announced: string | undefined, signal: AbortSignal) {
    this.length = announced !== undefined && /^\d{1,15}$/.test(announced) ? Number(announced) : undefined
    this.#body = body
    this.#signal = signal
  }

  async bytes(limit: number): Promise<Octets> {
    if (this.length !== undefined && this.length > limit) return undefined
    const pieces: Uint8Array[] = []
    let octets = 0
    for await (const piece of this.chunks()) {
      octets += piece.length
      if (octets > limit) return undefined
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#body.locked)
      throw new Error(
        'the content of this request has already been read: mount the service before any middleware that reads it',
      )
    const reader = this.#body.getReader()
    let octets = 0
    try {
      for (;;) {
        const { done, value } = await reader.read().catch(() => {
          throw new Aborted()
        })
        if (done) break
        octets += value.length
        yield value
      }
      if (this.#signal.aborted || (this.length !== undefined && octets !== this.length)) throw new Aborted()
    } finally {
      await reader.cancel().catch(() => {}) // content that has ended has nothing to cancel
    }
  }
}

async function toFetchResponse(response: Response, exchange: AnsweredExchange): Promise<FetchResponse> {
  const { report, ended } = exchange
  const framed = frameOrFail(response, exchange.method, report)
  const { content } = framed
  if (content === undefined) discardContent(response)
  if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) {
    ended()
    return createFetchResponse(framed, (content as string | Uint8Array<ArrayBuffer> | undefined) ?? null)
  }
  const pieces = content[Symbol.asyncIterator]()
  // Requested before the head is sent, so that a source that fails at once still becomes a 500.
  const first = await pieces.next().catch(report)
  if (!first) return toFetchResponse(respond(500), exchange)
  const end = (): void => {
    endSource(content, pieces)
    ended()
  }
  return createFetchResponse(framed, streamPieces(first, pieces, end, exchange))
}

/** (2) */
function streamPieces(
  first: IteratorResult<Uint8Array>,
  pieces: AsyncIterator<Uint8Array>,
  end: () => void,
  { report, ended }: AnsweredExchange,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | undefined = first
  let isLeft = false
  return new ReadableStream<Uint8Array>(
    {
      pull: async controller => {
        try {
          // Skips empty pieces, because a pull that enqueues nothing is not repeated.
          for (;;) {
            const { done, value } = next ?? (await pieces.next(false))
            next = undefined
            if (isLeft) return
            if (!done && value.length === 0) continue
            if (!done) return controller.enqueue(value)
            ended()
            return controller.close()
          }
        } catch (error) {
          if (isLeft) return
          ended()
          report(error)
          controller.error(error)
        }
      },
      cancel: () => {
        isLeft = true
        end()
      },
    },
    { highWaterMark: 0 },
  )
}

function createFetchResponse(
  { status, lines, length }: FramedResponse,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | null,
): FetchResponse {
  const headers = new Headers()
  for (const { name, value } of lines) headers.append(name, value)
  if (length !== undefined) headers.set('content-length', String(length))
  return new Response(body, { status, headers })
}
