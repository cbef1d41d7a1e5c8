/** An outcome in HTTP's words (row 30): status, content in the media type that was chosen, validators, links. */

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
  representationTag,
  selectItem,
  shortDigest,
  validatorFields,
  writeSelected,
  writingOf,
} from './representation.ts'

export function replyWith(x: Exchange, outcome: Outcome): Maybe<Response> {
  x.row = 30
  switch (outcome.kind) {
    case 'item':
      return itemReply(x, outcome.item, outcome.created)
    case 'output':
      return outputReply(x, outcome)
    case 'page':
      return pageReply(x, outcome.page)
    case 'removed':
      return { status: 204, fields: {} }
    case 'bulk':
      return replyToChange(x, 200, bulkDocument(outcome))
    case 'file':
      return outcome.octets ? replyWithFile(x, outcome.file, outcome.octets) : replyToPut(x, outcome, pathOf(x))
    case 'search':
      return outcome.page ? searchReply(x, outcome.id, outcome.search, outcome.page) : searchCreated(x, outcome)
    case 'job':
      return jobReply(x, outcome.job, outcome.created)
    case 'result':
      return resultReply(x, outcome.job, outcome.output)
    case 'unchanged':
      x.row = 23
      return { status: 304, fields: validatorFields(x, outcome.current) }
  }
}

const resourceOf = (x: Exchange): Resource => {
  if (x.operation && 'resource' in x.operation) return x.operation.resource
  throw new Error('the operation has no resource')
}
const isMinimal = (x: Exchange): boolean => {
  const asked = preferenceOf(x.entry.request, 'return')
  if (asked === 'minimal' || asked === 'representation') applyPreference(x, 'return', asked)
  return asked === 'minimal'
}

function itemReply(x: Exchange, item: Snapshot, created: boolean): Maybe<Response> {
  const { name } = resourceOf(x)
  const href = `${x.base}/${name}/${item.id}`
  const location = created ? { location: href } : {}
  if (!x.isSafe && isMinimal(x))
    return { status: created ? 201 : 204, fields: { ...location, ...minimalTag(x, name, item) } }
  const is = selectItem(x, name, item)
  const content = writeSelected(x, is)
  const fields = {
    ...location,
    ...(!x.isSafe && { 'content-location': href }),
    etag: is.etag,
    'last-modified': writeDate(item.modified),
    ...linkField(is.document.links),
  }
  return chain(content, octets => replyWithContent(x, created ? 201 : 200, octets, is.coding, fields))
}

/**
 * RFC 9110 §9.3.4: without content, a tag after PUT would say that what was sent is what stands; the server has added to it.
 * A PATCH says no such thing.
 */
function minimalTag(x: Exchange, name: string, item: Snapshot): FieldDraft {
  return x.entry.request.method === 'PUT' ? {} : { etag: selectItem(x, name, item).etag }
}

/** Content in the coding that was settled with its tag. */
function replyWithContent(
  x: Exchange,
  status: number,
  content: string | Uint8Array,
  coding: string,
  fields: FieldDraft,
): Response {
  fields['content-type'] = x.head.offer?.sent ?? 'application/octet-stream'
  if (coding === 'identity') return { status, fields, content }
  fields['content-encoding'] = coding
  return { status, fields, content: encodeContent(x, coding, content, fields['etag']) }
}

/** What is known of a representation beside its document. */
interface ReplyFacts {
  /** Of the state; absent: the tag is made of the text. */
  readonly version?: string | number
  readonly fields?: FieldDraft
  readonly modified?: number
  /** Where it is written already. */
  readonly text?: string | Uint8Array | undefined
}

/** A representation whose validators are known only now: the precondition of a safe request is asked here. */
export function computedReply(x: Exchange, document: RepresentationDocument, about: ReplyFacts = {}): Maybe<Response> {
  return chain(about.text ?? x.head.offer?.write(document, writingOf(x)) ?? '', text =>
    replyWithValidators(x, document, about, text),
  )
}

