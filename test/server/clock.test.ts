import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Response } from '../../src/http/message.ts'
import { AddressCount } from '../../src/server/address-count.ts'
import { peerAddress } from '../../src/server/peer.ts'
import { echo, exchangeOctets, hello, message, shortLimits, statuses, withServer } from './raw-connection.ts'

const post = (...fields: string[]) => ['POST /p HTTP/1.1', 'Host: a', ...fields]

const longOctets = 16_000_000

/** Reads about 4 MB a second, for as long as there is something and `goesOn`. */
async function readSlowly(port: number, field: string, goesOn: () => boolean): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.pause().write(message(['GET / HTTP/1.1', field]))
  let octets = 0
  for (let quiet = 0; quiet < 300 && octets <= longOctets && goesOn(); ) {
    const piece = socket.read() as Buffer | null
    octets += piece?.length ?? 0
    quiet = piece ? 0 : quiet + 1
    await after(15)
  }
  socket.destroy()
  return octets
}

suite('clocks', { concurrency: 8 }, () => {
  const options = { limits: shortLimits }
  test('slow fields → 408', () =>
    withServer(
      hello,
      async ({ port }) => {
        const { text, closed, took } = await exchangeOctets(
          port,
          [message(['GET / HTTP/1.1']).slice(0, -2), ...Array.from({ length: 8 }, () => ['A: b\r\n', 100]).flat()],
          'end',
        )
        assert.deepEqual(statuses(text), [408])
        assert.ok(closed)
        assert.ok(took < 10_000)
      },
      options,
    ))

  test('half a head and silence → 408', () =>
    withServer(
      hello,
      async ({ port }) => {
        const { text, closed } = await exchangeOctets(port, 'GET / HT', 'end')
        assert.deepEqual(statuses(text), [408])
        assert.ok(closed)
      },
      options,
    ))

  test('silence from the start: closed without a word', () =>
    withServer(
      hello,
      async ({ port }) => {
        const { text, closed, took } = await exchangeOctets(port, '', 'end')
        assert.equal(text, '')
        assert.ok(closed)
        assert.ok(took < 10_000)
      },
      options,
    ))

  test('silence after a response: closed without a word', () =>
    withServer(
      hello,
      async ({ port }) => {
        const { text, closed } = await exchangeOctets(port, message(['GET / HTTP/1.1']), 'end')
        assert.deepEqual(statuses(text), [200])
        assert.ok(closed)
      },
      { limits: { ...shortLimits, idle: 100 } },
    ))

  test('a request that is unread while the server is busy is served, though its connection was idle for too long', () =>
    withServer(
      hello,
      async ({ port }) => {
        const socket = connect(port, '127.0.0.1')
        socket.write(message(['GET /1 HTTP/1.1']))
        await once(socket, 'data')
        await after(150)
        await new Promise(setImmediate) // timers come next, then what has arrived
        socket.write(message(['GET /2 HTTP/1.1', 'Connection: close']))
        for (const until = performance.now() + 500; performance.now() < until; );
        assert.match((await socket.toArray()).join(''), /\/2$/)
      },
      { limits: { ...shortLimits, idle: 300, stall: 100 } },
    ))

  for (const [title, pieces] of [
    ['no content', [message(post('Content-Length: 3'))]],
    [
      'a trickle of content',
      [message(post('Content-Length: 900')), ...Array.from({ length: 10 }, () => ['a', 100]).flat()],
    ],
  ] as const) {
    test(`${title} → 408`, () =>
      withServer(
        echo,
        async ({ port, errors }) => {
          const { text, closed } = await exchangeOctets(port, pieces, 'end')
          assert.deepEqual(statuses(text), [408])
          assert.ok(closed)
          assert.deepEqual(errors, [])
        },
        options,
      ))
  }

  test('a slow application does not time out the client', () =>
    withServer(
      async request => after(900, hello(request)),
      async ({ port }) => {
        const { text } = await exchangeOctets(port, message(['GET /slow HTTP/1.1', 'Connection: close']), 'end')
        assert.match(text, /\/slow$/)
      },
      options,
    ))

  test('a client that stalls while it reads is cut off', () =>
    withServer(
      () => ({ status: 200, fields: {}, content: Buffer.alloc(50_000_000) }),
      async ({ port, listener }) => {
        const socket = connect(port, '127.0.0.1').pause()
        socket.on('error', () => {})
        socket.write(message(['GET / HTTP/1.1']))
        await after(100)
        assert.equal(listener.connections(), 1)
        for (let tries = 0; listener.connections() > 0 && tries < 600; tries++) await after(100)
        assert.equal(listener.connections(), 0)
        socket.destroy()
      },
      options,
    ))

  const long = Buffer.alloc(longOctets)
  async function* inPieces() {
    for (let at = 0; at < long.length; at += 100_000) yield long.subarray(at, at + 100_000)
  }
  const readers: readonly (readonly [title: string, field: string, content: () => Response['content']])[] = [
    ['content that is here', 'Connection: keep-alive', () => long],
    ['a stream', 'Connection: keep-alive', inPieces],
    ['the last response', 'Connection: close', () => long],
  ]
  for (const [title, field, content] of readers) {
    test(`a client that reads too slowly is cut off, though it continues: ${title}`, () =>
      withServer(
        () => ({ status: 200, fields: {}, content: content()! }),
        async ({ port, listener }) => {
          const octets = await readSlowly(port, field, () => listener.connections() > 0)
          assert.ok(octets < long.length, `${octets} octets were read`)
        },
        // Octets leave a system in lumps, of a megabyte and more over the loopback: the pace is
        // beyond all of them.
        { limits: { ...shortLimits, unread: 1500, pace: 1e9 } },
      ))
    test(`a client that reads fast enough receives all of it: ${title}`, () =>
      withServer(
        () => ({ status: 200, fields: {}, content: content()! }),
        async ({ port }) => assert.ok((await readSlowly(port, field, () => true)) > long.length),
        { limits: { ...shortLimits, unread: 4000 } },
      ))
  }

  test('peers.md 15: 200 stalled connections of all kinds are closed soon', () =>
    withServer(
      echo,
      async ({ port, listener }) => {
        const starts = [
          '',
          'G',
          'PR',
          'GET / HTTP/1.1\r\nA',
          message(post('Content-Length: 9'), 'abc'),
          message(post('Transfer-Encoding: chunked'), '5\r\nab'),
        ]
        const sockets = Array.from({ length: 200 }, (_, at) => {
          const socket = connect(port, '127.0.0.1').on('error', () => {})
          socket.resume().write(starts[at % starts.length]!)
          return once(socket, 'close')
        })
        await Promise.all(sockets) // no client ends one: the server closes each, or this test hangs
        for (let tries = 0; listener.connections() > 0 && tries < 600; tries++) await after(100)
        assert.equal(listener.connections(), 0)
      },
      options,
    ))
})

