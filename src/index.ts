/** The entry of an application: the vocabulary of contracts, `implement` and `serve`. */
import './host/node-version.ts'

export { type CommandConfig, defineConfig } from './cli/config.ts'
export * from './contract/index.ts'

import type { Implementation } from './contract/implement.ts'
import type { HandlerOptions, HostedCaller, MountableService } from './host/handler.ts'
import type { Traced } from './host/operations/instrumentation.ts'
import type { OpenTelemetryApi } from './host/operations/open-telemetry.ts'
import type { ServeOptions, Server } from './host/serve.ts'
import type { MessageSecurity } from './host/trust/message-security.ts'
import type { OpenIdProvider } from './identity/openid.ts'
import type { PeoplePort, PersonRights } from './identity/people-port.ts'
import type { FastifyHost } from './server/host-facts.ts'
import type { Schedule, ScheduleOf } from './service/schedule.ts'

export type {
  FastifyHost,
  HandlerOptions,
  HostedCaller,
  MessageSecurity,
  MountableService,
  OpenIdProvider,
  OpenTelemetryApi,
  PeoplePort,
  PersonRights,
  Schedule,
  ScheduleOf,
  ServeOptions,
  Server,
  Traced,
}

/**
 * Serves until closed; see `ServeOptions`. The server is loaded here, so that a contract alone does
 * not load it.
 */
export async function serve(app: Implementation, options: ServeOptions = {}): Promise<Server> {
  const host = await import('./host/serve.ts')
  return host.startService(app, options)
}

/**
 * A service for the server that you already have: a fetch handler, a listener of node:http, a
 * middleware of Express and a plugin of Fastify; see `HandlerOptions`.
 */
export async function handler(app: Implementation, options: HandlerOptions = {}): Promise<MountableService> {
  const host = await import('./host/handler.ts')
  return host.createHandler(app, options)
}
