/**
 * What holds for every change of an item, whether a call or a handler makes it: required fields,
 * references, derived values, the last check of the value, the machine's effect, and the record in
 * the change feed. A caller learns about problems by a refusal; a handler's problems are bugs.
 */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { Context } from '../contract/context.ts'
import { fillDefaults } from '../contract/default-values.ts'
import { type Fields, mayBeLeftOut } from '../contract/field.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { ActionResult, ErasedHandlers, Values } from '../contract/implement.ts'
import { listNested } from '../contract/nesting.ts'
import { isAllowed } from '../contract/policy.ts'
import type { AnyAction, Resource } from '../contract/resource.ts'
import { checkValue, type FoundReference, findReferences } from '../contract/typed-value.ts'
import { computeValue } from './computed-values.ts'
import { type ContextFacts, handlersOf, isOfContent, requireResource } from './handler-facts.ts'
import { hasVisibleParents, readGrants } from './item-checks.ts'
import { keepReadOnlyMembers } from './nested-read-only.ts'
import { type Refusal, refuse } from './refusal.ts'
import { type ChangeRecord, type Filter, isFormer, type Snapshot, type StoreReader, type StoreWriter } from './store.ts'
import { isSameValue } from './typed-json.ts'

export interface ItemChange {
  readonly about: ContextFacts
  readonly writer: StoreWriter
  readonly handlers: ErasedHandlers
  /** The context for the handlers that are called. */
  readonly context: () => Context
  /** A change by the service's own right may name items that its caller may not read. */
  readonly right: 'caller' | 'service'
  /**
   * Problems with a caller's values are reported to it; problems with a handler's values are bugs.
   */
  readonly givenBy: 'caller' | 'handler'
}

export async function findCurrent(reader: StoreReader, resource: string, id: string): Promise<Snapshot | undefined> {
  const found = await reader.get(resource, id)
  return found && !isFormer(found) ? found : undefined
}

/** Adds a new item, including its identifier and state. */
export async function addItem(
  change: ItemChange,
  resource: Resource,
  id: string,
  value: Values,
  sound?: Values,
): Promise<Snapshot> {
  const { about, writer } = change
  requireSound(about, resource.name, value, sound)
  const { unique } = requireResource(about, resource.name).given
  if (unique) await requireUnique(change, resource.name, unique, id, value)
  const item = await writer.put(resource.name, id, value, {}, undefined, about.now)
  await recordChange(about, writer, resource.name, 'created', item)
  return item
}

/** Replaces an item's value and records the change. An invalid value is a bug in the handler. */
export async function putChangedItem(
  change: ItemChange,
  resource: string,
  was: Snapshot,
  value: Values,
  kept: Values = was.kept,
): Promise<Snapshot> {
  const { about, writer } = change
  requireSound(about, resource, value)
  const { unique } = requireResource(about, resource).given
  if (unique) await requireUnique(change, resource, unique, was.id, value, was.value)
  const item = await writer.put(resource, was.id, value, kept, was, about.now)
  await recordChange(about, writer, resource, 'changed', item)
  return item
}

/**
 * Row 28: no other item has the same unique key, even if the caller may not see it. An unchanged
 * key is not looked up: the index of the store has kept it unique.
 */
async function requireUnique(
  { writer }: ItemChange,
  resource: string,
  unique: readonly (readonly string[])[],
  id: string,
  value: Values,
  was?: Values,
): Promise<void> {
  for (const keys of unique) {
    const same = keys.map(field => ({ field, is: 'eq', value: ownMember(value, field) }) satisfies Filter)
    if (same.some(each => each.value === undefined || each.value === null)) continue
    if (was && same.every(each => isSameValue(ownMember(was, each.field), each.value))) continue
    if (await writer.has(resource, [...same, { field: 'id', is: 'ne', value: id }]))
      refuse(takenKeyRefusal(resource, keys))
  }
}
/** @param names of the keys, in the version of the caller */
export const takenKeyRefusal = (resource: string, keys: readonly string[], names = keys): Refusal => ({
  kind: 'conflict',
  detail: `another item has this ${names.join(' and ')}: give another value`,
  taken: { resource, keys },
})

async function recordChange(
  about: ContextFacts,
  writer: StoreWriter,
  resource: string,
  what: ChangeRecord['what'],
  item: { readonly id: string; readonly version: number },
): Promise<void> {
  const { id, version } = item
  await writer.changed({ at: about.now, resource, id, version, what, operation: about.operation })
}

/**
 * The last check of a value before it is stored; members shared with `sound` are checked already.
 */
function requireSound(about: ContextFacts, resource: string, value: Values, sound?: Values): void {
  const [first] = checkValue(requireResource(about, resource).fields, value, sound)
  if (first) failByProblem(about, `value of a handler: ${resource}`, first)
}

/** Checks the output of a handler before it is stored or sent. */
export function requireSoundOutput(operation: string, fields: Fields, output: Values): Values {
  const [first] = checkValue(fields, output)
  if (!first) return output
  const place = first.path.length > 0 ? `${first.path.join('.')} ` : ''
  throw new Error(`${operation}: invalid output of a handler: ${place}${first.detail}`)
}

