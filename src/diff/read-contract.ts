/**
 * The assumptions of a workflow (rule A9.4) that no description of a face tells: the states from
 * which an operation may be called, the state it leads to, and the roles that may call it.
 */
import { listOperations, type Operation } from '../contract/operation.ts'
import type { Grant } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import type { DescribedOperation, ServiceDescription } from './service-description.ts'

export function readContract(service: Service, source: string): ServiceDescription {
  const operations = new Map(listOperations(service).map(each => [each.name, describeRules(each)]))
  return { face: 'contract', source, operations, types: new Map() }
}

function describeRules(operation: Operation): DescribedOperation {
  const states = statesBefore(operation)
  const next = operation.kind === 'act' ? operation.action.to : undefined
  return {
    inputs: new Map(),
    outputs: new Map(),
    facts: new Map(next === undefined ? [] : [['next state', next]]),
    ways: new Map([
      ['role', operation.grants.map(describeRole)],
      ['state', states],
    ]),
  }
}

/** All states of the resource, where the action names none. */
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
