/**
 * When a version of the contract ends, decided once for both faces: from when it is no longer
 * served, and what its responses say before that.
 */
import type { VersionRule } from '../contract/service.ts'
import { writeDate } from '../http/date.ts'
import { writeDeprecation } from '../http/fields.ts'

/**
 * From this time on, in milliseconds, a version is not served: its sunset (RFC 8594); a retired
 * version is never served.
 */
export function endOfVersion({ retired, sunset }: VersionRule): number {
  if (retired) return -Infinity
  return sunset === undefined ? Infinity : Date.parse(sunset)
}

/** Whether it is deprecated or has a sunset, so that each response says so. */
export const isEnding = ({ deprecated, sunset }: VersionRule): boolean =>
  deprecated !== undefined || sunset !== undefined

/** RFC 9745, RFC 8594, RFC 5829. `successor` is the same address in the newest version. */
export function addVersionFields(
  fields: Record<string, string | readonly string[]>,
  { deprecated, sunset }: VersionRule,
  successor: string,
): void {
  if (deprecated !== undefined) fields['deprecation'] = writeDeprecation(Date.parse(deprecated)) ?? ''
  if (sunset !== undefined) fields['sunset'] = writeDate(Date.parse(sunset))
  const link = linkToSuccessor(successor)
  fields['link'] = fields['link'] === undefined ? link : `${String(fields['link'])}, ${link}`
}

export const linkToSuccessor = (successor: string): string => `<${successor}>; rel="successor-version"`
