/** Mistakes in the groups of fields that a version has in place of those of the newest one. */

import { type AnyField, Field, type Fields } from '../field.ts'
import { isMadeWith, isRecordOf } from '../member-kinds.ts'
import type { Reshape } from '../reshape.ts'
import type { Resource } from '../resource.ts'
import type { Service, VersionRule } from '../service.ts'
import { fieldsInVersion } from '../version-fields.ts'
import { findLawMistakes } from './conversion-law.ts'
import { fieldNameText } from './declared-names.ts'
import {
  findRelation,
  fixedMistake,
  forResources,
  hasPair,
  hasReadOnlyParts,
  type VersionPlace,
} from './other-field-mistakes.ts'

/** @param checkField the mistakes of a field, wherever it is declared */
export function findReshapeMistakes(
  contract: Service,
  version: string,
  checkField: (place: string, field: AnyField) => string[],
): string[] {
  const rule = contract.versions[version] ?? {}
  return forResources(contract, rule.reshapes, `${version} reshapes fields`, (resource, groups) =>
    Array.isArray(groups) && groups.every(isReshape)
      ? groups.flatMap(each => {
          const place = `${version}: the reshape of ${resource.name}.${each.newest.join(', ')}`
          const at = { contract, rule, resource, place }
          const found = [
            ...newestFieldMistakes(at, each),
            ...formerFieldMistakes(at, each),
            ...Object.entries<AnyField>(each.former).flatMap(([name, field]) => checkField(`${place}: ${name}`, field)),
          ]
          return found.length > 0 ? found : lawMistakes(place, resource, each)
        })
      : [
          `${version}: the reshapes of ${resource.name} are not a list of reshapes: write them as [reshape(${resource.name}, ['field'], { other: t.string() }, { up, down })]`,
        ],
  )
}

/** JavaScript may pass anything. */
const isReshape = (group: Partial<Reshape> | undefined): boolean =>
  Array.isArray(group?.newest) && isRecordOf(each => isMadeWith('shape', each), group.former) && hasPair(group)

function newestFieldMistakes({ contract, rule, resource, place }: VersionPlace, group: Reshape): string[] {
  const { name: resourceName, fields } = resource
  const names = Object.keys(fields)
  if (group.of !== resourceName) return [`${place} is one of ${group.of}: write it as reshape(${resourceName}, …)`]
  if (group.newest.length === 0) return [`${place} names no field of the newest version: name those that it replaces`]
  return [
    ...group.newest.flatMap(name => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (!field) return [`${place}: "${name}" is not a field: use ${names.join(', ')}`]
      const fixed = fixedMistake(field, name)
      if (fixed !== undefined) return [`${place}: ${name} ${fixed}: leave it as it is`]
      if (field.access)
        return [`${place}: ${name} is not for all callers: leave it out of the version, or keep it as it is`]
      const related = findRelation(contract, resource, name)
      if (related !== undefined)
        return [`${place}: ${name} is what the relation ${related} goes by: a version can only rename it`]
      return countUses(rule, resourceName, name) > 1
        ? [`${place}: ${name} is left out, renamed, retyped or in another group as well: keep one of these`]
        : []
    }),
    ...(new Set(group.newest.map(name => fields[name]?.isReadOnly)).size > 1
      ? [`${place} has read-only fields and others: make a group of each`]
      : []),
  ]
}

/** How many rules of a version concern a field of the newest one. */
function countUses({ without, renames, retypes, reshapes }: VersionRule, resourceName: string, name: string): number {
  const newest = Object.values(renames?.[resourceName] ?? {})
  const uses = [
    without?.[resourceName]?.includes(name),
    newest.includes(name),
    Object.hasOwn(retypes?.[resourceName] ?? {}, name),
    ...(reshapes?.[resourceName] ?? []).flatMap(each => each.newest.map(used => used === name)),
  ]
  return uses.filter(Boolean).length
}

function formerFieldMistakes({ rule, resource, place }: VersionPlace, group: Reshape): string[] {
  const names = Object.keys(group.former)
  const isReadOnly = group.newest.every(name => resource.fields[name]?.isReadOnly)
  const others = {
    ...rule,
    reshapes: { [resource.name]: (rule.reshapes?.[resource.name] ?? []).filter(each => each !== group) },
  }
  const taken = Object.keys(fieldsInVersion(others, resource)).filter(name => !group.newest.includes(name))
  if (names.length === 0) return [`${place} has no field in their place: leave them out with \`without\``]
  return Object.entries(group.former).flatMap(([name, field]) => [
    ...(fieldNameText.test(name) && name !== 'id' && name !== 'state'
      ? []
      : [`${place}: "${name}" is not a valid name of a field: start with a letter, and use letters, digits and "_"`]),
    ...(taken.includes(name) ? [`${place}: ${name} is the name of another field of this version: choose another`] : []),
    ...(field.access || field.isInternal || field.isComputed
      ? [`${place}: ${name} is internal, computed or not for all callers: give it a type and its presence alone`]
      : []),
    ...(field.isReadOnly === isReadOnly
      ? []
      : [
          isReadOnly
            ? `${place}: ${name} replaces read-only fields: add .readOnly()`
            : `${place}: ${name} is read-only, and the fields that it replaces are not: leave out .readOnly()`,
        ]),
    ...(hasReadOnlyParts(field)
      ? [`${place}: ${name} has read-only parts, which clients send back as they have read them: leave them out`]
      : []),
  ])
}

/** The values of a group are one value: those of the version, and those of the newest one. */
const groupField = (fields: Fields): AnyField => new Field({ kind: 'object', fields })

function lawMistakes(place: string, resource: Resource, { newest, former, up, down }: Reshape): string[] {
  const fields: Fields = Object.fromEntries(Object.entries(resource.fields).filter(([name]) => newest.includes(name)))
  return findLawMistakes({ place, former: groupField(former), newest: groupField(fields), up, down, exact: false })
}
