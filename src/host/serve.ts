/**
 * Puts the parts together: a contract with its handlers, a store, the two faces, an address. Time,
 * randomness, keys and sockets come only from here and from `open-service.ts`.
 */
import type { Implementation } from '../contract/implement.ts'
import { requireSoundContract } from '../contract/review.ts'
import { createItemIdentifier } from './item-identifier.ts'
import { startJobWorkers } from './jobs/job-workers.ts'
import { sweepEveryMs } from './open-service.ts'
import { SlowChanges } from './operations/slow-changes.ts'
import { openAllOrNothing, requireSoundOptions, type ServeOptions, type Server } from './options.ts'
import { ensureSafe } from './safety.ts'
import { start } from './start.ts'
import { openStore } from './store/open-store.ts'
import { createWorld, reportJob, warnOfSlowChange } from './world.ts'

export { openStore, type ServeOptions, type Server }

/**
 * Serves until closed. Throws `ContractMistakes`, `Unsafe`, `StartFailure` or an error of the
 * store; each says what to change.
 */
export async function startService(app: Implementation, options: ServeOptions = {}): Promise<Server> {
  requireSoundContract(app)
  requireSoundOptions(app, options)
  ensureSafe(options)
  return openAllOrNothing(opened => start(app, options, opened))
}

/** Runs the jobs and the schedules of a service until closed, without serving. */
export async function startWorkers(app: Implementation, options: ServeOptions = {}): Promise<Pick<Server, 'close'>> {
  requireSoundContract(app)
  requireSoundOptions(app, options)
  return openAllOrNothing(opened => startWork(app, options, opened))
}

async function startWork(
  app: Implementation,
  options: ServeOptions,
  opened: AsyncDisposableStack,
): Promise<Pick<Server, 'close'>> {
  const store = opened.adopt(await openStore(app, options), each => each.close())
  const { clock, report, line, logger, failed, flush } = createWorld(options)
  const slow = opened.adopt(new SlowChanges(warnOfSlowChange(logger)), each => each.stop())
  const working = {
    app,
    store,
    clock,
    id: createItemIdentifier,
    failed: reportJob(report),
    stalled: failed,
    log: line,
    watch: slow.watch,
  }
  const all = startJobWorkers(working, options.schedules, options.work === false ? 0 : options.work)
  // The timers of workers do not keep a process alive; this timer does.
  const alive = setInterval(() => {}, sweepEveryMs)
  return {
    close: async (limit = 10_000) => {
      clearInterval(alive)
      await all.stop(limit)
      slow.stop()
      flush()
      await store.close()
    },
  }
}
