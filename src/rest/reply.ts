/**
 * An outcome as an HTTP response (row 30): status, content in the chosen type, validators, links.
 */

import { decodeUtf8 } from '../base/attempt.ts'
import { chain, type Maybe } from '../base/maybe.ts'
import { type Fields, t } from '../contract/field.ts'
import type { Job } from '../contract/job.ts'
import type { Operation, OperationOf } from '../contract/operation.ts'
import type { Resource } from '../contract/resource.ts'
import { jobFields } from '../contract/xml-message.ts'
import { writeDate } from '../http/date.ts'
import type { FieldDraft, Response } from '../http/message.ts'
import { evaluatePreconditions } from '../http/precondition.ts'
import type { Outcome, Search } from '../service/outcome.ts'
import type { ItemPage, JobRow, Snapshot } from '../service/store.ts'
import { finishSteps, type WorkSteps } from '../service/turns.ts'
import { searchFields } from './api-version.ts'
import { buildCollectionPage } from './collection-page.ts'
import { encodeContent } from './content-coding.ts'
import type { Exchange } from './exchange.ts'
import { replyToPut, replyWithFile } from './file-transfer.ts'
import type { DocumentLink, RepresentationDocument } from './formats/document.ts'
import { applyPreference, preferenceOf } from './head-rows.ts'
import { hasSearchPage, readPreconditions } from './perform.ts'
import { refuseRequest } from './refusal.ts'
import {
  chooseCoding,
  selectItem,
  shortDigest,
  validatorFields,
  writeInSteps,
  writeRepresentation,
  writeSelected,
} from './representation.ts'
import { fillTemplate, itemPathOf } from './route.ts'
import { representationTag } from './tags.ts'

export function replyWith(exchange: Exchange, outcome: Outcome): Maybe<Response> {
  exchange.row = 30
  exchange.outcome = outcome
  switch (outcome.kind) {
    case 'item':
      return itemReply(exchange, outcome.item, outcome.created)
    case 'output':
      return outputReply(exchange, outcome)
    case 'page':
      return finishReply(pageReply(exchange, outcome.page))
    case 'removed':
      return { status: 204, fields: {} }
    case 'bulk':
      return replyToChange(exchange, 200, bulkDocument(outcome))
    case 'file':
      return outcome.octets
        ? replyWithFile(exchange, outcome.file, outcome.octets)
        : replyToPut(exchange, outcome, requestPath(exchange))
    case 'search':
      return outcome.page
        ? finishReply(searchReply(exchange, outcome.id, outcome.search, outcome.page))
        : searchCreated(exchange, outcome)
    case 'job':
      return jobReply(exchange, outcome.job, outcome.created)
    case 'result':
      return resultReply(exchange, outcome.job, outcome.output)
    case 'answer':
      throw new Error('the answer of a port is written by its exchange, not here')
    case 'unchanged':
      exchange.row = 23
      return { status: 304, fields: validatorFields(exchange, outcome.current) }
  }
}

/** A page is long work: it is built and written in steps. */
export function* replyInSteps(exchange: Exchange, outcome: Outcome): WorkSteps<Maybe<Response>> {
  exchange.row = 30
  exchange.outcome = outcome
  if (outcome.kind === 'page') return yield* pageReply(exchange, outcome.page)
  if (outcome.kind === 'search' && outcome.page)
    return yield* searchReply(exchange, outcome.id, outcome.search, outcome.page)
  return replyWith(exchange, outcome)
}
const finishReply = (steps: WorkSteps<Maybe<Response>>): Maybe<Response> => finishSteps(steps)

const requireOwnResource = (exchange: Exchange): Resource => {
  if (exchange.operation && 'resource' in exchange.operation) return exchange.operation.resource
  throw new Error('the operation has no resource')
}
/**
 * Whether the client prefers a response without content; `return` is then named as applied (RFC
 * 7240 §4.2).
 */
export const isMinimal = (exchange: Exchange): boolean => {
  const preference = preferenceOf(exchange.entry.request, 'return')
  if (preference === 'minimal' || preference === 'representation') applyPreference(exchange, 'return', preference)
  return preference === 'minimal'
}

