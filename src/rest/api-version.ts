/**
 * One served version of a contract, compiled: its routes, its media types, the links of its items.
 */

import { memoizeByObject } from '../base/memo.ts'
import { type AnyField, Field, type Fields } from '../contract/field.ts'
import { hasConditionalFields, openFieldsOf, seesAlways, type Viewer } from '../contract/field-access.ts'
import type { Implementation } from '../contract/implement.ts'
import { isNestedRelation, listAncestors, listNested } from '../contract/nesting.ts'
import { type Operation, singularOf } from '../contract/operation.ts'
import { isPublic, mayEverBeAllowed } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { namespaceOf, type Service, type VersionRule } from '../contract/service.ts'
import { isScalar } from '../contract/shape.ts'
import { viewOfVersion } from '../contract/version-view.ts'
import { endOfVersion, isEnding } from '../front/version-end.ts'
import type { Calls } from '../service/call.ts'
import { operationNameOf } from '../service/calls.ts'
import type { Snapshot } from '../service/store.ts'
import { compileVersionCalls } from '../service/version-calls.ts'
import type { DocumentForm } from './formats/document.ts'
import { compileOffers, type Offers, vendorType } from './media-types.ts'
import { compileRoutes, type Routes } from './route.ts'

export interface ApiVersion {
  readonly version: string
  /** The service as this version sees it; undefined if that is the service itself. */
  readonly callsOf: ((calls: Calls) => Calls) | undefined
  /** Its path: `/api/v1`, appended to that of the public URL. */
  readonly base: string
  readonly service: Service
  /** Operations may have header fields of the contract. */
  readonly hasHeaders: boolean
  readonly rule: VersionRule
  /** Whether it is deprecated or has a sunset; then each response says so. */
  readonly isEnding: boolean
  /** From this time on, it is no longer served. */
  readonly endsAt: number
  readonly routes: Routes
  readonly namespace: string
  readonly vendor: string
  readonly views: ReadonlyMap<string, ResourceView>
  readonly offers: (operation: Operation | undefined) => Offers
  /** Resource → fields that this version lacks. */
  readonly hidden: Readonly<Record<string, readonly string[]>>
}

/** A resource as this version shows it. */
export interface ResourceView {
  readonly resource: Resource
  readonly one: string
  /** The address of the item with this identifier. */
  readonly addressOf: (from: LinkBase, id: string) => string
  readonly linkers: readonly Linker[]
  /**
   * Whether the links of an item depend only on item and caller: no grant has another condition.
   */
  readonly steady: boolean
}

/**
 * A link that items may have; `requires` is the operation that the caller must be offered for it.
 */
interface LinkerDraft {
  readonly rel: string
  readonly requires: Operation | undefined
  /** What the linked items offer: only for callers that may ever do one of these. */
  readonly leadsTo?: readonly Operation[]
  /** Only for callers that may see this field in every linked item, since it selects them. */
  readonly sees?: AnyField | undefined
  /** Only for items whose field of this name names another item. */
  readonly names?: string
  /** What follows the address of the item; or the complete address, if it leads elsewhere. */
  readonly href: string | ((from: LinkBase, item: Snapshot) => string)
  readonly form?: DocumentForm
}
interface Linker extends LinkerDraft {
  /** A different power of two for each linker of a resource. */
  readonly bit: number
}
/** A number holds this many bits exactly. */
const bitsMax = 53

/** The beginnings of addresses: `base` for the version, `place` for items within a parent. */
export interface LinkBase {
  readonly base: string
  readonly place: string
}

export function compileApiVersion(app: Implementation, version: string, prefix: string): ApiVersion {
  const service = viewOfVersion(app.contract, version)
  const routes = compileRoutes(service)
  const vendor = vendorType(service.service, version)
  const rule = app.contract.versions[version] ?? {}
  const handlers = (operation: Operation | undefined) => operation && app.handlers[operationNameOf(operation)]
  const cache = new Map<Operation | undefined, Offers>()
  return {
    version,
    callsOf: compileVersionCalls(app.contract, version),
    base: `${prefix}/api/${version}`,
    service,
    hasHeaders: Object.keys(service.headers).length > 0,
    rule,
    isEnding: isEnding(rule),
    endsAt: endOfVersion(rule),
    routes,
    namespace: namespaceOf(app.contract, version),
    vendor,
    views: compileViews(service, routes),
    offers: operation => {
      const offers = cache.get(operation) ?? compileOffers(operation, vendor, handlers(operation))
      cache.set(operation, offers)
      return offers
    },
    hidden: app.contract.versions[version]?.without ?? {},
  }
}

