/** Requests through a proxy: by an option, by the environment, and those that never use one. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import * as http from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { HttpOptions } from '../../src/client/connection-pool.ts'
import { TransportFailure } from '../../src/client/errors.ts'
import { createHttpPool, createHttpTransport } from '../../src/client/http-transport.ts'
import type { TransportRequest } from '../../src/client/transport.ts'
import { issueCertificate } from './issued.ts'

const one: TransportRequest = { content: 'hello', fields: undefined, timeLimit: 5000, signal: undefined }
const text = (octets: Uint8Array) => Buffer.from(octets).toString()
async function listening<T extends Server>(server: T): Promise<T> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => server.close())
  return server
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** A proxy that records its requests, and forwards them. */
async function startProxy(credentials?: string) {
  const asked: string[] = []
  const open = new Set<Socket>()
  const isAllowed = (request: http.IncomingMessage) =>
    credentials === undefined || request.headers['proxy-authorization'] === `Basic ${btoa(credentials)}`
  const server = await listening(
    http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      if (!isAllowed(request)) return void response.writeHead(407).end()
      const { 'proxy-authorization': _, ...headers } = request.headers
      const forwarded = http.request(request.url ?? '', { method: request.method ?? '', headers }, answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      request.pipe(forwarded)
    }),
  )
  server.on('connect', (request, socket: Socket) => {
    asked.push(`CONNECT ${request.url}`)
    open.add(socket.on('error', () => {}))
    if (!isAllowed(request)) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(request.url ?? '') ?? []
    const onward: Socket = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    open.add(onward.on('error', () => socket.destroy()))
  })
  after(() => {
    for (const socket of open) socket.destroy()
    server.closeAllConnections()
  })
  return { asked, address: `http://${credentials ? `${credentials}@` : ''}127.0.0.1:${portOf(server)}` }
}

/** The request that the target received, as the content of its response. */
const echo: http.RequestListener = (request, response) => {
  let content = ''
  request.on('data', piece => (content += piece))
  request.on('end', () => {
    const { host, 'proxy-authorization': names } = request.headers
    response.end(`${request.method} ${request.url} at ${host}${names ? ' with names' : ''}: ${content}`)
  })
}
function posting(address: string, options: HttpOptions) {
  const transport = createHttpTransport(address, options)
  after(() => transport.close())
  return transport.prepare({ 'content-type': 'text/plain' })
}
const failureOf = (call: Promise<unknown>): Promise<TransportFailure> =>
  call.then(
    () => assert.fail('it was answered'),
    thrown => {
      assert.ok(thrown instanceof TransportFailure, String(thrown))
      return thrown
    },
  )

describe('http through a proxy', async () => {
  const target = await listening(http.createServer(echo))
  const host = `127.0.0.1:${portOf(target)}`
  after(() => target.closeAllConnections())

  test('RFC 9112 §3.2.2: the proxy gets the whole target, and its credentials; the service neither', async () => {
    const proxy = await startProxy('user:pass')
    const ask = posting(`http://${host}/soap?a=1`, { proxy: proxy.address })
    for (let i = 0; i < 2; i++) assert.equal(text((await ask(one)).content), `POST /soap?a=1 at ${host}: hello`)
    const asked = `POST http://${host}/soap?a=1`
    assert.deepEqual(proxy.asked, [asked, asked])
  })
  test('other methods, too', async () => {
    const proxy = await startProxy()
    const pool = createHttpPool(`http://${host}/`, { proxy: proxy.address })
    after(() => pool.close())
    const sent = { ...one, method: 'GET', target: '/x', fields: {}, content: undefined }
    assert.equal(text((await pool.send(sent)).content), `GET /x at ${host}: `)
    assert.deepEqual(proxy.asked, [`GET http://${host}/x`])
  })
  test('an invalid address of a proxy is reported when the client is made', () => {
    for (const proxy of ['proxy:3128', 'socks5://proxy'])
      assert.throws(() => createHttpTransport(`http://${host}/`, { proxy }), /^TypeError: the option proxy is not the/)
  })
})

const pair = issueCertificate('server')
describe('https through a proxy', { skip: pair ? false : 'skipped: no openssl here' }, async () => {
  const target = await listening(createTlsServer(pair ?? {}, echo))
  after(() => target.closeAllConnections())
  const host = `127.0.0.1:${portOf(target)}`
  const options = { tls: { ca: pair?.cert ?? '' } }

  test('RFC 9110 §9.3.6: a tunnel is kept, and the proxy sees only the host', async () => {
    const proxy = await startProxy('user:pass')
    const ask = posting(`https://${host}/soap`, { ...options, proxy: proxy.address })
    for (let i = 0; i < 3; i++) assert.equal(text((await ask(one)).content), `POST /soap at ${host}: hello`)
    assert.deepEqual(proxy.asked, [`CONNECT ${host}`])
  })
  test('the certificate is that of the service: a stranger’s, and nothing is sent', async () => {
    const proxy = await startProxy()
    const failure = await failureOf(posting(`https://${host}/`, { proxy: proxy.address })(one))
    assert.deepEqual([failure.why, failure.mayHaveRun], ['unreachable', false])
  })
  test('a proxy that refuses, or does not exist, is reported, and nothing was carried out', async () => {
    const proxy = await startProxy('user:pass')
    const nameless = proxy.address.replace('user:pass@', '')
    const refused = await failureOf(posting(`https://${host}/`, { ...options, proxy: nameless })(one))
    assert.match(refused.detail, /^the proxy 127\.0\.0\.1:\d+ answered 407 to CONNECT 127\.0\.0\.1:\d+$/)
    assert.deepEqual([refused.why, refused.mayHaveRun], ['unreachable', false])
    const absent = await failureOf(posting(`https://${host}/`, { ...options, proxy: 'http://127.0.0.1:9' })(one))
    assert.match(absent.detail, /^the proxy 127\.0\.0\.1:9 did not open a connection$/)
    assert.equal(absent.why, 'unreachable')
  })
  test('a silent proxy: the call times out, and gives its connection up', async () => {
    const silent = await listening(http.createServer())
    const ended: Promise<unknown>[] = []
    silent.on('connect', (_, socket: Socket) => ended.push(once(socket.on('error', () => {}).resume(), 'end')))
    const address = `http://127.0.0.1:${portOf(silent)}`
    const call = posting(`https://${host}/`, { ...options, proxy: address })({ ...one, timeLimit: 300 })
    const failure = await failureOf(call)
    assert.deepEqual([failure.why, failure.mayHaveRun], ['late', false])
    assert.match(failure.detail, /before it was connected/)
    assert.equal(ended.length, 1)
    await ended[0]
  })
})

