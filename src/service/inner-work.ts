/** Work in a transaction of its own, inside a handler that is not in any. */

/** Runs such units of work, one at a time. */
export interface InnerWork {
  /** @throws Error while one runs: it would wait for the transaction that waits for it */
  outside<T>(work: () => T): T
  inside<T>(work: () => T | Promise<T>): Promise<T>
}

/** @param flaw the error for a read or a change from outside while a unit of work runs */
export function createInnerWork(flaw: string): InnerWork {
  let isRunning = false
  return {
    outside: work => {
      if (isRunning) throw new Error(flaw)
      return work()
    },
    inside: async work => {
      isRunning = true
      try {
        return await work()
      } finally {
        isRunning = false
      }
    },
  }
}
