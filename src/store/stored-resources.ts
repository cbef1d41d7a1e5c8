/**
 * Resources that were renamed: the database keeps the first name of each, so that older and newer
 * programs may run at once. Within this folder, a resource has that name; a store takes and returns
 * the names of the contract, by `translateNames`.
 */
import { chain } from '../base/maybe.ts'
import { extendObject } from '../base/objects.ts'
import type { Service } from '../contract/service.ts'
import type { Store, StoreReader, StoreWriter } from '../service/store.ts'

/** The name of its table; everything else stored for the resource is under this name, too. */
export const tableNameOf = ({ name, formerName }: Service['resources'][number]): string => formerName ?? name

/** The same store, in which resources have the names of the contract. */
export function translateNames<S extends Pick<Store, 'read'> & Partial<Store>>(store: S, { resources }: Service): S {
  if (resources.every(each => each.formerName === undefined)) return store
  const names = new ResourceNames(resources)
  const read: Store['read'] = work => store.read(reader => work(extendObject(reader, names.read(reader))))
  const write: Store['write'] = (work, turn) => {
    const writing = store as S & Store // not called on a read-only copy
    return writing.write(to => work(extendObject(to, { ...names.read(to), ...names.write(to) })), turn)
  }
  return extendObject(store, { read, ...(store.write && { write }) } as Partial<S>)
}

/** All methods that name a resource. A method that is added must go into one of the two lists. */
type ReadsByName = Omit<
  StoreReader,
  ('recall' | 'recallAll' | 'swept' | 'lastDeed') | ('job' | 'nextTurn' | 'hasDueJob' | 'jobs' | 'countJobs')
>
type WritesByName = Omit<
  StoreWriter,
  keyof StoreReader | ('stage' | 'discard' | 'remember' | 'forget') | ('putJob' | 'dropJob' | 'lease' | 'removeDeeds')
>

class ResourceNames {
  readonly #stored: ReadonlyMap<string, string>
  readonly #declared: ReadonlyMap<string, string>
  constructor(resources: Service['resources']) {
    this.#stored = new Map(resources.map(each => [each.name, tableNameOf(each)]))
    this.#declared = new Map(resources.map(each => [tableNameOf(each), each.name]))
  }

  #toStored(resource: string): string {
    return this.#stored.get(resource) ?? resource
  }
  /** A record that names a resource, such as a change, as the database has it. */
  #toDeclared = <T extends { readonly resource: string }>(record: T): T => ({
    ...record,
    resource: this.#declared.get(record.resource) ?? record.resource,
  })

  read(from: StoreReader): ReadsByName {
    return {
      get: (resource, id) => from.get(this.#toStored(resource), id),
      getAll: (resource, ids) => from.getAll(this.#toStored(resource), ids),
      list: (resource, query) => from.list(this.#toStored(resource), query),
      has: (resource, filters) => from.has(this.#toStored(resource), filters),
      file: (resource, id, part) => from.file(this.#toStored(resource), id, part),
      changes: (...args) => chain(from.changes(...args), records => records.map(this.#toDeclared)),
      deeds: (...args) => chain(from.deeds(...args), records => records.map(this.#toDeclared)),
    }
  }

  write(to: StoreWriter) {
    const writes: WritesByName = {
      getForChange: (resource, id) => to.getForChange(this.#toStored(resource), id),
      put: (resource, ...of) => to.put(this.#toStored(resource), ...of),
      remove: (resource, ...of) => to.remove(this.#toStored(resource), ...of),
      move: (resource, ...of) => to.move(this.#toStored(resource), ...of),
      putFile: (resource, ...of) => to.putFile(this.#toStored(resource), ...of),
      record: deed => to.record({ ...deed, resource: this.#toStored(deed.resource) }),
      changed: change => to.changed({ ...change, resource: this.#toStored(change.resource) }),
    }
    return writes
  }
}
