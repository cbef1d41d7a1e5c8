/**
 * The service as the faces of one version see it. A call is converted to one of the newest version:
 * its query, its content, and the item that its precondition looks at; its outcome is converted
 * back, and so are the names in a refusal. Handlers, policy and store know only the newest version.
 */
import { chain, type Maybe, settle } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { listOperations, type Operation } from '../contract/operation.ts'
import type { Service, VersionRule } from '../contract/service.ts'
import { hasOtherFields, renameKeys, withoutLeftOut } from '../contract/version-view.ts'
import type { Admitted, Call, Calls } from './call.ts'
import { takenKeyRefusal } from './item-changes.ts'
import type { Outcome, Search } from './outcome.ts'
import { unservedRefusal } from './reads.ts'
import { type Refusal, Refused, refuse } from './refusal.ts'
import type { Filter, ItemPage, Query, Sort } from './store.ts'
import { VersionValues } from './version-values.ts'

/** Undefined if the version has each field under its newest name, in its newest type. */
export function compileVersionCalls(contract: Service, version: string): ((calls: Calls) => Calls) | undefined {
  const rule = contract.versions[version] ?? {}
  return hasOtherFields(rule) ? memoizeByObject(calls => createVersionCalls(calls, contract, version, rule)) : undefined
}

function createVersionCalls(calls: Calls, contract: Service, version: string, rule: VersionRule): Calls {
  const service = withoutLeftOut(contract, version)
  const values = new Map(service.resources.map(each => [each.name, new VersionValues(version, rule, each)]))
  const newestOf = createOperationFinder(service)
  const translate = (call: Call): TranslatedCall => {
    const admitted = { ...call.admitted, operation: newestOf(call.admitted.operation) }
    const { operation } = admitted
    const of = 'resource' in operation ? values.get(operation.resource.name) : undefined
    return of
      ? translateCall({ ...call, admitted }, operation, of)
      : { call: { ...call, admitted }, of, translated: new Set() }
  }
  return {
    admit: (operation, caller, from, face) =>
      chain(calls.admit(newestOf(operation), caller, from, face), admitted => ({ ...admitted, operation })),
    admitExchange: calls.admitExchange,
    serveExchange: calls.serveExchange,
    precheck: call => calls.precheck(translate(call).call),
    keep: (admitted: Admitted, content, limit) => calls.keep(admitted, content, limit),
    perform: call => performTranslated(calls, translate(call), values),
    offers: (operation, viewer, item) => {
      const of = 'resource' in operation ? values.get(operation.resource.name) : undefined
      return calls.offers(newestOf(operation), viewer, of?.newestOf(item) ?? item)
    },
  }
}

/** The operation of the newest version with the same name, and the limit of this one. */
function createOperationFinder(service: Service): (operation: Operation) => Operation {
  const byName = new Map(listOperations(service).map(each => [each.name, each]))
  return memoizeByObject((operation: Operation): Operation => {
    const found = operation.kind === 'exchange' ? undefined : byName.get(operation.name)
    const { limit, counted } = operation
    return found ? { ...found, limit, counted } : operation
  })
}

type ValuesByName = ReadonlyMap<string, VersionValues>
interface TranslatedCall {
  readonly call: Call
  readonly of: VersionValues | undefined
  /** Refusals that already have the version's names. */
  readonly translated: Set<unknown>
}

function translateCall(call: Call, operation: Operation, of: VersionValues): TranslatedCall {
  const { input, expects, query } = call
  const translated = new Set<unknown>()
  const read: Call['input'] = input && (current => readTranslated(current, of, operation, input))
  return {
    of,
    translated,
    call: {
      ...call,
      ...(query && { query: translateQuery(query, of) }),
      ...(expects && { expects: current => expects(current && of.snapshotOf(current)) }),
      ...(read && {
        input: current =>
          attemptOr(
            () => read(current),
            thrown => {
              translated.add(thrown)
              throw thrown
            },
          ),
      }),
    },
  }
}

/** Operations whose content has fields of the resource. */
const contentKinds: ReadonlySet<Operation['kind']> = new Set(['create', 'replace', 'patch'])

const readTranslated = (
  current: Parameters<NonNullable<Call['input']>>[0],
  of: VersionValues,
  { kind }: Operation,
  input: NonNullable<Call['input']>,
): ReturnType<NonNullable<Call['input']>> => {
  const content = input(current && of.snapshotOf(current))
  if (contentKinds.has(kind)) return of.inputOf(content, current)
  return kind === 'createSearch' ? { ...content, value: translateCriteria(content.value, of) } : content
}

