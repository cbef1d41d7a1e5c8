/**
 * The operations that change an item, inside the call's transaction, in the order of rows 22–29.
 */

import { ownMember, pickPresent } from '../base/objects.ts'
import { fillDefaults } from '../contract/default-values.ts'
import type { Values } from '../contract/implement.ts'
import type { Operation, OperationOf } from '../contract/operation.ts'
import { type Caller, type Grant, isAllowed, readRestriction } from '../contract/policy.ts'
import { type Resource, singleId } from '../contract/resource.ts'
import { checkValue } from '../contract/typed-value.ts'
import type { Call, Input } from './call.ts'
import { requireResource } from './handler-facts.ts'
import {
  addItem,
  applyAction,
  deriveValue,
  type ItemChange,
  newItemFields,
  putChangedItem,
  removeOne,
  requireAllFields,
  requireUnreferenced,
} from './item-changes.ts'
import {
  findForChange,
  idPrefix,
  isOfferedByState,
  mayCreateByPut,
  parentValue,
  requireConditional,
  requirePlace,
  requirePrecondition,
  requireRemovable,
  requireSettable,
  requireVisible,
  stateOf,
  viewGuarded,
} from './item-checks.ts'
import { keepReadOnlyMembers, readOnlyNames } from './nested-read-only.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import { isFormer, type Snapshot } from './store.ts'
import { isSameValue } from './typed-json.ts'

/** Everything that a call's change needs. */
export interface WriteContext extends ItemChange {
  readonly call: Call
  /** The verbs that the item's state and the policy allow this caller. */
  readonly possible: (item: Snapshot) => readonly string[]
}

/** The item of a call, for a caller that may see it and do this to it now. */
const requireItemForChange = async (
  { call, about, writer }: WriteContext,
  operation: Operation & { readonly resource: Resource },
): Promise<Snapshot> => {
  const found = await findForChange({ call, about, writer }, operation.resource)
  return requireVisible(found, operation, call.admitted.caller, about.now)
}

const emptyInput: Input = { value: {}, server: [] }

export async function createItem(change: WriteContext, operation: OperationOf<'create'>): Promise<Outcome> {
  const { call, about } = change
  const { resource, grants } = operation
  if (resource.isSingle) await requireNone(change, resource)
  if (resource.within !== undefined) await requirePlace({ call, about, reader: change.writer }, resource, undefined)
  const input = call.input?.(undefined) ?? emptyInput
  const values = resource.within === undefined ? input.value : { ...input.value, ...parentValue(resource, call) }
  const draft = fillOwner(operation, call.admitted.caller, about.now, values)
  const id = resource.isSingle ? singleId : about.id(idPrefix(resource))
  return putCreated(change, resource, grants, id, draft, input)
}

/** A single resource is created once. */
async function requireNone({ call, writer }: WriteContext, { name }: Resource): Promise<void> {
  const found = await writer.getForChange(name, singleId)
  const item = found && !isFormer(found) ? found : undefined
  requirePrecondition(call, item)
  if (item) refuse({ kind: 'conflict', detail: `${name} already exists: change it` })
}

/**
 * Fills fields that a grant binds to a claim and the caller left out: an order belongs to its
 * sender. A caller whose claim is not a value of its field can own no item.
 */
function fillOwner({ grants, resource }: OperationOf<'create'>, caller: Caller, now: number, draft: Values): Values {
  const rows = readRestriction(grants, caller, now)
  const [row] = rows === 'all' || rows.length !== 1 ? [] : rows
  if (row === undefined) return draft
  for (const name in row) {
    const field = resource.fields[name]
    if (ownMember(draft, name) === undefined && field && checkValue({ [name]: field }, row).length > 0)
      refuse({ kind: 'forbidden' })
  }
  return { ...row, ...draft }
}

/** @param content with fields filled from claims */
async function putCreated(
  change: WriteContext,
  resource: Resource,
  grants: readonly Grant[],
  id: string,
  content: Values,
  input: Input,
): Promise<Outcome> {
  const { about, call } = change
  const { fields } = requireResource(about, resource.name)
  const draft = fillDefaults(fields, content)
  requireAllFields(change, resource, draft)
  const newFields = newItemFields(resource, id)
  const view = viewGuarded(resource, about, { ...draft, ...newFields })
  if (view.bars.size > 0) requireSettable(view, input.value, { sent: draft, standing: fillDefaults(fields, {}) })
  if (!isAllowed(grants, call.admitted.caller, about.now, { ...draft, id })) refuse({ kind: 'forbidden' })
  const value = await deriveValue(change, resource, draft, newFields)
  if (input.server.length > 0) requireReadOnlyAgreement(input.server, [value], view.unseen)
  // A face has checked these values; a handler may have changed them.
  const sound = change.handlers.derive ? undefined : input.value
  const item = await addItem(change, resource, id, value, sound)
  return { kind: 'item', item, created: true }
}

