/** Operations: names of requests, metrics, tracing, overload and the pages for operators. */
import assert from 'node:assert/strict'
import { tracingChannel } from 'node:diagnostics_channel'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { startService, startWorkers } from '../../src/host/serve.ts'
import { bearer, json, sendRequest, startHosted } from '../host/hosted-service.ts'

const envelope = (body: string) =>
  `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>${body}</e:Body></e:Envelope>`
const getProduct = envelope('<GetProduct xmlns="urn:diglot:orders:v1"><id>p-1</id></GetProduct>')
const soap = { 'content-type': 'application/soap+xml' }
const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('Request-Id', async () => {
  const lines: { readonly message: string; readonly fields: Record<string, unknown> }[] = []
  const write = (fields: object, message: string) => void lines.push({ message, fields: { ...fields } })
  const logger = { info: write, warn: write, error: write }
  const open = await startHosted({ logger, accessLog: true })
  const behind = await startHosted({ logger, insecure: true, settings: { trustProxy: true } })
  const made = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
  const rows: readonly [string, typeof open, Record<string, string>, RegExp][] = [
    ['is made up', open, {}, made],
    ['is not accepted from an unknown client', open, { 'x-request-id': 'of-a-stranger' }, made],
    ['is accepted from a trusted proxy', behind, { 'x-request-id': 'of-the-proxy' }, /^of-the-proxy$/],
    ['of Request-Id as well', behind, { 'request-id': 'of-the-proxy' }, /^of-the-proxy$/],
    ['the identifier of a trace', behind, { traceparent: trace }, /^0af7651916cd43dd8448eb211c80319c$/],
    ['a trace of zeros is ignored', behind, { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` }, made],
    ['a value that a field cannot have is not accepted', behind, { 'x-request-id': 'two words, "quoted"' }, made],
    ['too long', behind, { 'x-request-id': 'x'.repeat(129) }, made],
    ['too short to be distinctive', behind, { 'x-request-id': '1' }, made],
  ]
  for (const [title, { ask }, fields, expected] of rows)
    test(title, async () => {
      const rest = await ask('GET', '/api/v1/products/p-1', fields)
      const body = await ask('POST', '/soap/v1', { ...soap, ...fields }, getProduct)
      assert.deepEqual([rest.status, body.status], [200, 200])
      assert.match(String(rest.fields['request-id']), expected)
      assert.match(String(body.fields['request-id']), expected)
    })

  test('is also in refusals, pages and responses to unknown targets, each with its own', async () => {
    const names = new Set<unknown>()
    for (const target of ['/api/v1/orders', '/nowhere', '/health/live', '/soap/v1', '/openapi.json'])
      names.add((await open.ask('GET', target)).fields['request-id'])
    assert.equal(names.size, 5)
    for (const name of names) assert.match(String(name), made)
  })

  test('is the same in the audit, the log line of the change and that of the request', async () => {
    const token = await open.server.token('maria', ['manager'])
    const product = JSON.stringify({ name: 'Lamp', price: '1.00', stock: 1 })
    const { fields, status } = await open.ask('POST', '/api/v1/products?x=1', { ...bearer(token), ...json }, product)
    assert.equal(status, 400)
    const created = await open.ask('POST', '/api/v1/products', { ...bearer(token), ...json }, product)
    assert.equal(created.status, 201)
    const changed = lines.find(line => line.message === 'changed')
    assert.equal(changed?.fields['request'], created.fields['request-id'])
    const line = lines.find(each => each.message === 'answered' && each.fields['id'] === fields['request-id'])
    assert.equal(line?.fields['path'], '/api/v1/products')
    assert.deepEqual([line?.fields['status'], line?.fields['method'], line?.fields['face']], [400, 'POST', 'rest'])
  })
})

/** A resource whose creation waits until it is released, and one with a broken handler. */
function createSlowService() {
  const gate = Promise.withResolvers<void>()
  const things = resource('things', { fields: { id: t.id('t'), name: t.string() } }).rules({
    allow: { read: [anyone], create: [anyone], change: [anyone] },
    messages: ['get', 'list', 'create'],
  })
  const contract = service('slow', { namespace: 'urn:slow', resources: [things], versions: { v1: {} } })
  const app = implement(contract, {
    things: {
      derive: async (_ctx, draft) => {
        if (draft.name === 'broken') throw new Error('on purpose')
        if (draft.name === 'slow') await gate.promise
        return {}
      },
    },
  })
  return { app, release: () => gate.resolve() }
}
const thingJson = (name: string) => JSON.stringify({ name })

describe('overload (row 3)', async () => {
  const { app, release } = createSlowService()
  const server = await startService(app, {
    port: 0,
    data: ':memory:',
    overload: { concurrent: 2 },
    logger: silentLogger(),
  })
  after(() => server.close(0))
  const ask = (method: string, target: string, fields = {}, content?: string) =>
    sendRequest(server.port, method, target, fields, content)

  test('requests under load are refused on both faces, and health is not', async () => {
    const held = [1, 2].map(() => ask('POST', '/api/v1/things', json, thingJson('slow')))
    const isHeld = async () => {
      const { text } = await ask('GET', '/metrics')
      return (
        /^diglot_requests_in_flight 3$/m.test(text) && /^diglot_store_waiting\{store="primary"\} [1-9]$/m.test(text)
      )
    }
    for (let tries = 0; tries < 3000 && !(await isHeld()); tries++) await pause(20)
    const rest = await ask('GET', '/api/v1/things')
    assert.deepEqual([rest.status, rest.fields['retry-after']], [503, '5'])
    const body = await ask('POST', '/soap/v1', soap, getProduct)
    assert.deepEqual([body.status, body.fields['retry-after']], [503, '5'])
    assert.equal((await ask('GET', '/health/live')).status, 200)
    const ready = await ask('GET', '/health/ready')
    assert.equal(ready.status, 503)
    assert.deepEqual(JSON.parse(ready.text), {
      status: 'overloaded',
      checks: { store: 'ok', shape: 'ok', load: 'failed', draining: 'ok' },
    })
    const figures = (await ask('GET', '/metrics')).text
    assert.match(figures, /^diglot_requests_shed_total 2$/m)
    assert.match(figures, /^diglot_store_waiting\{store="primary"\} [1-9]$/m)
    release()
    assert.deepEqual(
      (await Promise.all(held)).map(each => each.status),
      [201, 201],
    )
    assert.equal((await ask('GET', '/api/v1/things')).status, 200)
    assert.equal((await ask('GET', '/health/ready')).status, 200)
  })
})

describe('stopping', () => {
  test('requests on kept connections get a last response, and readiness fails', async () => {
    const { server } = await startHosted()
    const rows: readonly [string, string, string?][] = [
      ['GET', '/api/products/p-1'],
      ['POST', '/soap/v1', getProduct],
      ['GET', '/health/ready'],
    ]
    const asking = rows.map(([method, path, content]) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const send = () =>
        new Promise<readonly [number | undefined, string | undefined, string]>((resolve, reject) => {
          const asked = request({ port: server.port, host: '127.0.0.1', method, path, headers: soap, agent }, reply =>
            text(reply).then(read => resolve([reply.statusCode, reply.headers.connection, read]), reject),
          )
          asked.on('error', reject).end(content)
        })
      return send
    })
    for (const send of asking) assert.deepEqual((await send()).slice(0, 2), [200, 'keep-alive'])
    const closed = server.close()
    const last = await Promise.all(asking.map(send => send()))
    await closed
    assert.deepEqual(
      last.map(([status, connection]) => [status, connection]),
      [200, 200, 503].map(status => [status, 'close']),
    )
    assert.equal(JSON.parse(last[2]?.[2] ?? '').status, 'draining')
  })
})

function silentLogger() {
  return { info: () => {}, warn: () => {}, error: () => {} }
}

describe('figures and traces', async () => {
  const server = await startService(createSlowService().app, { port: 0, data: ':memory:', logger: silentLogger() })
  after(() => server.close(0))
  const ask = (method: string, target: string, fields = {}, content?: string) =>
    sendRequest(server.port, method, target, fields, content)

  test('calls by operation, face and outcome; responses by status; the process itself', async () => {
    await ask('POST', '/api/v1/things', json, thingJson('a'))
    await ask('POST', '/api/v1/things', json, thingJson('broken'))
    await ask('GET', '/api/v1/things/none')
    await ask('POST', '/soap/v1', soap, envelope('<GetThing xmlns="urn:slow:v1"><id>none</id></GetThing>'))
    const { text: body, status, fields } = await ask('GET', '/metrics')
    assert.equal(status, 200)
    assert.equal(fields['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    for (const line of [
      'diglot_call_duration_seconds_count{face="rest",operation="CreateThing",outcome="ok"} 1',
      'diglot_call_duration_seconds_count{face="rest",operation="CreateThing",outcome="failed"} 1',
      'diglot_call_duration_seconds_count{face="rest",operation="GetThing",outcome="not-found"} 1',
      'diglot_call_duration_seconds_count{face="soap",operation="GetThing",outcome="not-found"} 1',
      'diglot_http_responses_total{face="rest",status="500"} 1',
      'diglot_requests_in_flight 1',
    ])
      assert.ok(body.split('\n').includes(line), `${line} is not among\n${body}`)
    assert.match(
      body,
      /^diglot_call_duration_seconds_bucket\{face="rest",operation="CreateThing",outcome="ok",le="\+Inf"\} 1$/m,
    )
    assert.match(body, /^nodejs_eventloop_lag_seconds /m)
    assert.match(body, /^process_cpu_seconds_total /m)
    assert.equal((await ask('POST', '/metrics')).status, 405)
  })

  test('a tracer sees each call begin and end, with its outcome', async () => {
    const seen: string[] = []
    const channel = tracingChannel('diglot:call')
    const note = (at: string) => (message: unknown) => {
      const { operation, face, outcome } = message as Record<string, string>
      seen.push(`${at} ${face} ${operation} ${outcome}`)
    }
    const subscribers = {
      start: note('start'),
      end: () => {},
      asyncStart: () => {},
      asyncEnd: note('asyncEnd'),
      error: note('error'),
    }
    channel.subscribe(subscribers)
    await ask('GET', '/api/v1/things')
    await ask('GET', '/api/v1/things/none')
    channel.unsubscribe(subscribers)
    await ask('GET', '/api/v1/things')
    assert.deepEqual(seen, [
      'start rest ListThings undefined',
      'asyncEnd rest ListThings ok',
      'start rest GetThing undefined',
      'error rest GetThing not-found',
      'asyncEnd rest GetThing not-found',
    ])
  })
})

test('closing: current requests are completed within the limit, new ones are refused, readiness fails', async () => {
  const { app, release } = createSlowService()
  const server = await startService(app, { port: 0, data: ':memory:', logger: silentLogger() })
  const held = sendRequest(server.port, 'POST', '/api/v1/things', json, thingJson('slow'))
  await pause(100)
  const closed = server.close(5000)
  release()
  assert.equal((await held).status, 201)
  await closed
  await assert.rejects(sendRequest(server.port, 'GET', '/health/live'))
})

describe('a start that fails leaves nothing open', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-start-'))
  after(() => rmSync(folder, { recursive: true }))
  const { app } = createSlowService()
  const schedule = { name: 's', job: 'none', at: 60, input: () => ({}), as: { subject: 's', roles: [], claims: {} } }
  const sinks = [{ name: 's', deliver: async () => {} }]
  const starts: readonly [string, (data: string) => Promise<unknown>, RegExp][] = [
    [
      'where the address is in use',
      async data => {
        const { server } = await startHosted()
        return startService(app, {
          port: server.port,
          data,
          sinks,
          replies: ['https://example.org/'],
          logger: silentLogger(),
        })
      },
      /in use/,
    ],
    [
      'where a schedule has no job',
      data => startService(app, { port: 0, data, schedules: [schedule] }),
      /names the unknown job none/,
    ],
    ['of workers alone', data => startWorkers(app, { data, schedules: [schedule] }), /names the unknown job none/],
  ]
  for (const [i, [title, start, why]] of starts.entries())
    test(title, async () => {
      const data = join(folder, `${i}.sqlite`)
      await assert.rejects(start(data), why)
      // SQLite removes its log with its last connection.
      assert.deepEqual([existsSync(data), existsSync(`${data}-wal`)], [true, false])
    })
})