function replyWithValidators(
  x: Exchange,
  { links }: RepresentationDocument,
  about: ReplyFacts,
  text: string | Uint8Array,
): Response {
  const { version = shortDigest(text), fields, modified } = about
  const coding = chooseCoding(x, text)
  const etag = representationTag(x, version, '', coding)
  const dated = modified === undefined ? {} : { 'last-modified': writeDate(modified) }
  const verdict = evaluatePreconditions(readPreconditions(x), x.entry.request.method, {
    etag,
    ...(modified !== undefined && { lastModified: modified }),
  })
  if (verdict === 'failed') refuseRequest({ kind: 'stale' })
  if (verdict === 'not-modified') {
    x.row = 23
    return { status: 304, fields: { ...fields, etag, ...dated } }
  }
  return replyWithContent(x, 200, text, coding, { ...fields, etag, ...dated, ...linkField(links) })
}

/** What a change answers with; it is not what a later GET is compared with, so it has no validators. */
async function replyToChange(
  x: Exchange,
  status: number,
  document: RepresentationDocument,
  fields: FieldDraft = {},
): Promise<Response> {
  if (isMinimal(x)) return { status: status === 200 ? 204 : status, fields }
  const content = (await x.head.offer?.write(document, writingOf(x))) ?? ''
  return replyWithContent(x, status, content, chooseCoding(x, content), { ...fields, ...linkField(document.links) })
}

function pageReply(x: Exchange, page: ItemPage): Maybe<Response> {
  const resource = resourceOf(x)
  const queried = x.entry.request.method === 'QUERY' && hasSearchPage(x)
  const collection = buildCollectionPage(x, resource, page, queried ? `${x.base}/search` : pathOf(x))
  const { document, version } = collection
  const text = collection.text ?? x.head.offer?.write(document, writingOf(x)) ?? ''
  if (!(text instanceof Promise)) collection.text = text
  // RFC 10008 §2.4: the address at which the same can be asked again by GET.
  const fields = queried ? { location: document.links[0]?.href ?? '' } : {}
  return chain(text, text => computedReply(x, document, { version, fields, text }))
}

const pathOf = (x: Exchange): string => `${x.base}${(x.route?.template ?? '').replace('{id}', x.id ?? '')}`

function outputReply(x: Exchange, outcome: Extract<Outcome, { kind: 'output' }>): Maybe<Response> {
  const { operation } = x
  if (operation?.kind !== 'act' && operation?.kind !== 'look' && operation?.kind !== 'kept')
    throw new Error('an output comes of an action')
  const { action } = operation
  const href = pathOf(x)
  const owner = { rel: 'related', href: `${x.base}/${operation.resource.name}/${outcome.item.id}` }
  const document: RepresentationDocument = {
    name: action.rel,
    title: action.rel,
    fields: action.output ?? {},
    value: outcome.output,
    links: [{ rel: 'self', href }, owner],
  }
  if (!x.isSafe)
    return replyToChange(x, outcome.created ? 201 : 200, document, outcome.created ? { location: href } : {})
  if (operation.kind === 'look') return computedReply(x, document)
  const { version, modified } = outcome.item
  return computedReply(x, document, { version, modified })
}

const bulkFields = { removed: t.int(), refused: t.int() }
const bulkDocument = ({ removed, refused }: Extract<Outcome, { kind: 'bulk' }>): RepresentationDocument => ({
  name: 'removal',
  title: 'removed',
  fields: bulkFields,
  value: { removed, refused },
  links: [],
})

function searchDocument(
  x: Exchange,
  id: string,
  search: Search,
  links: readonly DocumentLink[],
): RepresentationDocument {
  const resource = resourceOf(x)
  const fields: Fields = { id: t.string(), ...searchFields(resource) }
  return { name: 'search', title: 'search', fields, value: { id, q: search.q, ...search.by }, links }
}

