/**
 * The operations that change an item, inside the call's transaction, in the order of rows 22–29.
 */

import { memoizeByObject } from '../base/memo.ts'
import type { Fields } from '../contract/field.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { Handlers, Values } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import { type Caller, commonRestriction, type Grant, isAllowed, readRestriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { type FoundReference, findReferences } from '../contract/typed-value.ts'
import type { Call, Input } from './call.ts'
import {
  type ContextFacts,
  createContext,
  putChanged,
  reachOf,
  recordChange,
  requireSound,
  requireSoundOutput,
} from './handler-context.ts'
import {
  findItem,
  isOfferedByState,
  readGrants,
  requireConditional,
  requirePrecondition,
  requireVisible,
  stateOf,
} from './item-checks.ts'
import { type ItemQuery, walkItems } from './item-walk.ts'
import { keepReadOnlyMembers } from './nested-read-only.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import { type Former, isFormer, type Query, type Snapshot, type StoreWriter } from './store.ts'
import { isSameValue, packTyped } from './typed-json.ts'

/** Everything that one change needs. */
export interface WriteContext {
  readonly call: Call
  readonly about: ContextFacts
  readonly handlers: Handlers
  readonly writer: StoreWriter
  /** The verbs that the item's state and the policy allow this caller. */
  readonly possible: (item: Snapshot) => readonly string[]
}

const emptyInput: Input = { value: {}, server: [] }

export async function createItem(change: WriteContext, operation: OperationOf<'create'>): Promise<Outcome> {
  const { call, about } = change
  const input = call.input?.(undefined) ?? emptyInput
  const draft = fillOwner(operation.grants, call.admitted.caller, about.now, input.value)
  const id = about.id(idPrefix(operation.resource))
  return putCreated(change, operation.resource, operation.grants, id, draft, input)
}

/**
 * Fills fields that a grant binds to a claim and the caller left out: an order is for its sender.
 */
function fillOwner(grants: readonly Grant[], caller: Caller, now: number, draft: Values): Values {
  const rows = readRestriction(grants, caller, now)
  return rows === 'all' || rows.length !== 1 ? draft : { ...rows[0], ...draft }
}

/** @param draft the content, with fields filled from claims */
async function putCreated(
  change: WriteContext,
  resource: Resource,
  grants: readonly Grant[],
  id: string,
  draft: Values,
  input: Input,
): Promise<Outcome> {
  const { about, writer, call } = change
  requireAllFields(resource, draft)
  if (!isAllowed(grants, call.admitted.caller, about.now, { ...draft, id })) refuse({ kind: 'forbidden' })
  const retained = resource.states[0] === undefined ? { id } : { id, state: resource.states[0] }
  const value = await deriveValue(change, resource, draft, retained)
  requireReadOnlyAgreement(input.server, [value])
  requireSound(about, resource.name, value, checkedValues(change, input))
  const item = await writer.put(resource.name, id, value, {}, undefined, about.now)
  await recordChange(about, writer, resource.name, 'created', item)
  return { kind: 'item', item, created: true }
}

/** Values that a face has checked, unless a handler may have changed them. */
const checkedValues = ({ handlers }: WriteContext, { value }: Input): Values | undefined =>
  handlers.derive ? undefined : value

/** A field that a claim may fill is required after all for a caller without that claim. */
function requireAllFields(resource: Resource, draft: Values): void {
  const missing = requiredFieldsOf(resource).filter(name => draft[name] === undefined)
  if (missing.length > 0)
    refuse({
      kind: 'invalid',
      problems: missing.map(name => ({ path: [name], code: 'required', detail: 'is required' })),
    })
}
const requiredFieldsOf = memoizeByObject(({ fields }: Resource): readonly string[] =>
  Object.keys(fields).filter(name => !fields[name]?.isOptional && !fields[name]?.isReadOnly),
)

/** The whole next value: read-only fields, the client's content, fields that `derive` computes. */
async function deriveValue(
  change: WriteContext,
  resource: Resource,
  draft: Values,
  retained: Values,
  current?: Values,
): Promise<Values> {
  const { handlers } = change
  const { id, state } = retained
  await requireReferences(change, resource.fields, draft, current)
  const computed = await handlers.derive?.(createContext(change.about, reachOf(change.writer)), draft, current)
  return {
    ...retained,
    ...(current ? keepReadOnlyMembers(resource.fields, draft, current) : draft),
    ...computed,
    id,
    ...(state !== undefined && { state }),
  }
}

/**
 * Row 28: references lead to items that the caller may read; one that the caller may not read does
 * not exist for them, unless the contract says otherwise. What stood before is not asked again.
 */
