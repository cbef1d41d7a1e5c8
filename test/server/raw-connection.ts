import { connect, type Socket } from 'node:net'
import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises'
import type { Request, Response } from '../../src/http/message.ts'
import {
  type HttpListener,
  type ListenOptions,
  type Serve,
  type ServerLimits,
  startListener,
} from '../../src/server/listener.ts'

/** Limits short enough to wait for. */
export const shortLimits: Partial<ServerLimits> = { head: 300, stall: 300, unread: 300, idle: 600, linger: 300 }

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
  journey: (server: TestServer) => Promise<void>,
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

/** What is waited for: the server's end of the connection, so many final responses, or a text. */
export type Until = 'end' | number | RegExp

/** However busy the machine is, what is expected comes within this time. */
const generousMs = 20_000
/** What is not expected would come within this time, once all that is has come. */
const quietMs = 100

/**
 * Writes octets, piece by piece where there are pauses (milliseconds) between, and receives until
 * what is expected is there and silence follows, or the server ends.
 */
export async function exchangeOctets(
  port: number,
  pieces: string | readonly (string | number)[],
  until: Until = 1,
): Promise<ReceivedOctets> {
  const socket = connect(port, '127.0.0.1')
  const began = performance.now()
  const received = receiveOctets(socket)
  for (const piece of typeof pieces === 'string' ? [pieces] : pieces) {
    if (typeof piece === 'number') await after(piece)
    else if (!socket.destroyed) socket.write(piece, 'latin1')
  }
  const { text, closed } = await received(until)
  socket.destroy()
  return { text, closed, took: performance.now() - began }
}

/** Receives from now on. @returns waits until what is expected is there and silence follows, or the server ends */
export function receiveOctets(socket: Socket): (until: Until) => Promise<Omit<ReceivedOctets, 'took'>> {
  let text = ''
  let closed = false
  let isOver = false
  let wake = (): void => {}
  const end = (): void => {
    isOver = true
    wake()
  }
  socket.on('error', end).on('close', end)
  socket.on('end', () => {
    closed = true
    end()
  })
  socket.on('data', piece => {
    text += piece.toString('latin1')
    wake()
  })
  return async until => {
    const latest = performance.now() + generousMs
    while (!isOver) {
      const event = new Promise<'event'>(resolve => (wake = () => resolve('event')))
      const leftMs = isThere(text, until) ? quietMs : latest - performance.now()
      if ((await Promise.race([event, listenFor(leftMs)])) === 'silence') break
    }
    return { text, closed }
  }
}

/** What arrived while the machine was busy with others is heard before silence is found. */
async function listenFor(milliseconds: number): Promise<'silence'> {
  await after(milliseconds, undefined, { ref: false })
  return nextTurn('silence')
}

function isThere(text: string, until: Until): boolean {
  if (until === 'end') return false
  return typeof until === 'number' ? finalStatuses(text).length >= until : until.test(text)
}

export const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(found => Number(found[1]))
const finalStatuses = (text: string) => statuses(text).filter(status => status >= 200)

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
