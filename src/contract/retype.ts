/** A field whose type in an older version differs from that in the newest one. */
import type { AnyField, Field } from './field.ts'

/** How values of one field are converted from an older version to the newest, and back. */
export interface Retype<F extends AnyField = AnyField, X extends boolean = boolean> {
  readonly newest: AnyField
  /** The field as the version has it. */
  readonly former: F
  readonly up: (value: never) => unknown
  readonly down: (value: never) => unknown
  readonly exact: X
}

/** A type without a mark of presence: that is the newest version's. */
// biome-ignore lint/suspicious/noExplicitAny: the values of any field
type PlainField = Field<any, false, false, any>

/**
 * The type of a field in an older version: `retype(doctors.fields.ward, t.string(), { up, down })`.
 * The field is optional, read-only or nullable as in the newest version.
 * @param pair `up` converts a value of the version to the newest type, `down` converts back. Both
 * are pure; neither receives null. `down(up(x))` must equal `x` for each value of the version; the
 * start tests it with all values of an enumeration, with bounds and with examples. With `exact`,
 * `up(down(y))` equals `y`, too: then lists of the version filter and sort by the field, in the
 * order of the newest type.
 */
export function retype<N extends AnyField, F extends PlainField, const X extends boolean = false>(
  newest: N,
  former: F,
  pair: {
    readonly up: (value: NonNullable<F['type']>) => NonNullable<N['type']>
    readonly down: (value: NonNullable<N['type']>) => NonNullable<F['type']>
    readonly exact?: X
  },
): Retype<F, X> {
  return { newest, former, up: pair.up, down: pair.down, exact: pair.exact ?? (false as X) } // X's default
}
