/** The REST client before servers that send what HTTP allows, what it does not, and what no service of ours would. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { shop } from '../../examples/orders/contract.ts'
import {
  AnswerError,
  CallError,
  ConnectionError,
  createRestClient,
  FaultError,
  ProblemError,
  type RestClientOptions,
} from '../../src/client/index.ts'
import { waitFor } from '../../src/client/timer.ts'
import { type Asked, startScriptedServer } from './scripted.ts'
import { entry, orderWith } from './shop-documents.ts'

const order = orderWith({ delete: { href: '/a/o-1' } })
const product = { id: 'p-1', name: 'Tea', price: '1.00', stock: 1, _links: { picture: { href: '/p/1/picture' } } }

type Raw = string | ((asked: Asked) => string | undefined)
const message = (head: string, content: string): string =>
  `HTTP/1.1 ${head}\r\ncontent-length: ${Buffer.byteLength(content)}\r\n\r\n${Buffer.from(content).toString('latin1')}`
const json = (content: object, fields = '', status = '200 OK'): string =>
  message(`${status}\r\ncontent-type: application/hal+json${fields && `\r\n${fields}`}`, JSON.stringify(content))

/** A client of a server whose entry is as above, and that answers all else by these, the last one again and again. */
async function serve(answers: readonly Raw[], options: Partial<RestClientOptions> = {}) {
  const left = [...answers]
  const server = await startScriptedServer(asked => {
    if (/ \/api /.test(asked.line)) return json(entry)
    const answer = left.length > 1 ? left.shift() : left[0]
    return typeof answer === 'function' ? answer(asked) : answer
  })
  const waits: number[] = []
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  const address = `http://127.0.0.1:${server.port}/api`
  const api = createRestClient(shop, { address, wait, timeLimit: 5000, ...(options as {}) })
  return { api, waits, lines: () => server.asked.map(each => each.line).filter(each => !/ \/api /.test(each)), server }
}

async function failure<E>(call: Promise<unknown>, type: abstract new (...given: never[]) => E): Promise<E> {
  const thrown = await call.then(
    given => assert.fail(`it was answered: ${JSON.stringify(given)}`),
    why => why,
  )
  assert.ok(thrown instanceof type, String(thrown?.stack ?? thrown))
  return thrown
}
const endAfter =
  (octets: string): Raw =>
  ({ socket }) => {
    socket.end(octets, 'latin1')
    return undefined
  }

