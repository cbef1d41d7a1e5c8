/**
 * Opens a service part by part, from its options to its front door; if one fails, all are closed. A
 * listener, or the host of another server, passes requests to it.
 */
import { randomUUID } from 'node:crypto'
import { RecentCallers } from '../base/time-shares.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import type { Implementation } from '../contract/implement.ts'
import type { LaterReceiver } from '../contract/later-call.ts'
import { writeIndex } from '../contract/list-index.ts'
import { findContractWarnings } from '../contract/review-warnings.ts'
import { accessLogEntry } from '../front/access-log.ts'
import { createFront, type FrontOptions } from '../front/front.ts'
import { createGate } from '../front/gate.ts'
import { openApiKeys } from '../identity/api-key.ts'
import { type TokenTrust, trustLocalKey } from '../identity/bearer-token.ts'
import { createIdentities } from '../identity/identities.ts'
import { type LocalKey, openLocalKey } from '../identity/local-key.ts'
import { createOpenIdSignIn } from '../identity/openid.ts'
import { findStrangeRoles } from '../identity/people-directory.ts'
import { guardPeoplePort } from '../identity/people-port.ts'
import type { Watching } from '../identity/watched-file.ts'
import { createChangesPage } from '../pages/changes.ts'
import type { Serve } from '../server/server-context.ts'
import { createServiceCalls } from '../service/calls.ts'
import type { FaceContext, Settings } from '../service/face-context.ts'
import type { Identities } from '../service/identity-port.ts'
import type { JobContext } from '../service/job.ts'
import { LargeWork } from '../service/large-work.ts'
import { countAbandonedCalls, createLaterLedger } from '../service/later-ledger.ts'
import type { TellReplica } from '../service/read-replica.ts'
import { type Store, Unavailable } from '../service/store.ts'
import { Turns } from '../service/turns.ts'
import { createFolderOf } from '../store/private-file.ts'
import { startOutbox } from './delivery/outbox.ts'
import { startSinks } from './delivery/sinks.ts'
import { createItemIdentifier } from './item-identifier.ts'
import { startJobWorkers } from './jobs/job-workers.ts'
import { createMounts, type MountParts } from './mounts.ts'
import { addFillGauges, addWorkGauges } from './operations/gauges.ts'
import { InstanceLease } from './operations/instance-lease.ts'
import { instrumentCalls } from './operations/instrumentation.ts'
import { changeFields, errorFields, type Logger } from './operations/log.ts'
import { addReplicaGauge, addStoreGauges, collectMetrics, Metrics } from './operations/metrics.ts'
import { answerInTrace, createSpans, findTraceFields, type Spans } from './operations/open-telemetry.ts'
import { OutageLog } from './operations/outage-log.ts'
import { OverloadGuard } from './operations/overload.ts'
import { SlowChanges } from './operations/slow-changes.ts'
import { StoreFiller } from './operations/store-filler.ts'
import type { Server, ServiceOptions } from './options.ts'
import { readDocs } from './read-docs.ts'
import { allowsSeededPasswords, type Tokens } from './safety.ts'
import {
  dataFileOf,
  explainOutage,
  findFormerDatabase,
  openLimiter,
  openReplica,
  openStore,
} from './store/open-store.ts'
import { hasBeenSeeded, seedStore } from './store/seed-store.ts'
import type { MessageSecurityPort } from './trust/message-security.ts'
import { createWorld, nameOf, reportJob, type World, warnOfSlowChange } from './world.ts'
import { codings } from './zlib-codings.ts'

const defaultSettings: Settings = { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] }

/** Requests from one address in a second. */
const floodLimit = 1000

/** Time between two removals of expired rows. */
export const sweepEveryMs = 60_000

/** Lifetime of a token that the server issues when it starts. */
const tokenSeconds = 8 * 3600

