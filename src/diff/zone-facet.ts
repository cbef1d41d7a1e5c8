/**
 * What our own descriptions say of the zone of a date or time by a format or a pattern, as a facet
 * of its own: a release that allows more zones is wider, whichever way either says so.
 */
import type { ZoneRule } from '../contract/field.ts'
import { temporalPattern } from '../describe/temporal-pattern.ts'
import type { ScalarType } from './wire-type.ts'

const kinds = ['date', 'time', 'dateTime'] as const
const rules: readonly ZoneRule[] = ['required', 'optional', 'prohibited']
type TemporalFact = readonly [kind: (typeof kinds)[number], zone: ZoneRule]
const factsByPattern: ReadonlyMap<string, TemporalFact> = new Map(
  kinds.flatMap(kind => rules.map(zone => [temporalPattern({ kind, zone }), [kind, zone]] as const)),
)
/** JSON Schema Validation 2020-12 §7.3.1. */
const factsByFormat: Readonly<Record<string, TemporalFact>> = {
  date: ['date', 'prohibited'],
  time: ['time', 'required'],
  'date-time': ['dateTime', 'required'],
}
const formatOfKind = { date: 'date', time: 'time', dateTime: 'date-time' } as const

/** The type with its zone as the facet `zone`; a type of which nothing says so stays the same. */
export function nameZone(type: ScalarType): ScalarType {
  const { pattern, format = '', ...others } = Object.fromEntries(type.facets)
  const known = factsByPattern.get(String(pattern).replace(/^\^|\$$/g, ''))
  const [kind, zone] = known ?? (pattern === undefined ? factsByFormat[format] : undefined) ?? []
  if (kind === undefined || zone === undefined) return type
  const isJson = type.base === 'string'
  return {
    ...type,
    facets: new Map(Object.entries({ ...others, ...(isJson && { format: formatOfKind[kind] }), zone })),
  }
}

/** Negative: the first has fewer values. Undefined: neither holds the other. */
export const compareZones = (one: unknown, other: unknown): number | undefined =>
  other === 'optional' ? -1 : one === 'optional' ? 1 : undefined