/**
 * Read-only fields in content are ignored if they equal the old or the new state; otherwise they
 * are refused. One that the caller may not see is always refused, since it could be found out by
 * trying.
 */
function requireReadOnlyAgreement(server: Input['server'], values: readonly Values[], unseen: readonly string[]): void {
  const differing = server.filter(
    ({ path, value }) =>
      unseen.includes(String(path[0])) || !values.some(row => isSameValue(valueAtPath(row, path), value)),
  )
  const problems = differing.map(({ path }) => ({ path, code: 'readOnly', detail: 'is read-only' }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
const valueAtPath = (row: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((value: unknown, part) => value && ownMember(value as Values, String(part)), row)

export async function replaceItem(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Promise<Outcome> {
  const { call, about } = change
  const { resource } = operation
  const found = await findForChange(change, resource)
  const viewer = { caller: call.admitted.caller, now: about.now }
  if (operation.kind === 'replace' && mayCreateByPut(resource, found, viewer)) return putNew(change, operation)
  const item = requireVisible(found, operation, viewer.caller, viewer.now)
  requirePrecondition(call, item)
  requireConditional(call)
  const input = call.input?.(item) ?? emptyInput
  const retained = { ...serverFields(resource, item.value), ...hiddenOf(call, item) }
  const view = viewGuarded(resource, about, item.value)
  const retainedFields = { ...retained, ...view.retained }
  const draft = {
    ...view.retained,
    ...fillDefaults(requireResource(about, resource.name).fields, input.value, retainedFields),
  }
  requireAllFields(change, resource, { ...retainedFields, ...draft })
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  if (view.bars.size > 0)
    requireSettable(view, input.value, {
      sent: keepReadOnlyMembers(resource.fields, draft, item.value),
      standing: item.value,
    })
  if (operation.kind === 'patch') requireRemovable(view, input.value, call.hidden)
  const value = await deriveValue(change, resource, draft, retained, item.value)
  // Also for the new value: a caller that may change its own item may not give it away.
  if (!isAllowed(operation.grants, call.admitted.caller, about.now, value)) refuse({ kind: 'forbidden' })
  if (input.server.length > 0) requireReadOnlyAgreement(input.server, [item.value, value], view.unseen)
  // If nothing changes, there is no new version: the tags that others hold stay valid.
  if (isSameValue(item.value, value)) return { kind: 'item', item, created: false }
  return { kind: 'item', item: await putChangedItem(change, resource.name, item, value), created: false }
}

function putNew(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Promise<Outcome> {
  const { call } = change
  const { resource } = operation
  requirePrecondition(call, undefined)
  const id = call.id ?? ''
  const grants = resource.given.allow['create'] ?? []
  const input = call.input?.(undefined) ?? emptyInput
  return putCreated(change, resource, grants, id, { ...input.value, ...parentValue(resource, call) }, input)
}

const serverFields = ({ fields }: Resource, value: Values): Values => pickPresent(value, readOnlyNames(fields))
const hiddenOf = (call: Call, item: Snapshot): Values => pickPresent(item.value, call.hidden ?? [])

export async function removeItem(change: WriteContext, operation: OperationOf<'remove'>): Promise<Outcome> {
  const { call } = change
  const item = await requireItemForChange(change, operation)
  requirePrecondition(call, item)
  requireConditional(call)
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  await requireUnreferenced(change, operation.resource, item.id)
  await removeOne(change, operation.resource, item)
  return { kind: 'removed', id: item.id }
}

export async function actOnItem(change: WriteContext, operation: OperationOf<'act'>): Promise<Outcome> {
  const { call } = change
  const { action } = operation
  const item = await requireItemForChange(change, operation)
  requirePrecondition(call, item)
  const input = call.input?.(item) ?? emptyInput
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  const result = await applyAction(change, operation, item, input.value)
  return action.output
    ? { kind: 'output', item: result.item, output: result.output ?? {}, created: action.kept }
    : { kind: 'item', item: result.item, created: false }
}

function refuseByState(change: WriteContext, item: Snapshot): never {
  const state = stateOf(item)
  return refuse({ kind: 'conflict', ...(state !== undefined && { state }), possible: change.possible(item) })
}

export async function putItemFile(change: WriteContext, operation: OperationOf<'putFile'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource, part } = operation
  const item = await requireItemForChange(change, operation)
  const before = await writer.file(resource.name, item.id, part)
  requirePrecondition(call, before && { ...item, version: before.version, modified: before.modified })
  const content = call.file
  if (!content) throw new Error(`${operation.name}: no content was given`)
  const { mediaType, octets } = content
  const { length, start } = octets
  await change.handlers.receiving?.(change.context(), item.value, { part, mediaType, length, start })
  const file = await writer.putFile(resource.name, item.id, part, content, about.now)
  return { kind: 'file', item, file, created: before === undefined }
}
