/** Runs jobs in this process: one at a time for each worker, looking again when one was started or after a while. */
import { runNext, type Working } from '../service/job.ts'

export interface Workers {
  /** A job was started: look now. */
  kick(): void
  /** Ends what runs (it is run again after the next start) and looks no more. */
  stop(): Promise<void>
}

/** Milliseconds between looks while there is nothing to do. */
const pause = 1000

export function workers(working: Working, count = 2): Workers {
  const stopping = new AbortController()
  const loops = Array.from({ length: working.app.contract.jobs.length > 0 ? count : 0 }, () =>
    loop(working, stopping.signal),
  )
  return {
    kick: () => {
      for (const each of loops) each.kick()
    },
    stop: async () => {
      stopping.abort(new Error('the service is stopping'))
      for (const each of loops) each.kick()
      await Promise.all(loops.map(each => each.ended))
    },
  }
}

function loop(working: Working, stop: AbortSignal): { kick(): void; ended: Promise<void> } {
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
      const busy = await runNext(working, stop).catch(() => false) // the store is out of reach: look again later
      if (!busy && !stop.aborted) await rest()
    }
  }
  return {
    kick: () => {
      kicked = true
      wake()
    },
    ended: run(),
  }
}
