/**
 * Jobs (rules A3.1–A3.3): rows that workers lease, run and finish. What always holds, by number:
 *  (1) A job that was accepted with 202 is run even if its worker dies: the lease ends, and another
 *      worker takes it.
 *  (2) It is completed, failed or cancelled once; a worker that has lost the lease writes no more.
 *  (3) Its output is stored in the transaction that completes it.
 *  (4) A handler that has lost the lease changes nothing more: each of its writes checks the lease
 *      in the same transaction.
 *  (5) A job whose workers keep dying fails in the end; being stopped, or an unreachable store,
 *      does not count as a failure.
 *  (6) Callers take turns, and a caller with too many waiting jobs is refused.
 * A job runs at least once, and its writes may be repeated with it; a step (`job-step.ts`) happens
 * once. Its effects outside the store must tolerate repetition.
 */
import { fillDefaults } from '../contract/default-values.ts'
import type { Implementation, Progress, Values } from '../contract/implement.ts'
import { type Job, jobStates } from '../contract/job.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { Service } from '../contract/service.ts'
import type { Call } from './call.ts'
import { createExternalStores } from './external-resource.ts'
import { createProviderContext } from './handler-context.ts'
import type { ContextFacts, StoreReach, WatchChange, WriteLine } from './handler-facts.ts'
import { endByProblems, findLostReferences, type ItemChange, requireSoundOutput } from './item-changes.ts'
import { addJob, dueAtOnce, leaseDueJob, queuedJob } from './job-queue.ts'
import { createJobContext } from './job-step.ts'
import type { Outcome } from './outcome.ts'
import { type Refusal, Refused, refuse, Unimplemented } from './refusal.ts'
import { runStarting, type StartedWork } from './started-work.ts'
import { type JobRow, type Store, type StoreReader, type StoreWriter, Unavailable } from './store.ts'
import type { Turns } from './turns.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

const activeStates = new Set<JobRow['state']>(jobStates.slice(0, 2))
const leaseMs = 30_000
const renewEveryMs = 5_000

export async function startJob(
  change: ItemChange & { readonly call: Call },
  { job: { job: name, input: fields } }: OperationOf<'startJob'>,
): Promise<Outcome> {
  const { call, about, writer, handlers } = change
  const { caller, party } = call.admitted
  const input = fillDefaults(fields, call.input?.(undefined).value ?? {})
  endByProblems(change, name, await findLostReferences(change, fields, input))
  await handlers.starting?.(change.context(), input)
  const row = { ...queuedJob(about.id('j'), name, caller, input, about.now), party }
  const job = await addJob(writer, namesOf(about.app.contract), row, callerJobsMax, about.now)
  return { kind: 'job', job, created: true }
}

/** How many jobs of one caller may wait for a worker; scheduled jobs of handlers do not count. */
export const callerJobsMax = 100

const namesOf = ({ jobs }: Service): readonly string[] => jobs.map(each => each.job)

/** The job, for its owner; for any other caller it does not exist. */
async function requireOwnJob(call: Call, reader: StoreReader, job: Job): Promise<JobRow> {
  const row = call.id === undefined ? undefined : await reader.job(call.id)
  if (!row || row.job !== job.job || row.owner !== (call.admitted.caller.subject ?? ''))
    return refuse({ kind: 'not-found' })
  return row
}

export async function getJob(call: Call, reader: StoreReader, operation: OperationOf<'getJob'>): Promise<Outcome> {
  const job = await requireOwnJob(call, reader, operation.job)
  const precondition = call.expects?.(asSnapshot(job))
  if (precondition === 'unchanged') return { kind: 'unchanged', current: job }
  if (precondition === 'failed') refuse({ kind: 'stale', version: job.version })
  return { kind: 'job', job, created: false }
}

/** A job has a version, like an item, which is all that a precondition needs. */
const asSnapshot = (job: JobRow) => ({ ...job, value: {}, kept: {} })

export async function cancelJob(
  call: Call,
  about: ContextFacts,
  writer: StoreWriter,
  operation: OperationOf<'cancelJob'>,
): Promise<Outcome> {
  const job = await requireOwnJob(call, writer, operation.job)
  if (!activeStates.has(job.state)) return refuse({ kind: 'conflict', state: job.state, possible: [] })
  const cancelled = await writer.putJob({ ...job, state: 'cancelled', modified: about.now })
  return { kind: 'job', job: cancelled, created: false }
}

