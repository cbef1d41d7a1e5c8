/**
 * The item of a call, whether the caller may see it and do this to it (row 22 of the decisions),
 * and which of its fields the caller may see and set (row 28).
 */

import type { Maybe } from '../base/maybe.ts'
import { findSetBars, findUnseenFields, guardedFieldsOf, type Viewer } from '../contract/field-access.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { Values } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import { type Caller, type Grant, isAllowed, readRestriction } from '../contract/policy.ts'
import type { AnyAction, Resource } from '../contract/resource.ts'
import type { Call } from './call.ts'
import { refuse } from './refusal.ts'
import { type Former, isFormer, type Snapshot, type StoreReader, type StoreWriter } from './store.ts'
import { isSameValue } from './typed-json.ts'

export const readGrants = (resource: Resource): readonly Grant[] => resource.given.allow['read'] ?? []

/**
 * May this caller do this to this item, by policy and, for changes, by state? Links depend on it.
 */
export function isOffered(operation: Operation, caller: Caller, item: Snapshot, now: number): boolean {
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
 * `forbidden`; so is a former one, for a caller that may not read all items, and a single one that
 * was removed: it may be made again.
 */
export function requireVisible(
  found: Snapshot | Former | undefined,
  operation: Operation & { readonly resource: Resource },
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

const refusalOfFormer = (found: Former) =>
  found.to === undefined ? ({ kind: 'gone' } as const) : ({ kind: 'moved', to: found.to } as const)

/**
 * Row 23: the precondition of a call that reads. True: the caller has the current state already.
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

/** Row 24: a change must have a precondition if the contract demands one. */
export function requireConditional(call: Call, resource: Resource): void {
  const { kind } = call.admitted.operation
  const changes = kind === 'replace' || kind === 'patch' || kind === 'remove'
  if (changes && call.face === 'rest' && resource.given.precondition !== false && !call.expects)
    refuse({ kind: 'precondition-required' })
}

export function findItem(
  reader: StoreReader,
  resource: string,
  id: string | undefined,
): Maybe<Snapshot | Former | undefined> {
  return id === undefined ? undefined : reader.get(resource, id)
}

/** How identifiers of a resource begin. */
export const idPrefix = (resource: Resource): string => {
  const shape = resource.fields['id']?.shape
  return shape?.kind === 'id' ? shape.prefix : resource.name
}

/** The item that a call changes. */
export function findForChange(
  writer: StoreWriter,
  resource: string,
  id: string | undefined,
): Maybe<Snapshot | Former | undefined> {
  return id === undefined ? undefined : writer.getForChange(resource, id)
}

// Fields

/** What a caller may see and set of one item, which is there or about to be made. */
export interface GuardedView {
  readonly value: Values
  readonly unseen: readonly string[]
  /** Field → why the caller may not set it. */
  readonly bars: ReadonlyMap<string, string>
  /** What stays where content leaves it out: what the caller may not see, or not set. */
  readonly retained: Values
}

const openView: GuardedView = { value: {}, unseen: [], bars: new Map(), retained: {} }

export function viewGuarded(resource: Resource, viewer: Viewer, value: Values): GuardedView {
  if (guardedFieldsOf(resource).length === 0) return openView
  const unseen = findUnseenFields(resource, viewer, value)
  const bars = findSetBars(resource, viewer, value)
  const isRetained = (name: string): boolean =>
    value[name] !== undefined && !resource.fields[name]?.isReadOnly && (unseen.includes(name) || bars.has(name))
  const retained = guardedFieldsOf(resource).flatMap(([name]) =>
    isRetained(name) ? [[name, value[name]] as const] : [],
  )
  return { value, unseen, bars, retained: Object.fromEntries(retained) }
}

/**
 * Refuses what content sets and the caller may not set. The value that stands may be sent again, by
 * a caller that sees it: others could find it out by trying.
 * @param sent the content with what stays inside of its values
 */
export function requireSettable(
  { unseen, bars }: GuardedView,
  given: Values,
  { sent, standing }: { readonly sent: Values; readonly standing: Values },
): void {
  if (bars.size === 0) return
  const isOther = (name: string): boolean =>
    given[name] !== undefined && (unseen.includes(name) || !isSameValue(sent[name], standing[name]))
  refuseBarred([...bars].filter(([name]) => isOther(name)))
}

/**
 * A patch removes what it leaves out of an item that the caller has seen.
 * @param hidden fields that the caller's version has not
 */
export function requireRemovable({ value, unseen, bars }: GuardedView, given: Values, hidden: readonly string[] = []) {
  const isRemoved = (name: string): boolean =>
    given[name] === undefined && value[name] !== undefined && !unseen.includes(name) && !hidden.includes(name)
  refuseBarred([...bars].filter(([name]) => isRemoved(name)))
}

function refuseBarred(bars: readonly (readonly [name: string, detail: string])[]): void {
  const problems: FieldProblem[] = bars.map(([name, detail]) => ({ path: [name], code: 'readOnly', detail }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
