/** Values with the defaults that the contract declares, at every depth. */
import { memoizeByObject } from '../base/memo.ts'
import { mapMembers, ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from './field.ts'
import type { Values } from './implement.ts'
import { entryFields, foldShape, innerFields, type ShapeCases } from './shape.ts'

/**
 * The value with the default of each field that it lacks. A part that is not a value of its field
 * stays unchanged; the value itself is returned if it lacks nothing.
 * @param existing further values, which no default replaces
 */
export function fillDefaults(fields: Fields, value: Values, existing: Values = {}): Values {
  const members = fillingMembersOf(fields)
  if (members.length === 0) return value
  const values: Record<string, unknown> = {}
  for (const { name, field, fill } of members) {
    const own = ownMember(value, name)
    const isKnown = own !== undefined || ownMember(existing, name) !== undefined
    const next = isKnown ? fill(own) : field.defaultValue
    if (next !== own) values[name] = next
  }
  return Object.keys(values).length === 0 ? value : { ...value, ...values }
}

/** Whether a present value of this field may lack something that has a default. */
export const hasDefaultsWithin = (field: AnyField): boolean =>
  innerFields(field.shape).some(inner => fillingMembersOf(inner).length > 0)

/** Fills the inside of a value; does nothing if it is absent. */
type FillValue = (value: unknown) => unknown
interface FillingMember {
  readonly name: string
  readonly field: AnyField
  readonly fill: FillValue
}

const fillingMembersOf = memoizeByObject((fields: Fields): readonly FillingMember[] =>
  Object.entries(fields)
    .filter(([, field]) => field.defaultValue !== undefined || hasDefaultsWithin(field))
    .map(([name, field]) => ({ name, field, fill: compileFilling(field) })),
)

/** Fills the defaults inside the values of a field. */
export function compileFilling(field: AnyField): FillValue {
  if (!hasDefaultsWithin(field)) return value => value
  const fill = foldShape(field.shape, fillings)
  return value => (typeof value === 'object' && value !== null ? fill(value) : value)
}
/** For objects, including arrays, which the contract's checks may have refused already. */
const fillings: ShapeCases<(value: object) => unknown> = {
  scalar: () => value => value,
  list: ({ item }) => {
    const fill = compileFilling(item)
    return value => (Array.isArray(value) ? value.map(fill) : value)
  },
  map: shape => {
    const fill = compileFilling(entryFields(shape).value)
    return value => mapMembers(value as Values, fill)
  },
  object:
    ({ fields }) =>
    value =>
      fillDefaults(fields, value as Values),
  union:
    ({ on, of }) =>
    value =>
      fillDefaults(ownMember(of, String((value as Values)[on])) ?? {}, value as Values),
}
