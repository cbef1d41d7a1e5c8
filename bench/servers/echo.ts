/**
 * SOAP as `serve` puts it together, over a store that keeps nothing: what a call costs where nothing is changed and no
 * database is asked. Policy, limits, validation, figures and the fields of the answer are there; the line that the log has
 * of each change is not.
 */
import { randomUUID } from 'node:crypto'
import type { Maybe } from '../../src/base/maybe.ts'
import { received } from '../../src/front/access-log.ts'
import { messageSecurity } from '../../src/host/message-security.ts'
import { observed } from '../../src/host/operations/instrumentation.ts'
import { Figures } from '../../src/host/operations/metrics.ts'
import { Load } from '../../src/host/operations/overload.ts'
import { soapFaces } from '../../src/host/soap-endpoints.ts'
import type { Request, Response } from '../../src/http/message.ts'
import { listen } from '../../src/server/listener.ts'
import { callsOf } from '../../src/service/calls.ts'
import type { Serving } from '../../src/service/face-context.ts'
import { memoryLimiter } from '../../src/service/limiter.ts'
import type { Snapshot, Store, Writer } from '../../src/service/store.ts'
import { ready } from './report.js'
import app from './shop.ts'

const writer: Pick<Writer, 'put' | 'record' | 'changed'> = {
  put: (_resource, id, value, kept, _seen, now): Snapshot => ({
    ...{ id, value, kept, version: 1 },
    ...{ created: now, modified: now },
  }),
  record: () => {},
  changed: () => {},
}
const store: Pick<Store, 'write'> = { write: async work => work(writer as Writer) } // creating an order asks for no more

const nobody = () => undefined
const figures = new Figures()
const serving: Serving = {
  app,
  calls: observed(
    callsOf(app, { store: store as Store, limiter: memoryLimiter(), clock: Date.now, id: () => 'o-1' }),
    'soap',
    (operation, outcome, took) => figures.called('soap', operation, outcome, took),
  ),
  identities: { bearer: nobody, password: nobody, secret: nobody, known: nobody, certificate: nobody, key: nobody },
  clock: Date.now,
  id: randomUUID,
  report: (incident, thrown) => console.error(incident, thrown),
  settings: { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] },
}
const { secure, policy } = messageSecurity({}, { store: store as Store, ...serving })
const face = soapFaces(serving, { secure }, policy)
const serve = (request: Request): Maybe<Response> => face(request.target)?.(request) ?? { status: 404, fields: {} }
const { port } = await listen(
  received(serve, {
    load: new Load(undefined),
    trusted: false,
    id: randomUUID,
    answered: (asked, status) => figures.answered(asked, status),
  }),
)
ready(port)
