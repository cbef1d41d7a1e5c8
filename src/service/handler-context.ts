/** The context of a handler: the time, the caller, and other items, in the same transaction. */

import type { Maybe } from '../base/maybe.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields } from '../contract/field.ts'
import type { FieldProblem } from '../contract/field-json.ts'
import { fieldsOfHeaders, headersOf, isOfResponse } from '../contract/header.ts'
import type { Context, ItemList, ItemReader, Items, Values } from '../contract/implement.ts'
import { type Caller, mayEverBeAllowed, readRestriction } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import type { CallHeaders } from './call.ts'
import { readGrants } from './item-checks.ts'
import { type ReadPage, walkItems } from './item-walk.ts'
import { refuse } from './refusal.ts'
import {
  type ChangeRecord,
  isFormer,
  isWithin,
  type Query,
  type Snapshot,
  type StoreReader,
  type StoreWriter,
} from './store.ts'

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
  readonly headers?: CallHeaders | undefined
}

export function createContext(about: ContextFacts, reach: StoreReach): Context {
  return {
    caller: about.caller,
    now: new Date(about.now).toISOString(),
    id: about.id,
    items: createItems(about, reach),
    headers: about.headers?.given ?? {},
    setHeader: (name: string, value: unknown) => setAnswerHeader(about, name, value),
    fail: (fault: Fault, detail?: unknown) => refuse({ kind: 'declared', fault, detail: (detail ?? {}) as Values }), // DetailOf<Fault>: the members of its detail
    invalid: (path, detail) => refuse({ kind: 'invalid', problems: [{ path, code: 'rule', detail }] }),
    conflict: detail => refuse({ kind: 'conflict', detail }),
    forbid: () => refuse({ kind: 'forbidden' }),
  } as Context // `createItems` is typed by the contract in the handler's eyes and by rows here
}

/** A header that is not declared, or a value that breaks its declaration, is a handler's bug. */
function setAnswerHeader({ contract, operation, headers }: ContextFacts, name: string, value: unknown): void {
  const declared = headersOf(contract).filter(each => each.name === name && isOfResponse(each))
  const [first] = declared.length === 0 ? [noHeader] : checkValue(fieldsOfHeaders(declared), { [name]: value })
  if (first) throw new Error(`${operation}: invalid header of a handler: ${name} ${first.detail}`)
  const written = headers?.write(name, value)
  if (written !== undefined) headers?.answer.set(name, written)
}
const noHeader = { detail: 'is not a declared header of answers' }

function createItems(about: ContextFacts, reach: StoreReach): Items<Service> {
  return {
    ...createItemReader(reach, resource => restrictionOf(about, resource)),
    all: createItemReader(reach, () => 'all'),
    change: async (resource: string, id: string, set: Values) =>
      reach.write(async writer => {
        const item = await findCurrent(writer, resource, id)
        if (!item) throw new Error(`${about.operation}: cannot change ${resource} ${id}: it does not exist`)
        await putChanged(about, writer, resource, item, { ...item.value, ...set })
      }),
  } as Items<Service> // rows in place of the contract's values: `implement` checked the handlers against those
}

/** The items that the caller may read; throws for a caller that may never read any. */
function restrictionOf({ contract, operation, caller, now }: ContextFacts, name: string): Query['within'] {
  const resource = contract.resources.find(each => each.name === name)
  if (!resource) throw new Error(`${operation}: ${name} is not a resource: name one of the contract`)
  const grants = readGrants(resource)
  if (mayEverBeAllowed(grants, caller, now)) return readRestriction(grants, caller, now)
  throw new Error(
    `${operation} reads ${name}, which this caller may never read: use ctx.items.all to read for the service`,
  )
}

function createItemReader(reach: StoreReach, within: (resource: string) => Query['within']): ItemReader<Service> {
  return {
    get: async (resource: string, id: string) => {
      const mine = within(resource)
      const value = (await reach.read(reader => findCurrent(reader, resource, id)))?.value
      return value && isWithin(value, mine) ? value : undefined
    },
    list: (resource: string, where: Values = {}): ItemList<Values> => {
      const filters = Object.entries(where).map(([field, value]) => ({ field, is: 'eq' as const, value }))
      const query = { filters, within: within(resource) }
      const read: ReadPage = page => reach.read(reader => reader.list(resource, page))
      return {
        async *[Symbol.asyncIterator]() {
          for await (const item of walkItems(read, query)) yield item.value
        },
        first: async limit => {
          const page = await read({ ...query, sort: [], size: limit, counted: false })
          return { items: page.items.map(item => item.value), more: page.more.after }
        },
      }
    },
  } as ItemReader<Service> // as in `createItems`
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

/** The output of a handler, before it is kept or sent. */
export function requireSoundOutput(operation: string, fields: Fields, output: Values): Values {
  const [first] = checkValue(fields, output)
  if (first) throw new Error(`${operation}: invalid output of a handler: ${first.path.join('.')} ${first.detail}`)
  return output
}

const noResource = (resource: string): FieldProblem => ({
  path: [resource],
  code: 'unknown',
  detail: 'is not a known resource',
})
