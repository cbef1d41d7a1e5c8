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
  const nestings = new Map<Collection, Nesting>()
  const depthOf = (collection: Collection): number => {
    const parent = nestings.get(collection)?.parent
    return parent ? depthOf(parent) + 1 : 1
  }
  for (const [item, collection] of byItem) {
    const parent = [...byItem.values()].find(each => collection.address === `${each.address}/{}/${collection.name}`)
    if (!parent || parent.isSingle || !(parent.one.has('GET') || parent.many.has('GET'))) continue
    if ((parent.address !== `/${parent.name}` && !nestings.has(parent)) || depthOf(parent) >= nestingDepthMax) continue
    const by = findParentField(document, item, {
      parameter: collection.within.at(-1)?.parameter ?? '',
      of: parent.name,
    })
    const names = listFieldsAbove(nestings, parent)
    if (by !== undefined && isFreeParentName(by.name) && !names.includes(by.name))
      nestings.set(collection, { by: by.name, parent })
  }
  return nestings
}

const listFieldsAbove = (nestings: ReadonlyMap<Collection, Nesting>, collection: Collection): readonly string[] => {
  const nesting = nestings.get(collection)
  return nesting ? [nesting.by, ...listFieldsAbove(nestings, nesting.parent)] : []
}

/** The member of an item with the value of an earlier path parameter; it may have to be added. */
export function findParentField(
  document: OpenApiDocument,
  item: Json,
  { parameter, of }: { readonly parameter: string; readonly of: string | undefined },
): { readonly name: string; readonly isKnown: boolean } | undefined {
  const singular = of === undefined ? toFieldName(parameter) : toSingularField(of)
  const { schema } = readSchemaFacts(document, item)
  const members = propertiesOf(schema).map(([name]) => name)
  const memberName = [singular, `${singular}Id`, `${singular}_id`, parameter]
    .map(each => members.find(member => member.toLowerCase() === each.toLowerCase()))
    .find(each => each !== undefined)
  if (memberName === undefined) return { name: singular, isKnown: false }
  const { type } = readSchemaFacts(document, objectOf(schema['properties'])[memberName])
  return type === 'string' ? { name: memberName, isKnown: true } : undefined
}

export const toFieldName = (text: string): string => {
  const name = text.replace(/[^A-Za-z0-9_]+(.)?/g, (_, next: string = '') => next.toUpperCase())
  return /^[A-Za-z]/.test(name) ? name : `p${name}`
}