async function requireReferences(
  change: WriteContext,
  fields: Fields,
  value: Values,
  current: Values = {},
): Promise<void> {
  const stood = findReferences(fields, current).map(nameOfReference)
  const problems: FieldProblem[] = []
  for (const reference of findReferences(fields, value)) {
    const at = stood.indexOf(nameOfReference(reference))
    if (at >= 0) stood.splice(at, 1)
    else if (!(await mayReferTo(change, reference)))
      problems.push({
        path: reference.path,
        code: 'reference',
        detail: `refers to ${reference.id}, which does not exist in ${reference.resource}`,
      })
  }
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
const nameOfReference = ({ resource, id }: FoundReference): string => `${resource} ${id}`

async function mayReferTo(
  { about, writer, call }: WriteContext,
  { resource, id, isUnseen }: FoundReference,
): Promise<boolean> {
  const found = await writer.get(resource, id)
  if (!found || isFormer(found)) return false
  const declared = about.contract.resources.find(each => each.name === resource)
  return (
    isUnseen ||
    (declared !== undefined && isAllowed(readGrants(declared), call.admitted.caller, about.now, found.value))
  )
}

/** Read-only fields in content are ignored if they equal the old or the new state, else refused. */
function requireReadOnlyAgreement(server: Input['server'], values: readonly Values[]): void {
  const differing = server.filter(
    ({ path, value }) => !values.some(row => packTyped(valueAtPath(row, path)) === packTyped(value)),
  )
  const problems = differing.map(({ path }) => ({ path, code: 'readOnly', detail: 'is read-only' }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
const valueAtPath = (row: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((value: unknown, part) => (value as Record<string | number, unknown> | undefined)?.[part], row)

export async function replaceItem(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource } = operation
  const found = await findItem(writer, resource.name, call.id)
  if (operation.kind === 'replace' && mayCreate(resource, found)) return putNew(change, operation)
  const item = requireVisible(found, operation, call.admitted.caller, about.now)
  requirePrecondition(call, item)
  requireConditional(call, resource)
  const input = call.input?.(item) ?? emptyInput
  requireAllFields(resource, { ...hiddenOf(call, item), ...input.value })
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  const retained = { ...serverFields(resource, item.value), ...hiddenOf(call, item) }
  const value = await deriveValue(change, resource, input.value, retained, item.value)
  // For the new value, too: a caller that may change its own item may not give it away.
  if (!isAllowed(operation.grants, call.admitted.caller, about.now, value)) refuse({ kind: 'forbidden' })
  requireReadOnlyAgreement(input.server, [item.value, value])
  // What changes nothing makes no version: the tags that others hold stay good.
  if (isSameValue(item.value, value)) return { kind: 'item', item, created: false }
  return { kind: 'item', item: await putChanged(about, writer, resource.name, item, value), created: false }
}

const mayCreate = (resource: Resource, found: Snapshot | Former | undefined): boolean =>
  resource.given.putCreates === true && (found === undefined || (isFormer(found) && found.to === undefined))

function putNew(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Promise<Outcome> {
  const { call } = change
  const { resource } = operation
  requirePrecondition(call, undefined)
  const id = call.id ?? ''
  const grants = resource.given.allow['create'] ?? []
  const input = call.input?.(undefined) ?? emptyInput
  return putCreated(change, resource, grants, id, input.value, input)
}

const serverFields = (resource: Resource, value: Values): Values =>
  Object.fromEntries(Object.entries(value).filter(([name]) => resource.fields[name]?.isReadOnly))
const hiddenOf = (call: Call, item: Snapshot): Values =>
  Object.fromEntries(
    (call.hidden ?? []).filter(name => item.value[name] !== undefined).map(name => [name, item.value[name]]),
  )

export async function removeItem(change: WriteContext, operation: OperationOf<'remove'>): Promise<Outcome> {
  const { call, about, writer } = change
  const item = requireVisible(
    await findItem(writer, operation.resource.name, call.id),
    operation,
    call.admitted.caller,
    about.now,
  )
  requirePrecondition(call, item)
  requireConditional(call, operation.resource)
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  await requireUnreferenced(change, operation.resource, item.id)
  await removeOne(change, operation.resource, item)
  return { kind: 'removed', id: item.id }
}

async function removeOne(change: WriteContext, resource: Resource, item: Snapshot): Promise<void> {
  const { about, writer } = change
  await change.handlers.removing?.(createContext(about, reachOf(writer)), item.value)
  await writer.remove(resource.name, item.id, item.version, about.now)
  await recordChange(about, writer, resource.name, 'removed', item)
}

/** Row 28: an item that others refer to stays. References inside lists are history, and stay. */
async function requireUnreferenced(change: WriteContext, resource: Resource, id: string): Promise<void> {
  const referrer = await findReferrer(change, resource, id)
  if (referrer !== undefined)
    refuse({ kind: 'conflict', detail: `${referrer} refer to this item: change or remove them first` })
}

/** The name of a resource that refers to the item. */
async function findReferrer(change: WriteContext, resource: Resource, id: string): Promise<string | undefined> {
  for (const other of change.about.contract.resources)
    for (const [field, { shape }] of Object.entries(other.fields)) {
      if (shape.kind !== 'ref' || shape.resource !== resource.name) continue
      if (await change.writer.has(other.name, [{ field, is: 'eq', value: id }])) return other.name
    }
  return undefined
}

/** Items that one bulk removal removes at most: its transaction holds up other changes. */
export const bulkItemsMax = 5000

/**
 * The query selects what may go, by policy and state, so that what may not go never uses up the
 * bound.
 */
export async function removeItems(change: WriteContext, operation: OperationOf<'bulk'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource, grants } = operation
  const restrict = (to: readonly Grant[]): Query['within'] => readRestriction(to, call.admitted.caller, about.now)
  const asked = { filters: call.query?.filters ?? [], within: restrict(readGrants(resource)) }
  const removable = {
    filters: [...asked.filters, ...stateFilters(resource)],
    within: commonRestriction(asked.within, restrict(grants)),
  }
  const count = async (query: ItemQuery): Promise<number> =>
    (await writer.list(resource.name, { ...query, sort: [], size: 1, counted: 'exact' })).total ?? 0
  let removed = 0
  let referred = 0
  for await (const item of walkItems(page => writer.list(resource.name, page), removable)) {
    if (removed === bulkItemsMax) {
      const refused = (await count(asked)) - (await count(removable)) + referred
      return { kind: 'bulk', removed, refused, more: true }
    }
    if (await findReferrer(change, resource, item.id)) referred++
    else {
      await removeOne(change, resource, item)
      removed++
    }
  }
  return { kind: 'bulk', removed, refused: await count(asked), more: false }
}

/** The states that allow removal, as a query selects them. */
const stateFilters = ({ given: { remove } }: Resource): Query['filters'] =>
  remove ? [{ field: 'state', is: 'in', value: remove }] : []

export async function actOnItem(change: WriteContext, operation: OperationOf<'act'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource, action, verb } = operation
  const found = await findItem(writer, resource.name, call.id)
  const item = requireVisible(found, operation, call.admitted.caller, about.now)
  requirePrecondition(call, item)
  const input = call.input?.(item) ?? emptyInput
  if (!isOfferedByState(operation, item)) refuseByState(change, item)
  const handler = change.handlers.actions[verb]
  if (!handler) throw new Error(`${resource.name}.${verb} has no handler`)
  await requireReferences(change, action.input, input.value)
  const effect = await handler(createContext(about, reachOf(writer)), item.value, input.value)
  return applyEffect(change, operation, item, effect ?? undefined)
}

type ActionResult = Awaited<ReturnType<Handlers['actions'][string]>>

async function applyEffect(
  change: WriteContext,
  operation: OperationOf<'act'>,
  item: Snapshot,
  effect: ActionResult,
): Promise<Outcome> {
  const { about, writer } = change
  const { resource, action, verb } = operation
  if (action.effect === 'move') return moveItem(change, resource, item, String(effect?.to))
  const next = { ...item.value, ...effect?.set, ...(action.to !== undefined && { state: action.to }) }
  const output = action.output && requireSoundOutput(operation.name, action.output, effect?.output ?? {})
  const kept = action.kept ? { ...item.kept, [verb]: output } : item.kept
  const changed = await putChanged(about, writer, resource.name, item, next, kept)
  return action.output
    ? { kind: 'output', item: changed, output: output ?? {}, created: action.kept }
    : { kind: 'item', item: changed, created: false }
}

async function moveItem(change: WriteContext, resource: Resource, item: Snapshot, to: string): Promise<Outcome> {
  const { about, writer } = change
  const target = await writer.get(resource.name, to)
  if (to === item.id) refuse({ kind: 'conflict', detail: 'an item cannot move into itself: name another target' })
  if (!target || isFormer(target))
    return refuse({ kind: 'conflict', detail: `the target ${to} does not exist: name an existing item` })
  await writer.move(resource.name, item.id, to, item.version, about.now)
  await recordChange(about, writer, resource.name, 'moved', item)
  return { kind: 'item', item: target, created: false }
}

function refuseByState(change: WriteContext, item: Snapshot): never {
  const state = stateOf(item)
  return refuse({ kind: 'conflict', ...(state !== undefined && { state }), possible: change.possible(item) })
}

export async function putItemFile(change: WriteContext, operation: OperationOf<'putFile'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource, part } = operation
  const item = requireVisible(
    await findItem(writer, resource.name, call.id),
    operation,
    call.admitted.caller,
    about.now,
  )
  const before = await writer.file(resource.name, item.id, part)
  requirePrecondition(call, before && { ...item, version: before.version, modified: before.modified })
  const content = call.file
  if (!content) throw new Error(`${operation.name}: no content was given`)
  const file = await writer.putFile(resource.name, item.id, part, content, about.now)
  return { kind: 'file', item, file, created: before === undefined }
}

const idPrefix = (resource: Resource): string => {
  const shape = resource.fields['id']?.shape
  return shape?.kind === 'id' ? shape.prefix : resource.name
}
