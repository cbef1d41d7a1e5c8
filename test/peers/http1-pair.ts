/**
 * The same octets for our HTTP/1.1 and for node:http, and what each made of them: the requests that
 * reached the application, whole, in order, and how the connection ended. A second request follows each
 * message, so that a server that sees another end of it serves another second request, or none.
 */
import { once } from 'node:events'
import { createServer as createNodeHttp, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { joinFieldLines } from '../../src/server/field-lines.ts'
import { Http1Connection } from '../../src/server/http1/connection.ts'
import { identifyPeer } from '../../src/server/peer.ts'
import { createServerContext } from '../../src/server/server-context.ts'

export interface Served {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly content: string
}

export interface Outcome {
  /** Requests whose content came to its end. */
  readonly served: readonly Served[]
  /** Refused: answered with this status by the server itself. Closed: ended without one. */
  readonly end: 'closed' | 'refused' | 'hangs'
  /** Why, as the server says it. */
  readonly why: string
}

/** What follows every message; its connection ends with it. */
export const sentinel = 'GET /second HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n'

export interface Peer {
  /** Sends the pieces one by one, then closes its side, and tells what came of them. */
  ask(pieces: readonly string[]): Promise<Outcome>
  close(): void
}

/** By the port of the client: undefined where the content has not come to its end. */
type Records = Map<number, (Served | undefined)[]>

const hangsAfterMs = 5000

interface Exchanged {
  /** By which the server knows the connection. */
  readonly port: number
  /** What came back until the server closed; undefined where it did not. */
  readonly text: string | undefined
}

async function exchange(server: Server, pieces: readonly string[]): Promise<Exchanged> {
  const socket = connect({ port: portOf(server), host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
  let text = ''
  socket.on('error', () => {}).on('data', piece => (text += piece.toString('latin1')))
  const closed = new Promise<true>(resolve => {
    socket.once('end', () => resolve(true)).once('close', () => resolve(true))
  })
  await once(socket, 'connect')
  const { localPort: port = 0 } = socket
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) await after(1)
    socket.write(piece, 'latin1')
  }
  socket.end()
  const isOver = await Promise.race([closed, after(hangsAfterMs, false, { ref: false })])
  socket.destroy()
  return { port, text: isOver ? text : undefined }
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Our connection, on sockets of a listener of its own, so that each has an application of its own. */
export async function startOurs(): Promise<Peer> {
  const records: Records = new Map()
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    const served: Served[] = []
    records.set(socket.remotePort ?? 0, served)
    sockets.add(socket.on('error', () => {}))
    const context = createServerContext(async ({ method, target, fields, content }) => {
      const octets = (await content.bytes(1e6)) ?? new Uint8Array()
      served.push({ method, target, fields: { ...fields }, content: Buffer.from(octets).toString('latin1') })
      return { status: method === 'CONNECT' ? 405 : 200, fields: {} } // no CONNECT can succeed
    }, {})
    new Http1Connection(context, socket, identifyPeer(socket)).open()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return peerOf(server, sockets, records, text => {
    const [, status, content] = /HTTP\/1\.1 ((?!405)[45]\d\d) [\s\S]*?\r\n\r\n(.*)$/.exec(text) ?? []
    return content ? String(JSON.parse(content).detail) : status // an answer to HEAD has none
  })
}

/** node:http, with the checks that ours leaves to the face switched off. */
export async function startNodeHttp(): Promise<Peer> {
  const records: Records = new Map()
  const errors = new Map<number, string>()
  const sockets = new Set<Socket>()
  const server = createNodeHttp({ requireHostHeader: false, maxHeaderSize: 32 * 1024 }, (request, response) => {
    const served = records.get(request.socket.remotePort ?? 0) ?? []
    const at = served.push(undefined) - 1 // requests are read at once here: each has its place from its head
    void record(request).then(found => {
      served[at] = found
      response.end()
    })
  })
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    records.set(socket.remotePort ?? 0, [])
    errors.delete(socket.remotePort ?? 0)
    sockets.add(socket.on('error', () => {}))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const { remotePort = 0 } = socket as Socket
    if (!errors.has(remotePort)) errors.set(remotePort, `${error.code}`)
    socket.destroy()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return peerOf(server, sockets, records, (_, port) => errors.get(port))
}

async function record(request: IncomingMessage): Promise<Served | undefined> {
  const { method = '', url: target = '', rawHeaders } = request
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece)
  } catch {
    return undefined // cut short
  }
  const content = Buffer.concat(pieces).toString('latin1')
  return { method, target, fields: { ...joinFieldLines(rawHeaders) }, content }
}

function peerOf(
  server: Server,
  sockets: Set<Socket>,
  records: Records,
  whyOf: (text: string, port: number) => string | undefined,
): Peer {
  return {
    ask: async pieces => {
      const { port, text } = await exchange(server, pieces)
      const why = text === undefined ? undefined : whyOf(text, port)
      const end = text === undefined ? 'hangs' : why === undefined ? 'closed' : 'refused'
      const served = (records.get(port) ?? []).flatMap(each => each ?? [])
      return { served, end, why: why ?? '' }
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
