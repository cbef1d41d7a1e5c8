/**
 * Counts the exchanges of a host's server that have begun and not ended, so that a service that
 * closes lets them end before its store does.
 */
import type { ServerResponse } from 'node:http'

export class ExchangeCount {
  #count = 0
  #settle: (() => void) | undefined

  /** Counts an exchange until its response has been sent, or its connection has closed. */
  addResponse(response: ServerResponse): void {
    if (!response.destroyed) response.once('close', this.#begin())
  }

  /** Counts an exchange until the content of its response has been read, or its reader has left. */
  async addFetch(answer: (ended: () => void) => Promise<Response>): Promise<Response> {
    const end = this.#begin()
    return answer(end).catch((thrown: unknown) => {
      end()
      throw thrown
    })
  }

  /** Resolves once no exchange is in progress, or after `limitMs`. */
  async waitForNone(limitMs: number): Promise<void> {
    if (this.#count === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#settle = resolve
    const timer = setTimeout(resolve, limitMs)
    await promise
    clearTimeout(timer)
  }

  /** @returns a function that ends the count; further calls have no effect */
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
