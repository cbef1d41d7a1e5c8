/**
 * A service in memory for the tests of an application: the real front door, both faces and a real
 * store, without a socket, a file, a password to hash or a timer to wait for. Jobs, schedules and
 * deliveries run when the test says so.
 */
import { omitUndefined } from '../base/objects.ts'
import type { VersionOf } from '../client/contract-types.ts'
import type { SoapClientOptions } from '../client/options.ts'
import { createPortClient, type PortClientOptions } from '../client/port-client.ts'
import type { ExchangesOf, PortClient, PortNames, SharedBlocks } from '../client/port-types.ts'
import { createRestClient, type RestClient } from '../client/rest/rest-client.ts'
import type { RestClientOptions } from '../client/rest/rest-options.ts'
import { createSoapClient, type SoapClient } from '../client/soap-client.ts'
import type { Wait } from '../client/timer.ts'
import { portPath } from '../contract/exchange.ts'
import type { HeaderValues } from '../contract/header.ts'
import type { Implementation } from '../contract/implement.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import type { Caller } from '../contract/policy.ts'
import { requireSoundContract } from '../contract/review.ts'
import { type AnyService, newestVersion, type Service } from '../contract/service.ts'
import type { EventSink } from '../host/delivery/sinks.ts'
import { createItemIdentifier } from '../host/item-identifier.ts'
import { openSchedule } from '../host/jobs/schedule-instants.ts'
import { type OpenService, openService } from '../host/open-service.ts'
import { quietLogger } from '../host/operations/log.ts'
import { openAllOrNothing, type ServiceOptions } from '../host/options.ts'
import { type CloudEvent, toCloudEvent } from '../service/change-feed.ts'
import { runNextJob } from '../service/job.ts'
import { startDueJobs } from '../service/schedule.ts'
import { createFetchTransport, createMemoryFetch } from './memory-fetch.ts'
import { TestClock } from './test-clock.ts'

/** The subject of a person of the seed, or any caller. */
export type TestCaller =
  | string
  | { readonly subject: string; readonly roles: readonly string[]; readonly claims?: Caller['claims'] }

/** The options of `startTestService`: those of `serve` that mean something in memory. */
export interface TestServiceOptions
  extends Pick<
    ServiceOptions,
    'settings' | 'schedules' | 'sinks' | 'messageSecurity' | 'database' | 'retention' | 'docs' | 'openTelemetry'
  > {
  /** The time of the clock. Default: 2026-01-01T00:00:00Z. */
  readonly now?: string | number
}

