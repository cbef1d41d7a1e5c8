/** Each response that an operator must know of has a log line, with its cause and its name. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import app from '../../examples/orders/service.ts'
import type { ErasedHandlers, Implementation } from '../../src/contract/implement.ts'
import { errorFields } from '../../src/host/operations/log.ts'
import { OutageLog } from '../../src/host/operations/outage-log.ts'
import { startService } from '../../src/host/serve.ts'
import { createWorld } from '../../src/host/world.ts'
import { Refused } from '../../src/service/refusal.ts'
import { Unavailable } from '../../src/service/store.ts'
import { type ClinicHandlers, createClinic } from '../service/clinic-service.ts'
import { basic, bearer, json, type Line, startHosted } from './hosted-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-log-'))
after(() => rmSync(folder, { recursive: true }))
const clara = { ...basic('clara', 'clara-secret'), ...json }
const order = '{"customer":"c-1","lines":[{"product":"p-1","quantity":1}],"currency":"EUR"}'
const soapOrder = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CreateOrder xmlns="urn:diglot:orders:v1"><order><customer>c-1</customer><lines><line><product>p-1</product><quantity>1</quantity></line></lines><currency>EUR</currency></order></CreateOrder></e:Body></e:Envelope>`
const soap = { ...clara, 'content-type': 'application/soap+xml' }

/** The orders, but this computes what a client's content becomes. */
function deriving(derive: NonNullable<ErasedHandlers['derive']>): Implementation {
  const orders = { actions: {}, ...app.handlers['orders'], derive }
  return { ...app, handlers: { ...app.handlers, orders } }
}
const told = (lines: readonly Line[], message: string) =>
  lines.filter(each => each.message === message).map(each => each.fields)

