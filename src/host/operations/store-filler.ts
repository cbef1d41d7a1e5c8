/**
 * Completes the work that the start of a store left for later, and reports its progress to the
 * operator, or why it cannot continue.
 */
import type { FillProgress, Store } from '../../service/store.ts'
import type { Logger } from './log.ts'

const trouble =
  'indexes are not complete: until they are, lists and searches that need them look at each item, and searches for words that are new to the contract are answered with 503. Mend the cause: it is tried again within a minute'

/** Time between two lines about the same thing. */
const lineEveryMs = 10_000

/** The dependencies of a filler. */
export interface FillerSite {
  readonly failed: (thrown: unknown) => void
  readonly logger: Pick<Logger, 'info'>
  /** Milliseconds that never go backwards. */
  readonly elapsed: () => number
}

/** One piece of that work, as this process has seen it. */
interface FillingState {
  readonly begunAt: number
  readonly rowsBefore: number
  reportedAt: number
  progress: FillProgress
}

export class StoreFiller {
  readonly #store: Pick<Store, 'fill'>
  readonly #site: FillerSite
  readonly #fillings = new Map<string, FillingState>()
  #isOver = false
  #isRunning = false

  constructor(store: Pick<Store, 'fill'>, site: FillerSite) {
    this.#store = store
    this.#site = site
  }

  /** Continues, unless everything is done or under way. */
  async run(): Promise<void> {
    if (this.#isOver || this.#isRunning) return
    this.#isRunning = true
    try {
      if ((await this.#store.fill?.(progress => this.#watch(progress))) !== false) {
        this.#isOver = true
        this.#fillings.clear() // another process may have completed it
      }
    } catch (thrown) {
      if (!this.#isOver) this.#site.failed(new Error(trouble, { cause: thrown }))
    }
    this.#isRunning = false
  }

  stop(): void {
    this.#isOver = true
  }

  /** What is not complete, including work that has failed and waits for its next attempt. */
  get unfinished(): readonly FillProgress[] {
    return [...this.#fillings.values()].map(each => each.progress)
  }

  #watch(progress: FillProgress): void {
    const now = this.#site.elapsed()
    const known = this.#fillings.get(progress.what)
    const filling = known ?? { begunAt: now, rowsBefore: progress.rowsDone, reportedAt: now, progress }
    filling.progress = progress
    if (progress.isOver) this.#fillings.delete(progress.what)
    else this.#fillings.set(progress.what, filling)
    if (progress.isOver) this.#report(filling, now, 'filled')
    else if (!known) this.#report(filling, now, 'filling begins, while the service runs')
    else if (now - filling.reportedAt >= lineEveryMs) this.#report(filling, now, 'filling continues')
  }

  #report(filling: FillingState, now: number, message: string): void {
    const { what, rowsDone, rowsTotal, phase } = filling.progress
    const seconds = (now - filling.begunAt) / 1000
    const rate = seconds > 0 ? { rowsPerSecond: Math.round((rowsDone - filling.rowsBefore) / seconds) } : {}
    const at = { ...(phase !== undefined && { phase }), ...rate, seconds: Math.round(seconds) }
    filling.reportedAt = now
    this.#site.logger.info({ what, rowsDone, rowsTotal, ...at }, message)
  }
}
