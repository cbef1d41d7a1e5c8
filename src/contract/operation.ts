/**
 * Every operation of a service, listed once from its contract. Both faces, the descriptions and the
 * access matrix use this one list, so that none of them can miss an operation.
 */
import type { Port, PortExchange } from './exchange.ts'
import type { Fault } from './fault.ts'
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
  /** The calls of one caller are counted together for all operations with the same name here. */
  readonly counted: string
  /** The contract's own faults that may end it (rule B7.5). */
  readonly faults: readonly Fault[]
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
  /**
   * `look` is an action that only reads; `kept` reads the stored output of an action (a payment).
   */
  | OperationMember<
      'act' | 'look' | 'kept',
      { readonly resource: Resource; readonly verb: string; readonly action: AnyAction }
    >
  | OperationMember<'getFile' | 'putFile', { readonly resource: Resource; readonly part: string; readonly file: File }>
  | OperationMember<'createSearch' | 'getSearch', { readonly resource: Resource; readonly searches: Searches }>
  /** With a port, the job is a call of one of its exchanges, whose answer comes later. */
  | OperationMember<
      'startJob' | 'getJob' | 'cancelJob' | 'getResult',
      { readonly job: Job; readonly port?: Port | undefined }
    >
  /** Reads the answer of such a call. */
  | OperationMember<'getAnswer', LaterMember>
  /** An operation of a port, whose messages are declared as XML. */
  | OperationMember<'exchange', { readonly port: Port; readonly exchangeName: string; readonly exchange: PortExchange }>
interface LaterMember {
  readonly job: Job
  readonly port: Port
  readonly exchangeName: string
  readonly exchange: PortExchange
}
export type OperationKind = Operation['kind']
/** An operation of a resource or a job. */
export type DeclaredOperation = Exclude<Operation, { kind: 'exchange' | 'getAnswer' }>
/** The operations of one kind, for a function that serves only these. */
export type OperationOf<K extends OperationKind> = Extract<Operation, { kind: K }>

/** The name of one item: order. That of a single resource is its own: settings. */
export const singularOf = ({ name, given, isSingle }: Resource): string =>
  given.one ?? (isSingle ? name : singularName(name))

/** The operations that some role is granted, in the contract's order. */
export function listOperations(service: Service): readonly DeclaredOperation[] {
  return [
    ...service.resources.flatMap(resource => resourceOperations(service, resource)),
    ...searchOperations(service),
    ...service.jobs.flatMap(job => jobOperations(service, job)),
  ].filter(operation => operation.grants.length > 0)
}

type GrantingParts = Pick<Service, 'resources' | 'jobs' | 'ports'> & Partial<Pick<Service, 'searches'>>

/** Everything that a contract allows, each grant once: for resources, jobs, searches and ports. */
export const listGrants = ({ resources, jobs, searches, ports }: GrantingParts): readonly Grant[] => [
  ...new Set([
    ...resources.flatMap(({ given }) => Object.values(given.allow).flatMap(each => each ?? [])),
    ...jobs.flatMap(({ allow }) => allow),
    ...(searches?.allow ?? []),
    ...ports.flatMap(({ exchanges }) => Object.values(exchanges).flatMap(({ allow }) => allow)),
  ]),
]

type CountedLimit = Pick<OperationCommon, 'limit' | 'counted'>
/** Whether its answer is a page, which may be long work. */
export const isPaged = ({ kind }: Operation): boolean => kind === 'list' || kind === 'search' || kind === 'getSearch'

type OperationTerms = CountedLimit & Pick<OperationCommon, 'safe' | 'grants' | 'faults'>

/** Grants and limit of an operation; `doing` is its name in the rules of the resource. */
function termsOf(service: Service, { name, given }: Resource, doing: string): OperationTerms {
  const ownLimit = given.limits?.[doing]
  const safe = doing === 'read'
  const usual = safe ? readLimit(service) : changeLimit(service)
  const terms = { safe, grants: given.allow[doing] ?? [], faults: given.faults?.[doing] ?? [] }
  return { ...terms, ...(ownLimit ? { limit: ownLimit, counted: `${name}.${doing}` } : usual) }
}
const isMessage = ({ given: { messages } }: Resource, name: string): boolean => !messages || messages.includes(name)

type ItemKind = 'list' | 'get' | 'create' | 'replace' | 'patch' | 'remove' | 'bulk' | 'search'
function resourceOperations(service: Service, resource: Resource): DeclaredOperation[] {
  const one = capitalize(singularOf(resource))
  const many = capitalize(resource.name)
  const terms = (doing: string): OperationTerms => termsOf(service, resource, doing)
  const reads = terms('read')
  const operation = (
    kind: ItemKind,
    name: string,
    message: string | undefined,
    terms: OperationTerms,
  ): DeclaredOperation => ({
    kind,
    name,
    resource,
    message: message !== undefined && isMessage(resource, message),
    oneWay: false,
    ...terms,
  })
  return [
    operation('get', `Get${one}`, 'get', reads),
    ...(resource.isSingle ? [] : [operation('list', `List${many}`, 'list', reads)]),
    operation('create', `Create${one}`, 'create', terms('create')),
    operation('replace', `Replace${one}`, 'replace', { ...terms('change'), faults: replaceFaults(resource) }),
    operation('patch', `Patch${one}`, undefined, terms('change')),
    operation('remove', `Delete${one}`, 'delete', terms('remove')),
    ...(resource.given.bulk === true && !resource.isSingle
      ? [operation('bulk', `Delete${many}`, undefined, terms('bulk'))]
      : []),
    ...Object.entries(resource.actions).flatMap(([verb, action]) => actionOperations(service, resource, verb, action)),
    ...(resource.given.search && !resource.isSingle
      ? [operation('search', `Search${many}`, 'search', searchTerms(service, resource, reads))]
      : []),
    ...Object.entries(resource.files).flatMap(([part, file]) => fileOperations(service, resource, part, file)),
  ]
}

