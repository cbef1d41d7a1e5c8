/**
 * Tells an application that no client is left to answer. A client of HTTP/1.1 that has closed its
 * own side alone still reads (RFC 9112 §9.6): only a connection that is closed in both directions,
 * or was reset, counts as gone. To be made when it is first asked for: few handlers ask.
 */
export class GoneSignal {
  readonly #controller = new AbortController()

  /** @param isGone whether the connection or stream has ended already */
  get(isGone: boolean): AbortSignal {
    if (isGone) this.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#controller.abort(new Error('the client has closed its connection'))
  }
}
