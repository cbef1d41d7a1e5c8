/**
 * The audit, for an operator: to be archived, and removed once it is. The store itself only adds to
 * it.
 */
import type { AuditRecord, Store } from '../../service/store.ts'

const pageRows = 1000

/** The deeds before this time, the oldest first. */
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
 * What was listed, and nothing else: the sequence of a deed is given before its commit, so that one
 * which was still under way may stand among them afterwards.
 */
export class ListedDeeds {
  readonly #groups: [first: number, last: number][][] = []
  /** Deeds in the last group, which one transaction removes. */
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
