import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Request } from '../../src/http/message.ts'
import { echo, exchangeOctets, hello, message, statuses, withServer } from './raw-connection.ts'

const post = (...fields: string[]) => ['POST /p HTTP/1.1', 'Host: a', ...fields]
const after200 = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

suite('what no face sees: refused, answered with a problem, and the connection ends', { concurrency: 8 }, () => {
  const refused: readonly (readonly [title: string, octets: string, status: number])[] = [
    ['RFC 9110 §9.1: a method that is not a token', message(['GE(T / HTTP/1.1', 'Host: a']), 400],
    ['RFC 9112 §3: no request line', 'hello\r\n\r\n', 400],
    ['RFC 9112 §3: a TLS handshake on the cleartext port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['RFC 9112 §3: no target', message(['GET HTTP/1.1', 'Host: a']), 400],
    ['RFC 9112 §2.2: lines that end with LF alone', 'GET / HTTP/1.1\nHost: a\n\n', 400],
    ['RFC 9112 §2.2: one of them', 'GET / HTTP/1.1\r\nHost: a\n\n', 400],
    ['RFC 9112 §2.2: lines that end with CR alone', 'GET / HTTP/1.1\rHost: a\r\r', 400],
    ['RFC 9110 §15.6.6: HTTP/0.9', message(['GET / HTTP/0.9', 'Host: a']), 505],
    ['RFC 9112 §2.3: HTTP/2.0 in HTTP/1.1 syntax', message(['GET / HTTP/2.0', 'Host: a']), 505],
    ['RFC 9112 §5.2: obs-fold', message(['GET / HTTP/1.1', 'Host: a', 'A: b', ' c']), 400],
    ['RFC 9112 §5.1: white space before the colon', message(['GET / HTTP/1.1', 'Host : a']), 400],
    ['RFC 9110 §5.5: NUL in a field value', message(['GET / HTTP/1.1', 'Host: a', 'A: b\0c']), 400],
    ['RFC 9110 §5.5: a bare CR in a field value', message(['GET / HTTP/1.1', 'Host: a', 'A: b\rc: d']), 400],
    [
      'RFC 9112 §6.1: length and coding (CL.TE)',
      message(post('Content-Length: 5', 'Transfer-Encoding: chunked'), `0\r\n\r\n${after200}`),
      400,
    ],
    [
      'RFC 9112 §6.1: coding and length (TE.CL)',
      message(post('Transfer-Encoding: chunked', 'Content-Length: 4'), `5c\r\n${after200}`),
      400,
    ],
    ['RFC 9112 §6.3: two lengths that differ', message(post('Content-Length: 3', 'Content-Length: 4'), 'abcd'), 400],
    ['RFC 9112 §6.3: a list of lengths', message(post('Content-Length: 3, 4'), 'abcd'), 400],
    ['RFC 9112 §6.3: a length with a sign', message(post('Content-Length: +3'), 'abc'), 400],
    ['RFC 9112 §6.3: a length below zero', message(post('Content-Length: -3'), 'abc'), 400],
    ['RFC 9112 §6.3: a length beyond all numbers', message(post(`Content-Length: ${'9'.repeat(30)}`), 'abc'), 400],
    ['RFC 9112 §6.3: chunked is not last', message(post('Transfer-Encoding: chunked, gzip'), '0\r\n\r\n'), 400],
    [
      'RFC 9112 §6.3: a coding that hides chunked (TE.TE)',
      message(post('Transfer-Encoding: xchunked'), '0\r\n\r\n'),
      400,
    ],
    [
      'RFC 9112 §6.3: chunked twice',
      message(post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'), '0\r\n\r\n'),
      400,
    ],
    [
      'RFC 9112 §6.1: a coding that is not supported',
      message(post('Transfer-Encoding: gzip, chunked'), '0\r\n\r\n'),
      501,
    ],
    [
      'RFC 9112 §6.1: a coding in HTTP/1.0',
      message(['POST / HTTP/1.0', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      400,
    ],
    ['RFC 9112 §7.1: an invalid chunk size', message(post('Transfer-Encoding: chunked'), `zz\r\n${after200}`), 400],
    [
      'RFC 9112 §7.1: a chunk longer than it says',
      message(post('Transfer-Encoding: chunked'), `3\r\nabcd\r\n0\r\n\r\n${after200}`),
      400,
    ],
    [
      'RFC 9112 §7.1: a bare LF after a chunk size',
      message(post('Transfer-Encoding: chunked'), `3\nabc\r\n0\r\n\r\n${after200}`),
      400,
    ],
    ['RFC 6585 §5: fields over 32 KiB', message(['GET / HTTP/1.1', 'Host: a', `A: ${'b'.repeat(33 * 1024)}`]), 431],
    [
      'RFC 6585 §5: many small fields over 32 KiB',
      message(['GET / HTTP/1.1', 'Host: a', ...Array.from({ length: 5000 }, (_, at) => `a${at}: b`)]),
      431,
    ],
    [
      'RFC 6585 §5: fields over the limit of the parser',
      message(['GET / HTTP/1.1', 'Host: a', `A: ${'b'.repeat(1_000_000)}`]),
      431,
    ],
  ]
  for (const [title, octets, status] of refused) {
    test(`${title} → ${status}`, () =>
      withServer(echo, async ({ port, served, errors }) => {
        const { text, closed } = await exchangeOctets(port, octets, 'end')
        assert.deepEqual(statuses(text), [status])
        assert.ok(closed)
        assert.match(text, /content-type: application\/problem\+json/i)
        assert.match(text, /connection: close/i)
        assert.match(text, /cache-control: no-store/i)
        assert.match(text, new RegExp(`{"type":"about:blank","title":"[^"]+","status":${status},"detail":"[^"]+"}$`))
        assert.ok(!served.some(request => request.target === '/smuggled'))
        assert.deepEqual(errors, [])
      }))
  }

  test('RFC 9112 §9.3.2: earlier requests get their responses first', () =>
    withServer(
      async request => after(50, hello(request)),
      async ({ port }) => {
        const { text, closed } = await exchangeOctets(
          port,
          `${message(['GET /1 HTTP/1.1', 'Host: a'])}${message(['GET /2 HTTP/1.1', 'Host: a'])}B(AR / HTTP/1.1\r\n\r\n`,
          'end',
        )
        assert.deepEqual(statuses(text), [200, 200, 400])
        assert.ok(closed)
      },
    ))

  test('RFC 9112 §2.2: a request cut at every octet is served once or not at all', () =>
    withServer(echo, async ({ port, served }) => {
      const whole = message(post('Content-Length: 3'), 'abc')
      await Promise.all(
        Array.from({ length: whole.length - 1 }, (_, at) => exchangeOctets(port, whole.slice(0, at + 1), 0)),
      )
      assert.ok(served.every(request => request.target === '/p'))
      const { text } = await exchangeOctets(
        port,
        [...whole].flatMap(octet => [octet, 1]),
        /abc$/,
      )
      assert.match(text, /POST \/p abc$/)
    }))
})

suite('what a face sees', { concurrency: 8 }, () => {
  const seen: readonly (readonly [title: string, octets: string, expected: Partial<Request> & { fields?: object }])[] =
    [
      [
        'RFC 9112 §3.2.1: origin form',
        message(['GET /a?b HTTP/1.1', 'Host: a']),
        { method: 'GET', target: '/a?b', version: '1.1', scheme: 'http', from: '127.0.0.1' },
      ],
      ['RFC 9112 §3.2.2: absolute form', message(['GET http://a/b HTTP/1.1', 'Host: a']), { target: 'http://a/b' }],
      [
        'RFC 9112 §3.2.4: asterisk form',
        message(['OPTIONS * HTTP/1.1', 'Host: a']),
        { method: 'OPTIONS', target: '*' },
      ],
      [
        'RFC 9112 §3.2.3: CONNECT, in authority form',
        message(['CONNECT a:80 HTTP/1.1', 'Host: a']),
        { method: 'CONNECT', target: 'a:80' },
      ],
      ['H1: a fragment', message(['GET /a#b HTTP/1.1', 'Host: a']), { target: '/a#b' }],
      ['H1: //', message(['GET // HTTP/1.1', 'Host: a']), { target: '//' }],
      [
        'H1: a target of 64 KiB',
        message([`GET /${'a'.repeat(65535)} HTTP/1.1`, 'Host: a']),
        { target: `/${'a'.repeat(65535)}` },
      ],
      ['RFC 9112 §3.2: no Host', message(['GET / HTTP/1.1']), { fields: {} }],
      ['RFC 9112 §3.2: two Hosts', message(['GET / HTTP/1.1', 'Host: a', 'Host: b']), { fields: { host: 'a, b' } }],
      [
        'RFC 9110 §5.3: lines of one name',
        message(['GET / HTTP/1.1', 'A: 1', 'b: 2', 'a:  3 ', 'Cookie: c=1', 'Cookie: d=2']),
        { fields: { a: '1, 3', b: '2', cookie: 'c=1; d=2' } },
      ],
      [
        'names of the language',
        message(['GET / HTTP/1.1', '__proto__: 1', 'constructor: 2']),
        { fields: JSON.parse('{"__proto__":"1","constructor":"2"}') },
      ],
      ['RFC 9112 §9.6: HTTP/1.0', message(['GET / HTTP/1.0']), { version: '1.0' }],
      [
        'RFC 9110 §9.1: an unknown method, in its own case',
        message(['getX / HTTP/1.1', 'Host: a']),
        { method: 'getX' },
      ],
      ['RFC 10008: QUERY', message(['QUERY / HTTP/1.1', 'Host: a', 'Content-Length: 0']), { method: 'QUERY' }],
      [
        'RFC 9110 §10.1.1: an unknown expectation',
        message(['GET / HTTP/1.1', 'Expect: wonders']),
        { fields: { expect: 'wonders' } },
      ],
      [
        'RFC 9110 §7.8: Upgrade is ignored',
        message(['GET /u HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c']),
        { target: '/u' },
      ],
    ]
  for (const [title, octets, expected] of seen) {
    test(title, () =>
      withServer(
        request => ({ status: 400, fields: {}, content: request.target }),
        async ({ port, served }) => {
          const { text } = await exchangeOctets(port, octets)
          assert.deepEqual(statuses(text), [400])
          const { fields, ...rest } = expected
          assert.partialDeepStrictEqual(served[0], rest)
          assert.equal(Object.getPrototypeOf(served[0]?.fields), null)
          if (fields) assert.deepEqual(Object.entries(served[0]?.fields ?? {}), Object.entries(fields))
        },
      ),
    )
  }

  test('RFC 9112 §9.3.2: pipelined requests are served one after the other', async () => {
    let busy = 0
    const one = async (request: Request) => {
      assert.equal(++busy, 1)
      await after(5)
      busy--
      return hello(request)
    }
    await withServer(one, async ({ port, errors }) => {
      const octets = Array.from({ length: 20 }, (_, at) =>
        message([`PUT /${at} HTTP/1.1`, 'Content-Length: 2'], 'ab'),
      ).join('')
      const { text } = await exchangeOctets(port, octets, 20)
      assert.deepEqual(
        [...text.matchAll(/\/(\d+)(?:HTTP|$)/g)].map(found => Number(found[1])),
        Array.from({ length: 20 }, (_, at) => at),
      )
      assert.deepEqual(errors, [])
    })
  })

  test('a thousand pipelined requests behind a slow one', () =>
    withServer(
      request => (request.target === '/slow' ? after(20, hello(request)) : hello(request)),
      async ({ port }) => {
        const { text } = await exchangeOctets(
          port,
          message(['GET /slow HTTP/1.1']) + message(['GET /1 HTTP/1.1']).repeat(3000),
          3001,
        )
        assert.equal(statuses(text).length, 3001)
      },
    ))

  test('one connection begins sixty-four requests in a turn of the event loop, however quick their responses', async () => {
    let inTurn = 0
    let most = 0
    await withServer(
      request => {
        if (inTurn++ === 0) setImmediate(() => (inTurn = 0))
        most = Math.max(most, inTurn)
        return hello(request)
      },
      async ({ port }) => {
        const { text } = await exchangeOctets(port, message(['GET /1 HTTP/1.1']).repeat(3000), 3000)
        assert.equal(statuses(text).length, 3000)
      },
    )
    assert.ok(most <= 64, `${most} in one turn`)
  })

  test('RFC 9112 §9.6: nothing is served after the response that closes', () =>
    withServer(
      async () => after(20, { status: 200, fields: { connection: 'close' }, content: 'x' }),
      async ({ port, served }) => {
        const { text, closed } = await exchangeOctets(port, message(['GET /1 HTTP/1.1']).repeat(3), 'end')
        assert.deepEqual(statuses(text), [200])
        assert.ok(closed)
        assert.equal(served.length, 1)
      },
    ))

  test('RFC 9110 §7.8: an ignored Upgrade changes nothing for the requests behind it', () =>
    withServer(hello, async ({ port, served }) => {
      const upgrade = message(['GET /1 HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c'])
      const { text, closed } = await exchangeOctets(
        port,
        [upgrade + message(['GET /2 HTTP/1.1']), 20, message(['GET /3 HTTP/1.1'])],
        3,
      )
      assert.deepEqual(statuses(text), [200, 200, 200])
      assert.ok(!closed)
      assert.deepEqual(
        served.map(request => request.target),
        ['/1', '/2', '/3'],
      )
    }))

  test('a client that closed its side still gets its response', () =>
    withServer(
      request => after(30, hello(request)),
      async ({ port }) => {
        const socket = connect(port, '127.0.0.1')
        socket.end(message(['GET /half HTTP/1.1']))
        let text = ''
        for await (const piece of socket) text += piece
        assert.match(text, /\/half$/)
      },
    ))
})
