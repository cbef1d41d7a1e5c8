/**
 * Whether the service takes one more request now (rows 3 and 5). What it guards:
 *  (1) A draining or overloaded service says so in microseconds, so that those it let in are
 *      answered in time.
 *  (2) One address has so many requests a second, whoever its users say they are, for all faces and
 *      pages together.
 */
import { createMemoryLimiter } from '../service/limiter.ts'
import { type FrontRefusal, refuseAtFront } from './refusal.ts'

/** How much is under way, and how much may be; `host/operations/overload.ts` keeps it. */
export interface LoadGauge {
  /** Requests that have come and are not answered. */
  inFlight: number
  /** With more than this the next one is turned away. */
  inFlightMax: number
  /** Requests that were turned away. */
  shed: number
  isDraining: boolean
}

export interface Gate {
  readonly load: LoadGauge
  /** Row 3. */
  requireInService(): void
  /** Row 5. */
  requireUnflooded(from: string, now: number): void
}

/** Seconds after which a request that was turned away may come again. */
const retrySeconds = 5

/** @param floodLimit requests of one address in a second; 0: not limited */
export function createGate(load: LoadGauge, floodLimit: number): Gate {
  const limiter = createMemoryLimiter()
  const rate = { count: floodLimit, seconds: 1 }
  const tooMany: FrontRefusal = { kind: 'too-many', after: 1, limit: floodLimit, window: 1 }
  return {
    load,
    requireInService: () => {
      if (!load.isDraining && load.inFlight <= load.inFlightMax) return
      load.shed++
      refuseAtFront({ kind: 'unavailable', after: retrySeconds })
    },
    requireUnflooded: (from, now) => {
      if (floodLimit === 0) return
      const taken = limiter.take(from, rate, now)
      if (!(taken instanceof Promise) && taken.exceeded) refuseAtFront(tooMany)
    },
  }
}

/** For a face on its own: it takes whatever comes. */
export const openGate = (): Gate => ({
  load: { inFlight: 0, inFlightMax: Infinity, shed: 0, isDraining: false },
  requireInService: () => {},
  requireUnflooded: () => {},
})
