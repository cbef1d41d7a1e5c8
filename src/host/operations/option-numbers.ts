/**
 * The numbers in the options of `serve`. A `NaN`, from a variable of the environment that is
 * missing, or a number below zero would be accepted, and then would not do what its author meant.
 */

/** Those options of `serve` that are numbers, or have numbers. */
export interface NumberOptions {
  readonly work?: number | false
  readonly flood?: number
  readonly sinkBackOff?: number
  readonly retention?: object
  readonly overload?: object
  readonly limits?: object
}

type Least = readonly [least: number, cure: string]

const notNegative: Least = [0, 'give a number of 0 or more']
/** The smallest value of each. */
const ownNumbers: Readonly<Record<string, Least>> = { flood: notNegative, sinkBackOff: notNegative }
const retentionNumbers: Readonly<Record<string, Least>> = {
  // What a write on PostgreSQL has listed is checked by the changes recorded since.
  changesDays: [0.01, 'give a number of 0.01 or more, or Infinity for changes that never expire'],
  formerDays: [0, 'give a number of 0 or more, or Infinity for records that never expire'],
}

/** A text for each value that is not a number, or is too small. */
export function findWrongNumbers(options: NumberOptions): readonly string[] {
  const { retention = {}, overload = {}, limits = {}, work } = options
  const isCount = work === undefined || work === false || (Number.isSafeInteger(work) && work >= 0)
  return [
    ...(isCount ? [] : [`the option work is ${work}: give a whole number of 0 or more, or false`]),
    ...Object.entries(ownNumbers).flatMap(([name, least]) =>
      judgeOptionNumber(`the option ${name}`, Reflect.get(options, name), least),
    ),
    ...Object.entries(retentionNumbers).flatMap(([name, least]) =>
      judgeOptionNumber(`the option retention: ${name}`, Reflect.get(retention, name), least),
    ),
    ...Object.entries(overload).flatMap(([name, value]) =>
      judgeOptionNumber(`the option overload: ${name}`, value, notNegative),
    ),
    ...Object.entries(limits).flatMap(([name, value]) =>
      judgeOptionNumber(`the option limits: ${name}`, value, notNegative),
    ),
  ]
}

function judgeOptionNumber(place: string, value: unknown, [least, cure]: Least): readonly string[] {
  if (value === undefined || (typeof value === 'number' && value >= least)) return []
  return [`${place} is ${typeof value === 'string' ? `the text "${value}"` : String(value)}: ${cure}`]
}
