/** A bridge before a service that answers by hand, and clients that see how a response ends. */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BridgeLimits, completeLimits, transportOptionsOf } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { passInputs } from '../../src/bridge/passing-inputs.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createMessageDress } from '../../src/client/dressed-message.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { anyone } from '../../src/contract/policy.ts'
import { startHosted } from '../host/hosted-service.ts'
import { archivePort } from './archive-port.ts'

export type Serve = (response: http.ServerResponse, request: http.IncomingMessage) => void
/** Once a request has come to its end; or at once, by one that reads it itself. */
export const afterAll =
  (serve: Serve): Serve =>
  (response, request) =>
    void request.resume().on('end', () => serve(response, request))

async function startBehind(serve: Serve) {
  let open = 0
  const server = http.createServer((request, response) => {
    open++
    request.on('error', () => {})
    response.on('close', () => void open--)
    serve(response, request)
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { to: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, countOpen: () => open }
}

interface Settings {
  readonly limits?: Partial<BridgeLimits>
  readonly timeLimit?: number
  readonly mtom?: boolean
  readonly clock?: () => number
}
export async function startBridge(
  serve: Serve,
  { limits = {}, timeLimit = 20_000, mtom = true, clock = Date.now }: Settings = {},
) {
  const behind = await startBehind(serve)
  const whole = completeLimits(limits)
  const transport = createHttpTransport(behind.to, transportOptionsOf(whole))
  after(() => transport.close())
  const notes: string[] = []
  const { longest, longestPassing } = whole
  const dress = createMessageDress(undefined, behind.to, { mtom })
  const port = passInputs(openPort(archivePort, [anyone]), dress, longestPassing)
  const app = createBridge(describeBridge('archive', 'urn:archive', [port]), {
    callerOf: each => createPortCaller(each, transport, { timeLimit, longest, longestPassing, dress }),
    note: line => void notes.push(line),
    limits,
    turnLimit: 3000,
    clock,
  })
  const { server, ask } = await startHosted({}, app)
  const begin = (name: string, fields: http.OutgoingHttpHeaders = {}, method = 'POST') => {
    const headers = { 'content-type': 'application/json', ...fields }
    const request = http.request({
      ...{ host: '127.0.0.1', agent: false, port: server.port, path: `/api/v1/Archive/${name}`, method, headers },
    })
    return { request, answer: receive(request) }
  }
  const send = (name: string, fields?: http.OutgoingHttpHeaders, method?: string, content: unknown = { name: 'x' }) => {
    const { request, answer } = begin(name, fields, method)
    request.end(content instanceof Uint8Array ? content : JSON.stringify(content))
    return answer
  }
  const countRunning = async () => {
    const { text } = await ask('GET', '/metrics')
    return Number(/^diglot_behind_calls\{state="running"\} (\d+)$/m.exec(text)?.[1])
  }
  const listOutcomes = async () => {
    const { text } = await ask('GET', '/metrics')
    const found = [...text.matchAll(/^diglot_behind_answers_total\{outcome="(.+)"\} (\d+)$/gm)]
    return found.map(([, outcome, count]) => `${outcome} ${count}`).sort()
  }
  return { begin, send, notes, behind, countRunning, listOutcomes, ask }
}

export interface Received {
  readonly status: number
  readonly fields: http.IncomingHttpHeaders
  readonly content: Buffer
  /** The connection ended before the response did. */
  readonly isCut: boolean
}
const receive = (request: http.ClientRequest): Promise<Received> =>
  new Promise((resolve, reject) => {
    request.on('response', response => {
      const pieces: Buffer[] = []
      const end = (isCut: boolean) =>
        resolve({ status: response.statusCode ?? 0, fields: response.headers, content: Buffer.concat(pieces), isCut })
      response.on('data', piece => void pieces.push(piece))
      response.on('end', () => end(!response.complete))
      response.on('error', () => end(true))
    })
    request.on('error', reject)
  })

export async function waitUntil(holds: () => boolean | Promise<boolean>, within = 30_000): Promise<void> {
  for (const until = Date.now() + within; !(await holds()); await sleep(10))
    if (Date.now() > until) assert.fail('it did not happen in time')
}

/** The number, once it has been the same for 200 ms. */
export async function waitUntilStill(read: () => number): Promise<number> {
  let before = -1
  await waitUntil(async () => {
    const isSame = before === read()
    before = read()
    await sleep(200)
    return isSame
  })
  return before
}
