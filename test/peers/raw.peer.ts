/** Octets that no client sends, over real sockets: never a 500, never a hang, and the next request is answered. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import fc from 'fast-check'
import { type Answer, ask, type Question } from './curl-request.ts'
import { service } from './peer.ts'

const json = { 'content-type': 'application/json' }
const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }
const twenty = <T>(work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 20 }, (_, n) => work(n)))
const count = (answers: readonly Answer[], status: number): number =>
  answers.filter(each => each.status === status).length

describe('real sockets', async () => {
  const { url, token, process: child } = await service()
  const port = Number(new URL(url).port)
  const clerk = { authorization: `Bearer ${token('clara', 'clerk')}` }
  const as = (method: string, target: string, fields = {}, sent?: object): Promise<Answer> => {
    const question: Question = { method, fields: { ...clerk, ...json, ...fields } }
    return ask(new URL(target, url).href, { ...question, ...(sent && { content: JSON.stringify(sent) }) })
  }

  /** Writes, closes its side, and hears until the server has closed or `patience` ends: then it hangs. */
  async function say(octets: string | Uint8Array, patience = 5000): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    let text = ''
    socket.on('data', piece => (text += piece.toString('latin1'))).on('error', () => {})
    const closed = new Promise<boolean>(resolve => {
      socket.once('end', () => resolve(true)).once('close', () => resolve(true))
    })
    socket.end(typeof octets === 'string' ? Buffer.from(octets, 'latin1') : octets)
    const over = await Promise.race([closed, after(patience, false, { ref: false })])
    socket.destroy()
    assert.ok(over, `hangs: ${JSON.stringify(String(octets)).slice(0, 300)}`)
    return text
  }
  const statuses = (text: string) =>
    [...text.matchAll(/(?:^|\n|\})HTTP\/1\.1 (\d{3}) /g)].map(found => Number(found[1]))
  async function survives(octets: string | Uint8Array): Promise<void> {
    const text = await say(octets)
    // Rule B7.1: a fault travels with 500; it is ours only where it says so.
    const faulted = /<[^>]*:?Fault\b/.test(text) && !/:(Server|Receiver)</.test(text)
    const shown = JSON.stringify(Buffer.from(octets).toString('latin1')).slice(0, 300)
    assert.ok(faulted || !statuses(text).includes(500), `500 for ${shown}`)
  }
  const alive = async () => {
    assert.equal(child.exitCode, null)
    assert.equal((await ask(`${url}/api/products/p-1`)).status, 200)
  }

  const requests = [
    'GET /api/products?size=2 HTTP/1.1\r\nHost: a\r\nAccept: text/html;q=0.5, */*\r\n\r\n',
    `POST /api/orders HTTP/1.1\r\nHost: a\r\nAuthorization: ${clerk.authorization}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    'POST /api/orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    'POST /soap/v2 HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nSOAPAction: ""\r\nContent-Length: 4\r\n\r\n<a/>',
    'PUT /api/products/p-1/picture HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\nabc',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0\x0a\x01\x05\0\0\0\x01\x82\x86\x84\x41\x01a',
  ]
  const seed = 20_261_121

  it('A7.18 random octets', async () => {
    const property = fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), survives)
    await fc.assert(property, { numRuns: 150, seed })
    await alive()
  })

  it('A7.18 requests with a few octets changed, cut, doubled or put in', async () => {
    const change = fc.record({
      at: fc.nat(400),
      drop: fc.nat(6),
      put: fc.oneof(
        fc.constantFrom(
          '',
          '\r\n',
          '\n',
          '\0',
          ' ',
          '\t',
          ':',
          '%',
          '/',
          '..',
          '\xff',
          'chunked',
          '99999999999999999999',
          '-1',
          '\r\n\r\n',
        ),
        fc.uint8Array({ maxLength: 4 }).map(each => Buffer.from(each).toString('latin1')),
      ),
    })
    const mutated = fc
      .tuple(fc.constantFrom(...requests), fc.array(change, { minLength: 1, maxLength: 4 }))
      .map(([request, changes]) =>
        changes.reduce((text, { at, drop, put }) => {
          const from = at % (text.length + 1)
          return text.slice(0, from) + put + text.slice(from + drop)
        }, request),
      )
    await fc.assert(fc.asyncProperty(mutated, survives), { numRuns: 400, seed })
    await alive()
  })

  it('A7.18 requests cut at every octet', async () => {
    for (const request of requests)
      for (let from = 0; from < request.length; from += 16)
        await Promise.all(Array.from({ length: 16 }, (_, i) => survives(request.slice(0, from + i))))
    await alive()
  })

  it('RFC 9112 §9.3.2 pipelined: responses in order, and garbage behind them is refused after them', async () => {
    const get = (n: number) => `GET /api/products/p-${n} HTTP/1.1\r\nHost: a\r\n\r\n`
    const text = await say(`${get(1)}${get(2)}${get(3)}\x01\x02 garbage\r\n\r\n`)
    assert.deepEqual(statuses(text), [200, 200, 200, 400])
    assert.deepEqual(
      [...text.matchAll(/"id":"(p-\d)"/g)].map(found => found[1]),
      ['p-1', 'p-2', 'p-3'],
    )
  })

  /** RFC 9112 §6.3, §11.2: what two readers could take for different messages; `/smuggled` must not be answered. */
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'
  const post = 'POST /api/orders HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
  const shapes: readonly (readonly [title: string, octets: string])[] = [
    [
      'Content-Length and chunked',
      `${post}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'chunked and Content-Length',
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', `${post}Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
    ['a list of lengths', `${post}Content-Length: 0, 0\r\n\r\n${smuggled}`],
    ['a signed length', `${post}Content-Length: +0\r\n\r\n${smuggled}`],
    ['a length in hexadecimal', `${post}Content-Length: 0x0\r\n\r\n${smuggled}`],
    ['chunked twice', `${post}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunked, but not last', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunked misspelt', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunked after a vertical tab', `${post}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a space before the colon', `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a folded line', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a bare CR', `${post}X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a NUL in a field', `${post}X: a\0b\r\n\r\n${smuggled}`],
    ['chunked in HTTP/1.0', `${post.replace('1.1', '1.0')}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a chunk size too large', `${post}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n${smuggled}`],
    ['a chunk size with a sign', `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${smuggled}`],
    ['a chunk not ended', `${post}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${smuggled}`],
    ['two Hosts', `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`],
    ['no Host', `GET / HTTP/1.1\r\n\r\n`],
  ]
  for (const [title, octets] of shapes) {
    it(`RFC 9112 §11.2 ${title}: refused, and nothing behind it is a request`, async () => {
      const found = statuses(await say(octets))
      assert.equal(found.length, 1, found.join())
      // 401: the head alone was enough to refuse it, before its content was looked at.
      assert.ok([400, 401, 501].includes(found[0] ?? 0), found.join())
    })
  }

  it('slow clients are disconnected, and delay no others', async () => {
    const slow = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    for (const [i, socket] of slow.entries()) socket.write(requests[i % 5]?.slice(0, 40 + i) ?? '')
    const began = performance.now()
    await twenty(() => alive())
    assert.ok(performance.now() - began < 3000)
    const closed = slow.map(socket => new Promise(resolve => socket.once('close', resolve).resume()))
    const late = after(20_000, 'late', { ref: false })
    assert.notEqual(await Promise.race([Promise.all(closed), late]), 'late')
  })

  it('A4.20 twenty conditional PUTs at once with one tag: one wins', async () => {
    const { fields } = await as('POST', '/api/orders', {}, order)
    const location = fields['location'] ?? ''
    const answers = await twenty(n =>
      as(
        'PUT',
        location,
        { 'if-match': fields['etag'] ?? '' },
        { ...order, lines: [{ product: 'p-1', quantity: n + 1 }] },
      ),
    )
    assert.deepEqual([count(answers, 200), count(answers, 412)], [1, 19])
    const winner = answers.find(each => each.status === 200)
    // RFC 9110 §9.3.4: no tag, for the order that is kept has more members than the one that was sent.
    assert.equal(winner?.fields['etag'], undefined)
    const kept = await as('GET', location)
    assert.equal(kept.content.toString(), winner?.content.toString())
    assert.notEqual(kept.fields['etag'], fields['etag'])
  })

  it('A4.11 twenty payments at once: one', async () => {
    const made = await as('POST', '/api/orders', {}, order)
    const { total } = JSON.parse(made.content.toString())
    const pay = () => as('POST', `${made.fields['location']}/payment`, {}, { method: 'card', amount: total })
    const answers = await twenty(pay)
    assert.deepEqual([count(answers, 201), count(answers, 409)], [1, 19])
  })

  it('A1.8 twenty replays of one Idempotency-Key: one effect, one response', async () => {
    const key = { 'idempotency-key': '"once, over real sockets"' }
    const orders = async () => JSON.parse((await as('GET', '/api/orders?size=1')).content.toString()).total
    const before = await orders()
    const answers = await twenty(() => as('POST', '/api/orders', key, order))
    assert.equal(count(answers, 201) + count(answers, 409), 20)
    const again = await as('POST', '/api/orders', key, order)
    assert.equal(again.status, 201)
    const locations = answers.flatMap(each => (each.status === 201 ? [each.fields['location']] : []))
    assert.deepEqual([...new Set(locations)], [again.fields['location']])
    assert.equal(await orders(), before + 1)
  })
})
