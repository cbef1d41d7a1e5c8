/**
 * The contract as the readers of a description may know it. What it guards: a description for some
 * roles has no operation, role, transition or field that is not granted to them, and no retired
 * version.
 */
import { Field, type Fields } from '../contract/field.ts'
import type { Grant } from '../contract/policy.ts'
import { Resource, type Rules } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import { firstStep } from '../contract/version-fields.ts'

/** @param roles undefined: all; otherwise these, and what is granted to anyone */
export function contractForReaders(service: Service, roles?: readonly string[]): Service {
  const served = Object.fromEntries(Object.entries(service.versions).filter(([, rule]) => !rule.retired))
  const current: Service = { ...service, versions: served }
  if (roles === undefined) return current
  const keep = (grants: readonly Grant[] = []): readonly Grant[] =>
    grants.filter(grant => grant.role === '*' || roles.includes(grant.role))
  const { searches, ...rest } = current
  return {
    ...rest,
    resources: service.resources.map(each => narrowResource(each, keep)),
    jobs: service.jobs.map(each => ({ ...each, allow: keep(each.allow) })),
    ...(searches && { searches: { ...searches, allow: keep(searches.allow) } }),
    ports: service.ports.map(each => ({
      ...each,
      exchanges: Object.fromEntries(
        Object.entries(each.exchanges)
          .map(([name, one]) => [name, { ...one, allow: keep(one.allow) }] as const)
          .filter(([, { allow }]) => allow.length > 0),
      ),
    })),
  }
}

type KeepGrants = (grants?: readonly Grant[]) => readonly Grant[]

function narrowResource(resource: Resource, keep: KeepGrants): Resource {
  const { allow } = resource.given
  const fields = narrowFields(resource, keep)
  const kept = Object.fromEntries(Object.entries(allow).map(([doing, grants]) => [doing, keep(grants)]))
  const isOffered = ([verb, { effect }]: readonly [string, { readonly effect: string }]): boolean =>
    ((effect === 'read' ? (kept[verb] ?? kept['read']) : kept[verb]) ?? []).length > 0
  return new Resource({
    ...resource,
    fields,
    actions: Object.fromEntries(Object.entries(resource.actions).filter(isOffered)),
    given: { ...narrowRules(resource.given, fields), allow: kept },
  })
}

/**
 * Without the fields that none of the roles sees, and without other roles that see or set a field.
 */
const narrowFields = ({ fields }: Resource, keep: KeepGrants): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const { visibleTo, settableBy, ...rest } = field.access ?? {}
      if (!visibleTo && !settableBy) return [[name, field] as const]
      const access = {
        ...rest,
        ...(visibleTo && { visibleTo: keep(visibleTo) }),
        ...(settableBy && { settableBy: keep(settableBy) }),
      }
      if (access.visibleTo?.length === 0) return []
      return [[name, new Field(field.shape, { ...field, access })] as const]
    }),
  )

/** Rules that name a removed field are removed with it. */
function narrowRules(given: Rules, fields: Fields): Rules {
  const isKept = (path: string): boolean => Object.hasOwn(fields, firstStep(path.replace(/^-/, '')))
  return {
    ...given,
    ...(given.filter && { filter: given.filter.filter(isKept) }),
    ...(given.sort && { sort: given.sort.filter(isKept) }),
    ...(given.searchBy && { searchBy: given.searchBy.filter(isKept) }),
  }
}
