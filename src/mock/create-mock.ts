/**
 * A contract without handlers as a service: its items, people, outputs and details are examples,
 * its states move as the machine says, and whatever the contract refuses is refused. The same seed
 * and place in the contract give the same value each time.
 */
import { ownMember } from '../base/objects.ts'
import { computedFieldsOf, hasComputedFields, storedFieldsOf } from '../contract/computed-fields.ts'
import type { Context } from '../contract/context.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields } from '../contract/field.ts'
import {
  type ActionResult,
  type ErasedExchangeHandler,
  type Implementation,
  implement,
  type Person,
  type Values,
} from '../contract/implement.ts'
import type { Job } from '../contract/job.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { checkScalar } from '../contract/lexical/scalar.ts'
import { listOperations, singularOf } from '../contract/operation.ts'
import type { ExchangeContext } from '../contract/port-handlers.ts'
import { type AnyAction, type Resource, singleId } from '../contract/resource.ts'
import { type AnyService, type Service, withoutUniqueKeys } from '../contract/service.ts'
import { isScalar } from '../contract/shape.ts'
import { checkValue } from '../contract/typed-value.ts'
import { makeMessage } from '../describe/example-message.ts'
import type { ExamplePlace } from '../describe/example-text.ts'
import { claimDemandedFault } from './demanded.ts'
import { makeFile } from './example-file.ts'
import { completeValue, makeExample, makeScalar } from './example-value.ts'

/** The options of `createMock`. */
export interface MockOptions {
  /** Another seed gives other examples; the same seed gives the same octets. Default: 1. */
  readonly seed?: number | undefined
  /** Values by place, as text: `{ 'customers.name': 'Ada' }`. */
  readonly examples?: Readonly<Record<string, string>> | undefined
}

/**
 * Implements a contract by examples, for `startTestService` or for `serve` in a test. Throws an
 * error that names the field for which no example is found.
 */
export function createMock(contract: AnyService, { seed = 1, examples = {} }: MockOptions = {}): Implementation {
  const service = withoutUniqueKeys(contract as unknown as Service) // its types are erased
  const placeOf = (name: string, item = 1): ExamplePlace => ({ seed, name, item, idOf, given: examples })
  const idOf = (resource: string, item: number): string | undefined => {
    const found = service.resources.find(each => each.name === resource)
    return found && identifierOf(found, placeOf(`${resource}.id`, 1 + ((item - 1) % countItems(found))))
  }
  const mock: MockSite = { service, placeOf, idOf }
  const handlers = Object.fromEntries([
    ...service.resources.map(each => [each.name, handleResource(mock, each)] as const),
    ...service.jobs.map(each => [each.job, handleJob(mock, each)] as const),
    ...service.ports.map(each => [each.port, handlePort(mock, each)] as const),
  ])
  const items = Object.fromEntries(service.resources.map(each => [each.name, seedItems(mock, each)]))
  const seeded = { people: listMockPeople(mock), items, files: seedFiles(mock, items) }
  return implement(service as never, handlers as never, { seed: () => seeded as never }) // made of the contract
}

interface MockSite {
  readonly service: Service
  readonly placeOf: (name: string, item?: number) => ExamplePlace
  readonly idOf: ExamplePlace['idOf']
}

/** One in each state, and at least three; a single resource has one. */
const countItems = ({ states, isSingle }: Resource): number => (isSingle ? 1 : Math.max(3, states.length))

function identifierOf(resource: Resource, place: ExamplePlace): string {
  if (resource.isSingle) return singleId
  const shape = resource.fields['id']?.shape
  if (!shape || !isScalar(shape)) return `${singularOf(resource)}-${place.item}`
  const plain = `${singularOf(resource)}-${place.item}`
  const isPlain = shape.kind !== 'id' && !(checkScalar(shape, plain) instanceof Flaw)
  return isPlain ? plain : String(makeScalar(shape, place))
}

function seedItems(mock: MockSite, resource: Resource): readonly Values[] {
  const { name, states } = resource
  return Array.from({ length: countItems(resource) }, (_, i) => ({
    ...makeExample(storedFieldsOf(resource), mock.placeOf(name, i + 1)),
    id: mock.idOf(name, i + 1),
    ...(states.length > 0 && { state: states[i % states.length] }),
  }))
}

/** Each file of each item, where an example has room in it; of a single resource by its part. */
function seedFiles({ service }: MockSite, items: Readonly<Record<string, readonly Values[]>>) {
  const given = service.resources.map(({ name, files, isSingle }) => {
    const parts = Object.fromEntries(
      Object.entries(files).flatMap(([part, file]) => {
        const example = makeFile(part, file)
        return example ? [[part, example] as const] : []
      }),
    )
    const ids = (items[name] ?? []).map(each => String(each['id']))
    return [name, isSingle ? parts : Object.fromEntries(ids.map(id => [id, parts]))] as const
  })
  return Object.fromEntries(given)
}

/** One person for each role of the contract; name and password are the role. */
function listMockPeople({ service, placeOf, idOf }: MockSite): readonly Person[] {
  const claims = new Map<string, Record<string, string>>()
  const claimsOf = (role: string): Record<string, string> => {
    const known = claims.get(role) ?? {}
    claims.set(role, known)
    return known
  }
  for (const operation of listOperations(service)) {
    const resource = 'resource' in operation ? operation.resource : undefined
    for (const { role, where } of operation.grants) {
      if (role === '*') continue
      const known = claimsOf(role)
      for (const [field, claim] of Object.entries(where)) {
        const shape = resource?.fields[field]?.shape
        if (!resource || !shape || !isScalar(shape) || known[claim] !== undefined) continue
        const place = placeOf(`${resource.name}.${field}`)
        known[claim] = field === 'id' ? (idOf(resource.name, 1) ?? '') : String(makeScalar(shape, place))
      }
    }
  }
  for (const { exchanges } of service.ports)
    for (const { allow } of Object.values(exchanges)) for (const { role } of allow) if (role !== '*') claimsOf(role)
  return [...claims].map(([role, of]) => ({ subject: role, password: role, roles: [role], claims: of }))
}

