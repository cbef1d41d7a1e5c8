/**
 * Resources that an application keeps outside the store, behind the same port: policies, paging,
 * preconditions and audit work the same way for them. What always holds, by number:
 *  (1) A change goes to the provider with the version that was read; the answer 'stale' ends the
 *      call.
 *  (2) The provider is called within the call's transaction, after everything that could refuse. It
 *      commits by itself: if the store fails afterwards, only the call's audit, change feed and key
 *      are lost, and the error reports the doubt to a caller whose retry would make the change
 *      twice. A provider ends a call through its context; the call does not undo what the provider
 *      has changed by then.
 *      For a remote provider, the call's transaction begins after the provider has answered, and
 *      units of work on one item wait for each other.
 *  (3) If a provider saves another value than it was given, that value must be just as valid, and
 *      have the same identifier unless the item is new.
 * Deliberately absent: the memory of removed items (404, not 410), and moves.
 */
import { chain } from '../base/maybe.ts'
import { extendObject } from '../base/objects.ts'
import type { Implementation, ProviderContext, Values } from '../contract/implement.ts'
import type { Resource } from '../contract/resource.ts'
import { checkValue } from '../contract/typed-value.ts'
import { type ExternalEntry, listProvided, toSnapshot } from './external-list.ts'
import { KeyTurns } from './key-turns.ts'
import { writeLate } from './late-transaction.ts'
import { refuse } from './refusal.ts'
import { type Query, type Snapshot, type Store, type StoreReader, type StoreWriter, Unavailable } from './store.ts'

/**
 * The store as a call sees it.
 * @param resource of its operation, if it has one
 */
export type StoreOfCall = (context: ProviderContext, resource?: string) => Store

/** How long a change of a remote provider's item waits for its turn. */
const remoteTurnMs = 30_000

/** The store, with providers for some resources; undefined if there are none. */
export function createExternalStores(app: Implementation, store: Store): StoreOfCall | undefined {
  const entries = new Map<string, Omit<ExternalEntry, 'context'>>()
  for (const resource of app.contract.resources) {
    const provider = app.handlers[resource.name]?.keep
    if (provider) entries.set(resource.name, { resource, provider })
  }
  if (entries.size === 0) return undefined
  const turns = new KeyTurns()
  const isRemote = (resource: string | undefined) => resource !== undefined && entries.get(resource)?.provider.isRemote
  return (context, resource) => {
    const find: EntryFinder = resource => {
      const found = entries.get(resource)
      return found && { ...found, context }
    }
    return extendObject(store, {
      read: work => store.read(reader => work(extendReader(find, reader))),
      write: async (work, turn) => {
        let isAsked = false
        const onChange = () => (isAsked = true)
        const extendedWork = (writer: StoreWriter) => work(extendWriter(find, writer, onChange))
        try {
          if (!isRemote(resource)) return await store.write(extendedWork, turn)
          return await turns.run(turn, remoteTurnMs, () => writeLate(store, extendedWork, turn))
        } catch (thrown) {
          throw isAsked && thrown instanceof Unavailable
            ? new Unavailable(thrown.after, thrown.cause, 'record')
            : thrown
        }
      },
    })
  }
}
type EntryFinder = (resource: string) => ExternalEntry | undefined

async function loadSnapshot({ resource, provider, context }: ExternalEntry, id: string): Promise<Snapshot | undefined> {
  const found = await provider.load(id, context)
  return found && toSnapshot(resource, found)
}

async function loadSnapshots(entry: ExternalEntry, ids: readonly string[]): Promise<ReadonlyMap<string, Snapshot>> {
  const found = new Map<string, Snapshot>()
  for (const id of ids) {
    const item = await loadSnapshot(entry, id)
    if (item) found.set(id, item)
  }
  return found
}

type ProvidedReads = Pick<StoreReader, 'get' | 'getAll' | 'list' | 'has'>

const extendReader = (find: EntryFinder, reader: StoreReader): StoreReader =>
  extendObject(reader, externalReads(find, reader))

function externalReads(find: EntryFinder, reader: StoreReader): ProvidedReads {
  const reads: ProvidedReads = {
    get: (resource, id) => {
      const mine = find(resource)
      return mine ? loadSnapshot(mine, id) : reader.get(resource, id)
    },
    getAll: (resource, ids) => {
      const mine = find(resource)
      return mine ? loadSnapshots(mine, ids) : reader.getAll(resource, ids)
    },
    list: (resource, query) => {
      const mine = find(resource)
      return mine ? listProvided(mine, query, reads) : reader.list(resource, query)
    },
    has: (resource, filters) => {
      const mine = find(resource)
      if (!mine) return reader.has(resource, filters)
      const query: Query = { filters, within: 'all', sort: [], size: 1, counted: false }
      return chain(listProvided(mine, query, reads), page => page.items.length > 0)
    },
  }
  return reads
}

/** @param onChange is called before a provider is called for a change */
const extendWriter = (find: EntryFinder, writer: StoreWriter, onChange: () => void): StoreWriter =>
  extendObject(writer, {
    ...externalReads(find, writer),
    getForChange: (resource, id) => {
      const mine = find(resource)
      return mine ? loadSnapshot(mine, id) : writer.getForChange(resource, id)
    },
    put: (resource, id, value, outputs, replaced, now) => {
      const mine = find(resource)
      if (!mine) return writer.put(resource, id, value, outputs, replaced, now)
      onChange()
      return saveValue(mine, id, value, replaced?.version, now)
    },
    remove: (resource, id, expected, now) => {
      const mine = find(resource)
      if (!mine) return writer.remove(resource, id, expected, now)
      onChange()
      return removeValue(mine, id, expected)
    },
  })

async function saveValue(
  { resource, provider, context }: ExternalEntry,
  id: string,
  value: Values,
  expected: number | undefined,
  now: number,
): Promise<Snapshot> {
  const saved = await provider.save(id, value, expected, context)
  if (saved === 'stale') return refuse({ kind: 'stale' })
  if (typeof saved === 'number') return toSnapshot(resource, { value, version: saved, modified: now })
  const item = toSnapshot(resource, saved)
  requireSoundSave(resource, item.value, expected === undefined ? undefined : id)
  return item
}

/** (3) */
function requireSoundSave({ name, fields }: Resource, value: Values, id: string | undefined): void {
  const [first] = checkValue(fields, value)
  const is = first ? `${first.path.join('.')} ${first.detail}` : `id is ${String(value['id'])}`
  if (first || (id !== undefined && value['id'] !== id))
    throw new Error(`the item that save of ${name}.keep returns for ${id ?? 'a new one'}: ${is}`)
}

async function removeValue({ provider, context }: ExternalEntry, id: string, expected: number): Promise<void> {
  if (!(await provider.remove(id, expected, context))) refuse({ kind: 'stale' })
}
