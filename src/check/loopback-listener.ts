/**
 * The checker's own address on this machine. A request to it comes from a service that follows
 * addresses in messages from strangers.
 */
import { createServer } from 'node:http'
import { setTimeout } from 'node:timers/promises'

/** An open port on the loopback address. */
export interface ProbeListener {
  /** Without a trailing slash. */
  readonly address: string
  /**
   * Whether there was a request for a path with this beginning; waits a moment for requests on
   * their way.
   */
  hasVisit(path: string): Promise<boolean>
  close(): void
}

const graceMs = 250

/** Responds to every request with 404, only on 127.0.0.1. */
export async function openLoopbackListener(): Promise<ProbeListener> {
  const visits: string[] = []
  const server = createServer((request, response) => {
    visits.push(request.url ?? '')
    response.writeHead(404, { 'content-length': '0', connection: 'close' }).end()
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(0, '127.0.0.1', resolve).unref()
  await promise
  const at = server.address()
  return {
    address: `http://127.0.0.1:${typeof at === 'object' ? at?.port : 0}`,
    hasVisit: async path => {
      await setTimeout(graceMs)
      return visits.some(each => each.startsWith(path))
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Whether a listener on this machine's loopback can be reached from there. */
export const isLoopbackHost = (hostname: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)
