/** The queue of jobs: rows that wait for a worker, in turns by the party that started them. */

import type { Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { refuse } from './refusal.ts'
import type { JobRow, Store, StoreWriter } from './store.ts'
import { packTyped } from './typed-json.ts'

/** Seconds after which there may be room again. */
const retryAfter = 5

/**
 * Adds a job to the queue, at the next turn of its party: what one party has queued delays another
 * by one job. Refuses if `waitingMax` of the party's jobs wait; jobs due after `until` do not
 * count.
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
 * Leases a job whose lease has ended, or the queued one whose turn it is. If none is due, this only
 * reads: idle workers hold up no writer. Another worker may take it after `ms` milliseconds; at
 * most `partyMax` of one party run at a time.
 */
export async function leaseDueJob(
  { store, clock }: { readonly store: Store; readonly clock: () => number },
  { jobs, ms, partyMax }: { readonly jobs: readonly string[]; readonly ms: number; readonly partyMax?: number },
): Promise<JobRow | undefined> {
  if (!(await store.read(reader => reader.hasDueJob(jobs, clock())))) return undefined
  return store.write(writer => writer.lease(jobs, clock(), clock() + ms, partyMax))
}

/**
 * The due time of a job that waits for nothing: due at any time of any clock, so that a clock that
 * was ahead when it was queued does not delay it elsewhere.
 */
export const dueAtOnce = 0

/** The row of a job that has not begun. */
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
