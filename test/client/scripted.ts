/** A server that sends raw octets: what HTTP allows and what it does not. */
import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { after } from 'node:test'
import type { HttpFields } from '../../src/http/message.ts'

export interface Asked {
  readonly line: string
  readonly fields: HttpFields
  readonly content: string
  readonly socket: Socket
  /** Connections so far, and requests on this one. */
  readonly connection: number
  readonly turn: number
}

export interface Scripted {
  readonly port: number
  readonly address: string
  readonly asked: Asked[]
  readonly connections: () => number
  readonly open: () => number
}

/** Octets to respond with; nothing: the script does what it likes with the socket. */
export type Script = (asked: Asked) => string | undefined | Promise<string | undefined>

export async function startScriptedServer(script: Script, server: Server = createServer()): Promise<Scripted> {
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('tlsClientError', () => {})
  server.on(
    server.listenerCount('secureConnection') > 0 || 'setSecureContext' in server ? 'secureConnection' : 'connection',
    (socket: Socket) => {
      const connection = ++connections
      let turn = 0
      let held = ''
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
      socket.on('data', async piece => {
        held += piece.toString('latin1')
        for (let found = request(held); found; found = request(held)) {
          held = held.slice(found.length)
          const one = { ...found, socket, connection, turn: ++turn }
          asked.push(one)
          const said = await script(one)
          if (said !== undefined) socket.write(said, 'latin1')
        }
      })
    },
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { port: number } // it listens on a port
  const scheme = 'setSecureContext' in server ? 'https' : 'http'
  return {
    port,
    address: `${scheme}://127.0.0.1:${port}/soap`,
    asked,
    connections: () => connections,
    open: () => sockets.size,
  }
}

function request(held: string) {
  const end = held.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line = '', ...lines] = held.slice(0, end).split('\r\n')
  const fields = Object.fromEntries(
    lines.map(each => [each.slice(0, each.indexOf(':')).toLowerCase(), each.slice(each.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(fields['content-length'] ?? 0)
  return held.length < length ? undefined : { line, fields, content: held.slice(end + 4, length), length }
}

export const scriptedResponse = (text: string, fields = ''): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${fields}content-length: ${Buffer.byteLength(text)}\r\n\r\n${Buffer.from(text).toString('latin1')}`
