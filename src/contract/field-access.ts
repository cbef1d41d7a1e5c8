/**
 * The callers that a field is for: those that may see it, those that may set it, and in which
 * states. A field without such a rule is for all that may read or change the item.
 */
import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Fields } from './field.ts'
import { type Caller, type FieldAccess, type Grant, isAllowed, mayEverBeAllowed, readRestriction } from './policy.ts'
import type { Resource } from './resource.ts'

type NamedAccess = readonly [name: string, access: FieldAccess]
/** The guarded fields of a resource, those that have such a rule, in their order. */
export const guardedFieldsOf: (resource: Resource) => readonly NamedAccess[] = memoizeByObject(({ fields }) =>
  Object.entries(fields).flatMap(([name, { access }]) => (access ? [[name, access] as const] : [])),
)
/** Whether a field of the resource is not visible to all that may read its items. */
export const hasCoveredFields = (resource: Resource): boolean =>
  guardedFieldsOf(resource).some(([, { visibleTo }]) => visibleTo)

/** The caller, and the time at which conditions look. */
export interface Viewer {
  readonly caller: Caller
  /** Milliseconds since 1970. */
  readonly now: number
}
/** The fields of an item; undefined: nothing is known of it yet. */
type Row = Readonly<Record<string, unknown>> | undefined

const admits = (grants: readonly Grant[] | undefined, { caller, now }: Viewer, row: Row): boolean =>
  grants === undefined || (row ? isAllowed(grants, caller, now, row) : mayEverBeAllowed(grants, caller, now))

/** The fields of this item that the caller may not see, whether they are there or not. */
export const findUnseenFields = (resource: Resource, viewer: Viewer, row: Row): readonly string[] =>
  guardedFieldsOf(resource).flatMap(([name, { visibleTo }]) => (admits(visibleTo, viewer, row) ? [] : [name]))

/** Whether the caller sees a field of every item, so that it may compare and sort by it. */
export function seesAlways({ access }: AnyField, { caller, now }: Viewer): boolean {
  const unconditional = access?.visibleTo?.filter(({ when }) => when === undefined)
  return unconditional === undefined || readRestriction(unconditional, caller, now) === 'all'
}

/**
 * Why a caller may not set a field of this item, as the end of a sentence; undefined: it may. A
 * field that it may not see it may not set either, unless `settableBy` says so.
 */
function findSetBar(
  { visibleTo, settableBy = visibleTo, settableIn }: FieldAccess,
  viewer: Viewer,
  row: Row,
  state: unknown,
) {
  if (!admits(settableBy, viewer, row)) return 'may be set only by other callers: leave it out'
  if (!settableIn || state === undefined || settableIn.includes(String(state))) return undefined
  return `can be set only in the state ${settableIn.join(' or ')}, and the state is ${state}: leave it out`
}

/** The guarded fields that the caller may not set, each with the reason. */
export const findSetBars = (resource: Resource, viewer: Viewer, row: Row): ReadonlyMap<string, string> =>
  new Map(
    guardedFieldsOf(resource).flatMap(([name, access]) => {
      const state = row ? row['state'] : resource.states[0]
      const bar = resource.fields[name]?.isReadOnly ? undefined : findSetBar(access, viewer, row, state)
      return bar === undefined ? [] : [[name, bar] as const]
    }),
  )

/** The fields that a form of this caller has: those of the resource where it may set each. */
export function openFieldsOf(resource: Resource, viewer: Viewer, row?: Row): Fields {
  if (guardedFieldsOf(resource).length === 0) return resource.fields
  const bars = findSetBars(resource, viewer, row)
  if (bars.size === 0) return resource.fields
  return Object.fromEntries(Object.entries(resource.fields).filter(([name]) => !bars.has(name)))
}

/** Whether a condition, beyond the caller and the item, decides over a field. */
export const hasConditionalFields = (resource: Resource): boolean =>
  guardedFieldsOf(resource).some(([, { visibleTo = [], settableBy = [] }]) =>
    [...visibleTo, ...settableBy].some(({ when }) => when !== undefined),
  )
