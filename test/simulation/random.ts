/** Numbers that look drawn, the same ones for the same seed (sfc32 by Chris Doty-Humphrey). */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number) {
    this.#a = 0x9e3779b9 | 0
    this.#b = Math.floor(seed / 2 ** 32) | 0
    this.#c = seed | 0
    for (let i = 0; i < 15; i++) this.#next()
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** From 0, below 1. */
  part(): number {
    return (this.#next() * 2 ** 21 + (this.#next() >>> 11)) / 2 ** 53
  }
  /** A whole number from 0, below a limit. */
  below(limit: number): number {
    return Math.floor(this.part() * limit)
  }
  /** Whether what happens with this probability happens. */
  chance(probability: number): boolean {
    return this.part() < probability
  }
  /** A part of both ends, most often near the lower one. */
  between(least: number, most: number): number {
    return least * (most / least) ** this.part()
  }
  pick<T>(of: readonly T[]): T {
    const found = of[this.below(of.length)]
    if (found === undefined) throw new Error('nothing to pick from')
    return found
  }
  fill(octets: Uint8Array): Uint8Array {
    for (let i = 0; i < octets.length; i++) octets[i] = this.#next() & 0xff
    return octets
  }
}
