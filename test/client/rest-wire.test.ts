/** What the REST client does about its wire: repetitions, time limits, credentials, origins, content that is no reply. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import {
  AnswerError,
  ConnectionError,
  createRestClient,
  FaultError,
  InputError,
  NotFound,
  ProblemError,
  type RestClientOptions,
} from '../../src/client/index.ts'
import { anyone, resource, service, t } from '../../src/index.ts'
import { entry, orderWith } from './shop-documents.ts'

const address = 'http://shop.test/api'
const origin = 'http://shop.test'

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly text: string
}
type Reply = (asked: Asked) => Response | Promise<Response>

const hal = (content: object, headers: Record<string, string> = {}, status = 200): Response =>
  new Response(JSON.stringify(content), { status, headers: { 'content-type': 'application/hal+json', ...headers } })
const problem = (status: number, kind: string, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify({ type: `/problems/${kind}`, title: kind, status, detail: `why ${kind}` }), {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
  })

const order = orderWith({ cancel: { href: '/a/o-1/x' } })
const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' } as const

/** A client of a service whose entry is as above, and that answers all else by these, the last one again and again. */
function client(replies: readonly Reply[], options: Partial<RestClientOptions> = {}) {
  const asked: Asked[] = []
  const left = [...replies]
  const answer: typeof fetch = async (input, init = {}) => {
    const one = {
      method: init.method ?? 'GET',
      url: String(input),
      headers: new Headers(init.headers),
      text: typeof init.body === 'string' ? init.body : '',
    }
    if (one.url === address) return hal(entry)
    asked.push(one)
    const reply = left.length > 1 ? left.shift() : left[0]
    return Promise.race([Promise.resolve(one).then(reply), aborted(init.signal)])
  }
  return { api: createRestClient(shop, { address, fetch: answer, ...(options as {}) }), asked }
}

const aborted = (signal: AbortSignal | null | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))))

async function failure<E>(call: Promise<unknown>, type: abstract new (...given: never[]) => E): Promise<E> {
  const thrown = await call.then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof type, String(thrown?.stack ?? thrown))
  return thrown
}

const lost = (): never => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('reset'), { code: 'ECONNRESET' }) })
}
const refused = (): never => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) })
}
const refusedByBun = (): never => {
  throw Object.assign(new TypeError('ECONNREFUSED: Unable to connect.'), { code: 'ECONNREFUSED' })
}
const credentials = { bearer: 'token' }

describe('a request is sent again if a second one has no further effect', () => {
  test('RFC 9110 §10.2.3: after as long as Retry-After says', async () => {
    const { api, asked } = client([() => problem(503, 'unavailable', { 'retry-after': '1' }), () => hal(order)])
    const before = performance.now()
    assert.equal((await api.orders.get('o-1')).id, 'o-1')
    assert.ok(performance.now() - before >= 990)
    assert.equal(asked.length, 2)
  })
  test('RFC 9110 §10.2.3: Retry-After as a date', async () => {
    const soon = new Date(Date.now() + 1500).toUTCString()
    const { api, asked } = client([() => problem(429, 'too-many', { 'retry-after': soon }), () => hal(order)])
    await api.orders.get('o-1')
    assert.equal(asked.length, 2)
  })
  test('a wait beyond the time limit is not begun', async () => {
    const { api, asked } = client([() => problem(429, 'too-many', { 'retry-after': '60' })], { timeLimit: 20_000 })
    const before = performance.now()
    const busy = await failure(api.orders.get('o-1'), FaultError)
    assert.deepEqual([busy.fault, busy.detail, asked.length], ['Busy', { retryAfter: 60 }, 1])
    assert.ok(performance.now() - before < 10_000)
  })
  test('a lost connection of a read', async () => {
    const { api, asked } = client([lost, lost, () => hal(order)])
    await api.orders.get('o-1')
    assert.equal(asked.length, 3)
  })
  test('a change carries one Idempotency-Key over all its tries, and each call another', async () => {
    const { api, asked } = client([lost, () => hal(order, {}, 201)], { credentials })
    await api.orders.create(draft)
    await api.orders.create(draft)
    const keys = asked.map(each => each.headers.get('idempotency-key'))
    assert.match(keys[0] ?? '', /^"[0-9]+(-[0-9]+){3}"$/)
    assert.equal(keys[0], keys[1])
    assert.notEqual(keys[1], keys[2])
  })
  test('without credentials a change has no key, and is not sent again once it may have run', async () => {
    const { api, asked } = client([lost])
    const thrown = await failure(api.orders.create(draft), ConnectionError)
    assert.deepEqual([thrown.why, thrown.mayHaveRun, asked.length], ['lost', true, 1])
    assert.equal(asked[0]?.headers.has('idempotency-key'), false)
  })
  for (const [host, refuse] of [['Node', refused] as const, ['Bun', refusedByBun] as const])
    test(`without a connection nothing was sent: any request is tried again (${host})`, async () => {
      const { api, asked } = client([refuse, () => hal(order, {}, 201)])
      await api.orders.create(draft)
      assert.equal(asked.length, 2)
    })
  test('a stream is sent once', async () => {
    const product = { id: 'p-1', name: 'Tea', price: '1.00', stock: 1, _links: { picture: { href: '/p/1/picture' } } }
    const { api, asked } = client([() => hal(product), lost], { credentials })
    const read = await api.products.get('p-1')
    const stream = new Blob([new Uint8Array(9)]).stream()
    await failure(api.products.picture.put(read, stream, { mediaType: 'image/png' }), ConnectionError)
    assert.equal(asked.length, 2)
  })
  test('no more often than allowed, and never after a final refusal', async () => {
    const { api, asked } = client([() => problem(503, 'unavailable', { 'retry-after': '0' })], { retries: 3 })
    await failure(api.orders.get('o-1'), FaultError)
    assert.equal(asked.length, 4)
    const other = client([() => problem(404, 'not-found')])
    assert.ok((await failure(other.api.orders.get('o-1'), FaultError)).is(NotFound))
    assert.equal(other.asked.length, 1)
  })
})

