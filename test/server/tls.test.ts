import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connect2 } from 'node:http2'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after as afterAll, suite, test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { StartFailure } from '../../src/server/listener.ts'
import { exchangeOctets, message, receiveOctets, statuses, type Until, withServer } from './raw-connection.ts'

const directory = mkdtempSync(join(tmpdir(), 'tls-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** A self-signed certificate and its key, as paths; undefined where there is no openssl. */
function issue(name: string, curve = 'P-256') {
  const key = join(directory, `${name}.key`)
  const certificate = join(directory, `${name}.pem`)
  const options = `-x509 -newkey ec -pkeyopt ec_paramgen_curve:${curve} -nodes -days 2 -subj /CN=${name} -addext subjectAltName=IP:127.0.0.1`
  try {
    execFileSync('openssl', ['req', ...options.split(' '), '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  return { key, certificate }
}

const first = issue('first')
const second = issue('second')
const skip = first && second ? false : 'skipped: no openssl here'
const tls = first ?? { key: '', certificate: '' }
const other = second ?? { key: '', certificate: '' }

/** Shakes hands, sends a request, receives the response; the error where there is no handshake. */
async function over(port: number, options: ConnectionOptions, octets = message(['GET / HTTP/1.1']), until: Until = 1) {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    ...options,
  })
  const failed = await new Promise<NodeJS.ErrnoException | undefined>(resolve =>
    socket.once('secureConnect', () => resolve(undefined)).once('error', resolve),
  )
  if (failed) return { failed, text: '', socket }
  const received = receiveOctets(socket)
  socket.write(octets)
  const { text } = await received(until)
  return { failed, text, socket }
}

const named = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN
const serve = (request: { certificate?: Uint8Array | undefined; scheme: string; version: string }) => ({
  status: 200,
  fields: {},
  content: `${request.scheme} ${request.version} ${request.certificate?.length ?? 'anonymous'}`,
})

suite('TLS', { skip }, () => {
  test('RFC 7301: a client that asks for HTTP/1.1 gets it, and so does a client without ALPN', () =>
    withServer(
      serve,
      async ({ port, listener }) => {
        assert.equal(listener.url, `https://127.0.0.1:${port}`)
        for (const options of [{}, { ALPNProtocols: [] }]) {
          const { text, socket } = await over(port, options)
          assert.match(text, /https 1\.1 anonymous$/)
          socket.destroy()
        }
      },
      { tls },
    ))

  test('connections that break at any moment, or send invalid records, affect no others', () =>
    withServer(
      async request => after(30, serve(request)),
      async ({ port, errors }) => {
        const half = message(['POST / HTTP/1.1', 'Content-Length: 9'], 'abc')
        for (const octets of ['', 'GET / HT', message(['GET / HTTP/1.1']), half])
          for (const end of ['reset', 'garbage']) {
            const raw = connectPlain(port, '127.0.0.1').on('error', () => {})
            const socket = connect({ socket: raw, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
            await once(
              socket.on('error', () => {}),
              'secureConnect',
            )
            if (octets !== '') socket.write(octets)
            await after(10)
            if (end === 'reset') raw.resetAndDestroy()
            else raw.write('no record at all')
          }
        await after(60)
        const { text, socket } = await over(port, {})
        assert.match(text, /https 1\.1 anonymous$/)
        socket.destroy()
        assert.deepEqual(errors, [])
      },
      { tls },
    ))

  test('RFC 7301: HTTP/2', () =>
    withServer(
      serve,
      async ({ listener }) => {
        const session = connect2(listener.url, { ca: readFileSync(tls.certificate) })
        const text = (await session.request({}).toArray()).join('')
        assert.equal(text, 'https 2 anonymous')
        session.destroy()
      },
      { tls },
    ))

  const refused: readonly (readonly [title: string, options: ConnectionOptions])[] = [
    ['RFC 8996: TLS 1.1', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT:@SECLEVEL=0' }],
    ['RFC 7457 §2.5: CBC', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES128-SHA' }],
    ['RFC 9325 §4.1: no forward secrecy', { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' }],
    ['RFC 7301 §3.2: an unknown protocol', { ALPNProtocols: ['spdy/3'] }],
  ]
  for (const [title, options] of refused) {
    test(`${title} is refused`, () =>
      withServer(
        serve,
        async ({ port }) => {
          assert.match((await over(port, options)).failed?.code ?? '', /SSL|EPROTO|ECONNRESET/)
          assert.deepEqual(statuses((await over(port, { maxVersion: 'TLSv1.2' })).text), [200])
        },
        { tls },
      ))
  }

  test('cleartext on the TLS port, and half a handshake', () =>
    withServer(
      serve,
      async ({ port, listener }) => {
        assert.ok((await exchangeOctets(port, message(['GET / HTTP/1.1']), 'end')).closed)
        assert.ok((await exchangeOctets(port, '\x16\x03\x01', 'end')).closed)
        while (listener.connections() > 0) await after(10)
      },
      { tls, limits: { head: 200 } },
    ))

  test('a certificate is replaced without a restart; an unusable one changes nothing', () =>
    withServer(
      serve,
      async ({ port, listener }) => {
        const kept = await over(port, {})
        assert.equal(named(kept.socket), 'first')
        listener.secure(other)
        assert.equal(named((await over(port, {})).socket), 'second')
        kept.socket.write(message(['GET / HTTP/1.1']))
        assert.throws(() => listener.secure({ key: tls.key, certificate: other.certificate }), StartFailure)
        assert.equal(named((await over(port, {})).socket), 'second')
      },
      { tls },
    ))

  test('the certificate of a client reaches the request only when an authority vouches for it', () =>
    withServer(
      serve,
      async ({ port }) => {
        const pem = (of: typeof tls) => ({ key: readFileSync(of.key), cert: readFileSync(of.certificate) })
        assert.match((await over(port, pem(other))).text, /https 1\.1 \d{3}$/)
        assert.match((await over(port, pem(tls))).text, /anonymous$/)
        assert.match((await over(port, {})).text, /anonymous$/)
      },
      { tls: { ...tls, authorities: other.certificate } },
    ))

  test('a port without TLS has no certificate to replace', () =>
    withServer(serve, async ({ listener }) => assert.throws(() => listener.secure(tls), StartFailure)))

  test('an encrypted key and its passphrase', () =>
    withServer(serve, async ({ port }) => assert.deepEqual(statuses((await over(port, {})).text), [200]), {
      tls: { ...encrypted(), passphrase: 'secret' },
    }))

  test('close: requests in progress over TLS are completed', async () => {
    const { startListener: listen } = await import('../../src/server/listener.ts')
    const begins = Promise.withResolvers<void>()
    const listener = await listen(
      request => {
        begins.resolve()
        return after(150, serve(request))
      },
      { tls },
    )
    const idle = connect({ port: listener.port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => {})
    const talk = over(listener.port, {}, message(['GET / HTTP/1.1']), 'end')
    await begins.promise
    const began = performance.now()
    assert.equal(await listener.close(20_000), 0)
    assert.ok(performance.now() - began < 10_000, 'it does not wait for its limit')
    const { text, socket } = await talk
    socket.destroy()
    assert.match(text, /connection: close/i)
    idle.destroy()
  })
})

function encrypted() {
  const key = join(directory, 'encrypted.key')
  const plain = readFileSync(tls.key)
  const text = execFileSync('openssl', ['pkey', '-aes256', '-passout', 'pass:secret'], {
    input: plain,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  writeFileSync(key, text)
  return { key, certificate: tls.certificate }
}
