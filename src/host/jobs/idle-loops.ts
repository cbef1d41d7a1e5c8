/**
 * Loops of this process that found nothing to do in a queue: only one of them looks again after a
 * while, and as soon as one has found something, the next one looks.
 */
export class IdleLoops {
  readonly #lookEveryMs: number
  readonly #sleepers = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isWoken = false

  constructor(lookEveryMs: number) {
    this.#lookEveryMs = lookEveryMs
  }

  /** Returns at once if something has arrived since the last look. */
  sleep(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#sleepers.add(resolve)
    if (this.#isWoken) this.wakeOne()
    else this.#timer ??= setTimeout(this.wakeOne, this.#lookEveryMs).unref()
    return promise
  }

  /** Call when there is something to do. While no loop sleeps, the next one looks again first. */
  readonly wakeOne = (): void => {
    clearTimeout(this.#timer)
    const [first] = this.#sleepers
    this.#isWoken = first === undefined
    if (first) this.#sleepers.delete(first)
    this.#timer = this.#sleepers.size > 0 ? setTimeout(this.wakeOne, this.#lookEveryMs).unref() : undefined
    first?.()
  }

  wakeAll(): void {
    do this.wakeOne()
    while (this.#sleepers.size > 0)
  }
}
