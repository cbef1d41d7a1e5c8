/**
 * Rows 1–9 and the rule for passwords: one table for REST, SOAP and every page, without a socket.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { createFront } from '../../src/front/front.ts'
import { createGate, type LoadGauge, openGate } from '../../src/front/gate.ts'
import { createMounts } from '../../src/host/mounts.ts'
import { Metrics } from '../../src/host/operations/metrics.ts'
import { createMessageSecurity } from '../../src/host/trust/message-security.ts'
import { codings } from '../../src/host/zlib-codings.ts'
import { contentOf, type Request } from '../../src/http/message.ts'
import { createChangesPage } from '../../src/pages/changes.ts'
import { wsseNs } from '../../src/security/vocabulary.ts'
import type { Settings } from '../../src/service/face-context.ts'
import type { Identities } from '../../src/service/identity-port.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import { Unavailable } from '../../src/service/store.ts'
import { type Answer, readAnswer, request, startOrders } from '../rest/orders-over-rest.ts'

interface TestServer {
  readonly ask: (asked: Request) => Promise<Answer>
  readonly load: LoadGauge
}

async function startServer(
  settings: Partial<Settings> = {},
  floodLimit = 1000,
  identities: Partial<Identities> = {},
): Promise<TestServer> {
  const { serving, store } = await startOrders({ settings: { trace: false, ...settings } })
  Object.assign(serving.identities, identities)
  const { load } = openGate()
  const { clock } = serving
  const mounts = createMounts(serving, {
    openid: undefined,
    people: { ...serving.identities, session: async () => undefined, cookie: () => undefined } as never, // the test has no sessions
    health: { store, load },
    figures: new Metrics(),
    peers: undefined,
    changes: createChangesPage(serving, store, createMemoryLimiter()),
    security: async () =>
      createMessageSecurity({}, { store, identities: serving.identities, clock, logger: { warn: () => {} } }),
    elsewhere: undefined,
  })
  const gate = createGate(load, floodLimit)
  const front = createFront({ ...serving, id: randomUUID }, mounts, { gate, codings })
  return {
    ask: async asked => readAnswer(await front(asked)),
    load,
  }
}

const getOrder = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>
  <GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder></e:Body></e:Envelope>`
const soapType = { 'content-type': 'application/soap+xml' }

interface Door {
  readonly name: string
  readonly target: string
  /** The fields of a valid request of alice. */
  readonly status: number
  readonly post?: string
  readonly allow: string
}
const doors: readonly Door[] = [
  { name: 'REST, an item', target: '/api/v2/orders/o-1', status: 200, allow: 'GET, HEAD, OPTIONS, PUT, PATCH, DELETE' },
  { name: 'REST, the entry', target: '/', status: 200, allow: 'GET, HEAD, OPTIONS' },
  { name: 'SOAP', target: '/soap/v2', status: 200, post: getOrder, allow: 'GET, HEAD, OPTIONS, POST' },
  { name: 'a WSDL', target: '/soap/v2?wsdl', status: 200, allow: 'GET, HEAD, OPTIONS' },
  { name: 'the feed', target: '/changes', status: 200, allow: 'GET, HEAD, OPTIONS' },
  { name: 'OpenAPI', target: '/openapi.json', status: 200, allow: 'GET, HEAD, OPTIONS' },
  { name: 'the log-in', target: '/login', status: 200, allow: 'GET, HEAD, OPTIONS, POST' },
  { name: 'health', target: '/health/live', status: 200, allow: 'GET, HEAD, OPTIONS' },
  { name: 'metrics', target: '/metrics', status: 200, allow: 'GET, HEAD, OPTIONS' },
]
const alice = { authorization: 'Bearer alice' }

function requestTo({ target, post }: Door, fields: Record<string, string> = {}, more: Partial<Request> = {}): Request {
  const asked = request(post ? 'POST' : 'GET', target, { ...alice, ...(post && soapType), ...fields }, post, more)
  return post ? { ...asked, content: contentOf(post) } : asked
}