function actionOperations(service: Service, resource: Resource, verb: string, action: AnyAction): DeclaredOperation[] {
  const one = capitalize(singularOf(resource))
  const reads = termsOf(service, resource, 'read')
  const looks = action.effect === 'read'
  const { faults } = action
  const terms = looks
    ? { ...reads, grants: resource.given.allow[verb] ?? reads.grants, faults }
    : { ...termsOf(service, resource, verb), faults }
  const act = { kind: looks ? 'look' : 'act', resource, verb, action, ...terms } as const
  const usual = { ...act, name: `${capitalize(verb)}${one}`, message: isMessage(resource, verb), oneWay: false }
  const kept = {
    ...usual,
    ...reads,
    faults: [],
    kind: 'kept',
    name: `Get${one}${capitalize(action.rel)}`,
    message: false,
  } as const
  const oneWay = action.oneWay && ({ ...act, name: action.oneWay, message: true, oneWay: true } as const)
  return [usual, ...(action.kept ? [kept] : []), ...(oneWay ? [oneWay] : [])]
}

function fileOperations(service: Service, resource: Resource, part: string, file: File): DeclaredOperation[] {
  const name = capitalize(singularOf(resource)) + capitalize(part)
  const common = { resource, part, file, message: isMessage(resource, part), oneWay: false }
  return [
    { kind: 'getFile', name: `Get${name}`, ...common, ...termsOf(service, resource, 'read') },
    {
      kind: 'putFile',
      name: `Put${name}`,
      ...common,
      ...termsOf(service, resource, 'change'),
      faults: resource.given.faults?.[part] ?? [],
    },
  ]
}

export const readLimit = (service: Service) => ({ limit: service.limits.reads, counted: 'reads' })
export const changeLimit = (service: Service) => ({ limit: service.limits.changes, counted: 'changes' })

/**
 * A search by a message and the creation of a stored search are counted together. In REST, the same
 * search is a GET or a QUERY, which count as reads: `countAsRead`.
 */
function searchLimit(service: Service, resource: Resource): CountedLimit {
  const { searches } = service
  return searches?.of === resource.name && searches.limit
    ? { limit: searches.limit, counted: 'searches' }
    : readLimit(service)
}

/** Whether a PUT to an absent item creates it, for callers that may create. */
export const isCreatedByPut = ({ given: { putCreates, allow }, isSingle }: Resource): boolean =>
  putCreates === true || (isSingle && (allow.create?.length ?? 0) > 0)

const replaceFaults = (resource: Resource): readonly Fault[] => {
  const { faults = {} } = resource.given
  return [...new Set([...(faults['change'] ?? []), ...((isCreatedByPut(resource) && faults['create']) || [])])]
}

/** Row 24: whether a change by REST must have a precondition. */
export const demandsPrecondition = (operation: Operation): boolean =>
  (operation.kind === 'replace' || operation.kind === 'patch' || operation.kind === 'remove') &&
  operation.resource.given.precondition !== false

const searchFaults = ({ given }: Resource): readonly Fault[] => given.faults?.['search'] ?? []
/** In REST, a list accepts the words of a search, unless searches have their own address. */
export const listTakesWords = ({ searches }: Pick<Service, 'searches'>, { name, given }: Resource): boolean =>
  given.search !== undefined && searches?.of !== name
/** The faults that may end an operation if it is called with words to search. */
export const faultsWithWords = (operation: Operation): readonly Fault[] =>
  operation.kind === 'list' ? [...operation.faults, ...searchFaults(operation.resource)] : operation.faults
const searchTerms = (service: Service, resource: Resource, reads: OperationTerms): OperationTerms => ({
  ...reads,
  ...searchLimit(service, resource),
  faults: searchFaults(resource),
})

/** The operation with the limit of the reads of its resource. */
export const countAsRead = (service: Service, operation: OperationOf<'search'>): Operation => {
  const { limit, counted } = termsOf(service, operation.resource, 'read')
  return { ...operation, limit, counted }
}

function searchOperations(service: Service): DeclaredOperation[] {
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
      faults: searchFaults(resource),
      ...(searches.limit ? { limit: searches.limit, counted: 'searches' } : changeLimit(service)),
    },
    { kind: 'getSearch', name: 'GetSearch', safe: true, ...common, faults: [], ...readLimit(service) },
  ]
}

function jobOperations(service: Service, job: Job): DeclaredOperation[] {
  const one = capitalize(job.one)
  const common = { job, grants: job.allow, faults: [], oneWay: false }
  const starts = job.limit ? { limit: job.limit, counted: job.job } : changeLimit(service)
  return [
    {
      kind: 'startJob',
      name: `Start${one}`,
      safe: false,
      message: true,
      ...common,
      ...starts,
      faults: job.faults,
    },
    { kind: 'getJob', name: `Get${one}Job`, safe: true, message: true, ...common, ...readLimit(service) },
    { kind: 'cancelJob', name: `Cancel${one}Job`, safe: false, message: false, ...common, ...changeLimit(service) },
    { kind: 'getResult', name: `Get${one}`, safe: true, message: false, ...common, ...readLimit(service) },
  ]
}
