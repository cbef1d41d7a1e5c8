/** The machine a resource lives by, as a value: it gives the links, the 409, the SOAP fault and the picture alike. */

/** State → transition → next state. A read offered by some states only leads nowhere and is not in here. */
export type Machine = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The transitions that a state offers, in the contract's order. */
export function offered(machine: Machine, state: string | undefined): readonly string[] {
  return state !== undefined && Object.hasOwn(machine, state) ? Object.keys(machine[state] ?? {}) : []
}

/** Where a transition leads from a state; undefined where the state does not offer it. */
export function next(machine: Machine, state: string, transition: string): string | undefined {
  const from = Object.hasOwn(machine, state) ? machine[state] : undefined
  return from && Object.hasOwn(from, transition) ? from[transition] : undefined
}

/** The states that can be reached from `initial`; `review` names those that can't. */
export function reachable(machine: Machine, initial: string): ReadonlySet<string> {
  const seen = new Set([initial])
  for (const state of seen) for (const to of Object.values(machine[state] ?? {})) seen.add(to)
  return seen
}

/** Mermaid's stateDiagram text. */
export function drawn(machine: Machine, initial: string): string {
  const edges = Object.entries(machine).flatMap(([from, to]) =>
    Object.entries(to).map(([name, state]) => `  ${from} --> ${state}: ${name}`),
  )
  return ['stateDiagram-v2', `  [*] --> ${initial}`, ...edges].join('\n')
}
