/**
 * The state machine of a resource as a value: links, 409, the SOAP fault and the diagram all follow
 * it.
 */

/** State → transition → next state. Actions that stay in their state are left out. */
export type Machine = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The states that can be reached from `initial`, itself included. */
export function reachableStates(machine: Machine, initial: string): ReadonlySet<string> {
  const reached = new Set([initial])
  for (const state of reached) for (const to of Object.values(machine[state] ?? {})) reached.add(to)
  return reached
}

/** State → actions that change an item and leave it in its state. */
export type Stays = Readonly<Record<string, readonly string[]>>

export function listStays(states: readonly string[], actions: Readonly<Record<string, StayingAction>>): Stays {
  const staying = Object.entries(actions).filter(([, { effect }]) => effect === 'stay')
  const verbsOf = (state: string) =>
    staying.flatMap(([verb, { from }]) => (from.length === 0 || from.includes(state) ? [verb] : []))
  return Object.fromEntries(states.map(state => [state, verbsOf(state)]))
}
interface StayingAction {
  readonly effect: string
  /** Empty: all states. */
  readonly from: readonly string[]
}
