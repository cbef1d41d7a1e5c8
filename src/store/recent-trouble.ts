/**
 * A database that is reached but does not serve: it takes no change, or cannot read its own pages.
 * A small change may be taken where a larger one was not, so only time tells that it is over.
 */
import { Unavailable } from '../service/store.ts'

/** For so long after such a failure the store is not ready. */
const troubleMs = 10_000

export class RecentTrouble {
  readonly #isTrouble: (thrown: unknown) => boolean
  #until = 0

  /** @param isTrouble tells it by the database's own error */
  constructor(isTrouble: (thrown: unknown) => boolean) {
    this.#isTrouble = isTrouble
  }

  readonly notice = (thrown: unknown): void => {
    if (this.#isTrouble(thrown instanceof Unavailable ? thrown.cause : thrown))
      this.#until = performance.now() + troubleMs
  }

  /** Gives the answer back. */
  watch<T>(answer: Promise<T>): Promise<T> {
    answer.catch(this.notice)
    return answer
  }

  get isOver(): boolean {
    return performance.now() >= this.#until
  }
}
