/** Whose requests come at the moment: so long work knows whether it holds up others. */
export class RecentCallers {
  #requests = 0
  #latest = { caller: '', inRow: 0 }

  /** To be told of each request that is admitted. */
  note(caller: string): void {
    this.#requests++
    if (this.#latest.caller === caller) this.#latest.inRow++
    else this.#latest = { caller, inRow: 1 }
  }

  /** The number of requests until now, for `hasOthers`. */
  get requests(): number {
    return this.#requests
  }

  /** Whether another caller has asked since there were so many requests. */
  hasOthers(caller: string, since: number): boolean {
    const later = this.#requests - since
    return later > 0 && !(this.#latest.caller === caller && this.#latest.inRow >= later)
  }
}
