/** The audit, for an operator: to archive, and then to remove. The store itself only adds to it. */
import type { AuditRecord, Store } from '../../service/store.ts'

const pageRows = 1000

/** The deeds before this time, oldest first. */
export async function* listDeeds(store: Store, before: number): AsyncGenerator<AuditRecord & { sequence: number }> {
  for (let after = 0; ; ) {
    const page = await store.read(reader => reader.deeds(after, before, pageRows))
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageRows) return
    after = last.sequence
  }
}

/**
 * The deeds that were listed, and no others: a deed gets its sequence number before its commit, so
 * one that was still under way may later appear among them.
 */
export class ListedDeeds {
  readonly #groups: [first: number, last: number][][] = []
  /** Deeds in the last group; one transaction removes a group. */
  #size = 0

  add(sequence: number): void {
    const group = this.#size < pageRows ? this.#groups.at(-1) : undefined
    const run = group?.at(-1)
    if (run?.[1] === sequence - 1) run[1] = sequence
    else if (group) group.push([sequence, sequence])
    else this.#groups.push([[sequence, sequence]])
    this.#size = group ? this.#size + 1 : 1
  }

  /** @returns how many were removed */
  async remove(store: Store): Promise<number> {
    let count = 0
    for (const runs of this.#groups) count += await store.write(writer => writer.removeDeeds(runs))
    return count
  }
}
