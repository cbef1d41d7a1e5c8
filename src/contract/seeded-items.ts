/** The items of a seed, as lists: that of a single resource is one item without an identifier. */
import { type Resource, singleId } from './resource.ts'

type SeededValue = Readonly<Record<string, unknown>>

/** Resource → its items. */
export type SeededLists = Readonly<Record<string, readonly SeededValue[]>>

/** @param given resource → its items, or the one of a single resource */
export function toSeededLists(
  resources: readonly Resource[],
  given: Readonly<Record<string, readonly SeededValue[] | SeededValue>>,
): SeededLists {
  const singles = new Set(resources.filter(each => each.isSingle).map(each => each.name))
  const isOne = (name: string, items: readonly SeededValue[] | SeededValue): items is SeededValue =>
    singles.has(name) && !Array.isArray(items)
  return Object.fromEntries(
    Object.entries(given).map(([name, items]) => [
      name,
      isOne(name, items) ? [{ ...items, id: singleId }] : (items as readonly SeededValue[]), // typed by `implement`
    ]),
  )
}
