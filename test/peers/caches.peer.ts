/** Shared caches between clients and the service: one battery for each of them. What reached the service is counted at a hop. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { type Answer, ask, type Fields, lasting, type Question } from './curl-request.ts'
import { missing, type Running, root, service } from './peer.ts'
import { hop, nginx, nginxCache, type Passed, passes, squid, varnish } from './proxies.ts'

interface Cache {
  readonly name: string
  readonly skip: string | false
  readonly start: (origin: string) => Promise<string>
  /** Whether it says how old an answer is (RFC 9111 §5.1 demands it). */
  readonly age: boolean
  /** Whether its own 304 names the tag (RFC 9110 §15.4.5 demands it). */
  readonly tag: boolean
  /** Rows that it answers otherwise: title → reason. */
  readonly otherwise: Readonly<Record<string, string>>
}

const right = { age: true, tag: true, otherwise: {} }
const caches: readonly Cache[] = [
  { ...right, name: 'Varnish', skip: missing('varnish', 'varnishd', ['-V']), start: varnish },
  {
    ...right,
    name: 'nginx',
    skip: missing('nginx', 'nginx', ['-v']),
    start: nginxCache,
    age: false,
    otherwise: {
      'A1.5 A4.3 304: unchanged':
        'with proxy_cache it takes If-None-Match off every GET, and leaves it unanswered where it does not keep the answer',
    },
  },
  {
    ...right,
    name: 'Squid',
    skip: missing('squid', 'squid', ['-v']),
    start: squid,
    tag: false,
    otherwise: {
      'RFC 9110 §14 ranges of a picture':
        'where If-Range fails 5.7 sends 200 and the whole length, but content that begins at the range',
    },
  },
]

const json = { 'content-type': 'application/json' }
/** Of products: see minimal-service.ts. */
const maxAge = 2
const tooOld = () => after(maxAge * 1000 + 1100)
const product = { name: 'Cached', price: '1.00', stock: 1 }
const picture = Buffer.from(`\x89PNG\r\n\x1a\n${'0123456789'.repeat(100)}`, 'latin1')

/** Answers that a cache has no part in: what they are without it they are behind it. */
const unchanged: readonly (readonly [
  title: string,
  who: 'anyone' | 'alice' | 'maria',
  target: string,
  question: Question,
])[] = [
  ['A4.8 HEAD', 'anyone', '/api/products/p-5', { method: 'HEAD' }],
  ['A4.8 HEAD of a collection', 'anyone', '/api/products?sort=-price&size=1', { method: 'HEAD' }],
  ['A4.9 OPTIONS', 'anyone', '/api/products/p-5', { method: 'OPTIONS' }],
  ['A7.5 400 of a parameter', 'anyone', '/api/products?nope=1', {}],
  ['A5.3 401', 'anyone', '/api/orders/o-1', {}],
  ['A5.3 403', 'alice', '/api/products/p-5', { method: 'DELETE' }],
  ['A7.8 404', 'anyone', '/api/products/nowhere', {}],
  ['405 with Allow', 'maria', '/api/products/p-5', { method: 'POST', fields: json, content: '{}' }],
  ['A4.17 406', 'anyone', '/api/products/p-5', { fields: { accept: 'image/webp' } }],
  [
    'A4.20 412',
    'maria',
    '/api/products/p-5',
    { method: 'PUT', fields: { ...json, 'if-match': '"0-0"' }, content: JSON.stringify(product) },
  ],
  [
    'A4.17 415',
    'maria',
    '/api/products/p-5',
    { method: 'PATCH', fields: { 'content-type': 'text/plain' }, content: 'x' },
  ],
  ['A7.17 422', 'maria', '/api/products', { method: 'POST', fields: json, content: '{}' }],
  ['A4.3 304', 'alice', '/api/orders/o-1', { fields: { 'if-none-match': '*' } }],
  ['A2.5 a problem in XML', 'anyone', '/api/products/nowhere', { fields: { accept: 'application/xml' } }],
  ['A1.6 HTML for a browser', 'anyone', '/api/products/p-5', { fields: { accept: 'text/html' } }],
  ['A4.14 QUERY', 'alice', '/api/orders', { method: 'QUERY', fields: json, content: '{"q":"door"}' }],
  ['A4.23 a query', 'anyone', '/api/products?sort=-price&size=2', {}],
]

describe('shared caches', { concurrency: true }, () => {
  for (const cache of caches) battery(cache)
})

