/**
 * Octets that are kept of contents which are still arriving, of all peers together: slow senders
 * have no more of them kept, on however many connections. Beyond the bound the content that has
 * been kept for the longest time ends: one that comes quickly is seldom that.
 */

/** A content of which octets are kept. */
export interface HeldContent {
  /** Ends it: there is no room any more. */
  crowdOut(): void
}

export class HeldOctets {
  readonly #max: number
  /** In the order in which they came. */
  readonly #counts = new Map<HeldContent, number>()
  #total = 0

  constructor(max: number) {
    this.#max = max
  }

  get total(): number {
    return this.#total
  }

  add(content: HeldContent, octets: number): void {
    this.#counts.set(content, (this.#counts.get(content) ?? 0) + octets)
    this.#total += octets
    for (const oldest of this.#counts.keys()) {
      if (this.#total <= this.#max) return
      this.remove(oldest)
      oldest.crowdOut()
    }
  }

  /** It has come whole, or has ended. */
  remove(content: HeldContent): void {
    this.#total -= this.#counts.get(content) ?? 0
    this.#counts.delete(content)
  }
}