describe('rows 1–9 at every door', async () => {
  const server = await startServer()
  for (const door of doors) {
    const { name, target, status } = door
    it(`RFC 9112 §3.2.2: ${name} takes the absolute form, and its host wins over the field`, async () => {
      assert.equal((await server.ask(requestTo(door))).status, status)
      assert.equal((await server.ask(requestTo(door, {}, { target: `http://shop.test${target}` }))).status, status)
      assert.equal(
        (await server.ask(requestTo(door, { host: 'x' }, { target: `http://a.test${target}` }))).status,
        status,
      )
    })
    it(`RFC 9110 §7.4: ${name} has no https target over cleartext`, async () => {
      assert.equal((await server.ask(requestTo(door, {}, { target: `https://shop.test${target}` }))).status, 421)
    })
    it(`RFC 9112 §3.2: ${name} requires exactly one valid Host`, async () => {
      for (const host of ['', 'a, b', 'u@a', 'a/b'])
        assert.equal((await server.ask(requestTo(door, { host }))).status, 400, JSON.stringify(host))
      const { host: _, ...fields } = requestTo(door).fields
      assert.equal((await server.ask({ ...requestTo(door), fields })).status, 400)
      assert.equal((await server.ask({ ...requestTo(door), fields, version: '1.0' })).status, status)
    })
    it(`RFC 9110 §15.6.2, §15.5.6, §9.3.7: methods at ${name}`, async () => {
      const asked = (method: string) => server.ask({ ...requestTo({ ...door, post: '' }), method })
      assert.equal((await asked('BREW')).status, 501)
      const [options, tracing] = [await asked('OPTIONS'), await asked('TRACE')]
      assert.deepEqual([options.status, options.fields['allow']], [204, door.allow])
      assert.deepEqual([tracing.status, tracing.fields['allow']], [405, door.allow])
      const refused = await asked('QUERY')
      assert.deepEqual([refused.status, refused.fields['allow']], [405, door.allow])
      assert.equal(refused.json.status, 405, 'A2.5: a problem')
      assert.ok(refused.json.detail)
    })
    it(`RFC 9110 §10.1.1, RFC 3986 §6.2.2: expectations and paths at ${name}`, async () => {
      assert.equal((await server.ask(requestTo(door, { expect: 'payment' }))).status, 417)
      assert.equal((await server.ask(requestTo(door, {}, { target: `/.${target}` }))).status, 400)
      assert.equal(
        (await server.ask(requestTo(door, {}, { target: `${target}${target.includes('?') ? '&' : '?'}a=%zz` }))).status,
        400,
      )
    })
    it(`${name} names each response, guards its reader, and responds to HEAD as to GET`, async () => {
      const answer = await server.ask(requestTo(door))
      assert.match(answer.fields['request-id'] ?? '', /^[0-9a-f-]{36}$/)
      assert.equal(answer.fields['x-content-type-options'], 'nosniff')
      if (door.post) return
      const head = await server.ask({ ...requestTo(door), method: 'HEAD' })
      assert.deepEqual([head.status, head.bytes.length], [status, 0])
      // Metrics differ from one response to the next.
      const length = name === 'metrics' ? /^\d+$/ : new RegExp(`^${answer.bytes.length}$`)
      assert.match(head.fields['content-length'] ?? '', length)
    })
  }
})