/** A service behind its front door, without an address. */
export interface OpenService {
  readonly answer: Serve
  readonly context: FaceContext
  readonly store: Store
  readonly figures: Metrics
  readonly load: OverloadGuard
  /** An error without a request to respond to: a bug of ours, reported. */
  readonly failed: World['failed']
  readonly logger: World['logger']
  /** A refused connection: the reason, and the address of its peer. */
  readonly refused: (reason: string, from: string) => void
  /** A request that was refused by its octets. */
  readonly misread: (refusal: { readonly status: number; readonly detail: string }, from: string) => void
  readonly token: Server['token']
  /** @param leave ends something else meanwhile, such as a listener */
  close(limit: number, leave?: (limit: number) => Promise<unknown>): Promise<void>
}

/** The differences if another server, or a test, is in front. */
export interface Surroundings {
  /** The caller, as the host knows it. */
  readonly hosted?: Identities['hosted']
  /** Whether the passwords of seeded people count. Default: depends on the address. */
  readonly seededPasswords?: boolean
  /** The time in protected answers, in milliseconds since 1970. Default: the clock's. */
  readonly protectedAt?: () => number
  /** A layer between the service and its store. */
  readonly store?: (kept: Store) => Store
  /** Omits the people of the seed, and so the time for hashing their passwords. */
  readonly withoutPeople?: boolean
}

/** The ingredients of every part; parts that are open are closed if a later one fails. */
interface Site {
  readonly app: Implementation
  readonly options: ServiceOptions
  readonly world: World
  readonly opened: AsyncDisposableStack
  readonly spans: Spans | undefined
  readonly protectedAt: Surroundings['protectedAt']
}

/** Opens everything that handles a request. */
export async function openService(
  app: Implementation,
  options: ServiceOptions,
  opened: AsyncDisposableStack,
  surroundings: Surroundings = {},
): Promise<OpenService> {
  const spans = options.openTelemetry && createSpans(options.openTelemetry)
  const { protectedAt } = surroundings
  const site: Site = { app, options, world: createWorld(options), opened, spans, protectedAt }
  const { clock, failed } = site.world
  await warnOfMistakes(site)
  const holdings = await openHoldings(site, surroundings)
  const { store, key, replica } = holdings
  await warnOfCrowded(site, store)
  const figures = new Metrics()
  const committed: (() => void)[] = []
  const work = startWork(site, store)
  const replies = await openLaterCalls(site, store)
  const context = createContext(site, holdings, work, figures, {
    committed: () => {
      for (const notify of committed) notify()
    },
    cancelled: id => replies?.forget(id),
  })
  const deliveries = startDeliveries(site, context, holdings)
  committed.push(deliveries.changes.wake, deliveries.sinks.wake)
  const door = await openDoor(site, context, holdings, { ...deliveries, replies }, figures)
  addStoreGauges(figures, [['primary', store], ...(replica ? [['replica', replica] as const] : [])])
  if (replica) addReplicaGauge(figures, replica)
  for (const { name, help, read, type, aggregator } of app.figures ?? [])
    figures.addGauge(name, help, read, type, aggregator)
  addWorkGauges(figures, { store, feed: deliveries.changes, sinks: deliveries.sinks, clock })
  options.siblings?.answer(() => collectMetrics(figures))
  const filler = new StoreFiller(store, { ...site.world, elapsed: () => performance.now() })
  addFillGauges(figures, filler)
  const stopUpkeep = startUpkeep(store, site.world, filler)
  const lease = new InstanceLease(store, app.contract, site.world, randomUUID())
  await lease.begin()
  await warnOfStrangers(site, lease)
  return {
    answer: spans?.answer(door.answer) ?? door.answer,
    context,
    store,
    figures,
    load: door.load,
    failed,
    logger: site.world.logger,
    refused: (reason, from) => door.refusedConnections.record(reason, { from }),
    misread: ({ status, detail }, from) => door.refusedRequests.record(detail, { from, status }),
    token: (subject, roles) => issueToken(key, app.contract.service, subject, roles, clock()),
    close: async (limit, leave) => {
      stopUpkeep()
      replies?.close()
      door.drain()
      work.slow.stop()
      await Promise.all([deliveries.stop(), leave?.(limit), work.workers.stop(limit)])
      door.flush()
      await lease.end()
      await Promise.all([store.close(), replica?.close(), holdings.limits.close()])
    },
  }
}

