/**
 * Observes each call from a face to the service: for metrics, and for tracing through
 * node:diagnostics_channel. A tracer subscribes to `tracing:diglot:call:start`, `:end`,
 * `:asyncStart`, `:asyncEnd`, `:error` (Node's TracingChannel) and reads a `Traced`; without a
 * tracer it costs nothing.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { chain, type Maybe, settle } from '../../base/maybe.ts'
import type { Call } from '../../service/call.ts'
import type { CallObserver } from '../../service/calls.ts'
import type { Outcome } from '../../service/outcome.ts'
import { Refused } from '../../service/refusal.ts'
import { Unavailable } from '../../service/store.ts'

/** One call for a tracer; it has an `outcome` once it has ended. */
export interface Traced {
  readonly operation: string
  readonly face: Call['face']
  /** The request's id, as in its Request-Id field. */
  readonly request: string
  readonly subject: string | undefined
  readonly id: string | undefined
  outcome?: string
}

/** @param outcome `ok`, `unchanged`, the kind of a refusal, or `failed` for a bug of ours */
export type OnCall = (face: Call['face'], operation: string, outcome: string, tookMs: number) => void

const channel = tracingChannel<Traced, Traced>('diglot:call')

export function createCallObserver(onCall: OnCall): CallObserver {
  return {
    observeRefusal: (operation, face, thrown) => onCall(face, operation.name, labelOfThrown(thrown), 0),
    perform: (call, work) => {
      const began = performance.now()
      const { name } = call.admitted.operation
      const tell = (label: string): void => onCall(call.face, name, label, performance.now() - began)
      return settle(
        () =>
          chain(channel.hasSubscribers ? traceCall(call, work) : work(call), outcome => {
            tell(labelOfOutcome(outcome))
            return outcome
          }),
        thrown => {
          tell(labelOfThrown(thrown))
          throw thrown
        },
      )
    },
  }
}

function traceCall(call: Call, work: (call: Call) => Maybe<Outcome>): Promise<Outcome> {
  const { operation, caller } = call.admitted
  const { face, request, id } = call
  const context: Traced = { operation: operation.name, face, request, subject: caller.subject, id }
  return channel.tracePromise(async () => {
    try {
      const outcome = await work(call)
      context.outcome = labelOfOutcome(outcome)
      return outcome
    } catch (thrown) {
      context.outcome = labelOfThrown(thrown)
      throw thrown
    }
  }, context)
}

/** `unchanged` has a label of its own because it costs less. */
const labelOfOutcome = ({ kind }: Outcome): string => (kind === 'unchanged' ? kind : 'ok')

function labelOfThrown(thrown: unknown): string {
  if (thrown instanceof Refused) return String(thrown.refusal.kind)
  return thrown instanceof Unavailable ? 'unavailable' : 'failed'
}