// Resources

function handleResource(mock: MockSite, resource: Resource): Readonly<Record<string, unknown>> {
  const { name, given, actions } = resource
  const faultsOf = (...places: readonly string[]): readonly Fault[] =>
    places.flatMap(place => given.faults?.[place] ?? [])
  const may = (...places: readonly string[]) => {
    const faults = faultsOf(...places)
    return (ctx: Context) => failOnDemand(mock, ctx, faults)
  }
  const files = Object.keys(resource.files)
  return {
    ...Object.fromEntries(
      Object.entries(actions).map(([key, action]) => [key, handleAction(mock, resource, key, action)] as const),
    ),
    derive: (ctx: Context, draft: Values, current?: Values) => {
      failOnDemand(mock, ctx, faultsOf(current ? 'change' : 'create'))
      return deriveFields(storedFieldsOf(resource), draft, current, mock.placeOf(name))
    },
    ...(hasComputedFields(resource) && { compute: () => makeExample(computedFieldsOf(resource), mock.placeOf(name)) }),
    removing: may('remove', 'bulk'),
    receiving: may(...files),
    searching: may('search'),
  }
}

/** Fields that clients cannot send: unchanged, or an example. */
function deriveFields(fields: Fields, draft: Values, current: Values | undefined, place: ExamplePlace): Values {
  const derived = Object.entries(fields).filter(([name, field]) => {
    if (name === 'id' || name === 'state') return false
    if (field.isReadOnly) return !field.isOptional && ownMember(current ?? draft, name) === undefined
    return !isScalar(field.shape) && ownMember(draft, name) !== undefined
  })
  const names = new Set(derived.map(([name]) => name))
  const known = Object.entries(draft).filter(([name]) => names.has(name))
  const whole = completeValue(Object.fromEntries(derived), Object.fromEntries(known), place)
  const kept = Object.entries(current ?? {}).filter(
    ([name]) => fields[name]?.isReadOnly && name !== 'id' && name !== 'state',
  )
  return { ...Object.fromEntries(kept), ...whole }
}

function handleAction(mock: MockSite, resource: Resource, key: string, action: AnyAction) {
  const place = mock.placeOf(`${resource.name}.${key}`)
  return (ctx: Context, item: Values, input: Values): ActionResult => {
    failOnDemand(mock, ctx, action.faults)
    const output = action.output && {
      ...makeExample(action.output, place),
      ...pickValidMembers(action.output, item, input),
    }
    if (action.effect === 'read') return output
    if (action.effect === 'move')
      return { to: String(findTarget(action.input, resource.name, input) ?? mock.idOf(resource.name, 2)) }
    const readOnly = Object.entries(resource.fields).filter(
      ([name, each]) => each.isReadOnly && !/^(id|state)$/.test(name),
    )
    const set = pickValidMembers(Object.fromEntries(readOnly), input)
    return output ? { output, set } : { set }
  }
}

/** Members of these values that the fields allow; the last value with a member counts. */
function pickValidMembers(fields: Fields, ...values: readonly Values[]): Values {
  const found: Record<string, unknown> = {}
  for (const value of values)
    for (const [name, field] of Object.entries(fields)) {
      const member = ownMember(value, name)
      if (name !== 'id' && member !== undefined && checkValue({ [name]: field }, { [name]: member }).length === 0)
        found[name] = member
    }
  return found
}

const findTarget = (input: Fields, resource: string, value: Values): unknown => {
  const found = Object.entries(input).find(([, { shape }]) => shape.kind === 'ref' && shape.resource === resource)
  return found && value[found[0]]
}

function handleJob(mock: MockSite, { job, input, output, faults }: Job): Readonly<Record<string, unknown>> {
  const place = mock.placeOf(job)
  return {
    starting: (ctx: Context) => failOnDemand(mock, ctx, faults),
    run: async (_: unknown, given: Values) => ({
      ...makeExample(output, place),
      ...pickValidMembers(output, pickValidMembers(input, given)),
    }),
  }
}

// Ports

const handlePort = (mock: MockSite, { port, exchanges }: Port): Readonly<Record<string, ErasedExchangeHandler>> =>
  Object.fromEntries(
    Object.entries(exchanges).map(([name, each]) => [name, handleExchange(mock.placeOf(`${port}.${name}`), each)]),
  )

function handleExchange(place: ExamplePlace, { output, faults }: PortExchange): ErasedExchangeHandler {
  // Made at start, so that a type without an example ends the start.
  const answer = typeof output === 'object' ? makeMessage(output, place) : undefined
  const details = Object.fromEntries(
    Object.entries(faults).map(([name, root]) => [
      name,
      makeMessage(root, { ...place, name: `${place.name}.${name}` }),
    ]),
  )
  return (_, ctx: ExchangeContext) => {
    const fault = claimDemandedFault(Object.keys(faults))
    if (fault !== undefined) ctx.fail(fault, details[fault] as never) // the element that the fault declares
    return answer
  }
}

function failOnDemand(mock: MockSite, ctx: Context, faults: readonly Fault[]): void {
  const name = claimDemandedFault(faults.map(each => each.fault))
  const fault = faults.find(each => each.fault === name)
  if (fault) ctx.fail(fault as never, makeExample(fault.detail, mock.placeOf(fault.fault)) as never) // a declared one
}
