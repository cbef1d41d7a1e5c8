import { connect } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import type { Request, Response } from '../../src/http/message.ts'
import {
  type HttpListener,
  type ListenOptions,
  type Serve,
  type ServerLimits,
  startListener,
} from '../../src/server/listener.ts'

/** Limits short enough to wait for. */
export const shortLimits: Partial<ServerLimits> = { head: 300, stall: 300, idle: 600, linger: 300 }

export interface TestServer {
  readonly listener: HttpListener
  readonly port: number
  readonly errors: unknown[]
  /** What reached `serve`. */
  readonly served: Request[]
}

/** Serves while `journey` runs, and stops whatever happens. */
export async function withServer(
  serve: Serve,
  journey: (house: TestServer) => Promise<void>,
  options: ListenOptions = {},
) {
  const errors: unknown[] = []
  const served: Request[] = []
  const listener = await startListener(
    request => {
      served.push(request)
      return serve(request)
    },
    { onError: error => errors.push(error), ...options },
  )
  try {
    await journey({ listener, port: listener.port, errors, served })
  } finally {
    await listener.close(0)
  }
}

export interface ReceivedOctets {
  readonly text: string
  /** The server closed its side. */
  readonly closed: boolean
  /** In milliseconds. */
  readonly took: number
}

/** Writes octets, piece by piece where there are pauses (milliseconds) between, and hears until the end or `patience`. */
export async function exchangeOctets(
  port: number,
  pieces: string | readonly (string | number)[],
  patience = 150,
): Promise<ReceivedOctets> {
  const socket = connect(port, '127.0.0.1')
  const began = performance.now()
  let text = ''
  let closed = false
  const end = new Promise<void>(resolve => {
    socket
      .on('error', () => resolve())
      .on('end', () => {
        closed = true
        resolve()
      })
  })
  socket.on('data', piece => (text += piece.toString('latin1')))
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (typeof piece === 'number') await after(piece)
    else if (!socket.destroyed) socket.write(piece, 'latin1')
  }
  await Promise.race([end, after(patience)])
  socket.destroy()
  return { text, closed, took: performance.now() - began }
}

export const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(found => Number(found[1]))

/** The octets of one request, CRLF at the ends of lines. */
export function message(lines: readonly string[], content = ''): string {
  return `${lines.join('\r\n')}\r\n\r\n${content}`
}

/** Answers with the target, and with the content that it got. */
export async function echo(request: Request): Promise<Response> {
  const content = await request.content.bytes(1000)
  if (content === undefined) return { status: 413, fields: {}, content: 'too large' }
  return { status: 200, fields: {}, content: `${request.method} ${request.target} ${Buffer.from(content)}` }
}

export const hello = (request: Request): Response => ({ status: 200, fields: {}, content: request.target })
