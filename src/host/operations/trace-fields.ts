/** W3C Trace Context: what a request says of its trace, for what its handlers ask of others. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Maybe } from '../../base/maybe.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'

/** The fields of requests that belong to a trace: `traceparent`, `tracestate`. */
export type TraceFields = Readonly<Record<string, string>>

const given = new AsyncLocalStorage<TraceFields>()

/** Answers so that `findTraceFields` finds those of the request, wherever it leads. */
export function answerInTrace({ fields }: Request, answer: () => Maybe<Response>): Maybe<Response> {
  const known = readTraceFields(fields)
  return known ? given.run(known, answer) : answer()
}

/** Those of the request under way; empty without any. */
export const findTraceFields = (): TraceFields => given.getStore() ?? {}

/** §3.2.2.3: zeros are no identifier. §3.3.1.5: a list of 512 characters has to be handed on. */
function readTraceFields({ traceparent = '', tracestate }: HttpFields): TraceFields | undefined {
  if (!/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)) return undefined
  return { traceparent, ...(tracestate !== undefined && tracestate.length <= 512 && { tracestate }) }
}
