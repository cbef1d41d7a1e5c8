/** What is made of an object once, and remembered for as long as the object lives. `make` never answers undefined. */
export function memoizeByObject<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>()
  return of => {
    let made = known.get(of)
    if (made === undefined) known.set(of, (made = make(of)))
    return made
  }
}

/**
 * Remembers what a pure function said of the few texts that come again and again: clients repeat their Accept field
 * with every request. Bounded twice: long texts are not kept, and a full memory starts anew, which costs one parse
 * each and lets no caller grow it.
 */
export function memoizeByText<T>(parse: (text: string) => T, size = 256, longest = 256): (text: string) => T {
  const known = new Map<string, T>()
  return text => {
    const before = known.get(text)
    if (before !== undefined) return before
    const value = parse(text)
    if (text.length <= longest) {
      if (known.size >= size) known.clear()
      known.set(text, value)
    }
    return value
  }
}
