/**
 * What the handler of an exchange reads and changes of its service. It is in no transaction, unlike
 * the handler of a resource, since it may ask other services and wait for them: each read is one of
 * its own, and what it changes is the work of `ctx.transaction`.
 */
import type { ExchangeBasis } from '../contract/port-handlers.ts'
import { createContext } from './handler-context.ts'
import { type AskedFacts, addAskedFacts, type ContextFacts, reachOf, type StoreReach } from './handler-facts.ts'
import { createInnerWork } from './inner-work.ts'
import { findChangeRefusal } from './refusal-faults.ts'

/**
 * @param about the call; no fault of the service ends it as such, so any may be caught
 * @param reach one transaction for each write
 */
export function createExchangeBasis(about: ContextFacts, reach: StoreReach, isSafe: boolean): ExchangeBasis {
  const { operation } = about
  const inner = createInnerWork(`${operation}: a transaction runs: read by the items that its work is given`)
  const ctx = createContext(about, {
    read: work => inner.outside(() => reach.read(work)),
    write: () => {
      throw new Error(`${operation}: items are changed in ctx.transaction(tx => …), by tx.items`)
    },
  })
  const { caller, now, id, items, services, log, unimplemented } = ctx
  const basis: Omit<ExchangeBasis, keyof AskedFacts> = {
    caller,
    now,
    id,
    items: { get: items.get, list: items.list, all: items.all },
    services,
    log,
    party: about.party,
    transaction: async work => {
      if (isSafe) throw new Error(`${operation} is safe, and changes nothing: leave out \`safe\`, or the transaction`)
      return inner.outside(
        () => reach.write(writer => inner.inside(() => work(createContext(about, reachOf(writer)) as never))), // of the service that the handler is typed by
      )
    },
    refusalOf: findChangeRefusal,
    unimplemented,
  }
  return addAskedFacts(basis, about)
}
