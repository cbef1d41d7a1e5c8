/**
 * Servers that do what Diglot asks of SQLite for a POST of an order, a PATCH and a payment, and nothing else: no caller,
 * policy, state machine, tag or link; the content is parsed, and what was recorded for the same content is run.
 * `replay.js fastify|floor STATEMENTS FILE`:
 *  - fastify: a bare Fastify, a transaction a request, as a team writes it.
 *  - floor: a bare socket whose head is not parsed, and one transaction for all requests that are there.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { instantKey } from '../../src/store/sort-key.ts'
import { ready } from './report.js'

const [kind, statements, file] = process.argv.slice(2)
const database = new DatabaseSync(file)
database.exec('pragma journal_mode = wal; pragma synchronous = full')
const texts = new Map()
const prepare = text => texts.get(text) ?? texts.set(text, database.prepare(text)).get(text)
const mapValues = (of, change) => Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]))
/** By the kind of change and the content of its request. */
const prepared = mapValues(JSON.parse(readFileSync(statements, 'utf8')), contents =>
  mapValues(contents, all => all.map(({ text, values }) => ({ statement: prepare(text), values }))),
)
const [begin, commit] = ['begin immediate', 'commit'].map(text => database.prepare(text))

function perform(name, id, content) {
  const now = Date.now()
  const time = new Date(now).toISOString()
  const own = { id, version: undefined, now, time, order: instantKey(time) }
  const place = value => {
    if (value?.whole !== undefined) return BigInt(value.whole)
    return value?.of === undefined ? value : own[value.of]
  }
  for (const { statement, values } of prepared[name][content] ?? prepared[name]['*']) {
    const [row] = statement.all(...values.map(place))
    own.version = row?._version ?? own.version
  }
  return {
    id,
    customer: 'c-1',
    lines: [{ product: 'p-1', quantity: 1, price: '4.95' }],
    currency: 'EUR',
    total: '4.95',
  }
}
/** In the order in which they are made, as those of Diglot: an index takes them at its end. */
let made = 0
const nextId = () => `o-${Date.now().toString(36)}${String(made++).padStart(12, '0')}`

/** POST to the collection makes one; below an order it is a payment. */
function answer(target, content) {
  JSON.parse(content)
  const [, , , id, action] = target.split('/')
  return id === undefined ? perform('create', nextId(), content) : perform(action ? 'pay' : 'change', id, content)
}

if (kind === 'fastify') await serveFastify()
else serveFloor()

async function serveFastify() {
  const Fastify = createRequire(new URL('../peers/package.json', import.meta.url))('fastify')
  const transact = work => {
    begin.run()
    const result = work()
    commit.run()
    return result
  }
  const app = Fastify()
  const change = (name, id, { body }) => transact(() => perform(name, id, JSON.stringify(body)))
  app.post('/api/orders', (request, reply) => reply.code(201).send(change('create', nextId(), request)))
  app.patch('/api/orders/:id', request => change('change', request.params.id, request))
  app.post('/api/orders/:id/payment', (request, reply) =>
    reply.code(201).send(change('pay', request.params.id, request)),
  )
  app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, (_, text, done) =>
    done(null, JSON.parse(text)),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  ready(app.server.address().port)
}

function serveFloor() {
  let waiting = []
  const performAll = () => {
    const all = waiting
    waiting = []
    begin.run()
    const answers = all.map(({ target, content }) => JSON.stringify(answer(target, content)))
    commit.run()
    all.forEach(({ socket, status }, i) => {
      const length = Buffer.byteLength(answers[i])
      socket.write(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${answers[i]}`,
      )
    })
  }
  const server = createServer({ noDelay: true }, socket => {
    let held = ''
    socket.setEncoding('latin1').on('error', () => socket.destroy())
    socket.on('data', part => {
      held += part
      const end = held.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/\r\ncontent-length: *([0-9]+)/i.exec(held)?.[1])
      if (held.length < end + 4 + length) return
      const [method, target] = held.split(' ', 2)
      const status = method === 'POST' ? '201 Created' : '200 OK'
      if (waiting.push({ socket, target, status, content: held.slice(end + 4) }) === 1) setImmediate(performAll)
      held = ''
    })
  })
  server.listen(0, '127.0.0.1', () => ready(server.address().port))
}