/** The operations are grouped by resource once, since a contract may have hundreds of resources. */
function compileViews({ resources }: Service, routes: Routes): ReadonlyMap<string, ResourceView> {
  const all = routes.all.flatMap(route => [...route.methods.values()])
  const byResource = Map.groupBy(all, each => ('resource' in each ? each.resource : undefined))
  return new Map(resources.map(resource => [resource.name, viewOf(resource, resources, byResource)]))
}

/** The operations of each resource. */
type OfferedOperations = ReadonlyMap<Resource | undefined, readonly Operation[]>

function viewOf(resource: Resource, resources: readonly Resource[], offered: OfferedOperations): ResourceView {
  const operations = offered.get(resource) ?? []
  const kind = (name: Operation['kind']) => operations.find(each => each.kind === name)
  const at = resource.isSingle
    ? ({ base }: LinkBase) => `${base}/${resource.name}`
    : ({ place }: LinkBase, id: string) => `${place}/${resource.name}/${id}`
  const edit = kind('replace') ?? kind('patch')
  const drafts: LinkerDraft[] = [
    { rel: 'self', requires: undefined, href: '' },
    ...(kind('list')
      ? [{ rel: 'collection', requires: undefined, href: ({ place }: LinkBase) => `${place}/${resource.name}` }]
      : []),
    ...(resource.within === undefined
      ? []
      : [{ rel: 'up', requires: undefined, href: ({ place }: LinkBase) => place }]),
    ...nestedLinkers(resource, resources, offered),
    ...ownRelations(resource, resources).flatMap(([rel, relation]) =>
      'of' in relation
        ? relationLinkers(rel, relation, resources, offered)
        : referenceLinkers(resource, rel, relation.by, resources, offered),
    ),
    ...Object.keys(resource.files).map(part => ({ rel: part, requires: undefined, href: `/${part}` })),
    ...(edit
      ? [
          {
            rel: 'edit',
            requires: edit,
            href: '',
            form: { method: 'PUT', title: 'edit', fields: resource.fields } as const,
          },
        ]
      : []),
    ...operations.flatMap(each => (each.kind === 'act' || each.kind === 'look' ? [actionLinker(each)] : [])),
    ...(kind('remove')
      ? [
          {
            rel: 'delete',
            requires: kind('remove'),
            href: '',
            form: { method: 'DELETE', title: 'delete', fields: {} } as const,
          },
        ]
      : []),
  ]
  const linkers = drafts.map((each, i) => ({ ...each, bit: 2 ** i }))
  const depends = ({ requires, leadsTo = [] }: LinkerDraft) =>
    [...leadsTo, ...(requires ? [requires] : [])].some(({ grants }) => grants.some(grant => grant.when))
  const steady = !hasConditionalFields(resource) && !linkers.some(depends)
  return { resource, one: singularOf(resource), addressOf: at, linkers, steady }
}

/** Links to the item that this field names, if it names one. */
function referenceLinkers(
  { fields, within }: Resource,
  rel: string,
  by: string,
  resources: readonly Resource[],
  offered: OfferedOperations,
): LinkerDraft[] {
  if (by === within) return [{ rel, requires: undefined, href: ({ place }) => place }]
  const shape = fields[by]?.shape
  if (shape?.kind !== 'ref') return []
  const target = resources.find(({ name }) => name === shape.resource)
  const leadsTo = operationsOn(target, ['get'], offered)
  const href: LinkerDraft['href'] = ({ base }, { value }) => `${base}/${shape.resource}/${value[by]}`
  return leadsTo.length === 0 ? [] : [{ rel, requires: undefined, leadsTo, names: by, href }]
}

