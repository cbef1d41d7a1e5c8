/** A signal that tells an application that no client is left to answer. */

interface Ending {
  readonly destroyed: boolean
  readonly readableEnded: boolean
  once(event: 'end' | 'close', listener: () => void): unknown
}

/**
 * To be made once for a connection or stream, when it is first asked for. `end`: of a connection
 * of HTTP/1.1, whose client has closed its side. One that is gone looks the same until something is
 * written, so both abort.
 */
export function createGoneSignal(of: Ending, event: 'end' | 'close'): AbortSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(new Error('the client has closed its connection'))
  if (of.destroyed || (event === 'end' && of.readableEnded)) abort()
  else {
    of.once('close', abort)
    if (event === 'end') of.once('end', abort)
  }
  return controller.signal
}
