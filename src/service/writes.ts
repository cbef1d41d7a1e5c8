/** The operations that change an item, inside the call's transaction, in the order of rows 22–29 of the HTTP decisions. */

import { chain, forEachInTurn, type Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { Handlers, Values } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import { type Caller, type Grant, isAllowed, readRestriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { findReferences } from '../contract/typed-value.ts'
import type { Call, Input } from './call.ts'
import {
  type ContextFacts,
  createContext,
  keepExternal,
  reachOf,
  recordChange,
  requireSound,
} from './handler-context.ts'
import {
  findItem,
  isOfferedByState,
  requireConditional,
  requirePrecondition,
  requireVisible,
  stateOf,
} from './item-checks.ts'
import { keepReadOnlyMembers } from './nested-read-only.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import { type Former, isFormer, type Snapshot, type StoreWriter } from './store.ts'
import { packTyped } from './typed-json.ts'

/** All that one change works with. */
export interface WriteContext {
  readonly call: Call
  readonly about: ContextFacts
  readonly handlers: Handlers
  readonly writer: StoreWriter
  /** The verbs of the resource that the item's state offers and this caller may take. */
  readonly possible: (item: Snapshot) => readonly string[]
}

const nothing: Input = { value: {}, server: [] }

export function createItem(change: WriteContext, operation: OperationOf<'create'>): Maybe<Outcome> {
  const { call, about } = change
  const input = call.input?.(undefined) ?? nothing
  const draft = owned(operation.grants, call.admitted.caller, about.now, input.value)
  const id = about.id(idPrefix(operation.resource))
  return made(change, operation.resource, operation.grants, id, draft, input)
}

/** Fields that a grant binds to a claim are filled with it where the caller left them out: an order is for oneself. */
function owned(grants: readonly Grant[], caller: Caller, now: number, draft: Values): Values {
  const rows = readRestriction(grants, caller, now)
  return rows === 'all' || rows.length !== 1 ? draft : { ...rows[0], ...draft }
}

/** `draft` is what was sent, and what a claim has filled. */
function made(
  change: WriteContext,
  resource: Resource,
  grants: readonly Grant[],
  id: string,
  draft: Values,
  input: Input,
): Maybe<Outcome> {
  const { about, writer, call } = change
  complete(resource, draft)
  if (!isAllowed(grants, call.admitted.caller, about.now, { ...draft, id })) refuse({ kind: 'forbidden' })
  const stays = resource.states[0] === undefined ? { id } : { id, state: resource.states[0] }
  return chain(derived(change, resource, draft, stays), value => {
    agreed(input.server, [value])
    requireSound(about, resource.name, value, readAs(change, input))
    return chain(writer.put(resource.name, id, value, {}, undefined, about.now), item =>
      chain(recordChange(about, writer, resource.name, 'created', item), () => ({ kind: 'item', item, created: true })),
    )
  })
}

/** What a face has read is what the fields say, as long as no handler has had it in its hands. */
const readAs = ({ handlers }: WriteContext, { value }: Input): Values | undefined =>
  handlers.derive ? undefined : value

/** Content may leave out what a claim fills; for whoever has no such claim it is required after all. */
function complete(resource: Resource, draft: Values): void {
  const missing = demandedOf(resource).filter(name => draft[name] === undefined)
  if (missing.length > 0)
    refuse({
      kind: 'invalid',
      problems: missing.map(name => ({ path: [name], code: 'required', detail: 'is required' })),
    })
}
const demandedOf = memoizeByObject(({ fields }: Resource): readonly string[] =>
  Object.keys(fields).filter(name => !fields[name]?.isOptional && !fields[name]?.isReadOnly),
)

/** The whole next value: what stays of the server's, what the client sent, what the application computes. */
function derived(
  change: WriteContext,
  resource: Resource,
  draft: Values,
  stays: Values,
  current?: Values,
): Maybe<Values> {
  const { handlers } = change
  const { id, state } = stays
  const whole = (computed?: Values): Values => ({
    ...stays,
    ...(current ? keepReadOnlyMembers(resource.fields, draft, current) : draft),
    ...computed,
    id,
    ...(state !== undefined && { state }),
  })
  return chain(exist(change, resource.fields, draft), () =>
    handlers.derive
      ? chain(handlers.derive(createContext(change.about, reachOf(change.writer)), draft, current), whole)
      : whole(),
  )
}

/** Row 28: what is referred to exists. */
function exist(change: WriteContext, fields: Parameters<typeof findReferences>[0], value: Values): Maybe<void> {
  const problems: FieldProblem[] = []
  const looked = forEachInTurn(findReferences(fields, value), ({ resource, id, path }) =>
    chain(change.writer.get(resource, id), found => {
      if (!found || isFormer(found))
        problems.push({ path, code: 'reference', detail: `there is no ${id} in ${resource}` })
    }),
  )
  return chain(looked, () => {
    if (problems.length > 0) refuse({ kind: 'invalid', problems })
  })
}

/** Server fields in content are ignored when they equal what stands or will stand, and refused when they differ. */
function agreed(server: Input['server'], values: readonly Values[]): void {
  const differing = server.filter(
    ({ path, value }) => !values.some(row => packTyped(at(row, path)) === packTyped(value)),
  )
  const problems = differing.map(({ path }) => ({ path, code: 'readOnly', detail: 'is the server’s to set' }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
const at = (row: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((value: unknown, part) => (value as Record<string | number, unknown> | undefined)?.[part], row)

export function replaceItem(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Maybe<Outcome> {
  const { call, writer } = change
  const { resource } = operation
  return chain(findItem(writer, resource.name, call.id), found =>
    operation.kind === 'replace' && mayCreate(resource, found)
      ? putNew(change, operation)
      : replaced(change, operation, requireVisible(found, operation, call.admitted.caller, change.about.now)),
  )
}

function replaced(change: WriteContext, operation: OperationOf<'replace' | 'patch'>, item: Snapshot): Maybe<Outcome> {
  const { call, about, writer } = change
  const { resource } = operation
  requirePrecondition(call, item)
  requireConditional(call, resource)
  const input = call.input?.(item) ?? nothing
  complete(resource, { ...hiddenOf(call, item), ...input.value })
  if (!isOfferedByState(operation, item)) conflict(change, item)
  const stays = { ...serverFields(resource, item.value), ...hiddenOf(call, item) }
  return chain(derived(change, resource, input.value, stays, item.value), value => {
    if (!isAllowed(operation.grants, call.admitted.caller, about.now, value)) refuse({ kind: 'forbidden' })
    agreed(input.server, [item.value, value])
    return chain(keepExternal(about, writer, resource.name, item, value), stands => ({
      kind: 'item',
      item: stands,
      created: false,
    }))
  })
}

const mayCreate = (resource: Resource, found: Snapshot | Former | undefined): boolean =>
  resource.given.putCreates === true && (found === undefined || (isFormer(found) && found.to === undefined))

function putNew(change: WriteContext, operation: OperationOf<'replace' | 'patch'>): Maybe<Outcome> {
  const { call } = change
  const { resource } = operation
  requirePrecondition(call, undefined)
  const id = call.id ?? ''
  const grants = resource.given.allow['create'] ?? []
  const input = call.input?.(undefined) ?? nothing
  return made(change, resource, grants, id, input.value, input)
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
  if (!isOfferedByState(operation, item)) conflict(change, item)
  await removed(change, operation.resource, item)
  return { kind: 'removed', id: item.id }
}

async function removed(change: WriteContext, resource: Resource, item: Snapshot): Promise<void> {
  const { about, writer } = change
  await change.handlers.removing?.(createContext(about, reachOf(writer)), item.value)
  await unreferenced(change, resource, item.id)
  await writer.remove(resource.name, item.id, item.version, about.now)
  await recordChange(about, writer, resource.name, 'removed', item)
}

/** Row 28: nothing refers to what goes. References inside lists are history, and stay. */
async function unreferenced(change: WriteContext, resource: Resource, id: string): Promise<void> {
  for (const other of change.about.contract.resources)
    for (const [field, { shape }] of Object.entries(other.fields)) {
      if (shape.kind !== 'ref' || shape.resource !== resource.name) continue
      const filters = [{ field, is: 'eq' as const, value: id }]
      const page = await change.writer.list(other.name, { filters, within: 'all', sort: [], size: 1, counted: false })
      if (page.items.length > 0) refuse({ kind: 'conflict', detail: `${other.name} refer to it` })
    }
}

/** Items that a bulk removal looks at, at most, in one transaction. */
const mostAtOnce = 10_000

export async function removeItems(change: WriteContext, operation: OperationOf<'bulk'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource } = operation
  const seen = readRestriction(resource.given.allow['read'] ?? [], call.admitted.caller, about.now)
  const query = { filters: call.query?.filters ?? [], within: seen, sort: [], size: mostAtOnce, counted: false }
  const { items } = await writer.list(resource.name, query)
  const may = (item: Snapshot): boolean =>
    isAllowed(operation.grants, call.admitted.caller, about.now, item.value) && isOfferedByState(operation, item)
  const going = items.filter(may)
  for (const item of going) await removed(change, resource, item)
  return { kind: 'bulk', removed: going.length, refused: items.length - going.length }
}

export function actOnItem(change: WriteContext, operation: OperationOf<'act'>): Maybe<Outcome> {
  const { call, about, writer } = change
  const { resource, action, verb } = operation
  return chain(findItem(writer, resource.name, call.id), found => {
    const item = requireVisible(found, operation, call.admitted.caller, about.now)
    requirePrecondition(call, item)
    const input = call.input?.(item) ?? nothing
    if (!isOfferedByState(operation, item)) conflict(change, item)
    const handler = change.handlers.actions[verb]
    if (!handler) throw new Error(`${resource.name}.${verb} has no handler`)
    return chain(exist(change, action.input, input.value), () =>
      chain(handler(createContext(about, reachOf(writer)), item.value, input.value), effect =>
        effected(change, operation, item, effect ?? undefined),
      ),
    )
  })
}

type ActionResult = Awaited<ReturnType<Handlers['actions'][string]>>

function effected(
  change: WriteContext,
  operation: OperationOf<'act'>,
  item: Snapshot,
  effect: ActionResult,
): Maybe<Outcome> {
  const { about, writer } = change
  const { resource, action, verb } = operation
  if (action.effect === 'move') return moved(change, resource, item, String(effect?.to))
  const next = { ...item.value, ...effect?.set, ...(action.to !== undefined && { state: action.to }) }
  const output = effect?.output
  const kept = action.kept ? { ...item.kept, [verb]: output } : item.kept
  return chain(keepExternal(about, writer, resource.name, item, next, kept), stands =>
    action.output
      ? { kind: 'output', item: stands, output: output ?? {}, created: action.kept }
      : { kind: 'item', item: stands, created: false },
  )
}

async function moved(change: WriteContext, resource: Resource, item: Snapshot, to: string): Promise<Outcome> {
  const { about, writer } = change
  const target = await writer.get(resource.name, to)
  if (to === item.id) refuse({ kind: 'conflict', detail: 'it cannot move into itself' })
  if (!target || isFormer(target)) return refuse({ kind: 'conflict', detail: `there is no ${to} to move into` })
  await writer.move(resource.name, item.id, to, item.version, about.now)
  await recordChange(about, writer, resource.name, 'moved', item)
  return { kind: 'item', item: target, created: false }
}

function conflict(change: WriteContext, item: Snapshot): never {
  const state = stateOf(item)
  return refuse({ kind: 'conflict', ...(state !== undefined && { state }), possible: change.possible(item) })
}

export async function putFile(change: WriteContext, operation: OperationOf<'putFile'>): Promise<Outcome> {
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
