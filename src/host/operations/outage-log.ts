/**
 * Lines about responses with 503, about refused connections and requests, and about work that
 * waits. What it guards:
 *  (1) Each of them is in the log with its cause: in its own line, or in the count of that cause's
 *      next line.
 *  (2) A cause has at most one line a second (for work: a minute), so that an outage does not fill
 *      the disk.
 */
import { errorFields, type Logger } from './log.ts'

const requestSilenceMs = 1000
/** How many causes have their own lines at the same time; further ones share a line. */
const causesMax = 100

interface OutageCause {
  readonly fields: object
  /** How many since the last line. */
  suppressed: number
}

export class OutageLog {
  readonly #logger: Pick<Logger, 'warn'>
  readonly #causes = new Map<string, OutageCause>()
  readonly #message: string
  readonly #silenceMs: number
  constructor(logger: Pick<Logger, 'warn'>, message = 'answered 503', silenceMs = requestSilenceMs) {
    this.#logger = logger
    this.#message = message
    this.#silenceMs = silenceMs
  }

  /** @param fields the fields of the request */
  record(cause: unknown, fields: object): void {
    const error = cause === undefined ? { error: 'no cause is known' } : errorFields(cause)
    const text = 'error' in error ? String(error.error) : ''
    const key = this.#causes.size < causesMax || this.#causes.has(text) ? text : ''
    const outage = this.#causes.get(key)
    if (outage) {
      outage.suppressed++
      return
    }
    const added: OutageCause = { fields: error, suppressed: 0 }
    this.#causes.set(key, added)
    this.#logger.warn({ ...fields, ...error }, this.#message)
    this.#wait(key, added)
  }

  #wait(key: string, cause: OutageCause): void {
    setTimeout(() => {
      if (cause.suppressed === 0) {
        this.#causes.delete(key)
        return
      }
      this.#writeLine(cause)
      this.#wait(key, cause)
    }, this.#silenceMs).unref()
  }

  #writeLine(cause: OutageCause): void {
    const { fields, suppressed } = cause
    cause.suppressed = 0
    this.#logger.warn({ ...fields, suppressed }, this.#message)
  }

  /** Writes what has been counted. */
  flush(): void {
    for (const cause of this.#causes.values()) if (cause.suppressed > 0) this.#writeLine(cause)
  }
}
