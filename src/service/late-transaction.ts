/**
 * Calls for items that are kept in another service: the transaction of such a call begins with the
 * first query to the store, so no other writer waits for a response from elsewhere. What always
 * holds, by number:
 *  (1) What is written here is one transaction, and none of it stays if the work throws.
 *  (2) Whether a key was used is read before the transaction begins: two instances that get the
 *      same key at the same time may both call the other service.
 *  (3) The work runs once, even if the transaction collides: what was requested elsewhere has
 *      happened, and is not requested again.
 */
import { chain } from '../base/maybe.ts'
import { type Store, type StoreWriter, Unavailable, type WriteTurn, type WriteWork } from './store.ts'

/** @param work its first use of the writer begins the transaction */
export async function writeLate<T>(store: Store, work: WriteWork<T>, turn: WriteTurn | undefined): Promise<T> {
  const transaction = new LateTransaction(store, turn)
  try {
    const result = await work(transaction.createWriter())
    await transaction.commit()
    return result
  } catch (thrown) {
    await transaction.undo(thrown)
    throw thrown
  }
}

class LateTransaction {
  readonly #store: Store
  readonly #turn: WriteTurn | undefined
  /** Settles when the work has nothing more to write. */
  readonly #work = Promise.withResolvers<void>()
  #opened: { readonly writer: Promise<StoreWriter>; readonly ended: Promise<void> } | undefined

  constructor(store: Store, turn: WriteTurn | undefined) {
    this.#store = store
    this.#turn = turn
  }

  #open(): Promise<StoreWriter> {
    if (this.#opened) return this.#opened.writer
    const { promise, resolve, reject } = Promise.withResolvers<StoreWriter>()
    let runs = 0
    const ended = this.#store.write(writer => {
      if (++runs > 1) throw new Unavailable(1, 'the record of a change elsewhere collided with another one') // (3)
      resolve(writer)
      return this.#work.promise
    }, this.#turn)
    ended.catch(reject)
    this.#opened = { writer: promise, ended }
    return promise
  }

  /** A writer that begins the transaction when it is first used for anything but a key. */
  createWriter(): StoreWriter {
    return new Proxy({} as StoreWriter, {
      get: (_, name: keyof StoreWriter | 'then') => {
        if (name === 'then') return undefined // `then` would make it look like a promise
        if (name === 'recall' && !this.#opened) return (...key: [string, string]) => this.#recall(...key)
        const ask = (writer: StoreWriter, args: readonly unknown[]) =>
          (writer[name] as (...args: readonly unknown[]) => unknown)(...args)
        return (...args: readonly unknown[]) => chain(this.#open(), writer => ask(writer, args))
      },
    })
  }

  /** (2) */
  #recall(space: string, key: string): ReturnType<StoreWriter['recall']> {
    return this.#store.read(reader => reader.recall(space, key))
  }

  async commit(): Promise<void> {
    this.#work.resolve()
    await this.#opened?.ended
  }

  /** (1) */
  async undo(thrown: unknown): Promise<void> {
    this.#work.promise.catch(() => {}) // if no transaction has begun
    this.#work.reject(thrown)
    await this.#opened?.ended.catch(() => {})
  }
}
