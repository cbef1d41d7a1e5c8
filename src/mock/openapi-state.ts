/**
 * What was created, changed and removed at a mock of an OpenAPI document: items by address, in the
 * collections of the document (`/pets` and `/pets/{petId}`).
 */

import { isJsonObject, type Json, type JsonObject } from '../base/objects.ts'

/** How many items are kept; the oldest is dropped first. */
const itemsMax = 10_000

export class MockedItems {
  /** Address → the item; undefined: it was removed. */
  readonly #items = new Map<string, JsonObject | undefined>()
  #made = 0

  /** Undefined: unknown; `gone`: it was removed. */
  at(address: string): JsonObject | 'gone' | undefined {
    return this.#items.has(address) ? (this.#items.get(address) ?? 'gone') : undefined
  }

  set(address: string, item: JsonObject | undefined): void {
    const [oldest] = this.#items.keys()
    if (this.#items.size >= itemsMax && oldest !== undefined && !this.#items.has(address)) this.#items.delete(oldest)
    this.#items.delete(address)
    this.#items.set(address, item)
  }

  /** A number that no item of this run has had; examples in documents have small ones. */
  nextNumber(): number {
    return 1000 + ++this.#made
  }

  /** The current items of a collection: its examples, and those created. */
  listWith(collection: string, examples: readonly Json[], addressOf: (item: JsonObject) => string | undefined): Json[] {
    const shown = new Set<string>()
    const known = examples.flatMap(example => {
      const address = isJsonObject(example) ? addressOf(example) : undefined
      if (address === undefined) return [example]
      shown.add(address)
      const now = this.at(address)
      return now === 'gone' ? [] : [now ?? example]
    })
    const created = [...this.#items].flatMap(([address, item]) => {
      const isMember = address.startsWith(`${collection}/`) && !address.slice(collection.length + 1).includes('/')
      return item && isMember && !shown.has(address) ? [item] : []
    })
    return [...known, ...created]
  }
}
