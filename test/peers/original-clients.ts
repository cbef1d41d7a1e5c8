/**
 * A port that was imported from the WSDL of others, served with example answers, for clients that
 * are made from the original document. What a client has sent and read is compared with what the
 * port has read and sent, value by value.
 */
import assert from 'node:assert/strict'
import { openPort } from '../../src/bridge/bridged-service.ts'
import type { PortExchange } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { makeMessage } from '../../src/describe/example-message.ts'
import { type Server, startService } from '../../src/host/serve.ts'
import { readWsdl } from '../../src/import/index.ts'

export interface OriginalPorts {
  readonly server: Server
  readonly addresses: readonly string[]
  /** By port and operation: what came, and what was answered. */
  readonly seen: ReadonlyMap<string, { readonly read: unknown; readonly answered: unknown }>
  readonly operations: ReadonlySet<string>
}

const exampleOf = ({ output }: PortExchange): unknown =>
  typeof output === 'object'
    ? makeMessage(output, { seed: 1, name: output.name.local, item: 1, idOf: () => undefined, given: {} })
    : undefined

/** Serves the ports of a WSDL; each exchange answers with its example. */
export async function serveOriginal(file: string): Promise<OriginalPorts> {
  const { ports } = await readWsdl(file)
  const open = ports.map(each => openPort(each, [anyone]))
  const contract = service('original', { namespace: 'urn:original', resources: [], ports: open })
  const seen = new Map<string, { read: unknown; answered: unknown }>()
  const handlers = open.map(({ port, exchanges }) => {
    const answer = ([name, exchange]: [string, PortExchange]) => [
      name,
      (read: unknown) => {
        const answered = exampleOf(exchange)
        seen.set(`${port} ${name}`, { read, answered })
        return answered
      },
    ]
    return [port, Object.fromEntries(Object.entries(exchanges).map(answer))] as const
  })
  const app = implement(contract as never, Object.fromEntries(handlers) as never)
  const server = await startService(app, { port: 0, data: ':memory:', onError: (_, thrown) => console.error(thrown) })
  const operations = open.flatMap(({ port, exchanges }) => Object.keys(exchanges).map(name => `${port} ${name}`))
  const addresses = open.map(({ port }) => `${port}=${server.url}/soap/${port}`)
  return { server, addresses, seen, operations: new Set(operations) }
}

/** A call as the driver tells it. */
export interface OriginalCall {
  readonly operation: string
  readonly end: string
  readonly sent: readonly string[]
  readonly came: readonly string[]
}
export const readCalls = (text: string): readonly OriginalCall[] =>
  text
    .split('\n')
    .filter(line => line.split('\t').length === 5)
    .map(line => {
      const [port = '', name = '', end = '', sent = '', came = ''] = line.split('\t')
      const list = (texts: string) => (texts === '' ? [] : texts.split('\u0001'))
      return { operation: `${port} ${name}`, end, sent: list(sent), came: list(came) }
    })

/** All texts, numbers and octets of a value, in one spelling and sorted: a bean has other places. */
export const listLeaves = (value: unknown): readonly string[] => collectLeaves(value).map(spell).sort()
export const spellLeaves = (texts: readonly string[]): readonly string[] => texts.map(spell).sort()
function collectLeaves(value: unknown): readonly string[] {
  if (value === undefined || value === null) return []
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('base64')]
  if (Array.isArray(value)) return value.flatMap(collectLeaves)
  if (typeof value === 'object')
    return Object.entries(value).flatMap(([name, each]) => (name === '$type' ? [] : collectLeaves(each)))
  return [String(value)]
}
/** Numbers by their value; of a time what two spellings of it share; of XML that it is XML. */
function spell(text: string): string {
  if (/^<.*>$/s.test(text)) return 'xml'
  if (/^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text)) return String(Number(text))
  const [, day] = /^(\d{4}-\d\d-\d\d)/.exec(text) ?? []
  return day ?? text.trim().replace(/\s+/g, ' ')
}

/** A line for each call that did not end well, or whose values differ. */
export function judgeCalls(calls: readonly OriginalCall[], { seen, operations }: OriginalPorts): readonly string[] {
  assert.ok(calls.length > 0, 'the driver has called nothing')
  return calls.flatMap(({ operation, end, sent, came }) => {
    if (!operations.has(operation)) return [`${operation}: not imported`]
    const here = seen.get(operation)
    if (end !== 'ok' || !here) return [`${operation}: ${end}`]
    const flaws: string[] = []
    const compare = (what: string, one: readonly string[], other: readonly string[]) => {
      if (one.join('\n') !== other.join('\n'))
        flaws.push(`${operation} ${what}: ${one.join(', ')} | ${other.join(', ')}`)
    }
    compare('sent', spellLeaves(sent), listLeaves(here.read))
    compare('came', spellLeaves(came), listLeaves(here.answered))
    return flaws
  })
}
