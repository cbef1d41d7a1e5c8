/** Kept connections, by the invariants of `http.ts`, against a server that sends raw octets. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer as secure } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { HttpOptions } from '../../src/client/connection-pool.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import { createHttpPool, createHttpTransport } from '../../src/client/http-transport.ts'
import type { TransportRequest } from '../../src/client/transport.ts'
import { issueCertificate } from './issued.ts'
import { type Script, scriptedResponse, startScriptedServer } from './scripted.ts'

const one: TransportRequest = { content: 'hello', fields: undefined, timeLimit: 2000, signal: undefined }
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

function posting(address: string, options: HttpOptions = {}) {
  const transport = createHttpTransport(address, options)
  after(() => transport.close())
  return transport.prepare({})
}

const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/` // it listens on a port

/** A server of bare connections. */
async function bare(each: (socket: Socket) => void): Promise<string> {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket.on('error', () => {}))
    each(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return addressOf(server)
}

/** A response of this many octets, and one that nobody has requested. */
function poisonedAnswer(octets: number): readonly string[] {
  const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`
  const length = octets - head(octets).length
  return [`${head(length)}${'a'.repeat(length)}`, `${head(6)}poison`]
}
/** For successive calls, and for calls that wait for one another's connection. */
async function assertUnpoisoned(address: string, options: HttpOptions): Promise<void> {
  const post = posting(address, { connections: 1, ...options })
  const ask = async () => text((await post(one)).content).slice(0, 6)
  const told: string[] = []
  for (let i = 0; i < 6; i++) told.push(await ask())
  told.push(...(await Promise.all(Array.from({ length: 6 }, ask))))
  assert.deepEqual(told, Array(12).fill('aaaaaa'))
}

async function serving(script: Script, options: HttpOptions = {}) {
  const server = await startScriptedServer(script)
  const transport = createHttpTransport(server.address, options)
  after(() => transport.close())
  const post = transport.prepare({ 'content-type': 'text/plain' })
  const ask = async (sending: Partial<TransportRequest> = {}) => text((await post({ ...one, ...sending })).content)
  return { server, transport, post, ask }
}

/** Why a call got no response. */
async function unanswered(call: Promise<unknown>): Promise<Pick<TransportFailure, 'why' | 'mayHaveRun' | 'begun'>> {
  const thrown = await call.then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof TransportFailure, String(thrown))
  const { why, mayHaveRun, begun } = thrown
  return { why, mayHaveRun, begun }
}

test('one text: a request line, Host, the fields, the length in octets, the content', async () => {
  const { server, post } = await serving(() => scriptedResponse('ok'))
  await post({ ...one, content: 'Grüße 数', fields: { authorization: 'Bearer x' } })
  await post({ ...one, content: [Buffer.from([0, 255]), Buffer.from('!')] })
  const [first, second] = server.asked
  assert.equal(first?.line, 'POST /soap HTTP/1.1')
  assert.deepEqual(first?.fields, {
    host: `127.0.0.1:${server.port}`,
    'content-type': 'text/plain',
    authorization: 'Bearer x',
    'content-length': '11',
  })
  assert.equal(Buffer.from(first?.content ?? '', 'latin1').toString(), 'Grüße 数')
  assert.equal(second?.fields['content-length'], '3')
  assert.equal(second?.content, '\0\xff!')
})

describe('the content of a response stays unchanged while its connection carries others', () => {
  const lengths = [5, 5000, 60_000, 300_000]
  for (const length of lengths)
    test(`${length} octets, held`, async () => {
      const { server, post } = await serving(({ content }) => scriptedResponse(content.repeat(length)))
      const held = [await post({ ...one, content: 'a' }), await post({ ...one, content: 'b' })]
      assert.deepEqual(
        held.map(({ content }) => text(content)),
        ['a'.repeat(length), 'b'.repeat(length)],
      )
      assert.equal(server.connections(), 1)
    })
  for (const length of lengths)
    test(`${length} octets, passing, read after others have arrived`, async () => {
      const { post } = await serving(({ content }) => scriptedResponse(content.repeat(length)))
      const passing = { mayPass: () => true, octetsMax: length }
      const arriving = await Promise.all(
        ['a', 'b'].map(
          async content => (await post({ ...one, content, passing })).arriving ?? assert.fail('it is held'),
        ),
      )
      if (length < 100_000) await Promise.all(arriving.map(({ over }) => over)) // more waits for its reader
      const read = await Promise.all(arriving.map(each => Array.fromAsync(each)))
      assert.deepEqual(
        read.map(pieces => text(Buffer.concat(pieces))),
        ['a'.repeat(length), 'b'.repeat(length)],
      )
    })
})

describe('requests of any method to one host', () => {
  async function pooled(script: Script) {
    const server = await startScriptedServer(script)
    const pool = createHttpPool(server.address)
    after(() => pool.close())
    const send = (method: string, target: string, content?: string) =>
      pool.send({ method, target, fields: { 'x-a': 'b' }, content, timeLimit: 2000, signal: undefined })
    return { server, send }
  }
  test('RFC 9112 §6.3 the response to HEAD has no content, whatever it announces', async () => {
    const { server, send } = await pooled(({ line }) =>
      line.startsWith('HEAD') ? 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n' : scriptedResponse('content'),
    )
    for (const method of ['HEAD', 'GET', 'HEAD', 'DELETE']) {
      const { fields, content } = await send(method, '/a?b=c')
      assert.equal(fields['content-length'], '7')
      assert.equal(text(content), method === 'HEAD' ? '' : 'content')
    }
    assert.equal(server.connections(), 1)
    assert.deepEqual(
      server.asked.map(({ line }) => line),
      ['HEAD /a?b=c HTTP/1.1', 'GET /a?b=c HTTP/1.1', 'HEAD /a?b=c HTTP/1.1', 'DELETE /a?b=c HTTP/1.1'],
    )
  })
  test('RFC 9110 §8.6 a request without content states no length, and one with content does', async () => {
    const { server, send } = await pooled(() => scriptedResponse('a'))
    await send('GET', '/')
    await send('PUT', '/', '')
    await send('PATCH', '/', 'ab')
    assert.deepEqual(
      server.asked.map(({ fields, content }) => [fields['content-length'], content]),
      [
        [undefined, ''],
        ['0', ''],
        ['2', 'ab'],
      ],
    )
  })
  for (const [method, target] of [
    ['GET', 'http://other/'],
    ['GET', '/a b'],
    ['GET', '/a\r\nx: y'],
    ['GET /', '/'],
    ['', '/'],
  ] as const)
    test(`RFC 9112 §3 ${JSON.stringify([method, target])} is no request line, and nothing is sent`, async () => {
      const { server, send } = await pooled(() => scriptedResponse('a'))
      await assert.rejects(send(method, target), TypeError)
      assert.equal(server.connections(), 0)
    })
})

describe('(1) a connection is used again, or not', async () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ['a whole answer', scriptedResponse('a'), 1],
    ['chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n', 1],
    ['Connection: close', scriptedResponse('a', 'connection: close\r\n'), 3],
    ['HTTP/1.0', scriptedResponse('a').replace('/1.1', '/1.0'), 3],
    ['octets behind the answer', `${scriptedResponse('a')}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`, 3],
    ['Keep-Alive: timeout=1 leaves no time', scriptedResponse('a', 'keep-alive: timeout=1\r\n'), 3],
    ['Keep-Alive: timeout=9', scriptedResponse('a', 'keep-alive: timeout=9, max=100\r\n'), 1],
  ]
  for (const [title, said, connections] of rows)
    test(title, async () => {
      const { server, ask } = await serving(() => said)
      for (let i = 0; i < 3; i++) assert.equal(await ask(), 'a')
      assert.equal(server.connections(), connections)
    })
  test('a response without a request', async () => {
    const { server, ask } = await serving(({ connection, socket }) => {
      if (connection === 1) setTimeout(() => socket.write(scriptedResponse('poison')), 20)
      return scriptedResponse(`${connection}`)
    })
    assert.equal(await ask(), '1')
    await pause(60)
    assert.equal(await ask(), '2')
    assert.equal(server.open(), 1)
  })
  test('attack: octets that arrived in one read with the response before are no response', async () => {
    const address = await bare(socket => socket.on('data', () => socket.write(poisonedAnswer(65_536).join(''))))
    await assertUnpoisoned(address, {})
  })
  test('the server ends an idle one', async () => {
    const { ask } = await serving(({ connection, socket }) => {
      setTimeout(() => socket.end(), 20)
      return scriptedResponse(`${connection}`)
    })
    assert.equal(await ask(), '1')
    await pause(60)
    assert.equal(await ask(), '2')
  })
  test('an idle one that has expired, and one not to be used again', async () => {
    const { server, ask } = await serving(({ connection }) => scriptedResponse(`${connection}`), { idle: 30 })
    assert.equal(await ask(), '1')
    await pause(40)
    assert.equal(await ask(), '2')
    await pause(120)
    assert.equal(server.open(), 0)
  })
  test('the response arrives before all of the message was sent', async () => {
    let connections = 0
    const address = await bare(socket => {
      connections++
      socket.once('data', () => socket.pause().write(scriptedResponse('early')))
    })
    const ask = posting(address)
    for (let i = 0; i < 2; i++)
      assert.equal(text((await ask({ ...one, content: [Buffer.alloc(32 * 1024 * 1024)] })).content), 'early')
    assert.equal(connections, 2)
  })
})

describe('(2) no more at once than allowed', () => {
  test('calls wait in their order, and for their turn', async () => {
    let busy = 0
    let most = 0
    const { server, ask } = await serving(
      async ({ content }) => {
        most = Math.max(most, ++busy)
        await pause(5)
        busy--
        return scriptedResponse(content)
      },
      { connections: 3 },
    )
    const settled: string[] = []
    const asked = Array.from({ length: 20 }, (_, i) => ask({ content: `${i}` }).then(said => settled.push(said)))
    await Promise.all(asked)
    assert.deepEqual([most, server.connections()], [3, 3])
    assert.deepEqual(
      server.asked.map(each => Number(each.content)),
      Array.from({ length: 20 }, (_, i) => i),
    )
    assert.equal(settled.length, 20)
  })
  test('a lost connection makes way for the next', async () => {
    const { ask } = await serving(
      ({ content, socket }) => {
        if (content !== 'die') return scriptedResponse(content)
        socket.destroy()
        return undefined
      },
      { connections: 1 },
    )
    const [lost, said] = await Promise.allSettled([ask({ content: 'die' }), ask({ content: 'live' })])
    assert.equal(lost.status, 'rejected')
    assert.deepEqual(said, { status: 'fulfilled', value: 'live' })
  })
  test('only a limited number wait', async () => {
    const { ask } = await serving(() => pause(20, scriptedResponse('a')), { connections: 1, waiting: 1 })
    const first = ask()
    const second = ask()
    assert.deepEqual(await unanswered(ask()), { why: 'busy', mayHaveRun: false, begun: false })
    assert.deepEqual(await Promise.all([first, second]), ['a', 'a'])
  })
})

describe('(3) a time limit and a signal hold wherever the call is', () => {
  test('while it waits for a connection', async () => {
    const { server, ask } = await serving(() => pause(100, scriptedResponse('a')), { connections: 1 })
    const first = ask()
    assert.deepEqual(await unanswered(ask({ timeLimit: 20 })), { why: 'late', mayHaveRun: false, begun: false })
    assert.equal(await first, 'a')
    await pause(20)
    assert.equal(server.asked.length, 1, 'it is not sent later')
  })
  test('while it waits for a response: the connection is not used again', async () => {
    const { server, ask } = await serving(({ turn, connection }) =>
      connection === 1 ? undefined : scriptedResponse(`${turn}`),
    )
    assert.deepEqual(await unanswered(ask({ timeLimit: 30 })), { why: 'late', mayHaveRun: true, begun: false })
    assert.equal(await ask(), '1')
    assert.equal(server.open(), 1)
  })
  test('in the middle of a response', async () => {
    const { ask } = await serving(() => 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')
    assert.deepEqual(await unanswered(ask({ timeLimit: 30 })), { why: 'late', mayHaveRun: true, begun: true })
  })
  test('while it connects', async () => {
    const silent = await bare(() => {}) // no handshake
    const call = posting(silent.replace('http:', 'https:'))({ ...one, timeLimit: 50 })
    assert.deepEqual(await unanswered(call), { why: 'late', mayHaveRun: false, begun: false })
  })
  test('no limit at all', async () => {
    const { ask } = await serving(() => pause(20, scriptedResponse('a')))
    assert.equal(await ask({ timeLimit: Number.POSITIVE_INFINITY }), 'a')
  })
  test('aborted: the signal gives the reason', async () => {
    const { server, ask } = await serving(() => undefined, { connections: 1 })
    const reason = new Error('enough')
    await assert.rejects(ask({ signal: AbortSignal.abort(reason) }), reason)
    const under = new AbortController()
    const waiting = new AbortController()
    const first = ask({ signal: under.signal })
    const second = ask({ signal: waiting.signal })
    await pause(20)
    waiting.abort(reason)
    await assert.rejects(second, reason)
    under.abort(reason)
    await assert.rejects(first, reason)
    await pause(20)
    assert.deepEqual([server.asked.length, server.open()], [1, 0])
  })
})

describe('a connection that ends without a response', () => {
  const rows: readonly (readonly [string, Script, Awaited<ReturnType<typeof unanswered>>])[] = [
    ['before an octet', ({ socket }) => void socket.end(), { why: 'lost', mayHaveRun: true, begun: false }],
    ['by a reset', ({ socket }) => void socket.resetAndDestroy(), { why: 'lost', mayHaveRun: true, begun: false }],
    [
      'in its fields',
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\nA'),
      { why: 'lost', mayHaveRun: true, begun: true },
    ],
    [
      'in its content',
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'),
      { why: 'lost', mayHaveRun: true, begun: true },
    ],
    ['no HTTP', () => 'SSH-2.0-OpenSSH_9\r\n\r\n', { why: 'no-http', mayHaveRun: true, begun: true }],
    ['too long', () => scriptedResponse('x'.repeat(101)), { why: 'too-long', mayHaveRun: true, begun: true }],
  ]
  for (const [title, script, expected] of rows)
    test(title, async () => {
      const { ask } = await serving(script, { longest: 100 })
      assert.deepEqual(await unanswered(ask()), expected)
    })
  test('up to the end of the connection is an answer', async () => {
    const { ask } = await serving(({ socket }) => void socket.end('HTTP/1.1 200 OK\r\n\r\nabc'))
    assert.equal(await ask(), 'abc')
  })
  test('no server there', async () => {
    const gone = createServer().listen(0, '127.0.0.1')
    await once(gone, 'listening')
    const address = addressOf(gone)
    await new Promise(resolve => gone.close(resolve))
    assert.deepEqual(await unanswered(posting(address)(one)), { why: 'unreachable', mayHaveRun: false, begun: false })
  })
  test('closed: those that wait, those under way and those to come', async () => {
    const { server, transport, ask } = await serving(() => undefined, { connections: 1 })
    const calls = [ask(), ask()]
    await pause(20)
    transport.close()
    assert.deepEqual(await Promise.all(calls.map(unanswered)), [
      { why: 'closed', mayHaveRun: true, begun: false },
      { why: 'closed', mayHaveRun: false, begun: false },
    ])
    assert.equal((await unanswered(ask())).why, 'closed')
    await pause(20)
    assert.equal(server.open(), 0)
  })
})

describe('(4) a head with invalid text', () => {
  const transport = createHttpTransport('http://127.0.0.1:1/')
  const rows: readonly (readonly [string, string])[] = [
    ['soapaction', '"a"\r\nX: y'],
    ['authorization', 'Bearer a\nb'],
    ['x', 'ü'],
    ['x y', 'a'],
    ['x:', 'a'],
    ['Content-Length', '1'],
    ['transfer-encoding', 'chunked'],
    ['connection', 'close'],
    ['host', 'other.example'],
  ]
  for (const [name, value] of rows)
    test(JSON.stringify([name, value]), async () => {
      assert.throws(() => transport.prepare({ [name]: value }), TypeError)
      await assert.rejects(transport.prepare({})({ ...one, fields: { [name]: value } }), TypeError)
    })
  for (const address of ['shop', 'ftp://shop.example/', 'http://me:secret@shop.example/'])
    test(`the address ${address}`, () => assert.throws(() => createHttpTransport(address), TypeError))
  test('a path and a query are sent unchanged', async () => {
    const { server } = await serving(() => scriptedResponse('a'))
    await posting(`http://127.0.0.1:${server.port}/a%20b/ü?c=d#e`)(one)
    assert.equal(server.asked[0]?.line, 'POST /a%20b/%C3%BC?c=d HTTP/1.1')
  })
})

