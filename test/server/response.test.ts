import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Response } from '../../src/http/message.ts'
import { exchangeOctets, hello, message, shortLimits, statuses, withServer } from './raw-connection.ts'

suite('responses', { concurrency: 8 }, () => {
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
      'an empty stream',
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
      () => ({
        status: 200,
        fields: { 'transfer-encoding': 'gzip', 'Keep-Alive': 'x', upgrade: 'y', trailer: 'z', date: 'w' },
        content: 'abc',
      }),
      /content-length: 3\r\n/,
      /gzip|: x|upgrade|trailer|: w/,
    ],
    [
      'RFC 9110 §6.6.1: Date',
      'GET',
      () => ({ status: 200, fields: {} }),
      /Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/,
    ],
    [
      'RFC 9110 §15.5.14: a current reason phrase',
      'GET',
      () => ({ status: 413, fields: {} }),
      /^HTTP\/1\.1 413 Content Too Large\r\n/,
    ],
  ]
  for (const [title, method, response, has, not] of sent) {
    test(title, () =>
      withServer(response, async ({ port, errors }) => {
        const { text, closed } = await exchangeOctets(port, message([`${method} / HTTP/1.1`]), has)
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
    ['an invalid status', () => ({ status: 2000, fields: {}, content: 'spoof' })],
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
    test(`${title}: 500 without details, and onError gets the error`, () =>
      withServer(response, async ({ port, errors }) => {
        const { text } = await exchangeOctets(port, message(['GET / HTTP/1.1']))
        assert.deepEqual(statuses(text), [500])
        assert.doesNotMatch(text, /spoof|secret/)
        assert.equal(errors.length, 1)
      }))
  }

  test('RFC 9110 §9.3.6: CONNECT never succeeds', () =>
    withServer(hello, async ({ port, errors }) => {
      const { text, closed } = await exchangeOctets(port, message(['CONNECT a:80 HTTP/1.1', 'Host: a']), 'end')
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
    test(`a stream that ${title} is cut off, so that it does not look complete`, () =>
      withServer(
        () => ({ status: 200, fields: length ? { 'content-length': length } : {}, content: content() }),
        async ({ port, errors }) => {
          const { text } = await exchangeOctets(port, message(['GET / HTTP/1.1']), 'end')
          assert.match(text, /abc/)
          assert.doesNotMatch(text, /0\r\n\r\n$|def|secret/)
          assert.equal(errors.length, 1)
        },
      ))
  }

  test('responses before a stream that fails at once arrive', () =>
    withServer(
      async ({ target }) => {
        async function* failing() {
          yield Buffer.from('abc')
          throw new Error('secret')
        }
        return { status: 200, fields: {}, content: target === '/first' ? 'whole' : failing() }
      },
      async ({ port }) => {
        const { text } = await exchangeOctets(
          port,
          message(['GET /first HTTP/1.1']) + message(['GET /second HTTP/1.1']),
          'end',
        )
        assert.match(text, /\r\n\r\nwhole/)
        assert.doesNotMatch(text, /0\r\n\r\n$/)
      },
    ))

  for (const [title, method, status] of [
    ['HEAD', 'HEAD', 200],
    ['304', 'GET', 304],
  ] as const) {
    test(`a stream that is not sent is closed: ${title}`, async () => {
      const file = createReadStream(import.meta.filename)
      await withServer(
        () => ({ status, fields: {}, content: file }),
        async ({ port, errors }) => {
          assert.deepEqual(statuses((await exchangeOctets(port, message([`${method} / HTTP/1.1`]))).text), [status])
          assert.ok(file.destroyed)
          assert.deepEqual(errors, [])
        },
      )
    })
  }

  test('a stream of Node is closed when its client leaves, though no piece ever arrives', async () => {
    const never = new Readable({ read() {} })
    await withServer(
      () => ({ status: 200, fields: {}, content: never }),
      async ({ port, errors }) => {
        await exchangeOctets(port, message(['GET / HTTP/1.1']), 0)
        for (let tries = 0; !never.destroyed && tries < 200; tries++) await after(100)
        assert.ok(never.destroyed)
        assert.deepEqual(errors, [])
      },
      { limits: shortLimits },
    )
  })

  test('a stream waits for a slow client, and ends when the client leaves', async () => {
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
    await withServer(
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
