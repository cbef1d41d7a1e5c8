/**
 * What Diglot asks of SQLite for one POST of an order, one PATCH and one payment: `record-statements.ts FILE ID ID ID ID`, of
 * orders that are placed, writes them as JSON, with a mark for what is another value for each order. `replay.js` runs them.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite'
import app from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'
import { signToken } from '../../src/identity/bearer-token.ts'
import { openLocalKey } from '../../src/identity/local-key.ts'

/** A value of a statement: as it was, an integer of 64 bits, or what is another one for each order. */
type Value = string | number | null | { readonly whole: string } | { readonly of: 'id' | 'version' }
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

type Members = Readonly<Record<string, unknown>>

const data = process.argv[2] ?? ':memory:'
const logger = { info() {}, warn: console.error, error: console.error }
const server = await startService(app, { port: 0, data, logger })
const clara = { subject: 'clara', roles: ['clerk'], expires: 60 }
const authorization = `Bearer ${await signToken(openLocalKey(`${data}.key`), 'orders', clara, Date.now())}`
/** Over a socket: content that has no length would be preceded by one more look at its order. */
async function send(method: string, path: string, type: string, content: object): Promise<Members> {
  const headers = { authorization, 'content-type': type, ...(method === 'PATCH' && { 'if-match': '*' }) }
  return readAnswer(await fetch(addressOf(path), { method, headers, body: JSON.stringify(content) }))
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
  const id = await work()
  return asked
    .filter(({ text }) => !/^(begin|commit|rollback|savepoint|release|pragma)\b/i.test(text))
    .map(({ text, values }) => ({ text, values: values.map(value => (value === id ? { of: 'id' } : value)) }))
}

const made = (): Promise<Members> =>
  send('POST', '/api/v2/orders', 'application/json', {
    customer: 'c-1',
    lines: [{ product: 'p-1', quantity: 1 }],
    currency: 'EUR',
  })
/** @param orders two that are placed: one is changed, the other paid */
async function recordAll([changed, paid]: readonly [string, string]) {
  const create = await record(async () => String((await made())['id']))
  const change = await record(async () => {
    await send('PATCH', `/api/v2/orders/${changed}`, 'application/merge-patch+json', { currency: 'USD' })
    return changed
  })
  const { total: amount } = await find(paid)
  const pay = await record(async () => {
    await send('POST', `/api/v2/orders/${paid}/payment`, 'application/json', { method: 'card', amount })
    return paid
  })
  return { create, change, pay }
}
const [, , , ...ids] = process.argv
const [one = '', two = '', three = '', four = ''] = ids
await recordAll([one, two]) // the first of each looks at the schema, too
process.stdout.write(JSON.stringify(await recordAll([three, four])))
await server.close()
