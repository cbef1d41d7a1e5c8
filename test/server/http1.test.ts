import assert from 'node:assert/strict'
import { request as ask, createServer } from 'node:http'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Request, Response } from '../../src/http/message.ts'
import { Aborted } from '../../src/server/listen.ts'
import { during, echo, hello, message, say, short, statuses } from './wire.ts'

const post = (...fields: string[]) => ['POST /p HTTP/1.1', 'Host: a', ...fields]
const after200 = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

suite('what no face sees: refused, answered with a problem, and the connection ends', () => {
  const refused: readonly (readonly [title: string, octets: string, status: number])[] = [
    ['RFC 9110 §9.1: an unknown method', message(['FOO / HTTP/1.1', 'Host: a']), 501],
    ['RFC 9110 §9.1: methods are case-sensitive', message(['get / HTTP/1.1', 'Host: a']), 501],
    ['RFC 9110 §9.1: a method that begins like a known one', message(['GETX / HTTP/1.1', 'Host: a']), 501],
    ['RFC 9112 §3: no request line', 'hello\r\n\r\n', 400],
    ['RFC 9112 §3: a TLS handshake on the cleartext port', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['RFC 9112 §3: no target', message(['GET HTTP/1.1', 'Host: a']), 400],
    ['RFC 9112 §2.3: HTTP/1.2', message(['GET / HTTP/1.2', 'Host: a']), 505],
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
      501,
    ],
    [
      'RFC 9112 §6.3: chunked twice',
      message(post('Transfer-Encoding: chunked', 'Transfer-Encoding: identity'), '0\r\n\r\n'),
      400,
    ],
    [
      'RFC 9112 §6.1: a coding nobody here understands',
      message(post('Transfer-Encoding: gzip, chunked'), '0\r\n\r\n'),
      501,
    ],
    [
      'RFC 9112 §6.1: a coding in HTTP/1.0',
      message(['POST / HTTP/1.0', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
      400,
    ],
    ['RFC 9112 §7.1: a chunk size that is none', message(post('Transfer-Encoding: chunked'), `zz\r\n${after200}`), 400],
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
      during(echo, async ({ port, served, errors }) => {
        const { text, closed } = await say(port, octets, 1000)
        assert.deepEqual(statuses(text), [status])
        assert.ok(closed)
        assert.match(text, /content-type: application\/problem\+json/i)
        assert.match(text, /connection: close/i)
        assert.match(text, new RegExp(`"status":${status}}$`))
        assert.ok(!served.some(request => request.target === '/smuggled'))
        assert.deepEqual(errors, [])
      }))
  }

  test('RFC 9112 §9.3.2: what was asked before is answered before', () =>
    during(
      async request => after(50, hello(request)),
      async ({ port }) => {
        const { text, closed } = await say(
          port,
          `${message(['GET /1 HTTP/1.1', 'Host: a'])}${message(['GET /2 HTTP/1.1', 'Host: a'])}BAR / HTTP/1.1\r\n\r\n`,
          1000,
        )
        assert.deepEqual(statuses(text), [200, 200, 501])
        assert.ok(closed)
      },
    ))

  test('RFC 9112 §2.2: a request cut at every octet is served once or not at all', () =>
    during(echo, async ({ port, served }) => {
      const whole = message(post('Content-Length: 3'), 'abc')
      await Promise.all(Array.from({ length: whole.length - 1 }, (_, at) => say(port, whole.slice(0, at + 1), 100)))
      assert.ok(served.every(request => request.target === '/p'))
      const { text } = await say(
        port,
        [...whole].flatMap(octet => [octet, 1]),
        500,
      )
      assert.match(text, /POST \/p abc$/)
    }))
})

suite('what a face sees', () => {
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
      ['RFC 10008: QUERY', message(['QUERY / HTTP/1.1', 'Host: a', 'Content-Length: 0']), { method: 'QUERY' }],
      [
        'RFC 9110 §10.1.1: an unknown expectation',
        message(['GET / HTTP/1.1', 'Expect: wonders']),
        { fields: { expect: 'wonders' } },
      ],
      [
        'RFC 9110 §7.8: Upgrade is not taken up',
        message(['GET /u HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c']),
        { target: '/u' },
      ],
    ]
  for (const [title, octets, expected] of seen) {
    test(title, () =>
      during(
        request => ({ status: 400, fields: {}, content: request.target }),
        async ({ port, served }) => {
          const { text } = await say(port, octets)
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
    await during(one, async ({ port, errors }) => {
      const octets = Array.from({ length: 20 }, (_, at) =>
        message([`PUT /${at} HTTP/1.1`, 'Content-Length: 2'], 'ab'),
      ).join('')
      const { text } = await say(port, octets, 500)
      assert.deepEqual(
        [...text.matchAll(/\/(\d+)(?:HTTP|$)/g)].map(found => Number(found[1])),
        Array.from({ length: 20 }, (_, at) => at),
      )
      assert.deepEqual(errors, [])
    })
  })

  test('a thousand pipelined requests behind a slow one', () =>
    during(
      request => (request.target === '/slow' ? after(20, hello(request)) : hello(request)),
      async ({ port }) => {
        const { text } = await say(
          port,
          message(['GET /slow HTTP/1.1']) + message(['GET /1 HTTP/1.1']).repeat(3000),
          1500,
        )
        assert.equal(statuses(text).length, 3001)
      },
    ))

  test('RFC 9112 §9.6: nothing is served after the response that closes', () =>
    during(
      async () => after(20, { status: 200, fields: { connection: 'close' }, content: 'x' }),
      async ({ port, served }) => {
        const { text, closed } = await say(port, message(['GET /1 HTTP/1.1']).repeat(3), 1000)
        assert.deepEqual(statuses(text), [200])
        assert.ok(closed)
        assert.equal(served.length, 1)
      },
    ))

  test('RFC 9110 §7.8: after an Upgrade that is not taken up the connection ends, for the parser lost its place', () =>
    during(hello, async ({ port, served }) => {
      const upgrade = message(['GET /1 HTTP/1.1', 'Connection: upgrade', 'Upgrade: h2c'])
      const { text, closed } = await say(port, [
        upgrade + message(['GET /2 HTTP/1.1']),
        20,
        message(['GET /3 HTTP/1.1']),
      ])
      assert.deepEqual(statuses(text), [200])
      assert.ok(closed)
      assert.deepEqual(
        served.map(request => request.target),
        ['/1'],
      )
    }))

  test('a client that closed its side is answered', () =>
    during(
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

suite('content', () => {
  const taken: readonly (readonly [title: string, octets: string, status: number[], closed: boolean])[] = [
    ['RFC 9112 §6.2: by length', message(post('Content-Length: 3'), 'abc'), [200], false],
    [
      'RFC 9112 §7.1: chunked',
      message(post('Transfer-Encoding: chunked'), '2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: u\r\n\r\n'),
      [200],
      false,
    ],
    ['RFC 9112 §7: Chunked', message(post('Transfer-Encoding: Chunked'), '3\r\nabc\r\n0\r\n\r\n'), [200], false],
    [
      'A: over the limit by length, a little unread: the connection stays',
      message(post('Content-Length: 2000'), 'a'.repeat(2000)) + after200,
      [413, 200],
      false,
    ],
    [
      'B: over the limit by length, much unread: the connection ends',
      message(post('Content-Length: 200000'), 'a'.repeat(200000)) + after200,
      [413],
      true,
    ],
    [
      'C: over the limit, chunked, a little unread: the connection stays',
      `${message(post('Transfer-Encoding: chunked'))}7d0\r\n${'a'.repeat(2000)}\r\n0\r\n\r\n${after200}`,
      [413, 200],
      false,
    ],
    ['RFC 9110 §10.1.1: 100 when it is read', message(post('Content-Length: 3', 'Expect: 100-continue')), [100], false],
    [
      'RFC 9110 §10.1.1: no 100 when it is too long to be read',
      message(post('Content-Length: 2000', 'Expect: 100-Continue')),
      [413],
      true,
    ],
    ['RFC 9110 §10.1.1: no 100 without content', message(post('Expect: 100-continue')), [200], false],
  ]
  for (const [title, octets, status, closed] of taken) {
    test(title, () =>
      during(echo, async ({ port }) => {
        const heard = await say(port, octets)
        assert.deepEqual(statuses(heard.text), status)
        assert.equal(heard.closed, closed)
      }),
    )
  }

  test('RFC 9110 §10.1.1: content comes after 100', () =>
    during(echo, async ({ port }) => {
      const { text } = await say(port, [message(post('Content-Length: 3', 'Expect: 100-continue')), 50, 'abc'])
      assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
      assert.match(text, /POST \/p abc$/)
    }))

  test('content that nobody reads: a little is dropped, much ends the connection, an expected one too', () =>
    during(hello, async ({ port }) => {
      const little = await say(port, message(post('Content-Length: 2000'), 'a'.repeat(2000)) + after200)
      assert.deepEqual([statuses(little.text), little.closed], [[200, 200], false])
      const chunked = await say(port, `${message(post('Transfer-Encoding: chunked'))}3\r\nabc\r\n0\r\n\r\n${after200}`)
      assert.deepEqual([statuses(chunked.text), chunked.closed], [[200, 200], false])
      const much = await say(port, message(post('Content-Length: 2000000'), 'a'.repeat(2000)))
      assert.deepEqual([statuses(much.text), much.closed], [[200], true])
      const endless = await say(
        port,
        [
          `${message(post('Transfer-Encoding: chunked'))}`,
          10,
          ...Array.from({ length: 9 }, () => `2800\r\n${'a'.repeat(10240)}\r\n`),
        ],
        500,
      )
      assert.deepEqual(statuses(endless.text), [200])
      const expected = await say(port, message(post('Content-Length: 3', 'Expect: 100-continue')))
      assert.deepEqual([statuses(expected.text), expected.closed], [[200], true])
    }))

  test('RFC 9112 §9.6: a client that sends much before it reads still gets its 413', () =>
    during(echo, async ({ port }) => {
      const { text } = await say(
        port,
        [message(post('Content-Length: 8000000')), ...Array.from({ length: 80 }, () => 'a'.repeat(100_000))],
        1000,
      )
      assert.deepEqual(statuses(text), [413])
    }))

  test('chunks() hands out pieces as they come, and holds the sender back', async () => {
    let received = 0
    await during(
      async request => {
        for await (const piece of request.content.chunks()) {
          received += piece.length
          await after(5)
        }
        return { status: 200, fields: {}, content: String(received) }
      },
      async ({ port }) => {
        const asked = ask({ port, method: 'POST' })
        const answered = new Promise<string>(resolve =>
          asked.on('response', async it => resolve((await it.toArray()).join(''))),
        )
        for (let at = 0; at < 10; at++)
          if (!asked.write(Buffer.alloc(100_000))) await new Promise(resolve => asked.once('drain', resolve))
        assert.ok(received < 1_000_000)
        asked.end()
        assert.equal(await answered, '1000000')
      },
    )
  })

  test('chunks() may be left early', () =>
    during(
      async request => {
        for await (const piece of request.content.chunks())
          return { status: 200, fields: {}, content: String(piece[0]) }
        return { status: 500, fields: {} }
      },
      async ({ port }) => {
        const heard = await say(port, [
          message(post('Content-Length: 6')),
          10,
          'abc',
          10,
          `abc${message(['GET / HTTP/1.1'])}`,
        ])
        assert.deepEqual(statuses(heard.text), [200, 500])
      },
    ))

  for (const how of ['bytes', 'chunks'] as const) {
    test(`${how}() of a client that goes away throws Aborted`, async () => {
      const thrown = Promise.withResolvers<unknown>()
      const serve = async (request: Request): Promise<Response> => {
        try {
          if (how === 'bytes') await request.content.bytes(1000)
          else for await (const _ of request.content.chunks());
        } catch (error) {
          thrown.resolve(error)
          throw error
        }
        thrown.resolve('nothing thrown')
        return { status: 200, fields: {} }
      }
      await during(serve, async ({ port, errors }) => {
        const socket = connect(port, '127.0.0.1')
        socket.write(message(post('Content-Length: 10'), 'abc'))
        await after(30)
        socket.destroy()
        assert.ok((await thrown.promise) instanceof Aborted)
        assert.deepEqual(errors, [])
      })
    })
  }

  test('content is read once', () =>
    during(
      async request => {
        await request.content.bytes(100)
        await assert.rejects(request.content.bytes(100), /once/)
        return { status: 204, fields: {} }
      },
      async ({ port }) =>
        assert.deepEqual(statuses((await say(port, message(post('Content-Length: 3'), 'abc'))).text), [204]),
    ))
})

suite('responses', () => {
  async function* pieces(...all: string[]) {
    for (const piece of all) {
      yield Buffer.from(piece)
      await after(5)
    }
  }
  const sent: readonly (readonly [
    title: string,
    method: string,
    response: () => Response,
    has: RegExp,
    not?: RegExp,
  ])[] = [
    [
      'RFC 9110 §8.6: text is counted in octets',
      'GET',
      () => ({ status: 200, fields: {}, content: 'é' }),
      /content-length: 2\r\n/,
    ],
    [
      'RFC 9110 §8.6: octets are counted, whatever was announced',
      'GET',
      () => ({ status: 200, fields: { 'Content-Length': '9' }, content: Buffer.from('abc') }),
      /content-length: 3\r\n.*abc$/s,
      /9\r\n/,
    ],
    ['RFC 9110 §8.6: no content', 'GET', () => ({ status: 200, fields: {} }), /content-length: 0\r\n/],
    [
      'RFC 9110 §9.3.2: HEAD has the length of GET',
      'HEAD',
      () => ({ status: 200, fields: {}, content: 'abc' }),
      /content-length: 3\r\n.*\r\n\r\n$/s,
    ],
    [
      'RFC 9110 §9.3.2: HEAD with a length and no content',
      'HEAD',
      () => ({ status: 200, fields: { 'content-length': '7' } }),
      /content-length: 7\r\n.*\r\n\r\n$/s,
    ],
    [
      'RFC 9110 §9.3.2: HEAD of a stream',
      'HEAD',
      () => ({ status: 200, fields: {}, content: pieces('abc') }),
      /\r\n\r\n$/,
      /content-length|transfer-encoding/i,
    ],
    [
      'RFC 9110 §15.3.5: 204',
      'GET',
      () => ({ status: 204, fields: { 'content-length': '3' }, content: 'abc' }),
      /\r\n\r\n$/,
      /content-length|transfer-encoding/i,
    ],
    [
      'RFC 9110 §15.3.6: 205',
      'GET',
      () => ({ status: 205, fields: {}, content: 'abc' }),
      /content-length: 0\r\n.*\r\n\r\n$/s,
    ],
    [
      'RFC 9110 §15.4.5: 304',
      'GET',
      () => ({ status: 304, fields: { etag: '"1"' }, content: 'abc' }),
      /etag: "1"\r\n.*\r\n\r\n$/s,
      /content-length|transfer-encoding/i,
    ],
    [
      'RFC 9112 §7.1: a stream',
      'GET',
      () => ({ status: 200, fields: {}, content: pieces('ab', '', 'c') }),
      /transfer-encoding: chunked\r\n.*\r\n(2\r\nab\r\n1\r\nc|3\r\nabc)\r\n0\r\n\r\n$/is,
    ],
    [
      'RFC 9112 §6.2: a stream of known length',
      'GET',
      () => ({ status: 200, fields: { 'content-length': '3' }, content: pieces('ab', 'c') }),
      /content-length: 3\r\n.*\r\n\r\nabc$/s,
      /transfer-encoding/i,
    ],
    [
      'a stream of nothing',
      'GET',
      () => ({ status: 200, fields: {}, content: pieces() }),
      /transfer-encoding: chunked\r\n(.*\r\n)?\r\n0\r\n\r\n$/is,
    ],
    [
      'RFC 9110 §5.3: several lines of one name',
      'GET',
      () => ({ status: 200, fields: { 'set-cookie': ['a=1', 'b=2'] } }),
      /set-cookie: a=1\r\nset-cookie: b=2\r\n/,
    ],
    [
      'framing fields are ours',
      'GET',
      () => ({ status: 200, fields: { 'transfer-encoding': 'gzip', 'Keep-Alive': 'x', upgrade: 'y' }, content: 'abc' }),
      /content-length: 3\r\n/,
      /gzip|: x|upgrade/,
    ],
    [
      'RFC 9110 §6.6.1: Date',
      'GET',
      () => ({ status: 200, fields: {} }),
      /Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/,
    ],
    [
      'RFC 9110 §15.5.14: a phrase of today',
      'GET',
      () => ({ status: 413, fields: {} }),
      /^HTTP\/1\.1 413 Content Too Large\r\n/,
    ],
  ]
  for (const [title, method, response, has, not] of sent) {
    test(title, () =>
      during(response, async ({ port, errors }) => {
        const { text, closed } = await say(port, message([`${method} / HTTP/1.1`]))
        assert.match(text, has)
        if (not) assert.doesNotMatch(text, not)
        assert.ok(!closed)
        assert.deepEqual(errors, [])
      }),
    )
  }

  const unsendable: readonly (readonly [title: string, response: () => Response | Promise<Response>])[] = [
    [
      'response splitting in a value',
      () => ({ status: 302, fields: { location: '/a\r\nSet-Cookie: b=c\r\n\r\nspoof' } }),
    ],
    ['response splitting in one of several values', () => ({ status: 200, fields: { link: ['a', 'b\nspoof: 1'] } })],
    ['response splitting in a name', () => ({ status: 200, fields: { 'a: b\r\nspoof': 'c' } })],
    ['NUL', () => ({ status: 200, fields: { a: 'spoof\0' } })],
    ['a value that is not ASCII', () => ({ status: 200, fields: { a: 'é spoof' } })],
    ['1xx', () => ({ status: 101, fields: {}, content: 'spoof' })],
    ['a status that is none', () => ({ status: 2000, fields: {}, content: 'spoof' })],
    [
      'thrown',
      () => {
        throw new Error('secret spoof')
      },
    ],
    ['thrown later', () => Promise.reject(new Error('secret spoof'))],
    [
      'thrown by the first piece of a stream',
      () => ({
        status: 200,
        fields: {},
        content: (async function* () {
          yield Buffer.from('') && (await Promise.reject(new Error('secret spoof')))
        })(),
      }),
    ],
  ]
  for (const [title, response] of unsendable) {
    test(`${title}: 500, nothing told, and onError hears`, () =>
      during(response, async ({ port, errors }) => {
        const { text } = await say(port, message(['GET / HTTP/1.1']))
        assert.deepEqual(statuses(text), [500])
        assert.doesNotMatch(text, /spoof|secret/)
        assert.equal(errors.length, 1)
      }))
  }

  test('RFC 9110 §9.3.6: CONNECT never succeeds', () =>
    during(hello, async ({ port, errors }) => {
      const { text, closed } = await say(port, message(['CONNECT a:80 HTTP/1.1', 'Host: a']), 1000)
      assert.deepEqual(statuses(text), [500])
      assert.ok(closed)
      assert.equal(errors.length, 1)
    }))

  const torn: readonly (readonly [
    title: string,
    length: string | undefined,
    content: () => AsyncIterable<Uint8Array>,
  ])[] = [
    [
      'fails',
      undefined,
      async function* () {
        yield Buffer.from('abc')
        await after(5)
        throw new Error('secret')
      },
    ],
    ['is shorter than announced', '9', () => pieces('abc')],
    ['is longer than announced', '4', () => pieces('abc', 'def')],
  ]
  for (const [title, length, content] of torn) {
    test(`a stream that ${title} is cut, so that nobody takes it for whole`, () =>
      during(
        () => ({ status: 200, fields: length ? { 'content-length': length } : {}, content: content() }),
        async ({ port, errors }) => {
          const { text } = await say(port, message(['GET / HTTP/1.1']))
          assert.match(text, /abc/)
          assert.doesNotMatch(text, /0\r\n\r\n$|def|secret/)
          assert.equal(errors.length, 1)
        },
      ))
  }

  test('a stream is held back by a slow reader, and returns when he leaves', async () => {
    let made = 0
    const returned = Promise.withResolvers<void>()
    async function* endless() {
      try {
        for (;;) {
          made += 65536
          yield Buffer.alloc(65536)
        }
      } finally {
        returned.resolve()
      }
    }
    await during(
      () => ({ status: 200, fields: {}, content: endless() }),
      async ({ port, errors }) => {
        const socket = connect(port, '127.0.0.1')
        socket.pause().write(message(['GET / HTTP/1.1']))
        await after(200)
        const before = made
        await after(100)
        assert.equal(made, before)
        socket.destroy()
        await returned.promise
        assert.deepEqual(errors, [])
      },
    )
  })
})

suite('clocks', () => {
  const options = { limits: short }
  test('slow fields → 408', () =>
    during(
      hello,
      async ({ port }) => {
        const { text, closed, took } = await say(
          port,
          [message(['GET / HTTP/1.1']).slice(0, -2), ...Array.from({ length: 8 }, () => ['A: b\r\n', 100]).flat()],
          1000,
        )
        assert.deepEqual(statuses(text), [408])
        assert.ok(closed)
        assert.ok(took < 1500)
      },
      options,
    ))

  test('half a head and silence → 408', () =>
    during(
      hello,
      async ({ port }) => {
        const { text, closed } = await say(port, 'GET / HT', 1500)
        assert.deepEqual(statuses(text), [408])
        assert.ok(closed)
      },
      options,
    ))

  test('silence from the start: closed without a word', () =>
    during(
      hello,
      async ({ port }) => {
        const { text, closed, took } = await say(port, '', 1500)
        assert.equal(text, '')
        assert.ok(closed)
        assert.ok(took < 1000)
      },
      options,
    ))

  test('silence after a response: closed without a word', () =>
    during(
      hello,
      async ({ port }) => {
        const { text, closed } = await say(port, message(['GET / HTTP/1.1']), 3000)
        assert.deepEqual(statuses(text), [200])
        assert.ok(closed)
      },
      { limits: { ...short, idle: 100 } },
    ))

  for (const [title, pieces] of [
    ['no content', [message(post('Content-Length: 3'))]],
    [
      'a trickle of content',
      [message(post('Content-Length: 900')), ...Array.from({ length: 10 }, () => ['a', 100]).flat()],
    ],
  ] as const) {
    test(`${title} → 408`, () =>
      during(
        echo,
        async ({ port, errors }) => {
          const { text, closed } = await say(port, pieces, 2000)
          assert.deepEqual(statuses(text), [408])
          assert.ok(closed)
          assert.deepEqual(errors, [])
        },
        options,
      ))
  }

  test('a slow application is no fault of the client', () =>
    during(
      async request => after(900, hello(request)),
      async ({ port }) => {
        const { text } = await say(port, message(['GET /slow HTTP/1.1']), 2000)
        assert.match(text, /\/slow$/)
      },
      options,
    ))

  test('a reader that stalls is cut', () =>
    during(
      () => ({ status: 200, fields: {}, content: Buffer.alloc(50_000_000) }),
      async ({ port, listener }) => {
        const socket = connect(port, '127.0.0.1').pause()
        socket.on('error', () => {})
        socket.write(message(['GET / HTTP/1.1']))
        await after(100)
        assert.equal(listener.connections(), 1)
        for (let tries = 0; listener.connections() > 0 && tries < 30; tries++) await after(100)
        assert.equal(listener.connections(), 0)
        socket.destroy()
      },
      options,
    ))

  test('peers.md 15: 200 stalled connections of all kinds are gone soon', () =>
    during(
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
          return socket
        })
        await after(200)
        assert.equal(listener.connections(), 200)
        for (let tries = 0; listener.connections() > 0 && tries < 30; tries++) await after(100)
        assert.equal(listener.connections(), 0)
        for (const socket of sockets) socket.destroy()
      },
      options,
    ))
})

suite('crowds', () => {
  test('one connection too many is answered 503', () =>
    during(
      hello,
      async ({ port, listener }) => {
        const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
        await after(30)
        const { text, closed } = await say(port, message(['GET / HTTP/1.1']), 500)
        assert.deepEqual(statuses(text), [503])
        assert.match(text, /retry-after: \d/)
        assert.ok(closed)
        for (const socket of sockets) socket.destroy()
        for (let tries = 0; listener.connections() > 0 && tries < 30; tries++) await after(20)
        assert.deepEqual(statuses((await say(port, message(['GET / HTTP/1.1']))).text), [200])
      },
      { limits: { connections: 2, linger: 50 } },
    ))

  test('a hostile request costs no more than a friendly one: 2 MB of chunks of one octet', () =>
    during(
      async request => ({
        status: 200,
        fields: {},
        content: String((await request.content.bytes(10_000_000))?.length),
      }),
      async ({ port }) => {
        const { text } = await say(
          port,
          message(post('Transfer-Encoding: chunked'), `${'1\r\na\r\n'.repeat(300_000)}0\r\n\r\n`),
          1500,
        )
        assert.match(text, /300000$/)
      },
    ))
})

test('the test’s own server answers (the wire is not to blame)', async () => {
  const server = createServer((_, reply) => reply.end('x')).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null)
  assert.deepEqual(statuses((await say(address.port, message(['GET / HTTP/1.1', 'Host: a']))).text), [200])
  server.close()
  server.closeAllConnections()
})
