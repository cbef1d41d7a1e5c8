/**
 * Rule C6.1: the change feed, as pages, as events and through sinks; a complement to the resources
 * themselves.
 */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import app from '../../examples/orders/service.ts'
import type { Caller } from '../../src/contract/policy.ts'
import { type EventSink, RetryLater, SinkGone, startSinks } from '../../src/host/delivery/sinks.ts'
import { createWebhook, signWebhook } from '../../src/host/delivery/webhook.ts'
import { ChangeNotifier } from '../../src/pages/change-notifier.ts'
import { SharedLooks } from '../../src/pages/shared-looks.ts'
import type { CloudEvent } from '../../src/service/change-feed.ts'
import { type Store, Unavailable } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { bearer, json, startHosted } from '../host/hosted-service.ts'

const order = (customer: string) =>
  JSON.stringify({ customer, lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' })
/** A service that ends with the tests. */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'diglot-feed-'))
  after(() => rmSync(made, { recursive: true }))
  return made
}
type House = Awaited<ReturnType<typeof startHosted>>
async function issueTokens({ server }: House) {
  return {
    clerk: bearer(await server.token('clara', ['clerk'])),
    manager: bearer(await server.token('maria', ['manager'])),
    stranger: bearer(await server.token('nobody', ['guest'])),
  }
}
const placeOf = ({ sequence }: CloudEvent): string => String(Number(sequence))
const placeOrder = async ({ ask }: House, fields: Record<string, string>, customer = 'c-1'): Promise<string> => {
  const made = await ask('POST', '/api/v1/orders', { ...fields, ...json }, order(customer))
  assert.equal(made.status, 201)
  return JSON.parse(made.text).id
}

describe('GET /changes', async () => {
  const hosted = await startHosted()
  const { clerk, manager, stranger } = await issueTokens(hosted)
  const id = await placeOrder(hosted, clerk)
  await hosted.ask('POST', `/api/v1/orders/${id}/cancellation`, { ...clerk, ...json }, '{}')
  const product = JSON.stringify({ name: 'Lamp', price: '1.00', stock: 1 })
  await hosted.ask('PUT', '/api/v1/products/p-new', { ...manager, ...json }, product)
  const page = async (fields = {}, query = '') => JSON.parse((await hosted.ask('GET', `/changes${query}`, fields)).text)

  test('A2.3 a page links to itself and to the next, which is that of Link', async () => {
    for (const query of ['', '?after=1&limit=1']) {
      const answer = await hosted.ask('GET', `/changes${query}`, clerk)
      const { next, _links } = JSON.parse(answer.text)
      assert.equal(_links.self.href, `/changes${query}`)
      assert.equal(answer.fields['link'], `<${_links.next.href}>; rel="next"`)
      assert.match(_links.next.href, new RegExp(`after=${next}-\\d+&`))
    }
  })

  test('has each change in the order of commits, and says where to continue', async () => {
    const { items, next, more } = await page(clerk)
    assert.deepEqual(
      items.map((each: Record<string, unknown>) => [each['resource'], each['what'], each['operation']]),
      [
        ['orders', 'created', 'CreateOrder'],
        ['orders', 'changed', 'CancelOrder'],
        ['products', 'created', 'ReplaceProduct'],
      ],
    )
    const [created, changed] = items.map((each: { version: number }) => each.version)
    assert.ok(changed > created, 'the later change has the larger version')
    assert.equal(more, false)
    assert.deepEqual((await page(clerk, `?after=${next}`)).items, [])
    const one = await page(clerk, '?limit=1')
    assert.deepEqual([one.items.length, one.more], [1, true])
    assert.equal((await page(clerk, `?limit=1&after=${one.next}`)).items[0].operation, 'CancelOrder')
  })

  test('A5.2 shows a caller what they may read, and nothing else', async () => {
    const resources = async (fields: object) =>
      (await page(fields)).items.map((each: { resource: string }) => each.resource)
    assert.deepEqual(await resources({}), ['products'])
    assert.deepEqual((await page({})).items[0].operation, undefined, 'it may tell of an item that is not public')
    assert.deepEqual(await resources(stranger), ['products'])
    assert.deepEqual(await resources(manager), ['orders', 'orders', 'products'])
    await hosted.ask('DELETE', `/api/v1/orders/${id}`, { ...manager, 'if-match': '*' })
    assert.deepEqual(await resources(stranger), ['products'], 'what was removed is known to those who may read all')
    assert.deepEqual((await page(manager)).items.at(-1).what, 'removed')
  })

  test('is a batch of CloudEvents 1.0 if the client asks for one', async () => {
    const { text, fields } = await hosted.ask('GET', '/changes', {
      ...clerk,
      accept: 'application/cloudevents-batch+json',
    })
    assert.equal(fields['content-type'], 'application/cloudevents-batch+json')
    const [event] = JSON.parse(text)
    const { version } = event.data
    assert.ok(Number.isSafeInteger(version))
    assert.deepEqual(
      { ...event, time: '' },
      {
        specversion: '1.0',
        id: `1-${version}`,
        sequence: '000000000000001',
        source: 'urn:diglot:orders',
        type: 'orders.orders.created',
        subject: `orders/${id}`,
        time: '',
        datacontenttype: 'application/json',
        data: { resource: 'orders', id, version, what: 'created', operation: 'CreateOrder' },
      },
    )
  })

  const refusals: readonly [string, string, object, number][] = [
    ['POST', '/changes', {}, 405],
    ['GET', '/changes', { accept: 'text/csv' }, 406],
    ['GET', '/changes?after=-1', {}, 400],
    ['GET', '/changes?after=1-', {}, 400],
    ['GET', '/changes?limit=1001', {}, 400],
    ['GET', '/changes?limit=0', {}, 400],
    ['GET', '/changes', { authorization: 'Bearer wrong' }, 401],
    ['HEAD', '/changes', {}, 200],
  ]
  for (const [method, target, fields, status] of refusals)
    test(`${method} ${target} ${JSON.stringify(fields)} → ${status}`, async () => {
      assert.equal((await hosted.ask(method, target, { ...fields })).status, status)
    })
})

