/**
 * Finds collections within other items: `/orders/{order}/notes` next to `/orders/{id}`, which a
 * contract serves by `within`. If the parent has no items, or is not referred to by a text, the
 * collection stays a separate resource.
 */

import { type Json, type JsonObject, objectOf } from '../../base/objects.ts'
import { isFreeParentName, nestingDepthMax } from '../../contract/nesting.ts'
import { type Collection, toSingularField } from './collections.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { propertiesOf, readSchemaFacts } from './schema-facts.ts'

/** Where a collection's items are. */
export interface Nesting {
  /** The field that names the parent. */
  readonly by: string
  readonly parent: Collection
}

/** @param byItem collections that are resources, shorter paths first */
export function findNestings(
  document: OpenApiDocument,
  byItem: ReadonlyMap<JsonObject, Collection>,
): ReadonlyMap<Collection, Nesting> {
  const found = new Map<Collection, Nesting>()
  const depthOf = (collection: Collection): number => {
    const parent = found.get(collection)?.parent
    return parent ? depthOf(parent) + 1 : 1
  }
  for (const [item, collection] of byItem) {
    const parent = [...byItem.values()].find(each => collection.address === `${each.address}/{}/${collection.name}`)
    if (!parent || parent.isSingle || !(parent.one.has('GET') || parent.many.has('GET'))) continue
    if ((parent.address !== `/${parent.name}` && !found.has(parent)) || depthOf(parent) >= nestingDepthMax) continue
    const by = findParentField(document, item, {
      parameter: collection.within.at(-1)?.parameter ?? '',
      of: parent.name,
    })
    const names = listFieldsAbove(found, parent)
    if (by !== undefined && isFreeParentName(by.name) && !names.includes(by.name))
      found.set(collection, { by: by.name, parent })
  }
  return found
}

const listFieldsAbove = (found: ReadonlyMap<Collection, Nesting>, collection: Collection): readonly string[] => {
  const nesting = found.get(collection)
  return nesting ? [nesting.by, ...listFieldsAbove(found, nesting.parent)] : []
}

/** The member of an item with the value of an earlier path parameter; it may have to be added. */
export function findParentField(
  document: OpenApiDocument,
  item: Json,
  { parameter, of }: { readonly parameter: string; readonly of: string | undefined },
): { readonly name: string; readonly isKnown: boolean } | undefined {
  const own = of === undefined ? toFieldName(parameter) : toSingularField(of)
  const { schema } = readSchemaFacts(document, item)
  const members = propertiesOf(schema).map(([name]) => name)
  const known = [own, `${own}Id`, `${own}_id`, parameter]
    .map(each => members.find(member => member.toLowerCase() === each.toLowerCase()))
    .find(each => each !== undefined)
  if (known === undefined) return { name: own, isKnown: false }
  const { type } = readSchemaFacts(document, objectOf(schema['properties'])[known])
  return type === 'string' ? { name: known, isKnown: true } : undefined
}

export const toFieldName = (text: string): string => {
  const name = text.replace(/[^A-Za-z0-9_]+(.)?/g, (_, next: string = '') => next.toUpperCase())
  return /^[A-Za-z]/.test(name) ? name : `p${name}`
}
