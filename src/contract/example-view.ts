/** A contract for items that are made of its examples. */
import { Resource } from './resource.ts'
import type { Service } from './service.ts'

/** Examples are alike, so it has no unique keys: the same contract where that declares none. */
export function withoutUniqueKeys(service: Service): Service {
  if (service.resources.every(({ given }) => given.unique === undefined)) return service
  const resources = service.resources.map(each => new Resource({ ...each, given: { ...each.given, unique: [] } }))
  return { ...service, resources }
}
