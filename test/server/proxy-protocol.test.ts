/** The PROXY protocol of HAProxy, by the sections of its text (`proxy-protocol.txt`). */
import assert from 'node:assert/strict'
import { connect as connect2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { describe, suite, test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import type { Request } from '../../src/http/message.ts'
import { computeCrc32c, parseProxyHeader } from '../../src/server/proxy-protocol.ts'
import { keyPair } from '../security/message.ts'
import { exchangeOctets, message, receiveOctets, shortLimits, statuses, withServer } from './raw-connection.ts'

const signature = '\r\n\r\n\0\r\nQUIT\n'

/** A header of version 2. */
function binary(command: number, kind: number, octets: readonly number[], length = octets.length): Buffer {
  return Buffer.from([...Buffer.from(signature), command, kind, length >> 8, length & 0xff, ...octets])
}
const ipv4 = [192, 0, 2, 7, 198, 51, 100, 1, 0x1f, 0x90, 1, 0xbb]
const groups = (...all: readonly number[]) => all.flatMap(each => [each >> 8, each & 0xff])
const ipv6 = [...groups(0x2001, 0xdb8, 1, 2, 3, 4, 5, 6), ...groups(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 0, 1, 0, 2]
const mapped = [...groups(0, 0, 0, 0, 0, 0xffff), 192, 0, 2, 7, ...groups(0, 0, 0, 0, 0, 0, 0, 1), 0, 1, 0, 2]
const extension = (type: number, ...value: readonly number[]) => [
  type,
  value.length >> 8,
  value.length & 0xff,
  ...value,
]
const tlsMark = (flags: number) => extension(0x20, flags, 0, 0, 0, 0, ...extension(0x21, ...Buffer.from('TLSv1.3')))

/** With the checksum in its last extension. */
function checked(octets: readonly number[]): Buffer {
  const header = binary(0x21, 0x11, [...octets, ...extension(0x03, 0, 0, 0, 0)])
  header.writeUInt32BE(computeCrc32c(header), header.length - 4)
  return header
}

const client = (address: string | undefined, isSecure = false) => ({ address, isSecure })

describe('version 1 (§2.1)', () => {
  const long = `PROXY TCP6 ${Array(8).fill('ffff').join(':')} ${Array(8).fill('ffff').join(':')} 65535 65535`
  const rows: readonly [string, ReturnType<typeof client> | 'partial' | 'invalid'][] = [
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n', client('192.168.0.1')],
    ['PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n', client('255.255.255.255')],
    [`${long}\r\n`, client(Array(8).fill('ffff').join(':'))],
    ['PROXY TCP6 2001:db8::1 ::1 1 0\r\n', client('2001:db8::1')],
    ['PROXY UNKNOWN\r\n', client(undefined)],
    ['PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n', client(undefined)],
    ['PROXY UNKNOWN anything at all\r\n', client(undefined)],
    ['', 'partial'],
    ['P', 'partial'],
    ['PROXY TCP4 192.168.0.1', 'partial'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r', 'partial'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\n', 'partial'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\nGET / HTTP/1.1\r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\rGET / HTTP/1.1\r\n', 'invalid'],
    ['PROXY TCP4  192.168.0.1 192.168.0.11 56324 443\r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324 443 \r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 56324\r\n', 'invalid'],
    ['PROXY TCP4 192.168.00.1 192.168.0.11 56324 443\r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.256 192.168.0.11 56324 443\r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 056324 443\r\n', 'invalid'],
    ['PROXY TCP4 192.168.0.1 192.168.0.11 65536 443\r\n', 'invalid'],
    ['PROXY TCP4 2001:db8::1 ::1 1 2\r\n', 'invalid'],
    ['PROXY TCP6 192.168.0.1 192.168.0.11 1 2\r\n', 'invalid'],
    ['PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n', 'invalid'],
    ['PROXY TCP6 2001:db8:::1 ::1 1 2\r\n', 'invalid'],
    ['PROXY UDP4 192.168.0.1 192.168.0.11 1 2\r\n', 'invalid'],
    ['proxy TCP4 192.168.0.1 192.168.0.11 1 2\r\n', 'invalid'],
    ['PROXYTCP4 192.168.0.1 192.168.0.11 1 2\r\n', 'invalid'],
    ['GET / HTTP/1.1\r\n\r\n', 'invalid'],
    [`PROXY UNKNOWN ${'x'.repeat(91)}\r\n`, client(undefined)],
    [`PROXY UNKNOWN ${'x'.repeat(92)}\r\n`, 'invalid'],
    [`PROXY UNKNOWN ${'x'.repeat(90)}`, 'partial'],
  ]
  for (const [text, expected] of rows)
    test(`${JSON.stringify(text.slice(0, 60))} (${text.length} octets): ${JSON.stringify(expected)}`, () => {
      const found = parseProxyHeader(Buffer.from(text))
      if (typeof expected === 'string') assert.equal(found, expected)
      else assert.deepEqual(found, { client: expected, octets: text.length })
    })
})

describe('version 2 (§2.2)', () => {
  const rows: readonly [string, Buffer, ReturnType<typeof client> | 'partial' | 'invalid'][] = [
    ['TCP over IPv4', binary(0x21, 0x11, ipv4), client('192.0.2.7')],
    ['TCP over IPv6', binary(0x21, 0x21, ipv6), client('2001:db8:1:2:3:4:5:6')],
    ['an IPv4 address within IPv6', binary(0x21, 0x21, mapped), client('192.0.2.7')],
    ['UDP over IPv4: the real address', binary(0x21, 0x12, ipv4), client(undefined)],
    ['a Unix socket: the real address', binary(0x21, 0x31, Array(216).fill(0)), client(undefined)],
    ['an unspecified family: the real address', binary(0x21, 0x00, [1, 2, 3]), client(undefined)],
    ['LOCAL: the connection is the proxy’s own', binary(0x20, 0x00, []), client(undefined)],
    ['LOCAL with addresses, which do not count', binary(0x20, 0x11, ipv4), client(undefined)],
    ['LOCAL with octets of no meaning', binary(0x20, 0xff, [1, 2, 3]), client(undefined)],
    ['another command', binary(0x22, 0x11, ipv4), 'invalid'],
    ['another version', binary(0x11, 0x11, ipv4), 'invalid'],
    ['another version, before its length has arrived', binary(0x31, 0x11, ipv4).subarray(0, 13), 'invalid'],
    ['another family', binary(0x21, 0x41, ipv4), 'invalid'],
    ['another transport', binary(0x21, 0x13, ipv4), 'invalid'],
    ['addresses that are cut off', binary(0x21, 0x11, ipv4.slice(0, 11)), 'invalid'],
    ['a part of the signature', Buffer.from(signature.slice(0, 5)), 'partial'],
    ['the signature alone', Buffer.from(signature), 'partial'],
    ['a part of the addresses', binary(0x21, 0x11, ipv4).subarray(0, 20), 'partial'],
    ['another signature', Buffer.from('\r\n\r\n\0\r\nQUIT\r'), 'invalid'],
    [
      '§2.2.4 extensions of no interest',
      binary(0x21, 0x11, [...ipv4, ...extension(0x04), ...extension(0xea, 1, 2)]),
      client('192.0.2.7'),
    ],
    [
      '§2.2.6 a client that speaks TLS with the proxy',
      binary(0x21, 0x11, [...ipv4, ...tlsMark(1)]),
      client('192.0.2.7', true),
    ],
    ['§2.2.6 one that does not', binary(0x21, 0x11, [...ipv4, ...tlsMark(6)]), client('192.0.2.7')],
    ['§2.2 an extension that is cut off', binary(0x21, 0x11, [...ipv4, 0x04, 0, 2, 1]), 'invalid'],
    ['§2.2 an extension without its length', binary(0x21, 0x11, [...ipv4, 0x04]), 'invalid'],
    ['§2.2.3 a correct checksum', checked([...ipv4, ...extension(0x04, 1)]), client('192.0.2.7')],
    ['§2.2.3 a wrong checksum', binary(0x21, 0x11, [...ipv4, ...extension(0x03, 1, 2, 3, 4)]), 'invalid'],
    ['§2.2.3 a checksum of three octets', binary(0x21, 0x11, [...ipv4, ...extension(0x03, 1, 2, 3)]), 'invalid'],
  ]
  for (const [title, octets, expected] of rows)
    test(title, () => {
      const found = parseProxyHeader(octets)
      if (typeof expected === 'string') return assert.equal(found, expected)
      assert.deepEqual(found, { client: expected, octets: octets.length })
      const followed = Buffer.concat([octets, Buffer.from('GET / HTTP/1.1\r\n\r\n')])
      assert.deepEqual(parseProxyHeader(followed), found)
      for (let length = 0; length < octets.length; length++)
        assert.equal(parseProxyHeader(octets.subarray(0, length)), 'partial', `its first ${length} octets`)
    })
  test('RFC 9260 Appendix A: CRC32c of "123456789"', () => {
    assert.equal(computeCrc32c(Buffer.from('123456789')), 0xe3069283)
  })
})

const tellPeer = ({ from, scheme, version, target }: Request) => ({
  status: 200,
  fields: {},
  content: `${target} ${scheme} ${version} ${from}`,
})
const proxyProtocol = true
const line = 'PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n'
const tls = {
  key: String(keyPair('alice').key.export({ type: 'pkcs8', format: 'pem' })),
  certificate: keyPair('alice').pem,
}
const get = (path: string) => message([`GET ${path} HTTP/1.1`, 'Host: a'])
/** What a client gets for these octets. */
const latin1 = (octets: Buffer) => octets.toString('latin1')

suite('connections that a proxy passes on (§2)', () => {
  test('a header in the packet of the request, before it, and octet by octet', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const pieces: readonly (readonly (string | number)[])[] = [
          [line + get('/a')],
          [line, 30, get('/a')],
          [...line].flatMap(each => [each, 1]).concat(get('/a')),
          [latin1(binary(0x21, 0x11, ipv4)) + get('/a').slice(0, 9), 30, get('/a').slice(9)],
        ]
        for (const each of pieces) {
          const { text } = await exchangeOctets(port, each)
          assert.match(text, /\/a http 1\.1 192\.0\.2\.7$/)
        }
      },
      { proxyProtocol },
    ))

  test('many requests follow one header, and a second header is no request', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const { text } = await exchangeOctets(port, [line + get('/a') + get('/b'), 30, get('/c')], 3)
        assert.deepEqual(text.match(/\/[abc] http 1\.1 192\.0\.2\.7/g)?.length, 3)
        assert.deepEqual(statuses((await exchangeOctets(port, line + line + get('/a'), 'end')).text), [400])
      },
      { proxyProtocol },
    ))

  test('a client that closes its side at once still gets its response', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
        const received = receiveOctets(socket)
        socket.end(line + get('/a'))
        assert.match((await received('end')).text, /192\.0\.2\.7$/)
        socket.destroy()
      },
      { proxyProtocol },
    ))

  test('§2.1 an IPv6 client is its network, and the proxy’s own connection has the proxy’s address', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const rows: readonly [string, RegExp][] = [
          [latin1(binary(0x21, 0x21, ipv6)), / 2001:db8:1:2::\/64$/],
          [latin1(binary(0x20, 0, [])), / 127\.0\.0\.1$/],
          ['PROXY UNKNOWN\r\n', / 127\.0\.0\.1$/],
        ]
        for (const [header, from] of rows) assert.match((await exchangeOctets(port, header + get('/a'))).text, from)
      },
      { proxyProtocol },
    ))

  test('§2.2.6 a client that speaks TLS with the proxy comes by https', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const header = latin1(binary(0x21, 0x11, [...ipv4, ...tlsMark(1)]))
        assert.match((await exchangeOctets(port, header + get('/a'))).text, /\/a https 1\.1 192\.0\.2\.7$/)
      },
      { proxyProtocol },
    ))

  test('§2 without a header, with half of one, or with a wrong one, nothing is served, and the log says so', async () => {
    const refused: string[] = []
    await withServer(
      tellPeer,
      async ({ port, served }) => {
        for (const octets of [get('/a'), line.replace('TCP4', 'TCP5') + get('/a'), `X${line}${get('/a')}`])
          assert.deepEqual(await endOf(port, octets), { text: '', closed: true })
        assert.deepEqual(await endOf(port, line.slice(0, 20)), { text: '', closed: true }, 'it has 300 ms')
        assert.deepEqual(await endOf(port, line.slice(0, 20), true), { text: '', closed: true })
        assert.deepEqual(await endOf(port, '', true), { text: '', closed: true })
        assert.equal(served.length, 0)
      },
      { proxyProtocol, limits: shortLimits, onRefusal: (reason, from) => refused.push(`${from} ${reason}`) },
    )
    const [wrong, late, half] = [
      'the connection does not begin with a header of the PROXY protocol',
      'the header of the PROXY protocol did not arrive in time',
      'the connection ended within its header of the PROXY protocol',
    ]
    assert.deepEqual(
      refused,
      [wrong, wrong, wrong, late, half].map(each => `127.0.0.1 ${each}`),
    )
  })

  test('§2 a listener that does not expect a header takes none', () =>
    withServer(tellPeer, async ({ port, served }) => {
      for (const header of [line, latin1(binary(0x21, 0x11, ipv4))])
        assert.deepEqual(statuses((await exchangeOctets(port, header + get('/a'), 'end')).text), [400])
      assert.equal(served.length, 0)
    }))

  test('connections are counted by the address of the client', async () => {
    const refused: string[] = []
    await withServer(
      tellPeer,
      async ({ port }) => {
        const open: Socket[] = []
        const hold = async (header: string): Promise<number | undefined> => {
          const socket = connect(port, '127.0.0.1')
          open.push(socket)
          const received = receiveOctets(socket)
          socket.write(header + get('/a'))
          return statuses((await received(1)).text)[0]
        }
        const other = line.replace('192.0.2.7', '192.0.2.9')
        assert.deepEqual(
          [await hold(line), await hold(line), await hold(line), await hold(other)],
          [200, 200, 429, 200],
        )
        for (const each of open) each.destroy()
      },
      { proxyProtocol, limits: { connectionsPerAddress: 2 }, onRefusal: (_, from) => refused.push(from) },
    )
    assert.deepEqual(refused, ['192.0.2.7'])
  })

  test('TLS begins behind the header: in the same packet or later, HTTP/1.1 or HTTP/2', () =>
    withServer(
      tellPeer,
      async ({ port, listener }) => {
        assert.match(listener.url, /^https:/)
        for (const pauseMs of [0, 30]) {
          assert.match(await getSecurely(port, pauseMs), /\/a https 1\.1 192\.0\.2\.7$/)
          assert.match(await getByHttp2(port, pauseMs), /^\/a https 2 192\.0\.2\.7$/)
        }
        assert.deepEqual(await endOf(port, line.replace('TCP4', 'TCP5')), { text: '', closed: true })
      },
      { proxyProtocol, tls },
    ))

  test('many clients at once keep their own addresses over TLS', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const clients = Array.from({ length: 20 }, (_, at) => `192.0.2.${at}`)
        const told = await Promise.all(
          clients.map((each, at) => getSecurely(port, at % 3, line.replace('192.0.2.7', each))),
        )
        assert.deepEqual(
          told.map(each => each.split(' ').at(-1)),
          clients,
        )
      },
      { proxyProtocol, tls },
    ))

  test('HTTP/2 by prior knowledge follows the header', () =>
    withServer(
      tellPeer,
      async ({ port }) => {
        const socket = connect(port, '127.0.0.1')
        socket.write(line)
        assert.equal(await getOn(connect2('http://a', { createConnection: () => socket })), '/a http 2 192.0.2.7')
      },
      { proxyProtocol },
    ))

  test('close: a connection without its header does not delay it', async () => {
    await withServer(
      tellPeer,
      async ({ port, listener }) => {
        const socket = connect(port, '127.0.0.1')
        const received = receiveOctets(socket)
        socket.write(line.slice(0, 9))
        while (listener.connections() === 0) await new Promise(resolve => setTimeout(resolve, 1))
        const began = performance.now()
        assert.equal(await listener.close(10_000), 0)
        assert.ok(performance.now() - began < 5_000)
        await received('end')
      },
      { proxyProtocol },
    )
  })
})

