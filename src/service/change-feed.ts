/**
 * The changes that were committed, in their order (rule C6.1), for whoever may know of them: each
 * change is looked at with the item as it stands now, by the same policy as a GET. What was removed
 * or moved is told to those alone who may read all.
 */
import type { Implementation } from '../contract/implement.ts'
import { type Caller, isAllowed, readRestriction } from '../contract/policy.ts'
import { readGrants } from './item-checks.ts'
import { type ChangeRecord, isFormer, type Store, type StoreReader } from './store.ts'

export interface ChangesFor {
  readonly changes: readonly ChangeRecord[]
  /** Where to go on: the last that was looked at, whether it was told or not. */
  readonly next: number
  /** Whether there may be more already. */
  readonly more: boolean
  /** Changes up to this one were swept away before they were read: nothing is told. */
  readonly missed?: number
}

/**
 * Up to `limit` changes are looked at, after the one of that sequence; without one, from the oldest
 * that is kept.
 */
export async function changesFor(
  app: Implementation,
  store: Store,
  caller: Caller,
  { after: asked, limit, now }: { readonly after: number | undefined; readonly limit: number; readonly now: number },
): Promise<ChangesFor> {
  return store.read(async reader => {
    const [swept, found] = await Promise.all([reader.swept(), reader.changes(asked ?? 0, limit)])
    if (asked !== undefined && asked < swept) return { changes: [], next: swept, more: true, missed: swept }
    const after = asked ?? swept
    const changes: ChangeRecord[] = []
    for (const change of found) if (await mayKnow(app, reader, caller, change, now)) changes.push(change)
    return { changes, next: found.at(-1)?.sequence ?? after, more: found.length === limit }
  })
}

async function mayKnow(
  app: Implementation,
  reader: StoreReader,
  caller: Caller,
  change: ChangeRecord,
  now: number,
): Promise<boolean> {
  const resource = app.contract.resources.find(each => each.name === change.resource)
  if (!resource) return false
  const grants = readGrants(resource)
  const found = await reader.get(change.resource, change.id)
  if (!found || isFormer(found)) return readRestriction(grants, caller, now) === 'all'
  return isAllowed(grants, caller, now, found.value)
}

/** CloudEvents 1.0 §3.1: the same change has the same source and id, however often it is told. */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
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
    readonly operation: string
  }
}

export function toCloudEvent(
  app: Implementation,
  { sequence, at, resource, id, version, what, operation }: ChangeRecord,
): CloudEvent {
  const { namespace, service } = app.contract
  return {
    specversion: '1.0',
    id: String(sequence),
    source: namespace,
    type: `${service}.${resource}.${what}`,
    subject: `${resource}/${id}`,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data: { resource, id, version, what, operation },
  }
}
