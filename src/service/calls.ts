/**
 * START HERE for what a call means. Admission first, then one visit to the store: a consistent look for what is safe,
 * one transaction for what is not, with the audit and the change feed written in it.
 */

import { type Maybe, settled, then } from '../base/maybe.ts'
import type { Implementation } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import { operations } from '../contract/operation.ts'
import { type Caller, everAllowed, isPublic } from '../contract/policy.ts'
import type { Admitted, Call, Calls } from './call.ts'
import { provided } from './external-resource.ts'
import { discard, keep } from './file-content.ts'
import type { About } from './handler-context.ts'
import { alone, once } from './idempotency.ts'
import { demanded, expected, offers, present } from './item-checks.ts'
import { cancelJob, getJob, getResult, startJob } from './job.ts'
import type { Limiter } from './limiter.ts'
import type { Outcome } from './outcome.ts'
import { file, get, kept, type Look, list, read } from './reads.ts'
import { refuse } from './refusal.ts'
import { createSearch, getSearch } from './search.ts'
import { type Deed, isFormer, type Reader, type Snapshot, type Store, Unavailable, type Writer } from './store.ts'
import { act, bulk, type Change, create, putFile, remove, replace } from './writes.ts'

export interface Parts {
  readonly store: Store
  readonly limiter: Limiter
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** A new identifier, `prefix-…`. */
  readonly id: (prefix: string) => string
  /** A job was started here: a worker need not wait for its next look. */
  readonly started?: () => void
  /** What was done and audited, once it is durable. */
  readonly done?: (deed: Deed) => void
}

export function callsOf(app: Implementation, parts: Parts): Calls {
  const { clock } = parts
  const store = provided(app, parts.store)
  const acts = operations(app.contract).filter(operation => operation.kind === 'act' && !operation.oneWay)
  const about = (call: Call): About => ({
    contract: app.contract,
    caller: call.admitted.caller,
    now: clock(),
    operation: call.admitted.operation.name,
    id: parts.id,
  })
  const handlersOf = (operation: Operation) => app.handlers[nameOf(operation)] ?? { actions: {} }
  const possible = (caller: Caller, item: Snapshot, resource: string): readonly string[] =>
    acts
      .filter(each => each.kind === 'act' && each.resource.name === resource && offers(each, caller, item, clock()))
      .map(each => (each.kind === 'act' ? each.verb : ''))

  const looking = (call: Call, reader: Reader): Maybe<Outcome> => {
    const { operation } = call.admitted
    return look({ call, about: about(call), handlers: handlersOf(operation), reader }, operation)
  }
  const changing = (call: Call, writer: Writer, did: Did): Maybe<Outcome> => {
    const { operation, caller } = call.admitted
    did.deed = undefined // a try before may not have held
    const change: Change = {
      call,
      about: about(call),
      handlers: handlersOf(operation),
      writer,
      possible: item => possible(caller, item, nameOf(operation)),
    }
    return once(call, writer, change.about.now, () =>
      then(perform(change, operation), outcome =>
        then(writer.record((did.deed = deedOf(change, outcome))), () => outcome),
      ),
    )
  }

  const change = (call: Call): Promise<Outcome> => {
    const did: Did = { deed: undefined }
    const written = () => alone(call, () => store.write(writer => changing(call, writer, did)))
    const answer = call.file ? filed(call.file, did, written) : written()
    return answer.then(outcome => {
      if (did.deed) parts.done?.(did.deed)
      if (call.admitted.operation.kind === 'startJob') parts.started?.()
      return outcome
    }, unreachable)
  }
  /** Octets that became no file go again: also those of a call that was answered as it was before. */
  const filed = async ({ octets }: NonNullable<Call['file']>, did: Did, written: () => Maybe<Outcome>) => {
    let outcome: Outcome | undefined
    try {
      outcome = await written()
      return outcome
    } finally {
      if (!(outcome && did.deed)) await discard(store, octets.name)
    }
  }

  return {
    admit: (operation, caller, from) => admit(parts, operation, caller, from),
    precheck: call => reachable(() => store.read(reader => precheck(call, reader, clock()))),
    keep: async (_admitted, content, limit) => reachable(() => keep({ store, clock, id: parts.id }, content, limit)),
    perform: call => {
      const { operation } = call.admitted
      return operation.safe ? reachable(() => store.read(reader => looking(call, reader))) : change(call)
    },
    offers: (operation, caller, item) => offers(operation, caller, item, clock()),
  }
}

