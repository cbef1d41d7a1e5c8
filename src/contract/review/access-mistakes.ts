/** Mistakes in `visibleTo`, `settableBy` and `settableIn`, each with its place and its cure. */

import type { AnyField } from '../field.ts'
import { guardedFieldsOf } from '../field-access.ts'
import { writeIndex } from '../list-index.ts'
import type { FieldAccess, Grant } from '../policy.ts'
import type { Resource } from '../resource.ts'

const nameRules = (access: FieldAccess): string =>
  (['visibleTo', 'settableBy', 'settableIn'] as const).filter(name => access[name] !== undefined).join(' and ')

/** For a field that is not directly in a resource. */
export const misplacedAccess = (place: string, { access }: AnyField): string[] =>
  access
    ? [
        `${place} has ${nameRules(access)}, which only a field of a resource can have: declare it for the whole field there`,
      ]
    : []

/**
 * @param findPath the fields that a search path of the resource leads through
 * @param grantMistakes what is wrong with the fields that a grant binds
 */
export function findAccessMistakes(
  resource: Resource,
  findPath: (path: string) => readonly (AnyField | undefined)[],
  grantMistakes: (grants: readonly Grant[], kind: string) => string[],
): string[] {
  return [
    ...guardedFieldsOf(resource).flatMap(([name, access]) => [
      ...fieldAccessMistakes(resource, name, access),
      ...grantMistakes(access.visibleTo ?? [], `visibleTo of ${name}`),
      ...grantMistakes(access.settableBy ?? [], `settableBy of ${name}`),
    ]),
    ...revealedMistakes(resource, findPath),
    ...(resource.given.unique ?? []).flatMap(keys => keyMistakes(resource, keys)),
  ]
}

function fieldAccessMistakes(resource: Resource, name: string, access: FieldAccess): string[] {
  const place = `${resource.name}.${name}`
  const field = resource.fields[name] as AnyField // `name` is one of its fields
  const { visibleTo, settableBy, settableIn = [] } = access
  if (name === 'id' || name === 'state')
    return [`${place} has ${nameRules(access)}, though each reader needs it: remove the rule`]
  return [
    ...(field.isInternal
      ? [`${place} is internal and has ${nameRules(access)}: no caller sees it, so remove one`]
      : []),
    ...(visibleTo && (!field.isOptional || field.defaultValue !== undefined)
      ? [`${place} has visibleTo, so it may be absent, and a default: remove default(), or give it in \`derive\``]
      : []),
    ...(field.isReadOnly && !field.isInternal && (settableBy || settableIn.length > 0)
      ? [
          `${place} is read-only and has ${nameRules({ ...access, visibleTo: undefined })}: remove readOnly() or the rule`,
        ]
      : []),
    ...settableIn
      .filter(state => !resource.states.includes(state))
      .map(state => `${place}: settableIn names the unknown state "${state}": use ${resource.states.join(', ')}`),
    ...creatorMistakes(resource, place, field),
  ]
}

/** A caller that may create an item but not set a required field of it can create none. */
function creatorMistakes(resource: Resource, place: string, field: AnyField): string[] {
  const { settableBy = [], settableIn } = field.access ?? {}
  if (field.isOptional || field.isReadOnly || field.defaultValue !== undefined) return []
  const creators = resource.given.allow['create'] ?? []
  const first = resource.states[0]
  const cure = 'make it optional, or give it a default'
  const barred = creators.filter(
    ({ role }) => settableBy.length > 0 && !settableBy.some(each => each.role === '*' || each.role === role),
  )
  return [
    ...[...new Set(barred.map(({ role }) => role))].map(
      role => `${place} is required, and ${role} may create ${resource.name} without being able to set it: ${cure}`,
    ),
    ...(settableIn && first !== undefined && creators.length > 0 && !settableIn.includes(first)
      ? [`${place} is required, and cannot be set in the first state "${first}": ${cure}`]
      : []),
  ]
}

/** Searches, orders and shared caches reveal a field to callers that may not see it. */
function revealedMistakes(
  { name, given, fields }: Resource,
  findPath: (path: string) => readonly (AnyField | undefined)[],
): string[] {
  const covered = Object.entries(fields).find(([, field]) => field.access?.visibleTo)
  return [
    ...(['order', 'search'] as const).flatMap(rule =>
      (given[rule] ?? [])
        .map(each => each.replace(/^-/, ''))
        .filter(path => findPath(path).some(field => field?.access?.visibleTo))
        .map(
          path =>
            `${name}: ${rule} names "${path}", which is not visible to all and would be revealed by it: use another field`,
        ),
    ),
    ...(given.cache && covered
      ? [
          `${name}: cache keeps one answer for all callers, and "${covered[0]}" is not visible to all: remove cache or visibleTo`,
        ]
      : []),
  ]
}

/**
 * A caller that sets one field of a key learns, from whether the key is taken, what the other
 * fields hold in two items.
 */
function keyMistakes({ name, given, fields }: Resource, keys: readonly string[]): string[] {
  return keys.flatMap(covered => {
    const { visibleTo } = fields[covered]?.access ?? {}
    const blind = visibleTo
      ? (given.allow['change'] ?? []).filter(({ role }) => !visibleTo.some(each => admitsAll(each, role)))
      : []
    return blind.slice(0, 1).flatMap(({ role }) => {
      const set = keys.find(each => each !== covered && maySet(fields[each], role))
      return set === undefined
        ? []
        : [
            `${name}: unique ${writeIndex(keys)} would reveal "${covered}", which ${role} does not see in every item, since ${role} may change "${set}": use fields that the same callers see and set`,
          ]
    })
  })
}
const admitsAll = (grant: Grant, role: string): boolean =>
  (grant.role === '*' || grant.role === role) && Object.keys(grant.where).length === 0 && !grant.when
const maySet = (field: AnyField | undefined, role: string): boolean =>
  field !== undefined &&
  !field.isReadOnly &&
  (field.access?.settableBy?.some(each => each.role === '*' || each.role === role) ?? true)
