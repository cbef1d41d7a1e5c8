/**
 * A contract as one version has it. The store and the handlers always have the newest fields; what
 * a version has under another name, in another type or in other groups is converted when a call
 * enters the service (`service/version-calls.ts`).
 */
import { mapMembers } from '../base/objects.ts'
import { type AnyField, Field, type Fields } from './field.ts'
import { type Grant, GrantOf } from './policy.ts'
import { type Relation, Resource, type Rules } from './resource.ts'
import type { Service, VersionRule } from './service.ts'
import { innermostShape, objectFields } from './shape.ts'
import { fieldsInVersion, findReshape, firstStep, nameInVersion } from './version-fields.ts'

/** The same service with the fields of a version, and everything that names them. */
export function viewOfVersion(service: Service, version: string): Service {
  const rule = service.versions[version] ?? {}
  const less = withoutLeftOut(service, version)
  if (!hasOtherFields(rule)) return less
  return {
    ...less,
    resources: less.resources.map(
      each =>
        new Resource({
          ...each,
          within: each.within === undefined ? undefined : nameInVersion(rule, each.name, each.within),
          fields: mapMembers(fieldsInVersion(rule, each), field => withAccessInVersion(rule, each.name, field)),
          given: rulesInVersion({ service, rule }, each),
        }),
    ),
  }
}

/** Whether a version has a field under another name, in another type or in place of others. */
export const hasOtherFields = ({ renames, retypes, reshapes }: VersionRule): boolean =>
  [renames, retypes, reshapes].flatMap(each => Object.values(each ?? {})).some(each => Object.keys(each).length > 0)

/** The same service without the fields that a version leaves out; the others stay as they are. */
export function withoutLeftOut(service: Service, version: string): Service {
  const { without = {} } = service.versions[version] ?? {}
  return {
    ...service,
    resources: service.resources.map(each => {
      const hidden = without[each.name] ?? []
      const search = each.given.search?.filter(path => !isHiddenPath(service, each, path.split('.'), without))
      if (hidden.length === 0 && search?.length === each.given.search?.length) return each
      const given = search ? { ...each.given, search } : each.given
      return new Resource({ ...each, fields: fieldsInVersion({ without }, each), given })
    }),
  }
}

/**
 * Whether a search path leads through a field that the version lacks, in this resource or in
 * another one.
 */
const isHiddenPath = (
  service: Service,
  resource: Resource,
  path: readonly string[],
  without: NonNullable<VersionRule['without']>,
): boolean => listPathSteps(service, resource, path).some(({ of, name }) => of && without[of]?.includes(name))

/** A step of a search path; `of` is the resource whose field it is, undefined inside a field. */
interface PathStep {
  readonly of: string | undefined
  readonly name: string
}

function listPathSteps(service: Service, resource: Resource, path: readonly string[]): readonly PathStep[] {
  let of: Resource | undefined = resource
  let fields: Fields | undefined = resource.fields
  return path.map(name => {
    const step = { of: of?.name, name }
    const field: AnyField | undefined = fields?.[name]
    const shape = field && innermostShape(field.shape)
    of = shape?.kind === 'ref' ? service.resources.find(each => each.name === shape.resource) : undefined
    fields = of?.fields ?? objectFields(shape)
    return step
  })
}

// Rules

/** Grants bind fields by the version's names. */
function withAccessInVersion(rule: VersionRule, resource: string, field: AnyField): AnyField {
  const { access } = field
  if (!access) return field
  const inVersion = (grants: readonly Grant[] | undefined) =>
    grants?.map(grant => {
      const where = Object.entries(grant.where).map(([name, claim]) => [nameInVersion(rule, resource, name), claim])
      return new GrantOf(grant.role, { ...grant, where: Object.fromEntries(where) })
    })
  const { visibleTo, settableBy } = access
  const named = { ...access, visibleTo: inVersion(visibleTo), settableBy: inVersion(settableBy) }
  return new Field(field.shape, { ...field, access: named })
}

interface VersionNaming {
  readonly service: Service
  readonly rule: VersionRule
}

function rulesInVersion(naming: VersionNaming, resource: Resource): Rules {
  const { rule } = naming
  const { given } = resource
  const nameOf = (name: string): string => nameInVersion(rule, resource.name, name)
  const isKnown = (name: string): boolean =>
    !rule.without?.[resource.name]?.includes(firstStep(name)) && !findReshape(rule, resource.name, firstStep(name))
  const isComparable = (name: string): boolean =>
    isKnown(name) && (rule.retypes?.[resource.name]?.[firstStep(nameOf(name))]?.exact ?? true)
  const namesOf = (list: readonly string[]): readonly string[] =>
    list.filter(each => isComparable(bareName(each))).map(each => mapName(each, nameOf))
  const boundTo = ({ where }: Grant): Grant['where'] =>
    renameKeys(Object.fromEntries(Object.entries(where).filter(([name]) => isKnown(name))), nameOf)
  return {
    ...given,
    ...(given.filter && { filter: namesOf(given.filter) }),
    ...(given.sort && { sort: namesOf(given.sort) }),
    ...(given.order && { order: namesOf(given.order) }),
    ...(given.searchBy && { searchBy: namesOf(given.searchBy) }),
    ...(given.indexes && { indexes: given.indexes.map(namesOf) }),
    ...(given.unique && { unique: given.unique.filter(key => key.every(isKnown)).map(key => key.map(nameOf)) }),
    ...(given.search && { search: [...new Set(given.search.flatMap(path => pathsInVersion(naming, resource, path)))] }),
    ...(given.relations && {
      relations: mapMembers(given.relations, each => relationInVersion(rule, resource.name, each)),
    }),
    allow: mapMembers(given.allow, grants =>
      grants?.map(grant => new GrantOf(grant.role, { ...grant, where: boundTo(grant) })),
    ),
  }
}

const bareName = (text: string): string => text.replace(/^-/, '')
const mapName = (text: string, nameOf: (name: string) => string): string =>
  text.startsWith('-') ? `-${nameOf(bareName(text))}` : nameOf(text)
export const renameKeys = <V>(
  record: Readonly<Record<string, V>>,
  nameOf: (name: string) => string,
): Readonly<Record<string, V>> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [nameOf(name), value]))

const relationInVersion = (rule: VersionRule, own: string, relation: Relation): Relation => ({
  ...relation,
  by: nameInVersion(rule, 'of' in relation ? relation.of : own, relation.by),
})

/** A path ends at the version's texts that replace a step of it. */
function pathsInVersion({ service, rule }: VersionNaming, resource: Resource, path: string): readonly string[] {
  const steps = listPathSteps(service, resource, path.split('.'))
  const names = steps.map(({ of, name }) => (of === undefined ? name : nameInVersion(rule, of, name)))
  const groups = steps.map(({ of, name }) => of && findReshape(rule, of, name))
  const at = groups.findIndex(each => each !== undefined)
  const former = Object.entries((groups[at] || undefined)?.former ?? {})
  if (at < 0) return [names.join('.')]
  return former
    .filter(([, { shape }]) => shape.kind === 'string')
    .map(([name]) => [...names.slice(0, at), name].join('.'))
}
