/**
 * Members whose values are made each time they are read. Their accessors are the same functions in
 * all objects of a kind: V8 makes a hidden class for an object that has accessors of its own, which
 * keeps alive everything in their scope until the next full collection.
 */

const aboutKey = Symbol('about')
interface WithAbout<A> {
  readonly [aboutKey]: A
}

/**
 * Returns a function that adds these members to an object as its own, so a copy of the object has
 * them.
 *
 * @param makers compute each member from the argument that is passed with the object, at each read
 */
export function createLateMembers<A, M extends object>(
  makers: {
    readonly [K in keyof M]: (about: A) => M[K]
  },
): <T extends object>(object: T, about: A) => T & M {
  const accessors = Object.entries<(about: A) => unknown>(makers).map(
    ([name, make]): readonly [string, PropertyDescriptor & ThisType<WithAbout<A>>] => [
      name,
      {
        enumerable: true,
        get() {
          return make(this[aboutKey])
        },
      },
    ],
  )
  // One by one: V8 takes three times as long for Object.defineProperties.
  return <T extends object>(object: T, about: A) => {
    Object.defineProperty(object, aboutKey, { value: about })
    for (const [name, accessor] of accessors) Object.defineProperty(object, name, accessor)
    return object as T & M
  }
}
