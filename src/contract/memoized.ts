/** What is made of an object once, and remembered for as long as the object lives. `make` never answers undefined. */
export function memoized<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>()
  return of => {
    let made = known.get(of)
    if (made === undefined) known.set(of, (made = make(of)))
    return made
  }
}
