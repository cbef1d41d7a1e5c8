/**
 * A page of a collection or a search in a browser: filters and orders as controls, items as a table
 * whose rows are links, and links to the previous and next page.
 */
import { escapeMarkup } from '../../base/markup.ts'
import { ownMember } from '../../base/objects.ts'
import { Field, type Fields, t } from '../../contract/field.ts'
import { seesAlways } from '../../contract/field-access.ts'
import { allowsComparison, findFilterField } from '../../contract/filter-field.ts'
import { mayEverBeAllowed } from '../../contract/policy.ts'
import type { Resource } from '../../contract/resource.ts'
import { foldScalar, isScalar, type ScalarCases } from '../../contract/shape.ts'
import { firstStep } from '../../contract/version-fields.ts'
import { type FormState, writeControl } from '../../html/controls.ts'
import {
  buildElement,
  labelOf,
  type PageMarkup,
  titleOf,
  writeAnchor,
  writeParagraph,
  writeSection,
} from '../../html/element.ts'
import {
  listVisibleFields,
  type TableColumn,
  writeDefinitions,
  writeRowTable,
  writeValue,
} from '../../html/value-views.ts'
import { writeQuery } from '../../http/uri.ts'
import type { WorkSteps } from '../../service/turns.ts'
import type { Exchange } from '../exchange.ts'
import type { RepresentationDocument } from '../formats/document.ts'
import { itemAddresses, listAddresses, writeFolded, writeForm } from './forms.ts'
import { specsOf, writeLinkList } from './item-view.ts'
import { findMark, writeFormAddress } from './page-form.ts'

export function* writeCollectionView(exchange: Exchange, document: RepresentationDocument): WorkSteps<PageMarkup> {
  const resource = listedResource(exchange)
  const table = yield* writeItems(exchange, document, resource)
  const forms = document.links
    .filter(({ rel }) => rel === 'create')
    .flatMap(link => specsOf(exchange, document, link, undefined))
    .map(form => writeFolded(`${labelOf(form.title)} one`, false, writeForm(form)))
  return [
    writeParagraph(resource?.texts.description),
    resource ? writeFinders(exchange, resource) : '',
    writeCount(document),
    table,
    writePages(document),
    resource ? writeBulk(exchange, resource, document) : '',
    writeSection('Add', { id: 'actions' }, ...forms),
    writeLinkList(document.links.filter(({ rel }) => rel !== 'next' && rel !== 'previous')),
  ].join('\n')
}

const listedResource = ({ operation }: Exchange): Resource | undefined =>
  operation && 'resource' in operation ? operation.resource : undefined

function writeCount({ fields, value, items = [] }: RepresentationDocument): PageMarkup {
  const { total, ...others } = value
  const { total: _, ...otherFields } = fields
  const count = typeof total === 'number' ? `${items.length} of ${total}` : `${items.length} on this page`
  return (
    writeDefinitions(otherFields, others, () => undefined) + buildElement('p', { role: 'status' }, escapeMarkup(count))
  )
}

/** The first column links to the item. */
function* writeItems(
  exchange: Exchange,
  { columns = {}, items = [] }: RepresentationDocument,
  resource: Resource | undefined,
): WorkSteps<PageMarkup> {
  const shown = listVisibleFields(columns, exchange.parameters.only).filter(([, field]) => isScalar(field.shape))
  const rows: PageMarkup[][] = []
  const addressOf = itemAddresses(exchange)
  for (const item of items) {
    const self = item.links.find(({ rel }) => rel === 'self')
    rows.push(
      shown.map(([name, field], at) => {
        const value = ownMember(item.value, name)
        return at === 0 && self
          ? writeAnchor(self.href, String(value ?? item.title))
          : writeValue(field, value, addressOf)
      }),
    )
    yield
  }
  if (rows.length === 0) return buildElement('p', { class: 'panel' }, 'There is nothing here.')
  return writeRowTable(
    shown.map(([name, field]) => describeColumn(exchange, resource, name, titleOf(name, field))),
    rows,
  )
}

