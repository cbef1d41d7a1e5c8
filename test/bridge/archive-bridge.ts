/** A bridge before a backend that responds by hand, and clients that see how a response ends. */
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
import { anyone, type Grant } from '../../src/contract/policy.ts'
import { readParts } from '../../src/soap/mime/multipart.ts'
import { startHosted } from '../host/hosted-service.ts'
import { archivePort } from './archive-port.ts'

export type Serve = (response: http.ServerResponse, request: http.IncomingMessage) => void
/** Once a request has come to its end; or at once, by one that reads it itself. */
export const afterAll =
  (serve: Serve): Serve =>
  (response, request) =>
    void request.resume().on('end', () => serve(response, request))

/** A backend that responds by hand. */
export async function startBehind(serve: Serve) {
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
  readonly allow?: readonly Grant[]
}
export async function startBridge(
  serve: Serve,
  { limits = {}, timeLimit = 20_000, mtom = true, clock = Date.now, allow = [anyone] }: Settings = {},
) {
  const behind = await startBehind(serve)
  const whole = completeLimits(limits)
  const transport = createHttpTransport(behind.to, transportOptionsOf(whole))
  after(() => transport.close())
  const notes: string[] = []
  const { longest, longestPassing } = whole
  const dress = createMessageDress(undefined, behind.to, { mtom })
  const port = passInputs(openPort(archivePort, allow), dress, longestPassing)
  const app = createBridge(describeBridge('archive', 'urn:archive', [port]), {
    callerOf: each => createPortCaller(each, transport, { timeLimit, longest, longestPassing, dress }),
    note: line => void notes.push(line),
    limits,
    turnLimit: 3000,
    clock,
  })
  const { server, ask } = await startHosted({}, app)
  const beginAt = (path: string, headers: http.OutgoingHttpHeaders, method = 'POST') => {
    const request = http.request({ host: '127.0.0.1', agent: false, port: server.port, path, method, headers })
    return { request, answer: receive(request) }
  }
  const begin = (name: string, fields: http.OutgoingHttpHeaders = {}, method = 'POST') =>
    beginAt(`/api/v1/Archive/${name}`, { 'content-type': 'application/json', ...fields }, method)
  /** By the SOAP face. */
  const beginSoap = (fields: http.OutgoingHttpHeaders) => beginAt('/soap/Archive', fields)
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
  return { begin, beginSoap, send, notes, behind, countRunning, listOutcomes, ask }
}

// What stands behind

export interface Arrived {
  readonly fields: http.IncomingHttpHeaders
  readonly text: string
  /** By the elements that refer to them. */
  readonly octets: Readonly<Record<string, Buffer>>
  /** In the order of their arrival, by the Content-IDs of their parts. */
  readonly byId: ReadonlyMap<string, Buffer>
}
export const kept =
  '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><Kept xmlns="urn:archive"><name>k</name></Kept></e:Body></e:Envelope>'
export const answerKept = (response: http.ServerResponse, status = 200, text = kept): void =>
  void response.writeHead(status, { 'content-type': 'text/xml' }).end(text)

/** Reads each package; a package that it cannot read gives the reason. */
export function keepPackages() {
  const arrived: Arrived[] = []
  const broken: string[] = []
  const serve: Serve = (response, request) => {
    readArrived(request).then(
      found => {
        arrived.push(found)
        answerKept(response)
      },
      (thrown: unknown) => broken.push(String(thrown)),
    )
  }
  return { serve, arrived, broken }
}
async function readArrived(request: http.IncomingMessage): Promise<Arrived> {
  const fields = request.headers
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(fields['content-type'] ?? '') ?? []
  const parts: { id: string; octets: Buffer }[] = []
  for await (const part of readParts(request, boundary)) {
    const octets = Buffer.concat(await Array.fromAsync(part.content, each => Buffer.from(each)))
    parts.push({ id: (part.fields['content-id'] ?? '').slice(1, -1), octets })
  }
  const [root, ...others] = parts
  const text = root?.octets.toString() ?? ''
  const place = (id: string) => new RegExp(`<([\\w:]+)><xop:Include [^>]*href="cid:${id}"`).exec(text)?.[1] ?? ''
  return {
    fields,
    text,
    byId: new Map(others.map(({ id, octets }) => [id, octets])),
    octets: Object.fromEntries(others.map(({ id, octets }) => [place(id).replace(/.*:/, ''), octets])),
  }
}

export interface Received {
  readonly status: number
  readonly fields: http.IncomingHttpHeaders
  readonly content: Buffer
  /** The connection ended before the response did. */
  readonly isCut: boolean
}
export const receive = (request: http.ClientRequest): Promise<Received> =>
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
