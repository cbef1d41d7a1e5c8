/**
 * Starts a service part by part, from its options to its front door, and then its address; if one
 * fails, all are closed. What is mounted in another server has the same parts, and no address.
 */
import { randomUUID } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import type { Implementation } from '../contract/implement.ts'
import { findContractWarnings } from '../contract/review-warnings.ts'
import { accessLogEntry } from '../front/access-log.ts'
import { createFront, type FrontOptions } from '../front/front.ts'
import { createGate } from '../front/gate.ts'
import type { Request, Response } from '../http/message.ts'
import { openApiKeys } from '../identity/api-key.ts'
import { type TokenTrust, trustLocalKey } from '../identity/bearer-token.ts'
import { createIdentities } from '../identity/identities.ts'
import { type LocalKey, openLocalKey } from '../identity/local-key.ts'
import { guardPeoplePort } from '../identity/people-port.ts'
import type { Watching } from '../identity/watched-file.ts'
import { createChangesPage } from '../pages/changes.ts'
import { startListener } from '../server/listener.ts'
import { createServiceCalls } from '../service/calls.ts'
import type { FaceContext, RequestNotes, Settings } from '../service/face-context.ts'
import type { WatchChange, WorkOrigin, WriteLine } from '../service/handler-facts.ts'
import type { Identities } from '../service/identity-port.ts'
import { withReplica } from '../service/read-replica.ts'
import type { JobRow, Store } from '../service/store.ts'
import { Turns } from '../service/turns.ts'
import { createFolderOf } from '../store/private-file.ts'
import { startOutbox } from './delivery/outbox.ts'
import { startSinks } from './delivery/sinks.ts'
import { addFrontGauges, addWorkGauges } from './gauges.ts'
import { createItemIdentifier } from './item-identifier.ts'
import { startJobWorkers } from './job-workers.ts'
import type { MessageSecurityPort } from './message-security.ts'
import { createMounts } from './mounts.ts'
import { dataFileOf, findFormerDatabase, openLimiter, openReplica, openStore } from './open-store.ts'
import { instrumentCalls } from './operations/instrumentation.ts'
import { changeFields, createLogger, describeErrors, errorFields } from './operations/log.ts'
import { addStoreGauges, collectMetrics, Metrics } from './operations/metrics.ts'
import { OutageLog } from './operations/outage-log.ts'
import { OverloadGuard } from './operations/overload.ts'
import { SlowChanges } from './operations/slow-changes.ts'
import { StoreFiller } from './operations/store-filler.ts'
import type { ServeOptions, Server, ServiceOptions } from './options.ts'
import { allowsSeededPasswords, type Tokens } from './safety.ts'
import { seedStore } from './seed-store.ts'
import { codings } from './zlib-codings.ts'

const defaultSettings: Settings = { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] }

/** Requests of one address in a second. */
const floodLimit = 1000

/** Between two removals of expired rows. */
export const sweepEveryMs = 60_000

/** Lifetime of a token that the server issues at its start. */
const tokenSeconds = 8 * 3600

/** A service behind its front door, without an address. */
export interface OpenService {
  readonly answer: (request: Request) => Maybe<Response>
  readonly context: FaceContext
  readonly store: Store
  readonly figures: Metrics
  readonly load: OverloadGuard
  /** What is no answer to a request: a bug of ours, reported. */
  readonly failed: World['failed']
  /** A connection that was not let in: why, and the address of its peer. */
  readonly refused: (why: string, from: string) => void
  readonly token: Server['token']
  /** @param leave what else ends meanwhile, such as a listener */
  close(limit: number, leave?: (limit: number) => Promise<unknown>): Promise<void>
}

/** What differs where another server, or a test, is in front. */
export interface Surroundings {
  /** The caller, as the host knows them. */
  readonly hosted?: Identities['hosted']
  /** Whether passwords of the seeded people count. Default: by the address. */
  readonly seededPasswords?: boolean
  /** Leaves the people of the seed out, and so the time that their passwords take. */
  readonly withoutPeople?: boolean
}

export async function start(app: Implementation, options: ServeOptions, opened: AsyncDisposableStack): Promise<Server> {
  const service = await openService(app, options, opened)
  const { load, figures, context } = service
  const listener = await startListenerOf(options)(service.answer, {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    ...(options.tls && { tls: options.tls }),
    // Behind a proxy every client comes from its address.
    limits: { ...(context.settings.trustProxy && { connectionsPerAddress: Infinity }), ...options.limits },
    onError: service.failed,
    onRefusal: service.refused,
  })
  addFrontGauges(figures, load, listener)
  return {
    url: listener.url,
    port: listener.port,
    token: service.token,
    reload: () => {
      if (options.tls) listener.secure(options.tls)
    },
    close: (limit = 10_000) => service.close(limit, each => listener.close(each)),
  }
}

const startListenerOf =
  ({ http = 'own' }: ServeOptions): typeof startListener =>
  async (serve, options) =>
    http === 'own'
      ? startListener(serve, options)
      : (await import('../server/node-listener.ts')).startNodeListener(serve, options)