/** The head of a sortable column links to that order, and then to the opposite one. */
function describeColumn(exchange: Exchange, resource: Resource | undefined, name: string, label: string): TableColumn {
  const { entry, operation } = exchange
  const isSorted = resource?.given.sort?.includes(name) && mayCompare(exchange, resource, name)
  if (!isSorted || operation?.kind === 'getSearch') return { name, label }
  const [first = ''] = (new Map(entry.pairs).get('sort') ?? '').split(',')
  const sort = first === name ? 'ascending' : first === `-${name}` ? 'descending' : undefined
  const rest = entry.pairs.filter(([key]) => key !== 'sort' && key !== 'page' && key !== 'cursor')
  const href = `?${writeQuery([...rest, ['sort', first === name ? `-${name}` : name]])}`
  const arrow = sort === undefined ? '' : sort === 'ascending' ? ' ↑' : ' ↓'
  return { name, label, sort, head: writeAnchor(href, label + arrow) }
}

function writePages({ links }: RepresentationDocument): PageMarkup {
  const to = (rel: string, text: string): PageMarkup => {
    const link = links.find(each => each.rel === rel)
    return link ? writeAnchor(link.href, text, { rel: rel === 'previous' ? 'prev' : rel }) : ''
  }
  const both = to('previous', '← Previous page') + to('next', 'Next page →')
  return both === '' ? '' : buildElement('nav', { class: 'pages', 'aria-label': 'Pages' }, both)
}

/** Whether the caller may filter and sort by a field, or by a path that begins with it. */
function mayCompare({ caller, entry }: Exchange, { fields }: Resource, path: string): boolean {
  const field = fields[firstStep(path)]
  return field === undefined || seesAlways(field, { caller, now: entry.now })
}

/** Filters that a form shows: equal, or from and to. */
function writeFinders(exchange: Exchange, resource: Resource): PageMarkup {
  const { operation, route, base, entry, edition } = exchange
  if (operation?.kind === 'getSearch') return ''
  const isSearch = route?.template === '/search'
  const names = (isSearch ? resource.given.searchBy : resource.given.filter) ?? []
  const parameters = new Map(entry.pairs)
  const state: FormState = {
    form: 'find',
    problems: new Map(),
    redraw: undefined,
    isTerse: true,
    choices: listAddresses(exchange),
  }
  const controls = names.flatMap(name => {
    const filterField = findFilterField(resource, name)
    if (!filterField) return []
    const { shape, field } = filterField
    if (!mayCompare(exchange, resource, name)) return []
    const title = titleOf(name, field)
    const ways = isSearch ? [''] : foldScalar(shape, comparisons)
    const controls = ways.map(way => {
      const at = way === '' ? name : `${name}[${way.replace('.utc', '')}]`
      const zone = way.endsWith('.utc') ? ' (UTC)' : ''
      const label = way === '' ? title : `${title} ${way.startsWith('gte') ? 'from' : 'to'}${zone}`
      const parameterName = at + (way.endsWith('.utc') ? '.utc' : '')
      return writeControl(new Field(shape).optional(), parameterName, label, parameters.get(at) ?? '', state)
    })
    if (isSearch || !allowsComparison(filterField, 'absent')) return controls
    const at = `${name}[absent]`
    return [...controls, writeControl(t.boolean().optional(), at, `${title} absent`, parameters.get(at) ?? '', state)]
  })
  const orders = (resource.given.sort ?? []).filter(name => mayCompare(exchange, resource, name))
  const words = isSearch || route?.takesWords ? writeWords(parameters.get('q') ?? '') : ''
  const isOpen = entry.pairs.some(([name]) => name !== 'cursor' && name !== 'page' && name !== 'size')
  const form = buildElement(
    'form',
    { method: 'get', action: isSearch ? `${base}/search` : undefined, role: 'search', 'aria-label': 'Filters' },
    buildElement('input', { type: 'hidden', name: findMark, value: '1' }),
    words,
    buildElement(
      'div',
      { class: 'side' },
      ...controls,
      writeOrders(orders, resource.fields, parameters),
      writeSizes(parameters),
    ),
    buildElement('button', {}, isSearch ? 'Search' : 'Show'),
  )
  const search =
    !isSearch &&
    edition.service.searches?.of === resource.name &&
    edition.routes.all.some(each => each.template === '/search')
      ? buildElement(
          'form',
          { class: 'words', method: 'get', action: `${base}/search`, role: 'search', 'aria-label': 'Words' },
          writeWords(''),
          buildElement('button', {}, 'Search'),
        )
      : ''
  return search + (isSearch ? form : writeFolded('Filter and order', isOpen, form))
}

