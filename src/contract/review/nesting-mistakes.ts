/** Mistakes in nested resources, each with its place and its cure. */
import { findParent, isFreeParentName, listAncestors, nestingDepthMax } from '../nesting.ts'
import type { Resource } from '../resource.ts'
import type { Service } from '../service.ts'

export function findNestingMistakes({ resources }: Service, resource: Resource): string[] {
  const { name, within, isSingle } = resource
  if (within === undefined) return []
  if (isSingle) return [`${name} is single and within "${within}": remove one of the two`]
  const place = `${name}: within names "${within}"`
  const field = Object.hasOwn(resource.fields, within) ? resource.fields[within] : undefined
  if (field?.shape.kind !== 'ref')
    return [`${place}, which is not a t.ref(): declare it as ${within}: t.ref('…'), with the name of a resource`]
  const { parent } = findParent(resource, resources) ?? {}
  if (!parent || parent.isSingle) return [] // reported at the field
  const mayBeAbsent = field.isOptional || field.isNullable || field.isInternal || field.defaultValue !== undefined
  return [
    ...(mayBeAbsent
      ? [`${place}, which may be absent: each item belongs to one of ${parent.name}, so remove the other marks`]
      : []),
    ...(!isFreeParentName(within) ? [`${place}, which has another meaning in lists: give the field another name`] : []),
    ...chainMistakes(resource, resources),
    ...ruleMistakesOf(resource),
    ...Object.entries(resource.given.allow)
      .filter(([doing]) => doing !== 'read' && (parent.given.allow.read ?? []).length === 0)
      .slice(0, 1)
      .map(
        () =>
          `${place}, of which no caller may read any: allow.read of ${parent.name} decides who finds its ${name}, so add grants to it`,
      ),
  ]
}

function chainMistakes(resource: Resource, resources: readonly Resource[]): string[] {
  const steps = listAncestors(resource, resources)
  const { name } = resource
  const back = steps.findIndex(({ parent }) => parent === resource)
  if (back >= 0) {
    const way = steps.slice(0, back + 1).map(({ by }) => by)
    return [`${name} is within itself, by ${way.join(', ')}: leave one within out`]
  }
  if (steps.length >= nestingDepthMax)
    return [
      `${name} is more than ${nestingDepthMax} deep: leave within out, and refer to its parent by the field alone`,
    ]
  const names = steps.map(({ by }) => by)
  return [...new Set(names.filter((by, at) => names.indexOf(by) !== at))].map(
    by => `${name} has two parents called "${by}" in its address: give one of the fields another name`,
  )
}

/** Each list belongs to one parent, which its address names. */
const ruleMistakesOf = ({ name, within = '', given }: Resource): string[] =>
  (['filter', 'searchBy'] as const)
    .filter(rule => given[rule]?.includes(within))
    .map(rule => `${name}: ${rule} names "${within}", the parent that each list is in: leave it out`)
