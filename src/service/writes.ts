/** The operations that change an item, inside the call's transaction, in the order of rows 22–29 of the HTTP decisions. */

import { inTurn, type Maybe, then } from '../base/maybe.ts'
import { memoized } from '../base/memo.ts'
import type { Problem } from '../contract/field-json.ts'
import type { Handlers, Row } from '../contract/implement.ts'
import type { OperationOf } from '../contract/operation.ts'
import { allowed, type Caller, type Grant, restriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { references } from '../contract/typed-value.ts'
import type { Call, Input } from './call.ts'
import { type About, checked, context, keep, told, within } from './handler-context.ts'
import { demanded, expected, find, offeredByState, present, stateOf } from './item-checks.ts'
import { filled } from './nested-read-only.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import { type Former, isFormer, type Snapshot, type Writer } from './store.ts'
import { pack } from './typed-json.ts'

/** All that one change works with. */
export interface Change {
  readonly call: Call
  readonly about: About
  readonly handlers: Handlers
  readonly writer: Writer
  /** The verbs of the resource that the item's state offers and this caller may take. */
  readonly possible: (item: Snapshot) => readonly string[]
}

const nothing: Input = { value: {}, server: [] }

export function create(change: Change, operation: OperationOf<'create'>): Maybe<Outcome> {
  const { call, about } = change
  const input = call.input?.(undefined) ?? nothing
  const draft = owned(operation.grants, call.admitted.caller, about.now, input.value)
  const id = about.id(idPrefix(operation.resource))
  return made(change, operation.resource, operation.grants, id, draft, input)
}

/** Fields that a grant binds to a claim are filled with it where the caller left them out: an order is for oneself. */
function owned(grants: readonly Grant[], caller: Caller, now: number, draft: Row): Row {
  const rows = restriction(grants, caller, now)
  return rows === 'all' || rows.length !== 1 ? draft : { ...rows[0], ...draft }
}

/** `draft` is what was sent, and what a claim has filled. */
function made(
  change: Change,
  resource: Resource,
  grants: readonly Grant[],
  id: string,
  draft: Row,
  input: Input,
): Maybe<Outcome> {
  const { about, writer, call } = change
  complete(resource, draft)
  if (!allowed(grants, call.admitted.caller, about.now, { ...draft, id })) refuse({ kind: 'forbidden' })
  const stays = resource.states[0] === undefined ? { id } : { id, state: resource.states[0] }
  return then(derived(change, resource, draft, stays), value => {
    agreed(input.server, [value])
    checked(about, resource.name, value, readAs(change, input))
    return then(writer.put(resource.name, id, value, {}, undefined, about.now), item =>
      then(told(about, writer, resource.name, 'created', item), () => ({ kind: 'item', item, created: true })),
    )
  })
}

/** What a face has read is what the fields say, as long as no handler has had it in its hands. */
const readAs = ({ handlers }: Change, { value }: Input): Row | undefined => (handlers.derive ? undefined : value)

/** Content may leave out what a claim fills; for whoever has no such claim it is required after all. */
function complete(resource: Resource, draft: Row): void {
  const missing = demandedOf(resource).filter(name => draft[name] === undefined)
  if (missing.length > 0)
    refuse({
      kind: 'invalid',
      problems: missing.map(name => ({ path: [name], code: 'required', detail: 'is required' })),
    })
}
const demandedOf = memoized(({ fields }: Resource): readonly string[] =>
  Object.keys(fields).filter(name => !fields[name]?.isOptional && !fields[name]?.isReadOnly),
)

/** The whole next value: what stays of the server's, what the client sent, what the application computes. */
function derived(change: Change, resource: Resource, draft: Row, stays: Row, current?: Row): Maybe<Row> {
  const { handlers } = change
  const { id, state } = stays
  const whole = (computed?: Row): Row => ({
    ...stays,
    ...(current ? filled(resource.fields, draft, current) : draft),
    ...computed,
    id,
    ...(state !== undefined && { state }),
  })
  return then(exist(change, resource.fields, draft), () =>
    handlers.derive
      ? then(handlers.derive(context(change.about, within(change.writer)), draft, current), whole)
      : whole(),
  )
}

/** Row 28: what is referred to exists. */
function exist(change: Change, fields: Parameters<typeof references>[0], value: Row): Maybe<void> {
  const problems: Problem[] = []
  const looked = inTurn(references(fields, value), ({ resource, id, path }) =>
    then(change.writer.get(resource, id), found => {
      if (!found || isFormer(found))
        problems.push({ path, code: 'reference', detail: `there is no ${id} in ${resource}` })
    }),
  )
  return then(looked, () => {
    if (problems.length > 0) refuse({ kind: 'invalid', problems })
  })
}

/** Server fields in content are ignored when they equal what stands or will stand, and refused when they differ. */
function agreed(server: Input['server'], values: readonly Row[]): void {
  const differing = server.filter(({ path, value }) => !values.some(row => pack(at(row, path)) === pack(value)))
  const problems = differing.map(({ path }) => ({ path, code: 'readOnly', detail: 'is the server’s to set' }))
  if (problems.length > 0) refuse({ kind: 'invalid', problems })
}
const at = (row: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce((value: unknown, part) => (value as Record<string | number, unknown> | undefined)?.[part], row)

export function replace(change: Change, operation: OperationOf<'replace' | 'patch'>): Maybe<Outcome> {
  const { call, writer } = change
  const { resource } = operation
  return then(find(writer, resource.name, call.id), found =>
    operation.kind === 'replace' && mayCreate(resource, found)
      ? putNew(change, operation)
      : replaced(change, operation, present(found, operation, call.admitted.caller, change.about.now)),
  )
}

function replaced(change: Change, operation: OperationOf<'replace' | 'patch'>, item: Snapshot): Maybe<Outcome> {
  const { call, about, writer } = change
  const { resource } = operation
  expected(call, item)
  demanded(call, resource)
  const input = call.input?.(item) ?? nothing
  complete(resource, { ...hiddenOf(call, item), ...input.value })
  if (!offeredByState(operation, item)) conflict(change, item)
  const stays = { ...serverFields(resource, item.value), ...hiddenOf(call, item) }
  return then(derived(change, resource, input.value, stays, item.value), value => {
    if (!allowed(operation.grants, call.admitted.caller, about.now, value)) refuse({ kind: 'forbidden' })
    agreed(input.server, [item.value, value])
    return then(keep(about, writer, resource.name, item, value), stands => ({
      kind: 'item',
      item: stands,
      created: false,
    }))
  })
}

const mayCreate = (resource: Resource, found: Snapshot | Former | undefined): boolean =>
  resource.given.putCreates === true && (found === undefined || (isFormer(found) && found.to === undefined))

function putNew(change: Change, operation: OperationOf<'replace' | 'patch'>): Maybe<Outcome> {
  const { call } = change
  const { resource } = operation
  expected(call, undefined)
  const id = call.id ?? ''
  const grants = resource.given.allow['create'] ?? []
  const input = call.input?.(undefined) ?? nothing
  return made(change, resource, grants, id, input.value, input)
}

const serverFields = (resource: Resource, value: Row): Row =>
  Object.fromEntries(Object.entries(value).filter(([name]) => resource.fields[name]?.isReadOnly))
const hiddenOf = (call: Call, item: Snapshot): Row =>
  Object.fromEntries(
    (call.hidden ?? []).filter(name => item.value[name] !== undefined).map(name => [name, item.value[name]]),
  )

export async function remove(change: Change, operation: OperationOf<'remove'>): Promise<Outcome> {
  const { call, about, writer } = change
  const item = present(await find(writer, operation.resource.name, call.id), operation, call.admitted.caller, about.now)
  expected(call, item)
  demanded(call, operation.resource)
  if (!offeredByState(operation, item)) conflict(change, item)
  await removed(change, operation.resource, item)
  return { kind: 'removed', id: item.id }
}

async function removed(change: Change, resource: Resource, item: Snapshot): Promise<void> {
  const { about, writer } = change
  await change.handlers.removing?.(context(about, within(writer)), item.value)
  await unreferenced(change, resource, item.id)
  await writer.remove(resource.name, item.id, item.version, about.now)
  await told(about, writer, resource.name, 'removed', item)
}

/** Row 28: nothing refers to what goes. References inside lists are history, and stay. */
async function unreferenced(change: Change, resource: Resource, id: string): Promise<void> {
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

export async function bulk(change: Change, operation: OperationOf<'bulk'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource } = operation
  const seen = restriction(resource.given.allow['read'] ?? [], call.admitted.caller, about.now)
  const query = { filters: call.query?.filters ?? [], within: seen, sort: [], size: mostAtOnce, counted: false }
  const { items } = await writer.list(resource.name, query)
  const may = (item: Snapshot): boolean =>
    allowed(operation.grants, call.admitted.caller, about.now, item.value) && offeredByState(operation, item)
  const going = items.filter(may)
  for (const item of going) await removed(change, resource, item)
  return { kind: 'bulk', removed: going.length, refused: items.length - going.length }
}

export function act(change: Change, operation: OperationOf<'act'>): Maybe<Outcome> {
  const { call, about, writer } = change
  const { resource, action, verb } = operation
  return then(find(writer, resource.name, call.id), found => {
    const item = present(found, operation, call.admitted.caller, about.now)
    expected(call, item)
    const input = call.input?.(item) ?? nothing
    if (!offeredByState(operation, item)) conflict(change, item)
    const handler = change.handlers.actions[verb]
    if (!handler) throw new Error(`${resource.name}.${verb} has no handler`)
    return then(exist(change, action.input, input.value), () =>
      then(handler(context(about, within(writer)), item.value, input.value), effect =>
        effected(change, operation, item, effect ?? undefined),
      ),
    )
  })
}

type Effect = Awaited<ReturnType<Handlers['actions'][string]>>

function effected(change: Change, operation: OperationOf<'act'>, item: Snapshot, effect: Effect): Maybe<Outcome> {
  const { about, writer } = change
  const { resource, action, verb } = operation
  if (action.effect === 'move') return moved(change, resource, item, String(effect?.to))
  const next = { ...item.value, ...effect?.set, ...(action.to !== undefined && { state: action.to }) }
  const output = effect?.output
  const kept = action.kept ? { ...item.kept, [verb]: output } : item.kept
  return then(keep(about, writer, resource.name, item, next, kept), stands =>
    action.output
      ? { kind: 'output', item: stands, output: output ?? {}, created: action.kept }
      : { kind: 'item', item: stands, created: false },
  )
}

async function moved(change: Change, resource: Resource, item: Snapshot, to: string): Promise<Outcome> {
  const { about, writer } = change
  const target = await writer.get(resource.name, to)
  if (to === item.id) refuse({ kind: 'conflict', detail: 'it cannot move into itself' })
  if (!target || isFormer(target)) return refuse({ kind: 'conflict', detail: `there is no ${to} to move into` })
  await writer.move(resource.name, item.id, to, item.version, about.now)
  await told(about, writer, resource.name, 'moved', item)
  return { kind: 'item', item: target, created: false }
}

function conflict(change: Change, item: Snapshot): never {
  const state = stateOf(item)
  return refuse({ kind: 'conflict', ...(state !== undefined && { state }), possible: change.possible(item) })
}

export async function putFile(change: Change, operation: OperationOf<'putFile'>): Promise<Outcome> {
  const { call, about, writer } = change
  const { resource, part } = operation
  const item = present(await find(writer, resource.name, call.id), operation, call.admitted.caller, about.now)
  const before = await writer.file(resource.name, item.id, part)
  expected(call, before && { ...item, version: before.version, modified: before.modified })
  const content = call.file
  if (!content) throw new Error(`${operation.name}: no content was given`)
  const file = await writer.putFile(resource.name, item.id, part, content, about.now)
  return { kind: 'file', item, file, created: before === undefined }
}

const idPrefix = (resource: Resource): string => {
  const shape = resource.fields['id']?.shape
  return shape?.kind === 'id' ? shape.prefix : resource.name
}