describe('each 503 has a line with its cause, its operation and its caller', () => {
  test('a store that another process holds', async () => {
    const data = join(folder, 'busy.sqlite')
    const { ask, lines } = await startHosted({ data })
    const other = new DatabaseSync(data)
    other.exec('begin immediate')
    const answers = await Promise.all([
      ask('POST', '/api/v1/orders', clara, order),
      ask('POST', '/soap/v1', soap, soapOrder),
    ])
    other.exec('rollback')
    other.close()
    assert.deepEqual(
      answers.map(each => each.status),
      [503, 503],
    )
    for (const each of answers) assert.doesNotMatch(each.text, /locked/)
    const [first] = told(lines, 'answered 503')
    assert.match(String(first?.['error']), /database is locked/)
    assert.deepEqual([first?.['operation'], first?.['subject']], ['CreateOrder', 'clara'])
    assert.ok(answers.some(each => each.fields['request-id'] === first?.['request']))
  })

  test('a service with too many requests in progress, on each mount', async () => {
    const { ask, lines } = await startHosted({ overload: { concurrent: 0 } })
    for (const path of ['/api/v1/orders', '/changes', '/soap/v1?wsdl']) {
      const before = told(lines, 'answered 503').length
      assert.equal((await ask('GET', path)).status, 503, path)
      await sleep(1100)
      assert.ok(told(lines, 'answered 503').length > before, path)
    }
    assert.match(String(told(lines, 'answered 503')[0]?.['error']), /too many requests are in progress/)
  })

  test('a connection that is refused before it sends anything has a line with the reason and the address', async () => {
    const { ask, lines, server } = await startHosted({ limits: { connections: 1 } })
    const first = connect(server.port, '127.0.0.1')
    await once(first, 'connect')
    const second = connect(server.port, '127.0.0.1')
    const [octets] = await once(second, 'data')
    assert.match(String(octets), /^HTTP\/1\.1 503 /)
    const closed = once(first, 'close')
    first.destroy()
    await closed
    second.destroy()
    assert.deepEqual(told(lines, 'refused a connection'), [
      { from: '127.0.0.1', error: 'the server has reached its limit of open connections: try again later' },
    ])
    assert.ok(ask)
  })
  test('requests that are refused by their octets have a line a second for each reason, with address and status', async () => {
    const { lines, server } = await startHosted({ limits: { fields: 4000 } })
    const secret = 'x-a: secret'
    const send = async (octets: string): Promise<string> => {
      const socket = connect(server.port, '127.0.0.1')
      socket.write(octets)
      const [answer] = await once(socket, 'data')
      socket.destroy()
      return String(answer).slice(9, 12)
    }
    const long = `GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'a'.repeat(5000)}\r\n\r\n`
    const chunks =
      'POST /soap/v1 HTTP/1.1\r\nhost: a\r\ncontent-type: text/xml\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n'
    const folded = `GET / HTTP/1.1\r\nhost: a\r\n${secret}\r\n more\r\n\r\n`
    assert.deepEqual(await Promise.all([send(folded), send(folded), send(long)]), ['400', '400', '431'])
    assert.equal(await send(chunks), '400')
    await sleep(1100)
    const shown = told(lines, 'refused a request').map(each => ({ ...each, error: String(each['error']).slice(0, 20) }))
    assert.deepEqual(shown, [
      { from: '127.0.0.1', status: 400, error: 'a field line is not ' },
      { from: '127.0.0.1', status: 431, error: 'the fields take more' },
      { from: '127.0.0.1', status: 400, error: 'the chunked coding o' },
      { error: 'a field line is not ', suppressed: 1 },
    ])
    assert.doesNotMatch(JSON.stringify(lines), /secret/)
  })

  test('a probe that learns that the service is not ready does not count as an unserved request', async () => {
    const { ask, lines } = await startHosted({ overload: { concurrent: 0 } })
    assert.equal((await ask('GET', '/health/ready')).status, 503)
    assert.deepEqual(told(lines, 'answered 503'), [])
    assert.deepEqual(told(lines, 'readiness has changed'), [{ status: 'overloaded' }])
  })

  test('other parties that fail are no internal error: one line a minute for each cause', async () => {
    const unusable = 'another party or a file of settings cannot be used'
    const gone = new Error('the directory is gone')
    const find = (): never => {
      throw gone
    }
    const replies = 'http://127.0.0.1:9/replies'
    const { ask, lines } = await startHosted({ people: { prove: find, find }, replies: [replies] })
    const header = `<e:Header xmlns:a="http://www.w3.org/2005/08/addressing"><a:Action>urn:diglot:orders:v1/GetProduct</a:Action><a:MessageID>urn:uuid:7</a:MessageID><a:ReplyTo><a:Address>${replies}</a:Address></a:ReplyTo></e:Header>`
    const getProduct = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope">${header}<e:Body><GetProduct xmlns="urn:diglot:orders:v1"><id>p-1</id></GetProduct></e:Body></e:Envelope>`
    const sent = () => ask('POST', '/soap/v1', { 'content-type': 'application/soap+xml' }, getProduct)
    assert.deepEqual([(await sent()).status, (await sent()).status], [202, 202])
    for (let i = 0; i < 3; i++) assert.equal((await ask('GET', '/api/v1/orders', clara)).status, 503)
    for (let tries = 0; tries < 250 && told(lines, unusable).length < 2; tries++) await sleep(20)
    const causes = told(lines, unusable).map(({ error }) => String(error).split('\n')[0])
    assert.deepEqual(causes.sort(), ['Error: a reply to 127.0.0.1:9 was not delivered', 'Error: the directory is gone'])
    assert.deepEqual(told(lines, 'internal error'), [])
  })
  test('work that a store delays is no internal error: one line a minute', t => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const lines: [string, object][] = []
    const line = (fields: object, message: string) => void lines.push([message, fields])
    const { failed } = createWorld({ logger: { info: line, warn: line, error: line } })
    for (let i = 0; i < 3; i++) failed(new Unavailable(1, 'the database does not reply'))
    t.mock.timers.tick(60_000)
    assert.deepEqual(lines, [
      ['work waits for the store', { error: 'the database does not reply' }],
      ['work waits for the store', { error: 'the database does not reply', suppressed: 2 }],
    ])
    failed(new Error('a bug'))
    assert.equal(lines.at(-1)?.[0], 'internal error')
  })

  test('a mistake in a schedule is an internal error, with its stack, and does not count as a waiting store', async () => {
    const { promise: told, resolve } = Promise.withResolvers<object>()
    const lines: string[] = []
    const add = (_: object, message: string) => void lines.push(message)
    const error = (fields: object, message: string) => {
      add(fields, message)
      resolve(fields)
    }
    let asked = 0
    const input = () => {
      if (asked++ > 0) throw new TypeError('a bug') // the start asks once
      return { from: '2026-01-01', to: '2026-12-31', kind: 'sales' }
    }
    const daily = { name: 'each second', job: 'reports', at: 1, input, as: { subject: 'alice', roles: [], claims: {} } }
    const logger = { info: add, warn: add, error }
    const server = await startService(app, { port: 0, data: ':memory:', logger, schedules: [daily] })
    const fields = JSON.stringify(await told)
    await server.close(0)
    assert.match(
      fields,
      /"incident":"[-0-9a-f]+".*the schedule each second: its input failed: a bug.*TypeError: a bug\\n +at /,
    )
    assert.ok(!lines.includes('work waits for the store'))
  })

  test('one line a second for each cause, with the count of all others', async t => {
    const lines: object[] = []
    const log = new OutageLog({ warn: fields => void lines.push(fields) })
    t.mock.timers.enable({ apis: ['setTimeout'] })
    for (let i = 0; i < 5; i++) log.record('no disk', { request: `r-${i}` })
    log.record('no network', { request: 'r-5' })
    assert.deepEqual(lines, [
      { request: 'r-0', error: 'no disk' },
      { request: 'r-5', error: 'no network' },
    ])
    t.mock.timers.tick(1000)
    assert.deepEqual(lines.slice(2), [{ error: 'no disk', suppressed: 4 }])
    log.record('no disk', { request: 'r-6' })
    log.flush()
    assert.deepEqual(lines.slice(3), [{ error: 'no disk', suppressed: 1 }])
    t.mock.timers.tick(1000)
    t.mock.timers.tick(1000)
    log.record('no disk', { request: 'r-7' })
    assert.deepEqual(lines.at(-1), { request: 'r-7', error: 'no disk' })
  })
})

