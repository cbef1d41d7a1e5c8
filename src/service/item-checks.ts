/**
 * The item of a call: whether the caller may see it and do this to it (row 22 of the decisions),
 * where it is, and which of its fields the caller may see and set (row 28).
 */

import { chain, type Maybe } from '../base/maybe.ts'
import { ownMember, pickPresent } from '../base/objects.ts'
import { findSetBars, findUnseenFields, guardedFieldsOf, type Viewer } from '../contract/field-access.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Implementation, Values } from '../contract/implement.ts'
import { findParent, listAncestors } from '../contract/nesting.ts'
import { demandsPrecondition, isCreatedByPut, type Operation } from '../contract/operation.ts'
import { type Caller, type Grant, isAllowed, mayEverBeAllowed, readRestriction } from '../contract/policy.ts'
import type { AnyAction, Resource } from '../contract/resource.ts'
import type { Call } from './call.ts'
import type { ContextFacts } from './handler-facts.ts'
import { refuse } from './refusal.ts'
import { type Filter, type Former, isFormer, type Snapshot, type StoreReader, type StoreWriter } from './store.ts'
import { isSameValue } from './typed-json.ts'

export const readGrants = (resource: Resource): readonly Grant[] => resource.given.allow['read'] ?? []

/**
 * May this caller do this to this item, by policy and, for changes, by state? Links depend on it.
 */
export function isOffered(operation: Operation, { caller, now }: Viewer, item: Snapshot): boolean {
  return isAllowed(operation.grants, caller, now, item.value) && isOfferedByState(operation, item)
}

/** Whether the item's state allows it (rule A3.4). */
export function isOfferedByState(operation: Operation, item: Snapshot): boolean {
  const state = stateOf(item)
  if (state === undefined) return true
  if (operation.kind === 'act' || operation.kind === 'look') return isActionOfState(operation.action, state)
  if (operation.kind === 'kept') return item.kept[operation.verb] !== undefined
  if (operation.kind === 'replace' || operation.kind === 'patch')
    return operation.resource.given.edit?.includes(state) ?? true
  if (operation.kind === 'remove' || operation.kind === 'bulk')
    return operation.resource.given.remove?.includes(state) ?? true
  return true
}

export const isActionOfState = ({ from }: AnyAction, state: string | undefined): boolean =>
  state === undefined || from.length === 0 || from.includes(state)

export function stateOf(item: Snapshot): string | undefined {
  const state = item.value['state']
  return typeof state === 'string' ? state : undefined
}

/**
 * The item, for a caller that may see it and do this to it now. A secret item is `not-found`, never
 * `forbidden`. So is a former item for a caller that may not read all items, and a removed item of
 * a single resource, since it may be created again.
 */
export function requireVisible(
  found: Snapshot | Former | undefined,
  operation: { readonly resource: Resource; readonly grants: readonly Grant[] },
  caller: Caller,
  now: number,
): Snapshot {
  const reads = readGrants(operation.resource)
  if (found === undefined) return refuse({ kind: 'not-found' })
  if (isFormer(found)) {
    const isTold = !operation.resource.isSingle && readRestriction(reads, caller, now) === 'all'
    return refuse(isTold ? refusalOfFormer(found) : { kind: 'not-found' })
  }
  if (!isAllowed(reads, caller, now, found.value)) return refuse({ kind: 'not-found' })
  if (operation.grants !== reads && !isAllowed(operation.grants, caller, now, found.value))
    return refuse({ kind: 'forbidden' })
  return found
}

/**
 * Whether a PUT creates the item. If the caller may create none, an absent item is answered like a
 * secret one, so that identifiers cannot be probed.
 */
export const mayCreateByPut = (
  resource: Resource,
  found: Snapshot | Former | undefined,
  { caller, now }: Viewer,
): boolean =>
  isCreatedByPut(resource) &&
  (found === undefined || (isFormer(found) && found.to === undefined)) &&
  mayEverBeAllowed(resource.given.allow['create'] ?? [], caller, now)

const refusalOfFormer = (found: Former) =>
  found.to === undefined ? ({ kind: 'gone' } as const) : ({ kind: 'moved', to: found.to } as const)

/**
 * Row 23: the precondition of a call that reads. True: the caller already has the current state.
 */
