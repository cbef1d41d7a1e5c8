/** HAProxy passes connections on unread, and says by the PROXY protocol whose they are. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { ask, curl } from './curl-request.ts'
import { folder, missing, run, service } from './peer.ts'
import { certificate, freePort, started } from './proxies.ts'

const skip = missing('HAProxy', 'haproxy', ['-v'])
const basic = { authorization: `Basic ${Buffer.from('alice:alice-secret').toString('base64')}` }
const order = '/api/orders/o-1'

/** The name of a way, how HAProxy listens and with what it greets the service. */
interface Way {
  readonly name: string
  readonly bind: string
  readonly greeting: string
}

/** One HAProxy; its health checks are connections of its own, and it passes nothing to a service that fails them. */
async function haproxy(ways: readonly Way[], serviceUrl: string): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>()
  const sections: string[] = []
  const file = join(folder(), 'haproxy.cfg')
  for (const { name, bind, greeting } of ways) {
    const port = await freePort()
    ports.set(name, port)
    const server = `server one ${new URL(serviceUrl).host} ${greeting} check inter 100ms`
    sections.push(`listen ${name}\n  bind 127.0.0.1:${port} ${bind}\n  ${server}`)
  }
  const times = 'timeout connect 5s\n  timeout client 30s\n  timeout server 30s'
  writeFileSync(file, `global\n  maxconn 500\ndefaults\n  mode tcp\n  ${times}\n${sections.join('\n')}\n`)
  await started('haproxy', ['-db', '-f', file], [...ports.values()][0] ?? 0)
  return ports
}

/** Requests that remain to this caller in its minute. */
async function remaining(url: string, from: string): Promise<number> {
  const { fields } = await ask(`${url}/api/products/p-1`, { from })
  return Number(/r=(\d+)/.exec(fields['ratelimit'] ?? '')?.[1])
}

describe('HAProxy in front of HTTP', { skip }, () => {
  const own = skip ? { key: '', certificate: '' } : certificate()
  const urls = new Map<string, string>()
  before(async () => {
    const { url } = await service(['--proxy-protocol', '--insecure'])
    const pem = join(folder(), 'both.pem')
    writeFileSync(pem, readFileSync(own.certificate, 'utf8') + readFileSync(own.key, 'utf8'))
    const ways: readonly Way[] = [
      { name: 'version-1', bind: '', greeting: 'send-proxy' },
      { name: 'version-2', bind: '', greeting: 'send-proxy-v2' },
      {
        name: 'options',
        bind: '',
        greeting: 'send-proxy-v2 proxy-v2-options crc32c,unique-id,authority',
      },
      { name: 'tls', bind: `ssl crt ${pem} alpn h2,http/1.1`, greeting: 'send-proxy-v2-ssl-cn' },
    ]
    for (const [name, port] of await haproxy(ways, url))
      urls.set(name, `${name === 'tls' ? 'https' : 'http'}://127.0.0.1:${port}`)
  })

  for (const [at, name] of ['version-1', 'version-2', 'options'].entries())
    it(`A8.1 ${name}: rates belong to the client, and a password is refused in cleartext`, async () => {
      const url = urls.get(name) ?? ''
      const [one, two] = [`127.0.${at + 1}.2`, `127.0.${at + 1}.3`]
      const [first, second, other] = [await remaining(url, one), await remaining(url, one), await remaining(url, two)]
      assert.deepEqual([second, other], [first - 1, first])
      assert.equal((await ask(`${url}${order}`, { fields: basic })).status, 401)
      assert.equal((await ask(`${url}/metrics`)).status, 401, 'no client of a proxy is on this machine')
    })

  it('A5.1 A1.5 a client of its TLS comes by https, by HTTP/1.1 and by HTTP/2', () => {
    for (const version of ['--http1.1', '--http2']) {
      const { status, content } = curl(['-k', version], `${urls.get('tls')}${order}`, { fields: basic })
      assert.equal(status, 200, `${version}: ${content}`)
    }
  })

  it('A3.1 contents in both directions arrive whole', async () => {
    const url = urls.get('version-2') ?? ''
    const fields = { 'content-type': 'application/json', accept: 'application/problem+json' }
    for (let length = 1; length <= 100_000; length *= 10) {
      const { status } = await ask(`${url}/api/orders`, { method: 'POST', fields, content: `"${'x'.repeat(length)}"` })
      assert.equal(status, 401)
    }
    const { content } = await ask(`${url}/openapi.json`)
    assert.ok(Object.keys(JSON.parse(String(content)).paths).length > 10)
  })
})

describe('HAProxy passes TLS on unread', { skip }, () => {
  it('A5.1 the handshake, its client certificate and HTTP/2 are the service’s; the address is the client’s', async () => {
    const own = certificate()
    const client = certificate('alice')
    const { url } = await service([
      ...['--proxy-protocol', '--insecure', '--authorities', client.certificate],
      ...['--tls-key', own.key, '--tls-certificate', own.certificate],
    ])
    for (const greeting of ['send-proxy', 'send-proxy-v2']) {
      const port = (await haproxy([{ name: 'unread', bind: '', greeting }], url)).get('unread')
      const front = `https://127.0.0.1:${port}`
      const written = ['-sSk', '-o', '/dev/null', '-w', '%{http_version} %{http_code}']
      assert.equal(run('curl', [...written, '--http2', '-u', 'alice:alice-secret', `${front}${order}`]), '2 200')
      const proof = ['--cert', client.certificate, '--key', client.key]
      assert.equal(run('curl', [...written, ...proof, `${front}${order}`]), '2 200')
      assert.equal(run('curl', [...written, `${front}${order}`]), '2 401')
      const ca = readFileSync(own.certificate, 'utf8')
      const left = async (from: string): Promise<number> => {
        const { fields } = await ask(`${front}/api/products/p-1`, { from, ca })
        return Number(/r=(\d+)/.exec(fields['ratelimit'] ?? '')?.[1])
      }
      const part = greeting === 'send-proxy' ? 7 : 8
      const [first, second, other] = [
        await left(`127.0.${part}.2`),
        await left(`127.0.${part}.2`),
        await left(`127.0.${part}.3`),
      ]
      assert.deepEqual([second, other], [first - 1, first])
    }
  })
})
