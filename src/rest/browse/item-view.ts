/**
 * An item, an output, a job or a search in a browser: its content, its state in the machine, and
 * what the caller may do with it now.
 */

import { fillDefaults } from '../../contract/default-values.ts'
import type { Fields } from '../../contract/field.ts'
import type { Operation, OperationOf } from '../../contract/operation.ts'
import type { Resource } from '../../contract/resource.ts'
import type { PublicTexts } from '../../contract/texts.ts'
import { buildElement, labelOf, type PageMarkup, writeAnchor, writeSection } from '../../html/element.ts'
import { drawMachine } from '../../html/machine-drawing.ts'
import { type TextMembers, toTextTree } from '../../html/text-tree.ts'
import { writeDefinitions } from '../../html/value-views.ts'
import type { Snapshot } from '../../service/store.ts'
import { callsOf, type Exchange } from '../exchange.ts'
import type { DocumentLink, RepresentationDocument } from '../formats/document.ts'
import { itemPathOf, itemTemplateOf } from '../route.ts'
import { fileVersionTag } from '../tags.ts'
import {
  type FormSpec,
  itemAddresses,
  listAddresses,
  makeAllOptional,
  writeFileForm,
  writeFolded,
  writeForm,
} from './forms.ts'

/** @param without a form that is elsewhere on the page */
export function writeItemView(exchange: Exchange, document: RepresentationDocument, without?: FormSpec): PageMarkup {
  const item = shownItem(exchange)
  const resource = item && resourceOf(exchange)
  return [
    writeDefinitions(document.fields, document.value, itemAddresses(exchange), exchange.parameters.only),
    resource && item ? writeMachine(resource, item, document.links) : '',
    writeActions(exchange, document, item, without),
    writeLinkList(document.links),
    writeProgress(document),
  ].join('\n')
}

/** The item of this page; undefined for an output, a job, a search. */
export function shownItem({ outcome }: Exchange): Snapshot | undefined {
  return outcome?.kind === 'item' ? outcome.item : undefined
}
const resourceOf = ({ operation }: Exchange): Resource | undefined =>
  operation && 'resource' in operation ? operation.resource : undefined

function writeMachine(resource: Resource, item: Snapshot, links: readonly DocumentLink[]): PageMarkup {
  const state = item.value['state']
  if (resource.states.length === 0 || typeof state !== 'string') return ''
  const offered = links.flatMap(({ form }) => (form?.method === 'POST' ? [form.title] : []))
  return writeSection('State', { id: 'state' }, drawMachine(resource, { current: state, offered }))
}

/** The transitions possible now, then the other changes. */
function writeActions(
  exchange: Exchange,
  document: RepresentationDocument,
  item: Snapshot | undefined,
  without: FormSpec | undefined,
): PageMarkup {
  const forms = document.links
    .flatMap(link => specsOf(exchange, document, link, item))
    .filter(({ rel, method }) => rel !== without?.rel || method !== without.method)
  const actions = forms.filter(({ method, rel }) => method === 'POST' && rel !== 'create')
  return [
    writeSection('What can be done now', { id: 'actions' }, writeForms(actions)),
    writeSection('Change', { id: 'changes' }, writeChangeForms(exchange, forms, item)),
  ].join('\n')
}

const writeForms = (forms: readonly FormSpec[]): PageMarkup =>
  forms.length === 0 ? '' : buildElement('div', { class: 'forms' }, ...forms.map(form => writeForm(form)))

function writeChangeForms(exchange: Exchange, forms: readonly FormSpec[], item: Snapshot | undefined): PageMarkup {
  const folded = forms
    .filter(({ method }) => method !== 'POST')
    .map(form => writeFolded(form.title, false, writeForm(form, form.method === 'PATCH' ? patchHint : '')))
  return folded.join('') + (item ? writeFileForms(exchange, item) : '')
}
const patchHint = buildElement('p', { class: 'hint' }, 'Empty fields stay unchanged.')