describe('changes that are no longer kept', async () => {
  const data = join(folder(), 'o.sqlite')
  const hosted = await startHosted({ data })
  const { clerk } = await issueTokens(hosted)
  const order = await placeOrder(hosted, clerk)
  await hosted.ask('POST', `/api/v1/orders/${order}/cancellation`, { ...clerk, ...json }, '{}')
  const sweeping = openSqliteStore(app.contract, data, { changesKept: 0 })
  await sweeping.sweep(Date.now() + 1)
  await sweeping.close()
  await placeOrder(hosted, clerk)

  test('410: a reader that has missed changes learns where to continue', async () => {
    for (const accept of ['application/json', 'application/cloudevents-batch+json'])
      for (const after of [0, 1]) {
        const { status, fields, text } = await hosted.ask('GET', `/changes?limit=7&after=${after}`, {
          ...clerk,
          accept,
        })
        assert.equal(status, 410)
        assert.equal(fields['content-type'], 'application/problem+json')
        assert.equal(fields['link'], '</changes?after=2&limit=7>; rel="next"')
        const { status: said, next } = JSON.parse(text)
        assert.deepEqual([said, next], [410, 2])
      }
  })

  test('a reader that has read them, and a new one, get the kept changes', async () => {
    for (const query of ['', '?after=2']) {
      const { status, text } = await hosted.ask('GET', `/changes${query}`, clerk)
      assert.equal(status, 200)
      const { items, next } = JSON.parse(text)
      assert.deepEqual([items.map((each: { sequence: number }) => each.sequence), next], [[3], 3])
    }
  })

  test('a stream has an event about it, and continues with the kept changes', async () => {
    const late = events(hosted.server.port, { ...clerk, 'last-event-id': '1' })
    await waitUntil(() => late.told.length === 2, 'the events do not come')
    assert.deepEqual(late.told, [
      { id: 2, name: 'gone', next: 2 },
      { id: 3, type: 'orders.orders.created' },
    ])
    late.stop()
    for (const fields of [{}, { 'last-event-id': '2' }]) {
      const other = events(hosted.server.port, { ...clerk, ...fields })
      await waitUntil(() => other.told.length === 1, 'the event does not come')
      assert.deepEqual(other.told, [{ id: 3, type: 'orders.orders.created' }])
      other.stop()
    }
  })
})