describe('content that is cut short', () => {
  test('RFC 9112 §8: less than Content-Length is a lost connection, and a read is sent again', async () => {
    const { api, lines } = await serve([endAfter(json(order).slice(0, -20)), json(order)])
    assert.equal((await api.orders.get('o-1')).id, 'o-1')
    assert.equal(lines().length, 2)
  })
  test('RFC 9112 §8: so are chunks without their end', async () => {
    const chunks = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
    const { api } = await serve([endAfter(`${chunks}5\r\n{"id"\r\n`)], { retries: 0 })
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'lost')
  })
  test('RFC 9111 §3.3: content that is not JSON is not asked for again by its tag', async () => {
    const cut = JSON.stringify(order).slice(0, 60)
    const { api, server } = await serve([
      endAfter(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\netag: "1"\r\n\r\n${cut}`),
      ({ fields }) => (fields['if-none-match'] ? 'HTTP/1.1 304 Not Modified\r\netag: "1"\r\n\r\n' : json(order)),
    ])
    assert.equal((await failure(api.orders.get('o-1'), AnswerError)).why, 'malformed')
    assert.equal((await api.orders.get('o-1')).id, 'o-1')
    assert.equal(server.asked.at(-1)?.fields['if-none-match'], undefined)
  })
  test('of a file: its octets end with an error', async () => {
    const { api } = await serve([
      json(product),
      endAfter('HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 9\r\n\r\nabc'),
    ])
    const read = await api.products.get('p-1')
    const file = await api.products.picture.get(read)
    assert.equal(file.length, 9)
    await assert.rejects(file.bytes())
  })
})

describe('content longer than the limit ends the call', () => {
  const long = JSON.stringify({ ...order, unknown: 'x'.repeat(5000) })
  const limit = { longest: 4000, retries: 2 } as const
  const typed = '200 OK\r\ncontent-type: application/json'
  const endless: Raw = ({ socket }) => {
    socket.write(`HTTP/1.1 ${typed}\r\ntransfer-encoding: chunked\r\n\r\n`)
    const more = () =>
      void (socket.destroyed || socket.write(`3e8\r\n${'x'.repeat(1000)}\r\n`, () => setImmediate(more)))
    more()
    return undefined
  }
  const zipped = gzipSync(long).toString('latin1')
  const cases: readonly (readonly [string, Raw])[] = [
    ['with a length', message(typed, long)],
    ['without an end', endless],
    [
      'once it is decoded',
      `HTTP/1.1 ${typed}\r\ncontent-encoding: gzip\r\ncontent-length: ${zipped.length}\r\n\r\n${zipped}`,
    ],
    ['of a refusal', message('400 Bad Request\r\ncontent-type: application/problem+json', long)],
  ]
  for (const [title, raw] of cases)
    test(title, async () => {
      const { api, lines } = await serve([raw], limit)
      const thrown = await failure(api.orders.get('o-1'), ConnectionError)
      assert.deepEqual(
        [thrown.why, thrown.message, thrown.mayHaveRun, lines().length],
        ['too-long', 'orders.get: the content is longer than 4000 octets', true, 1],
      )
    })
  test('and as much as the limit does not', async () => {
    const { api } = await serve([message(typed, long)], { longest: Buffer.byteLength(long) })
    assert.equal((await api.orders.get('o-1')).id, 'o-1')
  })
  test('by default 16 MiB', async () => {
    const { api } = await serve([message(typed, `{"a":"${'x'.repeat(16 * 1024 * 1024)}"}`)])
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'too-long')
  })
  test('a file is as long as it is', async () => {
    const { api } = await serve([json(product), message('200 OK\r\ncontent-type: image/png', long)], limit)
    const file = await api.products.picture.get(await api.products.get('p-1'))
    assert.equal((await file.bytes()).length, long.length)
  })
})

test('RFC 8259 §8.1: content that is not UTF-8 is refused, and no letter is replaced', async () => {
  const latin = `{"id":"o-1","note":"caf\u00e9"}`
  const typed = 'HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=iso-8859-1'
  const { api } = await serve([`${typed}\r\ncontent-length: ${latin.length}\r\n\r\n${latin}`])
  const thrown = await failure(api.orders.get('o-1'), AnswerError)
  assert.deepEqual([thrown.why, thrown.detail], ['malformed', 'the content is not UTF-8'])
})

test('UTF-8 is read across the pieces in which it comes', async () => {
  const octets = Buffer.from(json({ ...order, note: 'é€𝄞' }), 'latin1')
  const { api } = await serve([
    ({ socket }) => {
      const write = (at: number) => {
        if (at >= octets.length) return
        socket.write(octets.subarray(at, at + 1), () => setImmediate(write, at + 1))
      }
      socket.setNoDelay(true)
      write(0)
      return undefined
    },
  ])
  assert.equal((await api.orders.get('o-1')).note, 'é€𝄞')
})

describe('a status that is no answer to what was asked', () => {
  const unchanged = 'HTTP/1.1 304 Not Modified\r\netag: "1"\r\n\r\n'
  test('RFC 9110 §15.4.5: 304 without a condition', async () => {
    const { api } = await serve([unchanged])
    const thrown = await failure(api.orders.get('o-1'), AnswerError)
    assert.deepEqual([thrown.why, thrown.status], ['status', 304])
  })
  test('RFC 9110 §15.4.5: 304 to a removal is not a removal', async () => {
    const { api } = await serve([json(order, 'etag: "1"'), unchanged])
    const read = await api.orders.get('o-1')
    assert.ok(read.state === 'placed')
    assert.equal((await failure(api.orders.remove(read as never), AnswerError)).status, 304)
  })
  test('RFC 9110 §15.4.5: 304 is not a file of no octets', async () => {
    const { api } = await serve([json(product), unchanged])
    const read = await api.products.get('p-1')
    assert.equal((await failure(api.products.picture.get(read), AnswerError)).status, 304)
  })
  test('RFC 9110 §15.3.7: a part is not the whole file', async () => {
    const part = message('206 Partial Content\r\ncontent-type: image/png\r\ncontent-range: bytes 0-2/9', 'abc')
    const { api } = await serve([json(product), part])
    const read = await api.products.get('p-1')
    assert.equal((await failure(api.products.picture.get(read), AnswerError)).status, 206)
  })
  test('RFC 9111 §4.3.3: 304 to the tag of what is kept gives that again', async () => {
    const { api, server } = await serve([json(order, 'etag: "1"'), unchanged])
    await api.orders.get('o-1')
    assert.equal((await api.orders.get('o-1')).total, '4.95')
    assert.equal(server.asked.at(-1)?.fields['if-none-match'], '"1"')
  })
  test('RFC 9111 §5.2: No-Store, in whatever case, is not kept', async () => {
    const { api, server } = await serve([json(order, 'etag: "1"\r\ncache-control: No-Store')])
    await api.orders.get('o-1')
    await api.orders.get('o-1')
    assert.equal(server.asked.at(-1)?.fields['if-none-match'], undefined)
  })
})

describe('RFC 9457 §3.1: members of another type than they should have', () => {
  const odd = { toString: 1 }
  const cases: readonly (readonly [string, object])[] = [
    ['a type that is no text', { type: odd, title: odd, detail: odd, instance: odd, status: 'x' }],
    ['a fault whose texts are none', { type: '/problems/forbidden', title: odd, detail: odd }],
    [
      'errors that are none',
      { type: '/problems/invalid', title: 'x', errors: [odd, null, { pointer: odd, detail: 'd' }] },
    ],
    ['type of null', { type: null, detail: null }],
  ]
  for (const [title, members] of cases)
    test(title, async () => {
      const raw = message(
        '422 Unprocessable Content\r\ncontent-type: application/problem+json',
        JSON.stringify(members),
      )
      const { api, lines } = await serve([raw])
      const thrown = await failure(api.orders.get('o-1'), CallError)
      assert.ok(thrown instanceof FaultError || thrown instanceof ProblemError, String(thrown))
      assert.equal(thrown.status, 422)
      assert.doesNotMatch(thrown.message, /object Object|undefined|null/)
      assert.equal(lines().length, 1)
    })
})

describe('lists', () => {
  const page = (next: object | null | undefined, items: readonly unknown[] = [order]): string =>
    json({ items, _links: { ...(next !== undefined && { next }) } })
  test('a page that leads to itself ends with an error', async () => {
    const { api, lines } = await serve([page({ href: '/a?cursor=1' })])
    const thrown = await failure(Array.fromAsync(api.orders.list()), AnswerError)
    assert.deepEqual([thrown.why, lines().length], ['structure', 2])
  })
  test('so do pages in a circle', async () => {
    const { api, lines } = await serve([
      ({ line }) => page({ href: `/a?cursor=${(Number(/\d/.exec(line)?.[0] ?? 0) + 1) % 4}` }),
    ])
    await failure(Array.fromAsync(api.orders.list()), AnswerError)
    assert.equal(lines().length, 5)
  })
  test('each iteration begins anew', async () => {
    const { api } = await serve([({ line }) => page(/cursor/.test(line) ? undefined : { href: '/a?cursor=1' })])
    const orders = api.orders.list()
    for (const _ of [1, 2]) assert.equal((await Array.fromAsync(orders)).length, 2)
  })
  const broken: readonly (readonly [string, string])[] = [
    ['a link to the next page without an address', page({ title: 'more' })],
    ['one whose address is none', page({ href: 'http://[' })],
    ['an item that is no object', page(undefined, [order, null])],
    ['an item that is a text', page(undefined, ['o-1'])],
  ]
  for (const [title, raw] of broken)
    test(`nothing is left out without a word: ${title}`, async () => {
      const { api } = await serve([raw])
      assert.equal((await failure(Array.fromAsync(api.orders.list()), AnswerError)).why, 'structure')
    })
  test('a next page at another origin is not asked', async () => {
    const { api, lines } = await serve([page({ href: 'http://127.0.0.1:1/a' })], { credentials: { bearer: 't' } })
    assert.equal((await failure(Array.fromAsync(api.orders.list()), AnswerError)).why, 'redirect')
    assert.equal(lines().length, 1)
  })
})

test('a removal that does not say how many it has removed is an error, not NaN', async () => {
  const { api } = await serve([json({ removed: 1 })])
  assert.equal((await failure(api.orders.removeAll({ state: 'cancelled' }), AnswerError)).why, 'structure')
})

describe('time', () => {
  const forever = { timeLimit: Number.POSITIVE_INFINITY } as const
  test('a limit longer than a timer can be is none', async () => {
    const { api } = await serve([json(order)], forever)
    assert.equal((await api.orders.get('o-1')).id, 'o-1')
  })
  test('a token that never comes ends with the time limit', async () => {
    const { api } = await serve([json(order)], {
      credentials: { bearer: () => new Promise<string>(() => {}) },
      timeLimit: 50,
    })
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'late')
  })
  test('and by the signal', async () => {
    const { api } = await serve([json(order)], { credentials: { bearer: () => new Promise<string>(() => {}) } })
    await assert.rejects(api.orders.get('o-1', { signal: AbortSignal.timeout(30) }), { name: 'TimeoutError' })
  })
  test('why no token could be had is said as it is', async () => {
    const reason = new TypeError('the issuer is down')
    const { api } = await serve([json(order)], { credentials: { bearer: () => Promise.reject(reason) } })
    await assert.rejects(api.orders.get('o-1'), reason)
  })
  test('content that stops ends with the time limit', async () => {
    const { api } = await serve([json(order).slice(0, -9)], { timeLimit: 150 })
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'late')
  })
  test('closing the client ends content on its way', async () => {
    const { api } = await serve([json(order).slice(0, -9)])
    setTimeout(() => api.close(), 50)
    assert.equal((await failure(api.orders.get('o-1'), ConnectionError)).why, 'closed')
  })
  for (const [given, expected] of [
    ['0', [100, 100]],
    ['Thu, 01 Jan 1970 00:00:00 GMT', [100, 100]],
    ['2', [2000, 2000]],
  ] as const)
    test(`a job is not watched without a pause: Retry-After: ${given}`, async () => {
      const status = { id: 'j-1', state: 'running', _links: { self: { href: '/j' }, related: { href: '/x' } } }
      const running = json(status, `retry-after: ${given}`)
      const { api, waits } = await serve([running, running, json({ ...status, state: 'failed' })])
      const started = await api.reports.start({ from: '2026-01-01', to: '2026-02-01', kind: 'sales' })
      await assert.rejects(started.result(), { name: 'JobError' })
      assert.deepEqual(waits, expected)
    })
})

test('a wait longer than a timer can be does not end at once', async () => {
  await assert.rejects(waitFor(1e12, AbortSignal.timeout(30)), { name: 'TimeoutError' })
})

test('an entry of another service, in a version of the same name', async () => {
  const server = await startScriptedServer(() => json({ ...entry, service: 'library' }))
  const api = createRestClient(shop, { address: `http://127.0.0.1:${server.port}/api` })
  assert.equal((await failure(api.orders.get('o-1'), AnswerError)).why, 'unexpected')
})

test('RFC 9110 §8.6: the length of a file that came in a coding is not known', async () => {
  const octets = gzipSync('x'.repeat(5000)).toString('latin1')
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip'
  const { api } = await serve([json(product), `${head}\r\ncontent-length: ${octets.length}\r\n\r\n${octets}`])
  const file = await api.products.picture.get(await api.products.get('p-1'))
  assert.deepEqual([file.length, (await file.bytes()).length], [undefined, 5000])
})