/**
 * A problem of another item has no place in the content of the call, so its text names the place.
 */
export const nameProblem = (place: string, { path, code, detail }: FieldProblem): FieldProblem => ({
  path: [],
  code,
  detail: `${[place, ...path].join('.')} ${detail}`,
})

export function failByProblem({ operation }: ContextFacts, place: string, { path, detail }: FieldProblem): never {
  throw new Error(`${operation}: invalid ${place}.${path.join('.')} ${detail}`)
}

export function endByProblems({ about, givenBy }: ItemChange, place: string, problems: readonly FieldProblem[]): void {
  const [first] = problems
  if (!first) return
  if (givenBy === 'handler') failByProblem(about, `value of a handler: ${place}`, first)
  refuse({ kind: 'invalid', problems })
}

/** Checks values before they are used; the last check finds unknown names. */
export function requireFitting(change: ItemChange, place: string, fields: Fields, values: Values): void {
  const names = Object.keys(values).filter(name => Object.hasOwn(fields, name))
  const pick = <T>(of: Readonly<Record<string, T>>) =>
    Object.fromEntries(names.map(name => [name, of[name]])) as Record<string, T>
  endByProblems(change, place, checkValue(pick(fields), pick(values)))
}

/** A field that a claim may fill is still required from a caller without that claim. */
export function requireAllFields(change: ItemChange, resource: Resource, draft: Values): void {
  const problems: FieldProblem[] = []
  for (const name of requiredFieldsOf(resource))
    if (ownMember(draft, name) === undefined) problems.push({ path: [name], code: 'required', detail: 'is required' })
  if (problems.length > 0) endByProblems(change, resource.name, problems)
}
const requiredFieldsOf = memoizeByObject(({ fields }: Resource): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (mayBeLeftOut(field) ? [] : [name])),
)

/** The fields that every new item has: its identifier, and its first state if it has states. */
export const newItemFields = (resource: Resource, id: string): Values =>
  resource.states[0] === undefined ? { id } : { id, state: resource.states[0] }

/**
 * The complete next value: read-only fields, content, and the results of `derive` and `compute`.
 */
export async function deriveValue(
  change: ItemChange,
  resource: Resource,
  sent: Values,
  retained: Values,
  current?: Values,
): Promise<Values> {
  const { id, state } = retained
  const { within } = resource
  // The parent in the address, or the one that a handler set.
  const place = within === undefined ? {} : { [within]: sent[within] ?? retained[within] }
  const draft = { ...sent, ...place }
  const lost = await findLostReferences(change, resource.fields, draft, current)
  if (lost.length > 0) endByProblems(change, resource.name, lost)
  const derived = await change.handlers.derive?.(change.context(), draft, current)
  const { compute } = change.handlers
  const next = {
    ...retained,
    ...(current ? keepReadOnlyMembers(resource.fields, draft, current) : draft),
    ...derived,
    id,
    ...place,
    ...(state !== undefined && { state }),
  }
  // In the newest version: another version may leave out fields that the item has.
  return compute ? computeValue(requireResource(change.about, resource.name), compute, next) : next
}

/**
 * Row 28: references lead to items that the caller may read; one that it may not read does not
 * exist for it, unless the contract says otherwise. References that were there before are not
 * checked again.
 */
export async function findLostReferences(
  change: ReferringChange,
  fields: Fields,
  value: Values,
  current?: Values,
): Promise<readonly FieldProblem[]> {
  const stood = current ? findReferences(fields, current).map(nameOfReference) : []
  const problems: FieldProblem[] = []
  for (const reference of findReferences(fields, value)) {
    const at = stood.length === 0 ? -1 : stood.indexOf(nameOfReference(reference))
    if (at >= 0) stood.splice(at, 1)
    else if (!(await mayReferTo(change, reference)))
      problems.push({
        path: reference.path,
        code: 'reference',
        detail: `refers to ${reference.id}, which does not exist in ${reference.resource}`,
      })
  }
  return problems
}
type ReferringChange = Pick<ItemChange, 'about' | 'writer' | 'right'>
const nameOfReference = ({ resource, id }: FoundReference): string => `${resource} ${id}`

async function mayReferTo(
  { about, writer, right }: ReferringChange,
  { resource, id, isUnseen }: FoundReference,
): Promise<boolean> {
  const found = await findCurrent(writer, resource, id)
  if (!found || isUnseen || right === 'service') return found !== undefined
  const target = requireResource(about, resource)
  if (!isAllowed(readGrants(target), about.caller, about.now, found.value)) return false
  return (
    target.within === undefined || hasVisibleParents({ about, reader: writer, caller: about.caller }, target, found)
  )
}

/**
 * Row 28: an item that others refer to stays. References inside lists are history, and do not
 * count.
 */
