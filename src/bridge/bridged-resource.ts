/**
 * A resource whose items are read by exchanges of a service behind, as a provider. The version of
 * an item is a digest of its content: the same content has the same tag, also after a restart.
 */
import { createHash } from 'node:crypto'
import type { Provided, Provider, Values } from '../contract/implement.ts'
import { packTyped } from '../service/typed-json.ts'
import type { BridgedResource, ListMark } from './guess-resources.ts'

/** Asks an exchange behind for a party; undefined: there is no such item. */
export type BehindReader = (exchange: string, party: string, input: unknown) => Promise<unknown>

export function createBridgeProvider(
  { get, list, key }: BridgedResource,
  ask: BehindReader,
  clock: () => number,
  refusePart: (exchange: string, why: string) => never,
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
      const answer = await ask(list.exchange, party, list.input)
      const found = memberAtKeys(answer, list.path)
      const items: readonly unknown[] = Array.isArray(found) ? found : []
      const sign = list.marks.find(mark => isPartBy(mark, answer, items.length))
      if (sign) refusePart(list.exchange, `${items.length} items, and ${sign.path.join('.')} says that there are more`)
      return items.filter(hasIdentifier).map(provide)
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

/** What is not there, false, zero or empty says that nothing follows. */
function isPartBy({ path, says }: ListMark, answer: unknown, count: number): boolean {
  const value = memberAtKeys(answer, path)
  return says === 'total' ? Number(value ?? 0) > count : !(value == null || /^(?:false|0|)$/.test(String(value).trim()))
}

function memberAtKeys(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Values | null | undefined)?.[key], value)
}
