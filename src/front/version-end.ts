/**
 * The end of a version of the contract, decided once for both faces: when it is no longer served,
 * and what its responses say before.
 */
import type { VersionRule } from '../contract/service.ts'
import { writeDate } from '../http/date.ts'
import { writeDeprecation } from '../http/fields.ts'

/** From its sunset on a version is not served (RFC 8594), nor once it is retired. */
export const isRetired = ({ retired, sunset }: VersionRule, now: number): boolean =>
  retired === true || (sunset !== undefined && Date.parse(sunset) <= now)

/** It is deprecated or has a sunset: each response says so. */
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