const comparisons: ScalarCases<readonly string[]> = {
  string: () => [''],
  boolean: () => [''],
  int: () => ['gte', 'lte'],
  long: () => ['gte', 'lte'],
  decimal: () => ['gte', 'lte'],
  double: () => ['gte', 'lte'],
  date: () => ['gte', 'lte'],
  time: () => ['gte', 'lte'],
  dateTime: ({ zone }) => (zone === 'prohibited' ? ['gte', 'lte'] : ['gte.utc', 'lte.utc']),
  duration: () => [''],
  bytes: () => [],
  enum: () => [''],
  id: () => [''],
  ref: () => [''],
}

const writeWords = (q: string): PageMarkup =>
  buildElement(
    'div',
    { class: 'field' },
    buildElement('label', { for: 'words' }, 'Words'),
    buildElement('input', { id: 'words', name: 'q', type: 'search', value: q, maxlength: 1000 }),
  )

function writeOrders(sort: readonly string[], fields: Fields, parameters: ReadonlyMap<string, string>): PageMarkup {
  if (sort.length === 0) return ''
  const chosen = parameters.get('sort') ?? ''
  const known = sort.flatMap(name => {
    const title = fields[name] ? titleOf(name, fields[name]) : labelOf(name)
    return [[name, `${title}, ascending`] as const, [`-${name}`, `${title}, descending`] as const]
  })
  const options = [['', ''] as const, ...known].map(([value, text]) =>
    buildElement('option', { value, selected: value === chosen }, escapeMarkup(text)),
  )
  return buildElement(
    'div',
    { class: 'field' },
    buildElement('label', { for: 'order' }, 'Order'),
    buildElement('select', { id: 'order', name: 'sort' }, ...options),
  )
}

function writeSizes(parameters: ReadonlyMap<string, string>): PageMarkup {
  const chosen = parameters.get('size') ?? ''
  const sizes = [...new Set(['', '10', '20', '50', '100', chosen])]
  const options = sizes.map(value => buildElement('option', { value, selected: value === chosen }, escapeMarkup(value)))
  return buildElement(
    'div',
    { class: 'field' },
    buildElement('label', { for: 'size' }, 'Items on a page'),
    buildElement('select', { id: 'size', name: 'size' }, ...options),
  )
}

/** A caller that the contract admits may remove everything that the filters show; not by words. */
function writeBulk(exchange: Exchange, resource: Resource, { items = [] }: RepresentationDocument): PageMarkup {
  const { caller, entry, route } = exchange
  const bulk = route?.methods.get('DELETE')
  const filters = entry.pairs.filter(([name]) => !['page', 'size', 'cursor', 'sort', 'fields'].includes(name))
  const hasWords = route?.takesWords && filters.some(([name]) => name === 'q')
  if (!bulk || hasWords || filters.length === 0 || items.length === 0) return ''
  if (!mayEverBeAllowed(bulk.grants, caller, entry.now)) return ''
  const action = writeFormAddress(`${exchange.place}/${resource.name}?${writeQuery(filters)}`, { method: 'DELETE' })
  const title = `Remove all ${resource.name} that these filters show`
  return writeFolded(
    title,
    false,
    buildElement(
      'form',
      { method: 'post', action },
      buildElement('p', {}, 'Items whose state does not allow removal are kept.'),
      buildElement('button', { class: 'danger' }, escapeMarkup(title)),
    ),
  )
}
