/**
 * START HERE for the meaning of a call: admission first, then one visit to the store: a consistent
 * read for a safe operation, and for any other a transaction, which also writes the audit and the
 * change feed.
 */

import { chain, type Maybe } from '../base/maybe.ts'
import type { RecentCallers } from '../base/time-shares.ts'
import { declaredFaults } from '../contract/fault.ts'
import type { Implementation } from '../contract/implement.ts'
import { faultsWithWords, listOperations, type Operation } from '../contract/operation.ts'
import { type Caller, isPublic, mayEverBeAllowed } from '../contract/policy.ts'
import type { ExchangeBasis } from '../contract/port-handlers.ts'
import { removeItems } from './bulk-removal.ts'
import type { Call, Calls, ServedExchange } from './call.ts'
import { coverFields } from './covered-calls.ts'
import { createExchangeBasis } from './exchange-context.ts'
import { createExternalStores } from './external-resource.ts'
import { discardStaged, stageContent } from './file-content.ts'
import { createContext, createProviderContext } from './handler-context.ts'
import {
  type ContextFacts,
  endlessSignal,
  handlersOf,
  itemKey,
  reachOf,
  type StoreReach,
  type WatchChange,
  type WriteLine,
} from './handler-facts.ts'
import { KeyLocks, performOnce } from './idempotency.ts'
import {
  findItem,
  isOffered,
  mayCreateByPut,
  requireConditional,
  requirePrecondition,
  requireVisible,
} from './item-checks.ts'
import { endWithTurn } from './item-walk.ts'
import { cancelJob, getAnswer, getJob, getResult, startJob } from './job.ts'
import type { Limiter } from './limiter.ts'
import type { Outcome } from './outcome.ts'
import { type FollowingStore, type TellReplica, withReplica } from './read-replica.ts'
import { getExternal, getFile, getItem, listItems, type ReadContext, readAction } from './reads.ts'
import { type Doubt, refuse } from './refusal.ts'
import { createSearch, getSearch } from './search.ts'
import { requireAwaited, type StartedWork, settleStarted } from './started-work.ts'
import {
  type AuditRecord,
  isFormer,
  type Snapshot,
  type Store,
  type StoreReader,
  type StoreWriter,
  Unavailable,
  type WriteTurn,
} from './store.ts'
import type { Turns } from './turns.ts'
import { WaitingLines } from './waiting-lines.ts'
import { actOnItem, createItem, putItemFile, removeItem, replaceItem, type WriteContext } from './writes.ts'

export interface ServiceParts {
  readonly store: Store
  /** Operations that only read try it first. */
  readonly replica?: FollowingStore | undefined
  readonly tellReplica?: TellReplica
  readonly limiter: Limiter
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** A new identifier, `prefix-…`. */
  readonly id: (prefix: string) => string
  /** Fields that make requests to other services part of the trace of the call. Default: none. */
  readonly trace?: () => Readonly<Record<string, string>>
  /** Receives the party of each admitted request. */
  readonly recent?: Pick<RecentCallers, 'note'>
  /** Where bulk removals take turns. Default: each batch ends with the turn of the event loop. */
  readonly turns?: Pick<Turns, 'beginPart'>
  /** Called when a job has been started, so that a worker picks it up at once. */
  readonly started?: () => void
  /** Called with the identifier of a job that its caller has cancelled. */
  readonly cancelled?: (id: string) => void
  /** Writes the lines of handlers. Default: nothing is written. */
  readonly log?: WriteLine
  /** Default: changes are not watched. */
  readonly watch?: WatchChange
  /** Called with the audit record of a call once it is durable. */
  readonly done?: (deed: AuditRecord) => void
}

export function createServiceCalls(app: Implementation, parts: ServiceParts): Calls {
  const { clock } = parts
  const read = parts.replica ? withReplica(parts.store, parts.replica, clock, parts.tellReplica) : parts.store
  const readOf = createExternalStores(app, read)
  const about = createFactFinder(app, parts)
  const changes = new Changes(app, parts, about)
  const admit = createAdmission(parts)
  const calls: Calls = {
    admit,
    admitExchange: ({ allow, isSafe }, caller, from) => {
      const { reads, changes } = app.contract.limits
      const terms = isSafe
        ? ({ counted: 'reads', limit: reads } as const)
        : ({ counted: 'changes', limit: changes } as const)
      return chain(admit({ grants: allow, ...terms }, caller, from), ({ party }) => party)
    },
    serveExchange: createExchangeServing(app, parts, read),
    precheck: call =>
      (readOf?.(createProviderContext(about(call))) ?? read).read(reader => precheck(call, reader, about(call))),
    keep: (_admitted, content, limit) => stageContent({ store: parts.store, clock, id: parts.id }, content, limit),
    perform: call => {
      const { operation } = call.admitted
      if (!operation.safe) return changes.perform(call)
      return (readOf?.(createProviderContext(about(call))) ?? read).read(reader =>
        performRead({ call, about: about(call), reader }, operation),
      )
    },
    offers: isOffered,
  }
  return coverFields(app.contract, calls, clock)
}

