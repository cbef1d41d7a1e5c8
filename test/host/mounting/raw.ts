/** Octets over a socket: what a library would not send. */
import { once } from 'node:events'
import { connect } from 'node:net'

/**
 * Sends the first octets, waits for the reply, then sends the rest; `cut` closes the connection
 * instead of waiting. Returns what came before and after the rest was sent.
 */
export async function converse(port: number, first: string, rest?: string): Promise<readonly string[]> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', piece => (text += piece))
  const closed = once(socket, 'close').catch(() => [])
  socket.on('error', () => {})
  socket.write(first)
  if (rest === undefined) {
    await closed
    return [text]
  }
  if (rest === 'cut') {
    await new Promise<void>(resolve => socket.write('', () => resolve()))
    socket.destroy()
    await closed
    return []
  }
  await once(socket, 'data')
  const before = text
  text = ''
  if (socket.writable) socket.write(rest, 'latin1')
  await closed
  return [before, text]
}