describe('row 3 and row 5 at every door', () => {
  for (const door of doors)
    it(`${door.name}: out of service, and in a flood`, async () => {
      const [busy, flooded] = [await startServer(), await startServer({}, 2)]
      busy.load.inFlightMax = 0
      const isExempt = door.name === 'health' || door.name === 'metrics'
      const answer = await busy.ask(requestTo(door))
      assert.deepEqual([answer.status, answer.fields['retry-after']], isExempt ? [door.status, undefined] : [503, '5'])
      await flooded.ask(requestTo(door))
      await flooded.ask(requestTo(door))
      const third = await flooded.ask(requestTo(door))
      assert.equal(third.status, door.name === 'health' ? 200 : 429)
      if (door.name === 'SOAP') assert.match(third.text, /Receiver/, 'a message gets a fault')
      assert.equal(
        (await flooded.ask(requestTo(door, {}, { from: '127.0.0.2' }))).status,
        door.status,
        'others are let in',
      )
    })
  it('counts requests in progress, with any outcome', async () => {
    const server = await startServer()
    for (const door of doors) await server.ask(requestTo(door, { host: '' }))
    for (const door of doors) await server.ask(requestTo(door))
    assert.equal(server.load.inFlight, 0)
  })
})

/**
 * RFC 7617 §4: where a password may travel. One row has one result at every mount that proves
 * callers.
 */