type FactFinder = (call: Call, effects?: CallEffects) => ContextFacts
const createFactFinder =
  (app: Implementation, { clock, id, log, trace }: ServiceParts): FactFinder =>
  (call, effects) => {
    const { operation, caller, party } = call.admitted
    return {
      app,
      caller,
      now: clock(),
      operation: operation.name,
      faults: call.query?.words ? faultsWithWords(operation) : operation.faults,
      id,
      headers: call.headers,
      face: call.face,
      request: call.request,
      party,
      signal: call.gone ?? endlessSignal,
      log,
      trace,
      ...(effects && { queued: () => (effects.isJobQueued = true) }),
      underWay: call.id === undefined || operation.safe ? [] : [itemKey(operationNameOf(operation), call.id)],
    }
  }

/**
 * Exchanges read and change the same items as calls. Any fault of the contract may end a
 * transaction of an exchange, whose handler may catch it; a safe exchange may read from the
 * replica.
 */
function createExchangeServing(app: Implementation, parts: ServiceParts, read: Store) {
  const storeOf = createExternalStores(app, parts.store)
  const readOf = createExternalStores(app, read)
  const faults = declaredFaults(app.contract)
  const { clock, id, log, trace } = parts
  return ({
    port,
    exchange,
    isSafe,
    caller,
    party,
    face,
    request,
    gone = endlessSignal,
  }: ServedExchange): ExchangeBasis => {
    const operation = `${port}.${exchange}`
    const effects: CallEffects = { deed: undefined, isJobQueued: false }
    const queued = () => (effects.isJobQueued = true)
    const facts = { caller, party, operation, face, request, signal: gone }
    const about = {
      ...facts,
      app,
      now: clock(),
      faults,
      id,
      log,
      trace,
      queued,
      givesContent: true as const,
      underWay: [],
    }
    const store = storeOf?.(createProviderContext(about)) ?? parts.store
    const reading = isSafe ? (readOf?.(createProviderContext(about)) ?? read) : store
    const write: StoreReach['write'] = async work => {
      const result = await store.write(
        async writer => {
          const end = parts.watch?.({ request, operation, subject: caller.subject }, 'call')
          try {
            const done = await work(writer)
            await writer.record((effects.deed = deedOfExchange(about, port)))
            return done
          } finally {
            end?.()
          }
        },
        { caller: party },
      )
      if (effects.deed) parts.done?.(effects.deed)
      if (effects.isJobQueued) parts.started?.()
      return result
    }
    return createExchangeBasis(about, { read: work => reading.read(work), write }, isSafe)
  }
}

/** The names of the actions that a caller may take on an item now. */
function createActionFinder(app: Implementation, clock: () => number) {
  const acts = listOperations(app.contract).filter(operation => operation.kind === 'act' && !operation.oneWay)
  return (caller: Caller, item: Snapshot, resource: string): readonly string[] =>
    acts
      .filter(
        each =>
          each.kind === 'act' && each.resource.name === resource && isOffered(each, { caller, now: clock() }, item),
      )
      .map(each => (each.kind === 'act' ? each.verb : ''))
}

/** Bulk removals here: one batch at a time, so that other writers get their turn. */
const bulkBounds = { running: 1, waiting: 256, waitingOfCaller: 16 }

/** The work of one transaction of a call: all of it, or a part, which resolves to undefined. */
type Perform<T extends Outcome | undefined> = (change: WriteContext) => Promise<T>

/**
 * One call is one transaction, a bulk removal several; the effects of each are published once they
 * are durable.
 */
class Changes {
  readonly #app: Implementation
  readonly #parts: ServiceParts
  readonly #about: FactFinder
  readonly #storeOf: ReturnType<typeof createExternalStores>
  readonly #findActions: ReturnType<typeof createActionFinder>
  readonly #locks = new KeyLocks()
  readonly #bulkLine = new WaitingLines(bulkBounds, 'too many bulk removals are waiting')

  constructor(app: Implementation, parts: ServiceParts, about: FactFinder) {
    this.#app = app
    this.#parts = parts
    this.#about = about
    this.#storeOf = createExternalStores(app, parts.store)
    this.#findActions = createActionFinder(app, parts.clock)
  }