describe('a call ends', () => {
  const never = () => new Promise<Response>(() => {})
  test('within its time limit', async () => {
    const { api } = client([never], { timeLimit: 60 })
    const late = await failure(api.orders.get('o-1'), ConnectionError)
    assert.deepEqual([late.why, late.operation], ['late', 'orders.get'])
  })
  test('with the reason of its signal', async () => {
    const { api } = client([never], { retries: 0 })
    const reason = new Error('the page was left')
    const control = new AbortController()
    setTimeout(() => control.abort(reason), 20)
    await assert.rejects(api.orders.get('o-1', { signal: control.signal }), reason)
  })
  test('with the reason of its signal, while it waits to try again', async () => {
    const { api } = client([() => problem(503, 'unavailable', { 'retry-after': '5' })])
    await assert.rejects(api.orders.get('o-1', { signal: AbortSignal.timeout(30) }), { name: 'TimeoutError' })
  })
  test('when the client is closed', async () => {
    const { api } = client([never])
    setTimeout(() => api.close(), 20)
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'closed')
  })
})

describe('credentials', () => {
  const cases: readonly (readonly [string, RestClientOptions['credentials'], string, string])[] = [
    ['RFC 6750: a token', { bearer: 'abc' }, 'authorization', 'Bearer abc'],
    ['RFC 6750: a token by a function', { bearer: async () => 'def' }, 'authorization', 'Bearer def'],
    ['RFC 7617: user and password', { user: 'alice', password: 'ä' }, 'authorization', 'Basic YWxpY2U6w6Q='],
    ['a key in a field of its own', { key: 'k', field: 'x-key' }, 'x-key', 'k'],
  ]
  for (const [title, given, field, value] of cases)
    test(title, async () => {
      const { api, asked } = client([() => hal(order)], given ? { credentials: given } : {})
      await api.orders.get('o-1')
      assert.equal(asked[0]?.headers.get(field), value)
    })
  test('a function is called for each try', async () => {
    let count = 0
    const { api, asked } = client([lost, () => hal(order)], { credentials: { bearer: () => `t${++count}` } })
    await api.orders.get('o-1')
    const [first, second] = asked.map(each => each.headers.get('authorization'))
    assert.notEqual(first, second)
  })
  test('links and redirections to another origin are not followed: credentials stay here', async () => {
    const away = { ...order, _links: { ...order._links, cancel: { href: 'http://evil.test/x' } } }
    const { api, asked } = client([() => hal(away, { etag: '"1-a"' })], { credentials })
    const read = await api.orders.get('o-1')
    assert.ok(read.state === 'placed')
    assert.equal((await failure(api.orders.cancel(read), AnswerError)).why, 'redirect')
    const moved = client([() => new Response(null, { status: 301, headers: { location: 'http://evil.test/a' } })], {
      credentials,
    })
    assert.equal((await failure(moved.api.orders.get('o-1'), AnswerError)).why, 'redirect')
    assert.ok([...asked, ...moved.asked].every(each => each.url.startsWith(origin)))
  })
})

