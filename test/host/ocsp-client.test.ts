/** Queries to OCSP responders: turns by issuer, caps, and an end in time. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createOcspClient } from '../../src/host/trust/ocsp-client.ts'

/** A responder that sends its query back, once it is released. */
async function hold() {
  const held: (() => void)[] = []
  const place = { open: false }
  const server = createServer(async (request, response: ServerResponse) => {
    const content = Buffer.concat(await request.toArray())
    if (place.open) response.end(content)
    else held.push(() => response.end(content))
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  after(() => server.closeAllConnections())
  await once(server, 'listening')
  const release = () => {
    place.open = true
    for (const each of held) each()
  }
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, held, release }
}
const request = Buffer.from('question')
const question = { request, isCacheable: false }

test('fifty queries of one issuer wait; another issuer still has its turn', async () => {
  const { address, release } = await hold()
  const send = createOcspClient()
  const { signal } = new AbortController()
  const ask = (party: string) => send({ ...question, address, party, signal })
  const waiting = Array.from({ length: 8 + 50 }, () => ask('one'))
  await assert.rejects(ask('one'), /^Error: too many requests to OCSP responders are waiting/)
  const another = ask('another')
  release()
  assert.deepEqual(new Set((await Promise.all([another, ...waiting])).map(String)), new Set(['question']))
})

test('a silent responder is abandoned when the time is over', async () => {
  const { address } = await hold()
  const send = createOcspClient()
  await assert.rejects(send({ ...question, address, party: 'one', signal: AbortSignal.timeout(50) }), /timeout/)
})

/** A responder that says how it was queried; `refuses` GET or not. */
async function tell(refuses: boolean): Promise<string> {
  const server = createServer(async (asked, response) => {
    const content = Buffer.concat(await asked.toArray()).toString()
    response.writeHead(refuses && asked.method === 'GET' ? 405 : 200).end(`${asked.method} ${asked.url} ${content}`)
  }).listen(0, '127.0.0.1')
  after(() => server.close())
  after(() => server.closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const rows: readonly [string, boolean, string, Buffer, boolean, string][] = [
  ['one that a cache may answer is a GET', false, '/', Buffer.from([0xfb, 0xff, 0xfe]), true, 'GET /%2B%2F%2F%2B '],
  ['below a path', false, '/status', Buffer.from('a'), true, 'GET /status/YQ%3D%3D '],
  ['one with a nonce is a POST', false, '/', request, false, 'POST / question'],
  ['a long one is a POST', false, '/', Buffer.alloc(200, 'x'), true, `POST / ${'x'.repeat(200)}`],
  ['at an address with a query it is a POST', false, '/?a=b', request, true, 'POST /?a=b question'],
  ['a responder that refuses GET is asked by POST', true, '/', request, true, 'POST / question'],
]
for (const [what, refuses, path, octets, isCacheable, expected] of rows)
  test(`RFC 6960 §A.1, RFC 5019 §5, queries: ${what}`, async () => {
    const address = `${await tell(refuses)}${path}`
    const { signal } = new AbortController()
    const answer = await createOcspClient()({ address, request: octets, isCacheable, party: 'one', signal })
    assert.equal(String(answer), expected)
  })