function battery(cache: Cache): void {
  describe(`${cache.name} in front`, { skip: cache.skip, concurrency: false }, async () => {
    if (cache.skip) return
    const { url: direct, token } = await behind()
    const { url: tapped, passed } = await hop(direct)
    const front = await cache.start(tapped)
    const bearer = (subject: string, role: string): Fields => ({ authorization: `Bearer ${token(subject, role)}` })
    const people = {
      anyone: {},
      alice: bearer('alice', 'customer'),
      clara: bearer('clara', 'clerk'),
      maria: bearer('maria', 'manager'),
    }
    const as = (who: keyof typeof people, target: string, question: Question = {}, at = front): Promise<Answer> =>
      ask(`${at}${target}`, { ...question, fields: { ...people[who], ...question.fields } })
    /** What reached the service while something was done. */
    const reached = async (work: () => Promise<unknown>): Promise<readonly Passed[]> => {
      const before = passed.length
      await work()
      return passed.slice(before)
    }
    const test = (title: string, work: () => Promise<void>) => {
      const reason = cache.otherwise[title]
      it(title, { ...(reason !== undefined && { skip: reason }) }, work)
    }

    test('A1.3 A4.19 a public GET is fetched once, then served by the cache with its age', async () => {
      const askTwice = async () => {
        await after(1000 - (Date.now() % 1000)) // ages are counted in whole seconds, from a whole second on
        const began = Date.now()
        const first = await as('anyone', '/api/products/p-1')
        await after(1050)
        let second: Answer | undefined
        const asked = await reached(async () => void (second = await as('anyone', '/api/products/p-1')))
        return { first, second, asked, tookMs: Date.now() - began }
      }
      let twice = await askTwice()
      // On a machine that stood still meanwhile the copy is too old to tell anything.
      for (let i = 0; i < 3 && twice.tookMs > 1700; i++) {
        await tooOld()
        twice = await askTwice()
      }
      const { first, second, asked } = twice
      assert.equal(first.status, 200)
      assert.deepEqual(asked, [])
      assert.deepEqual(second?.content, first.content)
      assert.equal(second?.fields['etag'], first.fields['etag'])
      assert.match(first.fields['cache-control'] ?? '', /public, max-age=2/)
      if (cache.age) assert.ok(['1', '2'].includes(second?.fields['age'] ?? ''), `Age: ${second?.fields['age']}`)
    })

    test('A4.3 a fresh copy answers If-None-Match by itself', async () => {
      const { fields } = await as('anyone', '/api/products/p-2')
      const asked = await reached(async () => {
        const again = await as('anyone', '/api/products/p-2', { fields: { 'if-none-match': fields['etag'] ?? '' } })
        assert.equal(again.status, 304)
        assert.equal(again.content.length, 0)
        if (cache.tag) assert.equal(again.fields['etag'], fields['etag'])
      })
      assert.deepEqual(asked, [])
    })

    test('A4.3 A4.19 past max-age the cache revalidates by the tag, receives 304, and serves its copy', async () => {
      const first = await as('anyone', '/api/products/p-3')
      await tooOld()
      const asked = await reached(async () => {
        const again = await as('anyone', '/api/products/p-3')
        assert.equal(again.status, 200)
        assert.deepEqual(again.content, first.content)
        assert.ok(Number(again.fields['age'] ?? 0) <= 1)
      })
      assert.deepEqual(
        asked.map(each => each.status),
        [304],
      )
      assert.ok(asked[0]?.head.includes(`if-none-match: ${first.fields['etag']}`))
      const none = await reached(() => as('anyone', '/api/products/p-3'))
      assert.deepEqual(none, [])
    })

    test('A1.6 A4.19 representations of one resource are kept apart by Vary', async () => {
      const types = ['application/json', 'application/xml', 'text/html', 'text/csv', 'application/hal+json']
      const target = '/api/products'
      const one = async (accept: string) => as('anyone', target, { fields: { accept } })
      const first: Answer[] = []
      for (const type of types) first.push(await one(type))
      for (const [i, type] of types.entries()) {
        const again = await one(type)
        assert.ok(again.fields['content-type']?.startsWith(type), `${type} gave ${again.fields['content-type']}`)
        assert.deepEqual(again.content, first[i]?.content)
        assert.equal(again.fields['etag'], first[i]?.fields['etag'])
      }
      assert.equal(new Set(first.map(each => each.fields['etag'])).size, types.length)
    })

    test('A5.2 a private response is never shared: neither with another caller nor with an anonymous one', async () => {
      for (const target of ['/api/orders/o-1', '/api/orders', '/api/customers/c-1']) {
        const own = await as('alice', target)
        assert.equal(own.status, 200)
        assert.match(own.fields['cache-control'] ?? '', /private/)
        assert.equal((await as('anyone', target)).status, 401)
        const asked = await reached(async () => {
          const clerk = await as('clara', target)
          assert.equal(clerk.status, 200)
          assert.deepEqual(clerk.content, (await as('clara', target, {}, direct)).content)
          assert.equal((await as('alice', target)).status, 200)
        })
        assert.equal(asked.length, 2, 'each was asked of the service')
      }
      const foreign = await as('clara', '/api/orders/o-2')
      assert.equal(foreign.status, 200)
      assert.notEqual((await as('alice', '/api/orders/o-2')).status, 200)
    })

    test('A1.3 a manager’s view of a public product is not shown to others', async () => {
      const target = '/api/products/p-4'
      const question = { fields: { accept: 'application/prs.hal-forms+json' } }
      const manager = await as('maria', target, question)
      const anybody = await as('anyone', target, question)
      assert.match(manager.fields['cache-control'] ?? '', /private/)
      assert.deepEqual(anybody.content, (await as('anyone', target, question, direct)).content)
      assert.deepEqual((await as('maria', target, question)).content, manager.content)
      assert.notDeepEqual(manager.content, anybody.content)
    })

    test('A4.4 A4.5 A4.6 A4.20 a change with the cached tag is made; past max-age it is seen', async () => {
      const content = JSON.stringify(product)
      const extra = '/api/products/p-extra'
      assert.equal((await as('maria', extra, { method: 'PUT', fields: json, content })).status, 201)
      const change = async (target: string, method: string, fields: Fields, content?: string) => {
        const { etag = '' } = (await as('anyone', target)).fields
        const question = { method, fields: { ...fields, 'if-match': etag }, ...(content && { content }) }
        const { status } = await as('maria', target, question)
        const stale = await as('maria', target, question)
        assert.ok(stale.status === 412 || stale.status === 404 || stale.status === 410, `${method}: ${stale.status}`)
        return status
      }
      assert.equal(await change('/api/products/p-6', 'PUT', json, content), 200)
      const patch = { 'content-type': 'application/merge-patch+json' }
      assert.equal(await change('/api/products/p-7', 'PATCH', patch, '{"name":"Patched"}'), 200)
      assert.equal(await change(extra, 'DELETE', {}), 204)
      await tooOld()
      for (const target of ['/api/products/p-6', '/api/products/p-7', extra]) {
        const [now, without] = [await as('anyone', target), await as('anyone', target, {}, direct)]
        assert.equal(now.status, without.status)
        assert.deepEqual(lasting(now.fields), lasting(without.fields))
        assert.deepEqual(now.content, without.content)
      }
      assert.match(String((await as('anyone', '/api/products/p-6')).content), /Cached/)
      assert.ok([404, 410].includes((await as('anyone', extra)).status))
    })

    test('A1.8 neither POST nor the request that follows it is answered from a cache', async () => {
      const create = { method: 'POST', fields: json, content: JSON.stringify(product) }
      const one = await as('maria', '/api/products', create)
      const two = await as('maria', '/api/products', create)
      assert.deepEqual([one.status, two.status], [201, 201])
      assert.notEqual(one.fields['location'], two.fields['location'])
      assert.equal((await as('anyone', one.fields['location'] ?? '')).status, 200)
    })

    test('A1.10 a problem is not cached: a missing item is found as soon as it exists', async () => {
      const target = '/api/products/p-later'
      for (let i = 0; i < 2; i++) assert.equal((await as('anyone', target)).status, 404)
      assert.equal(
        (await as('maria', target, { method: 'PUT', fields: json, content: JSON.stringify(product) })).status,
        201,
      )
      assert.equal((await as('anyone', target)).status, 200)
      assert.equal((await as('anyone', '/api/products', { fields: { accept: 'image/webp' } })).status, 406)
      assert.equal((await as('anyone', '/api/products')).status, 200)
    })

    test('RFC 9110 §14 ranges of a picture', async () => {
      const target = '/api/products/p-8/picture'
      const put = { method: 'PUT', fields: { 'content-type': 'image/png' }, content: picture }
      assert.equal((await as('maria', target, put)).status, 201)
      const get = (fields: Fields = {}) => as('anyone', target, { fields })
      const whole = await get()
      assert.deepEqual(whole.content, picture)
      const tag = whole.fields['etag'] ?? ''
      for (let i = 0; i < 2; i++) {
        const part = await get({ range: 'bytes=8-17' })
        assert.deepEqual(
          [part.status, part.content.toString(), part.fields['content-range']],
          [206, '0123456789', 'bytes 8-17/1008'],
        )
        assert.equal((await get({ range: 'bytes=8-17', 'if-range': tag })).status, 206)
        const other = await get({ range: 'bytes=8-17', 'if-range': '"0-0"' })
        assert.deepEqual([other.status, other.content], [200, picture])
        assert.equal((await get({ range: 'bytes=5000-' })).status, 416)
        assert.equal((await get({ range: 'bytes=-8' })).content.toString(), '23456789')
      }
      assert.equal((await as('anyone', target, { method: 'HEAD' })).fields['content-length'], '1008')
    })

    test('A2.2 A4.21 links and Location lead through the cache', async () => {
      const made = await as('maria', '/api/products', {
        method: 'POST',
        fields: json,
        content: JSON.stringify(product),
      })
      const location = new URL(made.fields['location'] ?? '', front)
      assert.equal(location.origin, front)
      const { _links } = JSON.parse((await as('anyone', location.pathname)).content.toString())
      assert.equal(new URL(_links.self.href, front).href, location.href)
      const page = await as('anyone', '/api/products?size=5')
      const next = new URL(JSON.parse(page.content.toString())._links.next.href, front)
      assert.equal(next.origin, front)
      assert.equal((await as('anyone', next.pathname + next.search)).status, 200)
    })

    for (const [title, who, target, question] of unchanged) {
      test(`A1.5 ${title}: unchanged`, async () => {
        const told = { ...question, fields: { ...question.fields, 'x-forwarded-for': '127.0.0.1' } }
        const without = await as(who, target, told, direct)
        for (let i = 0; i < 2; i++) {
          const with_ = await as(who, target, question)
          assert.equal(with_.status, without.status)
          assert.deepEqual(lasting(with_.fields), lasting(without.fields))
          assert.equal(with_.content.toString(), without.content.toString())
        }
      })
    }
  })
}

