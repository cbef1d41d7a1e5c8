/**
 * The committed changes in order (rule C6.1), for callers that may know about them: each change is
 * checked against the item's current state, by the same policy as a GET. Only a caller that may
 * read all items learns that one was removed or moved.
 */
import type { Implementation } from '../contract/implement.ts'
import { type Caller, isAllowed, readRestriction } from '../contract/policy.ts'
import { hasVisibleParents, readGrants, seesAllParents } from './item-checks.ts'
import type { ChangeRecord, Store, StoreReader } from './store.ts'

/** A change as a caller may know it: the operation reveals more than the item does. */
export type KnownChange = Omit<ChangeRecord, 'operation'> & { readonly operation?: string }

/**
 * Where a reader is: after this change. A restored database uses its number again, for another
 * change; that one has another mark.
 */
export interface FeedPlace {
  readonly sequence: number
  /** Undefined if the reader knows the number only. */
  readonly mark?: number
}

/** The random part of a version (`row-version.ts`): it tells nothing about a hidden change. */
const markMax = 65_536
const toFeedMark = (version: number): number => version % markMax

export const toFeedPlace = ({ sequence, version }: KnownChange): FeedPlace => ({ sequence, mark: toFeedMark(version) })

export const writeFeedPlace = ({ sequence, mark }: FeedPlace): string =>
  mark === undefined ? String(sequence) : `${sequence}-${mark}`

/** The id of an event is a place, too: the mark is in its version. Undefined if malformed. */
export function parseFeedPlace(text: string): FeedPlace | undefined {
  const [, sequence, version] = /^(\d{1,15})(?:-(\d{1,16}))?$/.exec(text) ?? []
  if (sequence === undefined) return undefined
  return { sequence: Number(sequence), ...(version !== undefined && { mark: toFeedMark(Number(version)) }) }
}

export interface ChangesFor {
  readonly changes: readonly KnownChange[]
  /** Where to continue: after the last change that was checked, reported or not. */
  readonly next: FeedPlace
  /** There may be more already. */
  readonly more: boolean
  /**
   * The reader has missed changes: those after its place have expired; or its place is after the
   * last change, since the database was restored to an earlier state. `changes` is empty.
   */
  readonly missed?: 'expired' | 'undone'
}

/**
 * Checks up to `limit` changes after the place `after`, or from the oldest that is kept. `now` in
 * milliseconds since 1970.
 */
export async function changesFor(
  app: Implementation,
  store: Store,
  caller: Caller,
  { after, limit, now }: { readonly after: FeedPlace | undefined; readonly limit: number; readonly now: number },
): Promise<ChangesFor> {
  return store.read(async reader => {
    const from = after?.sequence ?? 0
    const [swept, records, [at]] = await Promise.all([
      reader.swept(),
      reader.changes(from, limit),
      from > 0 ? reader.changes(from - 1, 1) : [],
    ])
    const place = after ?? { sequence: swept }
    const last = records.at(-1) ?? (at?.sequence === from ? at : undefined)
    const missed = place.sequence < swept ? 'expired' : place.sequence > swept && isUndone(place, at) && 'undone'
    if (missed) return { changes: [], next: { sequence: swept }, more: true, missed }
    const isKnown = await findKnown(app, reader, caller, records, now)
    const changes = records.filter(isKnown).map(change => toKnownChange(caller, change))
    return { changes, next: last ? toFeedPlace(last) : place, more: records.length === limit }
  })
}

/**
 * A reader's place is a change that is kept, or the last one that has expired.
 * @param at the first change that is not before the place
 */
const isUndone = ({ sequence, mark }: FeedPlace, at: ChangeRecord | undefined): boolean =>
  at === undefined || (mark !== undefined && (at.sequence !== sequence || toFeedMark(at.version) !== mark))

/** It is public that a product was changed, but not that a shipment changed it. */
function toKnownChange(caller: Caller, { operation, ...change }: ChangeRecord): KnownChange {
  return caller.subject === undefined ? change : { ...change, operation }
}

/**
 * Which of the changes the caller may know. Items are read only if the policy depends on them, and
 * those of one resource in one query, however many have changed.
 */
async function findKnown(
  app: Implementation,
  reader: StoreReader,
  caller: Caller,
  changes: readonly ChangeRecord[],
  now: number,
): Promise<(change: ChangeRecord) => boolean> {
  const visible = new Map<string, 'all' | ReadonlySet<string>>()
  for (const [name, of] of Map.groupBy(changes, change => change.resource)) {
    const resource = app.contract.resources.find(each => each.name === name)
    if (!resource) continue
    const grants = readGrants(resource)
    const restriction = readRestriction(grants, caller, now)
    if (restriction === 'all' && seesAllParents(app, resource, caller, now)) visible.set(name, 'all')
    else if (restriction === 'all' || restriction.length > 0) {
      const items = await reader.getAll(name, [...new Set(of.map(change => change.id))])
      const allowed = [...items.values()].filter(item => isAllowed(grants, caller, now, item.value))
      const visibleIds: string[] = []
      for (const item of allowed)
        if (await hasVisibleParents({ about: { app, now }, reader, caller }, resource, item)) visibleIds.push(item.id)
      visible.set(name, new Set(visibleIds))
    }
  }
  return ({ resource, id }) => {
    const of = visible.get(resource)
    return of === 'all' || (of?.has(id) ?? false)
  }
}

/**
 * CloudEvents 1.0 §3.1: a change has the same source and id in each delivery, and no other change
 * has them: a sequence is used again after a restore, a version of an item is not.
 */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  /** The place of the change in the feed, with zeros in front (CloudEvents, extension Sequence). */
  readonly sequence: string
  readonly source: string
  readonly type: string
  readonly subject: string
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: {
    readonly resource: string
    readonly id: string
    readonly version: number
    readonly what: ChangeRecord['what']
    readonly operation?: string
  }
}

export function toCloudEvent(
  app: Implementation,
  { sequence, at, resource, id, version, what, operation }: KnownChange,
): CloudEvent {
  const { namespace, service, resources } = app.contract
  const isSingle = resources.find(each => each.name === resource)?.isSingle
  return {
    specversion: '1.0',
    id: `${sequence}-${version}`,
    sequence: String(sequence).padStart(15, '0'),
    source: namespace,
    type: `${service}.${resource}.${what}`,
    subject: isSingle ? resource : `${resource}/${id}`,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: { resource, id, version, what, ...(operation !== undefined && { operation }) },
  }
}