export async function requireUnreferenced(change: ItemChange, resource: Resource, id: string): Promise<void> {
  const referrer = await findReferrer(change, resource, id)
  const named = change.right === 'caller' ? 'this item' : `${id} of ${resource.name}`
  if (referrer !== undefined)
    refuse({ kind: 'conflict', detail: `${referrer} refer to ${named}: change or remove them first` })
}

/** The name of a resource that refers to the item. */
export async function findReferrer(
  { about, writer }: ItemChange,
  resource: Resource,
  id: string,
): Promise<string | undefined> {
  for (const other of about.app.contract.resources)
    for (const [field, { shape }] of Object.entries(other.fields)) {
      if (shape.kind !== 'ref' || shape.resource !== resource.name) continue
      if (await writer.has(other.name, [{ field, is: 'eq', value: id }])) return other.name
    }
  return undefined
}

export async function removeOne(change: ItemChange, resource: Resource, item: Snapshot): Promise<void> {
  const { about, writer } = change
  await change.handlers.removing?.(change.context(), item.value)
  await writer.remove(resource.name, item.id, item.version, about.now)
  await recordChange(about, writer, resource.name, 'removed', item)
}

/** An action as the contract declares it, with its place. */
export interface DeclaredAction {
  readonly resource: Resource
  readonly verb: string
  readonly action: AnyAction
}
/** The item after an action, and the output that the contract declares. */
export interface ActionOutcome {
  readonly item: Snapshot
  readonly output: Values | undefined
}

/** Calls the action's handler and applies its result. The state was checked before. */
export async function applyAction(
  change: ItemChange,
  declared: DeclaredAction,
  item: Snapshot,
  input: Values,
): Promise<ActionOutcome> {
  const { resource, verb, action } = declared
  const handler = change.handlers.actions[verb]
  if (!handler) throw new Error(`${resource.name}.${verb} has no handler`)
  const whole = fillDefaults(action.input, input)
  endByProblems(change, `${resource.name}.${verb}`, await findLostReferences(change, action.input, whole))
  const effect = await handler(change.context(), item.value, whole)
  return applyEffect(change, declared, item, effect ?? undefined)
}

async function applyEffect(
  change: ItemChange,
  { resource, verb, action }: DeclaredAction,
  item: Snapshot,
  effect: ActionResult,
): Promise<ActionOutcome> {
  if (action.effect === 'move')
    return { item: await moveItem(change, resource, item, String(effect?.to)), output: undefined }
  if (resource.within !== undefined) requireSameParent(change, resource, item, effect?.set)
  const next = { ...item.value, ...effect?.set, ...(action.to !== undefined && { state: action.to }) }
  const output = action.output && requireSoundOutput(change.about.operation, action.output, effect?.output ?? {})
  const kept = action.kept ? { ...item.kept, [verb]: output } : item.kept
  return { item: await putChangedItem(change, resource.name, item, next, kept), output }
}

/** A change of parent would change the item's address. */
function requireSameParent({ about }: ItemChange, resource: Resource, item: Snapshot, set: Values = {}): void {
  const { within, name } = resource
  const parent = within && ownMember(set, within)
  if (within === undefined || parent === undefined || parent === item.value[within]) return
  throw new Error(`${about.operation}: an action of ${name} cannot set ${within}, the parent: leave it out of \`set\``)
}

/**
 * Its nested items would be lost, and a target in another parent would not be found by its address.
 */
async function requireMovable(change: ItemChange, resource: Resource, item: Snapshot, target: Snapshot): Promise<void> {
  const { within } = resource
  if (within !== undefined && target.value[within] !== item.value[within])
    refuse({ kind: 'conflict', detail: `the target ${target.id} has another ${within}: name one with the same` })
  for (const nested of listNested(resource, change.about.app.contract.resources))
    if (await change.writer.has(nested.name, [{ field: nested.within ?? '', is: 'eq', value: item.id }]))
      refuse({
        kind: 'conflict',
        detail: `${nested.name} are still in this item: move them first`,
      })
}

async function moveItem(change: ItemChange, resource: Resource, item: Snapshot, to: string): Promise<Snapshot> {
  const { about, writer } = change
  const target = await writer.get(resource.name, to)
  if (to === item.id) refuse({ kind: 'conflict', detail: 'an item cannot move into itself: name another target' })
  if (!target || isFormer(target))
    return refuse({ kind: 'conflict', detail: `the target ${to} does not exist: name an existing item` })
  await requireMovable(change, resource, item, target)
  await writer.move(resource.name, item.id, to, item.version, about.now)
  await recordChange(about, writer, resource.name, 'moved', item)
  return target
}

/** A change of an item by the service's own right, with the handlers of the item's resource. */
export const changeOfService = (
  about: ContextFacts,
  writer: StoreWriter,
  resource: Resource,
  context: () => Context,
): ItemChange => ({
  about,
  writer,
  handlers: handlersOf(about.app, resource.name),
  context,
  right: 'service',
  givenBy: isOfContent(about) ? 'caller' : 'handler',
})
