/** The one home of memory: what is remembered, for how long, and the most that is remembered. */

/**
 * A function of an object that remembers its results, each for as long as the object lives. `make`
 * must not return undefined.
 */
export function memoizeByObject<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const cache = new WeakMap<K, V>()
  return of => {
    let value = cache.get(of)
    if (value === undefined) cache.set(of, (value = make(of)))
    return value
  }
}

/**
 * A pure function of texts that remembers its results for the few texts that recur: clients repeat
 * their Accept field with every request. Texts longer than `longest` are not remembered, so no
 * caller fills the memory.
 */
export const memoizeByText = <V>(make: (text: string) => V, size = 256, longest = 256): ((text: string) => V) =>
  memoizeByKey(make, size, text => text.length <= longest)

export const memoizeByNumber = <V>(make: (of: number) => V, size: number): ((of: number) => V) =>
  memoizeByKey(make, size, () => true)

/** Remembers the latest result alone, for calls with the same key many times in a row. */
export function memoizeLatest<K, V>(make: (of: K) => V): (of: K) => V {
  let latest: { readonly of: K; readonly made: V } | undefined
  return of => {
    if (latest?.of !== of) latest = { of, made: make(of) }
    return latest.made
  }
}

/** A value that is made once, when it is first needed. */
export function memoizeOnce<V extends NonNullable<unknown>>(make: () => V): () => V {
  let value: V | undefined
  return () => (value ??= make())
}

/** A full memory is emptied; refilling it costs one `make` for each key. */
function memoizeByKey<K, V>(make: (of: K) => V, size: number, isKept: (of: K) => boolean): (of: K) => V {
  const cache = new Map<K, V>()
  return of => {
    const before = cache.get(of)
    if (before !== undefined) return before
    const value = make(of)
    if (isKept(of)) {
      if (cache.size >= size) cache.clear()
      cache.set(of, value)
    }
    return value
  }
}

/** Keeps at most this many entries, and removes the oldest first. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, V>()
  /**
   * Once the cache is full, its oldest key is at #next. To find its first entry, a Map would pass
   * over all removed ones: with 4,096 of these, that takes longer than computing many a value
   * again.
   */
  readonly #keys: K[] = []
  readonly #size: number
  #next = 0
  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    return this.#entries.get(key)
  }

  set(key: K, value: V): void {
    if (!this.#entries.has(key)) {
      if (this.#keys.length === this.#size) this.#entries.delete(this.#keys[this.#next] as K) // the memory is full
      this.#keys[this.#next] = key
      this.#next = (this.#next + 1) % this.#size
    }
    this.#entries.set(key, value)
  }
}
