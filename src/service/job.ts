/**
 * Jobs (rules A3.1–A3.3): a row that a worker leases, runs and finishes. What always holds, by
 * number:
 *  (1) A job that was answered 202 is run, also when the worker dies: its lease ends and another
 *      takes it.
 *  (2) It is completed, failed or cancelled once; who has lost the lease writes nothing more.
 *  (3) Its output is kept in the transaction that completes it.
 *  (4) Whoever has lost the lease changes nothing more: each write of a handler asks for it in the
 *      same transaction.
 *  (5) A job whose workers die of it has failed in the end; that it was stopped, or the store out
 *      of reach, is no failure of it.
 * It may be run more than once; what its handler does beside the store must bear that.
 */
import type { Implementation, Progress, Values } from '../contract/implement.ts'
import { type Job, jobStates } from '../contract/job.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { Call } from './call.ts'
import { type ContextFacts, createContext, type StoreReach } from './handler-context.ts'
import type { Outcome } from './outcome.ts'
import { Refused, refuse } from './refusal.ts'
import { type JobRow, type Store, type StoreReader, type StoreWriter, Unavailable } from './store.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

const active = new Set<JobRow['state']>(jobStates.slice(0, 2))
/** Milliseconds that a lease lasts, and after which the worker renews it. */
const lease = 30_000
const renewal = 5_000

export async function startJob(
  call: Call,
  about: ContextFacts,
  writer: StoreWriter,
  operation: OperationOf<'startJob'>,
): Promise<Outcome> {
  const { caller } = call.admitted
  const input = call.input?.(undefined).value ?? {}
  const job = queuedJob(about.id('j'), operation.job.job, caller, input, about.now)
  await writer.putJob(job)
  return { kind: 'job', job, created: true }
}

/** A job that nobody has begun. */
export const queuedJob = (id: string, job: string, caller: Caller, input: Values, now: number): JobRow => ({
  id,
  job,
  state: 'queued',
  progress: 0,
  owner: caller.subject ?? '',
  caller: packTyped(caller),
  input: packTyped(input),
  output: undefined,
  failure: undefined,
  tries: 0,
  version: 1,
  created: now,
  modified: now,
  leased: 0,
  due: now,
})

/** The job of this name, for its owner; to anyone else it does not exist. */
async function requireOwnJob(call: Call, reader: StoreReader, job: Job): Promise<JobRow> {
  const row = call.id === undefined ? undefined : await reader.job(call.id)
  if (!row || row.job !== job.job || row.owner !== (call.admitted.caller.subject ?? ''))
    return refuse({ kind: 'not-found' })
  return row
}

export async function getJob(call: Call, reader: StoreReader, operation: OperationOf<'getJob'>): Promise<Outcome> {
  const job = await requireOwnJob(call, reader, operation.job)
  const seen = call.expects?.(asSnapshot(job))
  if (seen === 'unchanged') return { kind: 'unchanged', current: job }
  if (seen === 'failed') refuse({ kind: 'stale', version: job.version })
  return { kind: 'job', job, created: false }
}

/** A job has a version as an item has; that is all a precondition asks. */
const asSnapshot = (job: JobRow) => ({ ...job, value: {}, kept: {} })

export async function cancelJob(
  call: Call,
  about: ContextFacts,
  writer: StoreWriter,
  operation: OperationOf<'cancelJob'>,
): Promise<Outcome> {
  const job = await requireOwnJob(call, writer, operation.job)
  if (!active.has(job.state)) return refuse({ kind: 'conflict', state: job.state, possible: [] })
  const cancelled = nextVersion(job, { state: 'cancelled', modified: about.now })
  await writer.putJob(cancelled)
  return { kind: 'job', job: cancelled, created: false }
}

export async function getResult(
  call: Call,
  reader: StoreReader,
  operation: OperationOf<'getResult'>,
): Promise<Outcome> {
  const job = await requireOwnJob(call, reader, operation.job)
  if (job.state !== 'completed' || job.output === undefined) return refuse({ kind: 'not-found' })
  const seen = call.expects?.(asSnapshot(job))
  if (seen === 'unchanged') return { kind: 'unchanged', current: job }
  return { kind: 'result', job, output: unpackTyped(job.output) as Values } // packed by `run` below
}

const nextVersion = (job: JobRow, change: Partial<JobRow>): JobRow => ({ ...job, ...change, version: job.version + 1 })

export interface JobContext {
  readonly app: Implementation
  readonly store: Store
  readonly clock: () => number
  readonly id: (prefix: string) => string
  /** A try that failed; `thrown` is for the log, never for a caller. */
  readonly failed: (job: JobRow, thrown: unknown) => void
}

/**
 * Takes one job that is due and runs it to its end; false when there was none. `stop` ends it
 * early: it is run again later.
 */
export async function runNextJob(working: JobContext, stop: AbortSignal): Promise<boolean> {
  const { app, store, clock } = working
  const names = app.contract.jobs.map(job => job.job)
  const job = await store.write(writer => writer.lease(names, clock(), clock() + lease))
  if (!job) return false
  const declared = app.contract.jobs.find(each => each.job === job.job)
  const run = app.handlers[job.job]?.run
  if (!declared || !run) return false
  if (job.tries > declared.tries + mostDeaths)
    await finish(working, job, { state: 'failed', failure: 'lost' }).catch(unlessLost) // (5)
  else await attemptJob(working, declared, run, job, stop)
  return true
}

