/**
 * The call that an exchange makes, and its outcome (rows 22 to 29, which the service decides in one
 * transaction).
 */

import { chain, type Maybe } from '../base/maybe.ts'
import { demandsPrecondition, listTakesWords, type Operation } from '../contract/operation.ts'
import { sameStrongly, sameVersion, sameVersionWeakly, sameWeakly } from '../http/entity-tag.ts'
import { parseIdempotencyKey } from '../http/fields.ts'
import { isAborted } from '../http/message.ts'
import { evaluatePreconditions, type Preconditions, parsePreconditions } from '../http/precondition.ts'
import { type Pairs, writeQuery } from '../http/uri.ts'
import type { Call, ExpectsResult, Input } from '../service/call.ts'
import type { ReceivedFile } from '../service/file-content.ts'
import { largeContentOctets } from '../service/large-work.ts'
import type { Outcome } from '../service/outcome.ts'
import { searchWords } from '../service/search.ts'
import type { Filter, Query, Snapshot } from '../service/store.ts'
import { finishSteps, singleStep, type WorkSteps } from '../service/turns.ts'
import { packTyped } from '../service/typed-json.ts'
import { refuseUndecodable } from './content-coding.ts'
import { callsOf, type Exchange } from './exchange.ts'
import { receiveFile } from './file-transfer.ts'
import { readHeaderFields } from './header-fields.ts'
import { contentLimitOf, restLimits } from './limits.ts'
import { isControl } from './query-parameters.ts'
import { refuseRequest } from './refusal.ts'
import { shortDigest, shortenDigest, validatorsOf } from './representation.ts'
import { parseTyped, readInput } from './request-content.ts'
import { itemTemplateOf, type Route } from './route.ts'

export function performOperation(exchange: Exchange): Maybe<Outcome> {
  const call = toCall(exchange)
  if (!exchange.head.acceptsContent && !exchange.route?.within) return callsOf(exchange).perform(call)
  return performWithContent(exchange, call)
}

async function performWithContent(exchange: Exchange, call: Call): Promise<Outcome> {
  const calls = callsOf(exchange)
  if (exchange.route?.within) await requireOwner(exchange, exchange.route.within)
  if (!exchange.head.acceptsContent) return runInTurn(exchange, () => calls.perform(call))
  // A replay gets its first response whatever the current state; the transaction finds it.
  if (isWorthChecking(exchange) && !call.once && !exchange.form) await calls.precheck(call)
  exchange.row = 26
  if (exchange.operation?.kind === 'putFile')
    return calls.perform(withFile(exchange, call, await receiveFile(exchange).catch(refuseAborted)))
  const octets = await readOctets(exchange)
  if (exchange.form) exchange.typed = parseTyped(octets)
  const complete = withContent(exchange, call, octets)
  if (exchange.isSafe) return runInTurn(exchange, () => calls.perform(complete))
  const { largeWork } = exchange.face.context
  if (!largeWork || octets.length < largeContentOctets) return calls.perform(complete)
  return largeWork.run(partyOf(exchange), async () => calls.perform(await readAhead(exchange, complete)))
}

/**
 * Rows 22 to 24 come before the content if the client waits for 100, or if the content is large.
 */
function isWorthChecking({ entry: { request } }: Exchange): boolean {
  return (
    request.fields['expect'] !== undefined ||
    (request.content.length ?? restLimits.eagerOctets + 1) > restLimits.eagerOctets
  )
}

/** `/customers/{id}/orders`: a caller that may not see the owner cannot find its items. */
async function requireOwner(exchange: Exchange, { of }: NonNullable<Route['within']>): Promise<void> {
  const { id, parents, edition, caller, entry } = exchange
  if (id === undefined) return
  const at = itemTemplateOf(of, edition.service.resources)
  const owner = edition.routes.all.find(each => each.template === at)
  const get = owner?.methods.get('GET')
  if (!get) return
  const calls = callsOf(exchange)
  const admitted = await calls.admit(get, caller, entry.request.from, 'rest')
  await calls.precheck({ admitted, id, parents: parents.toReversed(), face: 'rest', request: entry.id })
}

function toCall(exchange: Exchange): Call {
  const { operation, admitted, edition, id, parents, parameters, route, entry } = exchange
  if (!operation || !admitted) throw new Error('the plan ended without an operation')
  exchange.headers = edition.hasHeaders ? readHeaderFields(exchange, operation) : undefined
  const key = operation.safe ? undefined : entry.request.fields['idempotency-key']
  return {
    admitted,
    id: route?.within ? undefined : id,
    ...(parents.length > 0 && !route?.within && { parents: parents.toReversed() }),
    query: parameters.query,
    expects: compilePrecondition(exchange, operation),
    hidden: 'resource' in operation ? edition.hidden[operation.resource.name] : undefined,
    once: key === undefined ? undefined : onceFor(exchange, key),
    headers: exchange.headers,
    gone: entry.request.gone,
    face: 'rest',
    request: entry.id,
  }
}

