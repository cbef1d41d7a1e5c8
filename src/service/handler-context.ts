/** What a handler is given: the time, who is asking, and the items beside its own, in the same transaction. */

import { type Maybe, then } from '../base/maybe.ts'
import type { Fault } from '../contract/fault.ts'
import type { Problem } from '../contract/field-json.ts'
import type { Context, Items, Row } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { flaws } from '../contract/typed-value.ts'
import { refuse } from './refusal.ts'
import { type Change, isFormer, type Reader, type Snapshot, type Writer } from './store.ts'

/** How a context reaches the store: within a call's transaction, or one small transaction each in a job. */
export interface Reach {
  read<T>(work: (reader: Reader) => Maybe<T>): Maybe<T>
  write<T>(work: (writer: Writer) => Maybe<T>): Maybe<T>
}
export const within = (writer: Writer): Reach => ({ read: work => work(writer), write: work => work(writer) })

export interface About {
  readonly contract: Service
  readonly caller: Caller
  readonly now: number
  readonly operation: string
  readonly id: (prefix: string) => string
}

export function context(about: About, reach: Reach): Context {
  return {
    caller: about.caller,
    now: new Date(about.now).toISOString(),
    id: about.id,
    items: items(about, reach),
    fail: (fault: Fault, detail?: unknown) => refuse({ kind: 'declared', fault, detail: (detail ?? {}) as Row }), // DetailOf<Fault>: members of its detail
    invalid: (path, detail) => refuse({ kind: 'invalid', problems: [{ path, code: 'rule', detail }] }),
    forbid: () => refuse({ kind: 'forbidden' }),
  } as Context // `items` is typed by the contract in the handler's eyes and by rows here
}

const mostListed = 1000

function items(about: About, reach: Reach): Items<Service> {
  return {
    get: async (resource, id) => (await reach.read(reader => current(reader, resource, id)))?.value,
    list: async (resource, where = {}, limit = mostListed) =>
      reach.read(async reader => {
        const filters = Object.entries(where).map(([field, value]) => ({ field, is: 'eq' as const, value }))
        const page = await reader.list(resource, { filters, within: 'all', sort: [], size: limit, counted: false })
        return page.items.map(item => item.value)
      }),
    change: async (resource, id, set) =>
      reach.write(async writer => {
        const item = await current(writer, resource, id)
        if (!item) throw new Error(`${about.operation}: there is no ${resource} ${id} to change`)
        await keep(about, writer, resource, item, { ...item.value, ...set })
      }),
  } as Items<Service> // rows in place of the contract's values: `implement` checked the handlers against those
}

async function current(reader: Reader, resource: string, id: string): Promise<Snapshot | undefined> {
  const found = await reader.get(resource, id)
  return found && !isFormer(found) ? found : undefined
}

/** Puts a value in an item's place, and says so in the feed. A value that is not the contract's is a handler's bug. */
export function keep(
  about: About,
  writer: Writer,
  resource: string,
  was: Snapshot,
  value: Row,
  kept: Row = was.kept,
): Maybe<Snapshot> {
  checked(about, resource, value)
  return then(writer.put(resource, was.id, value, kept, was.version, about.now), item =>
    then(told(about, writer, resource, 'changed', item), () => item),
  )
}

export function told(
  about: About,
  writer: Writer,
  resource: string,
  what: Change['what'],
  item: { readonly id: string; readonly version: number },
): Maybe<void> {
  const { id, version } = item
  return writer.changed({ at: about.now, resource, id, version, what, operation: about.operation })
}

/** The last look at a value before it is kept; what stands as it is in `sound` has been looked at. */
export function checked(about: About, resource: string, value: Row, sound?: Row): void {
  const fields = about.contract.resources.find(each => each.name === resource)?.fields
  const [first] = fields ? flaws(fields, value, sound) : [noResource(resource)]
  if (first)
    throw new Error(`${about.operation}: a handler left ${resource}.${first.path.join('.')} that ${first.detail}`)
}
const noResource = (resource: string): Problem => ({ path: [resource], code: 'unknown', detail: 'is no resource' })
