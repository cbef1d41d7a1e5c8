/**
 * What a request demands of a mock deep inside of the service, in its asynchronous context: a fault
 * of the handlers that it reaches, or an answer that has expired.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface FaultDemand {
  readonly fault: string
  /** The handler has ended with it. */
  isMet: boolean
  /** The faults that the operations declare which the request has reached. */
  readonly declared: string[]
}

const demands = new AsyncLocalStorage<FaultDemand>()

export const performDemanding = <T>(demand: FaultDemand, work: () => T): T => demands.run(demand, work)

/** The demanded fault, if it is among those that the operation declares. */
export function claimDemandedFault(declared: readonly string[]): string | undefined {
  const demand = demands.getStore()
  if (!demand) return undefined
  demand.declared.push(...declared)
  if (!declared.includes(demand.fault)) return undefined
  demand.isMet = true
  return demand.fault
}

const expiries = new AsyncLocalStorage<true>()

/** Answers that are protected meanwhile say times that are over. */
export const performExpired = <T>(work: () => T): T => expiries.run(true, work)

/** Far beyond the life of a message and what clocks may differ by. */
const expiredMs = 24 * 3600 * 1000

/** The time that a protected answer says, from that of the clock, in milliseconds. */
export const demandProtectionTime = (now: number): number => (expiries.getStore() ? now - expiredMs : now)
