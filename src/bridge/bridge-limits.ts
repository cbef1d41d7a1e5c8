/** How much a bridge asks of the backend at once, and of its answers. */
import type { HttpOptions } from '../client/http-transport.ts'
import { longestDefault } from '../client/transport.ts'
import type { LineBounds } from '../service/waiting-lines.ts'

export interface BridgeLimits {
  /** Calls under way behind at once; 64. */
  readonly calls: number
  /** Those of one caller; half of `calls`. */
  readonly callsOfCaller: number
  /** Calls that wait for their turn; 1,024. */
  readonly waiting: number
  /** Those of one caller; 64. */
  readonly waitingOfCaller: number
  /** Calls in a row without an answer after which the service is left alone; 5. */
  readonly failures: number
  /** Milliseconds for which it is; 5,000. */
  readonly pause: number
  /** Octets of an answer, which is held in memory; 16 MiB. */
  readonly longest: number
  /** Octets of a package, or of a form, that passes without being held; 1 GiB. */
  readonly longestPassing: number
}

export function completeLimits(given: Partial<BridgeLimits> = {}): BridgeLimits {
  const calls = given.calls ?? 64
  return {
    callsOfCaller: Math.ceil(calls / 2),
    waiting: 1024,
    waitingOfCaller: 64,
    failures: 5,
    pause: 5000,
    longest: longestDefault,
    longestPassing: 1024 ** 3,
    ...given,
    calls,
  }
}

export const lineBoundsOf = ({ calls, callsOfCaller, waiting, waitingOfCaller }: BridgeLimits): LineBounds => ({
  running: calls,
  runningOfCaller: callsOfCaller,
  waiting,
  waitingOfCaller,
})
/** A connection for each call: none that has its turn waits for another of a crowd. */
export const transportOptionsOf = ({ calls, longest }: BridgeLimits): HttpOptions => ({ connections: calls, longest })
