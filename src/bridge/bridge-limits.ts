/** The bounds of a bridge: calls to the backend at once, and the size of its answers. */
import type { HttpOptions } from '../client/connection-pool.ts'
import { longestDefault } from '../client/transport.ts'
import type { LineBounds } from '../service/waiting-lines.ts'

export interface BridgeLimits {
  /** Calls to the backend in progress at once; 64. */
  readonly calls: number
  /** Those of one caller; half of `calls`. */
  readonly callsOfCaller: number
  /** Calls that wait for their turn; 1,024. */
  readonly waiting: number
  /** Those of one caller; 64. */
  readonly waitingOfCaller: number
  /** After this many calls in a row without a response, the service is left alone; 5. */
  readonly failures: number
  /** For how many milliseconds it is left alone; 5,000. */
  readonly pause: number
  /** Octets of a response, which is held in memory; 16 MiB. */
  readonly longest: number
  /** Octets of a package or form that passes without being held; 1 GiB. */
  readonly longestPassing: number
}

export function completeLimits(limits: Partial<BridgeLimits> = {}): BridgeLimits {
  const calls = limits.calls ?? 64
  return {
    callsOfCaller: Math.ceil(calls / 2),
    waiting: 1024,
    waitingOfCaller: 64,
    failures: 5,
    pause: 5000,
    longest: longestDefault,
    longestPassing: 1024 ** 3,
    ...limits,
    calls,
  }
}

export const lineBoundsOf = ({ calls, callsOfCaller, waiting, waitingOfCaller }: BridgeLimits): LineBounds => ({
  running: calls,
  runningOfCaller: callsOfCaller,
  waiting,
  waitingOfCaller,
})
/** One connection for each call, so a call whose turn has come never waits for a connection. */
export const transportOptionsOf = ({ calls, longest }: BridgeLimits): HttpOptions => ({ connections: calls, longest })
