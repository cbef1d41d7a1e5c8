/** Proxies that end HTTPS, that serve under a path, that say who asked: what a client relies on does not change. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Answer, ask, curl, lasting, type Question } from './curl-request.ts'
import { folder, missing, run, service } from './peer.ts'
import { certificate, freePort, nginx, passes, started } from './proxies.ts'

const json = { 'content-type': 'application/json' }
const product = JSON.stringify({ name: 'Passed on', price: '1.00', stock: 1 })
const basic = { authorization: `Basic ${Buffer.from('alice:alice-secret').toString('base64')}` }
const noNginx = missing('nginx', 'nginx', ['-v'])
const noCaddy = missing('caddy', 'caddy', ['version'])

const requests: readonly (readonly [title: string, target: string, question?: Question])[] = [
  ['the entry', '/'],
  ['a collection', '/api/products?size=3'],
  ['HTML', '/api/products/p-1', { fields: { accept: 'text/html' } }],
  ['HEAD', '/api/products/p-1', { method: 'HEAD' }],
  ['OPTIONS', '/api/products/p-1', { method: 'OPTIONS' }],
  ['304', '/api/products/p-1', { fields: { 'if-none-match': '*' } }],
  ['a password, safe in TLS', '/api/orders/o-1', { fields: basic }],
  ['QUERY', '/api/orders', { method: 'QUERY', fields: { ...basic, ...json }, content: '{"q":"door"}' }],
  ['401', '/api/orders'],
  ['403', '/api/products/p-1', { method: 'DELETE', fields: basic }],
  ['404', '/api/nowhere'],
  ['405', '/api/products/p-1', { method: 'POST', fields: { ...basic, ...json }, content: '{}' }],
  ['406', '/api/products/p-1', { fields: { accept: 'image/webp' } }],
  ['412', '/api/orders/o-1', { fields: { ...basic, 'if-match': '"0-0"' } }],
]
const comparable = ({ status, fields, content }: Answer) => ({
  status,
  fields: lasting(fields),
  content: String(content),
})

/** HTTPS with HTTP/2, and HTTP/3 for who can; it says who asked and by which scheme, and believes nobody who says so before. */
async function caddy(origin: string): Promise<string> {
  const port = await freePort()
  const at = folder()
  const { key, certificate: chain } = certificate()
  const config = join(at, 'Caddyfile')
  writeFileSync(
    config,
    `{\n admin off\n auto_https disable_redirects\n}
https://localhost:${port} {\n bind 127.0.0.1\n tls ${chain} ${key}\n reverse_proxy ${origin}\n}\n`,
  )
  const home = { XDG_DATA_HOME: at, XDG_CONFIG_HOME: at, HOME: at }
  await started('caddy', ['run', '--adapter', 'caddyfile', '--config', config], port, home)
  return `https://localhost:${port}`
}
async function nginxSecure(origin: string): Promise<string> {
  const { key, certificate: chain } = certificate()
  const block = `ssl_certificate ${chain}; ssl_certificate_key ${key}; location / { ${passes(origin)} }`
  const [front = ''] = await nginx([{ listen: 'ssl http2', block }])
  return front
}

