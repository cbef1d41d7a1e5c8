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

/** Removes the deeds before this time, up to this sequence. @returns how many */
export async function removeDeeds(store: Store, before: number, upTo: number): Promise<number> {
  let count = 0
  for (let removed = pageRows; removed === pageRows; count += removed)
    removed = await store.write(writer => writer.removeDeeds(before, upTo, pageRows))
  return count
}