describe('a cache before a service that codes content itself', {
  skip: caches[1]?.skip || caches[0]?.skip,
}, async () => {
  if (caches[0]?.skip || caches[1]?.skip) return
  const { url: direct } = await behind([])
  const kinds = ['', 'identity', 'gzip', 'br', 'zstd', 'br;q=0, gzip', 'identity;q=0, zstd']

  it('A4.18 A4.19 nginx keeps codings apart, each with its own tag', async () => {
    const front = await nginxCache(direct)
    const tags = new Map<string, string>()
    for (let i = 0; i < 2; i++)
      for (const kind of kinds) {
        const question = { fields: { 'accept-encoding': kind } }
        const { fields, content } = await ask(`${front}/api/products`, question)
        const without = await ask(`${direct}/api/products`, question)
        assert.equal(fields['content-encoding'], without.fields['content-encoding'], kind)
        assert.deepEqual(content, without.content, kind)
        tags.set(fields['content-encoding'] ?? 'identity', fields['etag'] ?? '')
      }
    assert.deepEqual([...tags.keys()].sort(), ['br', 'gzip', 'identity', 'zstd'])
    assert.equal(new Set(tags.values()).size, 4)
  })

  it('A4.18 Varnish requests only gzip; a client without it gets the same content with a weaker tag', async () => {
    const front = await varnish(direct)
    const { fields, content } = await ask(`${front}/api/products`, { fields: { 'accept-encoding': 'gzip, br' } })
    const plain = await ask(`${front}/api/products`)
    assert.equal(fields['content-encoding'], 'gzip')
    assert.equal(plain.fields['content-encoding'], undefined)
    assert.equal(plain.fields['etag'], `W/${fields['etag']}`)
    assert.notEqual(content.length, plain.content.length)
  })
})

