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

interface ActingResource<A> {
  readonly states: readonly string[]
  readonly actions: Readonly<Record<string, A>>
}
interface StartingAction {
  /** Empty: all states. */
  readonly from: readonly string[]
}

/** For each state, the results of `pick` for the actions that start there, in their order. */
export const pickByState = <A extends StartingAction, T>(
  { states, actions }: ActingResource<A>,
  pick: (name: string, action: A) => readonly T[],
): readonly (readonly [state: string, picked: readonly T[]])[] =>
  states.map(state => [
    state,
    Object.entries(actions).flatMap(([name, action]) =>
      action.from.length === 0 || action.from.includes(state) ? pick(name, action) : [],
    ),
  ])
