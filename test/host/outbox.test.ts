/**
 * Replies to other addresses: where they may go (attack W1), what arrives there (rule B4.11), and
 * what survives a crash.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import orders from '../../examples/orders/service.ts'
import { startOutbox } from '../../src/host/delivery/outbox.ts'
import {
  compileAllowList,
  isPublicAddress,
  type OutboundMessage,
  postSafely,
  Undeliverable,
} from '../../src/host/delivery/safe-post.ts'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'
import { startService } from '../../src/host/serve.ts'
import { Refused } from '../../src/service/refusal.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { sendRequest, startHosted } from './hosted-service.ts'

interface Came {
  readonly path: string
  readonly fields: IncomingHttpHeaders
  readonly content: string
}

/** A receiver of replies, with the given statuses. */
async function startReceiver(
  status: (count: number) => number = () => 202,
  more: Readonly<Record<string, string>> = {},
) {
  const came: Came[] = []
  const server = createServer(async (request, response) => {
    let content = ''
    for await (const piece of request.setEncoding('utf8')) content += piece
    came.push({ path: request.url ?? '', fields: request.headers, content })
    response.writeHead(status(came.length), more).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const { port } = server.address() as AddressInfo // listens on TCP
  return { came, port, url: `http://127.0.0.1:${port}/replies` }
}

async function waitUntil(holds: () => boolean, what: string, seconds = 10): Promise<void> {
  for (let tries = 0; tries < seconds * 20 && !holds(); tries++) await pause(50)
  assert.ok(holds(), what)
}

const wsa = 'http://www.w3.org/2005/08/addressing'
const message = (replyTo: string, { id = 'p-1', of = '1.2', to = 'ReplyTo' } = {}) => {
  const ns = of === '1.2' ? 'http://www.w3.org/2003/05/soap-envelope' : 'http://schemas.xmlsoap.org/soap/envelope/'
  return `<e:Envelope xmlns:e="${ns}"><e:Header xmlns:a="${wsa}"><a:Action>urn:diglot:orders:v1/GetProduct</a:Action><a:MessageID>urn:uuid:7</a:MessageID><a:${to}><a:Address>${replyTo}</a:Address><a:ReferenceParameters><n xmlns="urn:n">42</n></a:ReferenceParameters></a:${to}></e:Header><e:Body><GetProduct xmlns="urn:diglot:orders:v1"><id>${id}</id></GetProduct></e:Body></e:Envelope>`
}
const soap12 = { 'content-type': 'application/soap+xml' }

const addresses = [
  // W1: addresses that a name may resolve to, and may not
  [false, '127.0.0.1'],
  [false, '127.8.8.8'],
  [false, '0.0.0.0'],
  [false, '10.1.2.3'],
  [false, '100.64.0.1'],
  [false, '169.254.169.254'],
  [false, '172.16.0.1'],
  [false, '172.31.255.255'],
  [true, '172.32.0.1'],
  [false, '192.168.1.1'],
  [false, '224.0.0.1'],
  [false, '255.255.255.255'],
  [true, '93.184.216.34'],
  [false, '::1'],
  [false, '::'],
  [false, '::ffff:127.0.0.1'],
  [false, '::ffff:93.184.216.34'],
  [false, '::ffff:a9fe:a9fe'],
  [false, '64:ff9b::7f00:1'],
  [false, '2002:7f00:1::'],
  [false, '2001:0:4136:e378::1'],
  [false, 'fe80::1'],
  [false, 'fe80::1%eth0'],
  [false, 'fd00::1'],
  [false, 'fd00:ec2::254'],
  [false, 'ff02::1'],
  [true, '2606:4700::1111'],
  [false, 'partner.example'],
] as const
for (const [expected, address] of addresses)
  test(`W1 ${address} is ${expected ? '' : 'not '}public`, () => assert.equal(isPublicAddress(address), expected))

const listed = compileAllowList(['https://partner.example/replies', 'http://127.0.0.1:9000/'])
const allowed = [
  [true, 'https://partner.example/replies'],
  [true, 'https://PARTNER.example:443/replies/7?x=1'],
  [false, 'https://partner.example/repliesx'],
  [false, 'https://partner.example/replies/../admin'],
  [false, 'https://partner.example/replies/%2e%2e/admin'],
  [false, 'https://partner.example/replies/..%2fadmin'],
  [false, 'https://partner.example/replies/..%2Fadmin'],
  [false, 'https://partner.example/replies/..%5cadmin'],
  [false, 'https://partner.example/replies/..%252fadmin'],
  [false, 'https://partner.example/replies/%252e%252e/admin'],
  [false, 'https://partner.example/replies/a%2e%2e%2f'],
  [false, 'https://partner.example/replies/..;/admin'],
  [false, 'https://partner.example/replies/..;a=b/admin'],
  [false, 'https://partner.example/replies/.;/admin'],
  [false, 'https://partner.example/replies/..%00/admin'],
  [false, 'https://partner.example/replies/..%20/admin'],
  [true, 'https://partner.example/replies/.hidden/a..b/..x/a;b=c/%C3%A9'],
  [true, 'https://partner.example/replies/7?to=..%2fadmin'],
  [false, 'http://partner.example/replies'],
  [false, 'https://partner.example.evil/replies'],
  [false, 'https://partner.example@evil.example/replies'],
  [false, 'https://me:secret@partner.example/replies'],
  [false, 'https://partner.example:8443/replies'],
  [false, 'https://partner.example\\@evil.example/replies'],
  [true, 'http://127.0.0.1:9000/any'],
  [true, 'http://2130706433:9000/any'],
  [false, 'http://[::ffff:127.0.0.1]:9000/any'],
  [false, 'http://127.0.0.1/any'],
  [false, 'http://localhost:9000/any'],
  [false, 'http://169.254.169.254/latest/meta-data/'],
  [false, 'http://2852039166/latest/meta-data/'],
  [false, 'file:///etc/passwd'],
  [false, 'gopher://127.0.0.1:9000/'],
  [false, 'urn:x'],
  [false, ''],
] as const
for (const [expected, address] of allowed)
  test(`W1 a reply ${expected ? 'may' : 'may not'} go to ${address}`, () => assert.equal(listed(address), expected))

const sampleMessage = (to: string, mediaType = 'text/xml'): OutboundMessage => ({
  to,
  mediaType,
  action: 'urn:a',
  content: '<a/>',
})
const never = new AbortController().signal

test('W1 a name that leads to this machine, among others or not, is not connected to', async () => {
  const { came, port } = await startReceiver()
  for (const found of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['::ffff:127.0.0.1'], ['169.254.169.254']])
    await assert.rejects(
      postSafely(sampleMessage(`http://partner.example:${port}/`), never, async () =>
        found.map(address => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
      Undeliverable,
    )
  assert.equal(came.length, 0)
})

test('W1 a name is resolved once, and that address is connected to', async () => {
  const { came, port } = await startReceiver()
  const names: string[] = []
  await postSafely(sampleMessage(`http://localhost:${port}/x?y=1`), never, async name => {
    names.push(name)
    return [{ address: '127.0.0.1', family: 4 }]
  })
  assert.deepEqual(names, ['localhost'])
  assert.deepEqual([came[0]?.path, came[0]?.fields.host], ['/x?y=1', `localhost:${port}`])
  assert.deepEqual(
    [came[0]?.fields['content-type'], came[0]?.fields['soapaction']],
    ['text/xml; charset=utf-8', '"urn:a"'],
  )
})

const answers = [
  [200, 'taken'],
  [302, 'given up'],
  [307, 'given up'],
  [404, 'given up'],
  [429, 'again'],
  [500, 'again'],
  [503, 'again'],
] as const
for (const [status, expected] of answers)
  test(`W1 no redirect is followed: ${status} is ${expected}`, async () => {
    const other = await startReceiver()
    const { came, url } = await startReceiver(() => status, { location: other.url })
    const outcome = await postSafely(sampleMessage(url, 'application/soap+xml'), never).then(
      () => 'taken',
      thrown => (thrown instanceof Undeliverable ? 'given up' : 'again'),
    )
    assert.deepEqual([outcome, came.length, other.came.length], [expected, 1, 0])
    assert.equal(came[0]?.fields['content-type'], 'application/soap+xml; charset=utf-8; action="urn:a"')
  })

describe('B4.11 a reply to an address of its own', async () => {
  const receiver = await startReceiver()
  const { ask } = await startHosted({ replies: [receiver.url] })
  const rows = [
    ['the answer', message(receiver.url), 'GetProductResponse', '<GetProductResponse'],
    ['a fault', message(receiver.url, { id: 'p-nope' }), 'GetProduct/Fault/NotFound', ':NotFound<'],
    [
      'a fault to FaultTo',
      message(receiver.url, { id: 'p-nope', to: 'FaultTo' }),
      'GetProduct/Fault/NotFound',
      ':NotFound<',
    ],
    ['in SOAP 1.1', message(receiver.url, { of: '1.1' }), 'GetProductResponse', '<GetProductResponse'],
  ] as const
  for (const [title, request, action, body] of rows)
    test(title, async () => {
      const before = receiver.came.length
      const type = request.includes('2003') ? soap12 : { 'content-type': 'text/xml' }
      const { status, text } = await ask('POST', '/soap/v1', type, request)
      assert.deepEqual([status, text], [202, ''])
      await waitUntil(() => receiver.came.length > before, 'the reply has not come')
      const { content, fields } = receiver.came.at(-1) ?? assert.fail()
      assert.match(content, /<wsa:RelatesTo[^>]*>urn:uuid:7</)
      assert.match(content, new RegExp(`<wsa:To[^>]*>${receiver.url}<`))
      assert.match(content, /<n [^>]*wsa:IsReferenceParameter="true"[^>]*>42</)
      assert.ok(content.includes(body), content)
      assert.match(`${fields['content-type']} ${fields['soapaction']}`, new RegExp(action.split('/')[0] ?? ''))
    })

  test('W1 W2 any other address is refused before anything runs, and nothing is sent', async () => {
    const before = receiver.came.length
    for (const address of [`${receiver.url}x`, 'http://169.254.169.254/', 'http://[::1]/', 'file:///etc/passwd'])
      assert.match((await ask('POST', '/soap/v1', soap12, message(address))).text, /OnlyAnonymousAddressSupported/)
    const closed = await startHosted()
    assert.match((await closed.ask('POST', '/soap/v1', soap12, message(receiver.url))).text, /OnlyAnonymousAddress/)
    assert.equal(receiver.came.length, before)
  })

  test('an invalid allow-list does not start', async () => {
    for (const wrong of ['partner.example', 'ftp://partner.example/', 'https://me:x@partner.example/', 'https://a/#b'])
      await assert.rejects(
        startService(orders, { port: 0, data: ':memory:', replies: [wrong] }),
        /replies to .* cannot be/,
      )
  })
})

/** An outbox whose process has ended: the replies that it accepted are in the store. */
async function createEndedOutbox(to: string) {
  const store = openSqliteStore(orders.contract, ':memory:')
  const failures: unknown[] = []
  const time = { now: 1_000_000 }
  const posting = {
    store,
    clock: () => time.now,
    id: createItemIdentifier,
    failed: (thrown: unknown) => void failures.push(thrown),
  }
  const dead = startOutbox(posting, [to])
  await dead.stop()
  await dead.elsewhere.send(to, { mediaType: 'text/xml', action: 'urn:a', content: '<left/>' })
  const lease = () => store.write(writer => writer.lease(['#reply'], time.now, time.now + 30_000))
  return { store, failures, time, posting, lease }
}

test('A8.1 a silent address delays no other', async () => {
  const { came, url } = await startReceiver()
  const silent = createServer(() => {})
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const dead = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/replies` // listens on TCP
  const { store, posting } = await createEndedOutbox(url)
  const outbox = startOutbox(posting, [dead, url])
  const send = (to: string) => outbox.elsewhere.send(to, { mediaType: 'text/xml', action: 'urn:a', content: '<m/>' })
  for (let i = 0; i < 40; i++) await send(dead)
  for (let i = 0; i < 10; i++) await send(url)
  await waitUntil(() => came.length >= 11, 'replies wait for an address that is silent', 5)
  await outbox.stop()
  await store.close()
})

test('A8.1 replies that wait for one address have a bound, and others have their own', async () => {
  const { store, posting } = await createEndedOutbox('http://127.0.0.1:1/')
  const outbox = startOutbox(posting, ['http://127.0.0.1:1/', 'http://127.0.0.1:2/'])
  await outbox.stop()
  const { requireRoom, send } = outbox.elsewhere
  assert.ok(requireRoom)
  for (let i = 1; i < 100; i++) {
    await requireRoom('http://127.0.0.1:1/a')
    await send('http://127.0.0.1:1/a', { mediaType: 'text/xml', action: 'urn:a', content: '<m/>' })
  }
  await assert.rejects(
    async () => requireRoom('http://127.0.0.1:1/b'),
    (thrown: unknown) => thrown instanceof Refused && thrown.refusal.kind === 'too-many',
  )
  await requireRoom('http://127.0.0.1:2/a')
  await store.close()
})

test('if no reply waits the store is read once a second and not written, and all due replies are delivered at once', async t => {
  const { came, url } = await startReceiver()
  const { store, time, posting, lease } = await createEndedOutbox(url)
  const row = (await lease()) ?? assert.fail()
  await store.write(writer => writer.putJob({ ...row, state: 'queued', due: time.now + 10_000, leased: 0 }))
  let looks = 0
  let writes = 0
  const read: typeof store.read = work => {
    looks++
    return store.read(work)
  }
  const write: typeof store.write = (work, turn) => {
    writes++
    return store.write(work, turn)
  }
  const settle = async () => {
    for (let before = -1; looks > before; ) {
      before = looks
      await new Promise(resolve => setImmediate(resolve))
      await store.read(() => true)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const outbox = startOutbox({ ...posting, store: { ...store, read, write } }, [url])
  await settle()
  const atStart = looks
  for (let second = 1; second <= 5; second++) {
    t.mock.timers.tick(1000)
    await settle()
    assert.equal(looks, atStart + second)
  }
  assert.equal(writes, 0)
  t.mock.timers.reset()
  time.now += 20_000
  const { send } = outbox.elsewhere
  for (let i = 0; i < 3; i++) await send(url, { mediaType: 'text/xml', action: 'urn:a', content: '<m/>' })
  await waitUntil(() => came.length === 4, 'all are delivered', 5)
  await outbox.stop()
  await store.close()
})

test('a reply of a worker that died is delivered when its lease is over, and forgotten', async () => {
  const { came, url } = await startReceiver()
  const { store, failures, time, posting, lease } = await createEndedOutbox(url)
  const row = (await lease()) ?? assert.fail()
  time.now += 30_001
  const next = startOutbox(posting, [url])
  await waitUntil(() => came.length === 1, 'not delivered')
  await next.stop()
  assert.deepEqual([came[0]?.content, failures.length], ['<left/>', 0])
  assert.equal(await store.read(reader => reader.job(row.id)), undefined)
  await store.close()
})

test('a reply queued by an instance whose clock was ahead is delivered at once by another', async () => {
  const { came, url } = await startReceiver()
  const { store, time, posting } = await createEndedOutbox(url)
  time.now -= 15 * 60_000
  const next = startOutbox(posting, [url])
  await waitUntil(() => came.length === 1, 'not delivered')
  await next.stop()
  await store.close()
})

test('the twelfth attempt is the last; an address that is no longer allowed gets none', async () => {
  const { came, url } = await startReceiver(() => 500)
  for (const [tried, prefixes] of [
    [11, [url]],
    [1, ['https://other.example/']],
  ] as const) {
    const { store, failures, time, posting, lease } = await createEndedOutbox(url)
    let row = await lease()
    for (let more = 1; more < tried; more++) {
      time.now += 30_001
      row = await lease()
    }
    time.now += 30_001
    const next = startOutbox(posting, prefixes)
    await waitUntil(() => failures.length === 1, 'not tried')
    await next.stop()
    assert.equal(await store.read(reader => reader.job(row?.id ?? '')), undefined)
    await store.close()
  }
  assert.equal(came.length, 1)
})

test('B4.11 a reply outlives kill -9 of the process that took it over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  const root = join(import.meta.dirname, '..', '..')
  let isOpen = false
  const receiver = await startReceiver(() => (isOpen ? 200 : 503))
  const start = async () => {
    const words = ['--port', '0', '--data', join(folder, 'orders.sqlite'), '--reply-to', receiver.url]
    const file = join(root, 'examples', 'orders', 'service.ts')
    const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts'), 'serve', file, ...words]
    const child = spawn(process.execPath, cli, { stdio: ['ignore', 'pipe', 'ignore'] })
    after(() => child.kill('SIGKILL'))
    let out = ''
    child.stdout.on('data', piece => (out += piece))
    const port = () => /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(out)?.[1]
    await waitUntil(() => port() !== undefined, 'it does not listen')
    return { child, port: Number(port()), ended: new Promise(resolve => child.once('exit', resolve)) }
  }
  const first = await start()
  assert.equal((await sendRequest(first.port, 'POST', '/soap/v1', soap12, message(receiver.url))).status, 202)
  await waitUntil(() => receiver.came.length > 0, 'no first try')
  first.child.kill('SIGKILL')
  await first.ended
  isOpen = true
  const before = receiver.came.length
  const second = await start()
  // The process that died while delivering it had a lease of half a minute.
  await waitUntil(() => receiver.came.length > before, 'not delivered after the restart', 60)
  assert.equal(receiver.came.at(-1)?.content, receiver.came[0]?.content, 'the same message, under the same MessageID')
  second.child.kill('SIGTERM')
  await second.ended
  rmSync(folder, { recursive: true })
})
