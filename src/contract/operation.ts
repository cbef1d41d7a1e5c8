/**
 * Everything a service can be asked, read from its contract once. Both faces, the descriptions and the access matrix
 * work from this one list, so an operation cannot exist in one and be forgotten in another.
 */
import { singularName } from './field.ts'
import type { Job } from './job.ts'
import { capitalize } from './lexical/text.ts'
import type { Grant } from './policy.ts'
import type { AnyAction, File, Rate, Resource } from './resource.ts'
import type { Searches, Service } from './service.ts'

interface OperationCommon {
  /** The name of its SOAP operation and of its `operationId`: GetOrder. Unique in the service. */
  readonly name: string
  /** Changes nothing (RFC 9110 §9.2.1). */
  readonly safe: boolean
  readonly grants: readonly Grant[]
  readonly limit: Rate
  /** Operations of one caller that share this name share their count. */
  readonly counted: string
  /** Offered as a SOAP message. */
  readonly message: boolean
  /** Answered with 202 and nothing (rule B4.10). */
  readonly oneWay: boolean
}
/** One member of the union for each kind, so that a kind narrows to its own members. */
type OperationMember<K extends string, T> = K extends string ? OperationCommon & T & { readonly kind: K } : never
export type Operation =
  | OperationMember<
      'list' | 'get' | 'create' | 'replace' | 'patch' | 'remove' | 'bulk' | 'search',
      { readonly resource: Resource }
    >
  /** `look` is an action that only reads; `kept` reads what an action left (a payment). */
  | OperationMember<
      'act' | 'look' | 'kept',
      { readonly resource: Resource; readonly verb: string; readonly action: AnyAction }
    >
  | OperationMember<'getFile' | 'putFile', { readonly resource: Resource; readonly part: string; readonly file: File }>
  | OperationMember<'createSearch' | 'getSearch', { readonly resource: Resource; readonly searches: Searches }>
  | OperationMember<'startJob' | 'getJob' | 'cancelJob' | 'getResult', { readonly job: Job }>
export type OperationKind = Operation['kind']
/** The operations of one kind, for a function that serves just those. */
export type OperationOf<K extends OperationKind> = Extract<Operation, { kind: K }>

export const singularOf = (resource: Resource): string => resource.given.one ?? singularName(resource.name)

/** All operations that anybody is granted, in the contract's order. */
export function listOperations(service: Service): readonly Operation[] {
  return [
    ...service.resources.flatMap(resource => resourceOperations(service, resource)),
    ...searchOperations(service),
    ...service.jobs.flatMap(job => jobOperations(service, job)),
  ].filter(operation => operation.grants.length > 0)
}

