/** Diagrams of state machines, drawn from the machine that is served (rule A3.4). */
import type { Resource } from '../contract/resource.ts'
import { componentName } from './json-schema.ts'

/**
 * A Mermaid state diagram; undefined for a resource without states. A state without transitions is
 * a final state.
 */
export function writeStateDiagram(resource: Resource): string | undefined {
  const [first] = resource.states
  if (first === undefined) return undefined
  const edges = resource.states.flatMap(state =>
    Object.entries(transitionsOf(resource, state)).map(([verb, to]) => ({ from: state, verb, to })),
  )
  const ends = resource.states.filter(state => Object.keys(resource.machine[state] ?? {}).length === 0)
  return [
    'stateDiagram-v2',
    ...resource.states
      .filter(state => stateIdentifier(state) !== state)
      .map(state => `  state "${state.replaceAll('"', "'")}" as ${stateIdentifier(state)}`),
    `  [*] --> ${stateIdentifier(first)}`,
    ...edges.map(({ from, verb, to }) => `  ${stateIdentifier(from)} --> ${stateIdentifier(to)}: ${verb}`),
    ...ends.map(state => `  ${stateIdentifier(state)} --> [*]`),
    '',
  ].join('\n')
}

/** The identifier of a state; Mermaid allows no blank or hyphen in it. */
const stateIdentifier = (state: string): string => componentName(state).replaceAll('-', '_x002D_')

/** Transitions and their next states, including actions that keep the state or only read. */
function transitionsOf({ actions }: Resource, state: string): Record<string, string> {
  const possible = Object.entries(actions).filter(([, { from }]) => from.length === 0 || from.includes(state))
  return Object.fromEntries(possible.map(([verb, { to }]) => [verb, to ?? state]))
}
