/** RFC 9112: the prober reads each framing, hides nothing, and always ends. */
import assert from 'node:assert/strict'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, describe, it } from 'node:test'
import { openSocketTransport, Unreachable } from '../../src/check/index.ts'
import { issueCertificate } from '../client/issued.ts'

const limitMs = 300

/** Answers each request with these octets, then ends the connection if `ends`. */
async function startPeer(answer: string, ends = false) {
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    socket.on('data', () => (ends ? socket.end(answer, 'latin1') : socket.write(answer, 'latin1')))
    socket.on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const transport = await openSocketTransport(`http://127.0.0.1:${port}`)
  after(() => transport.close())
  const send = (method: string) => transport.send({ method, target: '/', fields: {} }, limitMs)
  return { send, countConnections: () => connections }
}

const framings: readonly (readonly [
  title: string,
  answer: string,
  ends: boolean,
  content: string,
  isWhole: boolean,
])[] = [
  ['§6.2 Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc', false, 'abc', true],
  [
    '§7.1 chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n\r\n',
    false,
    'abc',
    true,
  ],
  ['§6.3 8 until the connection closes', 'HTTP/1.1 200 OK\r\n\r\nabc', true, 'abc', true],
  [
    '§6.3 the same length twice',
    'HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nContent-Length: 3\r\n\r\nabc',
    false,
    'abc',
    true,
  ],
  ['§6.3 content that ends early is not whole', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', true, 'abc', false],
  [
    'RFC 9110 §15.2 interim responses are passed over',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na',
    false,
    'a',
    true,
  ],
  ['§6.3 content after a 204 is seen', 'HTTP/1.1 204 No Content\r\n\r\nabc', false, 'abc', false],
]
for (const [title, answer, ends, content, isWhole] of framings)
  it(title, async () => {
    const { send } = await startPeer(answer, ends)
    const reply = await send('GET')
    assert.deepEqual([new TextDecoder().decode(reply.content), reply.isWhole], [content, isWhole])
  })

it('§9.3 a connection is kept after a whole response, and left after one that was not', async () => {
  const kept = await startPeer('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na')
  for (let count = 0; count < 3; count++) await kept.send('GET')
  assert.equal(kept.countConnections(), 1)
  const odd = await startPeer('HTTP/1.1 204 No Content\r\n\r\nabc')
  for (let count = 0; count < 3; count++) await odd.send('GET')
  assert.equal(odd.countConnections(), 3)
})

for (const [title, answer, ends] of [
  ['a peer that is silent', '', false],
  ['a peer that closes', '', true],
  ['a peer that speaks something else', 'SSH-2.0-x\r\n\r\n', false],
  ['a field line without a colon', 'HTTP/1.1 200 OK\r\nodd\r\n\r\n', false],
  ['RFC 9112 §6.3 two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', false],
  ['a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', false],
] as const)
  it(`${title} is unreachable, within the time limit`, async () => {
    const { send } = await startPeer(answer, ends)
    await assert.rejects(send('GET'), Unreachable)
  })

const pair = issueCertificate('server')
describe('(1), (2) over HTTP/2', { skip: pair ? false : 'skipped: no openssl here' }, () => {
  /** A stream that is answered so. */
  async function sendHttp2(answer: (stream: ServerHttp2Stream) => void, timeMs = limitMs) {
    const server = createSecureServer({ ...pair }).on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {})
      stream.respond({ ':status': 200 })
      answer(stream)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    after(() => server.close())
    const { port } = server.address() as AddressInfo // it listens on a port
    const transport = await openSocketTransport(`https://127.0.0.1:${port}`, { insecure: true })
    after(() => transport.close())
    return transport.send({ method: 'GET', target: '/', fields: {}, version: '2' }, timeMs)
  }
  it('a peer that goes on and on is unreachable, within the time limit', async () => {
    const startMs = performance.now()
    const drip = (stream: ServerHttp2Stream) => {
      let left = 10
      const timer = setInterval(() => (left-- > 0 ? stream.write('a') : stream.end()), limitMs / 3)
      stream.once('close', () => clearInterval(timer))
    }
    await assert.rejects(sendHttp2(drip), Unreachable)
    assert.ok(performance.now() - startMs < 3 * limitMs)
  })
  it('content beyond the limit is cut, and not whole', async () => {
    const flood = (stream: ServerHttp2Stream) => stream.end(Buffer.alloc(40 * 1024 * 1024))
    const { content, isWhole } = await sendHttp2(flood, 20_000)
    assert.equal(isWhole, false)
    assert.ok(content.length < 33 * 1024 * 1024, String(content.length))
  })
})

it('(2) a conversation ends before it fills the memory', async () => {
  const flood = (socket: Socket) => {
    const write = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(1024 * 1024)));
    }
    socket.on('drain', write).write('HTTP/1.1 200 OK\r\n\r\n')
    write()
  }
  const server = createServer(socket => flood(socket.on('error', () => {})))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const { port } = server.address() as AddressInfo // it listens on a port
  const transport = await openSocketTransport(`http://127.0.0.1:${port}`)
  after(() => transport.close())
  const limits = { limitMs: 20_000, quietMs: 20_000 }
  const { reply } = (await transport.converse?.([{ octets: Buffer.from('GET / HTTP/1.1\r\n\r\n') }], limits)) ?? {}
  assert.ok(reply && reply.content.length < 34 * 1024 * 1024, String(reply?.content.length))
})
