export type Maybe<T> = T | Promise<T>

/**
 * Continues with a value: at once when it is available, so that a response from memory costs no
 * turn of the promise queue.
 */
export function chain<A, B>(value: Maybe<A>, work: (value: A) => Maybe<B>): Maybe<B> {
  return value instanceof Promise ? value.then(work) : work(value)
}

/** Runs one after the other: at once until one has to be awaited. */
export function forEachInTurn<T>(items: readonly T[], work: (item: T) => Maybe<void>): Maybe<void> {
  for (const [i, item] of items.entries()) {
    const done = work(item)
    if (done instanceof Promise) return done.then(() => forEachInTurn(items.slice(i + 1), work))
  }
}

/**
 * The result of `work`, or what `failed` makes of what it throws: at once, or when the promise
 * settles.
 */
export function settle<T>(work: () => Maybe<T>, failed: (thrown: unknown) => Maybe<T>): Maybe<T> {
  try {
    const answer = work()
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (thrown) {
    return failed(thrown)
  }
}
