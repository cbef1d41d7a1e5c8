/**
 * Receivers of replies and webhooks that answer with anything but a response (attack W1, rule
 * B4.11): each post ends, whatever they send.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { startOutbox } from '../../src/host/delivery/outbox.ts'
import { postSafely } from '../../src/host/delivery/safe-post.ts'
import { createWebhook } from '../../src/host/delivery/webhook.ts'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

/** A receiver that answers the first octets of each request as `answer` says. */
async function startReceiver(answer: (socket: Socket) => void): Promise<string> {
  const open = new Set<Socket>()
  const server = createServer(socket => {
    open.add(socket)
    socket
      .on('error', () => {})
      .on('close', () => open.delete(socket))
      .once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  after(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/replies`
}

const interim = 'HTTP/1.1 102 Processing\r\n\r\n'
const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
const noContent = 'HTTP/1.1 204 No Content\r\n\r\n'
const flood = (socket: Socket): void => {
  while (!socket.destroyed && socket.write(interim.repeat(1000)));
  socket.once('drain', () => flood(socket))
}

const unfriendly: readonly (readonly [string, (socket: Socket) => void, RegExp])[] = [
  ['another protocol', socket => void socket.write(switching), /switched to another protocol/],
  ['another protocol, then the end', socket => void socket.end(switching), /switched to another protocol/],
  ['interim responses without end', flood, /too many interim responses/],
  ['the end without a response', socket => void socket.end(), /socket hang up/],
  ['interim responses alone, then the end', socket => void socket.end(interim.repeat(3)), /socket hang up/],
]
const message = (to: string) => ({ to, mediaType: 'text/xml', action: 'urn:a', content: '<a/>' })
const webhookTo = (url: string) =>
  createWebhook({ name: 'w', url, secret: `whsec_${'A'.repeat(32)}`, allow: ['127.0.0.1'], private: true })
const event = { specversion: '1.0', id: '1', source: '/', type: 't', time: '', subject: '' } as never

for (const [name, answer, reason] of unfriendly)
  test(`W1 a post that is answered by ${name} fails at once`, async () => {
    const url = await startReceiver(answer)
    const limit = AbortSignal.timeout(5000)
    await assert.rejects(postSafely(message(url), limit), reason)
    await assert.rejects(webhookTo(url).deliver(event, limit), reason)
  })

test('a response after a few interim ones counts', async () => {
  const url = await startReceiver(socket => void socket.end(interim.repeat(3) + noContent))
  await postSafely(message(url), AbortSignal.timeout(5000))
  await webhookTo(url).deliver(event, AbortSignal.timeout(5000))
})

test('B4.11 a receiver that switches protocols keeps no reply from others, nor the service from stopping', async () => {
  const store = openSqliteStore(orders.contract, ':memory:')
  after(() => store.close())
  let accepted = 0
  const good = await startReceiver(socket => {
    accepted++
    socket.end(noContent)
  })
  const hostile = await startReceiver(socket => void socket.write(switching))
  const failures: unknown[] = []
  const posting = {
    store,
    clock: Date.now,
    id: createItemIdentifier,
    failed: (thrown: unknown) => void failures.push(thrown),
  }
  const outbox = startOutbox(posting, [good, hostile])
  const { to: _, ...content } = message(good)
  for (let count = 0; count < 4; count++) await outbox.elsewhere.send(hostile, content)
  await outbox.elsewhere.send(good, content)
  while (accepted < 1 || failures.length < 4) await new Promise(resolve => setTimeout(resolve, 20))
  await outbox.stop()
})
