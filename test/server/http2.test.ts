import assert from 'node:assert/strict'
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { connect as dial } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Request, Response } from '../../src/http/message.ts'
import { Aborted, type ListenOptions, type Serve } from '../../src/server/listener.ts'
import { echo, exchangeOctets, hello, shortLimits, statuses, type TestServer, withServer } from './raw-connection.ts'

type Talk = TestServer & { readonly session: ClientHttp2Session }

/** RFC 9113 §3.3: HTTP/2 by prior knowledge. */
const over2 = (serve: Serve, journey: (talk: Talk) => Promise<void>, options: ListenOptions = {}) =>
  withServer(
    serve,
    async server => {
      const session = connect(server.listener.url)
      session.on('error', () => {})
      try {
        await journey({ ...server, session })
      } finally {
        session.destroy()
      }
    },
    options,
  )

interface Got {
  readonly status: number | undefined
  readonly fields: Record<string, unknown>
  readonly text: string
  readonly informed: number[]
  readonly code: number
}

function get(session: ClientHttp2Session, fields: OutgoingHttpHeaders, content?: string | Buffer): Promise<Got> {
  const stream = session.request(fields, { endStream: content === undefined })
  const informed: number[] = []
  let head: Record<string, unknown> = {}
  let text = ''
  stream.on('headers', it => informed.push(Number(it[':status'])))
  stream.on('response', it => (head = it)).on('data', piece => (text += piece))
  stream.on('error', () => {})
  if (content !== undefined) stream.end(content)
  return new Promise(resolve =>
    stream.on('close', () => {
      const { ':status': status, ...rest } = head
      resolve({
        status: status === undefined ? undefined : Number(status),
        fields: rest,
        text,
        informed,
        code: stream.rstCode,
      })
    }),
  )
}

async function* pieces(...all: string[]) {
  for (const piece of all) yield Buffer.from(piece)
}

/** RFC 9113 §4.1 */
function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)])
// RFC 7541: ":method: GET", ":scheme: http", ":path: /" from the static table, ":authority: a"
// written out.
const getHead = Buffer.from([0x82, 0x86, 0x84, 0x41, 0x01, 0x61])

const postHead = Buffer.concat([Buffer.from([0x83]), getHead.subarray(1)])

/**
 * Sends frames after the preface, each in a packet of its own, with pauses (milliseconds, or until
 * something) between.
 */
async function pour(port: number, pieces: readonly (Buffer | number | Promise<void>)[], patience = 0): Promise<void> {
  const socket = dial(port, '127.0.0.1')
    .on('error', () => {})
    .setNoDelay(true)
  socket.resume().write(preface)
  for (const piece of pieces) {
    if (typeof piece === 'number') await after(piece)
    else if (piece instanceof Promise) await piece
    else socket.write(piece)
  }
  await after(patience)
  socket.unref()
}

