/**
 * Spans for OpenTelemetry, through the API package of the application: a span for each request,
 * inside it one for each call, and inside that one for each transaction of the store. What always
 * holds:
 *  (1) The parent of a request is the span that the host has open; otherwise the one that its
 *      `traceparent` names, as the application's propagator reads it.
 *  (2) The request, the call and the handler run in the context of their span, so the requests that
 *      a handler sends with instrumented clients belong to it.
 *  (3) The service's own work, such as sweeps and looks for jobs, has no span.
 *  (4) An attribute is a name from the contract, a status or an identifier, never content.
 *  (5) A refusal is an outcome; a bug, or a store that cannot be reached, is an error.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { type Maybe, settle } from '../../base/maybe.ts'
import { extendObject } from '../../base/objects.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'
import type { Serve } from '../../server/server-context.ts'
import { Refused } from '../../service/refusal.ts'
import type { Store } from '../../service/store.ts'
import type { Traced } from './instrumentation.ts'

type SpanAttributes = Readonly<Record<string, string | number | boolean>>
/** The part of `Span` in @opentelemetry/api that we use. */
export interface TelemetrySpan {
  setAttribute(name: string, value: string | number | boolean): unknown
  setStatus(status: { code: number }): unknown
  updateName(name: string): unknown
  end(): void
}
/**
 * The part of @opentelemetry/api that we use: `import * as api from '@opentelemetry/api'` fits. A
 * context is whatever that package creates.
 */
export interface OpenTelemetryApi {
  readonly context: {
    active(): unknown
    with<T>(context: unknown, work: () => T): T
  }
  readonly propagation: {
    extract(context: unknown, carrier: unknown): unknown
    inject(context: unknown, carrier: unknown): void
  }
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: { kind: number; attributes: SpanAttributes }, context: unknown): TelemetrySpan
    }
    getSpan(context: unknown): object | undefined
    setSpan(context: unknown, span: TelemetrySpan): unknown
  }
}

/** Makes spans for the work of a service. */
export interface Spans {
  answer(answer: Serve): Serve
  call<T>(traced: Traced, work: () => Promise<T>): Promise<T>
  /** The store with a span for each transaction. */
  store(store: Store, system: string): Store
  /** The fields that attach requests to other services to the open span (W3C Trace Context). */
  readonly fields: () => TraceFields
}

/** SpanKind and SpanStatusCode of the API. */
const kinds = { internal: 0, server: 1, client: 2 } as const
const failedCode = 2

type SpanRunner = <T>(
  span: readonly [name: string, kind: number, attributes: SpanAttributes],
  parent: unknown,
  work: (span: TelemetrySpan) => Maybe<T>,
) => Maybe<T>

/** (2) Runs work in a span, which ends with it. */
function createSpanRunner(api: OpenTelemetryApi): SpanRunner {
  const tracer = api.trace.getTracer('diglot')
  return ([name, kind, attributes], parent, work) => {
    const span = tracer.startSpan(name, { kind, attributes }, parent)
    const ended = settle(
      () => api.context.with(api.trace.setSpan(parent, span), () => work(span)),
      thrown => {
        if (!(thrown instanceof Refused)) span.setStatus({ code: failedCode }) // (5)
        span.end()
        throw thrown
      },
    )
    if (ended instanceof Promise)
      return ended.then(value => {
        span.end()
        return value
      })
    span.end()
    return ended
  }
}

export function createSpans(api: OpenTelemetryApi): Spans {
  /** The spans of requests, which are renamed after the operation once it is known. */
  const requests = new WeakMap<object, TelemetrySpan>()
  const run = createSpanRunner(api)
  const findOpen = (): object | undefined => api.trace.getSpan(api.context.active())
  return {
    answer: answer => request => {
      const active = api.context.active()
      const parent = findOpen() ? active : api.propagation.extract(active, request.fields) // (1)
      const attributes = {
        'http.request.method': request.method,
        'url.scheme': request.scheme,
        'client.address': request.from,
      }
      return run([request.method, kinds.server, attributes], parent, async span => {
        requests.set(span, span)
        const response = await answer(request)
        span.setAttribute('http.response.status_code', response.status)
        if (response.status >= 500) span.setStatus({ code: failedCode })
        return response
      })
    },
    call: async (traced, work) => {
      const open = findOpen()
      const { operation, face, request } = traced
      if (open) requests.get(open)?.updateName(operation)
      const attributes = { 'diglot.operation': operation, 'diglot.face': face, 'diglot.request': request }
      return run([operation, kinds.internal, attributes], api.context.active(), async span => {
        try {
          return await work()
        } finally {
          if (traced.outcome !== undefined) span.setAttribute('diglot.outcome', traced.outcome)
        }
      })
    },
    store: (store, system) => {
      const attributes = { 'db.system.name': system }
      const traced = <T>(name: string, work: () => Maybe<T>): Maybe<T> =>
        findOpen() ? run([name, kinds.client, attributes], api.context.active(), work) : work() // (3)
      return extendObject(store, {
        read: work => traced('store read', () => store.read(work)),
        write: async (work, turn) => traced('store write', () => store.write(work, turn)),
      })
    },
    fields: () => {
      const carrier: Record<string, string> = {}
      api.propagation.inject(api.context.active(), carrier)
      return carrier
    },
  }
}

/**
 * The fields by which requests belong to a trace (W3C Trace Context): `traceparent`, `tracestate`.
 */
export type TraceFields = Readonly<Record<string, string>>

const hostTrace = new AsyncLocalStorage<TraceFields>()

/** Answers such that `findTraceFields` finds the request's fields in all code that this runs. */
export function answerInTrace({ fields }: Request, answer: () => Maybe<Response>): Maybe<Response> {
  const trace = readTraceFields(fields)
  return trace ? hostTrace.run(trace, answer) : answer()
}

/** The trace fields of the request under way; empty if it has none. */
export const findTraceFields = (): TraceFields => hostTrace.getStore() ?? {}

/** §3.2.2.3: zeros are not an identifier. §3.3.1.5: a list of 512 characters is passed on. */
function readTraceFields({ traceparent = '', tracestate }: HttpFields): TraceFields | undefined {
  if (!/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(traceparent)) return undefined
  return { traceparent, ...(tracestate !== undefined && tracestate.length <= 512 && { tracestate }) }
}
