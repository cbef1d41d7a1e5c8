/**
 * Versions of rows. A version is the time of its change in 1/1024 ms since 1970 plus a few random
 * steps; if that is not larger than the version before, it is that version plus the random steps.
 * What always holds:
 *  (1) A version is larger than the one before it: larger means later.
 *  (2) A copy of the database (a restored backup, a point in time, a promoted standby) gives later
 *      versions than those lost with its original, without knowing them, because time has passed.
 *      If the clock was set back, or another machine's is ahead, the random steps tell the versions
 *      apart.
 *  (3) Versions are integers below 2^53: a clock beyond the year 2109 counts as that year, which
 *      leaves 2^37 changes of one row. Versions that count from 1, as in earlier formats, are older
 *      than all others.
 */
import type { Sql } from './dialect.ts'
import { sql } from './sql.ts'

const perMs = 1024
const stepsMax = 65_536
/** In the year 2109. */
const latestMs = 2 ** 42

/** A version of this time, for a new row or to follow an older version. */
export const drawVersion = (now: number): number =>
  Math.min(Math.floor(now), latestMs) * perMs + 1 + Math.floor(Math.random() * stepsMax)

/** No version of this time or later is smaller than this. */
export const earliestVersion = (time: number): number => Math.min(Math.floor(time), latestMs) * perMs

/** The version that follows one that was read (1). */
export function followVersion(before: number, now: number): number {
  const drawn = drawVersion(now)
  return before < drawn ? drawn : before + 1 + (drawn % stepsMax)
}

/**
 * The same in SQL.
 * @param before the version in the database
 * @param drawn the place of a drawn version
 */
export const followingVersion = (before: Sql, drawn: Sql): Sql =>
  sql`case when ${before} < ${drawn} then ${drawn} else ${before} + 1 + ${drawn} % cast(${sql.lit(stepsMax)} as bigint) end`

/** A wrong time zone shifts the clock by an hour or so. */
const leadMaxMs = 2 * 3_600_000

/**
 * RFC 9110 §8.8.2.1: the time of a change, from the clock, and never before that of the previous
 * change. If the clock is more than a second behind that, because it was set back or another
 * machine's is ahead, the time is a second after the previous change, so that If-Modified-Since
 * distinguishes the two; but it is at most two hours ahead of the clock, or a row that two machines
 * keep changing would run away from both.
 */
export const laterTime = (before: Sql, now: Sql): Sql => {
  const [step, lead] = [sql.lit(1000), sql.lit(leadMaxMs)]
  return sql`case when ${before} <= ${now} then ${now} when ${before} - ${lead} > ${now} or ${before} - ${step} <= ${now} then ${before} else ${before} + ${step} end`
}