describe('by the environment', async () => {
  const target = await listening(http.createServer(echo))
  after(() => target.closeAllConnections())
  const address = `http://127.0.0.1:${portOf(target)}/soap`
  const source = (path: string): string => JSON.stringify(join(import.meta.dirname, '..', '..', 'src', path))
  const script = `import { createHttpTransport } from ${source('client/http-transport.ts')}
const transport = createHttpTransport('${address}', JSON.parse(process.argv[1] ?? '{}'))
const answer = await transport.prepare({})({ content: 'hello', timeLimit: 5000 })
console.log(Buffer.from(answer.content).toString())
transport.close()`
  const run = async (env: Readonly<Record<string, string>>, options: HttpOptions = {}): Promise<string> => {
    const words = [
      '--conditions=diglot-source',
      '--input-type=module-typescript',
      '-e',
      script,
      JSON.stringify(options),
    ]
    const { NODE_OPTIONS: _, ...others } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: { ...others, ...env } })
    return stdout
  }
  const rows: readonly (readonly [name: string, env: object, options: HttpOptions, isProxied: boolean])[] = [
    ['NODE_USE_ENV_PROXY=1', { NODE_USE_ENV_PROXY: '1' }, {}, true],
    ['nothing says that it counts', {}, {}, false],
    ['NO_PROXY names the host', { NODE_USE_ENV_PROXY: '1', NO_PROXY: '127.0.0.1' }, {}, false],
    ['the option says none', { NODE_USE_ENV_PROXY: '1' }, { proxy: false }, false],
  ]
  for (const [name, env, options, isProxied] of rows)
    test(`${name}: ${isProxied ? 'through the proxy' : 'to the service itself'}`, async () => {
      const proxy = await startProxy()
      assert.match(await run({ ...env, HTTP_PROXY: proxy.address }, options), /^POST \/soap at .*: hello/)
      assert.deepEqual(proxy.asked, isProxied ? [`POST ${address}`] : [])
    })

  const ownScript = (imports: string, work: string) => async (proxy: string) => {
    const { NODE_OPTIONS: _, ...others } = process.env
    const env = { ...others, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, HTTPS_PROXY: proxy }
    const words = ['--conditions=diglot-source', '--input-type=module-typescript', '-e', `${imports}\n${work}`]
    return (await promisify(execFile)(process.execPath, words, { env })).stdout
  }
  test('the relay goes through it', async () => {
    const proxy = await startProxy()
    const run = ownScript(
      `import { startSoapRelay } from ${source('host/soap/soap-relay.ts')}`,
      `const relay = await startSoapRelay({ port: 0, to: '${address}' })
const body = '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><a/></e:Body></e:Envelope>'
const asked = fetch('http://127.0.0.1:' + relay.port + '/', { method: 'POST', headers: { 'content-type': 'text/xml' }, body })
console.log((await asked).status)
process.exit()`,
    )
    await run(proxy.address)
    assert.ok(proxy.asked.includes(`POST ${address}`), proxy.asked.join())
  })
  test('attack: messages to receivers use no proxy, which would look up their names unseen', async () => {
    const proxy = await startProxy()
    const run = ownScript(
      `import { postSafely } from ${source('host/delivery/safe-post.ts')}
import { createWebhook } from ${source('host/delivery/webhook.ts')}`,
      `const message = { to: 'http://localhost:${portOf(target)}/r', content: 'x', mediaType: 'text/xml', action: 'urn:a' }
const signal = new AbortController().signal
await postSafely(message, signal)
const url = 'http://127.0.0.1:${portOf(target)}/w'
const hook = createWebhook({ name: 'w', url, secret: 'whsec_' + btoa('k'.repeat(24)), allow: ['127.0.0.1'], private: true })
await hook.deliver({ id: '1' }, signal)
const hidden = { ...message, to: 'http://intern.example/r' }
const byDns = async () => [{ address: '10.0.0.1', family: 4 }]
console.log(await postSafely(hidden, signal, byDns).catch(thrown => thrown.message))`,
    )
    assert.match(await run(proxy.address), /intern\.example resolves to 10\.0\.0\.1, which is not public/)
    assert.deepEqual(proxy.asked, [])
  })
})
