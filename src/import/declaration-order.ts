/** Orders declarations so that each comes after those from which it is made (Tarjan, 1972). */

export interface Dependency<T> {
  readonly to: T
  /** `to` must be declared first, because its value is used immediately. */
  readonly isEager: boolean
}

/** Groups that refer to each other in a circle; a group follows all groups to which it refers. */
export function listComponents<T>(
  all: readonly T[],
  dependenciesOf: (of: T) => readonly Dependency<T>[],
): readonly (readonly T[])[] {
  const index = new Map<T, number>()
  const low = new Map<T, number>()
  const open: T[] = []
  const isOpen = new Set<T>()
  const components: T[][] = []
  for (const root of all) {
    if (index.has(root)) continue
    const walk = [{ node: root, edges: dependenciesOf(root), at: 0 }]
    enter(root)
    while (walk.length > 0) {
      const step = walk.at(-1)!
      const edge = step.edges[step.at++]
      if (!edge) {
        walk.pop()
        leave(step.node, walk.at(-1)?.node)
      } else if (!index.has(edge.to)) {
        enter(edge.to)
        walk.push({ node: edge.to, edges: dependenciesOf(edge.to), at: 0 })
      } else if (isOpen.has(edge.to)) low.set(step.node, Math.min(low.get(step.node)!, index.get(edge.to)!))
    }
  }
  return components.map(each => sortEagerly(each, dependenciesOf))

  function enter(node: T): void {
    index.set(node, index.size)
    low.set(node, index.size - 1)
    open.push(node)
    isOpen.add(node)
  }
  function leave(node: T, parent: T | undefined): void {
    if (parent !== undefined) low.set(parent, Math.min(low.get(parent)!, low.get(node)!))
    if (low.get(node) !== index.get(node)) return
    const component: T[] = []
    for (let each = open.pop()!; ; each = open.pop()!) {
      isOpen.delete(each)
      component.push(each)
      if (each === node) break
    }
    components.push(component.reverse())
  }
}

/** Declarations that are needed eagerly come first; such needs form no circle. */
function sortEagerly<T>(component: readonly T[], dependenciesOf: (of: T) => readonly Dependency<T>[]): readonly T[] {
  const members = new Set(component)
  const sorted = new Set<T>()
  const visiting = new Set<T>()
  const visit = (node: T): void => {
    if (sorted.has(node) || visiting.has(node)) return
    visiting.add(node)
    for (const { to, isEager } of dependenciesOf(node)) if (isEager && members.has(to)) visit(to)
    sorted.add(node)
  }
  for (const each of component) visit(each)
  return [...sorted]
}
