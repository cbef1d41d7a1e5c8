import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get as ask, request as askUnix } from 'node:http'
import { connect as connect2 } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Request } from '../../src/http/message.ts'
import { defaultLimits, proxiedLimits } from '../../src/server/limits.ts'
import { type ListenOptions, StartFailure, startListener } from '../../src/server/listener.ts'
import { echo, exchangeOctets, hello, message, statuses, withServer } from './raw-connection.ts'

suite('behind a proxy', () => {
  // nginx and ALB: 60 s, Go and Traefik: 90 s, Caddy: 120 s.
  const proxiesMs = 120_000
  test('an idle connection is kept longer than proxies keep it, which must not repeat a change', async () => {
    assert.ok((proxiedLimits(true, {}).idle ?? 0) > proxiesMs)
    assert.equal(proxiedLimits(true, { idle: 5000 }).idle, 5000)
    assert.deepEqual(proxiedLimits(false, {}), {})
    const timeouts = [
      [{}, defaultLimits.idle],
      [proxiedLimits(true, {}), 150_000],
    ] as const
    for (const [limits, idle] of timeouts)
      await withServer(
        hello,
        async ({ port }) => {
          const { text } = await exchangeOctets(port, 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
          assert.match(text, new RegExp(`Keep-Alive: timeout=${idle / 1000}\\r\\n`, 'i'))
        },
        { limits },
      )
  })
})

suite('addresses', () => {
  test('any free port, and its URL', () =>
    withServer(hello, async ({ listener, port }) => {
      assert.equal(listener.url, `http://127.0.0.1:${port}`)
      assert.ok(port > 0)
      const text = await new Promise(resolve =>
        ask(`${listener.url}/x`, async it => resolve((await it.toArray()).join(''))),
      )
      assert.equal(text, '/x')
    }))

  test('a Unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'listen-'))
    const path = join(directory, 's')
    try {
      await withServer(
        request => ({ status: 200, fields: {}, content: `${request.target} from "${request.from}"` }),
        async ({ listener, port }) => {
          assert.deepEqual([listener.url, port], [`unix:${path}`, 0])
          const text = await new Promise(resolve =>
            askUnix({ socketPath: path, path: '/x' }, async it => resolve((await it.toArray()).join(''))).end(),
          )
          assert.equal(text, '/x from ""')
        },
        { path },
      )
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('all addresses: a peer over IPv4 is named as one', async t => {
    const serve = (request: { from: string }) => ({ status: 200, fields: {}, content: request.from })
    await withServer(
      serve,
      async ({ port }) =>
        assert.match((await exchangeOctets(port, message(['GET / HTTP/1.1']))).text, /\r\n127\.0\.0\.1$/),
      { host: '::' },
    ).catch(error =>
      error instanceof StartFailure && error.kind === 'no-address' ? t.skip('no IPv6 here') : Promise.reject(error),
    )
  })
})

suite('failures at start say what is wrong and what to do', () => {
  const failing: readonly (readonly [
    title: string,
    options: (port: number) => ListenOptions,
    kind: string,
    message: RegExp,
    cure: RegExp,
  ])[] = [
    ['a port in use', port => ({ port }), 'taken', /127\.0\.0\.1:\d+ is in use/, /--port/],
    ['an address of another machine', () => ({ host: '203.0.113.1' }), 'no-address', /203\.0\.113\.1:0/, /--host/],
    [
      'a path in a directory that does not exist',
      () => ({ path: '/nowhere/at/all/s' }),
      'forbidden|other',
      /nowhere/,
      /./,
    ],
    [
      'a key that cannot be read',
      () => ({ tls: { key: '/nowhere/key.pem', certificate: '/nowhere/c.pem' } }),
      'key',
      /the key cannot be read/,
      /path/,
    ],
    [
      'an invalid key',
      () => ({
        tls: {
          key: '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----',
          certificate: '-----BEGIN CERTIFICATE-----',
        },
      }),
      'key',
      /cannot be used/,
      /PEM/,
    ],
  ]
  for (const [title, options, kind, said, cure] of failing) {
    test(title, () =>
      withServer(hello, async ({ port }) => {
        await assert.rejects(startListener(hello, options(port)), (error: unknown) => {
          assert.ok(error instanceof StartFailure)
          assert.match(error.kind, new RegExp(`^(${kind})$`))
          assert.match(error.message, said)
          assert.match(error.cure, cure)
          assert.ok(!error.message.includes('\n') && !error.cure.includes('\n'))
          return true
        })
      }),
    )
  }

  test('a file that is not PEM', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'listen-'))
    const key = join(directory, 'key.der')
    writeFileSync(key, Buffer.alloc(10))
    await assert.rejects(startListener(hello, { tls: { key, certificate: key } }), /is not PEM/)
    rmSync(directory, { recursive: true })
  })
})

const isLetIn = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })

