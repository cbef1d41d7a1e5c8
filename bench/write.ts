/**
 * Changes that are answered when they are durable: a note by POST over 32 connections, beside Fastify that runs the same
 * statements on tables of the same shape, a transaction a request. Requests a second here, for a flush costs time and no CPU.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgres, sqlite } from '../src/store/dialect.ts'
import { compileStoreSchema } from '../src/store/sql-access.ts'
import { cluster, hasPostgres } from '../test/peers/postgres.ts'
import {
  type Ask,
  compare,
  disk,
  type Found,
  freePort,
  inFolder,
  Line,
  median,
  paired,
  peersInstalled,
  quick,
  type Row,
  row,
  skipped,
  start,
  stayOff,
  stopped,
  type Target,
} from './harness.ts'
import { book } from './servers/notes.ts'

const connections = 32
const text = 'Call back about the delivery on Thursday; the second parcel was damaged on its way.'
const content = JSON.stringify({ author: 'clara', text, count: 2, done: false })
const ask: Ask = {
  request: `POST /api/notes HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: ${content.length}\r\n\r\n${content}`,
  contains: '"author":"clara"',
  status: 201,
}

/** The statements that making a note runs, as Diglot writes them. */
function statements(file: string, dialect: typeof sqlite): string {
  const { items, records } = compileStoreSchema(book, dialect, () => {
    throw new Error('nothing is read here')
  })
  const { insert } = items.get('notes')!
  const numbering = { text: 'select pg_advisory_xact_lock(7306359, hashtext(current_schema()))', places: [] }
  const used = { insert, changed: records.changed, record: records.record }
  writeFileSync(file, JSON.stringify(dialect === postgres ? { ...used, numbering } : used))
  return file
}

export const write = async (): Promise<Row[]> => {
  peersInstalled()
  stayOff()
  return [...(await durable()), await onPostgres()]
}

const durable = (): Promise<Row[]> =>
  inFolder(async folder => {
    const texts = statements(join(folder, 'statements.json'), sqlite)
    const against = { full: '≥ 8', normal: '≥ 1.5' }
    const rows: Row[] = []
    for (const [synchronous, goal] of Object.entries(against)) {
      const files = ['ours', 'theirs'].map(each => join(folder, `${synchronous}-${each}.sqlite`))
      const [ours, theirs] = [await start('diglot', 'notes.ts', [files[0]!]), await shaped(files[1]!)]
      const peer = await start('Fastify', 'write.js', [texts, synchronous, theirs])
      const found = await paired(
        quick ? 3 : 9,
        () => each(ours),
        () => each(peer),
      )
      for (const target of [ours, peer]) await stopped(target)
      const rates = [found.ours, found.theirs].map(took => `${Math.round(1e6 / took)}/s`).join(', ')
      const name = `Fastify, each commits, synchronous=${synchronous.toUpperCase()}`
      rows.push({
        what: `durable POST, ${connections} connections, requests/s`,
        against: name,
        ratio: found.ratio,
        goal,
        note: `${rates}; files in ${disk}`,
      })
    }
    return rows
  })

/** A file with the tables that Diglot makes. */
async function shaped(file: string): Promise<string> {
  await stopped(await start('diglot', 'notes.ts', [file]))
  return file
}

/** Microseconds of time for one request. */
async function each({ port }: Target): Promise<number> {
  const line = await Line.open(port, connections)
  await line.ask(ask, connections * 4)
  const began = performance.now()
  const count = await line.ask(ask, Number.POSITIVE_INFINITY, began + 1500)
  const took = performance.now() - began
  line.close()
  return (took * 1000) / count
}

const onPostgres = async (): Promise<Row> => {
  const [what, against] = ['POST on PostgreSQL, the whole stack', 'Fastify, the same SQL through pg']
  if (!hasPostgres()) return skipped(what, against, 'PostgreSQL is not installed')
  return inFolder(async folder =>
    inFolder(async place => {
      const database = await cluster(place, await freePort(), { durable: true })
      const ours = await start('diglot', 'notes.ts', [join(folder, 'key'), database.url])
      const texts = statements(join(folder, 'statements.json'), postgres as typeof sqlite)
      const peer = await start('Fastify', 'write.js', [texts, 'postgres', database.url])
      try {
        const found: Found = await compare({ target: ours, ask }, { target: peer, ask }, { connections })
        const rates = []
        for (const target of [ours, peer])
          rates.push(`${Math.round(1e6 / median([await each(target), await each(target), await each(target)]))}/s`)
        const made = row(what, against, '≥ 1', found)
        return { ...made, note: `${made.note}; ${rates.join(', ')}` }
      } finally {
        for (const target of [ours, peer]) await stopped(target)
        await database.stop()
      }
    }),
  )
}
