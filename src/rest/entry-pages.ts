/**
 * The face's own pages: the entry with links to everything (rule A1.4), explanations of problems,
 * the order of decisions.
 */

import { escapeMarkup } from '../base/markup.ts'
import type { Maybe } from '../base/maybe.ts'
import { builtInFaults, declaredFaults, type Fault, gatewayFaults } from '../contract/fault.ts'
import { type Fields, itemRelation, t } from '../contract/field.ts'
import { type Operation, singularOf } from '../contract/operation.ts'
import { listPortOperations } from '../contract/port-operation.ts'
import { buildElement, type PageMarkup } from '../html/element.ts'
import { writePage } from '../html/frame.ts'
import { writeRowTable } from '../html/value-views.ts'
import type { Response } from '../http/message.ts'
import { searchFields } from './api-version.ts'
import { describeSharedFrame } from './browse/page-frame.ts'
import { writeSearchLink } from './collection-page.ts'
import type { Exchange } from './exchange.ts'
import type { DocumentLink, RepresentationDocument } from './formats/document.ts'
import { decisionRows } from './plan.ts'
import { explainProblem } from './problem.ts'
import { refuseRequest, statusOf } from './refusal.ts'
import { computedReply } from './reply.ts'
import { collectionTemplateOf, itemTemplateOf } from './route.ts'

const entryFields: Fields = { service: t.string(), title: t.string(), version: t.string() }

function entryDocument(exchange: Exchange): RepresentationDocument {
  const { service, version } = exchange.edition
  return {
    name: 'service',
    title: service.title,
    fields: entryFields,
    value: { service: service.service, title: service.title, version },
    links: [
      { rel: 'self', href: exchange.entry.path === '/' ? `${exchange.face.api.prefix}/` : exchange.base },
      ...contractLinks(exchange),
      ...otherLinks(exchange),
    ],
  }
}

function contractLinks(exchange: Exchange): DocumentLink[] {
  const { base, edition } = exchange
  const operationAt = (template: string, method: string) =>
    edition.routes.all.find(each => each.template === template)?.methods.get(method)
  // A list that no caller may ever read has no link.
  const linkTo = (rel: string, template: string): DocumentLink[] =>
    operationAt(template, 'GET')
      ? [{ rel, href: base + template, ...(template.includes('{') && { templated: true }) }]
      : []
  // A form for callers that may use it, and never a link that GET cannot follow.
  const postOnly = (rel: string, operation: Operation | undefined): DocumentLink[] => {
    if (!operation) return []
    const fields =
      operation.kind === 'startJob'
        ? operation.job.input
        : 'resource' in operation
          ? searchFields(operation.resource)
          : {}
    return [{ rel, href: `${base}/${rel}`, form: { method: 'POST', title: rel, fields } }]
  }
  return [
    ...edition.service.resources.flatMap(resource => [
      ...linkTo(resource.name, collectionTemplateOf(resource, edition.service.resources)),
      ...(resource.isSingle
        ? [] // the link with its name is that of its item
        : linkTo(
            itemRelation(resource.name, singularOf(resource)),
            itemTemplateOf(resource, edition.service.resources),
          )),
      ...writeSearchLink(exchange, resource),
    ]),
    ...postOnly('searches', operationAt('/searches', 'POST')),
    ...edition.service.jobs.flatMap(job => [
      ...postOnly(job.job, operationAt(`/${job.job}`, 'POST')),
      ...linkTo(itemRelation(job.job, job.one), `/${job.job}/{id}`),
    ]),
  ]
}

function otherLinks(exchange: Exchange): DocumentLink[] {
  const versions = [...exchange.face.api.versions.values()]
    .filter(({ endsAt }) => exchange.entry.now < endsAt)
    .map(({ version, base }) => ({ rel: version, href: base }))
  const { options, api } = exchange.face
  const extra = options.links?.(exchange.edition.version) ?? []
  return [...versions, ...extra.map(link => ({ ...link, href: api.prefix + link.href }))]
}

/** Fresh for an hour: the text only changes with the software. */
const sharedPolicy = 'public, max-age=3600'
/** The head of the page names the signed-in person. */
const ownPolicy = 'private, no-cache'

/** A page with the same content for everyone, but a head that names its reader. */
const respondForAll = (exchange: Exchange, title: string, body: PageMarkup): Response => ({
  status: 200,
  fields: {
    'content-type': 'text/html;charset=utf-8',
    'cache-control': exchange.caller.subject === undefined ? sharedPolicy : ownPolicy,
    vary: 'Accept-Encoding, Authorization, Cookie, Api-Key',
  },
  content: writePage(describeSharedFrame(exchange, title), body),
})

export const entryPage = (exchange: Exchange): Maybe<Response> => computedReply(exchange, entryDocument(exchange))

export function problemPage(exchange: Exchange): Response {
  const faults = listFaults(exchange)
  const [title, text] = explainProblem(exchange.entry.segments[1] ?? '', faults) ?? refuseRequest({ kind: 'not-found' })
  const body = buildElement('p', { class: 'panel' }, escapeMarkup(text))
  return respondForAll(exchange, title, body)
}

const listFaults = (exchange: Exchange): readonly Fault[] => [
  ...declaredFaults(exchange.edition.service),
  ...listPortOperations(exchange.edition.service).flatMap(({ faults }) => faults),
  ...builtInFaults,
  ...gatewayFaults,
]

/** The rows of the plan, as a table. */
export function decisionsPage(exchange: Exchange): Response {
  const rows = decisionRows.map(row => {
    const ends = [...row.no.map(kind => `${statusOf[kind]} ${kind}`), ...(row.answers ?? []).map(String)]
    const number = buildElement('span', { id: `row-${row.number}` }, String(row.number))
    return [number, escapeMarkup(row.question), escapeMarkup(ends.join(', ')), escapeMarkup(row.source)]
  })
  const columns = [{ name: 'row' }, { name: 'question' }, { name: 'ends with' }, { name: 'source' }]
  const intro = buildElement(
    'p',
    {},
    'Every request passes these questions, one after the other. The first "no" decides the response.',
  )
  return respondForAll(exchange, 'The order of decisions', intro + writeRowTable(columns, rows))
}
