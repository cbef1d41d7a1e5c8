/**
 * Replies on their way to an address of their own (WS-Addressing ReplyTo, FaultTo; rule B4.11).
 * What it guards:
 *  (1) A reply that was taken over is a row of the store, and stays one until it is delivered or
 *      given up; who dies with it in hand loses its lease, and another takes it. It may come twice
 *      then, under the same MessageID.
 *  (2) Where it may go is asked again at each try: an allow-list that became shorter holds for what
 *      is waiting, too.
 *  (3) At most `hands` replies are under way at a time, each is tried at most `tries` times, ever
 *      more slowly.
 */
import type { JobRow, Store } from '../../service/store.ts'
import type { ReplyTargets } from '../../soap/headers/addressing.ts'
import { compileAllowList, type OutboundMessage, postSafely, type Resolve, Undeliverable } from './safe-post.ts'

export interface Outbox {
  readonly elsewhere: ReplyTargets
  /** Ends what is under way (it goes on after the next start), and takes up nothing more. */
  stop(): Promise<void>
}

export interface Posting {
  readonly store: Store
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly id: (prefix: string) => string
  /** Told of each try that failed. */
  readonly failed: (thrown: unknown) => void
  /** Default: the machine's own. */
  readonly resolve?: Resolve
}

/** No job of a contract can have this name. */
const job = '#reply'
const hands = 4
const tries = 12
/** Milliseconds: longer than any try lasts. */
const lease = 30_000
/** Milliseconds between looks while nothing is known to be there. */
const pause = 1000
/** Milliseconds before another try: a second, doubled each time, at most five minutes. */
const backOff = (tried: number): number => Math.min(300_000, 1000 * 2 ** (tried - 1))

/** @param prefixes addresses that replies may go to, and all below them */
export function startOutbox(posting: Posting, prefixes: readonly string[]): Outbox {
  const { store, clock } = posting
  const allowed = compileAllowList(prefixes)
  const stopping = new AbortController()
  const sleepers = new Set<() => void>()
  const wake = (): void => {
    for (const each of sleepers) each()
  }
  const rest = (): Promise<void> =>
    new Promise(resolve => {
      const timer = setTimeout(() => up(), pause).unref()
      const up = (): void => {
        clearTimeout(timer)
        sleepers.delete(up)
        resolve()
      }
      sleepers.add(up)
    })
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const busy = await deliverNext(posting, allowed, stopping.signal).catch(() => false) // the store is out of reach: later
      if (!busy && !stopping.signal.aborted) await rest()
    }
  }
  const running = Array.from({ length: hands }, run)
  return {
    elsewhere: {
      allowed,
      send: async (to, message) => {
        const letter: OutboundMessage = { to, ...message }
        await store.write(writer => writer.putJob(rowOf(letter, posting.id('reply'), clock())))
        wake()
      },
    },
    stop: async () => {
      stopping.abort(new Error('the service is stopping'))
      wake()
      await Promise.all(running)
    },
  }
}

const rowOf = (letter: OutboundMessage, id: string, now: number): JobRow => ({
  id,
  job,
  state: 'queued',
  progress: 0,
  owner: '',
  caller: '',
  input: JSON.stringify(letter),
  output: undefined,
  failure: undefined,
  tries: 0,
  version: 1,
  created: now,
  modified: now,
  leased: 0,
  due: now,
})

/** Whether there was one to deliver. */
async function deliverNext(posting: Posting, allowed: ReplyTargets['allowed'], stop: AbortSignal): Promise<boolean> {
  const { store, clock, failed, resolve } = posting
  const row = await store.write(writer => writer.lease([job], clock(), clock() + lease))
  if (!row) return false
  try {
    const letter = JSON.parse(row.input) as OutboundMessage // written by `rowOf`
    if (!allowed(letter.to)) throw new Undeliverable(`replies to ${letter.to} are not allowed any more`)
    await postSafely(letter, stop, resolve)
    await store.write(writer => writer.dropJob(row.id))
  } catch (thrown) {
    if (!stop.aborted) failed(thrown)
    const givenUp = !stop.aborted && (thrown instanceof Undeliverable || row.tries >= tries)
    const tried = stop.aborted ? row.tries - 1 : row.tries
    const due = stop.aborted ? clock() : clock() + backOff(row.tries)
    await store.write(async writer => {
      const now = await writer.job(row.id)
      if (now?.state !== 'running' || now.tries !== row.tries) return // another has it
      if (givenUp) await writer.dropJob(row.id)
      else await writer.putJob({ ...now, state: 'queued', tries: tried, due, leased: 0, modified: clock() })
    })
  }
  return true
}