function itemReply(exchange: Exchange, item: Snapshot, created: boolean): Maybe<Response> {
  const resource = requireOwnResource(exchange)
  const { name } = resource
  if (!exchange.isSafe && exchange.entry.request.fields['prefer'] !== undefined && isMinimal(exchange)) {
    const location = created ? { location: exchange.place + itemPathOf(resource, item.id) } : {}
    return { status: created ? 201 : 204, fields: { ...location, ...minimalTag(exchange, name, item) } }
  }
  const selected = selectItem(exchange, name, item)
  const href = selected.document.links[0]?.href ?? '' // the first link is `self`
  return chain(writeSelected(exchange, selected), octets => {
    const fields: FieldDraft = {}
    if (created) fields['location'] = href
    if (!exchange.isSafe) fields['content-location'] = href
    if (exchange.entry.request.method !== 'PUT' || isStoredUnchanged(exchange, octets)) {
      fields['etag'] = selected.etag
      const { entry, face } = exchange
      if (!Number.isNaN(item.modified))
        fields['last-modified'] = writeDate(item.modified, exchange.isSafe ? entry.now : face.context.clock())
    }
    const link = writeLinkField(selected.document.links)
    if (link !== '') fields['link'] = link
    return replyWithContent(exchange, created ? 201 : 200, octets, selected.coding, fields)
  })
}

/**
 * RFC 9110 §9.3.4: a validator in the response to PUT says that the content was stored without any
 * transformation, and the client may use what it sent as that representation. The server adds
 * links, and often computes fields; so it says so only if the representation has exactly the octets
 * that were sent. After any other method a validator means no such thing.
 */
function isStoredUnchanged({ received, head }: Exchange, octets: string | Uint8Array): boolean {
  return received !== undefined && head.mediaType === head.offer?.type && decodeUtf8(received) === octets
}

const minimalTag = (exchange: Exchange, name: string, item: Snapshot): FieldDraft =>
  exchange.entry.request.method === 'PUT' ? {} : { etag: selectItem(exchange, name, item).etag }

/** Replies with content in the coding that its tag was made for. */
function replyWithContent(
  exchange: Exchange,
  status: number,
  content: string | Uint8Array,
  coding: string,
  fields: FieldDraft,
): Maybe<Response> {
  fields['content-type'] = exchange.head.offer?.sent ?? 'application/octet-stream'
  if (coding === 'identity') return { status, fields, content }
  fields['content-encoding'] = coding
  return chain(encodeContent(exchange, coding, content, fields['etag']), octets => ({
    status,
    fields,
    content: octets,
  }))
}

/** What is known about a representation besides its document. */
interface ReplyFacts {
  /** The version of the state; without it, the tag is made from the text. */
  readonly version?: string | number
  readonly fields?: FieldDraft
  readonly modified?: number
  /** The text, if it is already written. */
  readonly text?: string | Uint8Array | undefined
}

/** A representation whose validators are only known now: a read's precondition is checked here. */
export function computedReply(
  exchange: Exchange,
  document: RepresentationDocument,
  about: ReplyFacts = {},
): Maybe<Response> {
  return chain(about.text ?? writeRepresentation(exchange, document), text =>
    replyWithValidators(exchange, document, about, text),
  )
}

function replyWithValidators(
  exchange: Exchange,
  { links }: RepresentationDocument,
  about: ReplyFacts,
  text: string | Uint8Array,
): Maybe<Response> {
  const { version = shortDigest(text), fields } = about
  const modified = Number.isNaN(about.modified) ? undefined : about.modified
  const coding = chooseCoding(exchange, text)
  const etag = representationTag(exchange, version, '', coding)
  const dateFields = modified === undefined ? {} : { 'last-modified': writeDate(modified, exchange.entry.now) }
  const verdict = evaluatePreconditions(readPreconditions(exchange), exchange.entry.request.method, {
    etag,
    ...(modified !== undefined && { lastModified: modified }),
  })
  if (verdict === 'failed') refuseRequest({ kind: 'stale' })
  if (verdict === 'not-modified') {
    exchange.row = 23
    return { status: 304, fields: { ...fields, etag, ...dateFields } }
  }
  return replyWithContent(exchange, 200, text, coding, { ...fields, etag, ...dateFields, ...linkField(links) })
}