/** Everything that a connection gets until the server ends it. */
async function endOf(port: number, octets: string, end = false): Promise<{ text: string; closed: boolean }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const received = receiveOctets(socket)
  const closed = new Promise<true>(resolve => socket.once('close', () => resolve(true)))
  socket.write(octets, 'latin1')
  if (end) socket.end()
  const { text } = await received('end')
  socket.destroy()
  return { text, closed: await closed }
}

/** The header, and the handshake at once or after a pause. */
async function connectBehind(port: number, pauseMs: number, header: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  if (pauseMs === 0) {
    socket.cork()
    setImmediate(() => socket.uncork())
  }
  socket.write(header)
  if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
  return socket
}

async function getSecurely(port: number, pauseMs: number, header = line): Promise<string> {
  const socket = await connectBehind(port, pauseMs, header)
  const secure = connectSecurely({ socket, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  const received = receiveOctets(secure)
  secure.write(get('/a'))
  const { text } = await received(1)
  secure.destroy()
  return text
}

async function getByHttp2(port: number, pauseMs: number): Promise<string> {
  const socket = await connectBehind(port, pauseMs, line)
  const secure = connectSecurely({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  return getOn(connect2('https://a', { createConnection: () => secure }))
}

async function getOn(session: ReturnType<typeof connect2>): Promise<string> {
  const stream = session.request({ ':path': '/a' })
  let text = ''
  for await (const piece of stream.setEncoding('utf8')) text += piece
  session.destroy()
  return text
}