suite('requests', { concurrency: 8 }, () => {
  const seen: readonly (readonly [title: string, fields: OutgoingHttpHeaders, expected: Partial<Request>])[] = [
    [
      'RFC 9113 §8.3.1: method, path',
      { ':method': 'PUT', ':path': '/a?b' },
      { method: 'PUT', target: '/a?b', version: '2', scheme: 'http', from: '127.0.0.1' },
    ],
    [
      'RFC 9113 §8.3.1: authority stands for Host',
      { ':authority': 'example.org' },
      { fields: { host: 'example.org' } },
    ],
    ['RFC 9113 §8.3.1: Host next to the same authority', { ':authority': 'a', host: 'a' }, { fields: { host: 'a' } }],
    [
      'RFC 9113 §8.3.1: Host next to another authority fails as two Hosts do',
      { ':authority': 'a', host: 'b' },
      { fields: { host: 'a, b' } },
    ],
    [
      'RFC 9113 §8.2.3: Cookie in pieces',
      { ':authority': 'a', cookie: ['b=1', 'c=2'] },
      { fields: { host: 'a', cookie: 'b=1; c=2' } },
    ],
    [
      'RFC 9110 §5.3: lines of one name',
      { ':authority': 'a', accept: ['b', 'c'] },
      { fields: { host: 'a', accept: 'b, c' } },
    ],
    [
      'RFC 9113 §8.5: CONNECT, in authority form',
      { ':method': 'CONNECT', ':authority': 'a:80' },
      { method: 'CONNECT', target: 'a:80' },
    ],
    [
      'RFC 9110 §7.4: https over a connection that is not secured, for the front door to refuse',
      { ':scheme': 'https', ':authority': 'a', ':path': '/b?c' },
      { target: 'https://a/b?c', scheme: 'http' },
    ],
    [
      'RFC 9113 §8.3.1: another scheme is not that of the connection',
      { ':scheme': 'ftp', ':authority': 'a', ':path': '/b' },
      { target: 'ftp://a/b' },
    ],
    ['RFC 9110 §9.1: an unknown method', { ':method': 'FOO' }, { method: 'FOO' }],
    ['RFC 9112 §3.2.4: asterisk form', { ':method': 'OPTIONS', ':path': '*' }, { method: 'OPTIONS', target: '*' }],
    ['a target of 60 KiB', { ':path': `/${'a'.repeat(60_000)}` }, { target: `/${'a'.repeat(60_000)}` }],
  ]
  for (const [title, fields, expected] of seen) {
    test(title, () =>
      over2(
        () => ({ status: 400, fields: {} }),
        async ({ session, served }) => {
          assert.equal((await get(session, fields)).status, 400)
          const { fields: wanted, ...rest } = expected
          assert.partialDeepStrictEqual(served[0], rest)
          assert.equal(Object.getPrototypeOf(served[0]?.fields), null)
          if (wanted) assert.deepEqual({ ...served[0]?.fields }, wanted)
        },
      ),
    )
  }

  test('RFC 6585 §5: fields over 32 KiB', () =>
    over2(hello, async ({ session, served }) => {
      const got = await get(session, { a: 'b'.repeat(33 * 1024) })
      assert.equal(got.status, 431)
      assert.equal(got.fields['content-type'], 'application/problem+json')
      assert.equal(served.length, 0)
      assert.equal((await get(session, { ':path': '/next' })).text, '/next')
    }))

  const content: readonly (readonly [
    title: string,
    fields: OutgoingHttpHeaders,
    content: string,
    status: number,
    text: string,
    informed: number[],
  ])[] = [
    ['without a length', {}, 'abc', 200, 'POST / abc', []],
    ['with a length', { 'content-length': 3 }, 'abc', 200, 'POST / abc', []],
    ['empty', {}, '', 200, 'POST / ', []],
    ['over the limit', {}, 'a'.repeat(2000), 413, 'too large', []],
    ['much over the limit', {}, 'a'.repeat(2_000_000), 413, 'too large', []],
    ['over the limit by its length', { 'content-length': 2000 }, 'a'.repeat(2000), 413, 'too large', []],
    ['RFC 9110 §10.1.1: 100 when it is read', { expect: '100-continue' }, 'abc', 200, 'POST / abc', [100]],
    [
      'RFC 9110 §10.1.1: no 100 when it is not',
      { expect: '100-continue', 'content-length': 2000 },
      'a'.repeat(2000),
      413,
      'too large',
      [],
    ],
  ]
  for (const [title, fields, octets, status, text, informed] of content) {
    test(`content: ${title}`, () =>
      over2(echo, async ({ session, errors }) => {
        const got = await get(session, { ':method': 'POST', ...fields }, octets)
        assert.deepEqual([got.status, got.text, got.informed], [status, text, informed])
        assert.equal((await get(session, { ':path': '/next' })).text, 'GET /next ')
        assert.deepEqual(errors, [])
      }))
  }

  test('RFC 9113 §8.1.1: content that differs from its length is not content', async () => {
    const begins = Promise.withResolvers<void>()
    const thrown = Promise.withResolvers<unknown>()
    const serve = async (request: Request): Promise<Response> => {
      begins.resolve()
      await Promise.resolve(request.content.bytes(100)).then(() => thrown.resolve('nothing thrown'), thrown.resolve)
      return { status: 200, fields: {} }
    }
    await over2(serve, async ({ session }) => {
      const stream = session.request({ ':method': 'POST', 'content-length': 9 }, { endStream: false })
      stream.on('error', () => {})
      await begins.promise
      stream.end('abc')
      await new Promise(resolve => stream.on('close', resolve))
      assert.equal(stream.rstCode, constants.NGHTTP2_PROTOCOL_ERROR)
      assert.ok((await thrown.promise) instanceof Aborted)
    })
  })

  for (const how of ['bytes', 'chunks'] as const) {
    test(`${how}() throws Aborted if the client resets the stream`, async () => {
      const thrown = Promise.withResolvers<unknown>()
      const begins = Promise.withResolvers<void>()
      const serve = async (request: Request): Promise<Response> => {
        try {
          begins.resolve()
          if (how === 'bytes') await request.content.bytes(1000)
          else for await (const _ of request.content.chunks());
          thrown.resolve('nothing thrown')
        } catch (error) {
          thrown.resolve(error)
          throw error
        }
        return { status: 200, fields: {} }
      }
      await withServer(serve, async ({ port, errors }) => {
        // Node's own client ends a stream before it resets it.
        const begun = Buffer.concat([frame(1, 4, 1, postHead), frame(0, 0, 1, Buffer.from('abc'))])
        const reset = frame(3, 0, 1, Buffer.from([0, 0, 0, 8]))
        await pour(port, [begun, begins.promise, 30, reset])
        assert.ok((await thrown.promise) instanceof Aborted)
        assert.deepEqual(errors, [])
      })
    })
  }

  const halves: readonly (readonly [title: string, octets: Buffer])[] = [
    ['after three octets', preface.subarray(0, 3)],
    ['within the preface', preface.subarray(0, 20)],
    ['after the preface', preface],
    ['within a frame', Buffer.concat([preface, frame(1, 4, 1, postHead).subarray(0, 12)])],
    ['after a request', Buffer.concat([preface, frame(1, 5, 1, getHead)])],
  ]
  for (const [title, octets] of halves) {
    test(`a client that closes its side ${title} is disconnected at once`, () =>
      withServer(hello, async ({ port }) => {
        const socket = dial(port, '127.0.0.1')
          .on('error', () => {})
          .resume()
        const closed = new Promise(resolve => socket.once('close', () => resolve('closed')))
        socket.end(octets)
        assert.equal(await Promise.race([closed, after(20_000, 'open', { ref: false })]), 'closed')
      }))
  }

  test('RFC 9113 §8.1 a client that is still sending a little is not reset', () =>
    over2(hello, async ({ session }) => {
      const stream = session.request({ ':method': 'POST' }, { endStream: false })
      await new Promise(resolve => stream.once('response', resolve).resume())
      await after(30)
      assert.equal(stream.closed, false)
      stream.end('abc')
      await new Promise(resolve => stream.once('close', resolve))
      assert.equal(stream.rstCode, constants.NGHTTP2_NO_ERROR)
    }))

  const ends: readonly (readonly [title: string, data: (id: number) => readonly Buffer[]])[] = [
    ['on the last DATA', id => [frame(0, 1, id, Buffer.from('abc'))]],
    ['on an empty DATA', id => [frame(0, 0, id, Buffer.from('abc')), frame(0, 1, id)]],
  ]
  for (const [title, data] of ends) {
    test(`RFC 9113 §8.1 content whose END_STREAM is ${title} is whole, however it arrives`, async () => {
      const read: string[] = []
      const serve = async ({ content }: Request): Promise<Response> => {
        const octets = await Promise.resolve(content.bytes(1000)).catch(String)
        read.push(String(octets && Buffer.from(octets)))
        return { status: 204, fields: {} }
      }
      await withServer(serve, async ({ port }) => {
        const ids = Array.from({ length: 40 }, (_, i) => 2 * i + 1)
        await pour(
          port,
          ids.flatMap(id => [frame(1, 4, id, postHead), id % 3, ...data(id)]),
          60,
        )
        assert.deepEqual(
          read,
          ids.map(() => 'abc'),
        )
      })
    })
  }
})

