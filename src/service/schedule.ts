/**
 * Jobs that start by the clock, at most once for each instant over all instances: the instant is
 * recorded in the transaction that starts the job. After a time without a running instance, only
 * the last missed instant is made up for.
 */
import type { Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { addJob, queuedJob } from './job-queue.ts'
import type { Store } from './store.ts'

export interface Schedule {
  /** Unique; the last instant is remembered under this name. */
  readonly name: string
  readonly job: string
  /** An interval in seconds, from 1970 in UTC; or five fields of cron, in UTC: `30 3 * * 1-5`. */
  readonly at: number | string
  /** The job's input, in the contract's types; `instant` in milliseconds since 1970. */
  readonly input: (instant: number) => Values
  /** The caller of the job, and the owner of its result. */
  readonly as: Caller
}

/**
 * The last instant up to `now`, in milliseconds since 1970; undefined for a time that never comes.
 */
export type Instants = (now: number) => number | undefined

/** Throws for an invalid schedule; the message says what to write. */
export function parseSchedule(at: Schedule['at']): Instants {
  if (typeof at === 'string') return parseCron(at)
  if (!(Number.isInteger(at) && at > 0))
    throw new Error(`invalid interval of ${at} seconds: use a whole number greater than 0`)
  return now => Math.floor(now / (at * 1000)) * at * 1000
}

const ranges = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 7],
] as const

/** crontab(5): if day and weekday are both restricted, either suffices. */
function parseCron(text: string): Instants {
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5)
    throw new Error(`"${text}" is not a valid schedule: give minute, hour, day, month and weekday`)
  const [minutes, hours, days, months, weekdays] = ranges.map(([name, min, max], i) =>
    parseNumbers(fields[i] ?? '', name, min, max),
  ) as [number[], number[], number[], number[], number[]] // one for each range
  const anyDay = fields[2]?.startsWith('*')
  const anyWeekday = fields[4]?.startsWith('*')
  const onDay = (date: Date): boolean => {
    const day = days.includes(date.getUTCDate())
    const weekday = weekdays.some(each => each % 7 === date.getUTCDay())
    return months.includes(date.getUTCMonth() + 1) && (anyDay || anyWeekday ? day && weekday : day || weekday)
  }
  return now => {
    const today = Math.floor(now / dayMs) * dayMs
    for (let start = today; start > today - searchBackMs; start -= dayMs) {
      if (!onDay(new Date(start))) continue
      const times = hours.flatMap(hour => minutes.map(minute => start + (hour * 60 + minute) * 60_000))
      const last = times.findLast(each => each <= now)
      if (last !== undefined) return last
    }
    return undefined
  }
}
const dayMs = 86_400_000
/** 29 February is eight years apart around a century that is not a leap year (1896, 1904). */
const searchBackMs = 8 * 366 * dayMs

function parseNumbers(field: string, name: string, min: number, max: number): number[] {
  const refuseField = (): never => {
    throw new Error(`"${field}" is not a valid ${name}: use ${min} to ${max}, *, a list, a range or a step`)
  }
  const found = field.split(',').flatMap(part => {
    const [, range = '', step = '1'] = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/.exec(part) ?? refuseField()
    const [low = min, high = part.includes('/') ? max : low] = range === '*' ? [min, max] : range.split('-').map(Number)
    if (low < min || high > max || low > high || Number(step) === 0) refuseField()
    return Array.from({ length: Math.floor((high - low) / Number(step)) + 1 }, (_, i) => low + i * Number(step))
  })
  return [...new Set(found)].sort((a, b) => a - b)
}

const space = 'schedule'
const latestMs = 8.64e15

/**
 * Starts the job once its instant has come, unless another instance has; true if it did. The very
 * first call starts nothing.
 */
export function startDueJobs(
  store: Store,
  { name, job, input, as }: Schedule,
  instants: Instants,
  { clock, id }: { readonly clock: () => number; readonly id: (prefix: string) => string },
): Promise<boolean> {
  return store.write(async writer => {
    const now = clock()
    const instant = instants(now)
    if (instant === undefined) return false
    const last = await writer.recall(space, name)
    if (last && Number(last.value) >= instant) return false
    await writer.forget(space, name)
    await writer.remember(space, name, { value: String(instant), expires: latestMs }, now)
    if (last) await addJob(writer, [job], queuedJob(id('j'), job, as, input(instant), now))
    return last !== undefined
  })
}