/** The resource or job that an operation is of. */
export const nameOf = (operation: Operation): string =>
  'job' in operation ? operation.job.job : operation.resource.name

/** A store out of reach is the caller's to try again: 503, Receiver. */
const reachable = <T>(work: () => Maybe<T>): Maybe<T> => settled(work, unreachable)
function unreachable(thrown: unknown): never {
  if (thrown instanceof Unavailable) return refuse({ kind: 'unavailable', after: thrown.after })
  throw thrown
}

function admit(parts: Parts, operation: Operation, caller: Caller, from: string): Maybe<Admitted> {
  const now = parts.clock()
  if (!everAllowed(operation.grants, caller, now)) {
    if (caller.subject === undefined && !isPublic(operation.grants)) return refuse({ kind: 'unauthenticated' })
    return refuse({ kind: 'forbidden' })
  }
  const taken = parts.limiter.take(`${operation.counted} ${caller.subject ?? `@${from}`}`, operation.limit, now)
  return taken instanceof Promise
    ? taken.then(quota => within(operation, caller, quota))
    : within(operation, caller, taken)
}

function within(operation: Operation, caller: Caller, taken: Awaited<ReturnType<Limiter['take']>>): Admitted {
  const { exceeded, ...quota } = taken
  if (exceeded)
    return refuse({ kind: 'too-many', after: Math.max(1, quota.reset), limit: quota.limit, window: quota.window })
  return { operation, caller, quota }
}

/** Rows 22–24 alone: a caller is refused before the content is asked for. What it lets pass is asked again in the call. */
async function precheck(call: Call, reader: Reader, now: number): Promise<void> {
  const { operation, caller } = call.admitted
  if (!('resource' in operation) || call.id === undefined || operation.kind === 'getSearch') return
  const found = await reader.get(operation.resource.name, call.id)
  const creates = operation.kind === 'replace' && operation.resource.given.putCreates === true
  if (creates && (!found || isFormer(found))) return expected(call, undefined)
  const item = present(found, operation, caller, now)
  if (operation.kind !== 'putFile') expected(call, item)
  demanded(call, operation.resource)
}

function look(look: Look, operation: Operation): Maybe<Outcome> {
  switch (operation.kind) {
    case 'get':
      return get(look, operation)
    case 'list':
    case 'search':
      return list(look, operation)
    case 'look':
      return read(look, operation)
    case 'kept':
      return kept(look, operation)
    case 'getFile':
      return file(look, operation)
    case 'getSearch':
      return getSearch(look, operation)
    case 'getJob':
      return getJob(look.call, look.reader, operation)
    case 'getResult':
      return getResult(look.call, look.reader, operation)
    default:
      throw new Error(`${operation.name} is not safe`)
  }
}

function perform(change: Change, operation: Operation): Maybe<Outcome> {
  const { call, about, writer } = change
  switch (operation.kind) {
    case 'create':
      return create(change, operation)
    case 'replace':
    case 'patch':
      return replace(change, operation)
    case 'remove':
      return remove(change, operation)
    case 'bulk':
      return bulk(change, operation)
    case 'act':
      return act(change, operation)
    case 'putFile':
      return putFile(change, operation)
    case 'createSearch':
      return createSearch(call, about, writer, operation)
    case 'startJob':
      return startJob(call, about, writer, operation)
    case 'cancelJob':
      return cancelJob(call, about, writer, operation)
    default:
      throw new Error(`${operation.name} changes nothing`)
  }
}

/** What a call has done, for the audit; an outcome that is given again has done nothing. */
interface Did {
  deed: Deed | undefined
}

function deedOf({ call, about }: Change, outcome: Outcome): Deed {
  const { operation, caller } = call.admitted
  return {
    at: about.now,
    subject: caller.subject ?? '',
    operation: operation.name,
    resource: nameOf(operation),
    id: idOf(outcome) ?? call.id ?? '',
    version: 'item' in outcome ? outcome.item.version : undefined,
    face: call.face,
    request: call.request,
  }
}

function idOf(outcome: Outcome): string | undefined {
  if ('item' in outcome) return outcome.item.id
  if ('job' in outcome) return outcome.job.id
  return 'id' in outcome ? outcome.id : undefined
}