/** Links to the items that name this one in a field. */
function relationLinkers(
  rel: string,
  { of, by }: { readonly of: string; readonly by: string },
  resources: readonly Resource[],
  offered: OfferedOperations,
): LinkerDraft[] {
  const target = resources.find(({ name }) => name === of)
  const leadsTo = operationsOn(target, ['list'], offered)
  return leadsTo.length === 0 ? [] : [{ rel, requires: undefined, leadsTo, sees: target?.fields[by], href: `/${of}` }]
}

/** The operations of these kinds that a resource has; none if there is no such resource. */
const operationsOn = (
  resource: Resource | undefined,
  kinds: readonly Operation['kind'][],
  offered: OfferedOperations,
): readonly Operation[] => ((resource && offered.get(resource)) ?? []).filter(({ kind }) => kinds.includes(kind))

/** Relations that lead anywhere other than to nested items. */
const ownRelations = (resource: Resource, resources: readonly Resource[]) =>
  Object.entries(resource.given.relations ?? {}).filter(
    ([, relation]) => !('of' in relation && isNestedRelation(relation, resource, resources)),
  )

/** Links to the nested collections of an item in which callers may do something. */
const nestedLinkers = (resource: Resource, resources: readonly Resource[], offered: OfferedOperations): LinkerDraft[] =>
  listNested(resource, resources)
    .map(nested => ({ rel: nested.name, leadsTo: operationsOn(nested, ['list', 'create'], offered) }))
    .filter(({ leadsTo }) => leadsTo.length > 0)
    .map(({ rel, leadsTo }) => ({ rel, requires: undefined, leadsTo, href: `/${rel}` }))

function actionLinker(operation: Extract<Operation, { kind: 'act' | 'look' | 'kept' }>): LinkerDraft {
  const { action, verb, kind } = operation
  const form: DocumentForm = { method: 'POST', title: verb, fields: action.input }
  return { rel: action.link, requires: operation, href: `/${action.rel}`, ...(kind === 'act' && { form }) }
}

/** What a caller is offered for one item. */
export interface OfferedLinks {
  readonly linkers: readonly Linker[]
  /** The fields in this caller's forms. */
  readonly open: Fields
  /**
   * Which of all links these are, as bits or by name, plus the fields that this caller may not
   * see, and those that it may set: a part of what a tag distinguishes.
   */
  readonly mask: number | string
}

/** Rule A3.4: the links of an item in its current state, for this caller. */
export function offeredLinks(
  { resource, linkers: all }: ResourceView,
  item: Snapshot,
  viewer: Viewer,
  calls: Calls,
): OfferedLinks {
  const linkers: Linker[] = []
  let bits = 0
  for (const linker of all) {
    const { requires, leadsTo, sees, names, bit } = linker
    if (requires && !calls.offers(requires, viewer, item)) continue
    if (leadsTo && !leadsTo.some(({ grants }) => mayEverBeAllowed(grants, viewer.caller, viewer.now))) continue
    if (sees && !seesAlways(sees, viewer)) continue
    if (names !== undefined && typeof item.value[names] !== 'string') continue
    linkers.push(linker)
    bits += bit
  }
  const open = openFieldsOf(resource, viewer, item.value)
  const links = all.length > bitsMax ? linkers.map(({ rel }) => rel).join() : bits
  const isPlain = open === resource.fields && !item.unseen
  return { linkers, open, mask: isPlain ? links : `${links} ${item.unseen?.join() ?? ''} ${Object.keys(open).join()}` }
}

/** The fields of a search: words, and values that fields must equal. */
export const searchFields: (resource: Resource) => Fields = memoizeByObject(resource => {
  const by = (resource.given.searchBy ?? []).flatMap(name => {
    const shape = resource.fields[name]?.shape
    return shape && isScalar(shape) ? [[name, new Field(shape).optional()] as const] : []
  })
  return { q: new Field({ kind: 'string', max: 1000 }).optional(), ...Object.fromEntries(by) }
})

/** Whether anyone may read all items, and all of their parents. */
export const isReadPublic = (resource: Resource, resources: readonly Resource[]): boolean =>
  [resource, ...listAncestors(resource, resources).map(({ parent }) => parent)].every(({ given }) =>
    isPublic(given.allow['read'] ?? []),
  )

export const isVersionSegment = (segment: string | undefined): segment is string => /^v\d{1,9}$/.test(segment ?? '')
