/** When a schedule is due. This file counts seconds; croner handles cron fields and time zones. */
import { Cron } from 'croner'
import { messageOf } from '../../base/attempt.ts'
import type { Implementation } from '../../contract/implement.ts'
import {
  isPlainRecord,
  type MemberKind,
  type MemberKinds,
  type MembersOf,
  requireKnownMembers,
  requireMemberKinds,
} from '../../contract/member-kinds.ts'
import { type Instants, readScheduledInput, type Schedule } from '../../service/schedule.ts'

const scheduleMembers: MembersOf<Schedule> = {
  name: true, job: true, at: true, zone: true, input: true, as: true,
} // biome-ignore format: a list of names reads best in few lines
const callerKind: MemberKind = {
  isOfKind: value => isPlainRecord(value) && 'roles' in value && Array.isArray(value.roles) && 'claims' in value,
  cure: "the caller of the job: write it as { subject: 'clock', roles: [], claims: {} }",
}
const scheduleKinds: MemberKinds<Schedule> = {
  name: { isOfKind: value => typeof value === 'string' && value !== '', cure: 'a text' },
  input: { isOfKind: value => typeof value === 'function', cure: 'a function: write it as () => ({ … })' },
  as: callerKind,
}

/** Throws even for a mistake that would otherwise show only at the first instant. */
export function openSchedule(app: Implementation, schedule: Schedule, now: number): Instants {
  requireKnownMembers(`the schedule ${schedule.name}`, schedule, scheduleMembers)
  requireMemberKinds(`the schedule ${schedule.name}`, schedule, scheduleKinds)
  readScheduledInput(app, schedule, now)
  try {
    return parseSchedule(schedule)
  } catch (thrown) {
    throw new Error(`the schedule ${schedule.name}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Throws for an invalid schedule, with an error that says what to write. */
export function parseSchedule({ at, zone }: Pick<Schedule, 'at' | 'zone'>): Instants {
  if (typeof at === 'string') return parseCron(at, zone ?? 'UTC')
  if (!(Number.isInteger(at) && at > 0))
    throw new Error(`invalid interval of ${at} seconds: use a whole number greater than 0`)
  if (zone !== undefined) throw new Error(`an interval of ${at} seconds has no time zone: only cron fields have one`)
  return now => Math.floor(now / (at * 1000)) * at * 1000
}

/** crontab(5): if day and weekday are both restricted, either is enough. */
function parseCron(text: string, zone: string): Instants {
  const cron = readCron(text, zone)
  /** Between two instants nothing is computed. */
  let known: { readonly last: number | undefined; readonly from: number; readonly until: number } | undefined
  return now => {
    if (known && known.from <= now && now < known.until) return known.last
    const last = cron.previousRuns(1, new Date(now + 1))[0]?.getTime() // the library means before, not at
    const until = cron.nextRun(new Date(now))?.getTime() ?? Number.POSITIVE_INFINITY
    known = { last, from: last ?? now, until }
    return last
  }
}

function readCron(text: string, zone: string): Cron {
  try {
    const cron = new Cron(text, { paused: true, timezone: zone, mode: '5-part' })
    cron.nextRun() // makes croner look up the zone
    return cron
  } catch (thrown) {
    const reason = messageOf(thrown)
    throw /zone/i.test(reason)
      ? new Error(`"${zone}" is not a time zone: give a name of IANA's list, such as Europe/Vienna`)
      : new Error(`"${text}" is not a valid schedule (${reason}): give minute, hour, day, month and weekday`)
  }
}