describe('after a restore to an earlier state', () => {
  test('CloudEvents 1.0 §3.1: no event has the id of a lost one; a reader of lost changes gets 410', async () => {
    const data = join(folder(), 'o.sqlite')
    const seen: CloudEvent[] = []
    const sinks: EventSink[] = [{ name: 's', deliver: async event => void seen.push(event) }]
    const run = async (work: (hosted: House) => Promise<unknown>, count: number) => {
      const hosted = await startHosted({ data, sinks })
      const { clerk } = await issueTokens(hosted)
      await work(hosted)
      await placeOrder(hosted, clerk)
      await waitUntil(() => seen.length === count, 'the event is not delivered')
      await hosted.server.close(0)
    }
    await run(async () => {}, 1)
    copyFileSync(data, `${data}.copy`)
    await run(async () => {}, 2)
    copyFileSync(`${data}.copy`, data)
    await run(async hosted => {
      const { clerk } = await issueTokens(hosted)
      const { status, text, fields } = await hosted.ask('GET', '/changes?after=2', clerk)
      assert.deepEqual(
        [status, JSON.parse(text).next, fields['link']],
        [410, 0, '</changes?after=0&limit=100>; rel="next"'],
      )
      assert.match(JSON.parse(text).title, /restored/)
      const stream = events(hosted.server.port, { ...clerk, 'last-event-id': '2' })
      await waitUntil(() => stream.told.length === 2, 'the events do not come')
      assert.deepEqual(stream.told[0], { id: 0, name: 'gone', next: 0 })
      stream.stop()
      assert.equal((await hosted.ask('GET', '/changes?after=1', clerk)).status, 200, 'its place is kept')
    }, 3)
    assert.deepEqual(seen.map(placeOf), ['1', '2', '2'])
    assert.equal(new Set(seen.map(each => each.id)).size, 3)
  })

  test('C6.1 a lost place is recognized even if another change has its number by now', async () => {
    const data = join(folder(), 'o.sqlite')
    const readNext = async ({ ask }: House, fields: Record<string, string>, target: string) => {
      const { status, text } = await ask('GET', target, fields)
      const { title, _links } = JSON.parse(text)
      return { status, title, next: String(_links?.next.href) }
    }
    const run = async (work: (hosted: House, fields: Record<string, string>) => Promise<void>): Promise<void> => {
      const hosted = await startHosted({ data })
      const { clerk } = await issueTokens(hosted)
      await placeOrder(hosted, clerk)
      await work(hosted, clerk)
      await hosted.server.close(0)
    }
    let kept = ''
    let lost = ''
    await run(async (hosted, clerk) => void (kept = (await readNext(hosted, clerk, '/changes')).next))
    copyFileSync(data, `${data}.copy`)
    await run(async (hosted, clerk) => void (lost = (await readNext(hosted, clerk, kept)).next))
    copyFileSync(`${data}.copy`, data)
    await run(async (hosted, clerk) => {
      const found = await readNext(hosted, clerk, lost)
      assert.deepEqual([found.status, found.title?.includes('restored')], [410, true])
      const next = await readNext(hosted, clerk, kept)
      assert.equal(next.status, 200, 'its place is kept')
      assert.notEqual(next.next, lost)
      assert.equal((await readNext(hosted, clerk, next.next)).next, next.next, 'it is kept where nothing is new')
      const batch = await hosted.ask('GET', '/changes', { ...clerk, accept: 'application/cloudevents-batch+json' })
      const [, { id }] = JSON.parse(batch.text)
      assert.equal((await readNext(hosted, clerk, `/changes?after=${id}`)).status, 200, 'the id of an event is a place')
      const place = new URLSearchParams(lost.split('?')[1]).get('after') ?? ''
      const stream = events(hosted.server.port, { ...clerk, 'last-event-id': place })
      await waitUntil(() => stream.told.length > 0, 'the event does not come')
      assert.deepEqual(stream.told[0], { id: 0, name: 'gone', next: 0 })
      stream.stop()
    })
  })
})

interface Event {
  readonly id: number
  readonly type?: string
  readonly name?: string
  readonly next?: number
}
function events(port: number, fields: Record<string, string>) {
  const told: Event[] = []
  const asked = request({
    port,
    host: '127.0.0.1',
    path: '/changes',
    agent: false,
    headers: { ...fields, accept: 'text/event-stream' },
  })
  let text = ''
  const ended = new Promise<void>(resolve => asked.once('close', () => resolve()))
  asked.on('error', () => {})
  asked.on('response', answer => {
    answer.setEncoding('utf8').on('error', () => {})
    answer.on('data', piece => {
      text += piece
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, id, name, data] = /^id: (\d+)(?:-\d+)?(?:\nevent: (.*))?\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
        if (data && name) told.push({ id: Number(id), name, next: JSON.parse(data).next })
        else if (data) told.push({ id: Number(id), type: JSON.parse(data).type })
        text = text.slice(end + 2)
      }
    })
  })
  asked.end()
  return { told, ended, stop: () => asked.destroy() }
}
async function waitUntil(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 900; tries++) {
    if (holds()) return
    await pause(20)
  }
  assert.fail(what)
}