/** Opens all that answers a request; a host in front, or a listener, hands requests to `answer`. */
export async function openService(
  app: Implementation,
  options: ServiceOptions,
  opened: AsyncDisposableStack,
  surroundings: Surroundings = {},
): Promise<OpenService> {
  const world = createWorld(options)
  const { clock, failed } = world
  for (const warning of findContractWarnings(app.contract)) world.logger.warn({ warning }, 'the contract leaves open')
  const former = await findFormerDatabase(app, options)
  if (former)
    world.logger.warn(
      { ...former, made: dataFileOf(app, options) },
      'a new database is made next to that of another service: if this one had that name, give its file by `data`',
    )
  const people = await openPeople(app, options, world, opened, surroundings)
  const { store, key } = people
  const limits = opened.adopt(await openLimiter(options), each => each.close())
  const replica = opened.adopt(await openReplica(app, options.replica), each => each?.close())
  const slow = opened.adopt(new SlowChanges(warnOfSlowChange(world.logger)), each => each.stop())
  const workers = startOwnWorkers(app, options, world, { store, watch: slow.watch })
  opened.defer(() => workers.stop(0))
  const figures = new Metrics()
  const committed: (() => void)[] = []
  const context: FaceContext = {
    app,
    calls: instrumentCalls(
      createServiceCalls(app, {
        store: replica ? withReplica(store, replica, clock) : store,
        limiter: limits.limiter,
        clock,
        id: createItemIdentifier,
        log: world.line,
        started: workers.wake,
        watch: slow.watch,
        done: deed => {
          world.logger.info(changeFields(deed), 'changed')
          for (const tell of committed) tell()
        },
      }),
      figures,
    ),
    identities: { ...people.identities, ...(surroundings.hosted && { hosted: surroundings.hosted }) },
    clock,
    id: randomUUID,
    report: world.report,
    settings: { ...defaultSettings, ...options.settings },
    turns: new Turns(setImmediate, () => performance.now()),
  }
  const security = await prepareSecurity(options, context, world, store)
  const { replies = [] } = options
  const outbox =
    replies.length > 0 ? startOutbox({ store, clock, id: createItemIdentifier, failed }, replies) : undefined
  opened.defer(() => outbox?.stop())
  const changes = createChangesPage(context, store, limits.limiter)
  const sinks = startEventSinks(app, options, world, store)
  opened.defer(() => sinks.stop())
  committed.push(changes.wake, sinks.wake)
  const load = opened.adopt(new OverloadGuard(options.overload), each => each.stop())
  const outages = new OutageLog(world.logger)
  const refusedConnections = new OutageLog(world.logger, 'refused a connection')
  const gate = createGate(load, options.flood ?? floodLimit)
  const mounts = createMounts(context, {
    people: people.identities,
    health: { store, load },
    figures,
    peers: options.siblings,
    changes,
    security,
    elsewhere: outbox?.elsewhere,
  })
  const answer = createFront(context, mounts, {
    gate,
    codings,
    figures,
    onUnavailable: ({ id: request, notes: { cause, operation, subject } }) =>
      outages.record(cause, { request, ...nameOf({ operation, subject }) }),
    ...logResponses(options, world),
  })
  addStoreGauges(figures, [['primary', store], ...(replica ? [['replica', replica] as const] : [])])
  addWorkGauges(figures, { store, feed: changes, sinks })
  options.siblings?.answer(() => collectMetrics(figures))
  const filler = new StoreFiller(store, failed)
  const sweeping = setInterval(() => {
    void store.sweep(clock()).catch(failed)
    void filler.run()
  }, sweepEveryMs).unref()
  void filler.run()
  return {
    answer,
    context,
    store,
    figures,
    load,
    failed,
    refused: (why, from) => refusedConnections.record(why, { from }),
    token: (subject, roles) => issueToken(key, app.contract.service, subject, roles, clock()),
    close: async (limit, leave) => {
      clearInterval(sweeping)
      filler.stop()
      load.stop()
      slow.stop()
      load.isDraining = true
      changes.stop()
      await Promise.all([sinks.stop(), leave?.(limit), workers.stop(limit), outbox?.stop()])
      outages.flush()
      refusedConnections.flush()
      await Promise.all([store.close(), replica?.close(), limits.close()])
    },
  }
}

/** The clock and the reports of a service. */
export interface World {
  readonly clock: () => number
  readonly logger: NonNullable<ServeOptions['logger']>
  readonly report: NonNullable<ServeOptions['onError']>
  readonly failed: (thrown: unknown) => void
  /** Writes the lines of handlers. */
  readonly line: WriteLine
}