suite('close', { concurrency: 8 }, () => {
  test('a close completes what is in progress, ends idle connections, and accepts no new ones', async () => {
    const finish = Promise.withResolvers<void>()
    let served = 0
    const listener = await startListener(async request => {
      served++
      if (request.target === '/slow') await finish.promise
      return hello(request)
    })
    const { port, url } = listener
    const idle = connect(port, '127.0.0.1')
    const kept = exchangeOctets(port, message(['GET / HTTP/1.1']), 'end')
    const slow = exchangeOctets(port, message(['GET /slow HTTP/1.1']) + message(['GET /after HTTP/1.1']), 'end')
    const session = connect2(url).on('error', () => {})
    const stream = session.request({ ':path': '/slow' })
    const text = stream.toArray()
    while (served < 3) await after(5)
    const began = performance.now()
    const closed = listener.close(20_000)
    while (await isLetIn(port)) await after(5)
    finish.resolve()
    assert.equal(await closed, 0)
    assert.ok(performance.now() - began < 10_000, 'it does not wait for its limit')
    const answered = await slow
    assert.deepEqual(statuses(answered.text), [200])
    assert.match(answered.text, /connection: close/i)
    assert.ok(answered.closed)
    assert.ok((await kept).closed)
    assert.equal((await text).join(''), '/slow')
    idle.destroy()
  })

  test('work that takes longer than the limit is cut off, and counted', async () => {
    let served = 0
    const listener = await startListener(request => {
      served++
      return after(30_000, hello(request), { ref: false })
    })
    const talks = [
      exchangeOctets(listener.port, message(['GET / HTTP/1.1']), 'end'),
      exchangeOctets(listener.port, message(['GET / HTTP/1.1']), 'end'),
    ]
    const session = connect2(listener.url).on('error', () => {})
    session.request({}).on('error', () => {})
    while (served < 3) await after(5)
    assert.equal(await listener.close(50), 3)
    assert.ok((await Promise.all(talks)).every(heard => heard.text === '' && heard.took < 20_000))
    assert.equal(listener.connections(), 0)
  })

  test('responses of the turn that closes are sent', async () => {
    let closed: Promise<number> | undefined
    const listener = await startListener(request => {
      queueMicrotask(() => (closed = listener.close(1000)))
      return hello(request)
    })
    const { text } = await exchangeOctets(listener.port, message(['GET /last HTTP/1.1']), 'end')
    assert.match(text, /\/last$/)
    assert.equal(await closed, 0)
  })

  for (const field of ['Connection: close', 'Connection: keep-alive'])
    test(`a response arrives whole, however slowly it is read, and then the close ends at once (${field})`, async () => {
      const content = new Uint8Array(20_000_000)
      const listener = await startListener(() => ({ status: 200, fields: {}, content }))
      const client = connect(listener.port, '127.0.0.1').pause()
      client.write(message(['GET / HTTP/1.1', field]))
      await after(100)
      const began = performance.now()
      const closed = listener.close(20_000)
      await after(50)
      let octets = 0
      for await (const piece of client) octets += piece.length
      assert.ok(octets > content.length, `${octets} octets`)
      assert.equal(await closed, 0)
      assert.ok(performance.now() - began < 10_000, 'it does not wait for its limit')
    })

  test('RFC 9112 §9.6: clients on kept connections get a last response, and none is reset', async () => {
    let served = 0
    const serve = (request: Request) => {
      served++
      return after(2, hello(request))
    }
    const listener = await startListener(serve, { limits: { drain: 1000 } })
    const get = message(['GET /kept HTTP/1.1', 'Host: a'])
    /**
     * Asks, and asks again after a pause, until the server says that it closes; answers how that
     * went.
     */
    const ask = async (pause: () => number): Promise<string> => {
      const socket = connect(listener.port, '127.0.0.1')
      let isLast = false
      try {
        socket.write(get)
        for await (const piece of socket) {
          isLast = /\r\nconnection: close\r\n/i.test(String(piece))
          if (isLast) continue
          await after(pause())
          socket.write(get)
        }
        return isLast ? 'answered for the last time' : 'closed before its answer'
      } catch (error) {
        return String(error)
      }
    }
    const busy = Array.from({ length: 48 }, () => ask(() => 0))
    const slow = Array.from({ length: 100 }, (_, at) => ask(() => 300 + at))
    while (served < 1000) await after(5)
    assert.equal(await listener.close(10_000), 0)
    assert.deepEqual([...new Set(await Promise.all([...busy, ...slow]))], ['answered for the last time'])
  })

  test('content that is on its way may still arrive', async () => {
    const received = Promise.withResolvers<void>()
    const listener = await startListener(request => {
      received.resolve()
      return echo(request)
    })
    const talk = exchangeOctets(
      listener.port,
      [message(['POST /p HTTP/1.1', 'Content-Length: 3']), 50, 'ab', 50, 'c'],
      'end',
    )
    await received.promise
    assert.equal(await listener.close(10_000), 0)
    assert.match((await talk).text, /POST \/p abc$/)
  })
})
