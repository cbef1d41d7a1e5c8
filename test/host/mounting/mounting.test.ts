/**
 * The same journeys through each host: decisions of the front door and the faces do not depend on
 * who listens. docs/mounting.md lists what a host hides.
 */
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { shop } from '../../../examples/orders/contract.ts'
import orders from '../../../examples/orders/service.ts'
import { createRestClient, createSoapClient } from '../../../src/client/index.ts'
import { handler } from '../../../src/index.ts'
import { likePng } from '../../support/png.ts'
import { basic, json, sendRequest } from '../hosted-service.ts'
import { hosts } from './hosts.ts'
import { converse } from './raw.ts'

const maria = { user: 'maria', password: 'maria-secret' }
const asMaria = basic('maria', 'maria-secret')
const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' } as const
const hrefsIn = (page: string): string[] =>
  [...page.matchAll(/(?:href|action)="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

/** Octets that no coding makes smaller. */
const picture = Buffer.alloc(4 * 1024 * 1024)
for (let at = 0, seed = 1; at < picture.length; at += 4) picture.writeUInt32LE((seed = (seed * 48271) % 2147483647), at)
picture.set(likePng(picture.subarray(0, 8)))

for (const host of hosts)
  describe(`mounted: ${host.name}`, async () => {
    const hosted = await host.start({ accessLog: true })
    after(() => hosted.close())
    const { base, prefix, port, lines } = hosted
    const ask = (method: string, path: string, fields = {}, content?: string) =>
      sendRequest(port, method, prefix + path, { ...asMaria, ...fields }, content)

    test('the life of an order, begun by REST, ended by SOAP', async () => {
      const rest = createRestClient(shop, { address: `${base}/api`, credentials: maria })
      using soap = createSoapClient(shop, { address: `${base}/soap/v2`, credentials: maria })
      const placed = await rest.orders.create(draft)
      assert.ok(placed.state === 'placed')
      await rest.orders.pay(placed, { method: 'card', amount: placed.total })
      const { order } = await soap.GetOrder({ id: placed.id })
      assert.equal(order.state, 'paid')
      await soap.ShipOrder({ id: placed.id, carrier: 'dhl' })
      assert.equal((await rest.orders.get(placed.id)).state, 'shipped')
      const job = await rest.reports.start({ from: '2020-01-01', to: '2030-01-01', kind: 'stock' })
      assert.equal((await job.result()).kind, 'stock')
    })

    test('links of every page carry the prefix, and lead to a page', async () => {
      const seen = new Set([`${prefix}/`])
      for (const at of seen) {
        if (seen.size > 60) break
        const { status, text, fields } = await sendRequest(port, 'GET', at, {
          ...asMaria,
          accept: 'text/html,*/*;q=0.5',
        })
        assert.equal(status, 200, at)
        if (String(fields['content-type']).startsWith('text/html'))
          for (const href of hrefsIn(text))
            if (href.startsWith('/') && !href.endsWith('/searches') && !href.endsWith('/reports')) {
              assert.ok(href.startsWith(`${prefix}/`), `${href} on ${at}`)
              seen.add(href)
            }
      }
      const made = await ask('POST', '/api/v2/orders', json, JSON.stringify(draft))
      assert.match(String(made.fields['location']), new RegExp(`^${prefix}/api/v2/orders/o-`))
      const wsdl = await ask('GET', '/soap/v2?wsdl')
      assert.ok(wsdl.text.includes(`location="${base}/soap/v2"`))
      const problem = await ask('GET', '/api/v2/orders/none')
      assert.equal(JSON.parse(problem.text).type, `${prefix}/problems/not-found`)
      assert.equal((await ask('GET', '/problems/not-found')).status, 200)
    })

    test('HEAD, 304, 405, QUERY and OPTIONS are the same as under serve', async () => {
      const got = await ask('GET', '/api/v2/orders/o-1')
      const head = await ask('HEAD', '/api/v2/orders/o-1')
      assert.deepEqual(
        [head.status, head.text, head.fields['content-length'], head.fields['etag']],
        [200, '', String(Buffer.byteLength(got.text)), got.fields['etag']],
      )
      const same = await ask('GET', '/api/v2/orders/o-1', { 'if-none-match': String(got.fields['etag']) })
      assert.deepEqual([same.status, same.text], [304, ''])
      assert.equal((await ask('PATCH', '/api/v2/orders')).status, 405)
      const found = await ask('QUERY', '/api/v2/orders', json, JSON.stringify({ state: 'paid' }))
      assert.ok([200, 405, 415, 422].includes(found.status), String(found.status))
      assert.match(String((await ask('OPTIONS', '/api/v2/orders')).fields['allow']), /GET, HEAD, OPTIONS, POST/)
      if (!host.hides.includes('asterisk')) {
        const [answer] = await converse(port, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        assert.match(answer ?? '', /^HTTP\/1\.1 204 /)
      }
    })

    test('a picture of 4 MB goes in and out octet by octet, in chunks and with a length', async () => {
      const address = `${base}/api/v2/products/p-1/picture`
      const pieces = new ReadableStream<Uint8Array>({
        start: controller => {
          for (let at = 0; at < picture.length; at += 65_536) controller.enqueue(picture.subarray(at, at + 65_536))
          controller.close()
        },
      })
      const fields = { ...asMaria, 'content-type': 'image/png' }
      for (const body of [picture, pieces]) {
        const { headers } = await fetch(address, { headers: asMaria, method: 'HEAD' })
        const tag = headers.get('etag')
        const put = await fetch(address, {
          method: 'PUT',
          headers: { ...fields, ...(tag ? { 'if-match': tag } : { 'if-none-match': '*' }) },
          body,
          duplex: 'half',
        } as RequestInit)
        assert.ok([201, 204, 200].includes(put.status), `${put.status} ${await put.text()}`)
        const got = await fetch(address, { headers: asMaria })
        assert.ok(Buffer.from(await got.arrayBuffer()).equals(picture))
        assert.equal(got.headers.get('content-length'), String(picture.length))
      }
      const part = await fetch(address, { headers: { ...asMaria, range: 'bytes=10-19' } })
      assert.equal(part.status, 206)
      assert.ok(Buffer.from(await part.arrayBuffer()).equals(picture.subarray(10, 20)))
    })

    test('RFC 9110 §10.1.1  a client that expects 100 gets the status before it sends, if the host lets it', async () => {
      const head = (path: string) =>
        `PUT ${prefix}${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${asMaria['authorization']}\r\nContent-Type: image/jpeg\r\nIf-None-Match: *\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`
      const [first = ''] = await converse(port, head('/api/v2/products/none/picture'), 'hello')
      assert.match(first, host.hides.includes('expect') ? /^HTTP\/1\.1 100 / : /^HTTP\/1\.1 404 /)
      const [asked = '', rest = ''] = await converse(port, head('/api/v2/products/p-2/picture'), '\xff\xd8\xff..')
      assert.match(asked, /^HTTP\/1\.1 100 Continue\r\n\r\n/)
      assert.match(asked + rest, /HTTP\/1\.1 201 /)
      assert.equal((asked + rest).match(/100 Continue/g)?.length, 1)
    })

    test('RFC 9112 §3.2  two Hosts, dot segments and bad encoding are refused, if the host shows them', async () => {
      const send = async (target: string, more = ''): Promise<number> => {
        const [answer = ''] = await converse(
          port,
          `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}Connection: close\r\n\r\n`,
        )
        return Number(answer.slice(9, 12))
      }
      assert.equal(await send(`${prefix}/api`, 'Host: b\r\n'), 400)
      assert.equal(await send(`${prefix}/api/../api`), host.hides.includes('dot segments') ? 200 : 400)
      assert.equal(await send(`${prefix}/api/%ff`), 400)
      assert.equal(await send(`${prefix}/api/${'x'.repeat(9000)}`), 414)
    })

    test('the change feed streams, and releases a reader that leaves', async () => {
      const streams = async () => Number(/^diglot_event_streams (\d+)/m.exec((await ask('GET', '/metrics')).text)?.[1])
      const leaving = new AbortController()
      const feed = await fetch(`${base}/changes`, {
        headers: { ...asMaria, accept: 'text/event-stream' },
        signal: leaving.signal,
      })
      assert.equal(feed.status, 200)
      const reader = feed.body?.pipeThrough(new TextDecoderStream()).getReader()
      const { fields } = await ask('POST', '/api/v2/orders', json, JSON.stringify(draft))
      const id = String(fields['location']).split('/').at(-1) ?? ''
      let text = ''
      while (!text.includes(id)) {
        const { value, done } = (await reader?.read()) ?? { done: true }
        assert.ok(!done)
        text += value
      }
      assert.equal(await streams(), 1)
      leaving.abort()
      await reader?.closed.catch(() => {})
      while ((await streams()) > 0) await setTimeout(20)
    })

    test('an upload that is cut off changes nothing, and is no incident', async () => {
      const before = lines.filter(each => each.level === 'error').length
      const head = `PUT ${prefix}/api/v2/products/p-3/picture HTTP/1.1\r\nHost: a\r\nAuthorization: ${asMaria['authorization']}\r\nContent-Type: image/png\r\nIf-None-Match: *\r\nContent-Length: 500000\r\n\r\n`
      await converse(port, head + 'x'.repeat(1000), 'cut')
      assert.equal((await ask('GET', '/api/v2/products/p-3/picture')).status, 404)
      assert.equal(lines.filter(each => each.level === 'error').length, before)
    })

    test('content that nobody reads is no obstacle: the client reads the refusal, and the connection ends or continues', async () => {
      const long = 'x'.repeat(3 * 1024 * 1024)
      const refused = await fetch(`${base}/api/v2/orders`, {
        method: 'POST',
        headers: { ...asMaria, 'content-type': 'image/png' },
        body: long,
      })
      assert.equal(refused.status, 413)
      assert.equal((await ask('GET', '/api')).status, 200)
    })

    test('a line of the log for each request has the client’s address', () => {
      const answered = lines.filter(each => each.message === 'answered')
      assert.ok(answered.length > 20)
      assert.deepEqual([...new Set(answered.map(each => each.fields['from']))], ['127.0.0.1'])
    })

    if (prefix !== '' && host.name !== 'node:http')
      test('the host keeps its other paths, its hooks, and the fields that they set', async () => {
        assert.equal((await sendRequest(port, 'GET', '/other')).text, 'the host')
        assert.equal((await ask('GET', '/api')).fields['host-saw'], `${prefix}/api`)
        assert.equal((await sendRequest(port, 'GET', '/shopping')).status, 404)
      })

    test('a host that is closed leaves nothing open', () => hosted.close())
  })

describe('a host shares', () => {
  test('its authentication: the caller that it names, or else the credentials of the request', async () => {
    for (const host of hosts.slice(2)) {
      const caller = (request: object) => {
        const { headers } = request as { headers: Headers | Record<string, string> }
        const name = headers instanceof Headers ? headers.get('x-user') : headers['x-user']
        return name ? { subject: name, roles: ['clerk'] } : undefined
      }
      const { base, close } = await host.start({ caller })
      const ask = async (headers: Record<string, string>) =>
        (await fetch(`${base}/api/v2/customers/c-1`, { headers })).status
      assert.deepEqual(
        [await ask({ 'x-user': 'zoe', authorization: 'Host token' }), await ask(asMaria), await ask({})],
        [200, 200, 401],
        host.name,
      )
      using soap = createSoapClient(shop, { address: `${base}/soap/v2`, fields: { 'x-user': 'zoe' } })
      assert.equal((await soap.GetOrder({ id: 'o-1' })).order.id, 'o-1')
      await close()
    }
  })

  test('its trust: the address and the host that a proxy names, and no right of this machine', async () => {
    for (const host of hosts.filter(each => ['express', 'fastify'].includes(each.name))) {
      const { base, lines, close } = await host.start({ accessLog: true })
      const proxied = (from: string, more = {}) =>
        fetch(`${base}/api/v2/orders`, {
          headers: {
            ...asMaria,
            'x-forwarded-for': from,
            'x-forwarded-host': 'shop.example:8443',
            'x-forwarded-proto': 'https',
            ...more,
          },
        })
      const first = await proxied('203.0.113.7')
      assert.equal(first.status, 200)
      if (host.name === 'fastify') assert.equal(first.headers.get('request-id'), 'req-1')
      assert.equal((await proxied('127.0.0.2', { 'x-forwarded-proto': 'http' })).status, 401)
      assert.deepEqual(
        lines.filter(each => each.message === 'answered').map(each => each.fields['from']),
        ['203.0.113.7', 'unknown'],
      )
      await proxied('2001:db8:1:2:3::4')
      const answered = lines.filter(each => each.message === 'answered')
      assert.equal(answered.at(-1)?.fields['from'], '2001:db8:1:2::/64', 'RFC 4291 §2.5.1')
      const wsdl = await fetch(`${base}/soap/v2?wsdl`, {
        headers: {
          'x-forwarded-for': '203.0.113.7',
          'x-forwarded-host': 'shop.example:8443',
          'x-forwarded-proto': 'https',
        },
      })
      assert.ok((await wsdl.text()).includes('location="https://shop.example:8443/shop/soap/v2"'), host.name)
      await close()
    }
  })

  test('RFC 4291 §2.5.1 the address that a Fetch host gives: an IPv6 client counts as its /64', async () => {
    const lines: Record<string, unknown>[] = []
    const logger = { info: (fields: object) => void lines.push({ ...fields }), warn: () => {}, error: () => {} }
    const service = await handler(orders, { data: ':memory:', insecure: true, accessLog: true, logger })
    after(() => service.close(0))
    const address = '2001:db8:1:2:3::4'
    const tellings = [
      { remoteAddr: { hostname: address } },
      { requestIP: () => ({ address }) },
      { incoming: { socket: { remoteAddress: address } } },
    ]
    for (const told of tellings) {
      const { status } = await service.fetch(new Request('http://shop.test/api/v2/products/p-1'), told)
      assert.equal(status, 200)
    }
    const seen = lines.filter(each => 'from' in each).map(each => each['from'])
    assert.deepEqual(
      seen,
      Array.from(tellings, () => '2001:db8:1:2::/64'),
    )
  })

  test('a reader that a Fetch host cancels, between two events, is no incident', async () => {
    const errors: unknown[] = []
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }
    const service = await handler(orders, { data: ':memory:', insecure: true, logger })
    after(() => service.close(0))
    const send = (path: string, fields: object, init: RequestInit = {}) =>
      service.fetch(new Request(`https://shop.test${path}`, { ...init, headers: { ...asMaria, ...fields } }))
    const reader = (await send('/changes', { accept: 'text/event-stream' })).body?.getReader()
    await reader?.read() // its first line
    const pending = reader?.read()
    await reader?.cancel()
    const { status } = await send('/api/v2/orders', json, { method: 'POST', body: JSON.stringify(draft) })
    assert.equal(status, 201)
    assert.equal((await pending)?.done, true)
    await send('/changes', {}) // after the feed has been woken
    assert.deepEqual(errors, [])
  })

  test('its context: values in its AsyncLocalStorage, as tracers keep, are there in the service', async () => {
    const trace = new AsyncLocalStorage<string>()
    const seen: unknown[] = []
    const app = {
      ...orders,
      handlers: {
        ...orders.handlers,
        orders: {
          ...orders.handlers['orders'],
          actions: { ...orders.handlers['orders']?.actions, cancel: () => void seen.push(trace.getStore()) },
        },
      },
    }
    const service = await handler(app as typeof orders, { data: ':memory:', insecure: true })
    after(() => service.close(0))
    const token = await service.token('clara', ['clerk'])
    const done = await trace.run('span-1', () =>
      service.fetch(
        new Request('http://shop.test/api/v2/orders/o-1/cancellation', {
          method: 'POST',
          headers: { ...json, authorization: `Bearer ${token}`, 'if-match': '*' },
          body: '{}',
        }),
      ),
    )
    assert.equal(done.status, 200)
    assert.deepEqual(seen, ['span-1'])
  })

  test('a body parser in front of the service is reported in the log, not waited for', async () => {
    const { default: express } = await import('express')
    const lines: object[] = []
    const quiet = { info: () => {}, warn: () => {}, error: (fields: object) => void lines.push(fields) }
    const service = await handler(orders, { data: ':memory:', insecure: true, logger: quiet })
    const server = express().use(express.json(), service.express).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { status } = await sendRequest(port, 'POST', '/api/v2/orders', { ...asMaria, ...json }, JSON.stringify(draft))
    assert.equal(status, 500)
    assert.match(JSON.stringify(lines), /before middleware that parses bodies, such as express\.json/)
    server.close()
    await service.close(0)
  })

  test('its end: a request in progress has its time, and later ones get 503', async () => {
    for (const by of ['fetch', 'node'] as const) {
      const begun = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const caller = async () => {
        begun.resolve()
        await released.promise
        return { subject: 'zoe', roles: ['clerk'] }
      }
      const service = await handler(orders, { data: ':memory:', caller })
      const server = createServer(service.node).listen(0, '127.0.0.1')
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const ask = () =>
        by === 'node'
          ? fetch(`http://127.0.0.1:${port}/api/v2/customers/c-1`)
          : service.fetch(new Request('http://shop.test/api/v2/customers/c-1'))
      const first = ask()
      await begun.promise
      const closed = service.close()
      const late = await ask()
      assert.deepEqual([late.status, late.headers.get('retry-after')], [503, '1'], by)
      released.resolve()
      const answered = await first
      assert.equal(answered.status, 200, by)
      assert.equal(((await answered.json()) as { id: string }).id, 'c-1')
      await closed
      server.close()
      server.closeAllConnections()
    }
  })

  test('its end: Fastify closes although a stream of changes is open', async () => {
    const { default: fastify } = await import('fastify')
    const service = await handler(orders, { data: ':memory:', insecure: true })
    const app = fastify()
    await app.register(service.fastify)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.address() as { port: number }
    const feed = await fetch(`http://127.0.0.1:${port}/changes`, {
      headers: { ...asMaria, accept: 'text/event-stream' },
    })
    const [text] = await Promise.all([feed.text(), app.close()])
    assert.match(text, /^retry: 1000\n\n/)
  })

  test('mistakes of mounting end the start, with the cure', async () => {
    await assert.rejects(
      handler(orders, { data: ':memory:', prefix: 'shop' }),
      /the prefix shop is not a path such as \/shop/,
    )
    await assert.rejects(handler(orders, { data: ':memory:', port: 1 } as object), /the option port is for serve/)
    await assert.rejects(
      handler(orders, { data: ':memory:', settings: { proxyProtocol: true } }),
      /the option settings.proxyProtocol is for serve/,
    )
    const { default: fastify } = await import('fastify')
    const service = await handler(orders, { data: ':memory:', prefix: '/shop' })
    await assert.rejects(
      async () => await fastify().register(service.fastify, { prefix: '/store' }),
      /registered with the prefix "\/store", but the links of the service begin with "\/shop"/,
    )
    await service.close(0)
  })

  test('the seeded people, whose passwords are public, may not sign in unless `insecure` says so', async () => {
    const service = await handler(orders, { data: ':memory:' })
    const ask = new Request('http://127.0.0.1/api/v2/orders', { headers: asMaria })
    assert.equal((await service.fetch(ask, { remoteAddr: { hostname: '127.0.0.1' } })).status, 401)
    await service.close(0)
  })
})
