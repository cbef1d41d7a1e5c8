/**
 * Reports about responders to the operator: one line for each state, not for each certificate and
 * request.
 *  (1) A responder that does not respond is reported once, until it responds again.
 *  (2) A response that cannot be used is reported once an hour for each responder and reason, with
 *      the first certificate affected.
 */
import { BoundedCache } from '../../base/memo.ts'

/** The number of reasons remembered. */
const reportsMax = 1000
const repeatReportMs = 3_600_000

export interface FailureMeans {
  readonly clock: () => number
  readonly failed: (thrown: unknown) => void
}

export class OcspFailures {
  readonly #means: FailureMeans
  readonly #down = new Set<string>()
  /** Address and reason → when it was reported. */
  readonly #reported = new BoundedCache<string, number>(reportsMax)

  constructor(means: FailureMeans) {
    this.#means = means
  }

  /** (1) */
  reportOutage(address: string, cause: Error): void {
    if (this.#down.has(address)) return
    this.#down.add(address)
    this.#means.failed(new Error(`the OCSP responder ${address} does not respond: ${cause.message}`, { cause }))
  }

  /** The responder has responded again. */
  forgetOutage(address: string): void {
    this.#down.delete(address)
  }

  /** (2) */
  reportUnusable(address: string, certificate: string, reason: string): void {
    const now = this.#means.clock()
    const key = `${address} ${reason}`
    if (now - (this.#reported.get(key) ?? Number.NEGATIVE_INFINITY) < repeatReportMs) return
    this.#reported.set(key, now)
    this.#means.failed(new Error(`the OCSP answer of ${address} about ${certificate} cannot be used: ${reason}`))
  }
}
