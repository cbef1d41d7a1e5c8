/** Has a store complete what its start left for later, and tells the operator where it cannot. */
import type { Store } from '../../service/store.ts'

const trouble =
  'the indexes of words are not complete: until they are, searches look at each item, and those for words that are new to the contract are answered with 503. Mend the cause: it is tried again within a minute'

export class StoreFiller {
  readonly #store: Pick<Store, 'fill'>
  readonly #failed: (thrown: unknown) => void
  #isOver = false
  #isRunning = false

  constructor(store: Pick<Store, 'fill'>, failed: (thrown: unknown) => void) {
    this.#store = store
    this.#failed = failed
  }

  /** Goes on, unless all is done or under way. */
  async run(): Promise<void> {
    if (this.#isOver || this.#isRunning) return
    this.#isRunning = true
    try {
      if ((await this.#store.fill?.()) !== false) this.#isOver = true
    } catch (thrown) {
      if (!this.#isOver) this.#failed(new Error(trouble, { cause: thrown }))
    }
    this.#isRunning = false
  }

  stop(): void {
    this.#isOver = true
  }
}
