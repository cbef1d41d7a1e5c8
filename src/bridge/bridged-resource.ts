/**
 * A resource whose items are read and changed by exchanges of a backend, as a provider. The
 * version of an item is a digest of its content: the same content has the same tag, also after a
 * restart. A change first reads and compares its item, and reads it again afterwards.
 */
import { createHash } from 'node:crypto'
import type { Provided, Provider, ProviderContext, Values } from '../contract/implement.ts'
import { Refused } from '../service/refusal.ts'
import { packTyped } from '../service/typed-json.ts'
import type { BridgedResource, ListMark } from './guess-resources.ts'
import type { BridgedWrite } from './guess-writes.ts'

/** The caller and party of a call. */
export type CallOwner = Pick<ProviderContext, 'caller' | 'party'>

/** The backend, called on behalf of a caller. */
export interface ResourceBehind {
  /** Undefined: there is no such item. */
  readonly read: (exchange: string, owner: CallOwner, input: unknown) => Promise<unknown>
  readonly change: (write: BridgedWrite, owner: CallOwner, item: Values) => Promise<unknown>
  /** Ends the call: the service lists only part of its items. */
  readonly refusePart: (exchange: string, why: string) => never
  /** Ends the call: the service has changed an item but does not say which, or what it is now. */
  readonly refuseUnread: (exchange: string, why: string) => never
}

export function createBridgeProvider(resource: BridgedResource, behind: ResourceBehind): Provider<Values> {
  const { get, list, key, writes } = resource
  const provide = (item: Values) => provideItem(item, key)
  /** An item without an identifier has no address. */
  const hasIdentifier = (item: unknown): item is Values => memberAtKeys(item, [key]) != null
  const load = async (id: string, owner: CallOwner): Promise<Provided<Values> | undefined> => {
    const input = get.inputOf(id)
    const item = input && memberAtKeys(await behind.read(get.exchange, owner, input), get.path)
    const provided = hasIdentifier(item) ? provide(item) : undefined
    // Each item has one address: 007 is not the address of item 7.
    return provided?.value['id'] === id ? provided : undefined
  }
  const loadChanged = async (id: string, owner: CallOwner, { exchange }: BridgedWrite) => {
    const found = await load(id, owner).catch(passOverRefusal)
    return found ?? behind.refuseUnread(exchange, `${id} cannot be read after this change`)
  }
  return {
    isRemote: true,
    load,
    list: async (_query, context) => {
      const answer = await behind.read(list.exchange, context, list.input)
      const found = memberAtKeys(answer, list.path)
      const items: readonly unknown[] = Array.isArray(found) ? found : []
      const sign = list.marks.find(mark => isPartBy(mark, answer, items.length))
      if (sign)
        behind.refusePart(list.exchange, `${items.length} items, and ${sign.path.join('.')} says that there are more`)
      return items.filter(hasIdentifier).map(provide)
    },
    save: async (id, value, expected, context) => {
      if (expected !== undefined) {
        if (!writes.change) return 'stale' // the contract lets no one change it
        requireKept(key, id, value, context)
        await behind.change(writes.change, context, value)
        return loadChanged(id, context, writes.change)
      }
      const { create } = writes
      if (!create) return 'stale' // nor create one
      const answer = await behind.change(create, context, value)
      const identifier = create.idPath ? memberAtKeys(answer, create.idPath) : value[key]
      if (identifier == null || identifier === '')
        return behind.refuseUnread(create.exchange, 'its answer names no item')
      return loadChanged(String(identifier), context, create)
    },
    remove: async (id, expected, context) => {
      const { remove } = writes
      if (!remove) return false
      if (remove.sent.length === 0) {
        await behind.change(remove, context, { id, [key]: id })
        return true
      }
      const found = await load(id, context)
      if (found?.version !== expected) return false
      await behind.change(remove, context, found.value)
      return true
    },
  }
}

/** The change was made, even if a refusal keeps the bridge from showing its result. */
function passOverRefusal(thrown: unknown): undefined {
  if (!(thrown instanceof Refused)) throw thrown
}

/** An item keeps its identifier, which is in its address. */
function requireKept(key: string, id: string, value: Values, context: ProviderContext): void {
  if (String(value[key]) !== id) context.invalid([key], `is ${id} in the address: an item keeps its identifier`)
}

/** It is not known when the item was changed. */
function provideItem(item: Values, key: string): Provided<Values> {
  const value = { ...item, id: String(item[key]) }
  return { value, version: digestOf(value) }
}

/** 52 bits, independent of the order of members. */
function digestOf(value: Values): number {
  const text = packTyped(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 13), 16)
}

/** A mark that is missing, false, zero or empty says that nothing follows. */
function isPartBy({ path, says }: ListMark, answer: unknown, count: number): boolean {
  const value = memberAtKeys(answer, path)
  return says === 'total' ? Number(value ?? 0) > count : !(value == null || /^(?:false|0|)$/.test(String(value).trim()))
}

function memberAtKeys(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Values | null | undefined)?.[key], value)
}
