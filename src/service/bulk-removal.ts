/**
 * Removes all items that a query selects, in batches. What always holds, by number:
 *  (1) A batch is one transaction with its line in the audit; between two batches, the event loop
 *      and other writers get their turn. Only one batch of all bulk removals runs here at a time,
 *      and callers take turns.
 *  (2) Policy and state decide what is selected, so that items that may not be removed never use up
 *      the bound. An item that was changed since it was selected stays.
 *  (3) The outcome says what was removed, even if a later batch is refused: a `removing` that ends
 *      the call undoes its own batch, and the whole call if that batch is the first.
 */
import type { OperationOf } from '../contract/operation.ts'
import { commonRestriction, type Grant, readRestriction } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { findReferrer, removeOne } from './item-changes.ts'
import { parentFilters, readGrants, requirePlace } from './item-checks.ts'
import { type BeginPart, endWithTurn, type ItemQuery } from './item-walk.ts'
import type { Outcome } from './outcome.ts'
import { Refused } from './refusal.ts'
import { type ItemPage, isFormer, type Query, type Snapshot, type Store } from './store.ts'
import type { WriteContext } from './writes.ts'

/** Items that one bulk removal removes at most. */
export const bulkItemsMax = 5000
/** A batch of these holds the event loop for some 10 ms. */
const batchItems = 50

type BulkOutcome = Extract<Outcome, { kind: 'bulk' }>
type BulkChange = Pick<WriteContext, 'call' | 'about'>

/** Runs one transaction of the call. It is the last one if the work resolves to an outcome. */
export type Transact = (work: (change: WriteContext) => Promise<Outcome | undefined>) => Promise<Outcome | undefined>

interface BulkProgress {
  readonly removed: number
  /** Items that stay because others refer to them. */
  readonly referred: number
  /** Items that stay because they were changed meanwhile: they may still be removed later. */
  readonly changed: number
}

export async function removeItems(
  change: BulkChange,
  operation: OperationOf<'bulk'>,
  store: Pick<Store, 'read'>,
  beginPart: BeginPart,
  transact: Transact,
): Promise<Outcome> {
  const { resource } = operation
  const { matching, removable } = selectRemovable(change, operation)
  const party = change.call.admitted.party
  if (resource.within !== undefined)
    await store.read(reader => requirePlace({ ...change, reader }, resource, undefined))
  const list = async (query: ItemQuery, options: Partial<Query>): Promise<ItemPage> =>
    store.read(reader => reader.list(resource.name, { sort: [], size: 1, counted: false, party, ...query, ...options }))
  const count = async (query: ItemQuery): Promise<number> => (await list(query, { counted: 'exact' })).total ?? 0
  // Counting looks at every item.
  const stays = matching === removable ? 0 : (await count(matching)) - (await count(removable))
  let progress: BulkProgress = { removed: 0, referred: 0, changed: 0 }
  let from: Query['from']
  for (;;) {
    const size = Math.min(batchItems, bulkItemsMax - progress.removed)
    const page = await list(removable, { size, ...(from && { from }) })
    let next = progress
    let endPart = endWithTurn
    const outcome = await endEarly(transact, progress, stays, async inner => {
      endPart = beginPart()
      next = sumProgress(progress, await removeBatch(inner, resource, page.items))
      return page.more.after && next.removed < bulkItemsMax ? undefined : outcomeOf(next, stays, page.more.after)
    })
    if (outcome) return outcome
    progress = next
    from = page.edges && { ...page.edges.last, backwards: false }
    await endPart()
  }
}

/**
 * The selected items that the caller sees, and those of them that may be removed: one object if all
 * of them may.
 */
function selectRemovable({ call, about }: BulkChange, { resource, grants }: OperationOf<'bulk'>) {
  const restrict = (to: readonly Grant[]): Query['within'] => readRestriction(to, call.admitted.caller, about.now)
  const filters = [...(call.query?.filters ?? []), ...parentFilters(resource, call)]
  const matching = { filters, within: restrict(readGrants(resource)) }
  const within = commonRestriction(matching.within, restrict(grants))
  const states = missingStateFilters(resource, matching.filters)
  if (states.length === 0 && within === 'all') return { matching, removable: matching }
  return { matching, removable: { filters: [...matching.filters, ...states], within } }
}

/** The states that allow removal, unless the query names one of them. */
function missingStateFilters({ given: { remove } }: Resource, filters: Query['filters']): Query['filters'] {
  if (!remove) return []
  const states: readonly unknown[] = remove
  const isNarrower = filters.some(({ field, is, value }) => field === 'state' && is === 'eq' && states.includes(value))
  return isNarrower ? [] : [{ field: 'state', is: 'in', value: remove }]
}

async function removeBatch(
  change: WriteContext,
  resource: Resource,
  items: readonly Snapshot[],
): Promise<BulkProgress> {
  let progress: BulkProgress = { removed: 0, referred: 0, changed: 0 }
  for (const { id, version } of items) {
    const item = await change.writer.getForChange(resource.name, id)
    if (!item || isFormer(item)) continue // another caller has removed it
    if (item.version !== version) progress = { ...progress, changed: progress.changed + 1 }
    else if (await findReferrer(change, resource, id)) progress = { ...progress, referred: progress.referred + 1 }
    else {
      await removeOne(change, resource, item)
      progress = { ...progress, removed: progress.removed + 1 }
    }
  }
  return progress
}

const sumProgress = (before: BulkProgress, batch: BulkProgress): BulkProgress => ({
  removed: before.removed + batch.removed,
  referred: before.referred + batch.referred,
  changed: before.changed + batch.changed,
})

const outcomeOf = ({ removed, referred, changed }: BulkProgress, stays: number, hasMore: boolean): BulkOutcome => ({
  kind: 'bulk',
  removed,
  refused: stays + referred,
  more: hasMore || changed > 0,
})

/** (3) When the request is repeated, it begins with the refused item, and reports why. */
async function endEarly(
  transact: Transact,
  before: BulkProgress,
  stays: number,
  work: Parameters<Transact>[0],
): Promise<Outcome | undefined> {
  try {
    return await transact(work)
  } catch (thrown) {
    if (!(thrown instanceof Refused) || before.removed === 0) throw thrown
    return transact(async () => outcomeOf(before, stays, true))
  }
}