/** The result of a change: no later GET is compared with it, so it has no validators. */
export async function replyToChange(
  exchange: Exchange,
  status: number,
  document: RepresentationDocument,
  fields: FieldDraft = {},
): Promise<Response> {
  if (isMinimal(exchange)) return { status: status === 200 ? 204 : status, fields }
  const content = await writeRepresentation(exchange, document)
  return replyWithContent(exchange, status, content, chooseCoding(exchange, content), {
    ...fields,
    ...linkField(document.links),
  })
}

function* pageReply(exchange: Exchange, page: ItemPage): WorkSteps<Maybe<Response>> {
  const resource = requireOwnResource(exchange)
  const isAddressed = exchange.criteria !== undefined
  const path = isAddressed && hasSearchPage(exchange) ? `${exchange.base}/search` : requestPath(exchange)
  const collection = yield* buildCollectionPage(exchange, resource, page, path)
  const { document, version } = collection
  const text = collection.text ?? (yield* writeInSteps(exchange, document))
  if (!(text instanceof Promise)) collection.text = text
  // RFC 10008 §2.4: the address of the same query by GET.
  const fields = isAddressed ? { location: document.links[0]?.href ?? '' } : {}
  return chain(text, text => computedReply(exchange, document, { version, fields, text }))
}

export const requestPath = ({ base, route, parents, id }: Exchange): string =>
  base + fillTemplate(route?.template ?? '', [...parents, id ?? ''])

function outputReply(exchange: Exchange, outcome: Extract<Outcome, { kind: 'output' }>): Maybe<Response> {
  const { operation } = exchange
  if (operation?.kind !== 'act' && operation?.kind !== 'look' && operation?.kind !== 'kept')
    throw new Error('only an action has an output')
  const { action } = operation
  const href = requestPath(exchange)
  const owner = { rel: 'related', href: exchange.place + itemPathOf(operation.resource, outcome.item.id) }
  const document: RepresentationDocument = {
    name: action.rel,
    title: action.rel,
    fields: action.output ?? {},
    value: outcome.output,
    links: [{ rel: 'self', href }, owner],
  }
  if (!exchange.isSafe)
    return replyToChange(exchange, outcome.created ? 201 : 200, document, outcome.created ? { location: href } : {})
  if (operation.kind === 'look') return computedReply(exchange, document)
  const { version, modified } = outcome.item
  return computedReply(exchange, document, { version, modified })
}

const bulkFields = { removed: t.int(), refused: t.int(), more: t.boolean().optional() }
const bulkDocument = ({ removed, refused, more }: Extract<Outcome, { kind: 'bulk' }>): RepresentationDocument => ({
  name: 'removal',
  title: 'removed',
  fields: bulkFields,
  value: { removed, refused, ...(more && { more }) },
  links: [],
})

function searchDocument(
  exchange: Exchange,
  id: string,
  search: Search,
  links: readonly DocumentLink[],
): RepresentationDocument {
  const resource = requireOwnResource(exchange)
  const fields: Fields = { id: t.string(), ...searchFields(resource) }
  return { name: 'search', title: 'search', fields, value: { id, q: search.q, ...search.by }, links }
}

function searchCreated(exchange: Exchange, { id, search }: Extract<Outcome, { kind: 'search' }>): Promise<Response> {
  const href = `${exchange.base}/searches/${id}`
  return replyToChange(exchange, 201, searchDocument(exchange, id, search, [{ rel: 'self', href }]), {
    location: href,
    'content-location': href,
  })
}

function* searchReply(exchange: Exchange, id: string, search: Search, page: ItemPage): WorkSteps<Maybe<Response>> {
  const resource = requireOwnResource(exchange)
  const at = `${exchange.base}/searches/${id}`
  const { document, version } = yield* buildCollectionPage(exchange, resource, page, at)
  const { fields, value } = searchDocument(exchange, id, search, [])
  const whole = { ...document, fields: { ...fields, ...document.fields }, value: { ...value, ...document.value } }
  return chain(yield* writeInSteps(exchange, whole), text => computedReply(exchange, whole, { version, text }))
}