export function createWorld(options: ServiceOptions): World {
  const logger = options.logger ?? createLogger()
  const report: World['report'] =
    options.onError ??
    ((incident, thrown, notes) =>
      logger.error({ incident, ...nameOf(notes), ...errorFields(thrown) }, 'internal error'))
  const line: WriteLine = (level, message, { request, ...notes }, fields) =>
    logger[level]({ request, ...nameOf(notes), ...(fields && { fields: describeErrors(fields) }) }, message)
  return { clock: options.clock ?? Date.now, logger, report, failed: thrown => report(randomUUID(), thrown), line }
}

/** The store, the local key and the identities. */
async function openPeople(
  app: Implementation,
  options: ServiceOptions,
  { clock, logger, failed }: World,
  opened: AsyncDisposableStack,
  { withoutPeople = false, seededPasswords = allowsSeededPasswords(options) }: Surroundings,
) {
  const { service } = app.contract
  const data = dataFileOf(app, options)
  if (data !== ':memory:') createFolderOf(data)
  const key = openLocalKey(options.key ?? `${data}.key`)
  const trust = await openTrust(options.tokens, key, service, { clock, failed })
  const keys = openApiKeys(options.keys ?? `${data}.keys`, { clock, failed })
  const store = opened.adopt(await openStore(app, options), each => each.close())
  await seedStore(app, store, key, clock(), withoutPeople)
  const identities = createIdentities({
    store,
    key,
    trust,
    clock,
    keys,
    service,
    seeded: seededPasswords,
    people: options.people && guardPeoplePort(options.people, failed),
    certificateName: options.certificateName,
    onLock: from => logger.warn({ from }, 'log-ins from this address are refused for a while'),
  })
  return { store, key, identities }
}

async function openTrust(
  tokens: Tokens | undefined,
  key: LocalKey,
  service: string,
  watching: Watching,
): Promise<TokenTrust> {
  if (!tokens) return trustLocalKey(key, service)
  const { jwks, audience = service, ...rest } = tokens
  const { openJwks } = await import('../identity/jwks.ts')
  return { ...rest, audience, keys: openJwks(jwks, watching) }
}

function startOwnWorkers(
  app: Implementation,
  options: ServiceOptions,
  { clock, report, line }: World,
  held: { readonly store: Store; readonly watch: WatchChange },
) {
  const context = { app, ...held, clock, id: createItemIdentifier, failed: reportJob(report), log: line }
  const isOff = options.work === false
  return startJobWorkers(context, isOff ? [] : options.schedules, options.work === false ? 0 : options.work)
}
export const reportJob =
  (report: World['report']) =>
  ({ id, job: operation, owner: subject }: JobRow, thrown: unknown): void =>
    report(id, thrown, { operation, subject })

const nameOf = ({ operation, subject }: RequestNotes = {}): object => ({
  ...(operation !== undefined && { operation }),
  ...(subject !== undefined && { subject }),
})

export const warnOfSlowChange =
  (logger: World['logger']) =>
  ({ request, operation, subject }: WorkOrigin, by: 'call' | 'job', heldMs: number): void =>
    logger.warn({ request, ...nameOf({ operation, subject }), heldMs: Math.round(heldMs) }, slowChange[by])
const slowChange = {
  call: 'a change holds the store for more than a second: do what is slow in a job',
  job: 'a change of a job holds the store for more than a second: do what is slow before it, outside of ctx.once and derive',
}

function startEventSinks(app: Implementation, options: ServiceOptions, { clock, logger }: World, store: Store) {
  return startSinks(
    {
      app,
      store,
      clock,
      id: createItemIdentifier('i'),
      failed: (sink, thrown) => logger.warn({ sink, ...errorFields(thrown) }, 'delivery failed'),
      backOff: options.sinkBackOff,
    },
    options.sinks ?? [],
  )
}

/**
 * A configured policy is compiled now, so that its mistakes end the start; the default one with the
 * first message.
 */
async function prepareSecurity(
  { messageSecurity = {} }: ServiceOptions,
  { identities, clock, app }: FaceContext,
  { logger, failed }: World,
  store: Store,
): Promise<() => Promise<MessageSecurityPort>> {
  const endpoints = endpointsOf(app.contract)
  const create = async (): Promise<MessageSecurityPort> => {
    const { createMessageSecurity } = await import('./message-security.ts')
    return createMessageSecurity(messageSecurity, { store, identities, clock, logger, failed, endpoints })
  }
  const isDeclared = endpoints.some(({ security }) => typeof security === 'object')
  if (Object.keys(messageSecurity).length === 0 && !isDeclared) return create
  const created = await create()
  return async () => created
}

function logResponses({ accessLog }: ServiceOptions, { logger }: World): Pick<FrontOptions, 'log'> {
  if (!accessLog) return {}
  return { log: (entry, response, tookMs) => logger.info(accessLogEntry(entry, response, tookMs), 'answered') }
}

async function issueToken(
  key: LocalKey,
  service: string,
  subject: string,
  roles: readonly string[],
  now: number,
): Promise<string> {
  const { signToken } = await import('../identity/bearer-token.ts')
  return signToken(key, service, { subject, roles, expires: tokenSeconds }, now)
}