export async function getResult(
  call: Call,
  reader: StoreReader,
  operation: OperationOf<'getResult'>,
): Promise<Outcome> {
  const job = await requireOwnJob(call, reader, operation.job)
  if (job.state !== 'completed' || job.output === undefined) return refuse({ kind: 'not-found' })
  const precondition = call.expects?.(asSnapshot(job))
  if (precondition === 'unchanged') return { kind: 'unchanged', current: job }
  return { kind: 'result', job, output: unpackTyped(job.output) as Values } // packed by `run` below
}

/** The answer of a call whose answer came later; a failed call has one, too. */
export async function getAnswer(
  call: Call,
  reader: StoreReader,
  operation: OperationOf<'getAnswer'>,
): Promise<Outcome> {
  const job = await requireOwnJob(call, reader, operation.job)
  const { output } = job
  if (activeStates.has(job.state) || output === undefined) return refuse({ kind: 'not-found' })
  return { kind: 'answer', job, answer: output }
}

export interface JobContext {
  readonly app: Implementation
  readonly store: Store
  readonly clock: () => number
  readonly id: (prefix: string) => string
  /** Reports a failed try; `thrown` is for the log, never for a caller. */
  readonly failed: (job: JobRow, thrown: unknown) => void
  /** Reports what prevented a job or a schedule: an unreachable store, or a bug in a program. */
  readonly stalled?: (thrown: unknown) => void
  /** Writes the lines of handlers. Default: nothing is written. */
  readonly log?: WriteLine
  /** Default: changes are not watched. */
  readonly watch?: WatchChange
  /** If jobs share an event loop with callers: the turns of the party that started a job. */
  readonly turns?: Pick<Turns, 'beginPart'>
}

/**
 * Leases a due job and runs it to its end; false if no job is due. After `stop`, it runs again
 * later.
 * @param found is called before it runs, since other jobs may be due, too
 */
export async function runNextJob(context: JobContext, stop: AbortSignal, found?: () => void): Promise<boolean> {
  const { app } = context
  const job = await leaseDueJob(context, { jobs: namesOf(app.contract), ms: leaseMs })
  if (!job) return false
  found?.()
  const declared = app.contract.jobs.find(each => each.job === job.job)
  const run = app.handlers[job.job]?.run
  if (!declared || !run) return false
  if (job.tries > declared.tries + lostLeasesMax)
    await updateJob(context, job, { state: 'failed', failure: 'lost' }).catch(rethrowUnlessLost) // (5)
  else await attemptJob(context, declared, run, job, stop)
  return true
}

async function attemptJob(
  context: JobContext,
  declared: Job,
  run: NonNullable<Implementation['handlers'][string]['run']>,
  job: JobRow,
  stop: AbortSignal,
): Promise<void> {
  const { app, clock, id } = context
  const caller = unpackTyped(job.caller) as Caller // packed by `queuedJob`
  const lost = new AbortController()
  const signal = AbortSignal.any([stop, lost.signal, AbortSignal.timeout(declared.timeLimit * 1000)])
  const started: StartedWork = {}
  const about: ContextFacts = {
    app,
    caller,
    now: clock(),
    started,
    operation: job.job,
    faults: declared.faults,
    id,
    face: 'job',
    request: job.id,
    party: job.party,
    signal: () => signal,
    log: context.log,
    underWay: [],
  }
  const store = createExternalStores(app, context.store)?.(createProviderContext(about)) ?? context.store
  const renewing = setInterval(() => {
    updateJob(context, job, { leased: clock() + leaseMs }).catch(
      thrown => thrown instanceof LeaseLost && lost.abort(thrown),
    )
  }, renewEveryMs)
  try {
    const write: StoreReach['write'] = work =>
      store.write(
        async writer => {
          await requireLease(writer, job, signal)
          const end = context.watch?.({ request: job.id, operation: job.job, subject: caller.subject }, 'job')
          try {
            return await work(writer)
          } finally {
            end?.()
          }
        },
        { caller: job.party },
      )
    const { turns } = context
    const beginPart = turns && (() => turns.beginPart(job.party))
    const ctx = createJobContext(about, job.id, { read: work => store.read(work), write, beginPart })
    const input = unpackTyped(job.input) as Values
    const running = runStarting(started, job.job, () => run(ctx, input, progressOf(context, job, signal)))
    const output = requireSoundOutput(job.job, declared.output, await Promise.race([running, rejectOnAbort(signal)]))
    await updateJob(context, job, { state: 'completed', progress: 1, output: packTyped(output) })
  } catch (thrown) {
    await settleFailedTry(context, declared, job, thrown, stop).catch(rethrowUnlessLost)
  } finally {
    clearInterval(renewing)
    lost.abort(new LeaseLost(`${job.id} has ended`))
  }
}