async function warnOfMistakes({ app, options, world }: Site): Promise<void> {
  for (const warning of findContractWarnings(app.contract)) world.logger.warn({ warning }, 'the contract leaves open')
  const former = await findFormerDatabase(app, options)
  if (former)
    world.logger.warn(
      { ...former, made: dataFileOf(app, options) },
      'a new database is created next to that of another service: if this service had that name before, give its file by `data`',
    )
}

/** Two services on one database would share their people, jobs, keys and audit. */
async function warnOfStrangers({ world }: Site, lease: InstanceLease): Promise<void> {
  const found = await lease.findStrangers().catch((thrown: unknown) => {
    if (thrown instanceof Unavailable) return [] // readiness reports it
    throw thrown
  })
  for (const { service, instance } of found)
    world.logger.warn(
      { service, instance },
      'another service uses this database, and both share its people, jobs and keys: give each a database or a schema of its own; only a service that is being renamed may go on',
    )
}

/** The data may reveal what the contract cannot. */
async function warnOfCrowded({ world }: Site, store: Store): Promise<void> {
  const found = await store.findCrowded?.().catch((thrown: unknown) => {
    if (thrown instanceof Unavailable) return [] // readiness reports it
    throw thrown
  })
  for (const { resource, field, items, keys } of found ?? [])
    world.logger.warn(
      {
        warning: `about ${items} items of ${resource} have the same ${field}, and a list of them sorts all: declare indexes: [${writeIndex(keys)}]; unserved: 'accept' ends this warning`,
      },
      'the data asks for an index',
    )
}

type Holdings = Awaited<ReturnType<typeof openHoldings>>
/** Opens the store and its replica, the rate limits of callers, and their identities. */
async function openHoldings(site: Site, surroundings: Surroundings) {
  const { app, options, opened } = site
  const people = await openPeople(site, surroundings)
  const limits = opened.adopt(await openLimiter(options), each => each.close())
  const replica = opened.adopt(await openReplica(app, options), each => each?.close())
  const { hosted } = surroundings
  return { ...people, callers: { ...people.identities, ...(hosted && { hosted }) }, limits, replica }
}

type RunningWork = ReturnType<typeof startWork>
function startWork({ app, options, world, opened }: Site, store: Store) {
  const slow = opened.adopt(new SlowChanges(warnOfSlowChange(world.logger)), each => each.stop())
  const recent = new RecentCallers()
  const loop = {
    later: setImmediate,
    clock: () => performance.now(),
    activeMs: () => performance.eventLoopUtilization().active,
    sleep: setTimeout,
    callers: recent,
  }
  const turns = new Turns(loop)
  const largeWork = new LargeWork(loop)
  const workers = startOwnWorkers(app, options, world, { store, watch: slow.watch, turns })
  opened.defer(() => workers.stop(0))
  return { slow, workers, recent, turns, largeWork }
}

function logReplica(logger: Logger, ...[unused, thrown]: Parameters<TellReplica>): void {
  const cause = thrown instanceof Unavailable ? (thrown.cause ?? thrown) : thrown
  if (unused === undefined) logger.info({}, 'the replica is read again')
  else logger.warn({ why: unused, ...(cause !== undefined && errorFields(cause)) }, 'the replica is not read')
}

