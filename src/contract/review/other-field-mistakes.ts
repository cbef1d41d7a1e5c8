/** Mistakes in the fields that a version has under another name or with another type. */

import type { AnyField, Fields } from '../field.ts'
import { isMadeWith } from '../member-kinds.ts'
import type { Resource } from '../resource.ts'
import type { Retype } from '../retype.ts'
import type { Service, VersionRule } from '../service.ts'
import { innerFields } from '../shape.ts'
import { fieldsInVersion, findReshape, nameInVersion } from '../version-fields.ts'
import { findLawMistakes } from './conversion-law.ts'
import { fieldNameText } from './declared-names.ts'

/** The mistakes in what a rule says, resource by resource. */
export function forResources<T>(
  { resources }: Service,
  declarations: Readonly<Record<string, T>> | undefined,
  subject: string,
  check: (resource: Resource, of: T) => string[],
): string[] {
  return Object.entries(declarations ?? {}).flatMap(([name, of]) => {
    const resource = resources.find(each => each.name === name)
    return resource
      ? check(resource, of)
      : [`${subject} of "${name}", which is not a resource: name one of the service's`]
  })
}

export function findOtherFieldMistakes(
  contract: Service,
  version: string,
  checkField: (place: string, field: AnyField) => string[],
): string[] {
  const rule = contract.versions[version] ?? {}
  const renames = forResources(contract, rule.renames, `${version} renames fields`, (resource, of) =>
    Object.entries(of).flatMap(([name, newest]) =>
      renameMistakes(
        { contract, rule, resource, name, place: `${version} calls ${resource.name}.${newest} "${name}"` },
        newest,
      ),
    ),
  )
  if (renames.length > 0) return renames
  return forResources(contract, rule.retypes, `${version} retypes fields`, (resource, of) =>
    Object.entries(of).flatMap(([name, retype]) => {
      if (!isRetype(retype))
        return [
          `${version}: ${resource.name}.${name} is not a retype: write it as retype(${resource.name}.fields.${name}, t.string(), { up, down })`,
        ]
      const at = { contract, rule, resource, name, place: `${version}: ${resource.name}.${name}` }
      const mistakes = [...retypeMistakes(at, retype), ...checkField(at.place, retype.former)]
      return mistakes.length > 0 ? mistakes : findLawMistakes({ ...retype, place: at.place, newest: newestFieldOf(at) })
    }),
  )
}

/** JavaScript may pass anything. */
const isRetype = (retype: Partial<Retype>): boolean =>
  isMadeWith('shape', retype.newest) && isMadeWith('shape', retype.former) && hasPair(retype)
export const hasPair = ({ up, down }: { readonly up?: unknown; readonly down?: unknown }): boolean =>
  typeof up === 'function' && typeof down === 'function'

/** What a version says about a resource, and where, for people. */
export interface VersionPlace {
  readonly contract: Service
  readonly rule: VersionRule
  readonly resource: Resource
  readonly place: string
}
/** A field that a version has under another name or with another type. */
interface OtherFieldPlace extends VersionPlace {
  /** The name in the version. */
  readonly name: string
}

export const fixedMistake = (field: AnyField | undefined, name: string): string | undefined => {
  if (name === 'id' || name === 'state') return 'has one name and type in all versions'
  return field?.isInternal ? 'is internal, and seen in no version' : undefined
}

function renameMistakes({ contract, rule, resource, name, place }: OtherFieldPlace, newest: string): string[] {
  const { fields } = resource
  const all = Object.values(rule.renames?.[resource.name] ?? {})
  const hidden = rule.without?.[resource.name] ?? []
  const shown = Object.keys(fields).filter(each => !hidden.includes(each) && !findReshape(rule, resource.name, each))
  const fixed = fixedMistake(fields[newest], newest)
  const related = hidden.includes(name) ? findRelation(contract, resource, name) : undefined
  return [
    ...(shown.includes(newest) ? [] : [`${place}, but has no such field: use ${shown.join(', ')}`]),
    ...(fixed === undefined ? [] : [`${place}, which ${fixed}: leave it as it is`]),
    ...(fieldNameText.test(name) && name !== 'id' && name !== 'state'
      ? []
      : [`${place}, which is not a valid name of a field: start with a letter, and use letters, digits and "_"`]),
    ...(shown.includes(name) && !all.includes(name)
      ? [`${place}, which is the name of another field of this version: choose another, or leave that one out`]
      : []),
    ...(related === undefined
      ? []
      : [`${place}, the name of a field that it leaves out and that the relation ${related} goes by: choose another`]),
    ...(all.filter(each => each === newest).length > 1
      ? [`${place}, and by another name, too: a field has one name in a version`]
      : []),
  ]
}

function retypeMistakes({ contract, rule, resource, name, place }: OtherFieldPlace, retype: Retype): string[] {
  const names = Object.keys(fieldsInVersion(rule, resource))
  const newest = newestNameOf(rule, resource, name)
  const field = resource.fields[newest]
  if (!field || !names.includes(name)) {
    const [intended] = Object.entries(resource.fields).find(([, each]) => each === retype.newest) ?? []
    const renamed =
      intended && `, or give ${intended} this name by renames: { ${resource.name}: { ${name}: '${intended}' } }`
    return [`${place} is retyped, but the version has no such field: use ${names.join(', ')}${renamed ?? ''}`]
  }
  const fixed = fixedMistake(field, newest)
  const related = findRelation(contract, resource, newest)
  return [
    ...(fixed === undefined ? [] : [`${place} ${fixed}: leave it as it is`]),
    ...(retype.newest.shape.kind === field.shape.kind
      ? []
      : [
          `${place} converts a field other than ${resource.name}.${newest}: give retype(${resource.name}.fields.${newest}, …)`,
        ]),
    ...(hasReadOnlyParts(field) || hasReadOnlyParts(retype.former)
      ? [
          `${place} has read-only parts, which clients send back as they have read them: retype a field without read-only parts, or add a field`,
        ]
      : []),
    ...(related === undefined
      ? []
      : [`${place} is what the relation ${related} goes by: a version can rename it, but not give it another type`]),
  ]
}

const newestFieldOf = ({ rule, resource, name }: OtherFieldPlace): AnyField =>
  resource.fields[newestNameOf(rule, resource, name)] as AnyField // has been looked up before
const newestNameOf = (rule: VersionRule, resource: Resource, name: string): string =>
  Object.keys(resource.fields).find(
    each => nameInVersion(rule, resource.name, each) === name && !rule.without?.[resource.name]?.includes(each),
  ) ?? name

export const hasReadOnlyParts = ({ shape }: AnyField): boolean =>
  innerFields(shape).some((fields: Fields) =>
    Object.values(fields).some(each => each.isReadOnly || hasReadOnlyParts(each)),
  )

export const findRelation = (
  { resources }: Service,
  { name, within, given }: Resource,
  field: string,
): string | undefined =>
  (within === field ? 'up' : undefined) ??
  Object.entries(given.relations ?? {}).find(([, each]) => !('of' in each) && each.by === field)?.[0] ??
  resources
    .flatMap(each => Object.entries(each.given.relations ?? {}))
    .find(([, each]) => 'of' in each && each.of === name && each.by === field)?.[0]