const passwordRows: readonly (readonly [
  how: string,
  Partial<Settings>,
  Record<string, string>,
  Partial<Request>,
  boolean,
])[] = [
  ['from this machine', {}, {}, {}, true],
  ['from this machine, where settings forbid it', { passwordsOnLoopback: false }, {}, {}, false],
  ['from this machine, or a proxy on it, to a public address', { publicUrl: 'https://shop.example' }, {}, {}, false],
  ['over TLS to a public address', { publicUrl: 'https://shop.example' }, {}, { scheme: 'https' }, true],
  ['from this machine to an address of it', { publicUrl: 'http://127.0.0.1:8080' }, {}, {}, true],
  ['from elsewhere, in cleartext', {}, {}, { from: '192.0.2.1' }, false],
  ['from elsewhere, over TLS', {}, {}, { from: '192.0.2.1', scheme: 'https' }, true],
  ['through a trusted proxy that says nothing', { trustProxy: true }, {}, {}, false],
  [
    'through a trusted proxy that says https',
    { trustProxy: true },
    { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' },
    {},
    true,
  ],
  [
    'through a trusted proxy that says http',
    { trustProxy: true },
    { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'http' },
    {},
    false,
  ],
]
describe('A5.1: whether a password may travel is one rule', () => {
  const basic = { authorization: `Basic ${btoa('alice:alice-secret')}` }
  const proving = doors.filter(({ name }) => ['REST, an item', 'SOAP', 'the feed'].includes(name))
  for (const [how, settings, fields, more, isTaken] of passwordRows)
    it(`${how}: ${isTaken ? 'accepted' : 'refused'} everywhere`, async () => {
      const server = await startServer(settings)
      for (const door of proving) {
        const answer = await server.ask(requestTo(door, { ...fields, ...basic }, more))
        assert.equal(answer.status, isTaken ? 200 : 401, door.name)
        if (isTaken) continue
        const challenge = answer.fields['www-authenticate'] ?? ''
        assert.match(challenge, /^Bearer realm="orders"/, 'the realm is the service')
        assert.doesNotMatch(challenge, /Basic/, 'what is refused is not offered')
      }
      const form = { 'content-type': 'application/x-www-form-urlencoded', ...fields }
      const login = await server.ask(request('POST', '/login', form, 'name=alice&password=wrong', more))
      assert.equal(login.status, isTaken ? 401 : 403)
    })
})

describe('SECURITY.md "guessing": a full line of passwords is 503 with Retry-After at every door', async () => {
  const refuse = () => Promise.reject(new Unavailable(7))
  const server = await startServer({}, 1000, { password: refuse, digest: refuse })
  const basic = { authorization: `Basic ${btoa('alice:alice-secret')}` }
  const header = `<e:Header><w:Security e:mustUnderstand="true" xmlns:w="${wsseNs}"><w:UsernameToken>
    <w:Username>alice</w:Username><w:Password>x</w:Password></w:UsernameToken></w:Security></e:Header>`
  const secured = getOrder.replace('<e:Body>', `${header}<e:Body>`)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const rows: readonly (readonly [door: string, asked: () => Request])[] = [
    ['REST', () => requestTo(doors[0]!, basic)],
    ['SOAP', () => requestTo(doors[2]!, basic)],
    ['the feed', () => request('GET', '/changes', basic)],
    ['the log-in', () => ({ ...request('POST', '/login', form), content: contentOf('name=alice&password=x') })],
    ['WS-Security', () => ({ ...requestTo(doors[2]!), target: '/soap/v2/secure', content: contentOf(secured) })],
  ]
  for (const [door, asked] of rows)
    it(door, async () => {
      const { status, fields } = await server.ask(asked())
      assert.deepEqual([status, fields['retry-after']], [503, '7'])
    })
})

describe('A1.3, A4.18, A4.19: descriptions have a lifetime, validators and codings', async () => {
  const server = await startServer()
  for (const target of [
    '/openapi.json',
    '/soap/v2?wsdl',
    '/soap/v2?wsdl=1.1',
    '/soap/v2?wsdl2',
    '/soap/v2?xsd',
    '/soap/v2/secure?wsdl',
  ])
    it(target, async () => {
      const asked = (fields: Record<string, string> = {}) => server.ask(request('GET', target, fields))
      const plain = await asked()
      assert.equal(plain.fields['cache-control'], 'public, max-age=60')
      assert.match(plain.fields['vary'] ?? '', /Accept-Encoding/)
      const etag = plain.fields['etag'] ?? ''
      assert.match(etag, /^"[0-9a-f]{16}"$/)
      const coded = await asked({ 'accept-encoding': 'gzip' })
      assert.equal(coded.fields['content-encoding'], 'gzip')
      assert.ok(coded.bytes.length < plain.bytes.length / 4)
      assert.notEqual(coded.fields['etag'], etag, 'RFC 9110 §8.8.3.3: a coding has a tag of its own')
      const again = await asked({ 'if-none-match': etag })
      assert.deepEqual([again.status, again.bytes.length, again.fields['etag']], [304, 0, etag])
      assert.equal((await asked({ 'if-none-match': etag, 'accept-encoding': 'gzip' })).status, 200)
      assert.equal((await asked({ 'if-match': '"x"' })).status, 412)
    })
  it('A4.18 a SOAP response of more than 1 KiB is coded if the client accepts it, and not behind a proxy', async () => {
    const list = getOrder
      .replace('GetOrder', 'ListOrders')
      .replace('<id>o-1</id></GetOrder>', '<size>50</size></ListOrders>')
    const coded = (from: TestServer) => from.ask(requestTo({ ...doors[2]!, post: list }, { 'accept-encoding': 'gzip' }))
    assert.equal((await coded(server)).fields['content-encoding'], 'gzip')
    const proxied = await startServer({ trustProxy: true })
    assert.equal((await coded(proxied)).fields['content-encoding'], undefined)
  })
})

it('only this machine, or a caller with credentials, may read /metrics', async () => {
  const server = await startServer()
  const asked = (fields: Record<string, string>) =>
    server.ask(request('GET', '/metrics', fields, undefined, { from: '192.0.2.1' }))
  assert.equal((await asked({})).status, 401)
  assert.equal((await asked(alice)).status, 200)
  const proxied = await startServer({ trustProxy: true })
  assert.equal(
    (await proxied.ask(request('GET', '/metrics'))).status,
    401,
    'a proxy that says nothing is not this machine',
  )
  const published = await startServer({ publicUrl: 'https://shop.example' })
  assert.equal(
    (await published.ask(request('GET', '/metrics'))).status,
    401,
    'a proxy may pass connections on from this machine',
  )
})

it('/changes names an unknown parameter, and a repeated one', async () => {
  const server = await startServer()
  for (const query of ['since=3', 'after=1&after=2', 'after=x', 'limit=0', 'limit=1001'])
    assert.equal((await server.ask(request('GET', `/changes?${query}`, alice))).status, 400, query)
})
