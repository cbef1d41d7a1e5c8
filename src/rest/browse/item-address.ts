/** Where references on a page lead. */
import type { ItemAddress } from '../../html/value-views.ts'
import type { Exchange } from '../exchange.ts'

/** An item that is in another has a known address where it is the parent of what the page shows. */
export function itemAddresses({ base, place, parents, edition }: Exchange): ItemAddress {
  const nested = new Set(edition.service.resources.flatMap(each => (each.within === undefined ? [] : [each.name])))
  const parent = parents.at(-1)
  return (resource, id) => {
    if (!nested.has(resource)) return `${base}/${resource}/${encodeURIComponent(id)}`
    return id === parent && place.endsWith(`/${resource}/${id}`) ? place : undefined
  }
}
