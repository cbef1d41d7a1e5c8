/** A member that is the object's own: a field may have the name of something that every object inherits. */
export const ownMember = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]

/** A parsed JSON value; integers that a double cannot hold come as bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json }

export const omitUndefined = <V>(members: Readonly<Record<string, V | undefined>>): Record<string, V> =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, V] => entry[1] !== undefined))
