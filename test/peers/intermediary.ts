/** A hop between a peer and the service that keeps both messages of every exchange. */
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { atEnd } from './peer.ts'

export interface Message {
  readonly fields: Readonly<Record<string, string>>
  /** As sent, the transfer coding alone taken off. */
  readonly content: Buffer
}

export interface Exchange {
  readonly method: string
  readonly target: string
  readonly request: Message
  readonly status: number
  readonly response: Message
}

export interface Hop {
  /** What a peer is given in place of the service's address; the service sees the hop's Host. */
  readonly url: string
  /** The exchanges since it was asked last, oldest first. */
  take(): readonly Exchange[]
}

export async function hop(service: string): Promise<Hop> {
  const to = new URL(service)
  let seen: Exchange[] = []
  const server = createServer(async (incoming, outgoing) => {
    const content = await whole(incoming)
    const options = { host: to.hostname, port: to.port, method: incoming.method, path: incoming.url, agent: false }
    const onward = send({ ...options, headers: incoming.rawHeaders })
    onward.once('error', () => outgoing.destroy())
    onward.once('response', async answer => {
      const answered = await whole(answer)
      seen.push({
        method: incoming.method ?? '',
        target: incoming.url ?? '',
        request: { fields: fieldsOf(incoming), content },
        status: answer.statusCode ?? 0,
        response: { fields: fieldsOf(answer), content: answered },
      })
      outgoing.writeHead(answer.statusCode ?? 0, answer.rawHeaders)
      outgoing.end(answered)
    })
    onward.end(content)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo // listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    take() {
      const taken = seen
      seen = []
      return taken
    },
  }
}

async function whole(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of message) parts.push(part)
  return Buffer.concat(parts)
}

const fieldsOf = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))

/** A message's content with its content coding taken off. */
export function plain({ fields, content }: Message): Buffer {
  return fields['content-encoding'] === 'gzip' ? gunzipSync(content) : content
}
