/**
 * Changes, jobs and steps that handlers start. A handler that does not await one has a bug, and an
 * error names it: the call would succeed without the change, and a rejection would end the process.
 */

/** A promise that knows whether anything waits for it: `await` calls `then` of a subclass. */
class StartedPromise<T> extends Promise<T> {
  isAwaited = false
  isSettled = false

  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  // biome-ignore lint/suspicious/noThenProperty: it overrides that of a promise
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isAwaited = true
    return super.then(onFulfilled, onRejected)
  }
}

/** What handlers have started and not yet awaited to its end, and the name of each. */
export interface StartedWork {
  open?: Map<StartedPromise<unknown>, string>
}

/** @param name as the handler writes it */
export function addStarted<T>(started: StartedWork, name: string, work: Promise<T>): Promise<T> {
  const promise = new StartedPromise<T>((resolve, reject) => {
    work.then(resolve, reject)
  })
  started.open ??= new Map()
  started.open.set(promise, name)
  const settle = (): void => {
    promise.isSettled = true
    if (promise.isAwaited) started.open?.delete(promise)
  }
  Promise.prototype.then.call(promise, settle, settle) // it does not count as awaiting
  return promise
}

/** @throws Error that names what a handler has not awaited */
export function requireAwaited(operation: string, { open = new Map() }: StartedWork): void {
  for (const [{ isAwaited, isSettled }, name] of open)
    if (!isAwaited || !isSettled)
      throw new Error(`${operation}: ${name} is not awaited, so it would be lost: write await before it`)
}

/** Ends when nothing that was started is under way. */
export const settleStarted = ({ open = new Map() }: StartedWork): Promise<unknown> => Promise.allSettled(open.keys())

/** Runs a handler, which must await what it starts. */
export async function runStarting<T>(started: StartedWork, operation: string, work: () => T | Promise<T>): Promise<T> {
  try {
    const result = await work()
    requireAwaited(operation, started)
    return result
  } finally {
    await settleStarted(started)
  }
}