/** Kinds whose precondition the service checks: the target's version covers all of its state. */
const versionedKinds = new Set(['get', 'getFile', 'putFile', 'replace', 'patch', 'remove', 'act'])

/** A single resource is also compared when it is created: it may exist already. */
const isVersioned = (operation: Operation): boolean =>
  versionedKinds.has(operation.kind) || (operation.kind === 'create' && operation.resource.isSingle)

/**
 * Row 23. For a change, both If-Match and If-None-Match compare only the version: a change concerns
 * the resource, so the tag of any representation of this version names it (RFC 9110 §13.1.1,
 * §13.1.2). A target without a version, such as a collection, exists and has no tag: only `*`
 * matches it.
 */
function compilePrecondition(exchange: Exchange, operation: Operation): Call['expects'] {
  const { request, now } = exchange.entry
  const preconditions = parsePreconditions(request.fields, now)
  const { ifMatch, ifNoneMatch, ifUnmodifiedSince, ifModifiedSince } = preconditions
  // If-Modified-Since is a precondition only of reads (RFC 9110 §13.1.3).
  const decisive = ifMatch ?? ifNoneMatch ?? ifUnmodifiedSince ?? (exchange.isSafe ? ifModifiedSince : undefined)
  if (decisive === undefined) return undefined
  const { method } = request
  if (!isVersioned(operation)) {
    if (!exchange.isSafe && evaluatePreconditions(preconditions, method, {}) !== 'proceed')
      refuseRequest({ kind: 'stale' })
    return undefined
  }
  const [same, sameForNone] = exchange.isSafe ? [sameStrongly, sameWeakly] : [sameVersion, sameVersionWeakly]
  const isDated = !exchange.isSafe && ifMatch === undefined && ifNoneMatch === undefined
  return (current: Snapshot | undefined): ExpectsResult => {
    // RFC 9110 §13.1.4: ignored, so the change has no precondition.
    if (isDated && Number.isNaN(current?.modified) && demandsPrecondition(operation))
      refuseRequest({ kind: 'precondition-required' })
    const validators = current && validatorsOf(exchange, current)
    const verdict = evaluatePreconditions(preconditions, method, validators, same, sameForNone)
    return verdict === 'not-modified' ? 'unchanged' : verdict
  }
}

export const readPreconditions = (exchange: Exchange): Preconditions =>
  parsePreconditions(exchange.entry.request.fields, exchange.entry.now)

/** Row 25; the fingerprint is completed once the content has been read. */
export function onceFor({ entry, caller, headers }: Exchange, field: string): NonNullable<Call['once']> {
  const key = parseIdempotencyKey(field)
  if (key === undefined || key.length > restLimits.keyCharacters)
    refuseRequest({
      kind: 'bad-request',
      detail: `Idempotency-Key must be a quoted string of at most ${restLimits.keyCharacters} characters`,
    })
  if (caller.subject === undefined)
    refuseRequest({
      kind: 'bad-request',
      detail: 'Idempotency-Key requires credentials: without them the stored response could be that of another caller',
    })
  const headerText = Object.keys(headers?.given ?? {}).length > 0 ? packTyped(headers?.given) : ''
  const fingerprint = shortDigest(
    `${entry.request.method} ${entry.path}${entry.query && `?${entry.query}`}${headerText}`,
  )
  return { key, fingerprint, space: 'idempotency' }
}

/** Row 26: the octets, decoded. */
export async function readOctets(exchange: Exchange): Promise<Uint8Array> {
  const limit = contentLimitOf(exchange.operation)
  const content = exchange.entry.request.content.bytes(limit)
  const bytes =
    (content instanceof Promise ? await content.catch(refuseAborted) : content) ??
    refuseRequest({ kind: 'too-large', limit })
  if (exchange.head.contentCoding === 'identity' || bytes.length === 0) return bytes
  const decoded = exchange.face.options.decodings?.[exchange.head.contentCoding]?.(bytes, limit)
  if (decoded === 'too-large') return refuseRequest({ kind: 'too-large', limit })
  return decoded ?? refuseUndecodable(exchange)
}

/**
 * The sender left or stalled: no client is left to read the response, and the fault is not ours.
 */
function refuseAborted(thrown: unknown): never {
  if (isAborted(thrown)) refuseRequest({ kind: 'malformed', detail: 'the content is incomplete' })
  throw thrown
}

