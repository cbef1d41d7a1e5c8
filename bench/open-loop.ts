/**
 * Requests at a fixed rate, whether or not those before are answered. What one took is counted from the moment it was due:
 * a server that stands still delays all who come meanwhile, and not the one alone that noticed.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import type { Ask } from './harness.ts'

const connections = 64

/** Milliseconds that half of them and 99 of a hundred took, over so many seconds. */
export async function percentiles(
  port: number,
  ask: Ask,
  rate: number,
  seconds: number,
): Promise<{ p50: number; p99: number }> {
  const took = new Float64Array(rate * seconds)
  const end = ask.contains
  const free: Socket[] = []
  const waiting: number[] = []
  let done = 0
  let failed: Error | undefined
  const due = new Map<Socket, number>()
  const send = (socket: Socket, at: number): void => {
    due.set(socket, at)
    socket.write(ask.request)
  }
  for (let i = 0; i < connections; i++) {
    const socket = connect(port, '127.0.0.1').setNoDelay(true)
    await once(socket, 'connect')
    // Small answers, one at a time on a connection: each comes in one piece.
    socket.setEncoding('latin1').on('data', (piece: string) => {
      if (!piece.includes(end)) failed = new Error(`not the answer: ${piece}`)
      took[done++] = performance.now() - (due.get(socket) ?? 0)
      const next = waiting.shift()
      if (next === undefined) free.push(socket)
      else send(socket, next)
    })
    free.push(socket)
  }
  const began = performance.now() + 20
  for (let sent = 0; sent < took.length && !failed; ) {
    const now = performance.now()
    for (; sent < took.length && began + (sent * 1000) / rate <= now; sent++) {
      const at = began + (sent * 1000) / rate
      const socket = free.pop()
      if (socket) send(socket, at)
      else waiting.push(at)
    }
    await turn()
  }
  while (done < took.length && !failed) await turn()
  for (const socket of [...due.keys()]) socket.destroy()
  if (failed) throw failed
  took.sort()
  return {
    p50: took[Math.floor(took.length * 0.5)] ?? Number.NaN,
    p99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
  }
}
