/**
 * With the API and the SDK of OpenTelemetry: a span for each request, call and transaction, in the
 * trace that the request names, on both faces.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { anyone, implement, job, type OpenTelemetryApi, resource, role, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const exporter = new InMemorySpanExporter()
api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
api.propagation.setGlobalPropagator(new W3CTraceContextPropagator())
api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
after(() => {
  api.context.disable()
  api.propagation.disable()
  api.trace.disable()
})
beforeEach(() => exporter.reset())

const clerk = role('clerk')
const notes = resource('notes', {
  fields: { id: t.id('n'), text: t.string(), asked: t.string().readOnly().optional() },
}).rules({ allow: { read: [anyone], create: [clerk], change: [clerk] } })
const tick = job('ticks', { input: {}, output: { trace: t.string() }, allow: [clerk] })
const book = service('book', { namespace: 'urn:book', resources: [notes], jobs: [tick] })
const app = implement(book, {
  notes: {
    derive: async (ctx, { text }) => {
      if (text === 'broken') throw new Error('a bug')
      await new Promise(resolve => setImmediate(resolve))
      const traceparent = ctx.trace['traceparent']
      return traceparent === undefined ? {} : { asked: traceparent }
    },
  },
  ticks: { run: async ctx => ({ trace: JSON.stringify(ctx.trace) }) },
})
const trace = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${trace}-b7ad6b7169203331-01`
const carl = { subject: 'carl', roles: ['clerk'] }

const spans = () => exporter.getFinishedSpans()
/** The names of a span and of those around it, the outermost first. */
function pathOf(name: string): readonly string[] {
  const path: string[] = []
  for (let at = spans().find(each => each.name === name); at; ) {
    const parent = at.parentSpanContext?.spanId
    path.unshift(at.name)
    at = spans().find(each => each.spanContext().spanId === parent)
  }
  return path
}

describe('OpenTelemetry', () => {
  const ways = [
    ['REST', '/api/v1/notes', 'application/json', '{"text":"hello"}', 201],
    [
      'SOAP',
      '/soap/v1',
      'text/xml',
      '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><CreateNote xmlns="urn:book:v1"><note><text>hello</text></note></CreateNote></e:Body></e:Envelope>',
      200,
    ],
  ] as const
  for (const [face, path, type, body, status] of ways)
    test(`${face}: a request, its call and its transaction have a span each, in the trace of the caller`, async () => {
      await using open = await startTestService(book, app, { openTelemetry: api })
      const headers = { 'content-type': type, traceparent }
      const response = await open.fetchAs(carl)(open.address + path, { method: 'POST', headers, body })
      assert.equal(response.status, status, await response.clone().text())
      assert.deepEqual(pathOf('store write'), ['CreateNote', 'CreateNote', 'store write'])
      const [inner, call, request] = ['store write', 'CreateNote', 'CreateNote'].map((name, i) =>
        spans()
          .filter(each => each.name === name)
          .at(i === 2 ? 1 : 0),
      )
      assert.ok(request && call && inner)
      assert.deepEqual(new Set(spans().map(each => each.spanContext().traceId)), new Set([trace]))
      assert.equal(request.parentSpanContext?.spanId, 'b7ad6b7169203331')
      assert.deepEqual(
        [request.kind, call.kind, inner.kind],
        [api.SpanKind.SERVER, api.SpanKind.INTERNAL, api.SpanKind.CLIENT],
      )
      assert.equal(request.attributes['http.response.status_code'], status)
      assert.deepEqual([call.attributes['diglot.face'], call.attributes['diglot.outcome']], [face.toLowerCase(), 'ok'])
      assert.equal(inner.attributes['db.system.name'], 'sqlite')
      const asked = /00-[0-9a-f]{32}-([0-9a-f]{16})-01/.exec(await response.text())
      assert.ok(asked?.[0].includes(trace), 'what a handler asks of others belongs to the trace')
      assert.equal(asked?.[1], inner.spanContext().spanId, 'and to the span in which it runs')
    })

  test('a refusal is an outcome, a bug is an error, and no content is an attribute', async () => {
    await using open = await startTestService(book, app, { openTelemetry: api })
    const ask = (body: string) =>
      open.fetchAs(carl)(`${open.address}/api/v1/notes?q=secret`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
    await ask('{"text":5}')
    await open.fetchAs(carl)(`${open.address}/api/v1/notes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"broken"}',
    })
    const failed = spans().filter(each => each.status.code === api.SpanStatusCode.ERROR)
    assert.deepEqual(
      failed.map(({ name }) => name),
      ['store write', 'CreateNote', 'CreateNote'],
    )
    assert.ok(!JSON.stringify(spans().map(each => each.attributes)).match(/secret|broken|hello/))
    const refused = spans().find(each => each.attributes['http.response.status_code'] === 400)
    assert.equal(refused?.status.code, api.SpanStatusCode.UNSET)
  })

  test('the open span of a host is the parent, whatever the request says', async () => {
    await using open = await startTestService(book, app, { openTelemetry: api })
    const tracer = api.trace.getTracer('host')
    await tracer.startActiveSpan('host', async span => {
      await open.fetchAs()(`${open.address}/api/v1/notes`, { headers: { traceparent } })
      span.end()
    })
    assert.deepEqual(pathOf('store read').slice(0, 2), ['host', 'ListNotes'])
  })

  test('without a request there is no span: looks for jobs, sweeps', async () => {
    await using open = await startTestService(book, app, { openTelemetry: api })
    exporter.reset()
    await open.work()
    assert.deepEqual(spans(), [])
  })
})

describe('without OpenTelemetry', () => {
  const post = async (fields: Record<string, string>) => {
    await using open = await startTestService(book, app)
    const headers = { 'content-type': 'application/json', prefer: 'return=representation', ...fields }
    const made = await open.fetchAs(carl)(`${open.address}/api/v1/notes`, {
      method: 'POST',
      headers,
      body: '{"text":"x"}',
    })
    return JSON.parse(await made.text()).asked
  }
  test('traceparent of the request is handed on to handlers (W3C Trace Context §3.2)', async () => {
    assert.equal(await post({ traceparent }), traceparent)
    assert.deepEqual(spans(), [])
  })
  for (const wrong of [
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    'x',
    `${traceparent}\u00e9`,
  ])
    test(`an invalid traceparent is not handed on: ${wrong.slice(0, 20)}`, async () => {
      assert.equal(await post({ traceparent: wrong }), undefined)
    })
})

test('the package of the API is what the option takes', () => {
  const given: OpenTelemetryApi = api
  assert.ok(given)
  // @ts-expect-error a tracer alone cannot read the trace of a request
  const tracer: OpenTelemetryApi = api.trace.getTracer('x')
  assert.ok(tracer)
})
