/**
 * Runs jobs in this process, one at a time for each worker. An idle worker looks for a job when one
 * is started, or after a while. Scheduled jobs are started here, too.
 */
import { type JobContext, runNextJob } from '../../service/job.ts'
import { type Schedule, startDueJobs } from '../../service/schedule.ts'
import { Unavailable } from '../../service/store.ts'
import { IdleLoops } from './idle-loops.ts'
import { openSchedule } from './schedule-instants.ts'

export interface JobWorkers {
  /** To be called when a job has been started. */
  wake(): void
  /**
   * Begins no more jobs, and waits `limit` milliseconds for current ones. Unfinished jobs are
   * queued again, for another worker or the next start.
   */
  stop(limit: number): Promise<void>
}

const lookEveryMs = 1000

/** Throws for an invalid schedule, or one of an unknown job. */
export function startJobWorkers(context: JobContext, schedules: readonly Schedule[] = [], count = 2): JobWorkers {
  const stopping = new AbortController()
  const ending = new AbortController()
  const { jobs } = context.app.contract
  const idle = new IdleLoops(lookEveryMs)
  const timer = runSchedules(context, schedules, idle.wakeOne) // it may throw, before anything runs
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const isBusy = await runNextJob(context, ending.signal, idle.wakeOne).catch(context.stalled) // retry later
      if (!isBusy && !stopping.signal.aborted) await idle.sleep()
    }
  }
  const running = Array.from({ length: jobs.length > 0 ? count : 0 }, run)
  return {
    wake: idle.wakeOne,
    stop: async limit => {
      clearInterval(timer)
      stopping.abort()
      idle.wakeAll()
      const late = setTimeout(() => ending.abort(new Error('the service is stopping')), limit)
      await Promise.all(running)
      clearTimeout(late)
    },
  }
}

/** Looks once a second; if an instant has passed that costs one small transaction, else nothing. */
function runSchedules(
  context: JobContext,
  schedules: readonly Schedule[],
  wake: () => void,
): NodeJS.Timeout | undefined {
  const names = schedules.map(each => each.name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`two schedules are called ${twice}: give each a name of its own`)
  const all = schedules.map(schedule => ({
    schedule,
    instants: openSchedule(context.app, schedule, context.clock()),
    seen: Number.NaN,
  }))
  if (all.length === 0) return undefined
  const look = async (): Promise<void> => {
    for (const one of all) {
      const instant = one.instants(context.clock())
      if (instant === undefined || instant === one.seen) continue
      const started = await startDueJobs(context.store, one.schedule, one.instants, context).catch(thrown => {
        context.stalled?.(thrown)
        return thrown instanceof Unavailable ? undefined : false
      })
      // Undefined: the store is out of reach, so it retries later. A mistake waits for the next
      // instant.
      if (started !== undefined) one.seen = instant
      if (started) wake()
    }
  }
  // One look at a time, however slow the store.
  let looking: Promise<void> | undefined
  const lookAlone = (): void => {
    looking ??= look().finally(() => (looking = undefined))
  }
  lookAlone()
  return setInterval(lookAlone, lookEveryMs).unref()
}