/** The forms that a link of the document represents. */
export function specsOf(
  exchange: Exchange,
  document: RepresentationDocument,
  { rel, href, form }: DocumentLink,
  item: Snapshot | undefined,
): readonly FormSpec[] {
  if (!form || form.method === 'GET') return []
  const match = item && fileVersionTag(item.version)
  const common = { rel, href, match, choices: listAddresses(exchange) }
  const { method, fields } = form
  if (method === 'DELETE') return [{ ...common, method, title: `Delete this ${document.name}`, fields, isDanger: true }]
  if (method === 'POST')
    return [
      { ...common, method, title: labelOf(form.title), fields, tree: prefill(fields), texts: findTexts(exchange, rel) },
    ]
  const tree = toTextTree(fields, document.value)
  const whole = { ...common, method, title: `Edit this ${document.name}`, fields, tree }
  const some = { ...common, method: 'PATCH', title: 'Change some fields', fields: makeAllOptional(fields) }
  const ways = findItemOperations(exchange)
  return [...(ways.has('PUT') ? [whole] : []), ...(ways.has('PATCH') ? [some] : [])]
}

/** The defaults, where a person can see and change them. */
const prefill = (fields: Fields): TextMembers => toTextTree(fields, fillDefaults(fields, {}))

/** The texts of the action or job that a link represents. */
function findTexts(exchange: Exchange, rel: string): PublicTexts | undefined {
  const actions = Object.values(resourceOf(exchange)?.actions ?? {})
  return actions.find(({ link }) => link === rel) ?? exchange.edition.service.jobs.find(({ job }) => job === rel)
}

/** By method, at the address of the item. */
export function findItemOperations(exchange: Exchange): ReadonlyMap<string, Operation> {
  const resource = resourceOf(exchange)
  const at = resource && itemTemplateOf(resource, exchange.edition.service.resources)
  const route = exchange.edition.routes.all.find(({ template }) => template === at)
  return route?.methods ?? new Map()
}

function writeFileForms(exchange: Exchange, item: Snapshot): PageMarkup {
  const { edition, caller, entry } = exchange
  const resource = resourceOf(exchange)
  const puts = edition.routes.all
    .map(({ methods }) => methods.get('PUT'))
    .filter((each): each is OperationOf<'putFile'> => each?.kind === 'putFile' && each.resource === resource)
    .filter(each => callsOf(exchange).offers(each, { caller, now: entry.now }, item))
  return puts
    .map(({ part, file, resource: of }) =>
      writeFolded(
        `Send the ${part}`,
        false,
        writeFileForm(`${exchange.place}${itemPathOf(of, item.id)}/${part}`, part, file.mediaTypes),
      ),
    )
    .join('')
}

export function writeLinkList(links: readonly DocumentLink[]): PageMarkup {
  const items = links
    .filter(({ templated, form, rel }) => !templated && rel !== 'self' && (!form || form.method === 'GET'))
    .map(({ rel, href, label = labelOf(rel) }) => buildElement('li', {}, writeAnchor(href, label, { rel })))
  return items.length === 0
    ? ''
    : buildElement('nav', { 'aria-label': 'Links' }, buildElement('ul', { class: 'links' }, ...items))
}

/** The page of a running job is loaded again, by the script or by hand. */
function writeProgress({ name, value, links }: RepresentationDocument): PageMarkup {
  if (name !== 'job' || !links.some(({ rel }) => rel === 'cancel')) return ''
  const self = links.find(({ rel }) => rel === 'self')?.href ?? ''
  const percent = Math.round(Number(value['progress'] ?? 0) * 100)
  return buildElement(
    'p',
    { 'data-refresh': 2 },
    buildElement('label', { for: 'progress' }, 'Progress '),
    buildElement('progress', { id: 'progress', max: 100, value: percent }, `${percent} %`),
    ' ',
    writeAnchor(self, 'Look again'),
  )
}
