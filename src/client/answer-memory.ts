/**
 * The answers that a client has accepted although nothing in them names their request: none is
 * accepted twice. There are two generations, so that forgetting needs no search: an answer is
 * remembered for one to two lifetimes of a Timestamp.
 */
import { defaultFreshness } from '../security/verify/timestamp.ts'

/** The most answers in the lifetime of a Timestamp: more than one process can verify. */
export const takenAnswersMax = 262_144
/** From a Timestamp that is a minute ahead of our clock to its end. */
const lifeMs = defaultFreshness.age + defaultFreshness.skew

export class AnswerMemory {
  readonly #max: number
  #begun = 0
  #current = new Set<string>()
  #former: ReadonlySet<string> = new Set()

  /** @param max the number of answers that are remembered in the lifetime of a Timestamp */
  constructor(max = takenAnswersMax) {
    this.#max = max
  }

  /**
   * Whether the answer is known; otherwise it is from now on. `full`: it cannot be remembered.
   * @param key identifies its signature
   * @param now milliseconds since 1970
   */
  take(key: string, now: number): 'new' | 'known' | 'full' {
    if (Math.abs(now - this.#begun) > lifeMs) {
      this.#former = this.#current
      this.#current = new Set()
      this.#begun = now
    }
    if (this.#current.has(key) || this.#former.has(key)) return 'known'
    if (this.#current.size >= this.#max) return 'full'
    this.#current.add(key)
    return 'new'
  }
}
