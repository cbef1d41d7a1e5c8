import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Http1Connection } from '../../src/server/http1/connection.ts'
import { identifyPeer } from '../../src/server/peer.ts'
import { createServerContext, type Serve } from '../../src/server/server-context.ts'
import { hello, message } from './raw-connection.ts'

const request = message(['GET / HTTP/1.1', 'Host: a', `A: ${'b'.repeat(168)}`])
assert.equal(request.length, 200)

/** Sends them as fast as they are taken, and reads all that comes back. In a thread of its own. */
const pipeline = `
  const { workerData: { port, request, octets, from } } = require('node:worker_threads')
  const pieces = Buffer.from(request.repeat(500))
  const socket = require('node:net').connect({ port, host: '127.0.0.1', localAddress: from }).resume()
  let left = octets
  const write = () => {
    while (left > 0) {
      left -= pieces.length
      if (!socket.write(pieces)) return socket.once('drain', write)
    }
  }
  write()
`
/** Asks again and again over a connection of its own, and says how long each answer took. */
const probe = `
  const { workerData: { port, request }, parentPort } = require('node:worker_threads')
  const socket = require('node:net').connect({ port, host: '127.0.0.1', noDelay: true })
  let began
  const ask = () => { began = performance.now(); socket.write(request) }
  socket.on('data', () => { parentPort.postMessage(performance.now() - began); setTimeout(ask, 5) })
  ask()
`

interface Found {
  /** Milliseconds that another client waited for each of its answers. */
  readonly waits: readonly number[]
  /** The most octets that the connection held unread. */
  readonly held: number
  /** Milliseconds from the first request of the pipeline to the last. */
  readonly tookMs: number
}

/** One client sends so many octets of requests without a pause; another asks meanwhile. */
async function findFairness(serve: Serve, octets: number, from = '127.0.0.1'): Promise<Found> {
  let count = 0
  const counted: Serve = asked => {
    if (asked.from === from) count++
    // However late the other client gets its core, another address has asked meanwhile.
    if (from !== '127.0.0.1') context.peers.note('another')
    return serve(asked)
  }
  const context = createServerContext(counted, {})
  const connections: Http1Connection[] = []
  const server = createServer({ allowHalfOpen: true, noDelay: true }, socket => {
    const connection = new Http1Connection(
      context,
      socket.on('error', () => {}),
      identifyPeer(socket),
    )
    connections.push(connection)
    connection.open()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const waits: number[] = []
  let held = 0
  const data = { port, request, octets, from }
  const other = new Worker(probe, { eval: true, workerData: data })
  other.on('message', (wait: number) => {
    waits.push(wait)
    for (const { received } of connections) held = Math.max(held, received.octets.length)
  })
  while (waits.length < 10) await after(10)
  waits.length = count = 0
  const many = new Worker(pipeline, { eval: true, workerData: data })
  while (count === 0) await after(1)
  const beganMs = performance.now()
  while (count < octets / request.length) await after(5)
  const tookMs = performance.now() - beganMs
  await Promise.all([other.terminate(), many.terminate()])
  for (const each of connections) each.socket.destroy()
  server.close()
  return { waits, held, tookMs }
}

/** Keeps every core of the machine busy. */
function occupyCores(): () => void {
  const spin = 'for (;;);'
  const busy: ChildProcess[] = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', spin], { stdio: 'ignore' }),
  )
  return () => busy.forEach(each => void each.kill('SIGKILL'))
}

/** A face that answers after five milliseconds of work. */
const work: Serve = asked => {
  const until = performance.now() + 5
  while (performance.now() < until);
  return hello(asked)
}

suite('RFC 9112 §9.3.2: a client that pipelines leaves the others their turns', () => {
  const servings: readonly (readonly [title: string, serve: Serve, octets: number])[] = [
    ['50 MB, with responses at once', hello, 50_000_000],
    ['50 MB, with responses by a resolved promise', async asked => hello(asked), 50_000_000],
    ['requests that take 5 ms each', work, 60_000],
  ]
  for (const [title, serve, octets] of servings) {
    for (const isBusy of [false, true]) {
      test(`${title}, ${isBusy ? 'every core busy' : 'the machine idle'}`, async () => {
        const release = isBusy ? occupyCores() : () => {}
        try {
          const tries: number[] = []
          // Other tests may keep the machine busy, too: a client without its turn waits in each try.
          while (tries.length < 4 && !tries.some(long => long < 200)) {
            const { waits, held } = await findFairness(serve, octets)
            tries.push(waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.9)] ?? Number.POSITIVE_INFINITY)
            assert.ok(held < 256 * 1024, `${held} octets held`)
          }
          assert.ok(Math.min(...tries) < 200, `another client waited ${tries.join(', ')} ms`)
        } finally {
          release()
        }
      })
    }
  }

  test('pipelined requests take a fifth of the time while another address sends requests', async () => {
    const requests = 100
    // The pipeline comes in pieces of 500 requests, of which so many are waited for.
    const { tookMs } = await findFairness(work, requests * request.length, '127.0.0.2')
    assert.ok(tookMs > (requests * 5) / 0.4, `${requests} requests of 5 ms took ${tookMs} ms`)
  })
})
