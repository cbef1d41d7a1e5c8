import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ReceiveBuffer } from '../../src/server/http1/receive-buffer.ts'
import { type OnData, readSocket } from '../../src/server/http1/socket-reader.ts'

/** Both ends of a connection; the server's is taken in. */
async function taken(taking: (socket: Socket) => OnData, work: (client: Socket, server: Socket) => Promise<void>) {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay(true)
  const [socket] = (await once(server, 'connection')) as [Socket]
  readSocket(socket, taking(socket))
  try {
    await work(client, socket)
  } finally {
    client.destroy()
    socket.destroy()
    server.close()
  }
}

describe('octets of a socket as they arrive', () => {
  test('lent octets are in one buffer, which its owner uses again; a copy that is made in time stays', async () => {
    const lent: Buffer[] = []
    const kept: string[] = []
    const take: OnData = (octets, isLent) => {
      assert.ok(isLent)
      lent.push(octets)
      kept.push(octets.toString())
    }
    await taken(
      () => take,
      async client => {
        for (const text of ['first', 'other']) {
          client.write(text)
          await pause(50)
        }
        assert.deepEqual(kept, ['first', 'other'])
        assert.equal(lent[0]?.buffer, lent[1]?.buffer)
        assert.equal(lent[0]?.toString(), 'other')
      },
    )
  })

  test('a socket is held back while paused, and continues where it was', async () => {
    let count = 0
    await taken(
      socket => octets => {
        count += octets.length
        socket.pause()
      },
      async (client, server) => {
        const all = 8 * 2 ** 20
        client.write(Buffer.alloc(all))
        await pause(100)
        assert.ok(count > 0 && count <= 64 * 1024, `${count} octets after the first`)
        assert.ok(server.isPaused())
        while (count < all) {
          server.resume()
          await pause(0)
        }
        assert.equal(count, all)
      },
    )
  })

  test('the end of a socket is reported, and the other direction stays open', async () => {
    const texts: string[] = []
    await taken(
      () => octets => void texts.push(octets.toString()),
      async (client, server) => {
        const ended = once(server, 'end')
        client.end('all')
        await ended
        assert.deepEqual(texts, ['all'])
        const answered = once(client, 'data')
        server.end('heard')
        assert.equal(String((await answered)[0]), 'heard')
      },
    )
  })

  test('a reader that stops receives no more, and the socket is as before', async () => {
    const texts: string[] = []
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const [socket] = (await once(server, 'connection')) as [Socket]
    readSocket(socket, octets => void texts.push(octets.toString()))()
    client.write('not received')
    await pause(50)
    assert.deepEqual(texts, [])
    client.destroy()
    socket.destroy()
    server.close()
  })
})

describe('what is held of it', () => {
  const room = Buffer.from('GET / and more')
  test('copyLent copies the rest of lent octets', () => {
    const held = new ReceiveBuffer()
    held.add(room, true)
    held.drop(6)
    held.copyLent()
    const before = held.octets.toString()
    room.fill('x')
    assert.equal(held.octets.toString(), before)
    held.add(Buffer.from('!'))
    assert.equal(held.octets.toString(), 'and more!')
  })

  test('takeOwned copies lent octets, and no others', () => {
    const held = new ReceiveBuffer()
    const lent = Buffer.from('lent')
    held.add(lent, true)
    const mine = held.takeOwned(2)
    lent.fill('x')
    assert.equal(mine.toString(), 'le')
    const given = Buffer.from('given')
    const other = new ReceiveBuffer()
    other.add(given)
    assert.equal(other.takeOwned(5).buffer, given.buffer)
  })
})