test('kept connections keep no process alive', async () => {
  const { server } = await serving(() => scriptedResponse('a'))
  const from = JSON.stringify(join(import.meta.dirname, '..', '..', 'src', 'client', 'http-transport.ts'))
  const program = `const { createHttpTransport } = await import(${from})
    const post = createHttpTransport(${JSON.stringify(server.address)}, { idle: 60_000 }).prepare({})
    const { content } = await post({ content: 'x', timeLimit: 60_000 })
    console.log(Buffer.from(content).toString())`
  const words = ['--conditions=diglot-source', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: 120_000 })
  assert.equal(stdout.trim(), 'a')
})

const pair = issueCertificate('server')

describe('https', { skip: pair ? false : 'skipped: no openssl here' }, async () => {
  const server = await startScriptedServer(({ content }) => scriptedResponse(content.toUpperCase()), secure(pair ?? {}))
  test('an authority of one’s own, and connections that are kept', async () => {
    const ask = posting(server.address, { tls: { ca: pair!.cert } })
    for (let i = 0; i < 3; i++) assert.equal(text((await ask(one)).content), 'HELLO')
    assert.equal(server.connections(), 1)
  })
  test('attack: octets that arrived with the response before, in a record of their own, are no response', async () => {
    const poisoning = await startScriptedServer(() => poisonedAnswer(16_384).join(''), secure(pair ?? {}))
    await assertUnpoisoned(poisoning.address, { tls: { ca: pair!.cert } })
  })
  test('a stranger’s certificate: nothing is sent', async () => {
    const before = server.asked.length
    assert.deepEqual(await unanswered(posting(server.address)(one)), {
      why: 'unreachable',
      mayHaveRun: false,
      begun: false,
    })
    assert.equal(server.asked.length, before)
  })
  test('a certificate of another name: nothing is sent', async () => {
    const before = server.asked.length
    const elsewhere = server.address.replace('127.0.0.1', 'localhost')
    assert.equal((await unanswered(posting(elsewhere, { tls: { ca: pair!.cert } })(one))).why, 'unreachable')
    assert.equal(server.asked.length, before)
  })
})
