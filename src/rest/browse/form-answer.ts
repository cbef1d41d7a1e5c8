/**
 * The result of a page's form: a redirect to the page of the change, or the form again with its
 * problems and the current values. What it guards:
 *  (1) The typed values are kept, for any refusal after the content has been read.
 *  (2) The current item is read like any other: admitted, and in one look at the store.
 */
import type { FieldProblem } from '../../contract/given-fields.ts'
import { normalizeRows, placeControl } from '../../html/controls.ts'
import { labelOf, type PageMarkup, titleOf, writeParagraph, writeSection } from '../../html/element.ts'
import { writePage } from '../../html/frame.ts'
import { nameControl } from '../../html/text-tree.ts'
import { writeDefinitions } from '../../html/value-views.ts'
import type { Response } from '../../http/message.ts'
import { Refused } from '../../service/refusal.ts'
import { searchFields } from '../api-version.ts'
import { errorResponse } from '../error-response.ts'
import { callsOf, type Exchange } from '../exchange.ts'
import type { RepresentationDocument } from '../formats/document.ts'
import { contentLimitOf } from '../limits.ts'
import { createProblem } from '../problem.ts'
import { type AnyRestRefusal, refuseRequest } from '../refusal.ts'
import { requestPath } from '../reply.ts'
import { buildItemDocument } from '../representation.ts'
import { parseTyped } from '../request-content.ts'
import { itemPathOf } from '../route.ts'
import { controlId, type FormSpec, itemAddresses, listAddresses, redrawForm, writeForm } from './forms.ts'
import { findItemOperations, shownItem, specsOf, writeItemView } from './item-view.ts'
import { findCreationForm } from './making-form.ts'
import { describeFrame } from './page-frame.ts'
import { writeProblemView } from './problem-page.ts'

/**
 * RFC 9110 §15.4.4: after a form, the browser is redirected to the page of the change, which it may
 * load again. A response that can be shown only once is sent directly.
 */
export function redirectAfterForm(exchange: Exchange, response: Response): Response {
  const location = findPageAfter(exchange, response)
  if (location === undefined || response.status >= 300) return response
  return { status: 303, fields: { ...response.fields, 'cache-control': 'no-store', location: `${location}#done` } }
}

function findPageAfter(exchange: Exchange, { fields }: Response): string | undefined {
  const { operation, base, id } = exchange
  const location = fields['location'] ?? fields['content-location']
  switch (operation?.kind) {
    case 'create':
    case 'startJob':
    case 'createSearch':
      return location === undefined ? undefined : String(location)
    case 'replace':
    case 'patch':
    case 'putFile':
      return exchange.place + itemPathOf(operation.resource, id ?? '')
    case 'act':
      if (operation.action.output && !operation.action.kept) return undefined
      return operation.action.effect === 'move' && location !== undefined
        ? String(location)
        : exchange.place + itemPathOf(operation.resource, id ?? '')
    case 'remove':
      return operation.resource.isSingle ? base : `${exchange.place}/${operation.resource.name}`
    case 'cancelJob':
      return `${base}/${operation.job.job}/jobs/${id}`
    default:
      return undefined
  }
}

/** The form with one row more or less, or with the fields of the chosen kind. */
export async function answerRedraw(exchange: Exchange): Promise<Response> {
  const { redraw } = exchange.form ?? {}
  const limit = contentLimitOf(exchange.operation)
  const bytes = (await exchange.entry.request.content.bytes(limit)) ?? refuseRequest({ kind: 'too-large', limit })
  exchange.typed = parseTyped(bytes)
  const current = await readCurrentItem(exchange)
  const spec = findSpec(exchange, current)
  if (!spec || !redraw) return refuseRequest({ kind: 'not-found' })
  const form = redrawForm({ ...spec, ...keepTyped(exchange, spec.tree) }, redraw)
  return pageResponse(200, writePage(describeFrame(exchange, form.title), writeForm(form)))
}

const keepTyped = ({ typed }: Exchange, otherwise: FormSpec['tree']): Pick<FormSpec, 'tree'> => ({
  tree: typed ?? otherwise,
})

const pageResponse = (status: number, content: string): Response => ({
  status,
  fields: { 'content-type': 'text/html;charset=utf-8', 'cache-control': 'no-store' },
  content,
})

