/**
 * A resource whose items are read by exchanges of a service behind, as a provider. The version of
 * an item is a digest of its content: the same content has the same tag, also after a restart.
 */
import { createHash } from 'node:crypto'
import type { Provided, Provider, Values } from '../contract/implement.ts'
import { packTyped } from '../service/typed-json.ts'
import type { BridgedResource } from './guess-resources.ts'

/** Asks an exchange behind for a party; undefined: there is no such item. */
export type BehindReader = (exchange: string, party: string, input: unknown) => Promise<unknown>

export function createBridgeProvider(
  { get, list, key }: BridgedResource,
  ask: BehindReader,
  clock: () => number,
): Provider<Values> {
  const provide = (item: Values) => provideItem(item, key, clock())
  /** What has no identifier has no address. */
  const hasIdentifier = (item: unknown): item is Values => memberAtKeys(item, [key]) != null
  return {
    load: async (id, { party }) => {
      const input = get.inputOf(id)
      const item = input && memberAtKeys(await ask(get.exchange, party, input), get.path)
      const provided = hasIdentifier(item) ? provide(item) : undefined
      // One address for each item: 007 is not that of item 7.
      return provided?.value['id'] === id ? provided : undefined
    },
    list: async (_query, { party }) => {
      const items = memberAtKeys(await ask(list.exchange, party, list.input), list.path)
      return Array.isArray(items) ? items.filter(hasIdentifier).map(provide) : []
    },
    save: () => 'stale', // no one may change it
    remove: () => false,
  }
}

/** `modified` is when it was read: nothing is known of an earlier time at which it was the same. */
function provideItem(item: Values, key: string, modified: number): Provided<Values> {
  const value = { ...item, id: String(item[key]) }
  return { value, version: digestOf(value), modified }
}

/** 52 bits, of members in any order. */
function digestOf(value: Values): number {
  const text = packTyped(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 13), 16)
}

function memberAtKeys(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Values | null | undefined)?.[key], value)
}
