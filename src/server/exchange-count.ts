/**
 * Counts the exchanges of a host's server that have begun and not ended, so that a service that
 * closes lets them end before its store does.
 */
import type { ServerResponse } from 'node:http'

export class ExchangeCount {
  #count = 0
  #settle: (() => void) | undefined

  /** Counts until the response has been sent, or its connection is gone. */
  addResponse(response: ServerResponse): void {
    if (!response.destroyed) response.once('close', this.#begin())
  }

  /** Counts until the content of the response has been read, or its reader is gone. */
  async addFetch(answer: (ended: () => void) => Promise<Response>): Promise<Response> {
    const end = this.#begin()
    return answer(end).catch((thrown: unknown) => {
      end()
      throw thrown
    })
  }

  /** Resolves once there are none, or after `limit` milliseconds. */
  async waitForNone(limit: number): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settle = resolve
    const timer = setTimeout(resolve, limit)
    await promise
    clearTimeout(timer)
  }

  /** The result may be called more than once. */
  #begin(): () => void {
    this.#count++
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      if (--this.#count === 0) this.#settle?.()
    }
  }
}
