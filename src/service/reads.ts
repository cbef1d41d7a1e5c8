/** The operations that only read. */

import { chain, type Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import {
  findMissingIndex,
  type ListForm,
  listIndexesOf,
  type MissingIndex,
  writeIndex,
} from '../contract/list-index.ts'
import type { Operation, OperationOf } from '../contract/operation.ts'
import { readRestriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import type { Call } from './call.ts'
import { createContext } from './handler-context.ts'
import { type ContextFacts, handlersOf, readOnlyReach } from './handler-facts.ts'
import { requireSoundOutput } from './item-changes.ts'
import {
  findItem,
  isOfferedByState,
  isUnchanged,
  parentFilters,
  readGrants,
  requirePlace,
  requireVisible,
} from './item-checks.ts'
import type { Outcome } from './outcome.ts'
import { type Refusal, refuse } from './refusal.ts'
import type { ItemPage, Query, Snapshot, StoreReader } from './store.ts'

export interface ReadContext {
  readonly call: Call
  readonly about: ContextFacts
  readonly reader: StoreReader
}

export function getItem(look: ReadContext, operation: OperationOf<'get'>): Maybe<Outcome> {
  const { call, about } = look
  return chain(findItem(look, operation.resource), found => {
    const item = requireVisible(found, operation, call.admitted.caller, about.now)
    return isUnchanged(call, item) ? { kind: 'unchanged', current: item } : { kind: 'item', item, created: false }
  })
}

/** The item of a call, for a caller that may see it. */
const requireItem = (look: ReadContext, operation: Operation & { readonly resource: Resource }): Maybe<Snapshot> =>
  chain(findItem(look, operation.resource), found =>
    requireVisible(found, operation, look.call.admitted.caller, look.about.now),
  )

export const listItems = (look: ReadContext, operation: OperationOf<'list' | 'search'>): Maybe<Outcome> =>
  chain(requirePlace(look, operation.resource, undefined), () =>
    chain(askSearching(look, operation), () =>
      chain(readPage(look, operation.resource, {}), page => ({ kind: 'page', page }) as const),
    ),
  )

/** A handler may refuse words; it is called only for places that the caller can find. */
function askSearching(
  { call, about, reader }: ReadContext,
  { kind, resource }: OperationOf<'list' | 'search'>,
): Maybe<void> {
  const words = call.query?.words
  const isSearch = kind === 'search' || words !== undefined
  const searching = isSearch ? handlersOf(about.app, resource.name).searching : undefined
  if (searching) return searching(createContext(about, readOnlyReach(reader)), words ?? [])
}

/** A page of the items that this caller may see, restricted in the database and not afterwards. */
export function readPage(look: ReadContext, resource: Resource, extra: Partial<Query>): Maybe<ItemPage> {
  const within = readRestriction(readGrants(resource), look.call.admitted.caller, look.about.now)
  const requested = look.call.query ?? { filters: [], sort: [], size: 20, counted: false }
  const filters = [...requested.filters, ...(extra.filters ?? []), ...parentFilters(resource, look.call)]
  const words = extra.words ?? requested.words
  if ((words?.length ?? 0) > searchWordsMax) refuse({ kind: 'invalid', problems: [tooManyWords] })
  // A version searches only the fields that it has.
  const search = words && { words, paths: resource.given.search ?? [] }
  const query = { ...requested, ...extra, ...search, filters, within, party: look.call.admitted.party }
  const missing = within === 'all' && words === undefined ? findRefusedIndex(look, resource, query) : undefined
  if (!missing) return look.reader.list(resource.name, query)
  return chain(hasMany(look.reader, resource), isLarge =>
    isLarge ? refuse(unservedRefusal(missing)) : look.reader.list(resource.name, query),
  )
}

/**
 * A contract may refuse lists that no index serves (`unserved: 'refuse'`) beyond this many items.
 */
const servedAnywayMax = 10_000
const hasMany = (reader: StoreReader, { name }: Resource): Maybe<boolean> => {
  const beyond = { filters: [], within: 'all', sort: [], size: 1, offset: servedAnywayMax, counted: false } as const
  return chain(reader.list(name, beyond), ({ items }) => items.length > 0)
}
const findRefusedIndex = ({ about }: ReadContext, resource: Resource, form: ListForm): MissingIndex | undefined =>
  resource.given.unserved === 'refuse' && !about.app.handlers[resource.name]?.keep
    ? findMissingIndex(resource, indexesOf(about.app.contract)(resource), form)
    : undefined

export function unservedRefusal({ field, keys }: MissingIndex): Refusal {
  const cure =
    keys.length > 0
      ? `leave the filter or the sort out; the index that would serve it is ${writeIndex(keys)}`
      : 'compare it by equality, or sort a range by this field alone'
  const reason = `more than ${servedAnywayMax} items are not listed by this filter in this order, which no index serves`
  return { kind: 'unserved', field, keys, detail: `${reason}: ${cure}` }
}
const indexesOf = memoizeByObject((contract: Service) =>
  memoizeByObject((resource: Resource) => listIndexesOf(resource, contract)),
)

/** Words in one search: each is a condition, and SQLite allows a thousand. */
export const searchWordsMax = 500
const tooManyWords: FieldProblem = { path: ['q'], code: 'maxLength', detail: `has more than ${searchWordsMax} words` }

/** An action that only reads: not found in a state that does not allow it. */
export async function readAction(look: ReadContext, operation: OperationOf<'look'>): Promise<Outcome> {
  const { call, about, reader } = look
  const item = await requireItem(look, operation)
  if (!isOfferedByState(operation, item)) refuse({ kind: 'not-found' })
  if (isUnchanged(call, item)) return { kind: 'unchanged', current: item }
  const handler = handlersOf(about.app, operation.resource.name).actions[operation.verb]
  if (!handler) throw new Error(`${operation.name} has no handler`)
  const output = await handler(createContext(about, readOnlyReach(reader)), item.value, {})
  const sound = requireSoundOutput(operation.name, operation.action.output ?? {}, output ?? {})
  return { kind: 'output', item, output: sound, created: false }
}

/** The stored output of an action, such as a payment. */
export async function getExternal(look: ReadContext, operation: OperationOf<'kept'>): Promise<Outcome> {
  const { call } = look
  const item = await requireItem(look, operation)
  const output = item.kept[operation.verb]
  if (output === undefined) return refuse({ kind: 'not-found' })
  if (isUnchanged(call, item)) return { kind: 'unchanged', current: item }
  return { kind: 'output', item, output: output as Record<string, unknown>, created: false } // stored by `actOnItem`: a row
}

export async function getFile(look: ReadContext, operation: OperationOf<'getFile'>): Promise<Outcome> {
  const { call, reader } = look
  const item = await requireItem(look, operation)
  const found = await reader.file(operation.resource.name, item.id, operation.part)
  if (!found) return refuse({ kind: 'not-found' })
  const { octets, ...file } = found
  const current = { ...item, version: file.version, modified: file.modified }
  if (isUnchanged(call, current)) return { kind: 'unchanged', current }
  return { kind: 'file', item, file, octets, created: false }
}
