/** Fields that an older version has in place of others in the newest one. */
import type { Fields, Value } from './field.ts'
import type { AnyResource } from './resource.ts'

/** How values of a group of fields are converted from an older version to the newest, and back. */
export interface Reshape<K extends string = string, F extends Fields = Fields> {
  /** The resource. */
  readonly of: string
  /** Names of the newest version's fields that this version lacks. */
  readonly newest: readonly K[]
  /** The fields of this version that replace them. */
  readonly former: F
  readonly up: (values: never, current: never) => Readonly<Record<string, unknown>>
  readonly down: (values: never) => Readonly<Record<string, unknown>>
}

/**
 * Fields of an older version, if converting or renaming single fields is not enough:
 * `reshape(patients, ['given', 'family'], { name: t.string() }, { up, down })`. The version has
 * `name` instead of `given` and `family`; its lists neither filter nor sort by it. Read-only fields
 * make a group of their own, of read-only fields in both versions.
 * @param newest fields of the resource; no other group, rename or retype has them
 * @param former the fields of the version, with marks of presence of their own
 * @param pair `up` converts the version's values to all newest ones; from `current`, the newest
 * values of the item that is changed, it may keep what the version cannot express. `down` converts
 * back. Both are pure, and receive absent and null values unchanged. `down(up(x))` must equal `x`
 * for all values of the version; the start tests it with enumerations, bounds and examples, without
 * an item.
 */
export function reshape<R extends AnyResource, const K extends keyof R['types']['fields'] & string, F extends Fields>(
  resource: R,
  newest: readonly K[],
  former: F,
  pair: {
    readonly up: (
      values: Value<F>,
      current: Value<Pick<R['types']['fields'], K>> | undefined,
    ) => Value<Pick<R['types']['fields'], K>>
    readonly down: (values: Value<Pick<R['types']['fields'], K>>) => Value<F>
  },
): Reshape<K, F> {
  return { of: resource.name, newest, former, up: pair.up, down: pair.down }
}
