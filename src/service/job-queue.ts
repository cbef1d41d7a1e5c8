/** The queue of jobs: rows that wait for a worker, in turns by the party that started them. */

import type { Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { refuse } from './refusal.ts'
import type { JobRow, Store, StoreWriter } from './store.ts'
import { packTyped } from './typed-json.ts'

/** Seconds after which a place may be free. */
const retryAfter = 5

/**
 * Adds a job to the queue, at the next turn of its party: what one has queued delays another by one
 * job. Refuses where `waitingMax` of its own wait; those that are due after `until` do not count.
 */
export async function addJob(
  writer: StoreWriter,
  queue: readonly string[],
  row: JobRow,
  waitingMax = Number.POSITIVE_INFINITY,
  until?: number,
): Promise<JobRow> {
  const { turn, waiting } = await writer.nextTurn(queue, row.party, until)
  if (waiting >= waitingMax) refuse({ kind: 'too-many', after: retryAfter, limit: waitingMax })
  return writer.putJob({ ...row, turn })
}

/**
 * Leases a job whose lease has ended, or the queued one whose turn it is. Where none is due, this
 * only reads: idle workers hold up no writer. Another may take it after `ms` milliseconds; at most
 * `partyMax` of one party run at a time.
 */
export async function leaseDueJob(
  { store, clock }: { readonly store: Store; readonly clock: () => number },
  { jobs, ms, partyMax }: { readonly jobs: readonly string[]; readonly ms: number; readonly partyMax?: number },
): Promise<JobRow | undefined> {
  if (!(await store.read(reader => reader.hasDueJob(jobs, clock())))) return undefined
  return store.write(writer => writer.lease(jobs, clock(), clock() + ms, partyMax))
}

/**
 * When a job is due that waits for nothing: at any time of any clock, so that one which was ahead
 * as it was queued holds up nothing at others.
 */
export const dueAtOnce = 0

/** A job that has not begun. */
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
  version: 0,
  created: now,
  modified: now,
  leased: 0,
  due: dueAtOnce,
  party: caller.subject ?? '',
  turn: 0,
})