async function attemptJob(
  working: JobContext,
  declared: Job,
  run: NonNullable<Implementation['handlers'][string]['run']>,
  job: JobRow,
  stop: AbortSignal,
): Promise<void> {
  const { app, store, clock, id } = working
  const caller = unpackTyped(job.caller) as Caller // packed by `queuedJob`
  const about: ContextFacts = { contract: app.contract, caller, now: clock(), operation: job.job, id }
  const lost = new AbortController()
  const signal = AbortSignal.any([stop, lost.signal, AbortSignal.timeout(declared.timeLimit * 1000)])
  const renewing = setInterval(() => {
    finish(working, job, { leased: clock() + lease }).catch(thrown => thrown instanceof Lost && lost.abort(thrown))
  }, renewal)
  try {
    const write: StoreReach['write'] = work =>
      store.write(async writer => {
        await requireLease(writer, job, signal)
        return work(writer)
      })
    const ctx = createContext(about, { read: work => store.read(work), write })
    const done = run(ctx, unpackTyped(job.input) as Values, progressOf(working, job, signal))
    const output = await Promise.race([done, rejectOnAbort(signal)])
    await finish(working, job, { state: 'completed', progress: 1, output: packTyped(output) })
  } catch (thrown) {
    await runHandler(working, declared, job, thrown, stop).catch(unlessLost)
  } finally {
    clearInterval(renewing)
    lost.abort(new Lost(`${job.id} is over`))
  }
}

/** Leases that may end because their worker did, beside the tries that the contract counts. */
const mostDeaths = 10

/** What becomes of a job whose try came to nothing (5). */
async function runHandler(
  working: JobContext,
  declared: Job,
  job: JobRow,
  thrown: unknown,
  stop: AbortSignal,
): Promise<void> {
  if (thrown instanceof Lost) return
  const { clock } = working
  if (stop.aborted || thrown instanceof Unavailable) {
    const due = clock() + (thrown instanceof Unavailable ? thrown.after * 1000 : 0)
    return finish(working, job, { state: 'queued', tries: job.tries - 1, due, leased: 0 })
  }
  working.failed(job, thrown)
  const again = !(thrown instanceof Refused) && job.tries < declared.tries
  const failure = thrown instanceof Refused ? String(thrown.refusal.kind) : 'error'
  const due = clock() + backOff(job.tries)
  await finish(working, job, again ? { state: 'queued', due, leased: 0 } : { state: 'failed', failure })
}

/** Milliseconds before the next try: one second, doubled each time, at most five minutes. */
const backOff = (tries: number): number => Math.min(300_000, 1000 * 2 ** (tries - 1))

/**
 * The job was cancelled, or another worker has it: what is under way must end and write nothing.
 */
export class Lost extends Error {}
function unlessLost(thrown: unknown): void {
  if (!(thrown instanceof Lost)) throw thrown
}

/** Rejects once it is. */
export const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const over = (): void => reject(signal.reason)
    if (signal.aborted) over()
    else signal.addEventListener('abort', over, { once: true })
  })

function progressOf(working: JobContext, job: JobRow, signal: AbortSignal): Progress {
  const report = async (part: number): Promise<void> => {
    signal.throwIfAborted()
    const progress = Math.min(1, Math.max(0, part))
    await finish(working, job, { progress, leased: working.clock() + lease })
  }
  return Object.assign(report, { signal })
}

/** (4) */
async function requireLease(reader: StoreReader, job: JobRow, signal?: AbortSignal): Promise<JobRow> {
  signal?.throwIfAborted()
  const row = await reader.job(job.id)
  if (row?.state !== 'running' || row.tries !== job.tries) throw new Lost(`${job.id} is no longer this worker's`)
  return row
}

/** Writes a change of a job that is still ours (2): running, and on the same try. */
async function finish(working: JobContext, job: JobRow, change: Partial<JobRow>): Promise<void> {
  await working.store.write(async writer => {
    const row = await requireLease(writer, job)
    await writer.putJob(nextVersion(row, { ...change, modified: working.clock() }))
  })
}

/**
 * What an operator is shown of a job that has failed; its cause is in the log, under the job's id.
 */
export interface FailedJob {
  readonly id: string
  readonly job: string
  readonly owner: string
  readonly failure: string
  readonly tries: number
  readonly at: string
}

/** Those that failed last, a thousand at most. */
export async function failedJobs(store: Store): Promise<readonly FailedJob[]> {
  const rows = await store.read(reader => reader.jobs('failed', 1000))
  return rows.map(({ id, job, owner, failure = '', tries, modified }) => {
    return { id, job, owner, failure, tries, at: new Date(modified).toISOString() }
  })
}

/** Puts a failed job back, with all its tries; false when it is none. */
export function retryJob(store: Store, id: string, now: number): Promise<boolean> {
  return store.write(async writer => {
    const row = await writer.job(id)
    if (row?.state !== 'failed') return false
    await writer.putJob(
      nextVersion(row, { state: 'queued', tries: 0, failure: undefined, due: now, leased: 0, modified: now }),
    )
    return true
  })
}
