/** The context of a handler: the time, the caller, and other items, in the same transaction. */

import type { Maybe } from '../base/maybe.ts'
import type { Fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import type { Context, ItemReader, Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import { refuse } from './refusal.ts'
import { type ChangeRecord, isFormer, type Snapshot, type StoreReader, type StoreWriter } from './store.ts'

/** Access to the store: within a call's transaction, or in a job by one small transaction each. */
export interface StoreReach {
  read<T>(work: (reader: StoreReader) => Maybe<T>): Maybe<T>
  write<T>(work: (writer: StoreWriter) => Maybe<T>): Maybe<T>
}
export const reachOf = (writer: StoreWriter): StoreReach => ({
  read: work => work(writer),
  write: work => work(writer),
})

export interface ContextFacts {
  readonly contract: Service
  readonly caller: Caller
  readonly now: number
  readonly operation: string
  readonly id: (prefix: string) => string
}

export function createContext(about: ContextFacts, reach: StoreReach): Context {
  return {
    caller: about.caller,
    now: new Date(about.now).toISOString(),
    id: about.id,
    items: createItemReader(about, reach),
    fail: (fault: Fault, detail?: unknown) => refuse({ kind: 'declared', fault, detail: (detail ?? {}) as Values }), // DetailOf<Fault>: the members of its detail
    invalid: (path, detail) => refuse({ kind: 'invalid', problems: [{ path, code: 'rule', detail }] }),
    forbid: () => refuse({ kind: 'forbidden' }),
  } as Context // `createItemReader` is typed by the contract in the handler's eyes and by rows here
}

const listedMax = 1000

function createItemReader(about: ContextFacts, reach: StoreReach): ItemReader<Service> {
  return {
    get: async (resource, id) => (await reach.read(reader => findCurrent(reader, resource, id)))?.value,
    list: async (resource, where = {}, limit = listedMax) =>
      reach.read(async reader => {
        const filters = Object.entries(where).map(([field, value]) => ({ field, is: 'eq' as const, value }))
        const page = await reader.list(resource, { filters, within: 'all', sort: [], size: limit, counted: false })
        return page.items.map(item => item.value)
      }),
    change: async (resource, id, set) =>
      reach.write(async writer => {
        const item = await findCurrent(writer, resource, id)
        if (!item) throw new Error(`${about.operation}: cannot change ${resource} ${id}: it does not exist`)
        await putChanged(about, writer, resource, item, { ...item.value, ...set })
      }),
  } as ItemReader<Service> // rows in place of the contract's values: `implement` checked the handlers against those
}

async function findCurrent(reader: StoreReader, resource: string, id: string): Promise<Snapshot | undefined> {
  const found = await reader.get(resource, id)
  return found && !isFormer(found) ? found : undefined
}

/** Replaces an item's value and records the change. An invalid value is a handler's bug. */
export async function putChanged(
  about: ContextFacts,
  writer: StoreWriter,
  resource: string,
  was: Snapshot,
  value: Values,
  kept: Values = was.kept,
): Promise<Snapshot> {
  requireSound(about, resource, value)
  const item = await writer.put(resource, was.id, value, kept, was.version, about.now)
  await recordChange(about, writer, resource, 'changed', item)
  return item
}

export async function recordChange(
  about: ContextFacts,
  writer: StoreWriter,
  resource: string,
  what: ChangeRecord['what'],
  item: { readonly id: string; readonly version: number },
): Promise<void> {
  const { id, version } = item
  await writer.changed({ at: about.now, resource, id, version, what, operation: about.operation })
}

/**
 * The last check of a value before it is stored; members that `sound` shares were checked before.
 */
export function requireSound(about: ContextFacts, resource: string, value: Values, sound?: Values): void {
  const fields = about.contract.resources.find(each => each.name === resource)?.fields
  const [first] = fields ? checkValue(fields, value, sound) : [noResource(resource)]
  if (first)
    throw new Error(
      `${about.operation}: invalid value of a handler: ${resource}.${first.path.join('.')} ${first.detail}`,
    )
}
const noResource = (resource: string): FieldProblem => ({
  path: [resource],
  code: 'unknown',
  detail: 'is not a known resource',
})
