/** `diglot check` through a proxy: each octet in a tunnel, by HTTP/1.1 and HTTP/2 (docs/client.md). */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import * as http from 'node:http'
import { createSecureServer } from 'node:http2'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { issueCertificate } from '../client/issued.ts'

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  after(() => server.close())
  return (server.address() as AddressInfo).port
}
const asked: string[] = []
const open = new Set<Socket>()
const proxy = http.createServer((_, response) => void response.writeHead(500).end())
proxy.on('connect', (request, socket: Socket) => {
  asked.push(`${request.method} ${request.url}`)
  const onward: Socket = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    onward.pipe(socket).pipe(onward)
  })
  for (const each of [socket, onward]) open.add(each.on('error', () => {}))
})
const proxyPort = await listening(proxy)
after(() => {
  for (const each of open) each.destroy()
})
const say: http.RequestListener = (request, response) => void response.end(`${request.httpVersion} ${request.url}`)

/** What the transport of the checker is answered, in a process whose environment has the proxy. */
async function probe(address: string, port = proxyPort): Promise<string[]> {
  const module = JSON.stringify(join(import.meta.dirname, '..', '..', 'src', 'check', 'socket-transport.ts'))
  const script = `import { openSocketTransport } from ${module}
const transport = await openSocketTransport('${address}', { insecure: true })
const told = []
for (const version of transport.versions) {
  const request = { version, method: 'GET', target: '/a', fields: {}, content: undefined }
  const reply = await transport.send(request, 5000).catch(thrown => thrown.message)
  told.push(typeof reply === 'string' ? reply : Buffer.from(reply.content).toString())
}
const spoken = await transport.converse([{ octets: Buffer.from('GET /b HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n') }], { limitMs: 5000, quietMs: 5000 })
told.push(spoken.reply ? Buffer.from(spoken.reply.content).toString() : 'nothing')
transport.close()
console.log(JSON.stringify(told))
process.exit()`
  const words = ['--conditions=diglot-source', '--input-type=module-typescript', '-e', script]
  const { NODE_OPTIONS: _, ...others } = process.env
  const url = `http://127.0.0.1:${port}`
  const env = { ...others, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: url, HTTPS_PROXY: url }
  return JSON.parse((await promisify(execFile)(process.execPath, words, { env })).stdout)
}

test('http goes through a tunnel, so that each octet arrives unchanged', async () => {
  const port = await listening(http.createServer(say))
  assert.deepEqual(await probe(`http://127.0.0.1:${port}`), ['1.1 /a', '1.1 /b'])
  assert.deepEqual(new Set(asked), new Set([`CONNECT 127.0.0.1:${port}`]))
})

const pair = issueCertificate('server')
test('https goes through a tunnel, by HTTP/1.1 and HTTP/2', {
  skip: pair ? false : 'skipped: no openssl here',
}, async () => {
  asked.length = 0
  const server = createSecureServer({ ...pair, allowHTTP1: true }, (request, response) => {
    response.end(`${request.httpVersion} ${request.url}`)
  })
  const port = await listening(server)
  assert.deepEqual(await probe(`https://127.0.0.1:${port}`), ['1.1 /a', '2.0 /a', '1.1 /b'])
  assert.deepEqual(new Set(asked), new Set([`CONNECT 127.0.0.1:${port}`]))
})

test('an unreachable proxy is reported', async () => {
  const [first, second] = await probe('http://127.0.0.1:9', 9)
  assert.match(first ?? '', /^the proxy 127\.0\.0\.1:9 /)
  assert.equal(second, 'nothing')
})
