/**
 * Fastify that makes the same note by the same statements, in one transaction a request: `write.js STATEMENTS full|normal FILE`
 * on node:sqlite with that `synchronous`, `write.js STATEMENTS postgres URL` through pg. The tables are those Diglot made.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { DatabaseSync } from 'node:sqlite'
import { ready } from './report.js'

const Fastify = createRequire(new URL('../peers/package.json', import.meta.url))('fastify')
const [statements, kind, place] = process.argv.slice(2)
const texts = JSON.parse(readFileSync(statements, 'utf8'))
const placed = (name, values) => texts[name].places.map(at => values[at])

/** What each statement takes; the note as the row of its table, with a version that is another each time. */
const steps = ({ id, author, text, count, done }, now, flag, version = now * 1000) => [
  ['insert', [id, now, null, version, author, text, count, flag(done)]],
  ['changed', [now, 'notes', id, version, 'created', 'CreateNote']],
  ['record', [now, '', 'CreateNote', 'notes', id, version, 'rest', randomUUID()]],
]

function sqlite() {
  const database = new DatabaseSync(place)
  database.exec(`pragma journal_mode = wal; pragma synchronous = ${kind}`)
  const prepared = Object.fromEntries(Object.entries(texts).map(([name, { text }]) => [name, database.prepare(text)]))
  const [begin, commit] = ['begin immediate', 'commit'].map(text => database.prepare(text))
  return note => {
    begin.run()
    for (const [name, values] of steps(note, Date.now(), Number)) prepared[name].all(...placed(name, values))
    commit.run()
  }
}

async function postgres() {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: place, max: 10 })
  const run = async (client, note) => {
    await client.query('begin isolation level read committed')
    for (const [name, values] of steps(note, Date.now(), flag => flag)) {
      if (name === 'changed') await client.query({ name: 'numbering', text: texts.numbering.text })
      await client.query({ name, text: texts[name].text, values: placed(name, values) })
    }
    await client.query('commit')
  }
  return async note => {
    const client = await pool.connect()
    try {
      await run(client, note)
    } finally {
      client.release()
    }
  }
}

const write = kind === 'postgres' ? await postgres() : sqlite()
const app = Fastify()
app.post('/api/notes', async (request, reply) => {
  const note = { id: `n-${randomUUID()}`, ...request.body }
  await write(note)
  reply.code(201).header('location', `/api/notes/${note.id}`)
  return note
})
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port)
