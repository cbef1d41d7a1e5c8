/** An own member: a field may be named like something that every object inherits. */
export const ownMember = <V>(value: Readonly<Record<string, V>>, name: string): V | undefined =>
  name in Object.prototype && !Object.hasOwn(value, name) ? undefined : value[name]

/** A parsed JSON value; integers beyond a double are bigint. */
export type Json = null | boolean | number | bigint | string | readonly Json[] | { readonly [name: string]: Json }

export const omitUndefined = <V>(members: Readonly<Record<string, V | undefined>>): Record<string, V> =>
  Object.fromEntries(Object.entries(members).filter((entry): entry is [string, V] => entry[1] !== undefined))

/** The object with each of its own members changed. */
export const mapMembers = <A, B>(of: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, each]) => [name, change(each)]))

/** The members that another object has as its own. */
export const pickMembers = <V>(value: Readonly<Record<string, V>>, of: object): Record<string, V> =>
  Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(of, name)))

/** The object with some of its methods replaced. */
export function extendObject<T extends object>(base: T, own: Partial<T>): T {
  return new Proxy(base, {
    get: (target, name) => {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