type JobOperation = OperationOf<'startJob' | 'getJob' | 'cancelJob' | 'getResult' | 'getAnswer'>
const isJobOperation = (operation: Operation | undefined): operation is JobOperation =>
  operation !== undefined && 'job' in operation
const requireJob = (exchange: Exchange): Job => {
  if (isJobOperation(exchange.operation)) return exchange.operation.job
  throw new Error('the operation has no job')
}
/** Whether a job waits for the answer of another service, which may take hours. */
const isLater = ({ operation }: Exchange): boolean =>
  operation !== undefined && 'port' in operation && operation.port !== undefined

const isRunning = (job: JobRow): boolean => job.state === 'queued' || job.state === 'running'
/** Retry-After of a running job; for one that waits for another service, a tenth of its age. */
const pollSeconds = '1'
const pollSecondsMax = 60
const pollSecondsOf = (exchange: Exchange, { created }: JobRow): string => {
  const tenth = Math.ceil((exchange.entry.now - created) / 10_000)
  return isLater(exchange) ? String(Math.min(pollSecondsMax, Math.max(1, tenth))) : pollSeconds
}

function jobDocument(exchange: Exchange, row: JobRow): RepresentationDocument {
  const { job } = row
  const href = `${exchange.base}/${job}/jobs/${row.id}`
  const cancel: DocumentLink = {
    rel: 'cancel',
    href: `${href}/cancellation`,
    form: { method: 'POST', title: 'cancel', fields: {} },
  }
  const related = { rel: 'related', href: `${exchange.base}/${job}/${row.id}`, label: 'Result' }
  const hasResult = row.state === 'completed' || (row.state === 'failed' && isLater(exchange))
  return {
    name: 'job',
    title: `${job} job ${row.id}`,
    fields: jobFields,
    value: {
      id: row.id,
      state: row.state,
      progress: row.progress,
      createdAt: new Date(row.created).toISOString(),
      ...(row.failure !== undefined && { failure: row.failure }),
    },
    links: [{ rel: 'self', href }, ...(isRunning(row) ? [cancel] : []), ...(hasResult ? [related] : [])],
  }
}

/** Rules A3.1–A3.3: 202 when the job is created, 200 while it runs and when it is done. */
function jobReply(exchange: Exchange, row: JobRow, created: boolean): Maybe<Response> {
  const document = jobDocument(exchange, row)
  const wait: FieldDraft = isRunning(row) ? { 'retry-after': pollSecondsOf(exchange, row) } : {}
  const { version, modified } = row
  if (!created && exchange.isSafe) return computedReply(exchange, document, { version, modified, fields: wait })
  if (!created) return replyToChange(exchange, 200, document, wait)
  if (preferenceOf(exchange.entry.request, 'respond-async') !== undefined)
    applyPreference(exchange, 'respond-async', '')
  return replyToChange(exchange, 202, document, { ...wait, location: document.links[0]?.href ?? '' })
}

function resultReply(exchange: Exchange, row: JobRow, output: RepresentationDocument['value']): Maybe<Response> {
  const job = requireJob(exchange)
  const document: RepresentationDocument = {
    name: job.one,
    title: `${job.one} ${row.id}`,
    fields: job.output,
    value: output,
    links: [
      { rel: 'self', href: requestPath(exchange) },
      { rel: 'related', href: `${exchange.base}/${job.job}/jobs/${row.id}`, label: 'Job' },
    ],
  }
  return computedReply(exchange, document, { version: row.version, modified: row.modified })
}

/**
 * Relations registered with IANA; others are only in `_links`, since RFC 8288 would demand a URI.
 */
const registeredRelations: Readonly<Record<string, string>> = {
  collection: 'collection',
  next: 'next',
  previous: 'prev',
  edit: 'edit',
  payment: 'payment',
  related: 'related',
  up: 'up',
}

const linkField = (links: readonly DocumentLink[]): FieldDraft => {
  const link = writeLinkField(links)
  return link === '' ? {} : { link }
}

function writeLinkField(links: readonly DocumentLink[]): string {
  let text = ''
  for (const { rel, href, templated } of links) {
    const registered = registeredRelations[rel]
    if (registered !== undefined && !templated) text += `${text === '' ? '' : ', '}<${href}>; rel="${registered}"`
  }
  return text
}