/** A refusal, the form again, and the current values. */
export async function answerRefusedForm(exchange: Exchange, refusal: AnyRestRefusal): Promise<Response> {
  const { fields, status } = errorResponse(exchange, refusal)
  const problem = createProblem(exchange, refusal)
  const current = await readCurrentItem(exchange)
  const formSpec = findSpec(exchange, current)
  const fieldProblems = refusal.kind === 'invalid' ? refusal.problems : []
  const tree = formSpec && exchange.typed ? normalizeRows(formSpec.fields, exchange.typed) : undefined
  const problems = fieldProblems.map(each => ({
    ...each,
    path: formSpec ? placeControl(formSpec.fields, tree, each.path) : each.path,
  }))
  const spec = formSpec && tree !== undefined ? { ...formSpec, tree, problems: groupByControl(problems) } : undefined
  const after = [
    writeFaultDetail(exchange, refusal),
    spec ? writeSection('What you sent', { id: 'again' }, writeForm(spec)) : '',
    current ? writeSection('Its current state', { id: 'now' }, writeItemView(exchange, current, spec)) : '',
  ].join('\n')
  const places = spec ? problems.map(each => problemPlace(spec, each)) : []
  return {
    status,
    fields: { ...fields, 'content-type': 'text/html;charset=utf-8' },
    content: writeProblemView(exchange, problem, { places, after }),
  }
}

/** Explains a declared fault: when it ends a call, and its detail for this call. */
function writeFaultDetail(exchange: Exchange, refusal: AnyRestRefusal): PageMarkup {
  if (refusal.kind !== 'declared') return ''
  const { fault, detail } = refusal
  return writeParagraph(fault.description) + writeDefinitions(fault.detail, detail, itemAddresses(exchange))
}

/** (1) Rows are numbered as the reader sees them, and each problem is at its control. */
function groupByControl(problems: readonly FieldProblem[]): ReadonlyMap<string, readonly string[]> {
  const byName = new Map<string, string[]>()
  for (const { path, detail } of problems) {
    const name = nameControl(path)
    byName.set(name, [...(byName.get(name) ?? []), detail])
  }
  return byName
}

function problemPlace(spec: FormSpec, { path, detail }: FieldProblem): { control: string; detail: string } {
  const name = path.findLast(step => typeof step === 'string') ?? ''
  const control = path.length === 0 ? '' : controlId(spec, nameControl(path))
  const field = name === path[0] && Object.hasOwn(spec.fields, name) ? spec.fields[name] : undefined
  const title = name === '' ? 'The content' : field ? titleOf(String(name), field) : labelOf(String(name))
  return { control, detail: `${title} ${detail}.` }
}

/** (2) The item that the form is about, if the caller may see it. */
async function readCurrentItem(exchange: Exchange): Promise<RepresentationDocument | undefined> {
  const { operation, id, parents, caller, entry, edition } = exchange
  const get = findItemOperations(exchange).get('GET')
  if (!operation || !('resource' in operation) || id === undefined || get?.kind !== 'get') return undefined
  const { name } = operation.resource
  const hidden = edition.hidden[name]
  try {
    const admitted = await callsOf(exchange).admit(get, caller, entry.request.from, 'rest')
    const at = { id, parents: parents.toReversed() }
    const call = { admitted, ...at, face: 'rest', request: entry.id, ...(hidden && { hidden }) } as const
    const outcome = await callsOf(exchange).perform(call)
    if (outcome.kind !== 'item') return undefined
    exchange.outcome = outcome
    return buildItemDocument(exchange, name, outcome.item).document
  } catch (thrown) {
    if (thrown instanceof Refused) return undefined
    throw thrown
  }
}

/** The form that was sent, as the page had it; undefined if it is no longer offered. */
function findSpec(exchange: Exchange, current: RepresentationDocument | undefined): FormSpec | undefined {
  const { entry } = exchange
  const href = requestPath(exchange)
  const { method } = entry.request
  if (current)
    return current.links
      .flatMap(link => specsOf(exchange, current, link, shownItem(exchange)))
      .find(spec => spec.method === method && spec.href === href)
  const creation = method === 'PUT' ? findCreationForm(exchange) : undefined
  const started = creation ?? findStarted(exchange)
  return started && { ...started, href, method, choices: listAddresses(exchange) }
}

function findStarted({ operation }: Exchange): Pick<FormSpec, 'rel' | 'title' | 'fields'> | undefined {
  switch (operation?.kind) {
    case 'create':
      return { rel: 'create', title: 'Create', fields: operation.resource.fields }
    case 'createSearch':
      return { rel: 'searches', title: 'Start searches', fields: searchFields(operation.resource) }
    case 'startJob':
      return { rel: operation.job.job, title: `Start ${operation.job.job}`, fields: operation.job.input }
    default:
      return undefined
  }
}
