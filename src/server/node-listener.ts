/**
 * HTTP/1.1 by node:http instead of our own listener, for tools that patch or instrument node:http.
 * Node reads and writes the octets; the limits that it knows are set from ours, and
 * `node-exchange.ts` handles content, waits and responses. HTTP/2 is not offered. A head that Node
 * itself refuses as malformed, too large or too late gets a response without content.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpListener, ListenOptions } from './listener.ts'
import { type HostFacts, serveNodeExchange } from './node-exchange.ts'
import { startWaitingWatch } from './pace.ts'
import { createServerContext, type Serve, type ServerContext } from './server-context.ts'
import { explainStartFailure, StartFailure } from './start-failure.ts'
import { createSecureContext, type Tls } from './tls.ts'

/**
 * Serves until closed. Rejects with `StartFailure`.
 * @param factsOf the facts about a request besides its octets
 */
export async function startNodeListener(
  serve: Serve,
  options: ListenOptions = {},
  factsOf: (incoming: IncomingMessage, outgoing: ServerResponse) => HostFacts = noFacts,
): Promise<HttpListener> {
  const context = createServerContext(serve, options)
  const inProgress = new Set<ServerResponse>()
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    inProgress.add(outgoing)
    outgoing.once('close', () => inProgress.delete(outgoing))
    serveNodeExchange(context, incoming, outgoing, incoming.url ?? '/', factsOf(incoming, outgoing))
  }
  const server = createNodeServer(context, answer, options.tls)
  // The front door decides about expectations, and whether to ask a client to continue.
  server.on('checkContinue', answer).on('checkExpectation', answer)
  server.maxConnections = context.limits.connections
  let connections = 0
  server.on('connection', socket => {
    connections++
    socket.once('close', () => connections--)
  })
  await listen(server, options)
  const stopWatch = startWaitingWatch(context)
  const { url, port } = describeAddress(server, options)
  return {
    url,
    port,
    connections: () => connections,
    secure: tls => {
      if (!('setSecureContext' in server))
        throw new StartFailure('key', 'this address was started without TLS', {
          cure: 'start it with a key and a certificate',
        })
      ;(server as import('node:https').Server).setSecureContext(createSecureContext(tls))
    },
    close: async limit => {
      context.draining = true
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeIdleConnections()
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, limit)
      await Promise.race([closed, late.promise])
      clearTimeout(timer)
      stopWatch()
      const cut = inProgress.size
      server.closeAllConnections()
      await closed
      return cut
    },
  }
}

const noFacts = (): HostFacts => ({})

function createNodeServer({ limits }: ServerContext, answer: RequestListener, tls: Tls | undefined): Server {
  const options = {
    maxHeaderSize: limits.fields,
    headersTimeout: limits.head,
    requestTimeout: limits.request,
    keepAliveTimeout: limits.idle,
    connectionsCheckingInterval: 1000,
    requireHostHeader: false, // the front door says what is missing
    noDelay: true,
  }
  if (!tls) return createServer(options, answer)
  const { createServer: createSecureServer } = process.getBuiltinModule('node:https')
  return createSecureServer(
    {
      ...options,
      ...createSecureContext(tls),
      handshakeTimeout: limits.head,
      requestCert: tls.authorities !== undefined,
      rejectUnauthorized: false, // a client without a certificate is anonymous: the face refuses it
    },
    answer,
  )
}

function listen(server: Server, { host = '127.0.0.1', port = 0, path }: ListenOptions): Promise<void> {
  const where = path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(explainStartFailure(error, where, path !== undefined))
    const ready = () => {
      server.off('error', fail)
      resolve()
    }
    server.once('error', fail)
    if (path === undefined) server.listen({ host, port, backlog: 4096 }, ready)
    else server.listen({ path, backlog: 4096 }, ready)
  })
}

function describeAddress(server: Server, { host = '127.0.0.1', path, tls }: ListenOptions) {
  const { port } = (server.address() as AddressInfo | null) ?? { port: 0 }
  if (path !== undefined) return { url: `unix:${path}`, port: 0 }
  return { url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`, port }
}
