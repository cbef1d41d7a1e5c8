/**
 * The server's side of PostgreSQL's protocol (PostgreSQL 15 §55), as far as a transaction of
 * nothing needs it: every statement succeeds and has no rows, until the one that the test speaks up
 * at.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { after } from 'node:test'

/**
 * What happens to a statement, or to a connection that begins (`''`): `silent` lasts, as if a
 * network had swallowed the other side.
 */
export type Fate = 'answered' | 'silent' | 'cut' | 'stopped'

export interface Wire {
  readonly url: string
  readonly port: number
  /** Open connections. */
  readonly open: () => number
  /** Texts of statements in the order they came. */
  readonly heard: readonly string[]
  /** Cuts all open connections, as the restart of a server does. */
  readonly cutAll: () => void
}

const message = (type: string, content = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(content.length + 4, 1)
  return Buffer.concat([head, content])
}
const ready = message('Z', Buffer.from('I'))
const welcome = Buffer.concat([message('R', Buffer.alloc(4)), ready])
const done = message('C', Buffer.from('BEGIN\0'))
/** §55.8: what a server says when it is shut down. */
const stopped = message('E', Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'))
/** The replies to Parse, Bind, Describe, Execute and Sync. */
const answers: Readonly<Record<string, Buffer>> = {
  P: message('1'),
  B: message('2'),
  D: message('n'),
  E: done,
  S: ready,
  Q: Buffer.concat([done, ready]),
}

/**
 * `fate` is called at each statement, and with `''` at the beginning of each connection; `n` counts
 * those with this text.
 */
export async function wire(fate: (text: string, n: number) => Fate): Promise<Wire> {
  const sockets = new Set<Socket>()
  const heard: string[] = []
  const fateOf = (text: string): Fate => {
    heard.push(text)
    return fate(text, heard.filter(each => each === text).length)
  }
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    converse(socket, fateOf)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  const cutAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return { url: `postgres://tests@127.0.0.1:${port}/none`, port, open: () => sockets.size, heard, cutAll }
}

function converse(socket: Socket, fateOf: (text: string) => Fate): void {
  let left: Buffer = Buffer.alloc(0)
  let begun = false
  let silent = false
  const tell = (fate: Fate, answer: Buffer): void => {
    if (fate === 'silent') silent = true
    else if (fate === 'cut') socket.resetAndDestroy()
    else socket.write(fate === 'stopped' ? Buffer.concat([answer, stopped]) : answer)
    if (fate === 'stopped') socket.end()
  }
  socket.on('data', (piece: Buffer) => {
    left = Buffer.concat([left, piece])
    for (;;) {
      const head = begun ? 1 : 0
      if (silent || left.length < head + 4 || left.length < head + left.readInt32BE(head)) return
      const type = begun ? left.toString('latin1', 0, 1) : ''
      const content = left.subarray(head + 4, head + left.readInt32BE(head))
      left = left.subarray(head + left.readInt32BE(head))
      begun = true
      if (type === '') tell(fateOf(''), welcome)
      else if (type === 'X') socket.end()
      else if (type === 'Q') tell(fateOf(text(content)), answers['Q'] ?? ready)
      else if (type === 'P') tell(fateOf(text(content.subarray(content.indexOf(0) + 1))), answers['P'] ?? ready)
      else socket.write(answers[type] ?? ready)
    }
  })
}
const text = (content: Buffer): string => content.toString('utf8', 0, content.indexOf(0))