/** The same key with other content belongs to another request. */
const addFingerprint = ({ head: { mediaType } }: Exchange, once: NonNullable<Call['once']>, digest: string) => ({
  ...once,
  fingerprint: `${once.fingerprint} ${mediaType} ${digest}`,
})

const withFile = (exchange: Exchange, call: Call, octets: ReceivedFile): Call => ({
  ...call,
  once: call.once && addFingerprint(exchange, call.once, shortenDigest(octets.digest())),
  file: { mediaType: exchange.head.mediaType, octets },
})

function withContent(exchange: Exchange, call: Call, bytes: Uint8Array): Call {
  const once = call.once && addFingerprint(exchange, call.once, shortDigest(bytes))
  const input = readInput(exchange, bytes)
  if (exchange.entry.request.method === 'PUT') exchange.received = bytes
  return exchange.operation?.kind === 'search'
    ? { ...call, once, query: searchQuery(exchange, input(undefined).value) }
    : { ...call, once, input }
}

/**
 * Large content is read in one turn of the event loop, before its change holds the store in
 * another; a problem with it is reported when the change reads it. A change that is tried again
 * reads it again, since a handler may have kept its input. A patch is read together with the item
 * that it changes.
 */
async function readAhead(exchange: Exchange, call: Call): Promise<Call> {
  const { input } = call
  if (!input || exchange.operation?.kind === 'patch') return call
  let ahead: (() => Input) | undefined = keepResult(() => input(undefined))
  await new Promise(resolve => setImmediate(resolve))
  return {
    ...call,
    input: current => {
      const take = ahead ?? (() => input(current))
      ahead = undefined
      return take()
    },
  }
}

/** Runs the work now; the function that it returns gives the result, or throws the error. */
function keepResult<T>(work: () => T): () => T {
  try {
    const value = work()
    return () => value
  } catch (thrown) {
    return () => {
      throw thrown
    }
  }
}

/** Whether `GET /search` gives the same (rule A4.14): it must search this resource. */
export const hasSearchPage = ({ operation, edition }: Exchange): boolean =>
  operation?.kind === 'search' && edition.service.searches?.of === operation.resource.name

/**
 * QUERY (RFC 10008): the criteria are in the content, the page is in the target; those that a link
 * has put there hold, too.
 */
function searchQuery(exchange: Exchange, value: Readonly<Record<string, unknown>>): Omit<Query, 'within'> {
  const { q, ...by } = value
  const query = exchange.parameters.query ?? {
    filters: [],
    sort: [],
    size: 20,
    counted: true,
    octets: restLimits.pageOctets,
  }
  const given = Object.entries(by).map(([field, value]) => ({ field, is: 'eq' as const, value }))
  const filters = [...query.filters, ...given]
  const inTarget = exchange.entry.pairs.find(([name]) => name === 'q')?.[1]
  const words = [...new Set([inTarget ?? '', String(q ?? '')])].join(' ').trim()
  exchange.criteria = toParameters(exchange, words, filters)
  return { ...query, filters, words: searchWords(words) }
}

/** The criteria as parameters of the address that finds the same by GET; undefined without one. */
function toParameters(exchange: Exchange, words: string, filters: readonly SameFilter[]): Pairs | undefined {
  if (!hasSearchPage(exchange) && !isListedAlike(exchange, filters)) return undefined
  const all = filters.map(({ field, value }) => [isControl(field) ? `${field}[eq]` : field, String(value)] as const)
  const isFirst = ([name, value]: Pairs[number], at: number): boolean =>
    all.findIndex(each => each[0] === name && each[1] === value) === at
  const pairs = [['q', words] as const, ...all.filter(isFirst)]
  return writeQuery(pairs).length <= restLimits.criteriaCharacters ? pairs : undefined
}
/** Whether the list takes words, and filters by the same fields. */
function isListedAlike({ operation, edition }: Exchange, filters: readonly SameFilter[]): boolean {
  if (operation?.kind !== 'search' || !listTakesWords(edition.service, operation.resource)) return false
  const { filter = [] } = operation.resource.given
  return filters.every(({ field }) => filter.includes(field))
}
type SameFilter = Pick<Filter, 'field'> & { readonly value: unknown }

/** Pages are long work: they are read and written in their caller's turns. */
export function performInTurns<T>(exchange: Exchange, steps: WorkSteps<Maybe<T>>): Maybe<T> {
  const { turns } = exchange.face.context
  return turns ? chain(turns.perform(partyOf(exchange), steps), result => result) : finishSteps(steps)
}

/** Whose turn it is: the caller's, or the address's if the caller has no name. */
const partyOf = ({ caller, entry }: Exchange): string => caller.subject ?? `@${entry.request.from}`

const runInTurn = <T>(exchange: Exchange, work: () => Maybe<T>): Maybe<T> => performInTurns(exchange, singleStep(work))
