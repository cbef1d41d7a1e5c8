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
  /** Another object wherever the bindings in force are others; it holds on to none of them. */
  readonly scope: object
  /** The one that followed it the last time, of a namespace that the process knows. */
  follower: Binding | undefined
}

/** So many are looked through one by one, and remembered from document to document. */
const few = 8

/** Before the first declaration. No prefix is spelt so. */
export const outermost: Binding = {
  ...{ prefix: ':', uri: '', depth: 0, hidden: undefined, previous: undefined },
  ...{ count: 0, scope: {}, follower: undefined },
}

/**
 * What prefixes stand for where a cursor is (Namespaces in XML 1.0 §6). Most documents declare so few that the list is faster
 * than a table, and needs nothing undone at the end of an element; where there are more, a table answers, so that no
 * look-up depends on how many there are. Messages declare what the one before declared: then its bindings serve again.
 */
export class Bindings {
  innermost: Binding = outermost
  private table: Map<string, Binding> | undefined = undefined

  of(prefix: string): Binding | undefined {
    if (this.table !== undefined) return this.table.get(prefix)
    let binding: Binding | undefined = this.innermost
    while (binding !== undefined && binding.prefix !== prefix) binding = binding.previous
    return binding
  }

  /** @param known whether `uri` is the process's own string, and not one of the document */
  add(prefix: string, uri: string, depth: number, known: boolean): void {
    const { follower } = this.innermost
    if (follower !== undefined && follower.prefix === prefix && follower.uri === uri && follower.depth === depth)
      this.innermost = follower
    else this.innermost = this.following(prefix, uri, depth, known)
    if (this.table !== undefined) this.table.set(prefix, this.innermost)
    else if (this.innermost.count > few) this.table = tabled(this.innermost)
  }

  private following(prefix: string, uri: string, depth: number, known: boolean): Binding {
    const previous = this.innermost
    const count = previous.count + 1
    const hidden = this.of(prefix)
    const made: Binding = { prefix, uri, depth, hidden, previous, count, scope: {}, follower: undefined }
    if (known && count <= few) previous.follower = made
    return made
  }

  /** As it was when this was the innermost. */
  back(outer: Binding): void {
    if (this.table !== undefined) {
      for (let binding = this.innermost; binding !== outer; binding = binding.previous!) {
        const { prefix, hidden } = binding
        if (hidden) this.table.set(prefix, hidden)
        else this.table.delete(prefix)
      }
    }
    this.innermost = outer
  }
}

function tabled(innermost: Binding): Map<string, Binding> {
  const table = new Map<string, Binding>()
  for (let binding = innermost; binding.previous; binding = binding.previous) {
    if (!table.has(binding.prefix)) table.set(binding.prefix, binding)
  }
  return table
}