describe('readers at the same place', () => {
  const seven = { sequence: 7, mark: 1 }
  const may = (subject: string | undefined, roles: string[], claims = {}): Caller => ({ subject, roles, claims })
  const looking = () => {
    let count = 0
    const looks = new SharedLooks(async () => ++count)
    return { looks, count: () => count }
  }
  test('with the same rights share one look at each commit', async () => {
    const { looks, count } = looking()
    await Promise.all(Array.from({ length: 100 }, (_, i) => looks.find(1, may(`c-${i}`, ['a', 'b']), seven)))
    assert.equal(count(), 1)
    await looks.find(2, may('c-1', ['b', 'a']), seven)
    await looks.find(2, may('c-2', ['a', 'b']), seven)
    assert.equal(count(), 2)
  })
  test('with other rights, without credentials or at other places have their own', async () => {
    const { looks, count } = looking()
    const readers = [may('c', ['a']), may('c', ['b']), may(undefined, ['a']), may('c', ['a'], { customer: 'c-1' })]
    for (const reader of readers) await looks.find(1, reader, seven)
    await looks.find(1, may('c', ['a']), { sequence: 8 })
    await looks.find(1, may('c', ['a']), { sequence: 7, mark: 2 })
    await looks.find(1, may('c', ['a']), undefined)
    assert.equal(count(), readers.length + 3)
  })
  test('look again after a failed look', async () => {
    let tries = 0
    const looks = new SharedLooks(async () => (tries++ === 0 ? Promise.reject(new Unavailable()) : 'found'))
    await assert.rejects(looks.find(1, may('c', []), seven))
    assert.equal(await looks.find(1, may('c', []), seven), 'found')
  })
})

