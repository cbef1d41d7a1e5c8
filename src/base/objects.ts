/** An own member: a field may be named like something that every object inherits. */
export const ownMember = <V>(value: Readonly<Record<string, V>>, name: string): V | undefined =>
  name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]

/** Whether the value is an object, and no list. */
export const hasMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A parsed JSON value; integers beyond a double are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json }

export const omitUndefined = <V>(members: Readonly<Record<string, V | undefined>>): Record<string, V> =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, V] => entry[1] !== undefined))

/** The object with each of its own members changed. */
export const mapMembers = <A, B>(of: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, each]) => [name, change(each)]))

/** Its own members of these names, without those that are undefined. */
export const pickPresent = <V>(value: Readonly<Record<string, V>>, names: readonly string[]): Record<string, V> => {
  const present: Record<string, V> = {}
  for (const name of names) {
    const member = ownMember(value, name)
    if (member !== undefined) present[name] = member
  }
  return present
}

/** The members that another object has as its own. */
export const pickMembers = <V>(value: Readonly<Record<string, V>>, of: object): Record<string, V> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(of, name)))

/** The object with some of its methods replaced. */
export function extendObject<T extends object>(base: T, members: Partial<T>): T {
  return new Proxy(base, {
    get: (target, name) => {
      const value: unknown = Reflect.get(members, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Freezes the value and everything in it but bytes. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) freezeDeep(part)
  return Object.freeze(value)
}

/** An object of a document that was not validated: a member may have any type. */
export type JsonObject = { readonly [name: string]: Json }
export const isJsonObject = (value: Json | undefined): value is JsonObject => hasMembers(value)
export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
export const jsonItems = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
/** The members that are objects, with their names. */
export const objectEntries = (value: Json | undefined): readonly (readonly [string, JsonObject])[] =>
  Object.entries(objectOf(value)).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
