/**
 * Examples of fields: a fold over the shapes of a contract. Each value has passed the check of its
 * field.
 */
import { mapMembers, ownMember } from '../base/objects.ts'
import type { AnyField, Fields, Scalar } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { checkScalar, readScalar } from '../contract/lexical/scalar.ts'
import { compilePattern } from '../contract/lexical/text.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import {
  createChoose,
  type ExamplePlace,
  listExampleTexts,
  NoExample,
  placeWithin,
  placeWithRoom,
  takeRoom,
} from '../describe/example-text.ts'

/** A value of each field, optional ones included. */
export const makeExample = (fields: Fields, place: ExamplePlace): Values =>
  completeValue(fields, {}, placeWithRoom(place))

/**
 * The value with every required member that it lacks, at any depth; objects that are missing get
 * optional members, too. What clients send is not changed.
 */
export function completeValue(fields: Fields, value: Values, place: ExamplePlace): Values {
  const isNew = Object.keys(value).length === 0
  const members: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    const known = ownMember(value, name)
    if (known === undefined && field.isOptional && !isNew) continue
    members[name] = known === null ? null : completeItem(field, known, placeWithin(place, name))
  }
  return members
}

/**
 * The example in the contract, or else its default, replaces a missing value, unless the operator
 * gives another.
 */
function completeItem(field: AnyField, value: unknown, place: ExamplePlace): unknown {
  const example = place.given[place.name] === undefined ? (field.texts?.example ?? field.defaultValue) : undefined
  return foldShape(field.shape, examples, value ?? example, place)
}

/** @param value an existing value that has passed its check; undefined: none */
const examples: ShapeCases<unknown, [value: unknown, place: ExamplePlace]> = {
  scalar: (shape, value, place) => value ?? makeScalar(shape, place),
  list: ({ item, min = 0, max = 2 }, value, place) => {
    const count = Math.min(Math.max(min, 1), max)
    if (!Array.isArray(value)) takeRoom(place, count)
    const known = Array.isArray(value) ? value : Array.from({ length: count })
    return known.map((each, i) =>
      completeItem(item, each, value === undefined ? { ...place, item: place.item + i } : place),
    )
  },
  map: (shape, value, place) => {
    const { key, value: field } = entryFields(shape)
    if (value !== undefined)
      return mapMembers(value as Values, each => (each === null ? null : completeItem(field, each, place)))
    const { min = 0, max = 2 } = shape.entries
    const count = Math.min(Math.max(min, 1), max)
    takeRoom(place, count)
    const places = Array.from({ length: count }, (_, i) => ({
      ...place,
      item: place.item + i,
    }))
    return Object.fromEntries(
      places.map(at => [completeItem(key, undefined, placeWithin(at, 'key')), completeItem(field, undefined, at)]),
    )
  },
  object: ({ fields }, value, place) => completeValue(fields, (value ?? {}) as Values, place),
  union: ({ on, of }, value, place) => {
    const { [on]: given, ...rest } = (value ?? {}) as Values
    const names = Object.keys(of)
    const which = typeof given === 'string' ? given : (names[createChoose(place)(names.length)] ?? '')
    return { [on]: which, ...completeValue(of[which] ?? {}, rest, placeWithin(place, which)) }
  },
}

/** The first candidate that the check of the shape accepts. Throws `NoExample`. */
export function makeScalar(shape: Scalar, place: ExamplePlace): unknown {
  const text = place.given[place.name]
  if (text !== undefined) {
    const value = readScalar(shape, text)
    if (value instanceof Flaw) throw new Error(`--example ${place.name}=${text}: ${value.detail}`)
    return value
  }
  for (const candidate of foldScalar(shape, candidates, place)) {
    const value = checkScalar(shape, candidate)
    if (!(value instanceof Flaw)) return value
  }
  const pattern = shape.kind === 'string' && shape.pattern !== undefined ? ` with the pattern ${shape.pattern}` : ''
  throw new NoExample(place, `a ${shape.kind}${pattern} within its bounds`)
}

const pairOfDigits = (number: number): string => String(number).padStart(2, '0')
const day = (place: ExamplePlace): string => `2026-01-${pairOfDigits(1 + createChoose(place)(28))}`
const timeOfDay = (place: ExamplePlace): string => `${pairOfDigits(8 + createChoose(place)(10))}:30:00`

const candidates: ScalarCases<readonly unknown[], [place: ExamplePlace]> = {
  string: ({ min, max, pattern, xsd }, place) =>
    listExampleTexts(place, { min, max, xsd, expressions: pattern === undefined ? [] : [compilePattern(pattern)] }),
  boolean: (_, place) => [createChoose(place)(2) === 1],
  int: ({ min, max }, place) => {
    const low = Math.max(min ?? 1, Math.min(1, max ?? 1))
    return [low + createChoose(place)(20), low, min, max, 0, 1]
  },
  long: ({ min, max }, place) => {
    const low = min ?? 1n
    return [low + BigInt(createChoose(place)(1000)), low, max, 0n, -1n, 1n]
  },
  decimal: ({ digits, places, min, max }, place) => {
    const choose = createChoose(place)
    const whole = 1 + choose(10 ** Math.min(Math.max(digits - places, 0), 2))
    const fraction = places === 0 ? '' : `.${'50'.padEnd(places, '0').slice(0, places)}`
    return [`${whole}${fraction}`, min, max, '1', '0', '0.1', '-1'].flatMap(each => each ?? [])
  },
  double: ({ min, max }, place) => [(min ?? 0) + 0.5 + createChoose(place)(20), min, max, 0.5, 0],
  date: (_, place) => [day(place), `${day(place)}Z`],
  time: (_, place) => [`${timeOfDay(place)}Z`, timeOfDay(place)],
  dateTime: (_, place) => ['Z', ''].map(zone => `${day(place)}T${timeOfDay(place)}${zone}`),
  duration: (_, place) => [`PT${1 + createChoose(place)(12)}H`],
  bytes: ({ max }) => [Buffer.from('example').subarray(0, max)],
  enum: ({ values }, place) => [values[createChoose(place)(values.length)]],
  id: ({ prefix }, { item }) => [`${prefix}-${item}`],
  ref: ({ resource }, { idOf, item }) => [idOf(resource, item) ?? `${resource}-${item}`],
}
