/** Questions to OCSP responders: turns by issuer, caps, and an end in time. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { createOcspClient } from '../../src/host/ocsp-client.ts'

/** A responder that answers with what it was asked, once it is released. */
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

test('fifty questions of one issuer wait; another issuer still has its turn', async () => {
  const { address, release } = await hold()
  const post = createOcspClient()
  const { signal } = new AbortController()
  const ask = (party: string) => post({ address, request, party, signal })
  const waiting = Array.from({ length: 8 + 50 }, () => ask('one'))
  await assert.rejects(ask('one'), /^Error: as many questions to OCSP responders wait as may/)
  const another = ask('another')
  release()
  assert.deepEqual(new Set((await Promise.all([another, ...waiting])).map(String)), new Set(['question']))
})

test('a responder that is silent is left when the time is over', async () => {
  const { address } = await hold()
  const post = createOcspClient()
  await assert.rejects(post({ address, request, party: 'one', signal: AbortSignal.timeout(50) }), /timeout/)
})
