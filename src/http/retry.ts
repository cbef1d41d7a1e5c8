import { parseDate } from './date.ts'

/** RFC 9110 §10.2.3 Retry-After: whole seconds, rounded up, never negative (A4.22). */
export const writeRetryAfter = (seconds: number): string => String(Math.max(0, Math.ceil(seconds)))

/** Milliseconds to wait from now on; undefined when it is neither seconds nor a date. A date that is past: 0. */
export function parseRetryAfter(field: string, now: number): number | undefined {
  if (/^\d{1,10}$/.test(field)) return Number(field) * 1000
  const date = parseDate(field, now)
  return date === undefined ? undefined : Math.max(0, date - now)
}