  /** Octets that did not become a file are discarded, including those of a replayed call. */
  async perform(call: Call): Promise<Outcome> {
    const effects: CallEffects = { deed: undefined, isJobQueued: false }
    let isKept = false
    try {
      const outcome = await (call.once
        ? this.#locks.run(call, call.once, () => this.#changeByCall(call, effects))
        : this.#changeByCall(call, effects))
      isKept = effects.deed !== undefined
      return outcome
    } catch (thrown) {
      throw thrown instanceof Unavailable && thrown.doubt && mayBeRetried(call, thrown.doubt)
        ? new Unavailable(thrown.after, thrown.cause)
        : thrown
    } finally {
      if (call.file && !isKept) await discardStaged(this.#parts.store, call.file.octets.name)
    }
  }

  #changeByCall(call: Call, effects: CallEffects): Promise<Outcome> {
    const { operation, party } = call.admitted
    if (operation.kind !== 'bulk') return this.#transact(call, effects, performChange)
    return removeItems(
      { call, about: this.#about(call) },
      operation,
      this.#storeOf?.(createProviderContext(this.#about(call))) ?? this.#parts.store,
      () => this.#parts.turns?.beginPart(party) ?? endWithTurn,
      work => this.#bulkLine.take(party, () => this.#transact(call, effects, work)),
    )
  }

  async #transact<T extends Outcome | undefined>(
    call: Call,
    effects: CallEffects,
    perform: Perform<T>,
  ): Promise<Outcome | T> {
    const { operation } = call.admitted
    const { store, done, started, cancelled } = this.#parts
    const external = this.#storeOf?.(createProviderContext(this.#about(call)), operationNameOf(operation))
    const work = (writer: StoreWriter) => this.#changeInTransaction(call, writer, effects, perform)
    const outcome = await (external ?? store).write(work, turnOf(call))
    if (effects.deed) done?.(effects.deed)
    if (effects.isJobQueued) started?.()
    if (operation.kind === 'cancelJob' && call.id !== undefined) cancelled?.(call.id)
    return outcome
  }

  async #changeInTransaction<T extends Outcome | undefined>(
    call: Call,
    writer: StoreWriter,
    effects: CallEffects,
    perform: Perform<T>,
  ): Promise<Outcome | T> {
    const { operation, caller } = call.admitted
    effects.deed = undefined // an earlier try may have been rolled back
    effects.isJobQueued = operation.kind === 'startJob'
    call.headers?.answer.clear()
    const started: StartedWork = {}
    const change = this.#describeChange(call, writer, effects, started)
    const facts = { request: call.request, operation: operation.name, subject: caller.subject }
    const end = this.#parts.watch?.(facts, 'call')
    try {
      const outcome = await (call.once
        ? performOnce(call, call.once, writer, change.about.now, () => performRecorded(change, effects, perform))
        : performRecorded(change, effects, perform))
      if (started.open) requireAwaited(operation.name, started)
      return outcome
    } finally {
      if (started.open) await settleStarted(started)
      end?.()
    }
  }

