/**
 * Whether the service accepts one more request now (rows 3 and 5). What it guards:
 *  (1) An overloaded service refuses in microseconds, so that it answers accepted requests in time.
 *  (2) The requests of one address in a second are limited, for all its users and all mounts
 *      together.
 */
import { MemoryWindows } from '../service/limiter.ts'
import { type FrontRefusal, refuseAtFront } from './refusal.ts'

/** The requests in progress and their limit; `host/operations/overload.ts` maintains it. */
export interface LoadGauge {
  /** Requests that have arrived and have no response yet. */
  inFlight: number
  /** Above this number the next request is refused. */
  inFlightMax: number
  /** Requests that were refused under load. */
  shed: number
  /** Readiness fails, while requests on open connections are still answered. */
  isDraining: boolean
}

export interface Gate {
  readonly load: LoadGauge
  /** Row 3: refuses while overloaded. */
  requireInService(): void
  /** Row 5: counts the request, and refuses beyond the rate. */
  requireUnflooded(from: string, now: number): void
}

/** Retry-After for a request refused under load. */
const retrySeconds = 5

/** @param floodLimit requests from one address in a second; 0: no limit */
export function createGate(load: LoadGauge, floodLimit: number): Gate {
  const windows = new MemoryWindows()
  const tooMany: FrontRefusal = { kind: 'too-many', after: 1, limit: floodLimit, window: 1 }
  return {
    load,
    requireInService: () => {
      if (load.inFlight <= load.inFlightMax) return
      load.shed++
      refuseAtFront({
        kind: 'unavailable',
        after: retrySeconds,
        cause: 'too many requests are in progress',
      })
    },
    requireUnflooded: (from, now) => {
      if (floodLimit > 0 && windows.add(from, 1000, 1, now).count > floodLimit) refuseAtFront(tooMany)
    },
  }
}

/** A gate that accepts every request, for a face on its own. */
export const openGate = (): Gate => ({
  load: { inFlight: 0, inFlightMax: Infinity, shed: 0, isDraining: false },
  requireInService: () => {},
  requireUnflooded: () => {},
})