/** A service in memory, with its clock, its clients and its jobs. */
export interface TestService<S extends AnyService> {
  /**
   * A REST client of this caller, or of an anonymous one; the same for the same name. Its waits,
   * for a job or before another try, do what `work` does; if nothing is due, the clock moves.
   */
  rest<const V extends VersionOf<S> = never>(
    caller?: TestCaller,
    options?: Partial<RestClientOptions<V>>,
  ): RestClient<S, V>
  /** A SOAP client with the same surface. */
  soap<const V extends VersionOf<S> = never>(
    caller?: TestCaller,
    options?: Partial<SoapClientOptions<V, HeaderValues<S['headers'], 'request'>>>,
  ): SoapClient<S, V>
  /** A client of a port of the contract: `bank.port('BankPort', 'alice').transfer(…)`. */
  port<const N extends PortNames<S>>(
    name: N,
    caller?: TestCaller,
    options?: Partial<PortClientOptions<never, keyof ExchangesOf<S, N> & string, SharedBlocks<ExchangesOf<S, N>>>>,
  ): PortClient<ExchangesOf<S, N>>
  /** Plain requests of this caller, to addresses below `address`. */
  fetchAs(caller?: TestCaller): typeof fetch
  /** The base address of the service. */
  readonly address: string
  readonly clock: TestClock
  /**
   * Starts the jobs of schedules that are due, runs every job that is due, delivers committed
   * changes to sinks, and resolves with the number of runs. An error that a sink throws is
   * rethrown.
   */
  work(): Promise<number>
  /** All committed changes, as sinks, webhooks and readers of the feed receive them. */
  events(): Promise<readonly CloudEvent[]>
  /** Errors that callers have seen as a 500, and failures of jobs. */
  readonly incidents: readonly unknown[]
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const optionMembers: MembersOf<TestServiceOptions> = {
  now: true, settings: true, schedules: true, sinks: true, messageSecurity: true, database: true, retention: true, docs: true,
  openTelemetry: true,
} // biome-ignore format: a list of names reads best in few lines

const address = 'http://service.test'

/**
 * Starts a separate service for a test: `await using clinic = await startTestService(…)`.
 * @param contract the contract of the implementation, whose types the clients have
 * @throws what `serve` throws for a contract or a seed with mistakes
 */
export async function startTestService<const S extends AnyService>(
  contract: S,
  app: Implementation,
  testOptions: TestServiceOptions = {},
): Promise<TestService<S>> {
  requireKnownMembers('the options of startTestService', testOptions, optionMembers)
  const { now = '2026-01-01T00:00:00Z', sinks = [], schedules = [], ...options } = testOptions
  if (![app.contract, app.contract.declared].includes(contract as unknown as Service))
    throw new TypeError(`the implementation is not of this contract: give the one that implement(…) was given`)
  requireSoundContract(app)
  const clock = new TestClock(now)
  const incidents: unknown[] = []
  const given: ServiceOptions = {
    ...options,
    data: ':memory:',
    clock: () => clock.now,
    work: false,
    flood: 0, // a second of this clock has no end
    logger: quietLogger,
    onError: (_incident, thrown) => void incidents.push(thrown),
  }
  const hosted = (carrier: object): Caller => carrier as Caller // made by `toCaller`
  const open = await openAllOrNothing(opened => openService(app, given, opened, { hosted, withoutPeople: true }))
  const worker = createWorker(app, open, { clock, schedules, sinks, incidents })
  await worker.startDue() // the first look at a schedule starts nothing
  const wait: Wait = async (milliseconds, signal) => {
    signal?.throwIfAborted()
    if ((await worker.work()) === 0) clock.advance({ seconds: milliseconds / 1000 })
  }
  const people = app.seed().people ?? []
  const fetchAs = (caller?: TestCaller): typeof fetch =>
    createMemoryFetch(open.answer, caller === undefined ? {} : { carrier: resolveCaller(caller, people) })
  const close = (): Promise<void> => open.close(0)
  const rest = (caller?: TestCaller, more?: object) =>
    createRestClient(contract, {
      address: `${address}/api`,
      fetch: fetchAs(caller),
      idempotencyKeys: caller !== undefined,
      wait,
      ...more,
    })
  const soap = (caller?: TestCaller, more?: { readonly version?: string }) => {
    const endpoint = `${address}/soap/${more?.version ?? newestVersion(app.contract)}`
    const transport = createFetchTransport(endpoint, fetchAs(caller))
    return createSoapClient(contract, { address: endpoint, transport, wait, ...(more as object) })
  }
  const port = (name: string, caller?: TestCaller, more?: object) => {
    const found = app.contract.ports.find(each => each.port === name)
    const endpoint = `${address}${found ? portPath(found) : ''}`
    const transport = createFetchTransport(endpoint, fetchAs(caller))
    return createPortClient(app.contract, { address: endpoint, transport, wait, ...more, port: name })
  }
  return {
    rest: keepByName(rest) as TestService<S>['rest'],
    // The compiler does not compare types of this depth.
    soap: keepByName(soap) as unknown as TestService<S>['soap'],
    port: port as unknown as TestService<S>['port'],
    fetchAs,
    address,
    clock,
    work: worker.work,
    events: () => listEvents(app, open, 0),
    incidents,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A name always gets the same client, so that it knows what it has read. */
function keepByName<C, O>(make: (caller?: TestCaller, more?: O) => C): (caller?: TestCaller, more?: O) => C {
  const known = new Map<string, C>()
  return (caller, more) => {
    if (typeof caller !== 'string' || more !== undefined) return make(caller, more)
    const client = known.get(caller) ?? make(caller)
    known.set(caller, client)
    return client
  }
}

/** What a test wants to see is in `incidents` and in its responses. */

function resolveCaller(caller: TestCaller, people: ReturnType<Implementation['seed']>['people'] = []): Caller {
  if (typeof caller !== 'string') return { claims: {}, ...caller }
  const found = people.find(each => each.subject === caller)
  if (found) return { subject: found.subject, roles: found.roles, claims: omitUndefined(found.claims ?? {}) }
  const names = people.map(each => each.subject).join(', ')
  throw new TypeError(`the seed has no person "${caller}": give one of [${names}], or { subject, roles, claims }`)
}

/** All changes after a given one, in order. */
async function listEvents(app: Implementation, { store }: OpenService, after: number): Promise<CloudEvent[]> {
  const events: CloudEvent[] = []
  for (let last = after, more = true; more; ) {
    const found = await store.read(reader => reader.changes(last, 1000))
    events.push(...found.map(change => toCloudEvent(app, change)))
    more = found.length > 0
    last = found.at(-1)?.sequence ?? last
  }
  return events
}

interface Working extends Required<Pick<TestServiceOptions, 'schedules' | 'sinks'>> {
  readonly clock: TestClock
  readonly incidents: unknown[]
}

function createWorker(app: Implementation, open: OpenService, { clock, schedules, sinks, incidents }: Working) {
  const context = {
    app,
    store: open.store,
    clock: () => clock.now,
    id: createItemIdentifier,
    failed: (_job: unknown, thrown: unknown) => void incidents.push(thrown),
    log: () => {},
  }
  const opened = schedules.map(each => ({ each, instants: openSchedule(app, each, clock.now) }))
  const never = new AbortController().signal
  let delivered = 0
  const isFor = (sink: EventSink, { data }: CloudEvent): boolean => sink.resources?.includes(data.resource) ?? true
  const startDue = async (): Promise<void> => {
    for (const { each, instants } of opened) await startDueJobs(open.store, each, instants, context)
  }
  const deliver = async (): Promise<void> => {
    const events = (await listEvents(app, open, 0)).slice(delivered)
    for (const event of events) {
      for (const sink of sinks) if (isFor(sink, event)) await sink.deliver(event, never)
      delivered++
    }
  }
  return {
    startDue,
    work: async () => {
      await startDue()
      let runs = 0
      while (await runNextJob(context, never)) runs++
      await deliver()
      return runs
    },
  }
}
