import { item, parseItem, writeItem } from './structured.ts'

/**
 * RFC 9745 §2.1 Deprecation: a date item, from milliseconds; undefined when the time is none. (Sunset, RFC 8594, is an
 * HTTP-date: see date.ts.)
 */
export const writeDeprecation = (time: number): string | undefined =>
  writeItem(item({ kind: 'date', value: Math.floor(time / 1000) }))

/** Milliseconds; undefined when malformed. */
export function parseDeprecation(field: string): number | undefined {
  const found = parseItem(field)
  return found?.kind === 'date' ? found.value * 1000 : undefined
}
