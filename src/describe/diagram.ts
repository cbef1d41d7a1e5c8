/** The machine that a resource lives by, drawn from the value that is served (rule A3.4). */
import type { Resource } from '../contract/resource.ts'

/** A Mermaid state diagram; undefined for a resource without states. Where nothing leads on, it ends. */
export function diagram(resource: Resource): string | undefined {
  const [first] = resource.states
  if (first === undefined) return undefined
  const edges = resource.states.flatMap(state =>
    Object.entries(offeredIn(resource, state)).map(edge => [state, ...edge]),
  )
  const ends = resource.states.filter(state => Object.keys(resource.machine[state] ?? {}).length === 0)
  return [
    'stateDiagram-v2',
    `  [*] --> ${first}`,
    ...edges.map(([from, verb, to]) => `  ${from} --> ${to}: ${verb}`),
    ...ends.map(state => `  ${state} --> [*]`),
    '',
  ].join('\n')
}

/** Transitions and where they lead, those that stay and those that only read included. */
function offeredIn({ actions }: Resource, state: string): Record<string, string> {
  const here = Object.entries(actions).filter(([, { from }]) => from.length === 0 || from.includes(state))
  return Object.fromEntries(here.map(([verb, { to }]) => [verb, to ?? state]))
}
