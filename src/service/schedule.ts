/**
 * Jobs that start by the clock, at most once per instant across all instances: the instant is
 * recorded in the transaction that starts the job. After a time without a running instance, only
 * the last missed instant is made up for. If a clock that was ahead is put back, the next instant
 * counts.
 */
import { messageOf } from '../base/attempt.ts'
import { fillDefaults } from '../contract/default-values.ts'
import type { Draft } from '../contract/field.ts'
import type { Implementation, Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { AnyService } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import { addJob, queuedJob } from './job-queue.ts'
import { clocksDifferMs, type Store } from './store.ts'

/** A job that starts on a schedule, once for each instant across all instances. */
export interface Schedule {
  /** Unique; the last instant is remembered under this name. */
  readonly name: string
  readonly job: string
  /** An interval in seconds, from 1970 in UTC; or five fields of cron: `30 3 * * 1-5`. */
  readonly at: number | string
  /**
   * The IANA time zone of the five fields, such as `Europe/Vienna`. When clocks go forward, skipped
   * times run once, at the end of the skip; when they go back, a repeated time counts once, except
   * in an hour of `*`. Default: UTC.
   */
  readonly zone?: string
  /**
   * The job's input, in the contract's types; `instant` in milliseconds since 1970. It is called
   * once at start, to find input that the contract does not allow.
   */
  readonly input: (instant: number) => Values
  /** The caller of the job, and the owner of its result. */
  readonly as: Caller
}

/** A schedule for one of the jobs of this contract, with input of the job's type. */
export type ScheduleOf<S extends AnyService> = {
  [J in S['jobs'][number] as J['job']]: Omit<Schedule, 'job' | 'input'> & {
    readonly job: J['job']
    readonly input: (instant: number) => Draft<J['input']>
  }
}[S['jobs'][number]['job']]

/**
 * The last instant up to `now`, in milliseconds since 1970; undefined for a time that never comes.
 */
export type Instants = (now: number) => number | undefined

const space = 'schedule'
const latestMs = 8.64e15

interface ScheduleContext {
  readonly app: Implementation
  readonly clock: () => number
  readonly id: (prefix: string) => string
}

/** With its defaults. Throws for an unknown job, and for input that the job does not accept. */
export function readScheduledInput({ contract: { jobs } }: Implementation, of: Schedule, instant: number): Values {
  const declared = jobs.find(each => each.job === of.job)
  if (!declared)
    throw new Error(
      `the schedule ${of.name} names the unknown job ${of.job}: use ${jobs.map(each => each.job).join(', ')}`,
    )
  const input = fillDefaults(declared.input, inputAt(of, instant))
  const [first] = checkValue(declared.input, input)
  if (first)
    throw new Error(`the schedule ${of.name}: invalid input of ${of.job}: ${first.path.join('.')} ${first.detail}`)
  return input
}

function inputAt({ name, input }: Schedule, instant: number): Values {
  try {
    return input(instant)
  } catch (thrown) {
    throw new Error(`the schedule ${name}: its input failed: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/**
 * Starts the job once its instant has come, unless another instance has; true if it did. The very
 * first call starts nothing.
 */
export function startDueJobs(
  store: Store,
  schedule: Schedule,
  instants: Instants,
  { app, clock, id }: ScheduleContext,
): Promise<boolean> {
  const { name, job, as } = schedule
  return store.write(async writer => {
    const now = clock()
    const instant = instants(now)
    if (instant === undefined) return false
    const last = await writer.recall(space, name)
    const isAhead = last !== undefined && Number(last.value) > now + clocksDifferMs
    if (last && Number(last.value) >= instant && !isAhead) return false
    await writer.forget(space, name)
    await writer.remember(space, name, { value: String(instant), expires: latestMs }, now)
    if (!last || isAhead) return false
    await addJob(writer, [job], queuedJob(id('j'), job, as, readScheduledInput(app, schedule, instant), now))
    return true
  })
}
