/**
 * Puts the parts together: a contract with its handlers, a store, the two faces, an address. The one place where time,
 * randomness, keys and sockets come from.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { chain, type Maybe } from '../base/maybe.ts'
import type { Implementation } from '../contract/implement.ts'
import { requireSoundContract } from '../contract/review.ts'
import { withAccessLog } from '../front/access-log.ts'
import { applyForwarded } from '../front/forwarded.ts'
import type { Request, Response } from '../http/message.ts'
import { openApiKeys } from '../identity/api-key.ts'
import { type TokenTrust, trustLocalKey } from '../identity/bearer-token.ts'
import { createIdentities, type People } from '../identity/identities.ts'
import { type LocalKey, openLocalKey } from '../identity/local-key.ts'
import type { Watching } from '../identity/watched-file.ts'
import { type ChangesPage, createChangesPage } from '../pages/changes.ts'
import { createHealthPages } from '../pages/health.ts'
import { createLoginPage } from '../pages/login.ts'
import { createOpenApiPage } from '../pages/openapi.ts'
import { createRestFace } from '../rest/face.ts'
import { type HttpListener, type ServerLimits, startListener, type Tls } from '../server/listener.ts'
import { createServiceCalls } from '../service/calls.ts'
import type { FaceContext, Settings } from '../service/face-context.ts'
import { createMemoryLimiter, createSharedLimiter, type Limiter } from '../service/limiter.ts'
import { withReplica } from '../service/read-replica.ts'
import type { Schedule } from '../service/schedule.ts'
import type { JobRow, Store } from '../service/store.ts'
import type { GateRefusal } from '../soap/endpoint.ts'
import type { ReplyTargets } from '../soap/headers/addressing.ts'
import { startOutbox } from './delivery/outbox.ts'
import { type Delivery, type EventSink, type Sinks, startSinks } from './delivery/sinks.ts'
import { createItemIdentifier } from './item-identifier.ts'
import { startJobWorkers } from './job-workers.ts'
import type { MessageSecurity, MessageSecurityPort } from './message-security.ts'
import type { ClusterPeers } from './operations/cluster.ts'
import { instrument } from './operations/instrumentation.ts'
import { changeFields, createLogger, errorFields, type Logger } from './operations/log.ts'
import { addStoreGauges, collectMetrics, expositionType, Metrics, writeExposition } from './operations/metrics.ts'
import { type Overload, OverloadGuard } from './operations/overload.ts'
import { allowsSeededPasswords, ensureSafe, type Tokens } from './safety.ts'
import { seedStore } from './seed-store.ts'
import { codingStreams, codings, decodings } from './zlib-codings.ts'

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 8080; 0 picks a free one. */
  readonly port?: number
  /** The database file, or `:memory:`; default `./data/<service>.sqlite`. */
  readonly data?: string
  /** `postgres://…`: PostgreSQL in place of the file. */
  readonly database?: string
  /** `postgres://…` of a standby of it: safe operations are asked there first, and may be as old as it is behind. */
  readonly replica?: string
  readonly tls?: Tls
  /** Whose bearer tokens are taken; default those that the local key has signed. */
  readonly tokens?: Tokens
  /** The local key, in a file that all instances share; default beside the data, made when it is not there. */
  readonly key?: string
  /** The file of API keys; default beside the data. */
  readonly keys?: string
  /** Lets the example's people in, with the passwords that everybody knows, on any address. */
  readonly insecure?: boolean
  readonly limits?: Partial<ServerLimits>
  readonly settings?: Partial<Settings>
  /** What proves messages at `/soap/…/secure`, beside the people's passwords. */
  readonly messageSecurity?: MessageSecurity
  /** Addresses that replies of SOAP may go to (ReplyTo, FaultTo), and all below them; default none. */
  readonly replies?: readonly string[]
  /** Requests a second that one address may send, whoever it says it is; default 1,000. */
  readonly flood?: number
  /** A line for each change and each error. Default pino on standard error; anything that is called as pino is will do. */
  readonly logger?: Logger
  /** What went wrong inside, with the incident id that the caller was given. Default: a line of the logger's. */
  readonly onError?: (incident: string, thrown: unknown) => void
  /** The other processes of this machine that serve the same, where there are any. */
  readonly siblings?: ClusterPeers | undefined
  /** What every committed change is handed on to: `webhook(…)`, or a function of one's own. */
  readonly sinks?: readonly EventSink[]
  /** Milliseconds before a sink that failed is tried again, doubled each time; default 5,000. */
  readonly sinkBackOff?: number
  /** Jobs that this process runs at once; default 2. False: none, `diglot work` runs them. */
  readonly work?: number | false
  /** Jobs that begin by the clock, once for all instances. */
  readonly schedules?: readonly Schedule[]
  /** A line of the logger's for each request; default none. */
  readonly accessLog?: boolean
  /** When requests are turned away because too much is under way. */
  readonly overload?: Overload
  /** Milliseconds since 1970; default the system's clock. */
  readonly clock?: () => number
}