/**
 * How many leases may end with their workers' death, besides the tries that the contract counts.
 */
const lostLeasesMax = 10

/** Queues a job again or fails it after a try that did not complete it (5). */
async function settleFailedTry(
  context: JobContext,
  declared: Job,
  job: JobRow,
  thrown: unknown,
  stop: AbortSignal,
): Promise<void> {
  if (thrown instanceof LeaseLost) return
  const { clock } = context
  if (stop.aborted || thrown instanceof Unavailable) {
    const due = thrown instanceof Unavailable ? clock() + thrown.after * 1000 : dueAtOnce
    return updateJob(context, job, { state: 'queued', tries: job.tries - 1, due, leased: 0 })
  }
  context.failed(job, thrown)
  const isFinal = thrown instanceof Refused || thrown instanceof Unimplemented
  const isRetried = !isFinal && job.tries < declared.tries
  const failure = failureOf(thrown)
  const due = clock() + retryDelayMs(job.tries)
  await updateJob(context, job, isRetried ? { state: 'queued', due, leased: 0 } : { state: 'failed', failure })
}

function failureOf(thrown: unknown): string {
  if (thrown instanceof Unimplemented) return 'unimplemented'
  if (!(thrown instanceof Refused)) return 'error'
  const refusal = thrown.refusal as Refusal // no other is thrown here
  return refusal.kind === 'declared' ? refusal.fault.fault : refusal.kind
}

/** Milliseconds before the next try: 1000, doubled each time, at most five minutes. */
const retryDelayMs = (tries: number): number => Math.min(300_000, 1000 * 2 ** (tries - 1))

/** The job was cancelled, or another worker has it: the current run must end and write nothing. */
export class LeaseLost extends Error {}
function rethrowUnlessLost(thrown: unknown): void {
  if (!(thrown instanceof LeaseLost)) throw thrown
}

/** Rejects with the signal's reason once it is aborted; never resolves. */
export const rejectOnAbort = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })

function progressOf(context: JobContext, job: JobRow, signal: AbortSignal): Progress {
  const report = async (part: number): Promise<void> => {
    signal.throwIfAborted()
    if (Number.isNaN(part)) throw new Error(`${job.job}: progress(NaN): give the part that is done, from 0 to 1`)
    const progress = Math.min(1, Math.max(0, part))
    await updateJob(context, job, { progress, leased: context.clock() + leaseMs })
  }
  return Object.assign(report, { signal })
}

/** (4) Throws `Lost` unless the job still belongs to this try. */
async function requireLease(reader: StoreReader, job: JobRow, signal?: AbortSignal): Promise<JobRow> {
  signal?.throwIfAborted()
  const row = await reader.job(job.id)
  if (row?.state !== 'running' || row.tries !== job.tries)
    throw new LeaseLost(`${job.id} no longer belongs to this worker`)
  return row
}

/** Writes a change of a job that is still this worker's (2): running, and on the same try. */
async function updateJob(context: JobContext, job: JobRow, change: Partial<JobRow>): Promise<void> {
  await context.store.write(async writer => {
    const row = await requireLease(writer, job)
    await writer.putJob({ ...row, ...change, modified: context.clock() })
  })
}

/** A failed job as an operator sees it; its cause is in the log, under the job's id. */
export interface FailedJob {
  readonly id: string
  readonly job: string
  readonly owner: string
  readonly failure: string
  readonly tries: number
  readonly at: string
}

/** The most recently failed jobs, up to a limit, and whether there are more. */
export async function listFailedJobs(
  store: Store,
  limit: number,
): Promise<{ readonly jobs: readonly FailedJob[]; readonly more: boolean }> {
  const rows = await store.read(reader => reader.jobs('failed', limit + 1))
  const jobs = rows.slice(0, limit).map(({ id, job, owner, failure = '', tries, modified }) => {
    return { id, job, owner, failure, tries, at: new Date(modified).toISOString() }
  })
  return { jobs, more: rows.length > limit }
}

/** Queues a failed job again, with all its tries; false if it is not a failed job. */
export function retryJob(store: Store, id: string, now: number): Promise<boolean> {
  return store.write(async writer => {
    const row = await writer.job(id)
    if (row?.state !== 'failed') return false
    await writer.putJob({
      ...row,
      state: 'queued',
      tries: 0,
      failure: undefined,
      due: dueAtOnce,
      leased: 0,
      modified: now,
    })
    return true
  })
}
