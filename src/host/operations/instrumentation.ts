/**
 * Observes each call from a face to the service: for metrics, and for tracing through
 * node:diagnostics_channel. A tracer subscribes to `tracing:diglot:call:start`, `:end`,
 * `:asyncStart`, `:asyncEnd`, `:error` (Node's TracingChannel) and reads a `Traced`; without a
 * tracer it costs nothing.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import { type Maybe, settleFor } from '../../base/maybe.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Call, Calls } from '../../service/call.ts'
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

/** An object that counts calls, such as `Metrics`. */
export interface CallFigures {
  /** @param outcome `ok`, `unchanged`, the kind of a refusal, or `failed` for a bug of ours */
  countCall(face: Call['face'], operation: string, outcome: string, tookMs: number): void
}

/** An object that makes a span for each call. */
export interface CallSpans {
  call<T>(traced: Traced, work: () => Promise<T>): Promise<T>
}

const channel = tracingChannel<Traced, Traced>('diglot:call')

/** The same calls, each counted once it has ended and traced while a tracer listens. */
export function instrumentCalls(calls: Calls, figures: CallFigures, spans?: CallSpans): Calls {
  const perform = ({ call }: Observed): Maybe<Outcome> =>
    spans || channel.hasSubscribers ? traceCall(call, calls.perform, spans) : calls.perform(call)
  const countRefusal = (operation: Operation, face: Call['face'], thrown: unknown): never => {
    figures.countCall(face, operation.name, labelOfThrown(thrown), 0)
    throw thrown
  }
  return {
    ...calls,
    admit: (operation, caller, from, face) => {
      try {
        const admitted = calls.admit(operation, caller, from, face)
        if (!(admitted instanceof Promise)) return admitted
        return admitted.catch(thrown => countRefusal(operation, face, thrown))
      } catch (thrown) {
        return countRefusal(operation, face, thrown)
      }
    },
    perform: call => settleFor({ call, figures, began: performance.now() }, perform, countOutcome, countFailure),
  }
}

interface Observed {
  readonly call: Call
  readonly figures: CallFigures
  readonly began: number
}

function countOutcome({ call: { face, admitted }, figures, began }: Observed, outcome: Outcome): Outcome {
  figures.countCall(face, admitted.operation.name, labelOfOutcome(outcome), performance.now() - began)
  return outcome
}
function countFailure({ call: { face, admitted }, figures, began }: Observed, thrown: unknown): never {
  figures.countCall(face, admitted.operation.name, labelOfThrown(thrown), performance.now() - began)
  throw thrown
}

function traceCall(call: Call, work: (call: Call) => Maybe<Outcome>, spans: CallSpans | undefined): Promise<Outcome> {
  const { operation, caller } = call.admitted
  const { face, request, id } = call
  const context: Traced = { operation: operation.name, face, request, subject: caller.subject, id }
  const perform = async (): Promise<Outcome> => {
    try {
      const outcome = await work(call)
      context.outcome = labelOfOutcome(outcome)
      return outcome
    } catch (thrown) {
      context.outcome = labelOfThrown(thrown)
      throw thrown
    }
  }
  return channel.tracePromise(() => (spans ? spans.call(context, perform) : perform()), context)
}

/** `unchanged` has its own label because it costs less. */
const labelOfOutcome = ({ kind }: Outcome): string => (kind === 'unchanged' ? kind : 'ok')

function labelOfThrown(thrown: unknown): string {
  if (thrown instanceof Refused) return String(thrown.refusal.kind)
  return thrown instanceof Unavailable ? 'unavailable' : 'failed'
}