describe('server-sent events', async () => {
  const hosted = await startHosted()
  const { clerk, stranger } = await issueTokens(hosted)

  test('arrive as they happen, for callers that may see them; a reader that reconnects continues after the last', async () => {
    const mine = events(hosted.server.port, clerk)
    const others = events(hosted.server.port, stranger)
    await pause(100)
    const id = await placeOrder(hosted, clerk)
    await waitUntil(() => mine.told.length === 1, 'the event does not come')
    mine.stop()
    await hosted.ask('POST', `/api/v1/orders/${id}/cancellation`, { ...clerk, ...json }, '{}')
    const again = events(hosted.server.port, { ...clerk, 'last-event-id': String(mine.told[0]?.id) })
    await waitUntil(() => again.told.length === 1, 'what was missed does not come')
    assert.deepEqual([mine.told[0]?.type, again.told[0]?.type], ['orders.orders.created', 'orders.orders.changed'])
    assert.deepEqual(others.told, [])
    again.stop()
    others.stop()
  })

  test('C6.1 a change between the mark and the wait ends the wait at once', async () => {
    const tail = new ChangeNotifier({ read: () => new Promise(() => {}) } as unknown as Store, 60_000) // only `read` is used
    const before = tail.mark()
    tail.wake()
    await tail.waitForChange(before, 0)
    tail.stop()
  })

  test('C6.1 the wait of a reader that leaves ends at once', async () => {
    const tail = new ChangeNotifier({ read: () => new Promise(() => {}) } as unknown as Store, 60_000) // only `read` is used
    const leaving = new AbortController()
    const waiting = tail.waitForChange(tail.mark(), 0, leaving.signal)
    leaving.abort()
    await waiting
    await tail.waitForChange(tail.mark(), 0, leaving.signal)
    tail.stop()
  })

  test('C6.1 the store is asked for changes after the last one that a waiter has read', async () => {
    const asked: number[] = []
    const changes = (after: number) => {
      asked.push(after)
      return []
    }
    const read = async (work: (reader: object) => unknown) => work({ changes })
    const tail = new ChangeNotifier({ read } as unknown as Store, 1500) // only `read` is used
    await Promise.all([tail.waitForChange(tail.mark(), 7), tail.waitForChange(tail.mark(), 41)])
    tail.stop()
    assert.deepEqual([...new Set(asked)], [41])
  })

  test('a store that does not respond is read once for all waiters, and not again every second', async () => {
    let asked = 0
    const read = (): Promise<never> => {
      asked++
      return pause(2500).then(() => Promise.reject(new Unavailable()))
    }
    const tail = new ChangeNotifier({ read } as unknown as Store, 2300) // only `read` is used
    await Promise.all([tail.waitForChange(tail.mark(), 0), tail.waitForChange(tail.mark(), 0)])
    tail.stop()
    assert.equal(asked, 1)
  })

  test('free their places if their readers leave before they begin', async () => {
    const own = await startHosted()
    for (let i = 0; i < 5; i++) {
      const { authorization } = bearer(await own.server.token(`clara-${i}`, ['clerk'])) // unknown, after a while
      const head = `GET /changes HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: ${authorization}`
      const gone = connect(own.server.port, '127.0.0.1')
      gone.write(`${head}\r\n\r\n`, () => gone.resetAndDestroy())
      await once(gone, 'close')
    }
    const streams = async () => /^diglot_event_streams (\d+)$/m.exec((await own.ask('GET', '/metrics')).text)?.[1]
    for (let tries = 0; tries < 600 && (await streams()) !== '0'; tries++) await pause(100)
    assert.equal(await streams(), '0')
  })

  test('A8.1 are limited to sixteen for a caller; other callers have their own, and a place is free after its reader leaves', async () => {
    const own = await startHosted()
    const { clerk: mine, manager: others } = await issueTokens(own)
    const status = async (fields: Record<string, string>) => {
      const asked = request({
        port: own.server.port,
        host: '127.0.0.1',
        path: '/changes',
        agent: false,
        headers: { ...fields, accept: 'text/event-stream' },
      }).end()
      asked.on('error', () => {})
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.on('error', () => {})
      if (answer.statusCode === 200) await once(answer, 'data')
      return {
        status: answer.statusCode,
        after: answer.headers['retry-after'],
        stop: () => asked.socket?.resetAndDestroy(),
      }
    }
    const held = []
    for (let i = 0; i < 16; i++) held.push(await status(mine))
    assert.deepEqual(new Set(held.map(each => each.status)), new Set([200]))
    const refused = await status(mine)
    assert.deepEqual([refused.status, refused.after], [429, '10'])
    const other = await status(others)
    assert.equal(other.status, 200)
    held[0]?.stop()
    let again = await status(mine)
    for (let tries = 0; tries < 600 && again.status !== 200; tries++) {
      await pause(100)
      again = await status(mine)
    }
    assert.equal(again.status, 200)
    for (const each of [...held, other, again]) each.stop()
  })

  test('end at once when the service does', async () => {
    const own = await startHosted()
    const stream = events(own.server.port, {})
    await pause(100)
    const began = performance.now()
    await own.server.close(30_000)
    await stream.ended
    assert.ok(performance.now() - began < 25_000)
  })
})

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
describe('sinks', () => {
  test('a webhook gets each change in order, signed, and gets a refused one again with the same id', async () => {
    const got: { id: string; type: string }[] = []
    let refusals = 2
    const receiver = createServer((asked, answer) => {
      let content = ''
      asked.setEncoding('utf8').on('data', piece => (content += piece))
      asked.on('end', () => {
        const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = asked.headers
        const key = Buffer.alloc(24, 7)
        const expected = createHmac('sha256', key).update(`${id}.${time}.${content}`).digest('base64')
        if (
          signature !== `v1,${expected}` ||
          asked.headers['content-type'] !== 'application/cloudevents+json; charset=utf-8'
        )
          return answer.writeHead(400).end()
        got.push({ id: String(id), type: JSON.parse(content).type })
        answer.writeHead(refusals-- > 0 ? 500 : 204).end()
      })
    })
    await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
    after(() => receiver.close())
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
    const sink = createWebhook({
      name: 'hook',
      url,
      secret,
      allow: ['127.0.0.1'],
      private: true,
      resources: ['orders'],
    })
    const hosted = await startHosted({ sinks: [sink], sinkBackOff: 20 })
    const { clerk, manager } = await issueTokens(hosted)
    const product = JSON.stringify({ name: 'Lamp', price: '1.00', stock: 1 })
    await hosted.ask('PUT', '/api/v1/products/p-new', { ...manager, ...json }, product)
    const id = await placeOrder(hosted, clerk)
    await hosted.ask('POST', `/api/v1/orders/${id}/cancellation`, { ...clerk, ...json }, '{}')
    await waitUntil(() => got.length === 4, `${JSON.stringify(got)}`)
    const [first] = got
    assert.deepEqual(got.slice(0, 3), [first, first, first])
    assert.match(
      got.map(each => `${each.id} ${each.type}`).join(),
      /^(msg_2-\d+ orders.orders.created,){3}msg_3-\d+ orders.orders.changed$/,
    )
  })

  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString()
  for (const [title, status, retryAfter, least, most] of [
    ['seconds', 429, () => '60', 60, 60],
    ['a date', 503, inAMinute, 55, 60],
    ['a date that has passed', 503, () => 'Sun, 06 Nov 1994 08:49:37 GMT', 0, 0],
    ['more than a day', 503, () => '9999999', 86_400, 86_400],
  ] as const)
    test(`RFC 9110 §10.2.3 a webhook waits as Retry-After says: ${title}`, async () => {
      const receiver = createServer((_, answer) => answer.writeHead(status, { 'retry-after': retryAfter() }).end())
      await new Promise<void>(resolve => receiver.listen(0, '127.0.0.1', resolve))
      after(() => receiver.close())
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
      const sink = createWebhook({ name: 'hook', url, secret, allow: ['127.0.0.1'], private: true })
      const sent = sink.deliver({ id: '1' } as CloudEvent, AbortSignal.timeout(5000))
      await assert.rejects(sent, (why: unknown) => why instanceof RetryLater && why.after >= least && why.after <= most)
    })

  test('the position of a sink survives the service; of two instances one delivers', async () => {
    const seen: string[] = []
    const sink: EventSink = { name: 's', deliver: async event => void seen.push(placeOf(event)) }
    const data = join(folder(), 'o.sqlite')
    const first = await startHosted({ data, sinks: [sink] })
    const second = await startHosted({ data, sinks: [sink] })
    const { clerk } = await issueTokens(first)
    await placeOrder(first, clerk)
    await placeOrder(second, clerk)
    await waitUntil(() => seen.length === 2, `${seen}`)
    await first.server.close(100)
    await second.server.close(100)
    const third = await startHosted({ data, sinks: [sink] })
    await placeOrder(third, clerk)
    await waitUntil(() => seen.length === 3, `${seen}`)
    assert.deepEqual(seen, ['1', '2', '3'])
  })

  /** Instances that share a feed, at a time that the test moves; `hold` keeps a delivery under way. */
  function shareFeed(hold: (delivery: string) => Promise<void> | undefined, backOff?: number, patience?: number) {
    const store = openSqliteStore(app.contract, ':memory:')
    after(() => store.close())
    const change = { at: 1, resource: 'orders', version: 1, what: 'created', operation: 'CreateOrder' } as const
    const time = { now: Date.now() }
    const seen: string[] = []
    const deliver = async (instance: string, event: string) => {
      seen.push(`${instance} ${event}`)
      await hold(`${instance} ${event}`)
    }
    const start = (id: string) =>
      startSinks(
        {
          app,
          store,
          clock: () => time.now,
          id,
          failed: () => {},
          backOff,
          ...(patience !== undefined && { patience }),
        },
        [{ name: 's', deliver: event => deliver(id, placeOf(event)) }],
      )
    return { time, seen, start, tell: (id: string) => store.write(writer => writer.changed({ ...change, id })) }
  }

  test('a change that is being delivered belongs to one instance for the time limit', async () => {
    const slow = Promise.withResolvers<void>()
    const { time, seen, start, tell } = shareFeed(delivery => (delivery.endsWith(' 2') ? slow.promise : undefined))
    const first = start('first')
    await tell('o-1')
    await waitUntil(() => seen.length === 1, 'the first is not delivered')
    await pause(50)
    time.now += 34_000
    await tell('o-2')
    await waitUntil(() => seen.length === 2, 'the second is not delivered')
    const second = start('second')
    time.now += 19_000
    await pause(1200)
    assert.deepEqual(seen, ['first 1', 'first 2'])
    slow.resolve()
    await Promise.all([first.stop(), second.stop()])
  })

  test('an instance that stalled for longer than its lease does not move the next one back', async () => {
    const stillness = Promise.withResolvers<void>()
    const { time, seen, start, tell } = shareFeed(delivery => (delivery === 'first 1' ? stillness.promise : undefined))
    const first = start('first')
    await tell('o-1')
    first.wake()
    await waitUntil(() => seen.length === 1, 'the first is not delivered')
    time.now += 51_000
    const second = start('second')
    await tell('o-2')
    await tell('o-3')
    second.wake()
    await waitUntil(() => seen.length === 4, `the second does not go on: ${seen}`)
    await second.stop()
    stillness.resolve()
    await tell('o-4')
    first.wake()
    await waitUntil(() => seen.includes('first 4'), `${seen}`)
    await first.stop()
    assert.deepEqual(seen, ['first 1', 'second 1', 'second 2', 'second 3', 'first 4'])
  })

  test('an instance whose clock ran ahead when it was killed keeps no sink to itself', async () => {
    const stillness = Promise.withResolvers<void>()
    const { time, seen, start, tell } = shareFeed(delivery => (delivery === 'first 1' ? stillness.promise : undefined))
    time.now += 86_400_000
    const first = start('first')
    await tell('o-1')
    first.wake()
    await waitUntil(() => seen.length === 1, 'the first does not begin')
    time.now -= 86_400_000
    const second = start('second')
    second.wake()
    await waitUntil(() => seen.includes('second 1'), `the second waits for a day: ${seen}`)
    stillness.resolve()
    await Promise.all([first.stop(), second.stop()])
  })

  test('a receiver that is down for days is called less and less often, until its sink is dead', async () => {
    const counts: (number | undefined)[] = []
    const fail = (): Promise<never> => {
      time.now += 20_000 // longer than half of a lease
      counts.push(only.state.get('s')?.failures)
      return Promise.reject(new Error('down'))
    }
    const { time, start, tell } = shareFeed(fail, 1, 120)
    const only = start('only')
    await tell('o-1')
    only.wake()
    await waitUntil(() => counts.length >= 6, 'it is not called again')
    assert.deepEqual(counts.slice(0, 6), [0, 1, 2, 3, 4, 5])
    assert.equal(only.state.get('s')?.waiting, 1, 'it does not say since when the change waits')
    await waitUntil(() => only.state.get('s')?.dead === true, 'it is still called')
    await only.stop()
    assert.deepEqual(counts, [0, 1, 2, 3, 4, 5, 6, 7], 'its pauses of 1, 2, 4 … 64 ms add up to more than 120')
  })

  test('a clock that jumps forward by days ends no sink that fails meanwhile', async () => {
    const days = 6 * 86_400_000
    const { time, seen, start, tell } = shareFeed(() => {
      if (seen.length > 2) return
      time.now += days
      return Promise.reject(new Error('down'))
    }, 1)
    const only = start('only')
    await tell('o-1')
    only.wake()
    await waitUntil(() => only.state.get('s')?.delivered === 1, `it is dead: ${seen}`)
    await only.stop()
  })

  test('a receiver that another instance reaches has not been failing since this one failed', async () => {
    const { time, seen, start, tell } = shareFeed(
      delivery =>
        /^second|first [23]/.test(delivery) ? undefined : Promise.reject(new Error('unreachable from here')),
      1000,
    )
    const first = start('first')
    await tell('o-1')
    first.wake()
    await waitUntil(() => first.state.get('s')?.failures === 1, 'the first does not fail')
    time.now += 51_000
    const second = start('second')
    await waitUntil(() => second.state.get('s')?.delivered === 1, `the second does not deliver: ${seen}`)
    await waitUntil(() => first.state.get('s')?.failures === 0, 'the first still fails')
    await waitUntil(() => second.state.get('s')?.waiting === undefined, 'all is delivered, and a change waits')
    assert.deepEqual([first.state.get('s')?.failures, first.state.get('s')?.waiting], [0, undefined])
    await Promise.all([first.stop(), second.stop()])
  })

  test('a feed that is delivered is read in hundreds, and written once for each change; a sink without changes only reads', async () => {
    const store = openSqliteStore(app.contract, ':memory:')
    after(() => store.close())
    const counts = { reads: 0, writes: 0 }
    const counting: Store = {
      ...store,
      read: work => {
        counts.reads++
        return store.read(work)
      },
      write: (work, ...more) => {
        counts.writes++
        return store.write(work, ...more)
      },
    }
    const change = { at: 1, resource: 'orders', version: 1, what: 'created', operation: 'CreateOrder' } as const
    await store.write(async writer => {
      for (let i = 0; i < 250; i++) await writer.changed({ ...change, id: `o-${i}` })
    })
    const seen: string[] = []
    const delivering = { app, store: counting, clock: Date.now, id: 'i-1', failed: () => {} }
    const sinks = startSinks(delivering, [{ name: 's', deliver: async event => void seen.push(placeOf(event)) }])
    await waitUntil(() => seen.length === 250, 'the feed is not delivered')
    await pause(50)
    assert.deepEqual(counts, { reads: 5, writes: 251 })
    sinks.wake()
    await pause(50)
    assert.deepEqual(counts, { reads: 6, writes: 251 })
    await sinks.stop()
    assert.deepEqual(
      seen,
      Array.from({ length: 250 }, (_, i) => String(i + 1)),
    )
  })

  test('a sink that never responds does not delay the end of the service', async () => {
    const asked = Promise.withResolvers<void>()
    const deliver = (): Promise<never> => {
      asked.resolve()
      return new Promise(() => {})
    }
    const hosted = await startHosted({ sinks: [{ name: 'silent', deliver }] })
    const { clerk } = await issueTokens(hosted)
    await placeOrder(hosted, clerk)
    await asked.promise
    const late = pause(3000, 'late', { ref: false })
    assert.equal(await Promise.race([hosted.server.close(100), late]), undefined)
  })

  test('a sink that is gone is not called again', async () => {
    let asked = 0
    const sink: EventSink = {
      name: 'gone',
      deliver: async () => {
        asked++
        throw new SinkGone('never again')
      },
    }
    const hosted = await startHosted({ sinks: [sink], sinkBackOff: 5 })
    const { clerk } = await issueTokens(hosted)
    await placeOrder(hosted, clerk)
    await waitUntil(() => asked === 1, 'it is not asked')
    await placeOrder(hosted, clerk)
    await pause(200)
    assert.equal(asked, 1)
    const { text } = await hosted.ask('GET', '/metrics')
    assert.ok(Number(/^diglot_sink_lag_seconds\{sink="gone"\} (\S+)$/m.exec(text)?.[1]) >= 0.2, text)
    assert.ok(hosted.lines.some(line => line.level === 'warn' && line.message === 'delivery failed'))
  })

  test('an unreachable store is not a failure of a sink, which continues with the store', async () => {
    const store = openSqliteStore(app.contract, ':memory:')
    after(() => store.close())
    const change = {
      at: 1,
      resource: 'orders',
      id: 'o-1',
      version: 1,
      what: 'created',
      operation: 'CreateOrder',
    } as const
    let away = true
    const failed: unknown[] = []
    const seen: string[] = []
    const sinks = startSinks(
      {
        app,
        clock: Date.now,
        id: 'i-1',
        backOff: 60_000,
        failed: (_, thrown) => void failed.push(thrown),
        store: { ...store, write: work => (away ? Promise.reject(new Unavailable()) : store.write(work)) },
      },
      [{ name: 's', deliver: async event => void seen.push(placeOf(event)) }],
    )
    await pause(50)
    assert.deepEqual([sinks.state.get('s')?.failures, failed], [0, []])
    away = false
    await store.write(writer => writer.changed(change))
    sinks.wake()
    await waitUntil(() => seen.length === 1, 'it does not go on')
    await sinks.stop()
  })

  test('a sink that is too late gets the kept changes, and the operator learns what it missed', async () => {
    const data = join(folder(), 'o.sqlite')
    const delivered: string[] = []
    const first = await startHosted({
      data,
      sinks: [{ name: 's', deliver: async event => void delivered.push(placeOf(event)) }],
    })
    const { clerk } = await issueTokens(first)
    await placeOrder(first, clerk)
    await waitUntil(() => delivered.length === 1, 'the first is not delivered')
    await pause(100)
    await first.server.close(5000)
    const between = await startHosted({ data })
    await placeOrder(between, clerk)
    const sweeping = openSqliteStore(app.contract, data, { changesKept: 0 })
    await sweeping.sweep(Date.now() + 1)
    await sweeping.close()
    await placeOrder(between, clerk)
    await between.server.close(100)
    const seen: string[] = []
    const second = await startHosted({
      data,
      sinks: [{ name: 's', deliver: async event => void seen.push(placeOf(event)) }],
    })
    await waitUntil(() => seen.length === 1, 'it does not go on')
    assert.deepEqual(seen, ['3'])
    const warned = () => second.lines.filter(line => line.message === 'delivery failed')
    await waitUntil(() => warned().length === 1, 'the operator is not told')
    assert.match(JSON.stringify(warned()[0]?.fields), /changes up to 2 expired before they were delivered/)
  })

  const mistakes: readonly [string, Partial<Parameters<typeof createWebhook>[0]>, RegExp][] = [
    ['not in the allow-list', { allow: [] }, /hooks\.example\.org is not allowed: add it to allow/],
    ['not TLS', { url: 'http://hooks.example.org/' }, /is not an https address/],
    ['a short secret', { secret: 'whsec_c2hvcnQ=' }, /24 octets/],
    ['a secret of another kind', { secret: 'password' }, /24 octets/],
    ['without an address', { url: undefined as never }, /^Error: webhook hook: undefined is not an address: give one/],
    ['without a secret', { secret: [] }, /^Error: webhook hook: secret is missing: give whsec_/],
    ['without its allow-list', { allow: undefined as never }, /hooks\.example\.org is not allowed: add it to allow/],
    [
      'misspelt',
      { resource: ['orders'] } as object,
      /^TypeError: the options of createWebhook: unknown member "resource"/,
    ],
    ['this machine', { url: 'https://127.0.0.1/', allow: ['127.0.0.1'] }, /address of this network/],
    [
      'the cloud’s metadata',
      { url: 'https://169.254.169.254/', allow: ['169.254.169.254'] },
      /address of this network/,
    ],
    ['this machine in IPv6', { url: 'https://[::1]/', allow: ['[::1]'] }, /address of this network/],
    ['IPv4 in IPv6', { url: 'https://[::ffff:10.0.0.1]/', allow: ['[::ffff:a00:1]'] }, /address of this network/],
  ]
  for (const [title, change, cure] of mistakes)
    test(`a webhook may not be ${title}`, () => {
      const options = { name: 'hook', url: 'https://hooks.example.org/', secret, allow: ['hooks.example.org'] }
      assert.throws(() => createWebhook({ ...options, ...change }), cure)
    })

  test('a name that resolves to an address of this network is refused', async () => {
    const sink = createWebhook({ name: 'inside', url: 'https://localhost/', secret, allow: ['localhost'] })
    const event = { id: '1' } as Parameters<EventSink['deliver']>[0]
    await assert.rejects(
      sink.deliver(event, AbortSignal.timeout(2000)),
      /localhost resolves to an address of this network/,
    )
  })

  test('Standard Webhooks: the example of the specification has its signature', () => {
    const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
    const fields = signWebhook('msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330, '{"test": 2432232314}', [key])
    assert.equal(fields['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})