describe('redirections of the same origin', () => {
  const to = (status: number, location: string) => () => new Response(null, { status, headers: { location } })
  test('RFC 9110 §15.4.2: a read follows, and its links are relative to where it ends', async () => {
    const { api, asked } = client([
      to(301, '/b/o-1'),
      () => hal({ ...order, _links: { ...order._links, self: { href: 'o-9' } } }),
    ])
    await api.orders.get(await api.orders.get('o-1'))
    assert.deepEqual(
      asked.map(each => each.url),
      [`${origin}/a/o-1`, `${origin}/b/o-1`, `${origin}/b/o-9`],
    )
  })
  test('RFC 9110 §15.4.9: a change follows 308 with its content, and does not follow 301', async () => {
    const { api, asked } = client([to(308, '/b'), () => hal(order, {}, 201)])
    await api.orders.create(draft)
    assert.deepEqual([asked[1]?.method, asked[1]?.text === asked[0]?.text], ['POST', true])
    const other = client([to(301, '/b')])
    assert.equal((await failure(other.api.orders.create(draft), AnswerError)).why, 'redirect')
    assert.equal(other.asked.length, 1)
  })
  test('in a browser, which hides where they lead, a read is left to it; a key or a change is not', async () => {
    const hidden = () => Object.defineProperty(new Response(null), 'type', { value: 'opaqueredirect' })
    const { api, asked } = client([hidden, () => hal(order)])
    await api.orders.get('o-1')
    assert.equal(asked.length, 2)
    const changing = client([hidden])
    assert.equal((await failure(changing.api.orders.create(draft), AnswerError)).why, 'redirect')
    const withKey = client([hidden], { credentials: { key: 'k' } })
    assert.equal((await failure(withKey.api.orders.get('o-1'), AnswerError)).why, 'redirect')
  })
  test('a circle ends', async () => {
    const { api, asked } = client([to(302, '/b')])
    assert.equal((await failure(api.orders.get('o-1'), AnswerError)).why, 'redirect')
    assert.equal(asked.length, 6)
  })
})

test('RFC 3986 §5.2.4: an identifier does not lead to another address', async () => {
  const { api, asked } = client([() => hal(order)])
  for (const id of ['..', '.', 'a/b', '', 'a?b']) await failure(api.orders.get(id), InputError)
  assert.equal(asked.length, 0)
})

test('an entry that could not be read is requested again by the next call', async () => {
  let count = 0
  const late: typeof fetch = async input => {
    if (String(input) !== address) return hal(order)
    return count++ === 0 ? problem(500, 'failed') : hal(entry)
  }
  const api = createRestClient(shop, { address, fetch: late })
  assert.equal((await failure(api.orders.get('o-1'), ProblemError)).status, 500)
  assert.equal((await api.orders.get('o-1')).id, 'o-1')
  await api.orders.get('o-2')
  assert.equal(count, 2)
})

test('the first call may end by its signal while others wait for the same entry', async () => {
  const control = new AbortController()
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow: typeof fetch = async input => {
    if (String(input) !== address) return hal(order)
    await promise
    return hal(entry)
  }
  const api = createRestClient(shop, { address, fetch: slow })
  const first = api.orders.get('o-1', { signal: control.signal })
  const second = api.orders.get('o-1')
  control.abort(new Error('the page was left'))
  await assert.rejects(first, /the page was left/)
  resolve()
  assert.equal((await second).id, 'o-1')
})

