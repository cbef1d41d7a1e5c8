/** What one request passes: the files and functions of src/ that are entered between its arrival and its answer. */

import { Agent, request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import orders from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { sourceRoot } from './sources.ts'

export interface Journey {
  readonly method: string
  readonly path: string
  readonly fields?: Readonly<Record<string, string>>
  readonly content?: string
  readonly status: number
}

export interface Passed {
  /** Below src/, without base/. */
  readonly files: readonly string[]
  /** `file function`. */
  readonly functions: readonly string[]
  readonly calls: number
}

const getOrder = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder></e:Body></e:Envelope>`
const newOrder = JSON.stringify({ customer: 'c-1', currency: 'EUR', lines: [{ product: 'p-1', quantity: 2 }] })
const item = { method: 'GET', path: '/api/v2/orders/o-1' } as const

export const journeys: Readonly<Record<string, Journey>> = {
  'GET 304': { ...item, fields: { 'if-none-match': 'TAG' }, status: 304 },
  'GET 200': { ...item, status: 200 },
  'POST 201': {
    method: 'POST',
    path: '/api/v2/orders',
    fields: { 'content-type': 'application/json' },
    content: newOrder,
    status: 201,
  },
  'SOAP GetOrder': {
    method: 'POST',
    path: '/soap/v2',
    fields: { 'content-type': 'application/soap+xml' },
    content: getOrder,
    status: 200,
  },
}

const runsOfEach = 20

/** Each journey is sent often enough that everything is loaded and remembered, then under the counter. */
export async function walk(all: Readonly<Record<string, Journey>>): Promise<Readonly<Record<string, Passed>>> {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const server = await startService(orders, { port: 0, data: ':memory:', logger })
  const token = await server.token('clara', ['clerk'])
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const session = new Session()
  session.connect()
  try {
    const send = ({ method, path, fields, content }: Journey, tag: string) =>
      new Promise<{ status: number; etag: string }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, accept: 'application/json', ...fields }
        const filled = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name, value === 'TAG' ? tag : value]),
        )
        request({ host: '127.0.0.1', port: server.port, method, path, headers: filled, agent }, reply => {
          reply
            .resume()
            .on('end', () => resolve({ status: reply.statusCode ?? 0, etag: String(reply.headers.etag ?? '') }))
        })
          .on('error', reject)
          .end(content)
      })
    const { etag } = await send(journeys['GET 200'] as Journey, '')
    // SOAP is loaded with its first message, or a while after the start: not beside what is counted.
    await send(journeys['SOAP GetOrder'] as Journey, '')
    const found: Record<string, Passed> = {}
    for (const [name, journey] of Object.entries(all)) {
      for (let i = 0; i < 5; i++) await send(journey, etag)
      const runs: Passed[] = []
      for (let i = 0; i < runsOfEach; i++) {
        await session.post('Profiler.enable')
        await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
        await session.post('Profiler.takePreciseCoverage')
        const { status } = await send(journey, etag)
        const { result } = await session.post('Profiler.takePreciseCoverage')
        await session.post('Profiler.stopPreciseCoverage')
        if (status !== journey.status) throw new Error(`${name}: ${status} in place of ${journey.status}`)
        runs.push(passedOf(result))
      }
      found[name] = commonOf(runs)
    }
    return found
  } finally {
    session.disconnect()
    agent.destroy()
    await server.close(0)
  }
}

/** A timer, or the first request of a second, enters more in one run, but not in each. */
function commonOf(runs: readonly Passed[]): Passed {
  const inEach = (lists: readonly (readonly string[])[]): readonly string[] =>
    (lists[0] ?? []).filter(name => lists.every(list => list.includes(name)))
  return {
    files: inEach(runs.map(run => run.files)),
    functions: inEach(runs.map(run => run.functions)),
    calls: Math.min(...runs.map(run => run.calls)),
  }
}

interface Counted {
  readonly url: string
  readonly functions: readonly {
    readonly functionName: string
    readonly ranges: readonly { readonly count: number; readonly startOffset: number }[]
  }[]
}

function passedOf(result: readonly Counted[]): Passed {
  const entered = result.flatMap(({ url, functions }) => {
    if (!url.startsWith('file:')) return []
    const file = relative(sourceRoot, fileURLToPath(url)).replaceAll('\\', '/')
    if (file.startsWith('..')) return []
    return functions.flatMap(({ functionName, ranges }) => {
      const { count = 0, startOffset = 0 } = ranges[0] ?? {}
      return count > 0 && startOffset > 0 ? [{ file, name: functionName || `(at ${startOffset})`, count }] : []
    })
  })
  return {
    files: [...new Set(entered.map(each => each.file))].filter(file => !file.startsWith('base/')).sort(),
    functions: entered.map(({ file, name }) => `${file} ${name}`),
    calls: entered.reduce((sum, { count }) => sum + count, 0),
  }
}
