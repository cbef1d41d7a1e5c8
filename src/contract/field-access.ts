/**
 * The callers that a field is for: those that may see it, those that may set it, and in which
 * states. A field without such a rule is for all that may read or change the item.
 */
import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Fields } from './field.ts'
import { type Caller, type FieldAccess, type Grant, isAllowed, mayEverBeAllowed } from './policy.ts'
import type { Resource } from './resource.ts'

type Named = readonly [name: string, access: FieldAccess]
/** The fields of a resource that have such a rule, in their order. */
export const guardedFieldsOf: (resource: Resource) => readonly Named[] = memoizeByObject(({ fields }) =>
  Object.entries(fields).flatMap(([name, { access }]) => (access ? [[name, access] as const] : [])),
)
const coveredFieldsOf: (resource: Resource) => readonly Named[] = memoizeByObject(resource =>
  guardedFieldsOf(resource).filter(([, { visibleTo }]) => visibleTo),
)
export const hasCoveredFields = (resource: Resource): boolean => coveredFieldsOf(resource).length > 0

/** The caller, and the time at which conditions look. */
export interface Viewer {
  readonly caller: Caller
  /** Milliseconds since 1970. */
  readonly now: number
}
type Row = Readonly<Record<string, unknown>>

/** The fields of this value that the caller may not see, whether they are there or not. */
export function findUnseenFields(resource: Resource, { caller, now }: Viewer, value: Row): readonly string[] {
  const covered = coveredFieldsOf(resource)
  if (covered.length === 0) return covered as readonly []
  return covered.flatMap(([name, { visibleTo = [] }]) => (isAllowed(visibleTo, caller, now, value) ? [] : [name]))
}

/** Whether the caller sees a field of every item, so that it may compare and sort by it. */
export function seesAlways(field: AnyField, { caller }: Viewer): boolean {
  const grants = field.access?.visibleTo
  return (
    grants === undefined ||
    grants.some(
      ({ role, where, when }) =>
        (role === '*' || caller.roles.includes(role)) && when === undefined && Object.keys(where).length === 0,
    )
  )
}

/** Why a caller may not set a field of this value, as the end of a sentence; undefined: it may. */
export function findSetBar({ access }: AnyField, { caller, now }: Viewer, value: Row): string | undefined {
  const { settableBy, settableIn } = access ?? {}
  if (settableBy && !isAllowed(settableBy, caller, now, value))
    return 'may be set by other callers alone: leave it out, or send it as it is'
  const { state } = value
  if (settableIn && typeof state === 'string' && !settableIn.includes(state))
    return `can be set in the state ${settableIn.join(' or ')} alone, and the state is ${state}: leave it out, or send it as it is`
  return undefined
}

/**
 * The fields that content of this caller may set: of this value, or of an item still to be made.
 * The fields of the resource themselves where it may set each.
 */
export function openFieldsOf(resource: Resource, viewer: Viewer, value?: Row): Fields {
  const guarded = guardedFieldsOf(resource)
  if (guarded.length === 0) return resource.fields
  const isOpen = ({ visibleTo, settableBy, settableIn }: FieldAccess): boolean => {
    const isFor = (grants: readonly Grant[] | undefined): boolean =>
      grants === undefined ||
      (value
        ? isAllowed(grants, viewer.caller, viewer.now, value)
        : mayEverBeAllowed(grants, viewer.caller, viewer.now))
    const state = value ? value['state'] : resource.states[0]
    return isFor(visibleTo) && isFor(settableBy) && (settableIn?.includes(String(state)) ?? true)
  }
  const closed = new Set(guarded.filter(([, access]) => !isOpen(access)).map(([name]) => name))
  if (closed.size === 0) return resource.fields
  return Object.fromEntries(Object.entries(resource.fields).filter(([name]) => !closed.has(name)))
}

/** Whether a condition, beyond the caller and the item, decides over a field. */
export const hasConditionalFields = (resource: Resource): boolean =>
  guardedFieldsOf(resource).some(([, { visibleTo = [], settableBy = [] }]) =>
    [...visibleTo, ...settableBy].some(({ when }) => when !== undefined),
  )

/** What the rule says, for people; undefined without a rule. */
export function describeFieldAccess({ visibleTo, settableBy, settableIn }: FieldAccess): string {
  const said = [
    ...(visibleTo ? [`Visible to ${listGrantees(visibleTo)} alone.`] : []),
    ...(settableBy ? [`Set by ${listGrantees(settableBy)} alone.`] : []),
    ...(settableIn ? [`Set in the state ${settableIn.join(' or ')} alone.`] : []),
  ]
  return said.join(' ')
}
const listGrantees = (grants: readonly Grant[]): string =>
  grants.length === 0 ? 'no caller' : [...new Set(grants.map(nameGrantee))].join(', ')
function nameGrantee({ role, where, when }: Grant): string {
  const own = Object.keys(where)
  return [
    role === '*' ? 'anyone' : role,
    ...(own.length > 0 ? [`(own ${own.join(', ')})`] : []),
    ...(when ? [`(if ${when.name})`] : []),
  ].join(' ')
}
