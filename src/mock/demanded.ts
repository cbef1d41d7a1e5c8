/** A fault that a request demands of the handlers that it reaches, in its asynchronous context. */
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
