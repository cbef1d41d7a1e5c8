/** A prefix and its namespace, in the order of declaration. */
export interface Binding {
  readonly prefix: string
  readonly uri: string
  /** The depth of the element that declares it. */
  readonly depth: number
  /** What the prefix means outside. */
  readonly hidden: Binding | undefined
  readonly previous: Binding | undefined
  /** The number of bindings in force, hidden ones included. */
  readonly count: number
  /** Identifies the bindings in force without holding on to any of them. */
  readonly scope: object
  /** The binding that followed last time, if its namespace is known to the process. */
  follower: Binding | undefined
}

/** Up to this many bindings are searched one by one, and remembered from document to document. */
const listedMax = 8

/** The binding before the first declaration. No document can write its prefix. */
export const outermost: Binding = {
  ...{ prefix: ':', uri: '', depth: 0, hidden: undefined, previous: undefined },
  ...{ count: 0, scope: {}, follower: undefined },
}

/**
 * The meaning of prefixes at a cursor's position (Namespaces in XML 1.0 §6). Most documents declare
 * so few that a list is faster than a table, and needs no undoing at the end of an element; where
 * there are more, a table is used, so no look-up depends on their number. A message usually
 * declares what the previous one declared, so its bindings are used again.
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
   * @param known whether `uri` is the process's own string and not the document's
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
    const binding: Binding = { prefix, uri, depth, hidden, previous, count, scope: {}, follower: undefined }
    if (known && count <= listedMax) previous.follower = binding
    return binding
  }

  /** Restores the state in which this binding was the innermost. */
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
