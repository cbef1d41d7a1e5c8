/**
 * The contract as the reader of a description may know it. What it guards: a description for some
 * roles has no operation, role or transition that these roles are not granted, and no version that
 * is retired.
 */
import type { Grant } from '../contract/policy.ts'
import { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'

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

function narrowResource(resource: Resource, keep: (grants?: readonly Grant[]) => readonly Grant[]): Resource {
  const { allow } = resource.given
  const kept = Object.fromEntries(Object.entries(allow).map(([doing, grants]) => [doing, keep(grants)]))
  const isOffered = ([verb, { effect }]: readonly [string, { readonly effect: string }]): boolean =>
    ((effect === 'read' ? (kept[verb] ?? kept['read']) : kept[verb]) ?? []).length > 0
  return new Resource({
    ...resource,
    actions: Object.fromEntries(Object.entries(resource.actions).filter(isOffered)),
    given: { ...resource.given, allow: kept },
  })
}