suite('crowds', { concurrency: 8 }, () => {
  test('one connection too many gets 503', () =>
    withServer(
      hello,
      async ({ port, listener }) => {
        const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
        while (listener.connections() < 2) await after(5)
        const { text, closed } = await exchangeOctets(port, message(['GET / HTTP/1.1']), 'end')
        assert.deepEqual(statuses(text), [503])
        assert.match(text, /retry-after: \d/)
        assert.ok(closed)
        for (const socket of sockets) socket.destroy()
        for (let tries = 0; listener.connections() > 0 && tries < 600; tries++) await after(20)
        assert.deepEqual(statuses((await exchangeOctets(port, message(['GET / HTTP/1.1']))).text), [200])
      },
      { limits: { connections: 2, linger: 50 } },
    ))

  const own = Object.values(networkInterfaces())
    .flatMap(each => each ?? [])
    .find(each => !each.internal && each.family === 'IPv4')?.address
  test(
    'one connection too many of one address gets 429, and another address is served',
    {
      skip: own === undefined && 'no address here but the loopback',
    },
    () =>
      withServer(
        hello,
        async ({ port, listener }) => {
          const places = Array.from({ length: 3 }, () => connect(port, own))
          await Promise.all(places.map(each => once(each, 'connect')))
          const refused = connect(port, own)
          const text = (await refused.toArray()).join('')
          assert.deepEqual(statuses(text), [429])
          assert.match(text, /retry-after: \d/)
          assert.match(text, /"detail":"this address has 3 connections open: /)
          assert.deepEqual(statuses((await exchangeOctets(port, message(['GET / HTTP/1.1']))).text), [200])
          for (const each of places) each.destroy()
          while (listener.connections() > 0) await after(10)
          const again = connect(port, own)
          again.end(message(['GET / HTTP/1.1', 'Connection: close']))
          assert.deepEqual(statuses((await again.toArray()).join('')), [200])
        },
        { host: '0.0.0.0', limits: { connectionsPerAddress: 3, linger: 50 } },
      ),
  )

  test('connections of this machine, of a Unix socket and of 64 bits of IPv6 are counted by their source', () => {
    const count = new AddressCount()
    const from = (remoteAddress: string) => peerAddress({ remoteAddress })
    const add = (...addresses: string[]) => addresses.map(each => count.add(from(each)))
    assert.deepEqual(add('', '', '127.0.0.1', '127.0.0.1', '::1'), [0, 0, 0, 0, 0])
    assert.deepEqual(add('192.0.2.1', '192.0.2.1', '192.0.2.2'), [1, 2, 1])
    assert.deepEqual(add('2001:db8::1', '2001:db8::2:1', '2001:db8:0:1::1'), [1, 2, 1])
    count.remove(from('2001:db8::9'))
    count.remove(from('192.0.2.2'))
    assert.deepEqual(add('2001:db8::1', '192.0.2.2'), [2, 1])
  })

  const tiny: readonly (readonly [title: string, octets: number, status: number])[] = [
    ['P20: 10,000 chunks of one octet are accepted', 10_000, 200],
    ['a million chunks of one octet are not', 1_000_000, 400],
  ]
  for (const [title, octets, status] of tiny) {
    test(title, () =>
      withServer(
        async request => ({
          status: 200,
          fields: {},
          content: String((await request.content.bytes(10_000_000))?.length),
        }),
        async ({ port }) => {
          const head = message(post('Connection: close', 'Transfer-Encoding: chunked'))
          const { text } = await exchangeOctets(port, `${head}${'1\r\na\r\n'.repeat(octets)}0\r\n\r\n`, 'end')
          assert.deepEqual(statuses(text), [status])
          if (status === 200) assert.match(text, new RegExp(`${octets}$`))
        },
      ),
    )
  }
})
