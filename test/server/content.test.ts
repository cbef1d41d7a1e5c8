import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as ask } from 'node:http'
import { connect } from 'node:net'
import { suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import type { Request, Response } from '../../src/http/message.ts'
import { Aborted } from '../../src/server/listener.ts'
import { echo, exchangeOctets, hello, message, statuses, withServer } from './raw-connection.ts'

const post = (...fields: string[]) => ['POST /p HTTP/1.1', 'Host: a', ...fields]
const after200 = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

suite('content', { concurrency: 8 }, () => {
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
      withServer(echo, async ({ port }) => {
        const heard = await exchangeOctets(
          port,
          octets,
          closed ? 'end' : new RegExp(status.map(each => `HTTP/1.1 ${each}`).join('.*'), 's'),
        )
        assert.deepEqual(statuses(heard.text), status)
        assert.equal(heard.closed, closed)
      }),
    )
  }

  test('RFC 9110 §10.1.1: content arrives after 100', () =>
    withServer(echo, async ({ port }) => {
      const { text } = await exchangeOctets(
        port,
        [message(post('Content-Length: 3', 'Expect: 100-continue')), 50, 'abc'],
        /abc$/,
      )
      assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
      assert.match(text, /POST \/p abc$/)
    }))

  test('unread content: a little is dropped, much ends the connection, and so does an unanswered Expect', () =>
    withServer(hello, async ({ port }) => {
      const little = await exchangeOctets(port, message(post('Content-Length: 2000'), 'a'.repeat(2000)) + after200, 2)
      assert.deepEqual([statuses(little.text), little.closed], [[200, 200], false])
      const chunked = await exchangeOctets(
        port,
        `${message(post('Transfer-Encoding: chunked'))}3\r\nabc\r\n0\r\n\r\n${after200}`,
        2,
      )
      assert.deepEqual([statuses(chunked.text), chunked.closed], [[200, 200], false])
      const much = await exchangeOctets(port, message(post('Content-Length: 2000000'), 'a'.repeat(2000)), 'end')
      assert.deepEqual([statuses(much.text), much.closed], [[200], true])
      const endless = await exchangeOctets(
        port,
        [
          `${message(post('Transfer-Encoding: chunked'))}`,
          10,
          ...Array.from({ length: 9 }, () => `2800\r\n${'a'.repeat(10240)}\r\n`),
        ],
        'end',
      )
      assert.deepEqual(statuses(endless.text), [200])
      const expected = await exchangeOctets(port, message(post('Content-Length: 3', 'Expect: 100-continue')), 'end')
      assert.deepEqual([statuses(expected.text), expected.closed], [[200], true])
    }))

  test('RFC 9112 §9.6: a client that sends much before it reads still receives its 413', () =>
    withServer(echo, async ({ port }) => {
      const { text } = await exchangeOctets(
        port,
        [message(post('Content-Length: 8000000')), ...Array.from({ length: 80 }, () => 'a'.repeat(100_000))],
        'end',
      )
      assert.deepEqual(statuses(text), [413])
    }))

  const long: readonly (readonly [title: string, chunk: number, count: number, pauseMs: number])[] = [
    ['100 KB', 10_000, 10, 0],
    ['300 KB', 10_000, 30, 0],
    ['1 MB in pieces with pauses', 50_000, 20, 2],
    ['5 MB', 100_000, 50, 0],
  ]
  for (const [title, octets, count, pauseMs] of long) {
    test(`RFC 9112 §9.6: an early response to ${title} of chunked content is received, 25 times of 25`, () =>
      withServer(
        () => ({ status: 401, fields: { 'www-authenticate': 'Basic realm="a"' } }),
        async ({ port }) => {
          const chunk = `${octets.toString(16)}\r\n${'a'.repeat(octets)}\r\n`
          const head = message(post('Transfer-Encoding: chunked'))
          const all = Array.from({ length: 25 }, async () => {
            const socket = connect(port, '127.0.0.1').pause()
            const gone = once(socket, 'close').catch(() => [])
            socket.write(head)
            for (let at = 0; at < count && !socket.destroyed; at++) {
              await Promise.race([new Promise(resolve => socket.write(chunk, resolve)), gone])
              if (pauseMs > 0) await after(pauseMs)
            }
            let text = ''
            socket.on('data', piece => (text += piece.toString('latin1'))).resume()
            socket.end('0\r\n\r\n')
            await gone
            return statuses(text)
          })
          assert.deepEqual(
            await Promise.all(all),
            Array.from({ length: 25 }, () => [401]),
          )
        },
      ))
  }

  test('RFC 9112 §9.6: a response in progress arrives whole, though the content behind its request is malformed', () =>
    withServer(
      () => ({ status: 200, fields: {}, content: Buffer.alloc(5_000_000, 'a') }),
      async ({ port, served }) => {
        const socket = connect(port, '127.0.0.1').pause()
        socket.write(message(post('Transfer-Encoding: chunked')))
        while (served.length === 0) await after(1)
        socket.write(`zz\r\n${after200}`)
        await after(50)
        const pieces = (await socket.resume().toArray()) as Buffer[]
        const text = Buffer.concat(pieces).toString('latin1')
        assert.deepEqual([statuses(text), text.length - text.indexOf('\r\n\r\n') - 4], [[200], 5_000_000])
        assert.equal(served.length, 1)
      },
    ))

  test('RFC 9112 §9.6: a client that continues to send after its mistake still receives its 400', () =>
    withServer(echo, async ({ port }) => {
      const wrong = message(post('Transfer-Encoding: chunked'), 'zz\r\n')
      const { text } = await exchangeOctets(
        port,
        [wrong, ...Array.from({ length: 40 }, () => ['a'.repeat(100_000), 1]).flat()],
        'end',
      )
      assert.deepEqual(statuses(text), [400])
      const head = message(['GET / HTTP/1.1', 'A : b'])
      const other = await exchangeOctets(
        port,
        [head, ...Array.from({ length: 40 }, () => ['a'.repeat(100_000), 1]).flat()],
        'end',
      )
      assert.deepEqual(statuses(other.text), [400])
    }))

  test('RFC 9112 §9.6: a client that sends more than is drained is held back, and receives its 413 in the end', () =>
    withServer(
      echo,
      async ({ port }) => {
        const socket = connect({ port, host: '127.0.0.1' }).pause()
        let error: Error | undefined
        socket.on('error', failed => (error = failed))
        socket.write(message(post('Content-Length: 30000000')))
        socket.write(Buffer.alloc(30_000_000))
        await after(200)
        assert.equal(error, undefined)
        const [first] = (await once(socket.resume(), 'data')) as [Buffer]
        assert.deepEqual(statuses(first.toString('latin1')), [413])
        socket.destroy()
      },
      { limits: { lingerOctets: 1_000_000, linger: 5_000 } },
    ))

  test('CONNECT with content', () =>
    withServer(
      () => ({ status: 405, fields: { allow: 'GET' } }),
      async ({ port, listener }) => {
        const asked = message(['CONNECT a:80 HTTP/1.1', 'Host: a', 'Content-Length: 5'], 'ab')
        const heard = await exchangeOctets(port, [asked, 50, 'cde'], 'end')
        assert.deepEqual([statuses(heard.text), heard.closed], [[405], true])
        assert.equal(await listener.close(1000), 0)
      },
    ))

  test('chunks() yields pieces as they arrive, and holds the sender back', async () => {
    let received = 0
    await withServer(
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
    withServer(
      async request => {
        for await (const piece of request.content.chunks())
          return { status: 200, fields: {}, content: String(piece[0]) }
        return { status: 500, fields: {} }
      },
      async ({ port }) => {
        const next = message(['GET / HTTP/1.1'])
        const heard = await exchangeOctets(port, [message(post('Content-Length: 6')), 10, 'abc', 10, `abc${next}`], 2)
        assert.deepEqual(statuses(heard.text), [200, 500])
      },
    ))

  test('a piece is freed when its reader has finished it, and what arrived with it stays', async () => {
    const held: Uint8Array[] = []
    const told: string[] = []
    const serve = async ({ content }: Request): Promise<Response> => {
      const reading = content.chunks()[Symbol.asyncIterator]()
      let text = ''
      for (let next = await reading.next(); !next.done; next = await reading.next(true)) {
        text += Buffer.from(next.value).toString()
        held.push(next.value)
      }
      told.push(text)
      return { status: 204, fields: {} }
    }
    await withServer(serve, async ({ port }) => {
      const [five, head] = ['a'.repeat(5000), message(post('Content-Length: 10000'))]
      // Each piece but the last of a message is a packet of its own: so much later than the one
      // before that nothing joins them.
      const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
      const last = `${chunk('c')}0\r\n\r\n${message(post('Content-Length: 3'), 'end')}`
      const octets = [
        ...[head, 80, five, 80, `${five}${message(post('Transfer-Encoding: chunked'))}`],
        ...[80, chunk('b'), 80, chunk(five), 80, last],
      ]
      const heard = await exchangeOctets(port, octets, 3)
      assert.deepEqual(statuses(heard.text), [204, 204, 204])
      assert.deepEqual(told, [five + five, `b${five}c`, 'end'])
      const gone = held.map(each => each.length === 0)
      assert.deepEqual(gone, [true, false, false, true, false, false], 'buffers of their own, before the last')
    })
  })

  for (const how of ['bytes', 'chunks'] as const) {
    test(`${how}() throws Aborted if the client leaves`, async () => {
      const begins = Promise.withResolvers<void>()
      const thrown = Promise.withResolvers<unknown>()
      const serve = async (request: Request): Promise<Response> => {
        begins.resolve()
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
      await withServer(serve, async ({ port, errors }) => {
        const socket = connect(port, '127.0.0.1')
        socket.write(message(post('Content-Length: 10'), 'abc'))
        await begins.promise
        await after(30)
        socket.destroy()
        assert.ok((await thrown.promise) instanceof Aborted)
        assert.deepEqual(errors, [])
      })
    })
  }

  test('RFC 9112 §8: incomplete content of a client that still listens → 400, not an error of the server', () =>
    withServer(echo, async ({ port, errors }) => {
      for (const cut of [post('Content-Length: 10'), post('Transfer-Encoding: chunked')]) {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
        socket.end(message(cut, '3\r\nabc'))
        let text = ''
        for await (const piece of socket) text += piece
        socket.end()
        assert.deepEqual(statuses(text), [400])
      }
      assert.deepEqual(errors, [])
    }))

  test('content is read once', () =>
    withServer(
      async request => {
        await request.content.bytes(100)
        await assert.rejects(async () => request.content.bytes(100), /once/)
        return { status: 204, fields: {} }
      },
      async ({ port }) =>
        assert.deepEqual(statuses((await exchangeOctets(port, message(post('Content-Length: 3'), 'abc'))).text), [204]),
    ))
})
