/**
 * What each operation costs as its collection grows: CPU for one request over 10³ and 10⁵ orders (`--million`: 10⁶, too), on
 * SQLite and, where `DIGLOT_POSTGRES` has the address of a PostgreSQL on this machine, on PostgreSQL, whose server's CPU is
 * counted besides. An entry above 1.5 times its value at 10³ is marked. Requests go to the service as a host hands them over,
 * without a socket. Names of operations choose some of them. `--keep FOLDER` keeps the databases for the next run (on PostgreSQL they stay in any case).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import app from '../examples/orders/service.ts'
import { createHandler } from '../src/host/handler.ts'
import { drawBelow, fillOrders } from './growth-data.ts'
import { type Ask, type Operation, operations, type World } from './growth-operations.ts'
import { childrenCpu } from './harness.ts'

const flagged = 1.5
const periods = 5

/** Microseconds for one request. */
interface Cost {
  readonly own: number
  readonly server: number
}
type Place = (rows: number) => Promise<{ readonly data: string; readonly database?: string }>
/** Microseconds of CPU of a database server. */
type ServerCpu = () => number

async function measure(
  place: Place,
  rows: number,
  serverCpu: ServerCpu,
  chosen: readonly Operation[],
): Promise<readonly Cost[]> {
  const at = await place(rows)
  await fillOrders(at, rows)
  const limits = { reads: { count: 1e9, seconds: 1 }, changes: { count: 1e9, seconds: 1 } }
  const searches = app.contract.searches && { ...app.contract.searches, limit: limits.reads }
  const open = { ...app, contract: { ...app.contract, limits, ...(searches && { searches }) } } as typeof app
  const logger = { info: () => {}, warn: () => {}, error: console.error }
  let callers = 0
  const caller = () => ({ subject: `clara ${callers}`, roles: ['manager'] }) // another in each period
  const shop = await createHandler(open, { ...at, logger, flood: 1e9, caller })
  const ask: Ask = async (method, path, fields = {}, content) => {
    const request = new Request(new URL(path, 'http://localhost'), {
      method,
      headers: fields,
      ...(content && { body: content }),
    })
    const response = await shop.fetch(request)
    const text = await response.text()
    if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} at ${rows} rows: ${text}`)
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : {} }
  }
  let drawn = 0
  const world: World = { ask, rows, below: limit => drawBelow(limit, drawn++, rows) }
  const run = (operation: Operation): Promise<Cost> => {
    callers++
    return runPeriod(world, operation, serverCpu)
  }
  try {
    for (const operation of chosen) await run(operation) // the compiler's time
    const found: Cost[] = []
    for (const operation of chosen) found.push(await measureOperation(() => run(operation)))
    return found
  } finally {
    await shop.close()
  }
}

async function measureOperation(run: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = []
  for (let period = 0; period < periods; period++) costs.push(await run())
  const median = (of: (cost: Cost) => number): number =>
    costs.map(of).sort((a, b) => a - b)[Math.floor(periods / 2)] ?? 0
  return { own: median(cost => cost.own), server: median(cost => cost.server) }
}

async function runPeriod(world: World, { times, prepare, run }: Operation, serverCpu: ServerCpu): Promise<Cost> {
  const prepared: string[] = []
  for (let i = 0; i < times; i++) prepared.push((await prepare?.(world)) ?? '')
  const before = process.cpuUsage()
  const serverBefore = serverCpu()
  for (const each of prepared) await run(world, each)
  const { user, system } = process.cpuUsage(before)
  return { own: (user + system) / times, server: (serverCpu() - serverBefore) / times }
}

/** A database for each size on the server, which stays there; and the CPU of its processes. */
async function placeOnPostgres(url: string): Promise<{ place: Place; cpu: ServerCpu }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('select datname from pg_database')
  const known = new Set(rows.map(row => row.datname))
  const { rows: own } = await client.query('select pg_backend_pid() as pid')
  const cpu = childrenCpu(own[0].pid)
  const place: Place = async size => {
    const name = `growth_${size}`
    if (!known.has(name)) await client.query(`create database ${name}`)
    known.add(name)
    const database = new URL(url)
    database.pathname = `/${name}`
    return { data: join(tmpdir(), 'diglot-growth.sqlite'), database: database.href }
  }
  return { place, cpu }
}

/** All, where none is named. */
function chooseOperations(names: readonly string[]): readonly Operation[] {
  const unknown = names.filter(name => !operations.some(each => each.name === name))
  if (unknown.length > 0)
    throw new Error(`there is no ${unknown.join(', ')}; there are ${operations.map(each => each.name).join(', ')}`)
  return names.length > 0 ? operations.filter(({ name }) => names.includes(name)) : operations
}

/** Prints the tables, and gives the entries that grow more than they may. */
export async function growth(
  isMillion: boolean,
  keep: string | undefined,
  names: readonly string[],
): Promise<readonly string[]> {
  const chosen = chooseOperations(names)
  const sizes = [1e3, 1e5, ...(isMillion ? [1e6] : [])]
  const folder = keep ?? mkdtempSync(join(tmpdir(), 'diglot-growth-'))
  const url = process.env['DIGLOT_POSTGRES']
  const postgres = url && (await placeOnPostgres(url))
  const inFile: Place = async rows => ({ data: join(folder, `growth-${rows}.sqlite`) })
  const grown: string[] = []
  try {
    grown.push(...(await printTable('SQLite', sizes, inFile, () => 0, chosen)))
    if (postgres) grown.push(...(await printTable('PostgreSQL', sizes, postgres.place, postgres.cpu, chosen)))
  } finally {
    if (keep === undefined) rmSync(folder, { recursive: true, force: true })
  }
  return grown
}

async function printTable(
  database: string,
  sizes: readonly number[],
  place: Place,
  serverCpu: ServerCpu,
  chosen: readonly Operation[],
): Promise<readonly string[]> {
  const figures: (readonly Cost[])[] = []
  for (const rows of sizes) figures.push(await measure(place, rows, serverCpu, chosen))
  console.log(`| µs of CPU on ${database} | ${sizes.map(rows => rows.toLocaleString('en')).join(' | ')} |`)
  console.log(`| --- |${' --- |'.repeat(sizes.length)}`)
  return chosen.flatMap(({ name }, at) => {
    const costs = figures.map(each => each[at] ?? { own: 0, server: 0 })
    const [first = 0] = costs.map(sum)
    console.log(`| ${name} | ${costs.map(cost => writeCost(cost, sum(cost) / first)).join(' | ')} |`)
    return costs.some(cost => sum(cost) > flagged * first) ? [`${name} on ${database}`] : []
  })
}

const sum = ({ own, server }: Cost): number => own + server
const writeCost = ({ own, server }: Cost, ratio: number): string => {
  const parts = [own, ...(server > 0 ? [server] : [])].map(each => Math.round(each).toLocaleString('en'))
  return `${parts.join(' + ')}${ratio > flagged ? ` (${ratio.toFixed(1)} ×)` : ''}`
}
