/**
 * Members of declarations and options that no type has checked: what JavaScript gives, or
 * TypeScript whose types were stripped. A name that is not known is found where it is given.
 */

/** Every member of a type: one that is added to the type is missing here at compile time. */
export type MembersOf<T> = Readonly<Record<keyof T, true>>

/** A line for each unknown member. */
export const findUnknownMembers = (place: string, given: object, known: object): string[] =>
  Object.keys(given)
    .filter(name => !Object.hasOwn(known, name))
    .map(name => `${place}: unknown member "${name}": use ${Object.keys(known).join(', ')}`)

/** @throws TypeError that names each unknown member */
export function requireKnownMembers(place: string, given: object, known: object): void {
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`${place}: give an object with ${Object.keys(known).join(', ')}`)
  const lines = findUnknownMembers(place, given, known)
  if (lines.length > 0) throw new TypeError(lines.join('\n'))
}