function resourceOperations(service: Service, resource: Resource): Operation[] {
  const one = capitalize(singularOf(resource))
  const many = capitalize(resource.name)
  const { allow, limits, messages } = resource.given
  const reads = { safe: true, grants: allow['read'] ?? [], ...counted('read') }
  const offers = (key: string): boolean => !messages || messages.includes(key)
  function counted(doing: string): Pick<OperationCommon, 'limit' | 'counted'> {
    const own = limits?.[doing]
    if (own) return { limit: own, counted: `${resource.name}.${doing}` }
    return doing === 'read' ? readLimit(service) : changeLimit(service)
  }
  const changes = (doing: string) => ({ safe: false, grants: allow[doing] ?? [], ...counted(doing) })
  const basic = (
    kind: 'list' | 'get' | 'create' | 'replace' | 'patch' | 'remove' | 'bulk' | 'search',
    name: string,
    message: string,
    how: Pick<OperationCommon, 'safe' | 'grants' | 'limit' | 'counted'>,
  ): Operation => ({ kind, name, resource, message: offers(message), oneWay: false, ...how })
  return [
    basic('get', `Get${one}`, 'get', reads),
    basic('list', `List${many}`, 'list', reads),
    basic('create', `Create${one}`, 'create', changes('create')),
    basic('replace', `Replace${one}`, 'replace', changes('change')),
    { ...basic('patch', `Patch${one}`, 'patch', changes('change')), message: false },
    basic('remove', `Delete${one}`, 'delete', changes('remove')),
    { ...basic('bulk', `Delete${many}`, 'bulk', changes('bulk')), message: false },
    ...Object.entries(resource.actions).flatMap(([verb, action]) => ofAction(verb, action)),
    ...(resource.given.search
      ? [basic('search', `Search${many}`, 'search', { ...reads, ...searchLimit(service, resource) })]
      : []),
    ...Object.entries(resource.files).flatMap(([part, file]) => [
      {
        kind: 'getFile',
        name: `Get${one}${capitalize(part)}`,
        resource,
        part,
        file,
        message: offers(part),
        oneWay: false,
        ...reads,
      } as const,
      {
        kind: 'putFile',
        name: `Put${one}${capitalize(part)}`,
        resource,
        part,
        file,
        message: offers(part),
        oneWay: false,
        ...changes('change'),
      } as const,
    ]),
  ].filter(operation => operation.kind !== 'bulk' || resource.given.bulk === true)

  function ofAction(verb: string, action: AnyAction): Operation[] {
    const looks = action.effect === 'read'
    const how = looks ? { ...reads, grants: allow[verb] ?? reads.grants } : changes(verb)
    const act = { kind: looks ? 'look' : 'act', resource, verb, action, ...how } as const
    const answered = { ...act, name: `${capitalize(verb)}${one}`, message: offers(verb), oneWay: false }
    const kept = {
      ...answered,
      ...reads,
      kind: 'kept',
      name: `Get${one}${capitalize(action.rel)}`,
      message: false,
    } as const
    const oneWay = action.oneWay && ({ ...act, name: action.oneWay, message: true, oneWay: true } as const)
    return [answered, ...(action.kept ? [kept] : []), ...(oneWay ? [oneWay] : [])]
  }
}

const readLimit = (service: Service) => ({ limit: service.limits.reads, counted: 'reads' })
const changeLimit = (service: Service) => ({ limit: service.limits.changes, counted: 'changes' })

/** A search counts as making one does, in either face: both cost the same. */
function searchLimit(service: Service, resource: Resource): Pick<OperationCommon, 'limit' | 'counted'> {
  const { searches } = service
  return searches?.of === resource.name && searches.limit
    ? { limit: searches.limit, counted: 'searches' }
    : readLimit(service)
}

function searchOperations(service: Service): Operation[] {
  const { searches } = service
  const resource = service.resources.find(each => each.name === searches?.of)
  if (!searches || !resource) return []
  const grants = searches.allow
  const common = { resource, searches, grants, message: false, oneWay: false }
  return [
    {
      kind: 'createSearch',
      name: 'CreateSearch',
      safe: false,
      ...common,
      ...(searches.limit ? { limit: searches.limit, counted: 'searches' } : changeLimit(service)),
    },
    { kind: 'getSearch', name: 'GetSearch', safe: true, ...common, ...readLimit(service) },
  ]
}

function jobOperations(service: Service, job: Job): Operation[] {
  const one = capitalize(job.one)
  const common = { job, grants: job.allow, oneWay: false }
  const starts = job.limit ? { limit: job.limit, counted: job.job } : changeLimit(service)
  return [
    { kind: 'startJob', name: `Start${one}`, safe: false, message: true, ...common, ...starts },
    { kind: 'getJob', name: `Get${one}Job`, safe: true, message: true, ...common, ...readLimit(service) },
    { kind: 'cancelJob', name: `Cancel${one}Job`, safe: false, message: false, ...common, ...changeLimit(service) },
    { kind: 'getResult', name: `Get${one}`, safe: true, message: false, ...common, ...readLimit(service) },
  ]
}
