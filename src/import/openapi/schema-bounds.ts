/** The bounds of scalars in a JSON Schema, as facets of XML Schema or as numbers. */

import { type Json, type JsonObject, jsonItems, stringOf } from '../../base/objects.ts'
import { intBounds, longBounds, type NumberRange } from '../../contract/lexical/number.ts'
import type { AnyXmlType, SchemaFacets } from '../../contract/xml-type.ts'
import { type SchemaPattern, toSchemaPattern } from '../../describe/schema-pattern.ts'

export const numberOf = (value: Json | undefined): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined

/** A length or a number of items; any other value sets no bound (JSON Schema Validation §6.3). */
export function wholeNumberOf(value: Json | undefined): number | undefined {
  const number = numberOf(value)
  return number !== undefined && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}

/**
 * OpenAPI 3.0 has exclusiveMinimum as a boolean next to minimum, 3.1 as a separate number; the
 * narrower of both counts.
 */
export function boundOf(schema: JsonObject, inclusive: string, exclusive: string, step: bigint): bigint | undefined {
  const bound = wholeBoundOf(schema[inclusive], step, schema[exclusive] === true)
  const other = wholeBoundOf(schema[exclusive], step, true)
  if (bound === undefined || other === undefined) return bound ?? other
  return step > 0n === bound > other ? bound : other
}
function wholeBoundOf(own: Json | undefined, step: bigint, excludes: boolean): bigint | undefined {
  if (typeof own !== 'number' && typeof own !== 'bigint') return undefined
  const whole = typeof own === 'bigint' ? own : BigInt(step > 0n ? Math.ceil(own) : Math.floor(own))
  return excludes && String(whole) === String(own) ? whole + step : whole
}

/** JSON Schema searches for a pattern; a contract's pattern matches the whole text. */
export function anchorPattern(given: string): string {
  const own = /^\^\(\?:([\s\S]*)\)\$$/.exec(given)?.[1]
  if (own !== undefined && isOneGroup(own)) return own
  return splitAlternatives(given).map(anchorAlternative).join('|')
}
function anchorAlternative(given: string): string {
  const start = given.startsWith('^')
  const end = /(^|[^\\])(\\\\)*\$$/.test(given)
  const middle = given.slice(start ? 1 : 0, end ? -1 : undefined)
  return `${start ? '' : '[\\s\\S]*'}${middle}${end ? '' : '[\\s\\S]*'}`
}

/** A character with its escape, or a class. */
const patternParts = /\\[\s\S]|\[(?:[^\]\\]|\\[\s\S])*\]|[\s\S]/g

/** Whether the surrounding parentheses belong together. */
function isOneGroup(inside: string): boolean {
  let depth = 0
  for (const [part] of inside.matchAll(patternParts)) {
    if (part === '(') depth++
    if (part === ')' && --depth < 0) return false
  }
  return true
}

/** A bar counts outside groups and classes. */
function splitAlternatives(pattern: string): readonly string[] {
  const found = ['']
  let depth = 0
  for (const [part] of pattern.matchAll(patternParts)) {
    if (part === '(') depth++
    if (part === ')') depth--
    if (part === '|' && depth === 0) found.push('')
    else found[found.length - 1] += part
  }
  return found
}

export interface SchemaBounds {
  readonly facets: SchemaFacets
  /** What XML Schema cannot express, one line each. */
  readonly unchecked: readonly string[]
}

/** Lengths count code points in both languages (JSON Schema Validation §6.3, XML Schema §4.3.1). */
export function readTextBounds(schema: JsonObject): SchemaBounds {
  const [min, max, given] = [
    wholeNumberOf(schema['minLength']),
    wholeNumberOf(schema['maxLength']),
    stringOf(schema['pattern']),
  ]
  const pattern = given === '' ? undefined : toSchemaPattern(anchorPattern(given))
  return {
    facets: {
      ...(min !== undefined && min > 0 && { minLength: min }),
      ...(max !== undefined && { maxLength: max }),
      ...(pattern && { patterns: [pattern.written] }),
    },
    unchecked: given === '' || pattern?.isExact ? [] : [`the pattern ${given} is ${howChecked(pattern)}`],
  }
}

const howChecked = (pattern: SchemaPattern | undefined): string =>
  pattern ? 'checked only in ASCII: it may accept more beyond it' : 'not checked: XML Schema has no such expression'

/**
 * A bound outside the range of its type says nothing, and is not allowed in a facet.
 *
 * @param type a built-in type of whole numbers
 */
export function readIntegerBounds(schema: JsonObject, { definition }: AnyXmlType): SchemaBounds {
  const ranges: Partial<Record<string, NumberRange>> = { ...longBounds, ...intBounds }
  const { lowest, highest } = (definition.kind === 'builtIn' && ranges[definition.name]) || {}
  const isWithin = (bound: bigint): boolean =>
    (lowest === undefined || bound >= lowest) && (highest === undefined || bound <= highest)
  const min = boundOf(schema, 'minimum', 'exclusiveMinimum', 1n)
  const max = boundOf(schema, 'maximum', 'exclusiveMaximum', -1n)
  return {
    facets: {
      ...(min !== undefined && isWithin(min) && String(min) !== String(lowest) && { minInclusive: String(min) }),
      ...(max !== undefined && isWithin(max) && String(max) !== String(highest) && { maxInclusive: String(max) }),
    },
    unchecked: listUncheckedValues(schema),
  }
}

export function readNumberBounds(schema: JsonObject): SchemaBounds {
  const [min, max] = [numberOf(schema['minimum']), numberOf(schema['maximum'])]
  const [above, below] = [
    schema['exclusiveMinimum'] === true ? min : numberOf(schema['exclusiveMinimum']),
    schema['exclusiveMaximum'] === true ? max : numberOf(schema['exclusiveMaximum']),
  ]
  return {
    facets: {
      ...(above !== undefined && (min === undefined || above >= min)
        ? { minExclusive: String(above) }
        : min !== undefined && { minInclusive: String(min) }),
      ...(below !== undefined && (max === undefined || below <= max)
        ? { maxExclusive: String(below) }
        : max !== undefined && { maxInclusive: String(max) }),
    },
    unchecked: listUncheckedValues(schema),
  }
}

/** One of the two values is not all that there are. */
export function readBooleanBounds(schema: JsonObject): SchemaBounds {
  const values = new Set(schema['const'] === undefined ? jsonItems(schema['enum']) : [schema['const']])
  const isOne = values.has(true) !== values.has(false)
  return { facets: {}, unchecked: isOne ? listUncheckedValues(schema) : [] }
}

export const listUncheckedValues = (schema: JsonObject): readonly string[] => [
  ...(schema['enum'] !== undefined || schema['const'] !== undefined
    ? ['its values are not checked: an enumeration has texts']
    : []),
  ...(schema['multipleOf'] !== undefined ? ['multipleOf is not checked'] : []),
]
