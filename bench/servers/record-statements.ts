/**
 * What Diglot asks of SQLite for a POST of an order, a PATCH and a payment: `record-statements.ts FILE ID ...`, of five orders
 * that are placed, writes them as JSON by the content of the request, with a mark for what is another value for each order and
 * at each time. `replay.js` runs them.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import app from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { signToken } from '../../src/identity/bearer-token.ts'
import { openLocalKey } from '../../src/identity/local-key.ts'
import { instantKey } from '../../src/store/sort-key.ts'
import { newCurrencies, newOrders } from '../order-changes.ts'

/** A value of a statement: as it was, an integer of 64 bits, or what is another one for each order, or at each time. */
type Value =
  | string
  | number
  | null
  | { readonly whole: string }
  | { readonly of: 'id' | 'version' | 'now' | 'time' | 'order' }
interface Statement {
  readonly text: string
  readonly values: readonly Value[]
}

/** Of the row that was read last: a change says which version it replaces. */
let version: unknown
const asked: { readonly text: string; readonly values: readonly Value[] }[] = []
for (const name of ['run', 'get', 'all', 'iterate'] as const) {
  const run = StatementSync.prototype[name] as (this: StatementSync, ...values: unknown[]) => unknown
  Object.defineProperty(StatementSync.prototype, name, {
    value(this: StatementSync, ...values: unknown[]) {
      const text = this.sourceSQL
      asked.push({ text, values: values.map(value => markValue(value)) })
      const found = run.apply(this, values)
      if (text.startsWith('select "_version"')) version = [found].flat(2)[0] // rows are arrays
      return found
    },
  })
}
const execute = DatabaseSync.prototype.exec
DatabaseSync.prototype.exec = function exec(text) {
  asked.push({ text, values: [] })
  return execute.call(this, text)
}

function markValue(value: unknown): Value {
  if (version !== undefined && value === version) return { of: 'version' }
  return typeof value === 'bigint' ? { whole: String(value) } : (value as Value) // octets are not among them
}

/** The time of a request as Diglot writes it: in milliseconds, as text, and as a text in the order of time. */
function timesBetween(from: number, to: number): ReadonlyMap<unknown, Value> {
  const all = Array.from({ length: to - from + 1 }, (_, i) => from + i)
  return new Map(
    all.flatMap((ms): [unknown, Value][] => {
      const text = new Date(ms).toISOString()
      return [
        [ms, { of: 'now' }],
        [text, { of: 'time' }],
        [instantKey(text), { of: 'order' }],
      ]
    }),
  )
}

type Members = Readonly<Record<string, unknown>>

const data = process.argv[2] ?? ':memory:'
const logger = { info() {}, warn: console.error, error: console.error }
const server = await startService(app, { port: 0, data, logger })
const clara = { subject: 'clara', roles: ['clerk'], expires: 60 }
const authorization = `Bearer ${await signToken(openLocalKey(`${data}.key`), 'orders', clara, Date.now())}`
/** Over a socket: content that has no length would be preceded by one more look at its order. */
async function send(method: string, path: string, type: string, body: string): Promise<Members> {
  const headers = { authorization, 'content-type': type, ...(method === 'PATCH' && { 'if-match': '*' }) }
  return readAnswer(await fetch(addressOf(path), { method, headers, body }))
}
const find = async (id: string): Promise<Members> =>
  readAnswer(await fetch(addressOf(`/api/v2/orders/${id}`), { headers: { authorization } }))
const addressOf = (path: string): string => `http://127.0.0.1:${server.port}${path}`
async function readAnswer(response: Response): Promise<Members> {
  const text = await response.text()
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${text}`)
  return JSON.parse(text)
}

/** What one request asked for, apart from the frame of its transaction. */
async function record(work: () => Promise<string>): Promise<readonly Statement[]> {
  asked.length = 0
  version = undefined
  const began = Date.now()
  const id = await work()
  const marks = new Map<unknown, Value>([...timesBetween(began, Date.now()), [id, { of: 'id' }]])
  return asked
    .filter(({ text }) => !/^(begin|commit|rollback|savepoint|release|pragma)\b/i.test(text))
    .map(({ text, values }) => ({ text, values: values.map(value => marks.get(value) ?? value) }))
}

type Recorded = Readonly<Record<string, readonly Statement[]>>

const create = (content: string): Promise<readonly Statement[]> =>
  record(async () => String((await send('POST', '/api/v2/orders', 'application/json', content))['id']))
const change = (content: string, id: string): Promise<readonly Statement[]> =>
  record(async () => {
    await send('PATCH', `/api/v2/orders/${id}`, 'application/merge-patch+json', content)
    return id
  })
async function pay(id: string): Promise<readonly Statement[]> {
  const { total: amount } = await find(id)
  return record(async () => {
    await send('POST', `/api/v2/orders/${id}/payment`, 'application/json', JSON.stringify({ method: 'card', amount }))
    return id
  })
}
async function recordEach(contents: readonly string[], one: (content: string, i: number) => ReturnType<typeof create>) {
  const all: [string, readonly Statement[]][] = []
  for (const [i, content] of contents.entries()) all.push([content, await one(content, i)])
  return Object.fromEntries(all) satisfies Recorded
}

const [, , , first = '', second = '', third = '', ...changed] = process.argv
// The first of each looks at the schema, too.
await create(newOrders[0] as string)
await change(newCurrencies[0] as string, first)
await pay(second)
const recorded = {
  create: await recordEach(newOrders, create),
  change: await recordEach(newCurrencies, (content, i) => change(content, changed[i] ?? '')),
  /** For any content: the amount is in no index. */
  pay: { '*': await pay(third) },
}
process.stdout.write(JSON.stringify(recorded))
await server.close()
