/** Requests to a service in this process: what clients send, without a socket. */
import type { ClientTransport } from '../client/transport.ts'
import { serveFetchExchange } from '../server/fetch-exchange.ts'
import type { Serve } from '../server/server-context.ts'

/** The options of `createMemoryFetch`. */
export interface MemoryFetchOptions {
  /** The request of a host, for the service's own `caller`. */
  readonly carrier?: object
  /** Gets each request with its response. */
  readonly onResponse?: (request: Request, response: Response) => void
  /** Receives errors for which no response could be made. Default: they are thrown. */
  readonly onError?: (error: unknown) => void
}

/** @param serve a front door or a face: a request in, its response out */
export function createMemoryFetch(serve: Serve, options: MemoryFetchOptions = {}): typeof fetch {
  const { carrier, onResponse } = options
  const onError = options.onError ?? throwOn
  return async (input, init) => {
    init?.signal?.throwIfAborted()
    const request = new Request(input, init?.body == null ? init : { ...init, duplex: 'half' })
    const { pathname, search } = new URL(request.url)
    const facts = { from: '127.0.0.1', ...(carrier && { carrier }) }
    const response = await serveFetchExchange({ serve, onError }, request, pathname + search, facts)
    onResponse?.(request, response)
    return response
  }
}
const throwOn = (error: unknown): never => {
  throw error
}

/** POSTs of a SOAP client to one address by a `fetch` of this process. */
export const createFetchTransport = (address: string, send: typeof fetch): ClientTransport => ({
  prepare:
    common =>
    async ({ content, fields, signal }) => {
      const response = await send(address, {
        method: 'POST',
        headers: { ...common, ...fields },
        body: typeof content === 'string' ? content : new Uint8Array(Buffer.concat(content)),
        ...(signal && { signal }),
      })
      return {
        status: response.status,
        fields: Object.fromEntries(response.headers),
        content: new Uint8Array(await response.arrayBuffer()),
      }
    },
  close: () => {},
})
