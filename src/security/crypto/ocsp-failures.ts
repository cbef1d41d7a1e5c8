/**
 * What the operator is told of responders: a line for each state, and not for each certificate and
 * question.
 *  (1) A responder without an answer is told of once, until it answers.
 *  (2) An answer that cannot be used is told of once an hour for each responder and reason, with
 *      the certificate that came first.
 */
import { BoundedCache } from '../../base/memo.ts'

/** Reasons that are remembered. */
const toldMax = 1000
const tellAgainMs = 3_600_000

export interface FailureMeans {
  readonly clock: () => number
  readonly failed: (thrown: unknown) => void
}

export class OcspFailures {
  readonly #means: FailureMeans
  readonly #down = new Set<string>()
  /** Address and reason → when it was told. */
  readonly #told = new BoundedCache<string, number>(toldMax)

  constructor(means: FailureMeans) {
    this.#means = means
  }

  /** (1) */
  tellOutage(address: string, cause: Error): void {
    if (this.#down.has(address)) return
    this.#down.add(address)
    this.#means.failed(new Error(`the OCSP responder ${address} does not respond: ${cause.message}`, { cause }))
  }

  /** It has answered. */
  forgetOutage(address: string): void {
    this.#down.delete(address)
  }

  /** (2) */
  tellUnusable(address: string, certificate: string, why: string): void {
    const now = this.#means.clock()
    const key = `${address} ${why}`
    if (now - (this.#told.get(key) ?? Number.NEGATIVE_INFINITY) < tellAgainMs) return
    this.#told.set(key, now)
    this.#means.failed(new Error(`the OCSP answer of ${address} about ${certificate} cannot be used: ${why}`))
  }
}
