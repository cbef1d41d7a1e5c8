/** One service on HTTP/1.1, HTTP/2 by prior knowledge, and HTTPS with either, asked by curl and nghttp. */
import assert from 'node:assert/strict'
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Answer, curl, lasting, type Question } from './curl-request.ts'
import { folder, missing, run, service } from './peer.ts'
import { certificate } from './proxies.ts'

const skip = missing('curl', 'curl')
const json = { 'content-type': 'application/json' }
const product = JSON.stringify({ name: 'Same', price: '1.00', stock: 1 })
const long = `/api/products?q=${'a'.repeat(9000)}`

type Who = 'anyone' | 'alice' | 'maria'
const rows: readonly (readonly [title: string, who: Who, target: string, question?: Question])[] = [
  ['A1.4 the entry', 'anyone', '/'],
  ['A4.1 a collection', 'anyone', '/api/products?size=3'],
  ['A4.1 a private collection', 'alice', '/api/orders?size=3&sort=total'],
  ['A4.3 an item', 'anyone', '/api/products/p-1'],
  ['A4.3 304', 'anyone', '/api/products/p-1', { fields: { 'if-none-match': '*' } }],
  ['A1.6 XML', 'anyone', '/api/products/p-1', { fields: { accept: 'application/xml' } }],
  ['A1.6 HTML', 'anyone', '/api/products/p-1', { fields: { accept: 'text/html' } }],
  ['A1.6 CSV', 'anyone', '/api/products', { fields: { accept: 'text/csv' } }],
  ['A4.8 HEAD', 'anyone', '/api/products/p-1', { method: 'HEAD' }],
  ['A4.9 OPTIONS', 'anyone', '/api/products/p-1', { method: 'OPTIONS' }],
  ['A4.14 a search', 'alice', '/api/search?q=door'],
  ['A4.14 QUERY', 'alice', '/api/orders', { method: 'QUERY', fields: json, content: '{"q":"door"}' }],
  ['A4.24 some fields', 'anyone', '/api/products/p-1?fields=id,name'],
  ['A9.1 an older version', 'alice', '/api/v1/orders/o-1'],
  ['A7 400: the target', 'anyone', '/api/%zz'],
  ['A7 400: a parameter', 'anyone', '/api/products?nope=1'],
  ['A7 400: the content', 'maria', '/api/products', { method: 'POST', fields: json, content: '{' }],
  ['A5.3 401', 'anyone', '/api/orders'],
  ['A5.3 403', 'alice', '/api/products/p-1', { method: 'DELETE' }],
  ['A7.18 404', 'anyone', '/api/nowhere'],
  ['405', 'maria', '/api/products/p-1', { method: 'POST', fields: json, content: '{}' }],
  ['A4.17 406', 'anyone', '/api/products/p-1', { fields: { accept: 'image/webp' } }],
  [
    'A7.9 409',
    'maria',
    '/api/orders/o-2/payment',
    { method: 'POST', fields: json, content: '{"method":"card","amount":"1.00"}' },
  ],
  [
    'A4.20 412',
    'maria',
    '/api/products/p-2',
    { method: 'PUT', fields: { ...json, 'if-match': '"0-0"' }, content: product },
  ],
  ['414', 'anyone', long],
  [
    'A4.17 415',
    'maria',
    '/api/products/p-2',
    { method: 'PATCH', fields: { 'content-type': 'text/plain' }, content: 'x' },
  ],
  ['416', 'anyone', '/api/products/p-2/picture', { fields: { range: 'bytes=9-' } }],
  ['A7.17 422', 'maria', '/api/products', { method: 'POST', fields: json, content: '{}' }],
  ['501', 'anyone', '/api/products', { method: 'PROPFIND' }],
  ['A4.4 PUT, the same again', 'maria', '/api/products/p-same', { method: 'PUT', fields: json, content: product }],
  ['A2.5 a problem in XML', 'anyone', '/api/nowhere', { fields: { accept: 'application/xml' } }],
]

const ways: readonly (readonly [name: string, over: 'http' | 'https', flags: readonly string[], version: string])[] = [
  ['HTTP/2 by prior knowledge', 'http', ['--http2-prior-knowledge'], '2'],
  ['HTTP/1.1 over TLS', 'https', ['-k', '--http1.1'], '1.1'],
  ['HTTP/2 over TLS, chosen by ALPN', 'https', ['-k', '--http2'], '2'],
]