test('an incident has the operation, the caller, the stack and what caused it', async () => {
  const failing = deriving(() => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
  })
  const { ask, lines } = await startHosted({}, failing)
  await ask('POST', '/api/v1/orders', clara, order)
  await ask('POST', '/soap/v1', soap, soapOrder)
  const errors = told(lines, 'internal error')
  assert.equal(errors.length, 2)
  for (const each of errors) {
    assert.deepEqual([each['operation'], each['subject']], ['CreateOrder', 'clara'])
    assert.match(
      String(each['error']),
      /^TypeError: fetch failed\n +at [\s\S]*\[cause\]: Error: connect ECONNREFUSED\n +at /,
    )
  }
})

test('a line of the access log names the operation and the caller', async () => {
  const { ask, lines } = await startHosted({ accessLog: true })
  await ask('GET', '/api/v1/orders/o-1', basic('clara', 'clara-secret'))
  await ask('POST', '/soap/v1', soap, soapOrder)
  await ask('GET', '/api/v1/orders/o-1')
  assert.deepEqual(
    told(lines, 'answered').map(each => [each['operation'], each['subject']]),
    [
      ['GetOrder', 'clara'],
      ['CreateOrder', 'clara'],
      ['GetOrder', undefined],
    ],
  )
})

describe('a change that holds the store for more than a second is named while it does', () => {
  const slow = 'a change holds the store for more than a second: do slow work in a job'
  const { derive = () => ({}) } = app.handlers['orders'] ?? {}
  const cases: readonly (readonly [string, () => unknown])[] = [
    ['one that waits', () => sleep(1500)],
    [
      'one that computes',
      () => {
        const until = performance.now() + 1100
        while (performance.now() < until);
      },
    ],
  ]
  for (const [title, work] of cases)
    test(title, async () => {
      const slowly = deriving(async (ctx, draft, current) => {
        await work()
        return derive(ctx, draft, current)
      })
      const { ask, lines } = await startHosted({}, slowly)
      assert.equal((await ask('POST', '/api/v1/orders', clara, order)).status, 201)
      const [line, ...more] = told(lines, slow)
      assert.deepEqual([line?.['operation'], line?.['subject'], more], ['CreateOrder', 'clara', []])
    })

  test('a change of a job is named by the job', async () => {
    const archives: ClinicHandlers['archives'] = {
      run: async ctx => {
        await sleep(1100) // what a job does between its changes holds nothing
        await ctx.once('archive', () => sleep(1500))
        return { visits: 0 }
      },
    }
    const { ask, lines, server } = await startHosted({}, createClinic({ archives }))
    const desk = { ...bearer(await server.token('dora', ['desk'])), ...json }
    assert.equal((await ask('POST', '/api/v1/archives', desk, '{"year":2000}')).status, 202)
    const ofJobs =
      'a change of a job holds the store for more than a second: do slow work before it, outside of ctx.once and derive'
    while (told(lines, ofJobs).length === 0) await sleep(20)
    const [line, ...more] = told(lines, ofJobs)
    assert.deepEqual([line?.['operation'], line?.['subject'], more, told(lines, slow)], ['archives', 'dora', [], []])
    assert.match(String(line?.['request']), /^j-/)
  })
  test('a quick change is not', async () => {
    const { ask, lines } = await startHosted()
    assert.equal((await ask('POST', '/api/v1/orders', clara, order)).status, 201)
    assert.deepEqual(told(lines, slow), [])
  })
})

test('whatever is thrown has words in the log', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [new Error('outer', { cause: { code: 7 } }), /^Error: outer\n[\s\S]*\[cause\]: \{ code: 7 \}$/],
    [new AggregateError([new Error('first'), new Error('second')], 'both'), /both[\s\S]*first[\s\S]*second/],
    [new Unavailable(1, new Error('no route')), /no route/],
    [new Refused({ kind: 'gone' }), /kind: 'gone'/],
    [{ token: 'Bearer abc' }, /\[redacted\]/],
    [undefined, /undefined/],
    ['words', /^words$/],
  ]
  for (const [thrown, expected] of cases) {
    const { error } = errorFields(thrown) as { error: string }
    assert.match(error, expected)
    assert.doesNotMatch(error, /\[object Object\]/)
  }
})

test('B8 a filter that the data shows to leave many items is reported at start, with its index', async () => {
  const data = join(folder, 'crowded.sqlite')
  const first = await startHosted({ data })
  await first.server.close(0)
  assert.deepEqual(told(first.lines, 'the data asks for an index'), [])
  const database = new DatabaseSync(data)
  database.exec(`analyze; update sqlite_stat1 set "stat" = '100 900 1' where "idx" = 'orders#note'`)
  database.close()
  const { lines } = await startHosted({ data })
  assert.deepEqual(told(lines, 'the data asks for an index'), [
    {
      warning: `about 900 items of orders have the same note, and a list of them sorts all: declare indexes: [['note', '-placedAt']]; unserved: 'accept' ends this warning`,
    },
  ])
})
