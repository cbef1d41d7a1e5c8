/**
 * Attacks on `diglot relay` from both sides, each over sockets: packages of which the next node could read another
 * root than the relay has checked, and next nodes that answer with anything. The client gets an answer in time that
 * names the check, nothing is forwarded or passed on, and the next message is relayed at once.
 */
import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RelayOptions, startSoapRelay } from '../../src/host/soap/soap-relay.ts'
import { exchangeOctets } from '../server/raw-connection.ts'

const ns = 'http://www.w3.org/2003/05/soap-envelope'
const soap12 = 'application/soap+xml; charset=utf-8'
const envelope = (body = '') => `<e:Envelope xmlns:e="${ns}"><e:Body>${body}</e:Body></e:Envelope>`
const related = 'multipart/related; type="application/soap+xml"; boundary='
const answerOf = (content: string, fields = `Content-Type: ${soap12}`, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\n${fields}\r\nContent-Length: ${content.length}\r\nConnection: close\r\n\r\n${content}`
const packageOf = (root: string, fields = `Content-Type: ${soap12}\r\n`, preamble = '') =>
  `${preamble}--bb\r\n${fields}\r\n${root}\r\n--bb--\r\n`

/** A next node that says what it is told to, once octets have come. */
async function nextNode(say: (socket: Socket) => unknown) {
  const sockets = new Set<Socket>()
  let came = ''
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.on('data', piece => (came += piece.toString('latin1')))
    socket.once('data', () => void say(socket))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    for (const each of sockets) each.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    came: () => came,
    open: () => sockets.size,
  } // listens on TCP
}

async function relayTo(to: string, more: Partial<RelayOptions> = {}) {
  const listener = await startSoapRelay({ to, timeLimitMs: 500, ...more })
  after(() => listener.close(0))
  const { port } = new URL(listener.url)
  return async (content: string, type: string, until: 'end' | number = 1) => {
    const head = `POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n`
    return exchangeOctets(Number(port), head + content, until)
  }
}

const xopLike = `--bb\r\nContent-Type: ${soap12}\r\n\r\n${envelope('<evil/>')}`
const packages = [
  [
    'a line before it that is only like the boundary',
    packageOf(envelope(), '', `--bbX\r\nContent-Type: ${soap12}\r\n\r\n${envelope()}\r\n`),
    'bb',
    /begins like the boundary/,
  ],
  ['blanks behind its boundary', packageOf(envelope()).replace('--bb\r', '--bb \r'), 'bb', /begins like the boundary/],
  [
    'the last boundary first',
    `--bb--\r\n\r\n${envelope()}\r\n${packageOf(envelope())}`,
    'bb',
    /begins like the boundary/,
  ],
  [
    'a line behind its root that is only like it',
    packageOf(envelope()).replace('\r\n--bb--', '\r\n--bbX\r\n--bb--'),
    'bb',
    /begins like the boundary/,
  ],
  [
    'a boundary behind a bare LF in the root',
    packageOf(envelope(`<a><![CDATA[\n${xopLike}]]></a>`)),
    'bb',
    /begins like the boundary/,
  ],
  [
    'a boundary behind a bare CR in the root',
    packageOf(envelope(`<a><![CDATA[\r${xopLike}]]></a>`)),
    'bb',
    /begins like the boundary/,
  ],
  [
    'a boundary behind a bare LF in the preamble',
    packageOf(envelope(), undefined, `x\n${xopLike}\r\n`),
    'bb',
    /begins like the boundary/,
  ],
  [
    'a boundary that is a field',
    packageOf(envelope(), `Content-Type: ${soap12}\r\n--bb: x\r\n`),
    'bb',
    /begins like the boundary/,
  ],
  [
    'two types of its root',
    packageOf(envelope(), `Content-Type: text/xml\r\nContent-Type: ${soap12}\r\n`),
    'bb',
    /two Content-Type fields/,
  ],
  [
    'two transfer encodings of its root',
    packageOf(
      envelope('=3Cevil/>'),
      `Content-Type: ${soap12}\r\nContent-Transfer-Encoding: quoted-printable\r\ncontent-transfer-encoding: binary\r\n`,
    ),
    'bb',
    /two content-transfer-encoding fields/,
  ],
  [
    'a field that goes on behind a bare LF',
    packageOf(envelope(), `Content-Type: ${soap12}\r\nX-A: a\nContent-Transfer-Encoding: base64\r\n`),
    'bb',
    /an invalid field/,
  ],
  [
    'a line of its fields without a name',
    packageOf(envelope(), `Content-Type: ${soap12}\r\nnothing\r\n`),
    'bb',
    /an invalid field/,
  ],
  ['an invalid boundary', packageOf(envelope()).replaceAll('--bb', '--b<b'), '"b<b"', /the boundary is invalid/],
  ['a boundary in parts (RFC 2231)', packageOf(envelope()), 'bb; boundary*0=evil', /415/],
  ['another start, encoded (RFC 2231)', packageOf(envelope()), "bb; start*=utf-8''%3Cevil%3E", /415/],
  ['a boundary with an escape', packageOf(envelope()), '"b\\b"', /415/],
  ['two boundaries', packageOf(envelope()), 'bb; boundary=evil', /415/],
] as const

describe('a package that another reader could read with another root', async () => {
  const next = await nextNode(socket => socket.end(answerOf(envelope('<ok/>'))))
  const send = await relayTo(next.url)
  for (const [title, content, boundary, check] of packages)
    test(`${title} is refused, and not forwarded`, async () => {
      const { text } = await send(content, related + boundary)
      assert.match(text, check)
      assert.equal(next.came(), '')
    })
  test('the next package passes', async () => {
    assert.match((await send(packageOf(envelope()), `${related}bb`)).text, /<ok\/>/)
    assert.ok(next.came().endsWith(`0\r\n\r\n`))
  })
})

const package200 = (content: string, length = content.length) =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${related}bb\r\nContent-Length: ${length}\r\n\r\n${content}`
const chunked200 = `HTTP/1.1 200 OK\r\nContent-Type: ${soap12}\r\nTransfer-Encoding: chunked\r\n\r\n`
const may = 'it may have processed the message'

/** Writes again and again until the socket is closed. */
async function flood(socket: Socket, octets: string, { first = '', pauseMs = 0 } = {}): Promise<void> {
  socket.write(first)
  while (!socket.destroyed) {
    const hasRoom = socket.write(octets)
    await sleep(hasRoom ? pauseMs : 5)
  }
}

type Answers = readonly (readonly [title: string, say: (socket: Socket) => unknown, check: RegExp])[]
const answers: Answers = [
  [
    'another protocol',
    socket => socket.write('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    RegExp(`switched to another protocol.*${may}`),
  ],
  ['101 without a protocol', socket => socket.write('HTTP/1.1 101 Switching\r\n\r\n'), /the status 101/],
  [
    'interim responses without end',
    socket => flood(socket, 'HTTP/1.1 103 Hints\r\n\r\n'.repeat(100)),
    RegExp(`too many interim responses: ${may}`),
  ],
  [
    'an interim response now and again',
    socket => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n', { pauseMs: 60 }),
    RegExp(`not answer in time: ${may}`),
  ],
  [
    'an invalid status',
    socket => socket.end(answerOf(envelope(), `Content-Type: ${soap12}`, '999 No')),
    /the status 999/,
  ],
  ['no HTTP', socket => socket.end('NOPE\r\n\r\n'), RegExp(`did not answer: ${may}`)],
  ['a reset', socket => socket.resetAndDestroy(), RegExp(`did not answer: ${may}`)],
  ['fields without end', socket => flood(socket, `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(5000)}`), /did not answer/],
  [
    'two lengths',
    socket => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`),
    /did not answer/,
  ],
  [
    'a length and chunks',
    socket => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    /did not answer/,
  ],
  [
    'content without end',
    socket => flood(socket, `HTTP/1.1 200 OK\r\nContent-Type: ${soap12}\r\n\r\n${' '.repeat(65_536)}`),
    /too long/,
  ],
  [
    'chunks of one octet', // Node 24 joins those that have come: then their octets end it
    socket => flood(socket, '1\r\n \r\n'.repeat(5000), { first: chunked200 }),
    /too many chunks|too long/,
  ],
  [
    'content that drips',
    socket => flood(socket, '1\r\n \r\n', { first: chunked200, pauseMs: 50 }),
    RegExp(`not answer in time: ${may}`),
  ],
  [
    'content that is cut',
    socket => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: ${soap12}\r\nContent-Length: 99\r\n\r\n<e`),
    RegExp(`is incomplete: ${may}`),
  ],
  [
    'gzip that was not requested',
    socket => socket.end(answerOf('\x1f\x0b', `Content-Type: ${soap12}\r\nContent-Encoding: gzip`)),
    RegExp(`not a valid SOAP message: ${may}`),
  ],
  ['an octet too many', socket => socket.end(`${answerOf('no')}X`), RegExp(`not a valid SOAP message: ${may}`)],
  [
    'a DOCTYPE',
    socket => socket.end(answerOf(`<!DOCTYPE a [<!ENTITY b "x">]>${envelope('&b;')}`)),
    RegExp(`not a valid SOAP message: ${may}`),
  ],
  [
    'a page',
    socket => socket.end(answerOf('<h1>/srv/app/secret.js:12</h1>', 'Content-Type: text/html', '502 Bad')),
    /answered with 502/,
  ],
  [
    'a package that is cut in its root',
    socket => socket.end(package200(`--bb\r\nContent-Type: ${soap12}\r\n\r\n<e`, 999)),
    RegExp(`is incomplete: ${may}`),
  ],
  [
    'a package that ends in its root',
    socket => socket.end(package200(`--bb\r\nContent-Type: ${soap12}\r\n\r\n<e`)),
    RegExp(`soap:Receiver.*not a valid SOAP message: ${may}`),
  ],
  [
    'a package whose root drips',
    socket => flood(socket, ' ', { first: package200(`--bb\r\nContent-Type: ${soap12}\r\n\r\n`, 9999), pauseMs: 50 }),
    RegExp(`not answer in time: ${may}`),
  ],
  [
    'a package that could be read otherwise',
    socket => socket.end(package200(packageOf(envelope(), `Content-Type: ${soap12}\r\nContent-Type: text/xml\r\n`))),
    RegExp(`soap:Receiver.*not a valid SOAP message: ${may}`),
  ],
]

const messages = [
  ['a message', envelope(), soap12],
  ['a package', packageOf(envelope()), `${related}bb`],
] as const
for (const [sent, content, type] of messages)
  describe(`a next node that answers ${sent} with`, () => {
    for (const [title, say, check] of answers)
      test(title, async () => {
        const next = await nextNode(say)
        const timeLimitMs = check.source.includes('not answer in time') ? 500 : 20_000
        const { text, took } = await (await relayTo(next.url, { octetsMax: 1024 * 1024, timeLimitMs }))(content, type)
        assert.match(text, /^HTTP\/1\.1 500 /)
        assert.match(text, check)
        assert.doesNotMatch(text, /secret|node:|\.ts:/)
        assert.ok(took < 10_000, `${took} ms`)
      })
  })

test('fields of a response that HTTP does not allow are left out', async () => {
  const bad = `Content-Type: ${soap12}\r\nRetry-After: \xff\r\nWWW-Authenticate: Basic realm="\xe9"\r\nSet-Cookie: a=b`
  const next = await nextNode(socket => socket.end(answerOf(envelope('<ok/>'), bad, '503 No'), 'latin1'))
  const { text } = await (await relayTo(next.url))(envelope(), soap12)
  assert.match(text, /^HTTP\/1\.1 503 .*<ok\/>/s)
  assert.doesNotMatch(text, /retry-after|www-authenticate|set-cookie/i)
})

for (const [sent, content, type] of messages)
  test(`clients that leave after ${sent} leave no connection to a slow next node`, async () => {
    const next = await nextNode(() => {})
    const listener = await startSoapRelay({ to: next.url, timeLimitMs: 60_000 })
    after(() => listener.close(0))
    const head = `POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: ${type}\r\nContent-Length: ${content.length}\r\n\r\n`
    const clients = Array.from({ length: 50 }, () => connect(Number(new URL(listener.url).port), '127.0.0.1'))
    for (const each of clients) each.write(head + content)
    await untilHolds(() => next.open() === 50)
    for (const each of clients) each.destroy()
    await untilHolds(() => next.open() === 0)
  })

for (const [sent, type] of [
  ['messages', soap12],
  ['packages', `${related}bb`],
] as const)
  test(`${sent} that stall on many connections are kept within one bound`, async () => {
    const next = await nextNode(socket => socket.end(answerOf(envelope('<ok/>'))))
    const listener = await startSoapRelay({ to: next.url, limits: { held: 500_000 } })
    after(() => listener.close(0))
    const start = `--bb\r\nContent-Type: ${soap12}\r\n\r\n${' '.repeat(100_000)}`
    const head = `POST / HTTP/1.1\r\nHost: relay\r\nContent-Type: ${type}\r\nContent-Length: 200000\r\n\r\n`
    const clients = Array.from({ length: 20 }, () => connect(Number(new URL(listener.url).port), '127.0.0.1'))
    let refused = 0
    for (const each of clients) {
      each.on('error', () => {}).once('data', piece => (refused += Number(String(piece).startsWith('HTTP/1.1 503 '))))
      each.write(head + start)
    }
    await untilHolds(() => refused >= 15)
    for (const each of clients) each.destroy()
  })

async function untilHolds(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 10_000; !holds(); await sleep(10)) assert.ok(performance.now() < end)
}
