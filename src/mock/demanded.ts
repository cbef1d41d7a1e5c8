/**
 * What a request demands of a mock deep inside the service, kept in its asynchronous context: a
 * fault from the handlers that it reaches, or a response that has expired.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface FaultDemand {
  readonly fault: string
  /** The handler has ended with it. */
  isMet: boolean
  /** The faults declared by the operations that the request has reached. */
  readonly declared: string[]
}

const demands = new AsyncLocalStorage<FaultDemand>()

export const performDemanding = <T>(demand: FaultDemand, work: () => T): T => demands.run(demand, work)

/** The demanded fault, if the operation declares it. */
export function claimDemandedFault(declared: readonly string[]): string | undefined {
  const demand = demands.getStore()
  if (!demand) return undefined
  demand.declared.push(...declared)
  if (!declared.includes(demand.fault)) return undefined
  demand.isMet = true
  return demand.fault
}

const expiries = new AsyncLocalStorage<true>()

/** Protected replies during this work state times that are over. */
export const performExpired = <T>(work: () => T): T => expiries.run(true, work)

/** Far beyond the life of a message and the difference of clocks. */
const expiredMs = 24 * 3600 * 1000

/** The time that a protected reply states, given the clock's, in milliseconds. */
export const demandProtectionTime = (now: number): number => (expiries.getStore() ? now - expiredMs : now)
