/**
 * Certificate policies along a path (RFC 5280 §6.1.3 d–f, §6.1.4 a, b, §6.1.5 g), as the graph of
 * RFC 9618, whose size a product bounds where a tree would grow exponentially. A node is a policy
 * at a depth; there is one for each policy, with all of its parents.
 */

import { anyPolicy } from './certificate-extensions.ts'

interface PolicyNode {
  /** Policies of the next certificate that are equivalent to this one. */
  expected: ReadonlySet<string>
  /** Policies at the depth above. */
  readonly parents: ReadonlySet<string>
}

type PolicyDepth = Map<string, PolicyNode>

export class PolicyGraph {
  /** From the anchor down; empty: the graph is NULL. */
  #depths: PolicyDepth[] = [new Map([[anyPolicy, { expected: new Set([anyPolicy]), parents: new Set<string>() }]])]

  get isNull(): boolean {
    return this.#depths.length === 0
  }

  /** RFC 9618 §5.1 (d), (e): the policies of the next certificate. */
  addCertificate(policies: readonly string[] | undefined, allowsAnyPolicy: boolean): void {
    const above = this.#depths.at(-1)
    if (!above) return
    if (!policies) {
      this.#clear()
      return
    }
    const depth: PolicyDepth = new Map()
    const parentsOf = groupByExpectation(above)
    for (const policy of policies) {
      if (policy === anyPolicy) continue
      const parents = parentsOf.get(policy) ?? (above.has(anyPolicy) ? [anyPolicy] : undefined)
      if (parents) depth.set(policy, { expected: new Set([policy]), parents: new Set(parents) }) // (1)
    }
    if (policies.includes(anyPolicy) && allowsAnyPolicy)
      for (const [policy, parents] of parentsOf)
        if (!depth.has(policy)) depth.set(policy, { expected: new Set([policy]), parents: new Set(parents) }) // (2)
    this.#depths.push(depth)
    this.#prune() // (3)
  }

  /** RFC 9618 §5.2 (b): the mappings of the last added certificate. */
  mapPolicies(mappings: readonly (readonly [issuer: string, subject: string])[], isAllowed: boolean): void {
    const depth = this.#depths.at(-1)
    if (!depth || mappings.length === 0) return
    for (const [issuer, subjects] of groupMappings(mappings)) {
      const node = depth.get(issuer)
      if (!isAllowed)
        depth.delete(issuer) // (2)
      else if (node)
        node.expected = subjects // (1)
      else if (depth.has(anyPolicy)) depth.set(issuer, { expected: subjects, parents: new Set([anyPolicy]) })
    }
    this.#prune()
  }

  /** RFC 9618 §5.3 (g): whether one of these policies remains. */
  intersects(policies: ReadonlySet<string>): boolean {
    const last = this.#depths.at(-1)
    if (!last || policies.has(anyPolicy) || last.has(anyPolicy)) return last !== undefined
    return this.#depths.some(depth =>
      [...depth].some(([policy, { parents }]) => parents.has(anyPolicy) && policies.has(policy)),
    )
  }

  #clear(): void {
    this.#depths = []
  }

  /** Removes nodes without a child, except at the last depth. */
  #prune(): void {
    for (let at = this.#depths.length - 1; at > 0; at--) {
      const parents = new Set([...this.#depths[at]!.values()].flatMap(node => [...node.parents]))
      const above = this.#depths[at - 1]!
      for (const policy of above.keys()) if (!parents.has(policy)) above.delete(policy)
    }
    if (this.#depths[0]?.size === 0 || this.#depths.at(-1)?.size === 0) this.#clear()
  }
}

/** Expected policy → the nodes that expect it. */
function groupByExpectation(depth: PolicyDepth): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [policy, { expected }] of depth)
    for (const each of expected) {
      const parents = found.get(each)
      if (parents) parents.push(policy)
      else found.set(each, [policy])
    }
  return found
}

function groupMappings(mappings: readonly (readonly [string, string])[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>()
  for (const [issuer, subject] of mappings) found.set(issuer, (found.get(issuer) ?? new Set()).add(subject))
  return found
}
