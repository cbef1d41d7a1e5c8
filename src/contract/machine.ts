/** The machine a resource lives by, as a value: it gives the links, the 409, the SOAP fault and the picture alike. */

/** State → transition → next state. A read offered by some states only leads nowhere and is not in here. */
export type Machine = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The states that can be reached from `initial`; `review` names those that can't. */
export function reachableStates(machine: Machine, initial: string): ReadonlySet<string> {
  const seen = new Set([initial])
  for (const state of seen) for (const to of Object.values(machine[state] ?? {})) seen.add(to)
  return seen
}