suite('responses', { concurrency: 8 }, () => {
  const sent: readonly (readonly [
    title: string,
    method: string,
    response: () => Response,
    status: number,
    length: string | undefined,
    text: string,
  ])[] = [
    ['text', 'GET', () => ({ status: 200, fields: {}, content: 'é' }), 200, '2', 'é'],
    ['no content', 'GET', () => ({ status: 200, fields: {} }), 200, '0', ''],
    ['empty text', 'GET', () => ({ status: 200, fields: {}, content: '' }), 200, '0', ''],
    ['RFC 9110 §9.3.2: HEAD', 'HEAD', () => ({ status: 200, fields: {}, content: 'abc' }), 200, '3', ''],
    ['RFC 9110 §15.3.5: 204', 'GET', () => ({ status: 204, fields: {}, content: 'abc' }), 204, undefined, ''],
    ['RFC 9110 §15.4.5: 304', 'GET', () => ({ status: 304, fields: {}, content: 'abc' }), 304, undefined, ''],
    ['a stream', 'GET', () => ({ status: 200, fields: {}, content: pieces('ab', '', 'c') }), 200, undefined, 'abc'],
    ['an empty stream', 'GET', () => ({ status: 200, fields: {}, content: pieces() }), 200, undefined, ''],
    [
      'a stream of known length',
      'GET',
      () => ({ status: 200, fields: { 'content-length': '3' }, content: pieces('abc') }),
      200,
      '3',
      'abc',
    ],
    [
      'response splitting',
      'GET',
      () => ({ status: 200, fields: { a: 'b\r\nc: d' } }),
      500,
      '67',
      '{"type":"about:blank","title":"Internal Server Error","status":500}',
    ],
    [
      'thrown',
      'GET',
      () => {
        throw new Error('secret')
      },
      500,
      '67',
      '{"type":"about:blank","title":"Internal Server Error","status":500}',
    ],
  ]
  for (const [title, method, response, status, length, text] of sent) {
    test(title, () =>
      over2(response, async ({ session, errors }) => {
        const got = await get(session, { ':method': method })
        assert.deepEqual([got.status, got.fields['content-length'], got.text, got.code], [status, length, text, 0])
        assert.match(String(got.fields['date']), /GMT$/)
        assert.equal(errors.length, status === 500 ? 1 : 0)
      }),
    )
  }

  test('RFC 9113 §8.2.2: connection-specific fields are not sent', () =>
    over2(
      () => ({
        status: 200,
        fields: {
          Connection: 'close',
          'Keep-Alive': 'x',
          'transfer-encoding': 'chunked',
          Upgrade: 'y',
          'X-A': ['b', 'c'],
        },
      }),
      async ({ session }) => {
        const { fields } = await get(session, {})
        assert.deepEqual(Object.keys(fields).sort(), ['content-length', 'date', 'x-a'])
        assert.equal(fields['x-a'], 'b, c')
      },
    ))

  test('a stream that fails is reset, so that it does not look complete', () =>
    over2(
      () => ({
        status: 200,
        fields: {},
        content: (async function* () {
          yield Buffer.from('abc')
          throw new Error('secret')
        })(),
      }),
      async ({ session, errors }) => {
        assert.equal((await get(session, {})).code, constants.NGHTTP2_INTERNAL_ERROR)
        assert.equal(errors.length, 1)
      },
    ))

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
    await over2(
      () => ({ status: 200, fields: {}, content: endless() }),
      async ({ session, errors }) => {
        const stream = session.request({})
        stream.on('error', () => {}).pause()
        await after(200)
        const before = made
        await after(100)
        assert.equal(made, before)
        stream.close(constants.NGHTTP2_CANCEL)
        await returned.promise
        assert.deepEqual(errors, [])
      },
    )
  })

  test('streams of one connection do not wait for each other', () =>
    over2(
      async request => after(request.target === '/slow' ? 100 : 0, hello(request)),
      async ({ session }) => {
        const order: string[] = []
        await Promise.all(
          ['/slow', '/1', '/2'].map(async path => order.push((await get(session, { ':path': path })).text)),
        )
        assert.equal(order[2], '/slow')
      },
    ))
})