export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  /** A bearer token for a person or a role, by the local key. */
  readonly token: (subject: string, roles: readonly string[]) => Promise<string>
  /** Takes what the files of key and certificate say now, for handshakes to come. Throws `StartFailure` and keeps the old ones. */
  reload(): void
  /** Stops taking requests, gives those under way `limit` milliseconds (default 10,000), closes the store. */
  close(limit?: number): Promise<void>
}

/** Serves until closed. Throws `ContractMistakes`, `Unsafe`, `StartFailure` or the store's own error, each with its cure. */
export async function serve(app: Implementation, options: ServeOptions = {}): Promise<Server> {
  requireSoundContract(app)
  ensureSafe(options)
  return allOrNothing(opened => start(app, options, opened))
}

/** A start that fails leaves nothing open. */
async function allOrNothing<T>(start: (opened: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const opened = new AsyncDisposableStack()
  try {
    return await start(opened)
  } catch (thrown) {
    await opened.disposeAsync().catch(() => {}) // what the start failed of is to be said
    throw thrown
  }
}

async function start(app: Implementation, options: ServeOptions, opened: AsyncDisposableStack): Promise<Server> {
  const { contract } = app
  const clock = options.clock ?? Date.now
  const data = options.data ?? `./data/${contract.service}.sqlite`
  if (data !== ':memory:') mkdirSync(dirname(data), { recursive: true })
  const logger = options.logger ?? createLogger()
  const report =
    options.onError ??
    ((incident, thrown) => logger.error({ incident, ...errorFields(thrown) }, 'something went wrong'))
  const failed = (thrown: unknown): void => report(randomUUID(), thrown)
  const key = openLocalKey(options.key ?? `${data}.key`)
  const trust = await trustOf(options.tokens, key, contract.service, { clock, failed })
  const keys = openApiKeys(options.keys ?? `${data}.keys`, { clock, failed })
  const store = opened.adopt(await storeAt(app, options.database, data), each => each.close())
  const replica = opened.adopt(await replicaOf(app, options.replica), each => each?.close())
  await seedStore(app, store, key, clock())
  const identities = createIdentities({
    store,
    key,
    trust,
    clock,
    keys,
    service: contract.service,
    seeded: allowsSeededPasswords(options),
    onLock: from => logger.warn({ from }, 'log-ins from this address are refused for a while'),
  })
  const limits = opened.adopt(await limiterOf(options), each => each.close())
  const work = startJobWorkers(
    { app, store, clock, id: createItemIdentifier, failed: (job, thrown) => report(job.id, thrown) },
    options.work === false ? [] : options.schedules,
    options.work === false ? 0 : options.work,
  )
  opened.defer(() => work.stop(0))
  const serving: FaceContext = {
    app,
    calls: createServiceCalls(app, {
      store: replica ? withReplica(store, replica, clock) : store,
      limiter: limits.limiter,
      clock,
      id: createItemIdentifier,
      started: work.kick,
      done: deed => {
        logger.info(changeFields(deed), 'changed')
        feed.kick()
        sinks.kick()
      },
    }),
    identities,
    clock,
    id: randomUUID,
    report,
    settings: { ...defaults, ...options.settings },
  }
  const secured = async (): Promise<MessageSecurityPort> => {
    const { createMessageSecurity: messageSecurity } = await import('./message-security.ts')
    return messageSecurity(options.messageSecurity ?? {}, { store, identities, clock })
  }
  // What was configured is looked at now, and its mistakes end the start.
  const configured = options.messageSecurity && (await secured())
  const { replies = [] } = options
  const posting =
    replies.length > 0 ? startOutbox({ store, clock, id: createItemIdentifier, failed }, replies) : undefined
  opened.defer(() => posting?.stop())
  const feed = createChangesPage(serving, store, limits.limiter)
  const sinks = startSinks(
    {
      app,
      store,
      clock,
      id: createItemIdentifier('i'),
      failed: (sink, thrown) => logger.warn({ sink, ...errorFields(thrown) }, 'not delivered'),
      backOff: options.sinkBackOff,
    },
    options.sinks ?? [],
  )
  opened.defer(() => sinks.stop())
  const load = opened.adopt(new OverloadGuard(options.overload), each => each.stop())
  const figures = new Metrics()
  const handle = router(serving, {
    store,
    people: identities,
    flood: options.flood ?? 1000,
    load,
    figures,
    secured: configured ? async () => configured : secured,
    elsewhere: posting?.elsewhere,
    siblings: options.siblings,
    feed,
  })
  const behind = serving.settings.trustProxy
  const answer = withAccessLog(handle.serve, {
    load,
    trusted: behind,
    id: serving.id,
    answered: (face, status) => figures.answered(face, status),
    log: options.accessLog ? arrival => logger.info(arrival, 'answered') : undefined,
  })
  const listener = await startListener(behind ? request => answer(applyForwarded(request)) : answer, {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    ...(options.tls && { tls: options.tls }),
    ...(options.limits && { limits: options.limits }),
    onError: failed,
  })
  gauges(figures, load, listener)
  addStoreGauges(figures, [['primary', store], ...(replica ? [['replica', replica] as const] : [])])
  workGauges(figures, { store, feed, sinks })
  options.siblings?.answer(() => collectMetrics(figures))
  const sweeping = setInterval(() => void store.sweep(clock()).catch(failed), sweepEvery).unref()
  return {
    url: listener.url,
    port: listener.port,
    token: async (subject, roles) => {
      const { signToken: sign } = await import('../identity/bearer-token.ts')
      return sign(key, contract.service, { subject, roles, expires: 8 * 3600 }, clock())
    },
    reload: () => {
      if (options.tls) listener.secure(options.tls)
    },
    close: async (limit = 10_000) => {
      clearInterval(sweeping)
      load.stop()
      handle.drain()
      feed.stop()
      await Promise.all([sinks.stop(), listener.close(limit), work.stop(limit), posting?.stop()])
      await Promise.all([store.close(), replica?.close(), limits.close()])
    },
  }
}

const defaults: Settings = { trustProxy: false, trace: false, passwordsOnLoopback: true, origins: [] }

/** Milliseconds between two removals of what has expired. */
const sweepEvery = 60_000

async function trustOf(
  tokens: Tokens | undefined,
  key: LocalKey,
  service: string,
  watching: Watching,
): Promise<TokenTrust> {
  if (!tokens) return trustLocalKey(key, service)
  const { jwks, audience = service, ...rest } = tokens
  const { openJwks: jwksOf } = await import('../identity/jwks.ts')
  return { ...rest, audience, keys: jwksOf(jwks, watching) }
}

/** Runs the jobs of a service and begins those of its schedules, until closed; nothing is served. */
export async function startWorkers(app: Implementation, options: ServeOptions = {}): Promise<Pick<Server, 'close'>> {
  requireSoundContract(app)
  return allOrNothing(opened => startWork(app, options, opened))
}

async function startWork(
  app: Implementation,
  options: ServeOptions,
  opened: AsyncDisposableStack,
): Promise<Pick<Server, 'close'>> {
  const store = opened.adopt(await openStore(app, options), each => each.close())
  const logger = options.logger ?? createLogger()
  const failed = (job: JobRow, thrown: unknown): void =>
    options.onError?.(job.id, thrown) ?? logger.error({ incident: job.id, ...errorFields(thrown) }, 'a job failed')
  const working = { app, store, clock: options.clock ?? Date.now, id: createItemIdentifier, failed }
  const all = startJobWorkers(working, options.schedules, options.work === false ? 0 : options.work)
  // A worker waits for nothing else: this keeps the process alive.
  const alive = setInterval(() => {}, sweepEvery)
  return {
    close: async (limit = 10_000) => {
      clearInterval(alive)
      await all.stop(limit)
      await store.close()
    },
  }
}

/** The database of a service, as `serve` would open it. */
export async function openStore(app: Implementation, options: Pick<ServeOptions, 'data' | 'database'>): Promise<Store> {
  const { data = `./data/${app.contract.service}.sqlite` } = options
  if (data !== ':memory:') mkdirSync(dirname(data), { recursive: true })
  return storeAt(app, options.database, data)
}

async function replicaOf(
  app: Implementation,
  url: string | undefined,
): Promise<Pick<Store, 'read' | 'usage' | 'close'> | undefined> {
  return url === undefined ? undefined : (await import('../store/postgres.ts')).openPostgresReplica(app.contract, url)
}

async function storeAt(app: Implementation, database: string | undefined, file: string): Promise<Store> {
  if (database) return (await import('../store/postgres.ts')).openPostgresStore(app.contract, database)
  return (await import('../store/sqlite.ts')).openSqliteStore(app.contract, file)
}

/** Instances on one database count together there, processes of one machine in the first of them. */
async function limiterOf({ database, siblings }: ServeOptions): Promise<{ limiter: Limiter; close(): Promise<void> }> {
  const close = async (): Promise<void> => {}
  if (database) {
    const { openRateWindows: postgresWindows } = await import('../store/rate-windows.ts')
    const windows = await postgresWindows(database)
    return { limiter: createSharedLimiter(windows.count), close: windows.close }
  }
  return { limiter: siblings ? createSharedLimiter(siblings.count) : createMemoryLimiter(), close }
}

/** Row 5: of one address at most so many requests a second, anonymous or not. */
function floodGate(clock: () => number, count: number): (request: Pick<Request, 'from'>) => number | undefined {
  const limiter = createMemoryLimiter()
  const rate = { count, seconds: 1 }
  return ({ from }) => {
    const taken = limiter.take(from, rate, clock())
    return !(taken instanceof Promise) && taken.exceeded ? 1 : undefined
  }
}

const tooMany: Response = { status: 429, fields: { 'retry-after': '1', 'cache-control': 'no-store' } }

function gauges(figures: Metrics, load: OverloadGuard, listener: HttpListener): void {
  const one = (value: () => number) => () => [{ labels: {}, value: value() }]
  figures.gauge(
    'diglot_requests_in_flight',
    'Requests that are not answered yet.',
    one(() => load.inFlight),
  )
  figures.gauge(
    'diglot_connections',
    'Connections open now.',
    one(() => listener.connections()),
  )
  figures.gauge(
    'diglot_requests_shed_total',
    'Requests turned away by overload.',
    one(() => load.shed),
    'counter',
  )
}

/** Jobs are counted as far as a thousand: beyond that the number says nothing new. */
function workGauges(figures: Metrics, of: { store: Store; feed: ChangesPage; sinks: Sinks }): void {
  const states = ['queued', 'running', 'failed'] as const
  figures.gauge('diglot_jobs', 'Jobs by state, a thousand at most.', () =>
    of.store.read(reader =>
      Promise.all(states.map(async state => ({ labels: { state }, value: (await reader.jobs(state, 1000)).length }))),
    ),
  )
  figures.gauge('diglot_event_streams', 'Readers of the change feed.', () => [{ labels: {}, value: of.feed.streams() }])
  const bySink = (value: (state: Delivery) => number) => () =>
    [...of.sinks.state].map(([sink, state]) => ({ labels: { sink }, value: value(state) }))
  const { state } = of.sinks
  if (state.size === 0) return
  figures.gauge(
    'diglot_sink_delivered_total',
    'Events that a sink took.',
    bySink(each => each.delivered),
    'counter',
  )
  figures.gauge(
    'diglot_sink_failures',
    'Failures since a sink last took something.',
    bySink(each => each.failures),
  )
  figures.gauge(
    'diglot_sink_dead',
    'Sinks that are given up.',
    bySink(each => (each.dead ? 1 : 0)),
  )
}

/** Milliseconds. */
const soonAfter = 2000

/** Made when it is first asked for, and there from then on; what failed is tried again. Half of what a process loads is for SOAP. */
function onDemand<T>(make: () => Promise<T>): () => Maybe<T> {
  let made: Maybe<T> | undefined
  const making = async (): Promise<T> => {
    try {
      return (made = await make())
    } catch (thrown) {
      made = undefined
      throw thrown
    }
  }
  return () => (made ??= making())
}

function turnsAway(load: OverloadGuard): boolean {
  if (!load.full) return false
  load.shed++
  return true
}

interface Routed {
  readonly store: Store
  readonly people: People
  readonly flood: number
  readonly load: OverloadGuard
  readonly figures: Metrics
  readonly siblings: ClusterPeers | undefined
  readonly feed: ChangesPage
  readonly secured: () => Promise<MessageSecurityPort>
  readonly elsewhere: ReplyTargets | undefined
}

/** SOAP endpoints and the pages for operation have addresses of their own; all the rest is REST. */
function router(serving: FaceContext, parts: Routed) {
  const { store, people, load, figures } = parts
  let draining = false
  const outOfService = (): boolean => draining || turnsAway(load)
  const flood = floodGate(serving.clock, parts.flood)
  const seenBy = (face: 'rest' | 'soap'): FaceContext => ({
    ...serving,
    calls: instrument(serving.calls, face, (operation, outcome, took) =>
      figures.called(face, operation, outcome, took),
    ),
  })
  const rest = createRestFace(seenBy('rest'), {
    codings,
    decodings,
    streams: codingStreams,
    draining: outOfService,
    flood,
    sleep: setTimeout,
    links: { 'service-desc': '/openapi.json' },
  })
  const gate = (from: string): GateRefusal | undefined => {
    if (outOfService()) return { kind: 'unavailable', after: 5 }
    const after = flood({ from })
    return after === undefined ? undefined : { kind: 'too-many', after, limit: parts.flood, window: 1 }
  }
  const soap = onDemand(async () => {
    const [{ createSoapFaces: soapFaces }, { secure, policy }] = await Promise.all([
      import('./soap-endpoints.ts'),
      parts.secured(),
    ])
    return soapFaces(seenBy('soap'), { secure, gate, ...(parts.elsewhere && { elsewhere: parts.elsewhere }) }, policy)
  })
  const pages = createHealthPages({
    store,
    draining: () => draining,
    full: () => load.full,
    figuresType: expositionType,
    figures: async () => writeExposition(await (parts.siblings?.figures() ?? Promise.all([collectMetrics(figures)]))),
  })
  const changes = (request: Request): Promise<Response> | undefined => {
    if (!request.target.startsWith('/changes')) return undefined
    return flood(request) === undefined ? parts.feed.answer(request) : Promise.resolve(tooMany)
  }
  const described = createOpenApiPage(serving)
  const signing = createLoginPage(serving, people)
  const others = (request: Request): Maybe<Response> =>
    pages(request) ?? changes(request) ?? described(request) ?? rest(request)
  const serve = (request: Request): Maybe<Response> => {
    const { target } = request
    if (target.startsWith('/api/')) return rest(request)
    if (target.startsWith('/soap/')) return chain(soap(), face => face(target)?.(request) ?? others(request))
    if (target.startsWith('/log')) {
      if (flood(request) !== undefined) return tooMany
      const answer = signing(request)
      if (answer) return answer
    }
    return others(request)
  }
  // A moment after the start, so that no partner waits for it; who asks is told if it fails.
  setTimeout(soonAfter, undefined, { ref: false })
    .then(soap)
    .catch(() => {})
  return {
    serve,
    drain: () => {
      draining = true
    },
  }
}
