/** SIGTERM while requests are in flight: what was begun is answered, nothing new is taken, and the process ends by itself. */
import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { connect as dial, type Socket } from 'node:net'
import { it } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import { service } from './peer.ts'

const product = JSON.stringify({ name: 'Drained', price: '1.00', stock: 1 })

async function opened(
  url: string,
): Promise<{ readonly socket: Socket; readonly heard: () => string; readonly closed: Promise<void> }> {
  const socket = dial(Number(new URL(url).port), '127.0.0.1')
  let text = ''
  socket.on('data', piece => (text += piece)).on('error', () => {})
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  await new Promise(resolve => socket.once('connect', resolve))
  return { socket, heard: () => text, closed }
}

it('A4.22 SIGTERM: requests in progress get responses, then connections are refused, and the service ends with 0 in time', async () => {
  const { url, token, process: child } = await service()
  const authorization = `authorization: Bearer ${token('maria', 'manager')}`
  const post = [`POST /api/products HTTP/1.1`, 'host: localhost', authorization, 'content-type: application/json']
  const head = `${[...post, `content-length: ${product.length}`].join('\r\n')}\r\n\r\n`
  const flying = await Promise.all(Array.from({ length: 10 }, () => opened(url)))
  for (const { socket } of flying) socket.write(head + product.slice(0, 10))
  const idle = await opened(url)
  idle.socket.write('GET /api/products/p-1 HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const session = connect(url)
  const stream = session.request({
    ':method': 'POST',
    ':path': '/api/products',
    'content-type': 'application/json',
    authorization: authorization.slice(15),
  })
  session.on('error', () => {})
  stream.on('error', () => {}).write(product.slice(0, 10))
  const status = new Promise<unknown>(resolve => stream.once('response', fields => resolve(fields[':status'])))
  for (let waits = 0; waits < 500 && idle.heard() === ''; waits++) await after(20)
  assert.match(idle.heard(), /^HTTP\/1\.1 200 /)
  await new Promise(resolve => session.ping(resolve)) // the server has read what was sent before it

  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const began = performance.now()
  child.kill('SIGTERM')
  await after(200)
  assert.equal(child.exitCode, null, 'it waits for what is in flight')
  await idle.closed
  await assert.rejects(fetch(`${url}/api/products/p-1`), 'a new connection is refused')
  for (const { socket } of flying) socket.write(product.slice(10))
  stream.resume().end(product.slice(10))
  await Promise.all(flying.map(each => each.closed))
  for (const { heard } of flying) {
    assert.match(heard(), /^HTTP\/1\.1 201 /)
    assert.match(heard(), /\r\nconnection: close\r\n/i)
  }
  assert.equal(await status, 201)
  assert.equal(await ended, 0)
  assert.ok(performance.now() - began < 9000, 'it ends by itself, not by the limit of ten seconds')
})

it('SIGTERM: a client that never ends its request does not keep the service running', async () => {
  const { url, process: child } = await service()
  const { socket, closed } = await opened(url)
  socket.write(
    'POST /api/products HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\ncontent-type: application/json\r\n\r\n{',
  )
  await after(100)
  const ended = new Promise<number | null>(resolve => child.once('exit', resolve))
  const began = performance.now()
  child.kill('SIGTERM')
  await closed
  assert.equal(await ended, 0)
  assert.ok(performance.now() - began < 12_000)
})
