/**
 * Replies to other addresses (WS-Addressing ReplyTo, FaultTo; rule B4.11). What it guards:
 *  (1) An accepted reply is a row of the store until it is delivered or given up; if a process dies
 *      while delivering it, another takes over the lease. The reply may then arrive twice, with the
 *      same MessageID.
 *  (2) Each attempt checks its address again: a shortened allow-list applies to waiting replies,
 *      too.
 *  (3) At most `deliveriesMax` replies are delivered at a time, at most `hostDeliveriesMax` of them
 *      to one host, and hosts take turns; each reply is tried at most `triesMax` times, with
 *      growing delays.
 *  (4) At most `hostRepliesMax` replies wait for one host: a message that would need one more is
 *      refused before it is performed.
 */
import { addJob, dueAtOnce, leaseDueJob } from '../../service/job-queue.ts'
import { refuse } from '../../service/refusal.ts'
import type { JobRow, Store } from '../../service/store.ts'
import type { ReplyTargets } from '../../soap/headers/addressing.ts'
import { IdleLoops } from '../jobs/idle-loops.ts'
import { compileAllowList, type OutboundMessage, postSafely, type Resolve, Undeliverable } from './safe-post.ts'

export interface Outbox {
  readonly elsewhere: ReplyTargets
  /** Aborts the current deliveries, which continue after the next start, and begins no others. */
  stop(): Promise<void>
}

export interface OutboxOptions {
  readonly store: Store
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly id: (prefix: string) => string
  /** Reports each failed attempt. */
  readonly failed: (thrown: unknown) => void
  /** Default: DNS as the machine resolves it. */
  readonly resolve?: Resolve
}

/** No job of a contract can have this name. */
const job = '#reply'
const deliveriesMax = 8
const hostDeliveriesMax = 2
const hostRepliesMax = 100
/** Seconds after which there may be room for another reply. */
const roomRetrySeconds = 10
const triesMax = 12
/** Longer than any attempt. */
const leaseMs = 30_000
const lookEveryMs = 1000
/** Milliseconds before the next attempt: 1000, doubled each time, at most five minutes. */
const redeliveryDelayMs = (tried: number): number => Math.min(300_000, 1000 * 2 ** (tried - 1))

/** @param prefixes allowed addresses; a reply may go to one of them or below it */
export function startOutbox(posting: OutboxOptions, prefixes: readonly string[]): Outbox {
  const { store, clock } = posting
  const allowed = compileAllowList(prefixes)
  const stopping = new AbortController()
  const idle = new IdleLoops(lookEveryMs)
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const busy = await deliverNextReply(posting, allowed, stopping.signal, idle.wakeOne).catch(() => false) // the store is out of reach: retry later
      if (!busy && !stopping.signal.aborted) await idle.sleep()
    }
  }
  const running = Array.from({ length: deliveriesMax }, run)
  return {
    elsewhere: {
      allowed,
      requireRoom: async to => {
        const { waiting } = await store.read(reader => reader.nextTurn([job], hostOf(to)))
        if (waiting >= hostRepliesMax) refuse({ kind: 'too-many', after: roomRetrySeconds, limit: hostRepliesMax })
      },
      send: async (to, content) => {
        const message: OutboundMessage = { to, ...content }
        await store.write(writer => addJob(writer, [job], rowOf(message, posting.id('reply'), clock())))
        idle.wakeOne()
      },
    },
    stop: async () => {
      stopping.abort(new Error('the service is stopping'))
      idle.wakeAll()
      await Promise.all(running)
    },
  }
}

/**
 * The party whose turn it is: a host that does not respond delays replies to others by only one
 * delivery.
 */
const hostOf = (address: string): string => URL.parse(address)?.host ?? address

const rowOf = (message: OutboundMessage, id: string, now: number): JobRow => ({
  id,
  job,
  state: 'queued',
  progress: 0,
  owner: '',
  caller: '',
  input: JSON.stringify(message),
  output: undefined,
  failure: undefined,
  tries: 0,
  version: 0,
  created: now,
  modified: now,
  leased: 0,
  due: dueAtOnce,
  party: hostOf(message.to),
  turn: 0,
})

/**
 * Delivers the next due reply; false if no reply is due.
 * @param found called before the delivery, since others may be due, too
 */
async function deliverNextReply(
  posting: OutboxOptions,
  allowed: ReplyTargets['allowed'],
  stop: AbortSignal,
  found: () => void,
): Promise<boolean> {
  const { store, clock, failed, resolve } = posting
  const row = await leaseDueJob(posting, { jobs: [job], ms: leaseMs, partyMax: hostDeliveriesMax })
  if (!row) return false
  found()
  try {
    const message = JSON.parse(row.input) as OutboundMessage // written by `rowOf`
    if (!allowed(message.to)) throw new Undeliverable(`replies to ${message.to} are no longer allowed`)
    await postSafely(message, stop, resolve)
    await store.write(writer => writer.dropJob(row.id))
  } catch (thrown) {
    if (!stop.aborted) failed(new Error(`a reply to ${row.party} was not delivered`, { cause: thrown }))
    const isGivenUp = !stop.aborted && (thrown instanceof Undeliverable || row.tries >= triesMax)
    const tried = stop.aborted ? row.tries - 1 : row.tries
    const due = stop.aborted ? dueAtOnce : clock() + redeliveryDelayMs(row.tries)
    await store.write(async writer => {
      const now = await writer.job(row.id)
      if (now?.state !== 'running' || now.tries !== row.tries) return // another process has taken it
      if (isGivenUp) await writer.dropJob(row.id)
      else await writer.putJob({ ...now, state: 'queued', tries: tried, due, leased: 0, modified: clock() })
    })
  }
  return true
}
