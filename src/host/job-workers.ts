/**
 * Runs jobs in this process: one at a time for each worker, looking again when one was started or
 * after a while; and starts those whose time has come.
 */
import { type JobContext, runNextJob } from '../service/job.ts'
import { parseSchedule, type Schedule, startDueJobs } from '../service/schedule.ts'

export interface JobWorkers {
  /** A job was started: look now. */
  wake(): void
  /**
   * Takes no more jobs, and gives those that run `limit` milliseconds to finish. What is left then
   * is given back: another worker, or the next start, runs it again.
   */
  stop(limit: number): Promise<void>
}

/** Milliseconds between looks while there is nothing to do. */
const pause = 1000

/** Throws for a schedule that is none, or of a job that the contract does not have. */
export function startJobWorkers(working: JobContext, schedules: readonly Schedule[] = [], count = 2): JobWorkers {
  const stopping = new AbortController()
  const ending = new AbortController()
  const { jobs } = working.app.contract
  const wake = (): void => {
    for (const each of loops) each.wake()
  }
  const timer = runSchedules(working, schedules, wake) // what throws here has begun nothing
  const loops = Array.from({ length: jobs.length > 0 ? count : 0 }, () => loop(working, stopping.signal, ending.signal))
  return {
    wake,
    stop: async limit => {
      clearInterval(timer)
      stopping.abort()
      wake()
      const late = setTimeout(() => ending.abort(new Error('the service is stopping')), limit)
      await Promise.all(loops.map(each => each.ended))
      clearTimeout(late)
    },
  }
}

/**
 * Looks once a second; a look costs one small transaction where an instant has passed since the
 * last, and nothing else.
 */
function runSchedules(
  working: JobContext,
  schedules: readonly Schedule[],
  wake: () => void,
): NodeJS.Timeout | undefined {
  const all = schedules.map(schedule => {
    if (!working.app.contract.jobs.some(each => each.job === schedule.job))
      throw new Error(`the schedule ${schedule.name} is of the job ${schedule.job}, which the contract does not have`)
    return { schedule, instants: parseSchedule(schedule.at), seen: Number.NaN }
  })
  if (all.length === 0) return undefined
  const look = async (): Promise<void> => {
    for (const one of all) {
      const instant = one.instants(working.clock())
      if (instant === undefined || instant === one.seen) continue
      const started = await startDueJobs(working.store, one.schedule, one.instants, working).catch(() => undefined)
      if (started !== undefined) one.seen = instant // else the store is out of reach: looked at again
      if (started) wake()
    }
  }
  // A store that is slow to answer is not asked again meanwhile.
  let looking: Promise<void> | undefined
  const lookAlone = (): void => {
    looking ??= look().finally(() => (looking = undefined))
  }
  lookAlone()
  return setInterval(lookAlone, pause).unref()
}

function loop(working: JobContext, stop: AbortSignal, end: AbortSignal): { wake(): void; ended: Promise<void> } {
  let wake = (): void => {}
  let kicked = false
  const rest = (): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(resolve, kicked ? 0 : pause)
      kicked = false
      timer.unref()
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async (): Promise<void> => {
    while (!stop.aborted) {
      const busy = await runNextJob(working, end).catch(() => false) // the store is out of reach: look again later
      if (!busy && !stop.aborted) await rest()
    }
  }
  return {
    wake: () => {
      kicked = true
      wake()
    },
    ended: run(),
  }
}