describe('content that is no reply', () => {
  const cases: readonly (readonly [string, () => Response, string])[] = [
    ['HTML in place of JSON', () => new Response('<p>', { headers: { 'content-type': 'text/html' } }), 'media-type'],
    ['cut short', () => new Response('{"id":', { headers: { 'content-type': 'application/json' } }), 'malformed'],
    ['an array', () => hal([]), 'structure'],
    ['a member of another type', () => hal({ ...order, total: 4.95 }), 'invalid'],
    ['a state that the contract does not have', () => hal({ ...order, state: 'lost' }), 'invalid'],
    ['a required member is missing', () => hal({ ...order, total: undefined }), 'invalid'],
    [
      'an error of a proxy',
      () => new Response('<h1>Bad gateway', { status: 400, headers: { 'content-type': 'text/html' } }),
      'status',
    ],
  ]
  for (const [title, reply, why] of cases)
    test(title, async () => {
      const { api } = client([reply])
      const thrown = await failure(api.orders.get('o-1'), AnswerError)
      assert.equal(thrown.why, why)
      assert.ok(thrown.content instanceof Uint8Array)
    })
  test('a member that the contract does not know is ignored: the service may be newer', async () => {
    const { api } = client([() => hal({ ...order, colour: 'red' })])
    const read = await api.orders.get('o-1')
    assert.equal('colour' in read, false)
    assert.equal(read.total, '4.95')
  })
  test('RFC 9457 §3.1, §3.2: a problem with its instance and its own members', async () => {
    const members = { type: 'about:blank', title: 'Teapot', status: 418, instance: '/i/7', spout: 'short' }
    const { api } = client([
      () =>
        new Response(JSON.stringify(members), { status: 418, headers: { 'content-type': 'application/problem+json' } }),
    ])
    const thrown = await failure(api.orders.get('o-1'), ProblemError)
    assert.deepEqual([thrown.status, thrown.title, thrown.detail, thrown.instance], [418, 'Teapot', undefined, '/i/7'])
    assert.equal(thrown.members['spout'], 'short')
  })
  test('an address that is not the entry of this service', async () => {
    const other: typeof fetch = async () => hal({ service: 'library', version: 'v1', _links: {} })
    const api = createRestClient(shop, { address, fetch: other })
    assert.equal((await failure(api.orders.get('o-1'), AnswerError)).why, 'unexpected')
  })
})

describe('options', () => {
  const cases: readonly (readonly [string, object, RegExp])[] = [
    ['no address', { address: 'shop' }, /give one such as https/],
    ['a file', { address: 'file:///etc' }, /give one such as https/],
    ['credentials in the address', { address: 'http://a:b@shop.test/' }, /give them as `credentials`/],
    ['an unknown version', { address, version: 'v9' }, /unknown version v9 of orders: use v1, v2/],
    ['a user with a colon', { address, credentials: { user: 'a:b', password: '' } }, /colon/],
  ]
  for (const [title, options, message] of cases)
    test(title, () => {
      assert.throws(() => createRestClient(shop, options as RestClientOptions<never>), message)
    })
})

test('values: whole numbers, decimals and octets are exact in both directions', async () => {
  const things = resource('things', {
    fields: {
      id: t.id('x'),
      count: t.long(),
      seal: t.bytes(),
      mark: t.bytes({ encoding: 'hex' }),
      ratio: t.double(),
      price: t.decimal(9, 2),
      inner: t.list(t.object({ deep: t.long() })),
      way: t.union('by', { land: { wheels: t.int() }, sea: { depth: t.long() } }),
    },
  }).rules({ allow: { read: [anyone], create: [anyone] } })
  const shelf = service('shelf', { namespace: 'urn:shelf', resources: [things] })
  const text =
    '{"id":"x-1","count":9007199254740993,"seal":"AQI=","mark":"0AFF","ratio":"INF","price":"0.10","inner":[{"deep":-9223372036854775808}],"way":{"by":"sea","depth":1100000000000000000},"_links":{}}'
  let sent = ''
  const answer: typeof fetch = async (input, init) => {
    if (String(input) === address) return hal({ service: 'shelf', version: 'v1', _links: { things: { href: '/t' } } })
    sent = String(init?.body)
    return new Response(text, {
      status: 201,
      headers: { 'content-type': 'application/json' },
    })
  }
  const api = createRestClient(shelf, { address, fetch: answer })
  const { id: _, ...value } = await api.things.create({
    count: 9007199254740993n,
    seal: Uint8Array.of(1, 2),
    mark: Uint8Array.of(10, 255),
    ratio: Number.POSITIVE_INFINITY,
    price: '0.10',
    inner: [{ deep: -9223372036854775808n }],
    way: { by: 'sea', depth: 1100000000000000000n },
  })
  assert.deepEqual(value, {
    count: 9007199254740993n,
    seal: Uint8Array.of(1, 2),
    mark: Uint8Array.of(10, 255),
    ratio: Number.POSITIVE_INFINITY,
    price: '0.10',
    inner: [{ deep: -9223372036854775808n }],
    way: { by: 'sea', depth: 1100000000000000000n },
  })
  assert.equal(
    sent,
    '{"count":9007199254740993,"seal":"AQI=","mark":"0AFF","ratio":"INF","price":"0.10","inner":[{"deep":-9223372036854775808}],"way":{"by":"sea","depth":1100000000000000000}}',
  )
})
