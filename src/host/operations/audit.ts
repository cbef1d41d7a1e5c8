/** The audit, for an operator: to archive, and then to remove. The store itself only adds to it. */
import type { AuditRecord, Store } from '../../service/store.ts'

/** Deeds that one read looks at. */
const readRows = 10_000
/** Deeds that one transaction removes. */
const pageRows = 1000

/** The deeds before this time, oldest first. No read takes longer the more deeds are younger. */
export async function* listDeeds(
  store: Pick<Store, 'read'>,
  before: number,
): AsyncGenerator<AuditRecord & { sequence: number }> {
  for (let after: number | undefined = 0; after !== undefined; ) {
    const from: number = after
    const [page, last] = await store.read(
      async reader => [await reader.deeds(from, before, readRows), await reader.lastDeed(from, readRows)] as const,
    )
    yield* page
    after = last
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
