/**
 * A peer must keep a pace while we wait for it: `pace` octets (or all there is) in `stall`
 * milliseconds, measured over `stall` if it sends content and over `unread` if it reads a response.
 * The pace is checked periodically, so nothing is counted in between.
 */
import type { Socket } from 'node:net'
import type { ServerLimits } from './limits.ts'
import type { IdleCheck, ServerContext } from './server-context.ts'

export class Pace {
  #moved: number
  #since: number

  constructor(moved: number, now: number) {
    this.#moved = moved
    this.#since = now
  }

  /** @param windowMs the time over which the pace is measured */
  isTooSlow(moved: number, now: number, windowMs: number, { pace, stall }: ServerLimits): boolean {
    if (moved - this.#moved < (pace * windowMs) / stall) return now - this.#since > windowMs
    this.#moved = moved
    this.#since = now
    return false
  }
}

/** Checks everything in `waiting`: the pace, and the time by which all octets must have moved. */
export function createWaitingWatch({ waiting, limits }: ServerContext): (now: number) => void {
  let paces = new Map<IdleCheck, Pace>()
  return now => {
    const next: typeof paces = new Map()
    for (const check of waiting) {
      const { moved } = check
      if (moved === undefined) continue
      const pace = paces.get(check) ?? new Pace(moved, now)
      if (now > check.deadline || pace.isTooSlow(moved, now, check.windowMs, limits)) check.stalled()
      else next.set(check, pace)
    }
    paces = next
  }
}

/** Checks periodically, for exchanges of another server's listener. Call the result to stop. */
export function startWaitingWatch(context: ServerContext): () => void {
  const watch = createWaitingWatch(context)
  const everyMs = Math.min(1000, context.limits.stall)
  // Octets that arrived while the loop was busy are read before their sender is judged.
  const timer = setInterval(() => void setImmediate(() => watch(performance.now())), everyMs).unref()
  return () => clearInterval(timer)
}

/** The counters of a socket's system handle, which the types of Node omit. */
interface CountingHandle {
  /** All octets written to the handle. */
  readonly bytesWritten?: unknown
  /** Those of them that the system has not accepted. */
  readonly writeQueueSize?: unknown
  /** Under TLS: the handle of the underlying connection. */
  readonly _parent?: CountingHandle | null
}

/**
 * Octets that the system has accepted because the peer made room for them. A socket itself counts a
 * buffer only when all of it has been sent, which is too late for a large one.
 */
export function countAcceptedOctets(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: CountingHandle | null }
  const { bytesWritten, writeQueueSize } = handle?._parent ?? handle ?? {}
  if (typeof bytesWritten === 'number' && typeof writeQueueSize === 'number') return bytesWritten - writeQueueSize
  return socket.bytesWritten - socket.writableLength
}
