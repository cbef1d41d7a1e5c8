/** A prefix and its namespace, in the order of declaration. */
export interface Binding {
  readonly prefix: string
  readonly uri: string
  /** Of the element that declares it. */
  readonly depth: number
  /** What the prefix means outside. */
  readonly hidden: Binding | undefined
  readonly previous: Binding | undefined
  /** The number of bindings in force, hidden ones included. */
  readonly count: number
  /** Identifies the bindings in force, and holds on to none of them. */
  readonly scope: object
  /** The binding that followed last time, of a namespace that the process knows. */
  follower: Binding | undefined
}

/** So many bindings are searched one by one, and remembered from document to document. */
const listedMax = 8

/** Before the first declaration. Its prefix is one that cannot be written. */
export const outermost: Binding = {
  ...{ prefix: ':', uri: '', depth: 0, hidden: undefined, previous: undefined },
  ...{ count: 0, scope: {}, follower: undefined },
}

/**
 * The meaning of prefixes at a cursor's position (Namespaces in XML 1.0 §6). Most documents declare
 * so few that a list is faster than a table, and needs no undoing at the end of an element; where
 * there are more, a table answers, so that no look-up depends on their number. Messages declare
 * what the previous one declared: then its bindings serve again.
 */
export class Bindings {
  innermost: Binding = outermost
  #table: Map<string, Binding> | undefined = undefined

  find(prefix: string): Binding | undefined {
    if (this.#table !== undefined) return this.#table.get(prefix)
    let binding: Binding | undefined = this.innermost
    while (binding !== undefined && binding.prefix !== prefix) binding = binding.previous
    return binding
  }

  /**
   * @param hidden what the prefix means outside, as found
   * @param known whether `uri` is the process's own string, and not one of the document
   */
  add(prefix: string, uri: string, depth: number, hidden: Binding | undefined, known: boolean): void {
    const { follower } = this.innermost
    if (follower !== undefined && follower.prefix === prefix && follower.uri === uri && follower.depth === depth)
      this.innermost = follower
    else this.innermost = this.#createBinding(prefix, uri, depth, hidden, known)
    if (this.#table !== undefined) this.#table.set(prefix, this.innermost)
    else if (this.innermost.count > listedMax) this.#table = tableOf(this.innermost)
  }

  #createBinding(prefix: string, uri: string, depth: number, hidden: Binding | undefined, known: boolean): Binding {
    const previous = this.innermost
    const count = previous.count + 1
    const made: Binding = { prefix, uri, depth, hidden, previous, count, scope: {}, follower: undefined }
    if (known && count <= listedMax) previous.follower = made
    return made
  }

  /** Restores the state in which this was the innermost. */
  restore(outer: Binding): void {
    if (this.#table !== undefined) {
      for (let binding = this.innermost; binding !== outer; binding = binding.previous!) {
        const { prefix, hidden } = binding
        if (hidden) this.#table.set(prefix, hidden)
        else this.#table.delete(prefix)
      }
    }
    this.innermost = outer
  }
}

function tableOf(innermost: Binding): Map<string, Binding> {
  const table = new Map<string, Binding>()
  for (let binding = innermost; binding.previous; binding = binding.previous) {
    if (!table.has(binding.prefix)) table.set(binding.prefix, binding)
  }
  return table
}