function attemptOr<T>(work: () => T, failed: (thrown: unknown) => never): T {
  try {
    return work()
  } catch (thrown) {
    return failed(thrown)
  }
}

// Queries

function translateQuery(query: Omit<Query, 'within'>, of: VersionValues): Omit<Query, 'within'> {
  const { filters, sort, from } = query
  return {
    ...query,
    filters: filters.map(each => translateFilter(each, of)),
    sort: sort.map(each => ({ ...each, field: of.newestNameOf(each.field) })),
    ...(from && { from: { ...from, keys: from.keys.map((key, at) => convertKey(sort[at], key, of)) } }),
  }
}

function translateFilter({ field, is, value }: Filter, of: VersionValues): Filter {
  const newest = of.newestNameOf(field)
  const convert = (each: unknown): unknown => (is === 'absent' ? each : requireUp(of, field, each))
  return { field: newest, is, value: is === 'in' && Array.isArray(value) ? value.map(convert) : convert(value) }
}

const convertKey = (sort: Sort | undefined, key: unknown, of: VersionValues): unknown =>
  sort ? requireUp(of, sort.field, key) : key

/** No item has this value. */
function requireUp(of: VersionValues, name: string, content: unknown): unknown {
  const problems: FieldProblem[] = []
  const value = of.up(name, content, problems)
  return problems.length > 0 ? refuse({ kind: 'invalid', problems }) : value
}

function translateCriteria(criteria: Readonly<Record<string, unknown>>, of: VersionValues): Search['by'] {
  const { q, ...by } = criteria
  const values = Object.fromEntries(Object.entries(by).map(([name, each]) => [name, requireUp(of, name, each)]))
  return { ...(q !== undefined && { q }), ...renameKeys(values, of.newestNameOf) }
}

// Outcomes

function performTranslated(
  calls: Calls,
  { call, of, translated }: TranslatedCall,
  values: ValuesByName,
): Maybe<Outcome> {
  if (!of) return calls.perform(call)
  const sort = call.query?.sort ?? []
  return settle(
    () => chain(calls.perform(call), outcome => toVersionOutcome(outcome, of, sort)),
    thrown => {
      if (!(thrown instanceof Refused) || translated.has(thrown)) throw thrown
      return refuse(toVersionRefusal(thrown.refusal, of, call.admitted.operation, values)) // the service throws no other
    },
  )
}

function toVersionOutcome(outcome: Outcome, of: VersionValues, sort: readonly Sort[]): Outcome {
  if ('item' in outcome) return { ...outcome, item: of.snapshotOf(outcome.item) }
  if (outcome.kind === 'page') return { ...outcome, page: toVersionPage(outcome.page, of, sort) }
  if (outcome.kind !== 'search') return outcome
  const { search, page } = outcome
  const by = Object.entries(renameKeys(search.by, of.nameOf)).map(([name, each]) => [name, of.down(name, each)])
  return {
    ...outcome,
    search: { ...search, by: Object.fromEntries(by) },
    page: page && toVersionPage(page, of, sort),
  }
}

function toVersionPage(page: ItemPage, of: VersionValues, sort: readonly Sort[]): ItemPage {
  const toEdge = <E extends { readonly keys: readonly unknown[] }>(edge: E): E => ({
    ...edge,
    keys: edge.keys.map((key, at) => {
      const by = sort[at]
      return by ? of.down(of.nameOf(by.field), key) : key
    }),
  })
  return {
    ...page,
    items: page.items.map(of.snapshotOf),
    ...(page.edges && { edges: { first: toEdge(page.edges.first), last: toEdge(page.edges.last) } }),
  }
}

function toVersionRefusal(refusal: Refusal, of: VersionValues, { kind }: Operation, values: ValuesByName): Refusal {
  if (refusal.kind === 'conflict' && refusal.taken) {
    const { resource, keys } = refusal.taken
    return takenKeyRefusal(resource, keys, [...new Set(keys.map(values.get(resource)?.nameOf ?? String))])
  }
  if (refusal.kind === 'invalid' && contentKinds.has(kind))
    return { ...refusal, problems: refusal.problems.map(each => ({ ...each, path: of.pathOf(each.path) })) }
  if (refusal.kind !== 'unserved') return refusal
  const keys = refusal.keys.map(key => (key.startsWith('-') ? `-${of.nameOf(key.slice(1))}` : of.nameOf(key)))
  return unservedRefusal({ field: of.nameOf(refusal.field), keys })
}
