/**
 * The end of the change feed: one look a second for all who wait there, and none while nobody does.
 */
import type { Store } from '../service/store.ts'

/** Milliseconds between looks: other instances write as well. */
const pause = 1000

export class ChangeNotifier {
  stopped = false
  readonly #store: Store
  readonly #longest: number
  #version = 0
  #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #seen = 0

  /** Who waits is woken after `longest` milliseconds in any case. */
  constructor(store: Store, longest: number) {
    this.#store = store
    this.#longest = longest
  }

  /** To be taken before the store is read: what is committed from then on ends the waiting. */
  mark(): number {
    return this.#version
  }

  kick(): void {
    this.#version++
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /** `last` is the sequence that was read up to. */
  after(mark: number, last: number): Promise<void> {
    this.#seen = Math.max(this.#seen, last)
    if (mark !== this.#version || this.stopped) return Promise.resolve()
    this.#timer ??= setInterval(() => void this.#look(), pause).unref()
    return new Promise(resolve => {
      const late = setTimeout(() => {
        this.#waiting.delete(wake)
        resolve()
      }, this.#longest).unref()
      const wake = (): void => {
        clearTimeout(late)
        resolve()
      }
      this.#waiting.add(wake)
    })
  }

  async #look(): Promise<void> {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    if (this.#looking) return // a store that is slow to answer is not asked again meanwhile
    this.#looking = true
    const last = await this.#last(this.#seen).finally(() => (this.#looking = false))
    if (last === undefined) return
    this.#seen = last
    this.kick()
  }

  /** The next change after this one; undefined also while the store is out of reach. */
  async #last(after: number): Promise<number | undefined> {
    try {
      return (await this.#store.read(reader => reader.changes(after, 1))).at(-1)?.sequence
    } catch {
      return undefined
    }
  }

  stop(): void {
    this.stopped = true
    clearInterval(this.#timer)
    this.kick()
  }
}
