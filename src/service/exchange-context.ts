/**
 * What the handler of an exchange reads and changes in its service. Unlike the handler of a
 * resource, it is in no transaction, since it may call other services and wait for them: each read
 * is separate, and its changes are the work of `ctx.transaction`.
 */
import type { ExchangeBasis } from '../contract/port-handlers.ts'
import { createContext } from './handler-context.ts'
import { addLateFacts, type ContextFacts, type LateFacts, reachOf, type StoreReach } from './handler-facts.ts'
import { createItemReaders } from './handler-items.ts'
import { createInnerWork } from './inner-work.ts'
import { failUnimplemented } from './refusal.ts'
import { findChangeRefusal } from './refusal-faults.ts'
import { runStarting, type StartedWork } from './started-work.ts'
import type { StoreWriter } from './store.ts'

/** A header block of a reply that the caller's face cannot send. */
export class UnsendableBlock extends Error {}

/**
 * @param about the call; the handler may catch any fault of the service
 * @param reach one transaction for each write
 */
export function createExchangeBasis(about: ContextFacts, reach: StoreReach, isSafe: boolean): ExchangeBasis {
  const { operation, caller, party, id } = about
  const inner = createInnerWork(`${operation}: a transaction is running: read through the items that its work receives`)
  const basis: Omit<ExchangeBasis, keyof LateFacts> = {
    ...{ caller, party, id },
    now: new Date(about.now).toISOString(),
    items: createItemReaders(about, {
      read: work => inner.outside(() => reach.read(work)),
      write: () => {
        throw new Error(`${operation}: items are changed in ctx.transaction(tx => …), by tx.items`)
      },
    }),
    services: about.app.services,
    transaction: async work => {
      if (isSafe) throw new Error(`${operation} is safe, and changes nothing: leave out \`safe\`, or the transaction`)
      const started: StartedWork = {}
      const facts = { ...about, started }
      const perform = (writer: StoreWriter) =>
        runStarting(started, operation, () => work(createContext(facts, reachOf(writer)) as never)) // of the handler's own service type
      return inner.outside(() => reach.write(writer => inner.inside(() => perform(writer))))
    },
    refusalOf: findChangeRefusal,
    unimplemented: () => failUnimplemented(operation),
  }
  return addLateFacts(basis, about)
}