  #describeChange(call: Call, writer: StoreWriter, effects: CallEffects, started: StartedWork): WriteContext {
    const about = { ...this.#about(call, effects), started }
    const { operation, caller } = call.admitted
    return {
      call,
      about,
      handlers: handlersOf(this.#app, operationNameOf(operation)),
      context: () => createContext(about, reachOf(writer)),
      right: 'caller',
      givenBy: 'caller',
      writer,
      possible: item => this.#findActions(caller, item, operationNameOf(operation)),
    }
  }
}

/** If it is repeated, it finds what the first one did, and has no effect of its own. */
const mayBeRetried = ({ id, once, expects, admitted: { operation } }: Call, doubt: Doubt): boolean =>
  (once !== undefined && doubt === 'commit') ||
  (id !== undefined && expects !== undefined) ||
  kindsWithOneEffect.has(operation.kind)
const kindsWithOneEffect: ReadonlySet<Operation['kind']> = new Set([
  'replace',
  'remove',
  'bulk',
  'putFile',
  'cancelJob',
])

/** Calls that change one item wait for each other. */
const turnOf = ({ id, admitted: { operation, party } }: Call): WriteTurn =>
  id === undefined ? { caller: party } : { item: `${operationNameOf(operation)} ${id}`, caller: party }

/** The name of an operation's resource, job or port. */
export const operationNameOf = (operation: Operation): string =>
  operation.kind === 'exchange' ? operation.port.port : 'job' in operation ? operation.job.job : operation.resource.name

/** The right that a caller needs for one kind of operation, and the rate that it is charged to. */
type AdmissionTerms = Pick<Operation, 'grants' | 'counted' | 'limit'>

/** Rows 15–17. */
function createAdmission({ clock, limiter, recent }: ServiceParts) {
  const admit = <O extends AdmissionTerms>(operation: O, caller: Caller, from: string) => {
    const now = clock()
    if (!mayEverBeAllowed(operation.grants, caller, now)) {
      const isUnknown = caller.subject === undefined && !isPublic(operation.grants)
      return refuse({ kind: isUnknown ? 'unauthenticated' : 'forbidden' })
    }
    const party = caller.subject ?? `@${from}`
    recent?.note(party)
    const taken = limiter.take(`${operation.counted} ${party}`, operation.limit, now)
    return chain(taken, quota =>
      quota.exceeded
        ? refuse({ kind: 'too-many', after: Math.max(1, quota.reset), limit: quota.limit, window: quota.window })
        : { operation, caller, party, quota },
    )
  }
  return admit
}

/**
 * Checks only rows 22–24, to refuse before the content is read. The call itself checks them again.
 */
async function precheck(call: Call, reader: StoreReader, about: ContextFacts): Promise<void> {
  const { operation } = call.admitted
  if (!('resource' in operation) || operation.kind === 'getSearch') return
  const found = await findItem({ call, about, reader }, operation.resource)
  if (call.id === undefined) return
  if (operation.kind === 'create') return requirePrecondition(call, found && !isFormer(found) ? found : undefined)
  const viewer = { caller: call.admitted.caller, now: about.now }
  if (operation.kind === 'replace' && mayCreateByPut(operation.resource, found, viewer))
    return requirePrecondition(call, undefined)
  const item = requireVisible(found, operation, viewer.caller, viewer.now)
  if (operation.kind !== 'putFile') requirePrecondition(call, item)
  requireConditional(call)
}

function performRead(look: ReadContext, operation: Operation): Maybe<Outcome> {
  switch (operation.kind) {
    case 'get':
      return getItem(look, operation)
    case 'list':
    case 'search':
      return listItems(look, operation)
    case 'look':
      return readAction(look, operation)
    case 'kept':
      return getExternal(look, operation)
    case 'getFile':
      return getFile(look, operation)
    case 'getSearch':
      return getSearch(look, operation)
    case 'getJob':
      return getJob(look.call, look.reader, operation)
    case 'getResult':
      return getResult(look.call, look.reader, operation)
    case 'getAnswer':
      return getAnswer(look.call, look.reader, operation)
    default:
      throw new Error(`${operation.name} is not safe`)
  }
}

/** Performs the change, and records it in the audit. */
async function performRecorded<T extends Outcome | undefined>(
  change: WriteContext,
  effects: CallEffects,
  perform: Perform<T>,
): Promise<T> {
  const outcome = await perform(change)
  await change.writer.record((effects.deed = deedOf(change, outcome)))
  return outcome
}

function performChange(change: WriteContext): Promise<Outcome> {
  const { call, about, writer } = change
  const { operation } = call.admitted
  switch (operation.kind) {
    case 'create':
      return createItem(change, operation)
    case 'replace':
    case 'patch':
      return replaceItem(change, operation)
    case 'remove':
      return removeItem(change, operation)
    case 'act':
      return actOnItem(change, operation)
    case 'putFile':
      return putItemFile(change, operation)
    case 'createSearch':
      return createSearch(call, about, writer, operation, change.handlers.searching)
    case 'startJob':
      return startJob(change, operation)
    case 'cancelJob':
      return cancelJob(call, about, writer, operation)
    default:
      throw new Error(`${operation.name} changes nothing`)
  }
}

/** The deed of a call, for the audit (a replayed outcome has none), and whether jobs wait. */
interface CallEffects {
  deed: AuditRecord | undefined
  isJobQueued: boolean
}

const deedOfExchange = ({ now, caller, operation, face, request }: ContextFacts, port: string): AuditRecord => ({
  at: now,
  subject: caller.subject ?? '',
  operation,
  resource: port,
  id: '',
  version: undefined,
  face,
  request,
})

function deedOf({ call, about }: WriteContext, outcome: Outcome | undefined): AuditRecord {
  const { operation, caller } = call.admitted
  return {
    at: about.now,
    subject: caller.subject ?? '',
    operation: operation.name,
    resource: operationNameOf(operation),
    id: (outcome && outcomeId(outcome)) ?? call.id ?? '',
    version: outcome && 'item' in outcome ? outcome.item.version : undefined,
    face: call.face,
    request: call.request,
  }
}

function outcomeId(outcome: Outcome): string | undefined {
  if ('item' in outcome) return outcome.item.id
  if ('job' in outcome) return outcome.job.id
  return 'id' in outcome ? outcome.id : undefined
}