function createContext(
  { app, options, world, spans, protectedAt }: Site,
  { store, replica, limits, callers }: Holdings,
  { workers, slow, recent, turns, largeWork }: RunningWork,
  figures: Metrics,
  { committed, cancelled }: { readonly committed: () => void; readonly cancelled: (job: string) => void },
): FaceContext {
  const { clock } = world
  const calls = createServiceCalls(app, {
    store,
    replica,
    tellReplica: (unused, cause) => logReplica(world.logger, unused, cause),
    limiter: limits.limiter,
    clock,
    id: createItemIdentifier,
    log: world.line,
    trace: spans ? spans.fields : findTraceFields,
    recent,
    turns,
    started: workers.wake,
    cancelled,
    watch: slow.watch,
    done: deed => {
      world.logger.info(changeFields(deed), 'changed')
      committed()
    },
  })
  return {
    app,
    calls: instrumentCalls(calls, figures, spans),
    identities: callers,
    clock,
    ...(protectedAt && { protectedAt }),
    id: randomUUID,
    report: world.report,
    settings: { ...defaultSettings, ...options.settings },
    turns,
    largeWork,
  }
}

/** Calls that wait for answers of another service continue where they were. */
async function openLaterCalls({ app, world, opened }: Site, store: Store): Promise<LaterReceiver | undefined> {
  const { clock } = world
  const ledger = createLaterLedger(app.contract, store, clock)
  if (app.contract.ports.length > 0)
    for (const [exchange, calls] of await countAbandonedCalls(app.contract, store))
      world.logger.warn(
        { exchange, calls },
        'calls wait for later answers of an exchange that now answers at once: such answers are refused, and the calls are removed a day or more after their time is over',
      )
  const receiver = await app.later?.open(ledger, { clock, id: createItemIdentifier })
  opened.defer(() => receiver?.close())
  return receiver
}

type Deliveries = ReturnType<typeof startDeliveries>
/** The publishers of changes: SOAP replies, the feed, sinks. */
function startDeliveries(site: Site, context: FaceContext, { store, limits }: Holdings) {
  const { app, options, world, opened } = site
  const { replies = [] } = options
  const source = { store, clock: world.clock, id: createItemIdentifier, failed: world.unusable }
  const outbox = replies.length > 0 ? startOutbox(source, replies) : undefined
  opened.defer(() => outbox?.stop())
  const changes = createChangesPage(context, store, limits.limiter)
  const sinks = startEventSinks(app, options, world, store)
  opened.defer(() => sinks.stop())
  const stop = (): Promise<unknown> => {
    changes.stop()
    return Promise.all([sinks.stop(), outbox?.stop()])
  }
  return { outbox, changes, sinks, stop }
}

async function openDoor(
  { options, world, opened, spans }: Site,
  context: FaceContext,
  { store, identities: people, openid }: Holdings,
  { changes, outbox, replies }: Deliveries & Pick<MountParts, 'replies'>,
  figures: Metrics,
) {
  const security = await prepareSecurity(options, context, world, store)
  const load = opened.adopt(new OverloadGuard(options.overload), each => each.stop())
  const outages = new OutageLog(world.logger)
  const refusedConnections = new OutageLog(world.logger, 'refused a connection')
  const refusedRequests = new OutageLog(world.logger, 'refused a request')
  const mounts = createMounts(context, {
    people,
    openid,
    health: {
      store,
      load,
      changed: status => world.logger[status === 'ready' ? 'info' : 'warn']({ status }, 'readiness has changed'),
    },
    figures,
    peers: options.siblings,
    changes,
    security,
    elsewhere: outbox?.elsewhere,
    docs: siteOf(options),
    replies,
  })
  const answer = createFront(context, mounts, {
    gate: createGate(load, options.flood ?? floodLimit),
    codings,
    figures,
    onUnavailable: ({ id: request, notes: { cause, operation, subject } }) =>
      outages.record(cause, { request, ...nameOf({ operation, subject }) }),
    ...logResponses(options, world),
    ...(!spans && { inTrace: answerInTrace }),
  })
  const drain = (): void => {
    load.stop()
    load.isDraining = true
  }
  const flush = (): void => {
    outages.flush()
    world.flush()
    refusedConnections.flush()
    refusedRequests.flush()
  }
  return { answer, load, refusedConnections, refusedRequests, drain, flush }
}

const siteOf = ({ docs }: ServiceOptions) =>
  docs === undefined ? undefined : readDocs(typeof docs === 'string' ? { folder: docs } : docs)

