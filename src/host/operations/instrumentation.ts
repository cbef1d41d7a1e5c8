/**
 * Sees each call as it passes from a face to the service: for figures, and for tracing through node:diagnostics_channel. Who
 * traces subscribes to `tracing:diglot:call:start`, `:end`, `:asyncStart`, `:asyncEnd`, `:error` (Node's TracingChannel) and
 * reads a `Traced`; nobody else pays for it.
 */
import { tracingChannel } from 'node:diagnostics_channel'
import type { Maybe } from '../../base/maybe.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Admitted, Calls } from '../../service/call.ts'
import type { Outcome } from '../../service/outcome.ts'
import { Refused } from '../../service/refusal.ts'
import { Unavailable } from '../../service/store.ts'

/** What a tracer is told of one call. `outcome` is there once it is over. */
export interface Traced {
  readonly operation: string
  readonly face: 'rest' | 'soap'
  /** The request's name, as in its Request-Id field. */
  readonly request: string
  readonly subject: string | undefined
  readonly id: string | undefined
  outcome?: string
}

/** `ok`, the kind of the refusal, or `failed` for a bug of ours; `took` in milliseconds. */
export type OnCall = (operation: string, outcome: string, took: number) => void

const channel = tracingChannel<Traced, Traced>('diglot:call')

export function instrument(calls: Calls, face: 'rest' | 'soap', saw: OnCall): Calls {
  const refusedAt = (operation: Operation, began: number, thrown: unknown): never => {
    saw(operation.name, labelOfThrown(thrown), performance.now() - began)
    throw thrown
  }
  const admit: Calls['admit'] = (operation, caller, from) => {
    const began = performance.now()
    const refused = (thrown: unknown): never => refusedAt(operation, began, thrown)
    return observeResult<Admitted>(
      () => calls.admit(operation, caller, from),
      admitted => admitted,
      refused,
    )
  }
  const perform: Calls['perform'] = call => {
    const began = performance.now()
    const { operation } = call.admitted
    const done = (outcome: Outcome): Outcome => {
      saw(operation.name, labelOfOutcome(outcome), performance.now() - began)
      return outcome
    }
    const refused = (thrown: unknown): never => refusedAt(operation, began, thrown)
    if (!channel.hasSubscribers) return observeResult(() => calls.perform(call), done, refused)
    return traceCall({ ...call, operation: operation.name, subject: call.admitted.caller.subject, face }, () =>
      observeResult(() => calls.perform(call), done, refused),
    )
  }
  return { ...calls, admit, perform }
}

function traceCall(
  call: { operation: string; face: 'rest' | 'soap'; request: string; subject: string | undefined; id?: string },
  work: () => Maybe<Outcome>,
): Promise<Outcome> {
  const { operation, face, request, subject, id } = call
  const context: Traced = { operation, face, request, subject, id }
  return channel.tracePromise(async () => {
    try {
      const outcome = await work()
      context.outcome = labelOfOutcome(outcome)
      return outcome
    } catch (thrown) {
      context.outcome = labelOfThrown(thrown)
      throw thrown
    }
  }, context)
}

/** At once when the answer is here: see `then` of service/store.ts. */
function observeResult<T>(work: () => Maybe<T>, done: (value: T) => T, failed: (thrown: unknown) => never): Maybe<T> {
  let answer: Maybe<T>
  try {
    answer = work()
  } catch (thrown) {
    return failed(thrown)
  }
  return answer instanceof Promise ? answer.then(done, failed) : done(answer)
}

/** `unchanged` is an answer like any other; it is told apart because it costs less. */
const labelOfOutcome = ({ kind }: Outcome): string => (kind === 'unchanged' ? kind : 'ok')

function labelOfThrown(thrown: unknown): string {
  if (thrown instanceof Refused) return String(thrown.refusal.kind)
  return thrown instanceof Unavailable ? 'unavailable' : 'failed'
}
