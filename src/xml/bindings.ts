/** A prefix and what it stands for, in the order of declaration. */
export interface Binding {
  readonly prefix: string
  readonly uri: string
  /** Of the element that declares it. */
  readonly depth: number
  /** What the prefix stood for outside. */
  readonly hidden: Binding | undefined
  readonly previous: Binding | undefined
  /** How many are in force, those that are hidden included. */
  readonly count: number
}

/** So many are looked through one by one. */
const few = 8

/**
 * What prefixes stand for where a cursor is (Namespaces in XML 1.0 §6). Most documents declare so few that the list is faster
 * than a table, and needs nothing undone at the end of an element; where there are more, a table answers, so that no
 * look-up depends on how many there are.
 */
export class Bindings {
  innermost: Binding | undefined = undefined
  private table: Map<string, Binding> | undefined = undefined

  of(prefix: string): Binding | undefined {
    if (this.table !== undefined) return this.table.get(prefix)
    let binding = this.innermost
    while (binding !== undefined && binding.prefix !== prefix) binding = binding.previous
    return binding
  }

  add(prefix: string, uri: string, depth: number): void {
    const previous = this.innermost
    const count = previous === undefined ? 1 : previous.count + 1
    this.innermost = { prefix, uri, depth, hidden: this.of(prefix), previous, count }
    if (this.table !== undefined) this.table.set(prefix, this.innermost)
    else if (count > few) this.table = tabled(this.innermost)
  }

  /** As it was when this was the innermost. */
  back(outer: Binding | undefined): void {
    if (this.table !== undefined) {
      for (let binding = this.innermost; binding !== outer; binding = binding!.previous) {
        const { prefix, hidden } = binding!
        if (hidden) this.table.set(prefix, hidden)
        else this.table.delete(prefix)
      }
    }
    this.innermost = outer
  }
}

function tabled(innermost: Binding): Map<string, Binding> {
  const table = new Map<string, Binding>()
  for (let binding: Binding | undefined = innermost; binding; binding = binding.previous) {
    if (!table.has(binding.prefix)) table.set(binding.prefix, binding)
  }
  return table
}
