/**
 * What stands behind the front door of a service: the two faces and the pages. SOAP is loaded when
 * it is needed.
 */
import { setTimeout } from 'node:timers/promises'
import { chain, type Maybe } from '../base/maybe.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { respondToRefusal } from '../front/refusal.ts'
import type { Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import type { People } from '../identity/identities.ts'
import type { ChangesPage } from '../pages/changes.ts'
import { createHealthPages, type HealthContext } from '../pages/health.ts'
import { createLoginPage } from '../pages/login.ts'
import { createMetricsPage } from '../pages/metrics.ts'
import { createOpenApiPage } from '../pages/openapi.ts'
import { createRestMount } from '../rest/face.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { ReplyTargets } from '../soap/headers/addressing.ts'
import type { SoapEndpoint } from '../soap/http/binding.ts'
import type { MessageSecurityPort } from './message-security.ts'
import type { ClusterPeers } from './operations/cluster.ts'
import { collectMetrics, expositionType, type Metrics, writeExposition } from './operations/metrics.ts'
import { codingStreams, codings, decodings } from './zlib-codings.ts'

export interface MountParts {
  readonly people: People
  readonly health: HealthContext
  readonly figures: Metrics
  readonly peers: ClusterPeers | undefined
  readonly changes: ChangesPage
  readonly security: () => Promise<MessageSecurityPort>
  readonly elsewhere: ReplyTargets | undefined
}

export function createMounts(context: FaceContext, parts: MountParts): readonly [Mount, ...Mount[]] {
  const { figures, peers } = parts
  const links = { 'service-desc': '/openapi.json' }
  const rest = createRestMount(context, { codings, decodings, streams: codingStreams, sleep: setTimeout, links })
  const write = async (): Promise<string> =>
    writeExposition(await (peers?.figures() ?? Promise.all([collectMetrics(figures)])))
  return [
    rest,
    createSoapMount(context, parts),
    createHealthPages(context, parts.health),
    createMetricsPage(context, { mediaType: expositionType, write }),
    parts.changes.mount,
    createOpenApiPage(context, codings),
    createLoginPage(context, parts.people),
  ]
}

function createSoapMount(context: FaceContext, { security, elsewhere }: MountParts): Mount {
  const load = onDemand(async () => {
    const [{ createSoapEndpoints }, { secure, policy }] = await Promise.all([import('./soap-endpoints.ts'), security()])
    return createSoapEndpoints(context, { secure, ...(elsewhere && { elsewhere }) }, policy)
  })
  // A moment after the start, so that no partner waits for it; whoever asks is told if it fails.
  setTimeout(loadedAfterMs, undefined, { ref: false })
    .then(load)
    .catch(() => {})
  const at = (entry: Entry, ask: (endpoint: SoapEndpoint) => Maybe<Response>, otherwise: () => Response) =>
    chain(load(), find => {
      const endpoint = find(entry.path)
      return endpoint ? ask(endpoint) : otherwise()
    })
  return {
    name: 'soap',
    segments: ['soap'],
    serve: entry =>
      at(
        entry,
        endpoint => endpoint.serve(entry),
        () => respond(404, { detail: 'there is no SOAP endpoint here' }),
      ),
    refuse: (entry, refusal) =>
      at(
        entry,
        endpoint => endpoint.refuse(entry, refusal),
        () => respondToRefusal(refusal),
      ),
  }
}

const loadedAfterMs = 2000

/**
 * Made when it is first asked for, and there from then on; what failed is tried again. Half of what
 * a process loads is for SOAP.
 */
function onDemand<T>(make: () => Promise<T>): () => Maybe<T> {
  let made: Maybe<T> | undefined
  const attempt = async (): Promise<T> => {
    try {
      return (made = await make())
    } catch (thrown) {
      made = undefined
      throw thrown
    }
  }
  return () => (made ??= attempt())
}
