/**
 * SOAP as `serve` puts it together, over a store that keeps nothing: what a call costs where nothing is changed and no
 * database is asked. Policy, limits, validation, figures and the fields of the answer are there; the line that the log has
 * of each change is not.
 */
import { randomUUID } from 'node:crypto'
import type { Mount } from '../../src/front/entry.ts'
import { createFront } from '../../src/front/front.ts'
import { createGate } from '../../src/front/gate.ts'
import { respondToRefusal } from '../../src/front/refusal.ts'
import { instrumentCalls } from '../../src/host/operations/instrumentation.ts'
import { Metrics } from '../../src/host/operations/metrics.ts'
import { OverloadGuard } from '../../src/host/operations/overload.ts'
import { createSoapEndpoints } from '../../src/host/soap/soap-endpoints.ts'
import { createMessageSecurity } from '../../src/host/trust/message-security.ts'
import { respond } from '../../src/http/respond.ts'
import { startListener } from '../../src/server/listener.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import type { FaceContext } from '../../src/service/face-context.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { Snapshot, Store, StoreWriter } from '../../src/service/store.ts'
import { ready } from './report.js'
import app from './shop.ts'

const writer: Pick<StoreWriter, 'put' | 'record' | 'changed'> = {
  put: (_resource, id, value, kept, _seen, now): Snapshot => ({
    ...{ id, value, kept, version: 1 },
    ...{ created: now, modified: now },
  }),
  record: () => {},
  changed: () => {},
}
const store: Pick<Store, 'write'> = { write: async work => work(writer as StoreWriter) } // creating an order asks for no more

const nobody = () => undefined
const figures = new Metrics()
const serving: FaceContext = {
  app,
  calls: instrumentCalls(
    createServiceCalls(app, {
      store: store as Store,
      limiter: createMemoryLimiter(),
      clock: Date.now,
      id: () => 'o-1',
    }),
    figures,
  ),
  identities: { bearer: nobody, password: nobody, digest: nobody, known: nobody, certificate: nobody, key: nobody },
  clock: Date.now,
  id: randomUUID,
  report: (incident, thrown) => console.error(incident, thrown),
  settings: { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] },
}
const security = createMessageSecurity({}, { store: store as Store, ...serving, logger: { warn: console.error } })
const find = createSoapEndpoints(serving, {}, security)
const soap: Mount = {
  name: 'soap',
  segments: ['soap'],
  serve: entry => find(entry.path)?.serve(entry) ?? respond(404),
  refuse: (_, refusal) => respondToRefusal(refusal),
}
const gate = createGate(new OverloadGuard(undefined), 0)
const { port } = await startListener(createFront(serving, [soap], { gate, figures }))
ready(port)
