/**
 * Computed fields, which the handler `compute` makes from the stored ones. They sit behind the port
 * to the database, so that faces, handlers, links and tags see them like any other field. What
 * always holds, by number:
 *  (1) Computed fields are computed again for each stored value, even one that is being replaced.
 *  (2) A value that the contract does not allow is a bug in the handler, and is never sent.
 */

import { chain, type Maybe } from '../base/maybe.ts'
import { extendObject, freezeDeep, ownMember, pickMembers } from '../base/objects.ts'
import { computedFieldsOf, hasComputedFields, storedFieldsOf } from '../contract/computed-fields.ts'
import type { ErasedHandlers, Implementation, Values } from '../contract/implement.ts'
import type { Resource } from '../contract/resource.ts'
import { checkValue } from '../contract/typed-value.ts'
import {
  type Former,
  isFormer,
  isShared,
  type Snapshot,
  type Store,
  type StoreReader,
  type StoreWriter,
} from './store.ts'

/** The value with its computed fields, which replace whatever it had in their place. */
export function computeValue(resource: Resource, compute: Compute, value: Values): Values {
  const stored = pickMembers(value, storedFieldsOf(resource))
  const computed = compute(stored)
  const [first] = checkValue(computedFieldsOf(resource), computed) // (2)
  if (first) throw new Error(`compute of ${resource.name}: ${first.path.join('.')} ${first.detail}`)
  return { ...stored, ...computed }
}
type Compute = NonNullable<ErasedHandlers['compute']>

/** The source text of the functions that compute fields; empty if there are none. */
export const writeFormulas = ({ contract, handlers }: Implementation): string =>
  contract.resources
    .filter(hasComputedFields)
    .map(({ name }) => `${name} ${handlers[name]?.compute}`)
    .join('\n')

/** A store, or a read-only copy of one. */
type Readable = Pick<Store, 'read'> & Partial<Pick<Store, 'write'>>

/** The store, with the computed fields of each item. */
export function computeInStore<S extends Readable>(app: Implementation, store: S): S {
  const complete = createCompletion(app)
  if (!complete) return store
  const write = store.write?.bind(store)
  const overrides: Readable = {
    read: work => store.read(reader => work(completeReader(complete, reader))),
    ...(write && { write: (work, turn) => write(writer => work(completeWriter(complete, writer)), turn) }),
  }
  return extendObject<S>(store, overrides as Partial<S>)
}

type CompleteItem = (resource: string, item: Snapshot) => Snapshot

/** Undefined if no resource has computed fields. */
function createCompletion({ contract, handlers }: Implementation): CompleteItem | undefined {
  const computing = new Map(contract.resources.filter(hasComputedFields).map(each => [each.name, each]))
  if (computing.size === 0) return undefined
  /**
   * For snapshots that several readers share, so that whatever is remembered for one is found
   * again.
   */
  const completed = new WeakMap<Snapshot, Snapshot>()
  return (name, item) => {
    const resource = computing.get(name)
    const compute = resource && ownMember(handlers, name)?.compute
    if (!compute) return item
    const remembered = completed.get(item)
    if (remembered) return remembered
    const snapshot: Snapshot = { ...item, value: computeValue(resource, compute, item.value) }
    if (!isShared(item)) return snapshot
    completed.set(item, freezeDeep(snapshot))
    return snapshot
  }
}

const completeFound = (
  complete: CompleteItem,
  resource: string,
  found: Maybe<Snapshot | Former | undefined>,
): Maybe<Snapshot | Former | undefined> =>
  chain(found, item => (item === undefined || isFormer(item) ? item : complete(resource, item)))

type CompletedReads = Pick<StoreReader, 'get' | 'getAll' | 'list'>

const completeReads = (complete: CompleteItem, reader: StoreReader): CompletedReads => ({
  get: (resource, id) => completeFound(complete, resource, reader.get(resource, id)),
  getAll: (resource, ids) =>
    chain(
      reader.getAll(resource, ids),
      items => new Map([...items].map(([id, item]) => [id, complete(resource, item)])),
    ),
  list: (resource, query) =>
    chain(reader.list(resource, query), page => ({
      ...page,
      items: page.items.map(item => complete(resource, item)),
    })),
})

const completeReader = (complete: CompleteItem, reader: StoreReader): StoreReader =>
  extendObject(reader, completeReads(complete, reader))

const completeWriter = (complete: CompleteItem, writer: StoreWriter): StoreWriter =>
  extendObject(writer, {
    ...completeReads(complete, writer),
    getForChange: (resource, id) => completeFound(complete, resource, writer.getForChange(resource, id)),
    put: (resource, id, ...given) => chain(writer.put(resource, id, ...given), item => complete(resource, item)),
  })