describe('responses are the same over every version of HTTP', { skip }, async () => {
  if (skip) return
  const data = join(folder(), 'orders.sqlite')
  const clear = await service([], data)
  const { key, certificate: chain } = certificate()
  // A second instance on the same data: which of them is asked makes no difference either (A1.2).
  const secure = await service(['--tls-key', key, '--tls-certificate', chain], data)
  const bearer = (subject: string, role: string) => ({ authorization: `Bearer ${clear.token(subject, role)}` })
  const people = { anyone: {}, alice: bearer('alice', 'customer'), maria: bearer('maria', 'manager') }
  const urls = { http: clear.url, https: secure.url }
  const as = (who: Who, question: Question = {}) => ({ ...question, fields: { ...people[who], ...question.fields } })
  // Made once, so that every PUT of it finds it there.
  curl([], `${clear.url}/api/products/p-same`, as('maria', { method: 'PUT', fields: json, content: product }))

  const comparable = (answer: Answer) => ({
    ...answer,
    fields: lasting(answer.fields),
    content: answer.content.toString(),
  })

  for (const [name, over, flags, version] of ways) {
    it(`A1.1 ${name}: it is ${version}`, () => {
      const said = run('curl', ['-sS', '-o', '/dev/null', '-w', '%{http_version}', ...flags, urls[over]])
      assert.equal(said, version)
    })
    for (const [title, who, target, question] of rows) {
      it(`A1.1 ${name}: ${title}`, () => {
        const one = curl(['--http1.1'], `${urls.http}${target}`, as(who, question))
        const other = curl(flags, `${urls[over]}${target}`, as(who, question))
        assert.ok(one.status > 199 && one.status !== 500)
        // What a PUT changes is newer each time: its version and its time.
        const put = question?.method === 'PUT' && one.status < 300
        const [a, b] = [comparable(one), comparable(other)]
        if (put) for (const each of [a, b]) each.fields = { ...each.fields, etag: '', 'last-modified': '' }
        assert.deepEqual(b, a)
      })
    }
  }

  it('A4.25 one connection carries several callers: each gets its response as if alone', () => {
    const order: readonly (readonly [Who, number])[] = [
      ['alice', 200],
      ['anyone', 401],
      ['maria', 200],
      ['anyone', 401],
      ['alice', 200],
    ]
    for (const [, over, flags] of [['', 'http', ['--http1.1']] as const, ...ways.slice(1)]) {
      const words = order.flatMap(([who], i) => [
        ...(i > 0 ? ['--next'] : []),
        ...['-sS', '-o', '/dev/null', '-w', '%{http_code} %{num_connects} %header{etag}\n', ...flags],
        ...Object.entries(people[who]).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
        `${urls[over]}/api/orders/o-1`,
      ])
      const said = run('curl', words)
        .trim()
        .split('\n')
        .map(line => line.split(' '))
      assert.deepEqual(
        said.map(([status]) => Number(status)),
        order.map(([, status]) => status),
      )
      assert.deepEqual(
        said.map(([, connects]) => connects),
        ['1', '0', '0', '0', '0'],
      )
      assert.equal(said[0]?.[2], said[4]?.[2])
    }
  })

  it('A4.25 fifty concurrent streams of three callers on one connection: each gets its own response', async () => {
    const session = connect(urls.http)
    try {
      const expected = { anyone: '401', alice: '200', maria: '200' }
      const asked = Array.from({ length: 50 }, (_, i) => (['anyone', 'alice', 'maria'] as const)[i % 3] ?? 'anyone')
      const answers = await Promise.all(
        asked.map(async (who, i) => {
          const stream = session.request({ ':path': `/api/orders/o-${1 + 3 * (i % 30)}`, ...people[who] })
          const [fields, text] = await Promise.all([
            new Promise<IncomingHttpHeaders>(resolve => stream.once('response', resolve)),
            new Promise<string>((resolve, reject) => {
              let all = ''
              stream.setEncoding('utf8').on('data', piece => (all += piece))
              stream.on('end', () => resolve(all)).on('error', reject)
            }),
          ])
          return { status: String(fields[':status']), id: JSON.parse(text).id as unknown }
        }),
      )
      for (const [i, { status, id }] of answers.entries()) {
        const who = asked[i] ?? 'anyone'
        assert.equal(status, expected[who])
        assert.equal(id, who === 'anyone' ? undefined : `o-${1 + 3 * (i % 30)}`)
      }
    } finally {
      session.close()
    }
  })

  it('A1.1 nghttp: prior knowledge, many streams, content', { skip: missing('nghttp', 'nghttp') }, () => {
    const products = Array.from({ length: 10 }, (_, i) => `${urls.http}/api/products/p-${i + 1}`)
    const said = run('nghttp', ['-v', '--no-dep', ...products])
    assert.equal([...said.matchAll(/:status: 200/g)].length, 10)
    assert.equal([...said.matchAll(/"id":"p-\d+"/g)].length, 10)
    assert.doesNotMatch(said, /connection: |keep-alive: |transfer-encoding: /i)
    const secure = run('nghttp', ['-v', '--no-dep', `${urls.https}/api/products/p-1`])
    assert.match(secure, /The negotiated protocol: h2/)
    assert.match(secure, /:status: 200/)
  })

  it('A1.1 h2load: a thousand requests on ten connections, none fails', { skip: missing('h2load', 'h2load') }, () => {
    const said = run('h2load', ['-n', '800', '-c', '8', '-m', '20', `${urls.http}/api/products/p-1`])
    assert.match(said, /800 total, 800 started, 800 done, 800 succeeded, 0 failed, 0 errored, 0 timeout/)
    assert.match(said, /status codes: 800 2xx, 0 3xx, 0 4xx, 0 5xx/)
  })

  it('A5.4 TLS 1.1 is refused, TLS 1.2 and 1.3 are spoken', () => {
    for (const version of ['1.2', '1.3'])
      assert.equal(curl(['-k', `--tlsv${version}`, '--tls-max', version], urls.https).status, 200)
    assert.throws(() => curl(['-k', '--tlsv1.1', '--tls-max', '1.1'], urls.https))
  })
})
