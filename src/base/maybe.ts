export type Maybe<T> = T | Promise<T>

/**
 * Continues with a value: at once when it is available, so that a response from memory costs no
 * turn of the promise queue.
 */
export function chain<A, B>(value: Maybe<A>, work: (value: A) => Maybe<B>): Maybe<B> {
  return value instanceof Promise ? value.then(work) : work(value)
}

/** Runs steps one after the other: synchronously, until one has to be awaited. */
export function forEachInTurn<T>(items: readonly T[], work: (item: T) => Maybe<void>): Maybe<void> {
  for (const [i, item] of items.entries()) {
    const done = work(item)
    if (done instanceof Promise) return done.then(() => forEachInTurn(items.slice(i + 1), work))
  }
}

/** The result of `work`, or that of `failed` after an exception: synchronously if possible. */
export function settle<T>(work: () => Maybe<T>, failed: (thrown: unknown) => Maybe<T>): Maybe<T> {
  try {
    const answer = work()
    return answer instanceof Promise ? answer.catch(failed) : answer
  } catch (thrown) {
    return failed(thrown)
  }
}

/**
 * The same for work with its own subject: the result of `work` goes to `done`, and what either
 * throws to `failed`. Every request passes here, so it allocates no closure unless it has to wait.
 */
export function settleFor<S, T, R>(
  subject: S,
  work: (subject: S) => Maybe<T>,
  done: (subject: S, value: T) => Maybe<R>,
  failed: (subject: S, thrown: unknown) => Maybe<R>,
): Maybe<R> {
  try {
    const value = work(subject)
    if (!(value instanceof Promise)) return done(subject, value)
    return value.then(found => done(subject, found)).catch(thrown => failed(subject, thrown))
  } catch (thrown) {
    return failed(subject, thrown)
  }
}