/** Sends octets that no well-behaved client sends; true when the server hung up. */
function assail(port: number, octets: Buffer | (() => Buffer), rounds = 1, patience = 1500): Promise<boolean> {
  return new Promise(resolve => {
    const socket = dial(port, '127.0.0.1')
    const done = (hungUp: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(hungUp)
    }
    const timer = setTimeout(() => done(false), patience)
    socket
      .on('error', () => {})
      .on('close', () => done(true))
      .resume()
    socket.write(preface)
    for (let round = 0; round < rounds; round++) socket.write(typeof octets === 'function' ? octets() : octets)
  })
}

/** RFC 9113 §6.8 */
function goAwayCodes(octets: Buffer): number[] {
  const codes: number[] = []
  for (let at = 0; at + 9 <= octets.length; at += 9 + octets.readUIntBE(at, 3))
    if (octets[at + 3] === 7) codes.push(octets.readUInt32BE(at + 13))
  return codes
}

suite('attacks', { concurrency: 4 }, () => {
  test('rapid reset: the application is hardly called, and the client loses its connection', async () => {
    let id = -1
    const round = () => {
      id += 2
      return Buffer.concat([frame(1, 5, id, getHead), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))])
    }
    let busy = 0
    await withServer(
      async request => {
        busy++
        await after(300)
        return hello(request)
      },
      async ({ port }) => {
        assert.ok(await assail(port, round, 20_000))
        assert.ok(busy <= 200, `${busy} at work`)
      },
    )
  })

  test('RFC 9113 §10.5: a client that keeps resetting streams gets ENHANCE_YOUR_CALM', () =>
    withServer(
      async request => after(20, hello(request)),
      async ({ port }) => {
        const socket = dial(port, '127.0.0.1').setNoDelay(true)
        const received: Buffer[] = []
        socket.on('error', () => {}).on('data', (piece: Buffer) => received.push(piece))
        socket.write(preface)
        for (let id = 1; !socket.closed; id += 2) {
          socket.write(Buffer.concat([frame(1, 5, id, getHead), frame(3, 0, id, Buffer.from([0, 0, 0, 8]))]))
          await after(5)
        }
        assert.deepEqual(goAwayCodes(Buffer.concat(received)), [constants.NGHTTP2_ENHANCE_YOUR_CALM])
      },
      { limits: { resets: 20, resetRate: 1 } },
    ))

  for (const [title, octets, reason] of [
    ['a flood', frame(4, 0, 0), /^an HTTP\/2 client sends too many resets, streams, SETTINGS or PING$/],
    ['an invalid frame', frame(4, 0, 1), /^HTTP\/2: Protocol error$/],
  ] as const)
    test(`docs/operations.md: the end of a connection by ${title} is reported once, with its reason`, async () => {
      const refused: string[] = []
      await withServer(
        hello,
        async ({ port }) => {
          const socket = dial(port, '127.0.0.1').on('error', () => {})
          socket.resume().write(preface)
          while (!socket.closed) {
            socket.write(octets)
            await after(1)
          }
        },
        { onRefusal: (reason, from) => refused.push(`${from} ${reason}`) },
      )
      assert.equal(refused.length, 1)
      assert.match(refused[0]?.replace('127.0.0.1 ', '') ?? '', reason)
    })

  const floods: readonly (readonly [title: string, octets: Buffer])[] = [
    ['SETTINGS', frame(4, 0, 0)],
    ['PING', frame(6, 0, 0, Buffer.alloc(8))],
  ]
  for (const [title, octets] of floods) {
    test(`RFC 9113 §10.5: a ${title} flood ends with ENHANCE_YOUR_CALM`, () =>
      withServer(hello, async ({ port }) => {
        const socket = dial(port, '127.0.0.1')
        const received: Buffer[] = []
        socket.on('error', () => {}).on('data', (piece: Buffer) => received.push(piece))
        socket.write(preface)
        while (!socket.closed) {
          socket.write(octets)
          await after(1)
        }
        assert.equal(goAwayCodes(Buffer.concat(received)).at(-1), constants.NGHTTP2_ENHANCE_YOUR_CALM)
      }))
  }

  test('CONTINUATION flood', () =>
    withServer(hello, async ({ port, served }) => {
      const more = frame(9, 0, 1, Buffer.from([0x00, 0x01, 0x61, 0x01, 0x62]))
      assert.ok(
        await assail(port, Buffer.concat([frame(1, 1, 1, getHead), ...Array.from({ length: 20_000 }, () => more)])),
      )
      assert.equal(served.length, 0)
    }))

  test('fields that grow by reference (HPACK bomb)', () =>
    withServer(hello, async ({ port, served }) => {
      const big = Buffer.concat([Buffer.from([0x40, 0x01, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 0x62)])
      const head = Buffer.concat([getHead, big, Buffer.alloc(10_000, 0xbe)])
      await assail(port, frame(1, 5, 1, head), 1, 200)
      assert.equal(served.length, 0)
    }))

  const almost: readonly (readonly [octets: string, status: number])[] = [
    ['PRI /a HTTP/1.1\r\nHost: a\r\n\r\n', 200],
    ['PRI * HTTP/1.1\r\nHost: a\r\n\r\n', 200],
    ['PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', 505],
    ['PRI * HTTP/2.0\r\nHost: a\r\n\r\n', 505],
    ['PRI\r\n\r\n', 400],
    ['PRIx\n', 400],
  ]
  for (const [octets, status] of almost) {
    test(`RFC 9113 §3.4: ${JSON.stringify(octets)} is not a preface, and gets a response`, () =>
      withServer(hello, async ({ port }) => {
        const whole = await exchangeOctets(port, octets)
        assert.deepEqual(statuses(whole.text), [status])
        const cut = await exchangeOctets(
          port,
          [...octets].flatMap(octet => [octet, 1]),
        )
        assert.deepEqual(statuses(cut.text), [status])
      }))
  }

  test('RFC 9113 §8.2.1: a field value with white space at its ends is malformed, and is not ignored', () =>
    withServer(hello, async ({ port, served }) => {
      const ends = [' "a"', '"a" ', '\t"a"', '"a"\t']
      for (const value of ends) {
        const field = Buffer.concat([
          Buffer.from([0x00, 8]),
          Buffer.from('if-match'),
          Buffer.from([value.length]),
          Buffer.from(value),
        ])
        await assail(port, frame(1, 5, 1, Buffer.concat([getHead, field])), 1, 200)
      }
      assert.equal(served.length, 0)
    }))

  test('RFC 9113 §8.2.2: a request with connection-specific fields is malformed', () =>
    withServer(hello, async ({ port, served }) => {
      const te = Buffer.concat([
        getHead,
        Buffer.from([0x00, 17]),
        Buffer.from('transfer-encoding'),
        Buffer.from([7]),
        Buffer.from('chunked'),
      ])
      await assail(port, frame(1, 5, 1, te), 1, 200)
      assert.equal(served.length, 0)
    }))

  test('RFC 9113 §5.1.2: concurrent streams are limited', async () => {
    let most = 0
    let busy = 0
    await over2(
      async request => {
        most = Math.max(most, ++busy)
        await after(20)
        busy--
        return hello(request)
      },
      async ({ session }) => {
        await new Promise(resolve => session.once('remoteSettings', resolve))
        const all = await Promise.all(Array.from({ length: 50 }, () => get(session, {})))
        assert.ok(all.every(got => got.status === 200))
        assert.ok(most <= 10, `${most} at once`)
      },
      { limits: { streams: 10 } },
    )
  })
})

