/** The mounts behind the front door: the two faces and the pages. SOAP is loaded lazily. */
import { setTimeout } from 'node:timers/promises'
import { chain, type Maybe } from '../base/maybe.ts'
import { endpointsOf, mainEndpoint } from '../contract/endpoint-rule.ts'
import { portPath } from '../contract/exchange.ts'
import type { LaterReceiver } from '../contract/later-call.ts'
import type { Service } from '../contract/service.ts'
import type { Mount } from '../front/entry.ts'
import { respondToRefusal } from '../front/refusal.ts'
import { respond } from '../http/respond.ts'
import type { People } from '../identity/identities.ts'
import type { OpenIdSignIn } from '../identity/openid.ts'
import type { ChangesPage } from '../pages/changes.ts'
import { createDocsPage, type ServedSite } from '../pages/docs.ts'
import { createHealthPages, type HealthContext } from '../pages/health.ts'
import { createRepliesMount } from '../pages/later-messages.ts'
import { createLoginPage } from '../pages/login.ts'
import { createLookPages } from '../pages/look.ts'
import { createMetricsPage } from '../pages/metrics.ts'
import { createOpenApiPage } from '../pages/openapi.ts'
import type { RestOptions } from '../rest/compiled-face.ts'
import { createRestMount } from '../rest/face.ts'
import type { DocumentLink } from '../rest/formats/document.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { ReplyTargets } from '../soap/headers/addressing.ts'
import type { ClusterPeers } from './operations/cluster.ts'
import { collectMetrics, expositionType, type Metrics, writeExposition } from './operations/metrics.ts'
import type { MessageSecurityPort } from './trust/message-security.ts'
import { codingStreams, codings, decodings } from './zlib-codings.ts'

export interface MountParts {
  readonly people: People
  readonly openid: OpenIdSignIn | undefined
  readonly health: HealthContext
  readonly figures: Metrics
  readonly peers: ClusterPeers | undefined
  readonly changes: ChangesPage
  readonly security: () => Promise<MessageSecurityPort>
  readonly elsewhere: ReplyTargets | undefined
  readonly docs?: ServedSite | undefined
  /** Receives responses that arrive later, for a bridge. */
  readonly replies?: LaterReceiver | undefined
}

export function createMounts(context: FaceContext, parts: MountParts): readonly [Mount, ...Mount[]] {
  const { figures, peers } = parts
  const rest = createRestMount(context, {
    codings,
    decodings,
    streams: codingStreams,
    sleep: setTimeout,
    links: version => [
      ...linksOfEntry(context.app.contract, version),
      ...(parts.docs ? [{ rel: 'service-doc', href: '/docs', type: 'text/html' }] : []),
    ],
    messages: createLazyMessages(context),
    elements: createLazily(async () =>
      (await import('./soap/port-elements.ts')).createElementTexts(context.app.contract.ports),
    ),
  })
  const write = async (): Promise<string> =>
    writeExposition(await (peers?.figures() ?? Promise.all([collectMetrics(figures)])))
  return [
    rest,
    createSoapMount(context, parts),
    createHealthPages(context, parts.health),
    createMetricsPage(context, { mediaType: expositionType, write }),
    ...(context.app.contract.hasRest ? [parts.changes.mount, createOpenApiPage(context, codings)] : []),
    createLoginPage(context, parts.people, parts.openid),
    createLookPages(context, codings),
    ...(parts.docs ? [createDocsPage(context, parts.docs, codings)] : []),
    ...(parts.replies ? [createRepliesMount(parts.replies)] : []),
  ]
}

/**
 * The links of the entry to addresses outside of REST. GET on a SOAP endpoint returns a page only
 * to browsers.
 */
const linksOfEntry = (contract: Service, version: string): readonly DocumentLink[] => [
  ...(contract.hasRest ? [{ rel: 'service-desc', href: '/openapi.json' }] : []),
  ...linksOfEndpoint(mainEndpoint(contract, version)?.path),
  ...contract.ports.map(each => ({ rel: each.port, href: `${portPath(each)}?wsdl`, type: 'text/xml' })),
  ...(contract.hasRest ? [{ rel: 'changes', href: '/changes' }] : []),
  { rel: 'health', href: '/health/ready' },
  { rel: 'login', href: '/login' },
]

const linksOfEndpoint = (path: string | undefined): readonly DocumentLink[] =>
  path === undefined
    ? []
    : [
        { rel: 'soap', href: path, type: 'text/html' },
        { rel: 'wsdl', href: `${path}?wsdl` },
        { rel: 'wsdl2', href: `${path}?wsdl2` },
        { rel: 'xsd', href: `${path}?xsd` },
      ]

/** The modules that write messages are loaded with the first page that shows a message. */
function createLazyMessages(context: FaceContext): NonNullable<RestOptions['messages']> {
  const load = createLazily(async () => (await import('./soap/soap-messages.ts')).createMessageView(context))
  return (...args) => chain(load(), write => write(...args))
}

function createSoapMount(context: FaceContext, { security, elsewhere }: MountParts): Mount {
  const load = createLazily(async () => {
    const [{ createSoapEndpoints }, port] = await Promise.all([import('./soap/soap-endpoints.ts'), security()])
    return createSoapEndpoints(context, elsewhere ? { elsewhere } : {}, port)
  })
  // Loaded soon after the start, so that no client waits for it; a failure is reported to the next
  // request.
  setTimeout(loadedAfterMs, undefined, { ref: false })
    .then(load)
    .catch(() => {})
  return {
    name: 'soap',
    segments: [...new Set(['soap', ...endpointsOf(context.app.contract).map(({ path }) => path.split('/')[1]!)])],
    serve: entry =>
      chain(
        load(),
        find => find(entry.path)?.serve(entry) ?? respond(404, { detail: 'this SOAP endpoint does not exist' }),
      ),
    refuse: (entry, refusal) =>
      chain(load(), find => find(entry.path)?.refuse(entry, refusal) ?? respondToRefusal(refusal)),
  }
}

const loadedAfterMs = 2000

/**
 * Created on first use and kept; after a failure the next use tries again. Half of a process's
 * modules are for SOAP.
 */
function createLazily<T>(make: () => Promise<T>): () => Maybe<T> {
  let loaded: Maybe<T> | undefined
  const attempt = async (): Promise<T> => {
    try {
      return (loaded = await make())
    } catch (thrown) {
      loaded = undefined
      throw thrown
    }
  }
  return () => (loaded ??= attempt())
}