const secured = [
  ['Caddy', caddy, noCaddy],
  ['nginx', nginxSecure, noNginx],
] as const
for (const [name, start, skip] of secured) {
  describe(`${name} ends HTTPS`, { skip }, async () => {
    if (skip) return
    const { url } = await service(['--trust-proxy', '--insecure'])
    const front = await start(url)
    for (const [title, target, question] of requests) {
      it(`A1.1 A1.5 ${title}: the same by HTTP/1.1 and by HTTP/2`, () => {
        const said = {
          ...question,
          fields: { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', ...question?.fields },
        }
        const without = comparable(curl(['--http1.1'], `${url}${target}`, said))
        assert.ok(without.status < 500)
        for (const version of ['--http1.1', '--http2'])
          assert.deepEqual(comparable(curl(['-k', version], `${front}${target}`, question)), without, version)
      })
    }
    it('A1.5 it spoke HTTP/2', () => {
      assert.equal(run('curl', ['-sSk', '-o', '/dev/null', '-w', '%{http_version}', '--http2', front]), '2')
    })
    if (name === 'Caddy')
      it('A1.1 the same by HTTP/3', { skip: missing('a client of HTTP/3', 'gtlsclient', ['--help']) }, () => {
        const { port } = new URL(front)
        const target = '/api/products/p-1'
        const at = folder()
        run('gtlsclient', [
          '-q',
          '--exit-on-all-streams-close',
          '--download',
          at,
          '127.0.0.1',
          port,
          `${front}${target}`,
        ])
        assert.equal(run('cat', [join(at, 'p-1')]), String(curl([], `${url}${target}`).content))
      })
  })
}

describe('nginx in front', { skip: noNginx }, async () => {
  if (noNginx) return
  const { url } = await service(['--trust-proxy', '--insecure'])
  const says = (fields: string) =>
    `location / { ${passes(url).replace(/proxy_set_header X-Forwarded-For [^;]+;/, '')} ${fields} }`
  const fronts = await nginx([
    { block: `location / { ${passes(url)} }` },
    { block: says('proxy_set_header X-Forwarded-For 192.0.2.7;') },
    {
      block: says('proxy_set_header X-Forwarded-For 192.0.2.7;').replace(
        'X-Forwarded-Proto $scheme',
        'X-Forwarded-Proto https',
      ),
    },
  ])
  const [plain = '', cleartext = '', secure = ''] = fronts

  it('A5.1 a remote password is accepted only over HTTPS, as the proxy reports it', async () => {
    const target = '/api/orders/o-1'
    assert.equal((await ask(`${secure}${target}`, { fields: basic })).status, 200)
    const refused = await ask(`${cleartext}${target}`, { fields: basic })
    assert.equal(refused.status, 401)
    assert.doesNotMatch(refused.fields['www-authenticate'] ?? '', /Basic/)
  })

  it('A8.1 rates belong to the client, not to the proxy; a client’s own claims count for nothing', async () => {
    const left = async (from: string, fields = {}) => {
      const answer = await ask(`${plain}/api/products/p-1`, { from, fields })
      return Number(/r=(\d+)/.exec(answer.fields['ratelimit'] ?? '')?.[1])
    }
    const [one, two] = [await left('127.0.0.2'), await left('127.0.0.2')]
    assert.equal(two, one - 1)
    assert.equal(await left('127.0.0.3'), one)
    assert.equal(await left('127.0.0.2', { 'x-forwarded-for': '127.0.0.9' }), two - 1)
  })

  it('A4.21 A2.5 under a path of its own: links, Location and problem types lead back through the proxy', async () => {
    const port = await freePort()
    const known = `http://127.0.0.1:${port}/shop`
    const { url: inside, token } = await service(['--trust-proxy', '--insecure', '--public-url', known])
    const block = `location /shop/ { ${passes(inside).replace(`proxy_pass ${inside}`, `proxy_pass ${inside}/`)} }`
    const [front = ''] = await nginx([{ block }], [port])
    const outside = (href: string) => new URL(href, `${front}/`).href
    const authorization = `Bearer ${token('maria', 'manager')}`
    const made = await ask(`${known}/api/products`, {
      method: 'POST',
      fields: { ...json, authorization },
      content: product,
    })
    assert.equal(made.status, 201)
    assert.match(made.fields['location'] ?? '', /\/shop\/api\/products\//)
    assert.equal((await ask(outside(made.fields['location'] ?? ''))).status, 200)
    const entry = JSON.parse(String((await ask(`${known}/`)).content))
    for (const [rel, link] of Object.entries<{ href: string; templated?: boolean }>(entry._links))
      if (!link.templated) {
        const { status } = await ask(outside(link.href), { fields: { authorization } })
        assert.notEqual(status, 404, `${rel}: ${link.href}`)
      }
    const page = JSON.parse(String((await ask(`${known}/api/products?size=2`)).content))
    assert.equal((await ask(outside(page._links.next.href))).status, 200)
    const problem = JSON.parse(String((await ask(`${known}/api/nowhere`)).content))
    assert.equal((await ask(outside(problem.type))).status, 200, problem.type)
  })
})
