/**
 * What streams of the change feed send: one look at the store, and one text, for all readers at the
 * same place with the same rights.
 */
import type { Caller } from '../contract/policy.ts'
import type { FeedPlace } from '../service/change-feed.ts'

/** How many looks are kept at once: readers that are catching up are at different places. */
const looksMax = 100

export class SharedLooks<T> {
  readonly #look: (caller: Caller, after: FeedPlace | undefined) => Promise<T>
  #mark = -1
  #looks = new Map<string, Promise<T>>()

  constructor(look: (caller: Caller, after: FeedPlace | undefined) => Promise<T>) {
    this.#look = look
  }

  /** @param mark differs after each commit; an earlier look does not count */
  find(mark: number, caller: Caller, after: FeedPlace | undefined): Promise<T> {
    if (mark !== this.#mark) {
      this.#looks = new Map()
      this.#mark = mark
    }
    const looks = this.#looks
    const key = JSON.stringify([after ?? null, rightsOf(caller)])
    const known = looks.get(key)
    if (known) return known
    const look = this.#look(caller, after)
    if (looks.size < looksMax) {
      looks.set(key, look)
      look.catch(() => looks.delete(key)) // the next reader tries again
    }
    return look
  }
}

/** Everything that decides what a caller may read; grants of reading have no other condition. */
const rightsOf = ({ subject, roles, claims }: Caller): unknown => [
  subject === undefined,
  [...roles].sort(),
  Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)),
]
