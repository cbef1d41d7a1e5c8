/**
 * A map is an object by key for handlers and in JSON; as elements, rows of a form or items of an
 * array, it is the list of its entries.
 */
import { Flaw } from './lexical/flaw.ts'

export interface MapEntry {
  readonly key: string
  readonly value: unknown
}

/** The entries in the order of the object's members. */
export const listEntries = (map: unknown): readonly MapEntry[] =>
  Object.entries(map as object).map(([key, value]) => ({ key, value }))

/** The object of these entries; if a key occurs twice, the last value counts. */
export const collectEntries = (entries: readonly MapEntry[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(entries.map(({ key, value }) => [key, value]))

export const repeatedKeyFlaw = (key: string): Flaw =>
  new Flaw('uniqueKeys', `must have each key once: ${JSON.stringify(key)} occurs twice`, false)

/** The first key that repeats an earlier one. */
export function findRepeatedKey(entries: readonly MapEntry[]): string | undefined {
  const seen = new Set<string>()
  return entries.find(({ key }) => seen.size === seen.add(key).size)?.key
}