function searchCreated(x: Exchange, { id, search }: Extract<Outcome, { kind: 'search' }>): Promise<Response> {
  const href = `${x.base}/searches/${id}`
  return replyToChange(x, 201, searchDocument(x, id, search, [{ rel: 'self', href }]), {
    location: href,
    'content-location': href,
  })
}

function searchReply(x: Exchange, id: string, search: Search, page: ItemPage): Maybe<Response> {
  const resource = resourceOf(x)
  const { document, version } = buildCollectionPage(x, resource, page, `${x.base}/searches/${id}`)
  const { fields, value } = searchDocument(x, id, search, [])
  const whole = { ...document, fields: { ...fields, ...document.fields }, value: { ...value, ...document.value } }
  return computedReply(x, whole, { version })
}

type JobOperation = OperationOf<'startJob' | 'getJob' | 'cancelJob' | 'getResult'>
const isJob = (operation: Operation | undefined): operation is JobOperation =>
  operation !== undefined && 'job' in operation
const jobOf = (x: Exchange): Job => {
  if (isJob(x.operation)) return x.operation.job
  throw new Error('the operation has no job')
}

const isRunning = (job: JobRow): boolean => job.state === 'queued' || job.state === 'running'
/** Seconds after which a job that runs is worth another look. */
const again = '1'

function jobDocument(x: Exchange, row: JobRow): RepresentationDocument {
  const job = jobOf(x)
  const href = `${x.base}/${job.job}/jobs/${row.id}`
  const cancel: DocumentLink = {
    rel: 'cancel',
    href: `${href}/cancellation`,
    form: { method: 'POST', title: 'cancel', fields: {} },
  }
  const related = { rel: 'related', href: `${x.base}/${job.job}/${row.id}` }
  return {
    name: 'job',
    title: `${job.job} job ${row.id}`,
    fields: jobFields,
    value: {
      id: row.id,
      state: row.state,
      progress: row.progress,
      createdAt: new Date(row.created).toISOString(),
      ...(row.failure !== undefined && { failure: row.failure }),
    },
    links: [
      { rel: 'self', href },
      ...(isRunning(row) ? [cancel] : []),
      ...(row.state === 'completed' ? [related] : []),
    ],
  }
}

/** Rules A3.1–A3.3: 202 when it is made, 200 while it runs and when it is done. */
function jobReply(x: Exchange, row: JobRow, created: boolean): Maybe<Response> {
  const document = jobDocument(x, row)
  const wait: FieldDraft = isRunning(row) ? { 'retry-after': again } : {}
  const { version, modified } = row
  if (!created && x.isSafe) return computedReply(x, document, { version, modified, fields: wait })
  if (!created) return replyToChange(x, 200, document, wait)
  if (preferenceOf(x.entry.request, 'respond-async') !== undefined) applyPreference(x, 'respond-async', '')
  return replyToChange(x, 202, document, { ...wait, location: document.links[0]?.href ?? '' })
}

function resultReply(x: Exchange, row: JobRow, output: RepresentationDocument['value']): Maybe<Response> {
  const job = jobOf(x)
  const document: RepresentationDocument = {
    name: job.one,
    title: `${job.one} ${row.id}`,
    fields: job.output,
    value: output,
    links: [
      { rel: 'self', href: pathOf(x) },
      { rel: 'related', href: `${x.base}/${job.job}/jobs/${row.id}` },
    ],
  }
  return computedReply(x, document, { version: row.version, modified: row.modified })
}

/** Relations that are registered (IANA): others are names in `_links` alone, where RFC 8288 would want a URI. */
const registered: Readonly<Record<string, string>> = {
  collection: 'collection',
  next: 'next',
  previous: 'prev',
  edit: 'edit',
  payment: 'payment',
  related: 'related',
}

function linkField(links: readonly DocumentLink[]): FieldDraft {
  let text = ''
  for (const { rel, href, templated } of links) {
    const known = registered[rel]
    if (known !== undefined && !templated) text += `${text === '' ? '' : ', '}<${href}>; rel="${known}"`
  }
  return text === '' ? {} : { link: text }
}
