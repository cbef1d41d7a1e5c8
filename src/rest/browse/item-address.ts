/** Where references on a page lead. */
import type { FormState } from '../../html/controls.ts'
import type { ItemAddress } from '../../html/value-views.ts'
import type { Exchange } from '../exchange.ts'

/** An item that is in another has a known address where it is the parent of what the page shows. */
export function itemAddresses({ base, place, parents, edition }: Exchange): ItemAddress {
  const parent = parents.at(-1)
  return (resource, id) => {
    if (!isNested(edition, resource)) return `${base}/${resource}/${encodeURIComponent(id)}`
    return id === parent && place.endsWith(`/${resource}/${id}`) ? place : undefined
  }
}

/** Where a form finds the items that a reference may name; nowhere if no one list has them. */
export const listAddresses =
  ({ base, edition }: Exchange): FormState['choices'] =>
  resource =>
    isNested(edition, resource) ? undefined : `${base}/${resource}`

const isNested = ({ service }: Exchange['edition'], resource: string): boolean =>
  service.resources.some(({ name, within }) => name === resource && within !== undefined)
