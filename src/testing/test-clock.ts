/** A clock that stands still until a test moves it. */
export class TestClock {
  #now: number

  /** @param start such as `2026-03-01T09:00:00Z`, or milliseconds since 1970 */
  constructor(start: string | number) {
    this.#now = readTestTime(start)
  }

  /** Milliseconds since 1970. */
  get now(): number {
    return this.#now
  }

  /** Moves to a time, which may be an earlier one. */
  set(time: string | number): void {
    this.#now = readTestTime(time)
  }

  advance({ days = 0, hours = 0, minutes = 0, seconds = 0 }: TimeSpan): void {
    this.#now += (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
  }
}

/** A span of time, as the sum of its parts. */
export interface TimeSpan {
  readonly days?: number
  readonly hours?: number
  readonly minutes?: number
  readonly seconds?: number
}

function readTestTime(time: string | number): number {
  const found = typeof time === 'number' ? time : Date.parse(time)
  if (!Number.isFinite(found)) throw new TypeError(`${time} is not a time: give one such as 2026-03-01T09:00:00Z`)
  return found
}