suite('clocks', { concurrency: 8 }, () => {
  const options = { limits: shortLimits }
  test('content that stalls → 408', () =>
    over2(
      echo,
      async ({ session, errors }) => {
        const stream = session.request({ ':method': 'POST' }, { endStream: false })
        const status = new Promise(resolve => stream.on('response', fields => resolve(fields[':status'])))
        stream.on('error', () => {}).write('abc')
        assert.equal(await status, 408)
        assert.deepEqual(errors, [])
      },
      options,
    ))

  test('a client that stalls while it reads loses its stream', () =>
    over2(
      () => ({ status: 200, fields: {}, content: Buffer.alloc(5_000_000) }),
      async ({ session }) => {
        const stream = session.request({})
        stream.on('error', () => {}).pause()
        await new Promise(resolve => stream.on('aborted', resolve).on('close', resolve))
        assert.equal(stream.rstCode, constants.NGHTTP2_CANCEL)
      },
      options,
    ))

  test('a client that reads fast enough receives all of it, though it takes longer than `unread`', () =>
    over2(
      () => ({ status: 200, fields: {}, content: Buffer.alloc(2_000_000) }),
      async ({ session }) => {
        const stream = session.request({}).pause()
        let octets = 0
        stream.on('error', () => {})
        for (let quiet = 0; quiet < 100 && !stream.destroyed && octets < 2_000_000; ) {
          const piece = (stream.read(16_384) ?? stream.read()) as Buffer | null
          octets += piece?.length ?? 0
          quiet = piece ? 0 : quiet + 1
          await after(25)
        }
        assert.equal(octets, 2_000_000)
      },
      { limits: { ...shortLimits, unread: 1500 } },
    ))

  test('a connection without streams is closed', () =>
    over2(
      hello,
      async ({ session, listener }) => {
        assert.equal((await get(session, {})).status, 200)
        await new Promise(resolve => session.on('close', resolve))
        assert.equal(listener.connections(), 0)
      },
      options,
    ))

  test('half a preface', () =>
    withServer(
      hello,
      async ({ port, listener }) => {
        const socket = dial(port, '127.0.0.1')
        socket
          .on('error', () => {})
          .resume()
          .write('PRI * HT')
        await new Promise(resolve => socket.on('close', resolve))
        while (listener.connections() > 0) await after(10)
      },
      options,
    ))

  test('a slow application does not time out the client', () =>
    over2(
      async request => after(1000, hello(request)),
      async ({ session }) => assert.equal((await get(session, {})).status, 200),
      options,
    ))
})
