/**
 * The assumptions of a workflow (rule A9.4) that no description of a face states: the states in
 * which an operation may be called, the state to which it leads, and the roles that may call it;
 * and for each field the roles that see it, those that may set it, and in which states.
 */
import { listOperations, type Operation } from '../contract/operation.ts'
import type { Grant } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import type { DescribedOperation, MemberWays, ServiceDescription } from './service-description.ts'

export function readContract(service: Service, source: string): ServiceDescription {
  const operations = new Map(listOperations(service).map(each => [each.name, describeRules(each)]))
  return { face: 'contract', source, operations, types: new Map() }
}

function describeRules(operation: Operation): DescribedOperation {
  const states = statesBefore(operation)
  const next = operation.kind === 'act' ? operation.action.to : undefined
  const items = operation.kind === 'get' ? [['items', operation.resource.isSingle ? 'one' : 'many'] as const] : []
  return {
    inputs: new Map(),
    outputs: new Map(),
    facts: new Map([...items, ...(next === undefined ? [] : [['next state', next] as const])]),
    ways: new Map([
      ['role', operation.grants.map(describeRole)],
      ['state', states],
    ]),
    memberWays: new Map(describeFields(operation)),
  }
}

type NamedWays = readonly [kind: string, member: MemberWays]
function describeFields(operation: Operation): readonly NamedWays[] {
  switch (operation.kind) {
    case 'get':
      return describeViews(operation.resource)
    case 'create':
      return describeSetters(operation.resource, operation.resource.states.slice(0, 1))
    case 'replace':
      return describeSetters(operation.resource, operation.resource.given.edit ?? operation.resource.states)
    default:
      return []
  }
}

const describeViews = ({ fields }: Resource): readonly NamedWays[] =>
  Object.entries(fields)
    .filter(([, { isInternal }]) => !isInternal)
    .map(([name, { access }]) => {
      const ways = access?.visibleTo?.map(describeRole) ?? ['anyone that reads the item']
      return [`role that sees ${name}:`, { party: 'readers', ways }]
    })

/** @param states the states of the items, if they have any */
const describeSetters = ({ fields }: Resource, states: readonly string[]): readonly NamedWays[] =>
  Object.entries(fields)
    .filter(([name, { isReadOnly }]) => !isReadOnly && name !== 'state')
    .flatMap(([name, { access }]): readonly NamedWays[] => {
      const { visibleTo, settableBy = visibleTo, settableIn = states } = access ?? {}
      const roles = settableBy?.map(describeRole) ?? ['anyone that sends the item']
      return [
        [`role that may set ${name}:`, { party: 'writers', ways: roles }],
        [
          `state in which ${name} may be set:`,
          { party: 'writers', ways: states.filter(each => settableIn.includes(each)) },
        ],
      ]
    })

/** All states of the resource if the action names none. */
function statesBefore(operation: Operation): readonly string[] {
  if (operation.kind !== 'act') return []
  const { from } = operation.action
  return from.length > 0 ? from : operation.resource.states
}

function describeRole({ role, where, when }: Grant): string {
  const own = Object.keys(where)
  const name = role === '*' ? 'anyone' : role
  return `${name}${own.length > 0 ? ` (own: ${own.join(', ')})` : ''}${when ? ` (if ${when.name})` : ''}`
}
