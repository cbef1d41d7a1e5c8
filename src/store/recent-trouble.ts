/**
 * A database that is reachable but does not serve: it accepts no change, or cannot read its own
 * pages. It may accept a small change although it refused a larger one, so only time tells that the
 * trouble is over.
 */
import { Unavailable } from '../service/store.ts'

/** For this long after such a failure, the store is not ready. */
const troubleMs = 10_000

export class RecentTrouble {
  readonly #isTrouble: (thrown: unknown) => boolean
  #until = 0

  /** @param isTrouble recognizes it by the database's own error */
  constructor(isTrouble: (thrown: unknown) => boolean) {
    this.#isTrouble = isTrouble
  }

  readonly notice = (thrown: unknown): void => {
    if (this.#isTrouble(thrown instanceof Unavailable ? thrown.cause : thrown))
      this.#until = performance.now() + troubleMs
  }

  /** Returns the same promise. */
  watch<T>(answer: Promise<T>): Promise<T> {
    answer.catch(this.notice)
    return answer
  }

  get isOver(): boolean {
    return performance.now() >= this.#until
  }
}
