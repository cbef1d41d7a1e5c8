/**
 * Jobs (rules A3.1–A3.3): a row that a worker leases, runs and finishes. What always holds, by number:
 *  (1) A job that was answered 202 is run, also when the worker dies: its lease ends and another takes it.
 *  (2) It is completed, failed or cancelled once; who has lost the lease writes nothing more.
 *  (3) Its output is kept in the transaction that completes it.
 * It may be run more than once; its handler's effects must bear that.
 */
import type { Implementation, Progress, Row } from '../contract/implement.ts'
import { type Job, jobStates } from '../contract/job.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { Call } from './call.ts'
import { pack, unpack } from './codec.ts'
import { type About, context } from './context.ts'
import type { Outcome } from './outcome.ts'
import { Refused, refuse } from './refusal.ts'
import type { JobRow, Reader, Store, Writer } from './store.ts'

const active = new Set<JobRow['state']>(jobStates.slice(0, 2))
/** Milliseconds that a lease lasts; progress renews it. */
const lease = 30_000

export async function startJob(
  call: Call,
  about: About,
  writer: Writer,
  operation: OperationOf<'startJob'>,
): Promise<Outcome> {
  const { caller } = call.admitted
  const job: JobRow = {
    id: about.id('j'),
    job: operation.job.job,
    state: 'queued',
    progress: 0,
    owner: caller.subject ?? '',
    caller: pack(caller),
    input: pack(call.input?.(undefined).value ?? {}),
    output: undefined,
    failure: undefined,
    tries: 0,
    version: 1,
    created: about.now,
    modified: about.now,
    leased: 0,
    due: about.now,
  }
  await writer.putJob(job)
  return { kind: 'job', job, created: true }
}

/** The job of this name, for its owner; to anyone else it does not exist. */
async function mine(call: Call, reader: Reader, job: Job): Promise<JobRow> {
  const row = call.id === undefined ? undefined : await reader.job(call.id)
  if (!row || row.job !== job.job || row.owner !== (call.admitted.caller.subject ?? ''))
    return refuse({ kind: 'not-found' })
  return row
}

export async function getJob(call: Call, reader: Reader, operation: OperationOf<'getJob'>): Promise<Outcome> {
  const job = await mine(call, reader, operation.job)
  const seen = call.expects?.(asSnapshot(job))
  if (seen === 'unchanged') refuse({ kind: 'unchanged', snapshot: job })
  if (seen === 'failed') refuse({ kind: 'stale', version: job.version })
  return { kind: 'job', job, created: false }
}

/** A job has a version as an item has; that is all a precondition asks. */
const asSnapshot = (job: JobRow) => ({ ...job, value: {}, kept: {} })

export async function cancelJob(
  call: Call,
  about: About,
  writer: Writer,
  operation: OperationOf<'cancelJob'>,
): Promise<Outcome> {
  const job = await mine(call, writer, operation.job)
  if (!active.has(job.state)) return refuse({ kind: 'conflict', state: job.state, possible: [] })
  const cancelled = next(job, { state: 'cancelled', modified: about.now })
  await writer.putJob(cancelled)
  return { kind: 'job', job: cancelled, created: false }
}

export async function getResult(call: Call, reader: Reader, operation: OperationOf<'getResult'>): Promise<Outcome> {
  const job = await mine(call, reader, operation.job)
  if (job.state !== 'completed' || job.output === undefined) return refuse({ kind: 'not-found' })
  const seen = call.expects?.(asSnapshot(job))
  if (seen === 'unchanged') refuse({ kind: 'unchanged', snapshot: job })
  return { kind: 'result', job, output: unpack(job.output) as Row } // packed by `run` below
}

const next = (job: JobRow, change: Partial<JobRow>): JobRow => ({ ...job, ...change, version: job.version + 1 })

export interface Working {
  readonly app: Implementation
  readonly store: Store
  readonly clock: () => number
  readonly id: (prefix: string) => string
  /** A try that failed; `thrown` is for the log, never for a caller. */
  readonly failed: (job: JobRow, thrown: unknown) => void
}

/** Takes one job that is due and runs it to its end; false when there was none. `stop` ends it early: it is run again later. */
export async function runNext(working: Working, stop: AbortSignal): Promise<boolean> {
  const { app, store, clock } = working
  const names = app.contract.jobs.map(job => job.job)
  const job = await store.write(writer => writer.lease(names, clock(), clock() + lease))
  if (!job) return false
  const declared = app.contract.jobs.find(each => each.job === job.job)
  const run = app.handlers[job.job]?.run
  if (!declared || !run) return false
  await attempt(working, declared, run, job, stop)
  return true
}

async function attempt(
  working: Working,
  declared: Job,
  run: NonNullable<Implementation['handlers'][string]['run']>,
  job: JobRow,
  stop: AbortSignal,
): Promise<void> {
  const { app, store, clock, id } = working
  const caller = unpack(job.caller) as Caller // packed by `startJob`
  const about: About = { contract: app.contract, caller, now: clock(), operation: job.job, id }
  const signal = AbortSignal.any([stop, AbortSignal.timeout(declared.timeLimit * 1000)])
  try {
    const ctx = context(about, { read: work => store.read(work), write: work => store.write(work) })
    const done = run(ctx, unpack(job.input) as Row, progressOf(working, job, signal))
    const output = await Promise.race([done, aborted(signal)])
    await finish(working, job, { state: 'completed', progress: 1, output: pack(output) })
  } catch (thrown) {
    if (thrown instanceof Lost) return
    working.failed(job, thrown)
    const again = !(thrown instanceof Refused) && job.tries < declared.tries
    const failure = thrown instanceof Refused ? String(thrown.refusal.kind) : 'error'
    await finish(
      working,
      job,
      again ? { state: 'queued', due: clock() + backOff(job.tries), leased: 0 } : { state: 'failed', failure },
    )
  }
}

/** Milliseconds before the next try: one second, doubled each time, at most five minutes. */
const backOff = (tries: number): number => Math.min(300_000, 1000 * 2 ** (tries - 1))

/** The job was cancelled, or another worker has it: what is under way must end and write nothing. */
export class Lost extends Error {}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

function progressOf(working: Working, job: JobRow, signal: AbortSignal): Progress {
  const report = async (part: number): Promise<void> => {
    signal.throwIfAborted()
    const progress = Math.min(1, Math.max(0, part))
    await finish(working, job, { progress, leased: working.clock() + lease })
  }
  return Object.assign(report, { signal })
}

/** Writes a change of a job that is still ours (2): running, and on the same try. */
async function finish(working: Working, job: JobRow, change: Partial<JobRow>): Promise<void> {
  const ours = await working.store.write(async writer => {
    const row = await writer.job(job.id)
    if (row?.state !== 'running' || row.tries !== job.tries) return false
    await writer.putJob(next(row, { ...change, modified: working.clock() }))
    return true
  })
  if (!ours) throw new Lost(`${job.id} is no longer this worker's`)
}
