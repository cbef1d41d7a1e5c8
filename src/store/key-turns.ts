/**
 * Works that change the same thing take turns in this process, before they take a connection: a
 * thing that is locked elsewhere holds up one connection, however many ask for it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../service/store.ts'

export class KeyTurns {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * @param time in milliseconds; the work is given what is left of it
   * @throws Unavailable when it is over before its turn comes
   */
  async run<T>(key: string | undefined, time: number, work: (left: number) => Promise<T>): Promise<T> {
    if (key === undefined) return work(time)
    const began = performance.now()
    const before = this.#last.get(key)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(key, over)
    try {
      if (before && !(await isOverWithin(before, time))) throw new Unavailable(1, `others change ${key}`)
      return await work(time - (performance.now() - began))
    } finally {
      void (before ?? Promise.resolve()).then(() => {
        if (this.#last.get(key) === over) this.#last.delete(key)
        end()
      })
    }
  }
}

async function isOverWithin(before: Promise<void>, time: number): Promise<boolean> {
  const given = new AbortController()
  const late = sleep(time, false, { signal: given.signal, ref: false }).catch(() => false)
  try {
    return await Promise.race([before.then(() => true), late])
  } finally {
    given.abort()
  }
}