/** Removes expired data, and fills indexes, from time to time. Returns a function that ends it. */
function startUpkeep(store: Store, { clock, failed }: World, filler: StoreFiller): () => void {
  // One at a time: each leaves most of the time to others, and several together would not.
  let sweep: Promise<unknown> | undefined
  const sweeping = setInterval(() => {
    sweep ??= store
      .sweep(clock())
      .catch(failed)
      .finally(() => (sweep = undefined))
    void filler.run()
  }, sweepEveryMs).unref()
  void filler.run()
  return () => {
    clearInterval(sweeping)
    filler.stop()
  }
}

/** The store, the local key and the identities. */
async function openPeople(
  { app, options, world, opened, spans }: Site,
  {
    withoutPeople = false,
    seededPasswords = allowsSeededPasswords(options),
    store: wrapStore = each => each,
  }: Surroundings,
) {
  const { clock, logger, unusable: failed } = world
  const { service } = app.contract
  const data = dataFileOf(app, options)
  if (data !== ':memory:') createFolderOf(data)
  const keyFile = options.key ?? `${data}.key`
  const key = openLocalKey(keyFile)
  const trust = await openTrust(options.tokens, key, service, { clock, failed })
  const keys = openApiKeys(options.keys ?? `${data}.keys`, { clock, failed })
  const kept = opened.adopt(
    await openStore(app, options, {
      warn: detail => logger.warn({ detail }, 'stored values are longer than the contract allows'),
      undone: detail => logger.warn({ detail }, 'the start waits for the database'),
      former: detail => logger.warn({ detail }, 'a former primary of the database accepts changes'),
      unprepared: () =>
        logger.warn(
          { cure: 'let it keep them (PgBouncer 1.21: max_prepared_statements), or pool sessions' },
          'a pooler of the database does not keep prepared statements: each statement is planned anew',
        ),
    }),
    each => each.close(),
  )
  const traced = spans?.store(kept, options.database === undefined ? 'sqlite' : 'postgresql') ?? kept
  const store = wrapStore(traced)
  if (key.isNew && (await hasBeenSeeded(app, store)))
    logger.warn(
      { key: keyFile },
      'a new key is created for a database that was used with another key: tokens, cookies and password digests made with that key are refused; restore its file, or give its path by `key`',
    )
  await explainOutage(app, options, () => seedStore(app, store, key, clock(), { withoutPeople }))
  for (const warning of await findStrangeRoles(store, app.contract))
    logger.warn({ warning }, 'some people have roles that are probably mistakes')
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
  const openid =
    options.openid &&
    createOpenIdSignIn(options.openid, { secret: key.secret(`sign-ins of ${service}`), clock, failed })
  return { store, key, identities, openid }
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
  { clock, report, line, failed }: World,
  held: Pick<JobContext, 'store' | 'watch' | 'turns'>,
) {
  const context = {
    app,
    ...held,
    clock,
    id: createItemIdentifier,
    failed: reportJob(report),
    stalled: failed,
    log: line,
  }
  const isOff = options.work === false
  return startJobWorkers(context, isOff ? [] : options.schedules, options.work === false ? 0 : options.work)
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
 * A configured policy is compiled now, so that its mistakes end the start; the default policy is
 * compiled with the first message.
 */
async function prepareSecurity(
  { messageSecurity = {} }: ServiceOptions,
  { identities, clock, app }: FaceContext,
  { logger, unusable: failed }: World,
  store: Store,
): Promise<() => Promise<MessageSecurityPort>> {
  const endpoints = endpointsOf(app.contract)
  const { ports } = app.contract
  const create = async (): Promise<MessageSecurityPort> => {
    const { createMessageSecurity } = await import('./trust/message-security.ts')
    return createMessageSecurity(messageSecurity, { store, identities, clock, logger, failed, endpoints, ports })
  }
  const isDeclared = [...endpoints, ...ports].some(({ security }) => typeof security === 'object')
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
