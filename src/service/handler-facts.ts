/** What a handler's context consists of, and how it reaches the store. */

import { createLateMembers } from '../base/late-members.ts'
import type { Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { HandlerLog } from '../contract/context.ts'
import type { Fault } from '../contract/fault.ts'
import type { ErasedHandlers, Implementation } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import type { CallHeaders } from './call.ts'
import type { BeginPart } from './item-walk.ts'
import { addStarted, type StartedWork } from './started-work.ts'
import type { AuditRecord, ReadWork, StoreReader, StoreWriter, WriteWork } from './store.ts'

/**
 * Access to the store: within a call's transaction; in a job, by one small transaction per write.
 */
export interface StoreReach {
  read<T>(work: ReadWork<T>): Maybe<T>
  write<T>(work: WriteWork<T>): Maybe<T>
  /** For each page of a list that is read outside a transaction. */
  readonly beginPart?: BeginPart | undefined
}
export const reachOf = (writer: StoreWriter): StoreReach => ({
  read: work => work(writer),
  write: work => work(writer),
})

/** For a handler that only reads. */
export const readOnlyReach = (reader: StoreReader): StoreReach => ({
  read: work => work(reader),
  write: () => {
    throw new Error('a handler that only reads cannot change items or start jobs')
  },
})

/** Whose work it is, as the log names it. */
export interface WorkOrigin {
  /** The identifier of the request or of the job. */
  readonly request: string
  readonly operation: string
  readonly subject: string | undefined
}
/** Called when a change gets the store; the function it returns is called when the change ends. */
export type WatchChange = (origin: WorkOrigin, by: 'call' | 'job') => () => void

/** Writes a line of the log, with the request it belongs to. */
export type WriteLine = (
  level: keyof HandlerLog,
  message: string,
  line: WorkOrigin,
  fields: Readonly<Record<string, unknown>> | undefined,
) => void

export interface ContextFacts {
  readonly app: Implementation
  readonly caller: Caller
  readonly now: number
  readonly operation: string
  /** The faults that the operation declares: no other may end it. */
  readonly faults: readonly Fault[]
  readonly id: (prefix: string) => string
  readonly headers?: CallHeaders | undefined
  readonly face: AuditRecord['face']
  /** The identifier of the request or of the job. */
  readonly request: string
  /** The party in whose turn the jobs run that it starts. */
  readonly party: string
  /** Created on demand, since few handlers need it. */
  readonly signal: () => AbortSignal
  /** Default: nothing is written. */
  readonly log?: WriteLine | undefined
  /** Default: there are none. */
  readonly trace?: (() => Readonly<Record<string, string>>) | undefined
  /** Called when a job has been queued. */
  readonly queued?: () => void
  /**
   * Whether what the handler gives comes from the content of the caller, in other messages: then
   * what does not fit is the caller's problem. Default: it is a bug.
   */
  readonly givesContent?: true
  /** Where work is noted that handlers have to await. Default: nowhere. */
  readonly started?: StartedWork | undefined
  /** Items that are being changed, the call's own first, as `name id`. */
  readonly underWay: readonly string[]
}

/** Members that few handlers read, computed when they are read. */
export interface LateFacts {
  readonly log: HandlerLog
  readonly signal: AbortSignal
  readonly trace: Readonly<Record<string, string>>
}
export const addLateFacts = createLateMembers<ContextFacts, LateFacts>({
  log: createHandlerLog,
  signal: about => about.signal(),
  trace: about => about.trace?.() ?? {},
})

function createHandlerLog({ log, request, operation, caller }: ContextFacts): HandlerLog {
  const write = (level: keyof HandlerLog, ...[message, fields]: Parameters<HandlerLog['info']>) =>
    log?.(level, message, { request, operation, subject: caller.subject }, fields)
  return {
    info: (...given) => write('info', ...given),
    warn: (...given) => write('warn', ...given),
    error: (...given) => write('error', ...given),
  }
}

/** Whether values that a handler gives come from the caller: those of inner handlers do not. */
export const isOfContent = ({ givesContent, underWay }: ContextFacts): boolean =>
  givesContent === true && underWay.length <= 1

export const itemKey = (resource: string, id: string): string => `${resource} ${id}`

/** A signal that is never aborted. */
export const endlessSignal = (): AbortSignal => new AbortController().signal

const resourcesByName = memoizeByObject(
  ({ resources }: Implementation['contract']): ReadonlyMap<string, Resource> =>
    new Map(resources.map(each => [each.name, each])),
)

/** @throws Error if no resource has the name: a bug in the handler */
export function requireResource({ app, operation }: ContextFacts, name: string): Resource {
  const found = resourcesByName(app.contract).get(name)
  if (found) return found
  throw new Error(`${operation}: ${name} is not a resource: name one of the contract`)
}

export const handlersOf = ({ handlers }: Implementation, name: string): ErasedHandlers =>
  handlers[name] ?? { actions: {} }

/** @param name what the handler wrote, for the error if it does not await the work */
export const markStarted = <T>({ started }: ContextFacts, name: string, work: Promise<T>): Promise<T> =>
  started ? addStarted(started, name, work) : work
