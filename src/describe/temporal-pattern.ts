/**
 * The texts of dates, times and durations as patterns of the whole value that JSON Schema and XML
 * Schema both understand: without anchors and lookaround. They check everything except how many
 * days a month has.
 */
import type { ZoneRule } from '../contract/field.ts'
import type { TemporalShape } from '../contract/lexical/temporal.ts'

/** RFC 3339 §5.6. XML Schema 1.0 has no year 0000 (Part 2 §3.2.7.1), nor do most clients. */
const plainYear = '([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])'
/** XML Schema 1.1 Part 2 §3.3.7: includes years before the first, and with more digits. */
const anyYear = '-?([1-9][0-9]{3,8}|0[0-9]{3})'
const monthAndDay = '-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const fraction = '(\\.[0-9]{1,12})?'
const plainTime = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]${fraction}`
const anyTime = `(${plainTime}|24:00:00(\\.0{1,12})?)`
const zone = '(Z|[+\\-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))'

/** A run of units in this order, at least one of them present: `P1Y2D`, but not `P`. */
function writeUnits(units: readonly string[]): string {
  const alternatives = units.map(
    (unit, at) =>
      unit +
      units
        .slice(at + 1)
        .map(each => `(${each})?`)
        .join(''),
  )
  return `(${alternatives.join('|')})`
}
const digitsOf = (unit: string): string => `[0-9]{1,9}${unit}`
const days = writeUnits(['Y', 'M', 'D'].map(digitsOf))
const hours = `T${writeUnits([digitsOf('H'), digitsOf('M'), `[0-9]{1,9}${fraction}S`])}`
const durationPattern = `-?P(${days}(${hours})?|${hours})`

/**
 * The texts of two grammars: only RFC 3339 Appendix A has weeks; only `xs:duration` (Part 2 §3.2.6)
 * has signs, fractions of a second, and gaps between units.
 */
export const anyDurationPattern = `(${durationPattern}|P[0-9]{1,9}W)`

export function temporalPattern(shape: TemporalShape): string {
  if (shape.kind === 'duration') return durationPattern
  const isPlain = shape.zone !== undefined
  const zonePattern = { required: zone, optional: `${zone}?`, prohibited: '' }[shape.zone ?? 'optional']
  const time = isPlain ? plainTime : anyTime
  if (shape.kind === 'time') return time + zonePattern
  const day = (isPlain ? plainYear : anyYear) + monthAndDay
  return (shape.kind === 'date' ? day : `${day}T${time}`) + zonePattern
}

/** A date or time with a rule about its zone. */
export interface TemporalRule {
  readonly kind: 'date' | 'time' | 'dateTime'
  readonly zone: ZoneRule
}
/** JSON Schema formats (Validation 2020-12 §7.3.1) with the values of a rule. */
const rulesOfFormats: Readonly<Record<string, TemporalRule>> = {
  __proto__: null as never,
  date: { kind: 'date', zone: 'prohibited' },
  time: { kind: 'time', zone: 'required' },
  'date-time': { kind: 'dateTime', zone: 'required' },
}
/** Undefined: no format covers all values of the shape, so a pattern has to describe them. */
export const temporalFormat = (shape: TemporalShape): string | undefined =>
  Object.entries(rulesOfFormats).find(([, { kind, zone }]) => kind === shape.kind && zone === shape.zone)?.[0]

const rulesByPattern: ReadonlyMap<string, TemporalRule> = new Map(
  (['date', 'time', 'dateTime'] as const).flatMap(kind =>
    (['required', 'optional', 'prohibited'] as const).map(zone => [temporalPattern({ kind, zone }), { kind, zone }]),
  ),
)
/** The rule in our own descriptions: from a format, or from a pattern, which takes precedence. */
export const findTemporalRule = (pattern: string | undefined, format: string): TemporalRule | undefined =>
  pattern === undefined ? rulesOfFormats[format] : rulesByPattern.get(pattern.replace(/^\^|\$$/g, ''))