export function isUnchanged(call: Call, current: Snapshot | undefined): boolean {
  const verdict = call.expects?.(current) ?? 'proceed'
  if (verdict === 'unchanged' && current) return true
  return verdict === 'proceed' ? false : refuse({ kind: 'stale', ...(current && { version: current.version }) })
}

/** Row 23 for a change: a precondition that would give 304 for a read fails. */
export function requirePrecondition(call: Call, current: Snapshot | undefined): void {
  if (isUnchanged(call, current)) refuse({ kind: 'stale', ...(current && { version: current.version }) })
}

/** Row 24. */
export function requireConditional({ admitted, face, expects }: Call): void {
  if (face === 'rest' && !expects && demandsPrecondition(admitted.operation)) refuse({ kind: 'precondition-required' })
}

/** The beginning of a resource's identifiers. */
export const idPrefix = (resource: Resource): string => {
  const shape = resource.fields['id']?.shape
  return shape?.kind === 'id' ? shape.prefix : resource.name
}

/** The item of a call that reads, if the caller can find its parents. */
export function findItem(look: PlaceLook, resource: Resource): Maybe<Snapshot | Former | undefined> {
  const { id } = look.call
  const found = id === undefined ? undefined : look.reader.get(resource.name, id)
  return resource.within === undefined ? found : chain(found, item => findInPlace(look, resource, item))
}

/** The item that a call changes, if the caller can find its parents. */
export function findForChange(
  { call, about, writer }: Pick<PlaceLook, 'call' | 'about'> & { readonly writer: StoreWriter },
  resource: Resource,
): Maybe<Snapshot | Former | undefined> {
  const { id } = call
  const found = id === undefined ? undefined : writer.getForChange(resource.name, id)
  if (resource.within === undefined) return found
  return chain(found, item => findInPlace({ call, about, reader: writer }, resource, item))
}

const findInPlace = <T extends Snapshot | Former | undefined>(look: PlaceLook, resource: Resource, item: T): Maybe<T> =>
  chain(requirePlace(look, resource, item), () => item)

// Places: each item of a nested resource is in its parent, which may be in another. A caller finds
// an item, a list, or a place for a new item only in parents that it may read; the other
// identifiers in an address must be correct. Items without a parent need no check.

/** What is needed to check the place of an item. */
export interface PlaceLook {
  readonly call: Call
  readonly about: Pick<ContextFacts, 'app' | 'now'>
  readonly reader: Pick<StoreReader, 'get'>
}

/** Checks that the parents of an item, or those that the call names, exist for this caller. */
export function requirePlace(look: PlaceLook, resource: Resource, found: Snapshot | Former | undefined): Maybe<void> {
  const { within } = resource
  if (within === undefined) return
  const { parents = [] } = look.call
  const parent = found && !isFormer(found) ? String(found.value[within]) : undefined
  // The parent of a removed item is no longer known.
  if (found && isFormer(found) && !seesAllParents(look.about.app, resource, look.call.admitted.caller, look.about.now))
    refuse({ kind: 'not-found' })
  return requireParents(look, resource, parents, parent)
}

/** @param known of the existing item: the address must contain its parents' identifiers */
function requireParents(
  look: PlaceLook,
  resource: Resource,
  [named, ...others]: readonly string[],
  known: string | undefined,
): Maybe<void> {
  const step = findParent(resource, look.about.app.contract.resources)
  const id = known ?? named
  if (!step || id === undefined) return
  const { parent } = step
  if (named !== undefined && named !== id)
    return chain(look.reader.get(parent.name, named), other => refuseOtherParent(look, parent, other))
  return chain(look.reader.get(parent.name, id), found => {
    const item = requireParent(look, parent, found)
    return parent.within === undefined
      ? undefined
      : requireParents(look, parent, others, String(item.value[parent.within]))
  })
}

/** A moved parent takes its items along: their address contains its new identifier. */
function requireParent(look: PlaceLook, parent: Resource, found: Snapshot | Former | undefined): Snapshot {
  const operation = { resource: parent, grants: readGrants(parent) }
  refuseMovedParent(look, parent, found)
  return requireVisible(found, operation, look.call.admitted.caller, look.about.now)
}
function refuseMovedParent(look: PlaceLook, parent: Resource, found: Snapshot | Former | undefined): void {
  if (found && isFormer(found) && found.to !== undefined && seesAll(parent, look.call.admitted.caller, look.about.now))
    refuse({ kind: 'moved', to: found.to, of: parent.name })
}
function refuseOtherParent(look: PlaceLook, parent: Resource, found: Snapshot | Former | undefined): void {
  refuseMovedParent(look, parent, found)
  refuse({ kind: 'not-found' })
}

