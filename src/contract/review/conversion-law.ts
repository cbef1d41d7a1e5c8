/**
 * The law of two functions that convert values between a version and the newest one, tried with
 * values that follow from their types.
 */
import { messageOf } from '../../base/attempt.ts'
import { type AnyField, Field, type Fields } from '../field.ts'
import { valueWriter } from '../field-json.ts'
import type { Values } from '../implement.ts'
import type { Retype } from '../retype.ts'
import { asObject, foldScalar, isScalar, type ScalarCases } from '../shape.ts'
import { checkValue } from '../typed-value.ts'

/** Two functions that convert values of two fields. */
export interface ConversionPair {
  /** For people. */
  readonly place: string
  readonly former: AnyField
  readonly newest: AnyField
  readonly up: (value: never, current: never) => unknown
  readonly down: Retype['down']
  /** Whether each newest value comes back, too. */
  readonly exact: boolean
}

/** The first mistake of a pair. */
export function findLawMistakes({ place, former, newest, up, down, exact }: ConversionPair): string[] {
  const upward = { field: former, convert: up, how: 'up' }
  const downward = { field: newest, convert: down, how: 'down' }
  const found = [
    ...sampleValues(former).flatMap(each => roundMistakes(place, upward, downward, each, true)),
    ...sampleValues(newest).flatMap(each => roundMistakes(place, downward, upward, each, exact)),
  ]
  return found.slice(0, 1)
}

interface ConversionDirection {
  /** The field whose values it accepts. */
  readonly field: AnyField
  readonly convert: ConversionPair['up']
  readonly how: string
}

function roundMistakes(
  place: string,
  way: ConversionDirection,
  back: ConversionDirection,
  value: unknown,
  isLaw: boolean,
): string[] {
  const sample = writeSample(way.field, value)
  const converted = attemptConversion(way, value)
  if ('thrown' in converted)
    return [`${place}: ${way.how}(${sample}) throws "${converted.thrown}": return a value for each value of the type`]
  const [problem] = checkValue({ it: toPlain(back.field) }, { it: converted.value })
  if (problem)
    return [`${place}: ${way.how}(${sample}) returns a value that ${problem.detail}: return one of the other type`]
  if (!isLaw) return []
  const again = attemptConversion(back, converted.value)
  const isSame =
    'value' in again &&
    checkValue({ it: toPlain(way.field) }, { it: again.value }).length === 0 &&
    writeSample(way.field, again.value) === sample
  if (isSame) return []
  const gave = 'thrown' in again ? `throws "${again.thrown}"` : `is ${writeSample(way.field, again.value)}`
  return [
    way.how === 'up'
      ? `${place}: down(up(${sample})) ${gave}: make it ${sample}, or clients of the version read a value that they did not send`
      : `${place}: up(down(${sample})) ${gave}: remove \`exact\`, or convert each value to one of its own`,
  ]
}

function attemptConversion(
  { convert }: ConversionDirection,
  value: unknown,
): { readonly value: unknown } | { readonly thrown: string } {
  try {
    return { value: (convert as (value: unknown) => unknown)(value) }
  } catch (thrown) {
    return { thrown: messageOf(thrown) }
  }
}

/** The same field, always present and not null. */
const toPlain = ({ shape }: AnyField): AnyField => new Field(shape)

function writeSample(field: AnyField, value: unknown): string {
  const [problem] = checkValue({ it: toPlain(field) }, { it: value })
  return problem ? String(value) : valueWriter(toPlain(field))(value)
}

/** Values that follow from a type, and its example. */
function sampleValues({ shape, texts }: AnyField): readonly unknown[] {
  const object = asObject(shape)
  if (object) return sampleObjects(object.fields)
  const samples = isScalar(shape) ? foldScalar(shape, scalarSamples) : []
  return texts?.example === undefined ? samples : [...samples, texts.example]
}

/**
 * As many as the member with the most sample values has; none if a required member has no sample
 * value.
 */
function sampleObjects(fields: Fields): readonly Values[] {
  const members = Object.entries(fields).map(([name, field]) => ({ name, field, values: sampleValues(field) }))
  if (members.some(({ field, values }) => values.length === 0 && !field.isOptional)) return []
  const count = Math.max(...members.map(({ values }) => values.length))
  const sampled = members.filter(({ values }) => values.length > 0)
  return Array.from({ length: count }, (_, at) =>
    Object.fromEntries(sampled.map(({ name, values }) => [name, values[at % values.length]])),
  )
}
const boundsOf = ({ min, max }: { readonly min?: unknown; readonly max?: unknown }): unknown[] =>
  [min, max].filter(each => each !== undefined)
const noSamples = (): unknown[] => []
const scalarSamples: ScalarCases<readonly unknown[]> = {
  string: noSamples,
  boolean: () => [true, false],
  int: boundsOf,
  long: boundsOf,
  decimal: noSamples,
  double: boundsOf,
  date: noSamples,
  time: noSamples,
  dateTime: noSamples,
  duration: noSamples,
  bytes: noSamples,
  enum: ({ values }) => values,
  id: noSamples,
  ref: noSamples,
}