describe('nginx that compresses by itself', { skip: caches[1]?.skip }, () => {
  it('A4.18 A4.20 its tags are weak: good for If-None-Match, and not for If-Match', async () => {
    const { url, token } = await behind()
    const gzip = 'gzip on; gzip_proxied any; gzip_types *; gzip_vary on;'
    const [front = ''] = await nginx([{ block: `${gzip} location / { ${passes(url)} }` }])
    const { fields } = await ask(`${front}/api/products`, { fields: { 'accept-encoding': 'gzip' } })
    const tag = fields['etag'] ?? ''
    assert.equal(fields['content-encoding'], 'gzip')
    assert.match(tag, /^W\//)
    const again = await ask(`${front}/api/products`, { fields: { 'accept-encoding': 'gzip', 'if-none-match': tag } })
    assert.equal(again.status, 304)
    const item = await ask(`${front}/api/products/p-1`)
    const authorization = `Bearer ${token('maria', 'manager')}`
    const put = (match: string) =>
      ask(`${front}/api/products/p-1`, {
        method: 'PUT',
        fields: { ...json, authorization, 'if-match': match },
        content: JSON.stringify(product),
      })
    assert.equal((await put(`W/${item.fields['etag']}`)).status, 412)
    assert.equal((await put(item.fields['etag'] ?? '')).status, 200)
  })
})

function behind(flags: readonly string[] = ['--trust-proxy', '--insecure']): Promise<Running> {
  return service(flags, undefined, join(root, 'test', 'peers', 'minimal-service.ts'))
}
