/** A loopback proxy whose connections can be cut, with what is on the way in them, and silenced: nothing comes any more, and no end. */
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

export interface Way {
  readonly port: number
  /** Connections to come go there. */
  lead(to: NetConnectOpts): void
  /** All that stand are reset on both sides. */
  cut(): void
  /** All that stand, and those that begin until `speak`, are silent for ever, and neither side hears of the other's end. */
  silence(): void
  speak(): void
  close(): void
}

interface Pair {
  readonly client: Socket
  readonly inside: Socket
  silent: boolean
}

export async function proxy(target: NetConnectOpts): Promise<Way> {
  const pairs = new Set<Pair>()
  const swallowed = new Set<Socket>()
  let to = target
  let silent = false
  const server = createServer(client => {
    if (!silent) return joined(pairs, client, connect(to))
    swallowed.add(client)
    client
      .on('error', () => {})
      .on('close', () => swallowed.delete(client))
      .resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const { client, inside, silent } of pairs)
      if (!silent) {
        client.resetAndDestroy()
        inside.resetAndDestroy()
      }
  }
  return {
    port: (server.address() as AddressInfo).port, // it listens on TCP
    lead: next => (to = next),
    cut,
    silence: () => {
      silent = true
      for (const pair of pairs) hush(pair)
    },
    speak: () => (silent = false),
    close: () => {
      for (const { client, inside } of pairs) for (const socket of [client, inside]) socket.destroy()
      for (const socket of swallowed) socket.destroy()
      server.close()
    },
  }
}

function joined(pairs: Set<Pair>, client: Socket, inside: Socket): void {
  const pair: Pair = { client, inside, silent: false }
  pairs.add(pair)
  for (const [from, to] of [
    [client, inside],
    [inside, client],
  ] as const) {
    from
      .on('error', () => {})
      .on('close', () => {
        if (!pair.silent) to.destroy()
        if (to.destroyed) pairs.delete(pair)
      })
    from.pipe(to)
  }
}

function hush(pair: Pair): void {
  pair.silent = true
  for (const [from, to] of [
    [pair.client, pair.inside],
    [pair.inside, pair.client],
  ] as const)
    from.unpipe(to).resume()
}