const seesAll = (resource: Resource, caller: Caller, now: number): boolean =>
  readRestriction(readGrants(resource), caller, now) === 'all'

/** Whether a caller may read every parent that an item of the resource can have. */
export const seesAllParents = (
  { contract }: Implementation,
  resource: Resource,
  caller: Caller,
  now: number,
): boolean => listAncestors(resource, contract.resources).every(({ parent }) => seesAll(parent, caller, now))

/** Whether a caller can find an item in its parents: it must be able to read each of them. */
export async function hasVisibleParents(
  { about, reader, caller }: Pick<PlaceLook, 'about' | 'reader'> & { readonly caller: Caller },
  resource: Resource,
  item: Snapshot,
): Promise<boolean> {
  let { value } = item
  for (const { parent, by } of listAncestors(resource, about.app.contract.resources)) {
    const found = await reader.get(parent.name, String(value[by]))
    if (!found || isFormer(found) || !isAllowed(readGrants(parent), caller, about.now, found.value)) return false
    value = found.value
  }
  return true
}

/** The parent field that a call names, for a new item; empty if it has no parent. */
export function parentValue({ within, name }: Resource, { parents, admitted }: Call): Values {
  if (within === undefined) return {}
  const [id] = parents ?? []
  if (id === undefined) throw new Error(`${admitted.operation.name}: no parent is named for a new item of ${name}`)
  return { [within]: id }
}

/** Filters for the items of the parent that a call names. */
export const parentFilters = ({ within }: Resource, { parents }: Pick<Call, 'parents'>): readonly Filter[] =>
  within === undefined ? [] : [{ field: within, is: 'eq', value: parents?.[0] ?? '' }]

// Fields

/** What a caller may see and set in one item, which exists or is about to be created. */
export interface GuardedView {
  readonly value: Values
  readonly unseen: readonly string[]
  /** Field → why the caller may not set it. */
  readonly bars: ReadonlyMap<string, string>
  /** Values that a change keeps if content leaves them out: the caller may not see or set them. */
  readonly retained: Values
}

const openView: GuardedView = { value: {}, unseen: [], bars: new Map(), retained: {} }

export function viewGuarded(resource: Resource, viewer: Viewer, value: Values): GuardedView {
  if (guardedFieldsOf(resource).length === 0) return openView
  const unseen = findUnseenFields(resource, viewer, value)
  const bars = findSetBars(resource, viewer, value)
  const names = guardedFieldsOf(resource).map(([name]) => name)
  const isRetained = (name: string): boolean =>
    !resource.fields[name]?.isReadOnly && (unseen.includes(name) || bars.has(name))
  return { value, unseen, bars, retained: pickPresent(value, names.filter(isRetained)) }
}

/**
 * Refuses content that sets what the caller may not set; called if there are bars. A caller that
 * sees the current value may send it again; any other could find it out by trying.
 * @param sent the content, with retained members inside its values
 */
export function requireSettable(
  { unseen, bars }: GuardedView,
  replacement: Values,
  { sent, standing }: { readonly sent: Values; readonly standing: Values },
): void {
  const isOther = (name: string): boolean =>
    ownMember(replacement, name) !== undefined &&
    (unseen.includes(name) || !isSameValue(ownMember(sent, name), ownMember(standing, name)))
  refuseBarred([...bars].filter(([name]) => isOther(name)))
}

/**
 * A patch removes what it leaves out of an item that the caller has seen.
 * @param hidden fields that the caller's version lacks
 */
export function requireRemovable(
  { value, unseen, bars }: GuardedView,
  replacement: Values,
  hidden: readonly string[] = [],
) {
  const isRemoved = (name: string): boolean =>
    ownMember(replacement, name) === undefined &&
    ownMember(value, name) !== undefined &&
    !unseen.includes(name) &&
    !hidden.includes(name)
  refuseBarred([...bars].filter(([name]) => isRemoved(name)))
}

function refuseBarred(bars: readonly (readonly [name: string, detail: string])[]): void {
  const problems: FieldProblem[] = bars.map(([name, detail]) => ({ path: [name], code: 'readOnly', detail }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
