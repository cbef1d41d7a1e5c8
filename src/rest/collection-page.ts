/**
 * A page of a collection or a search: items, their total, links to other pages (rules A2.3, A4.1).
 */
import { t } from '../contract/field.ts'
import { openFieldsOf } from '../contract/field-access.ts'
import { listTakesWords, type Operation } from '../contract/operation.ts'
import { mayEverBeAllowed } from '../contract/policy.ts'
import type { Resource } from '../contract/resource.ts'
import { type Pairs, writeQuery } from '../http/uri.ts'
import type { ItemPage, PagePlace } from '../service/store.ts'
import type { WorkSteps } from '../service/turns.ts'
import { type ApiVersion, searchFields } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import type { DocumentLink, RepresentationDocument } from './formats/document.ts'
import type { SelectedPage } from './memory.ts'
import { writeCursor } from './page-cursor.ts'
import { isOfShown } from './query-parameters.ts'
import { buildItemDocument, shortDigest } from './representation.ts'
import { collectionTemplateOf } from './route.ts'
import { variantKey } from './tags.ts'

const pageFields = { total: t.int({ min: 0 }).optional(), looked: t.int({ min: 0 }).optional() }

/** The same items at the same address, in the same variant, for the same caller, are one page. */
export function* buildCollectionPage(
  exchange: Exchange,
  resource: Resource,
  page: ItemPage,
  path: string,
): WorkSteps<SelectedPage> {
  const { memory } = exchange.face
  const { content } = exchange.entry.request
  if (content.length !== 0 || !hasSteadyLinks(exchange, resource))
    return yield* composePage(exchange, resource, page, path)
  const key = `${path}?${exchange.entry.query} ${variantKey(exchange, '', exchange.head.coding)}`
  const remembered = memory.findPage(key)
  if (remembered && remembered.to === exchange.caller && isSamePage(remembered.of, page)) return remembered.page
  const composed = yield* composePage(exchange, resource, page, path)
  memory.keepPage(key, { of: page, to: exchange.caller, page: composed })
  return composed
}

function isSamePage(a: ItemPage, b: ItemPage): boolean {
  if (a.total !== b.total || a.looked !== b.looked || a.more.before !== b.more.before || a.more.after !== b.more.after)
    return false
  for (const [at, item] of a.items.entries()) if (item !== b.items[at]) return false
  return a.items.length === b.items.length
}

/** Whether the links depend only on the items and the caller. */
function hasSteadyLinks({ edition }: Exchange, resource: Resource): boolean {
  const grants = findCreateOperation(edition, resource)?.grants ?? []
  return edition.views.get(resource.name)?.steady === true && !grants.some(grant => grant.when)
}

function* composePage(exchange: Exchange, resource: Resource, page: ItemPage, path: string): WorkSteps<SelectedPage> {
  const items: RepresentationDocument[] = []
  let state = `${page.total ?? ''} ${page.looked ?? ''} ${page.more.before} ${page.more.after}`
  for (const item of page.items) {
    const { document, mask } = buildItemDocument(exchange, resource.name, item)
    items.push(document)
    state += ` ${item.id} ${item.version} ${mask}`
    yield
  }
  const links = [...pageLinks(exchange, resource, page, path), ...collectionLinks(exchange, resource)]
  for (const { rel, href, form } of links) state += ` ${rel} ${href} ${form ? Object.keys(form.fields).join() : ''}`
  const document: RepresentationDocument = {
    name: resource.name,
    title: resource.name,
    fields: pageFields,
    value: {
      ...(page.total !== undefined && { total: page.total }),
      ...(page.looked !== undefined && { looked: page.looked }),
    },
    links,
    items,
    columns: resource.fields,
  }
  return { document, version: shortDigest(state), text: undefined }
}

/**
 * Pages by cursor visit every item once, even while rows are added and removed; pages by number
 * only on request.
 */
function pageLinks(exchange: Exchange, resource: Resource, page: ItemPage, path: string): DocumentLink[] {
  const { kept, page: number, query } = exchange.parameters
  const { criteria } = exchange
  const keptPairs = criteria ? [...criteria, ...kept.filter(([name]) => isOfShown(name))] : kept
  const at = (pairs: Pairs): string => {
    const text = writeQuery([...keptPairs, ...pairs])
    return text === '' ? path : `${path}?${text}`
  }
  const self = { rel: 'self', href: at(exchange.entry.pairs.filter(([name]) => name === 'page' || name === 'cursor')) }
  const sort = query?.sort ?? []
  const atPlace = (rel: string, place: PagePlace | undefined, backwards: boolean) =>
    place ? [{ rel, href: at([['cursor', writeCursor(resource, sort, { ...place, backwards })]]) }] : []
  const after = () => atPlace('next', page.edges?.last, false)
  if (number !== undefined) {
    const to = (rel: string, n: number): DocumentLink => ({ rel, href: at([['page', String(n)]]) })
    return [
      self,
      // The next number would skip the items that did not fit.
      ...(page.more.after ? (page.isCut ? after() : [to('next', number + 1)]) : []),
      ...(number > 1 ? [to('previous', number - 1)] : []),
    ]
  }
  return [
    self,
    ...(page.more.after ? after() : []),
    ...(page.more.before ? atPlace('previous', page.edges?.first, true) : []),
  ]
}

const findCreateOperation = ({ routes, service }: ApiVersion, resource: Resource): Operation | undefined =>
  routes.all.find(each => each.template === collectionTemplateOf(resource, service.resources))?.methods.get('POST')

function collectionLinks(exchange: Exchange, resource: Resource): DocumentLink[] {
  const { edition, place } = exchange
  const create = findCreateOperation(edition, resource)
  const item = { rel: 'item', href: `${place}/${resource.name}/{id}`, templated: true }
  const viewer = { caller: exchange.caller, now: exchange.entry.now }
  const form = create && {
    rel: 'create',
    href: `${place}/${resource.name}`,
    form: { method: 'POST', title: 'create', fields: openFieldsOf(resource, viewer) } as const,
  }
  const offered = form && mayEverBeAllowed(create.grants, viewer.caller, viewer.now) ? [form] : []
  const up = place === exchange.base ? [] : [{ rel: 'up', href: place }]
  return [...up, ...linkToSearch(exchange, resource), item, ...offered]
}

/** Rule A2.4: `/search{?q,…}` for the resource whose searches can be stored. */
export const writeSearchLink = ({ base, edition }: Exchange, resource: Resource): DocumentLink[] =>
  edition.service.searches?.of === resource.name
    ? [searchTemplate(`${base}/search`, Object.keys(searchFields(resource)))]
    : []

/** Other resources are searched where they are listed: `/products{?q,…}`. */
function linkToSearch(exchange: Exchange, resource: Resource): DocumentLink[] {
  if (!listTakesWords(exchange.edition.service, resource)) return writeSearchLink(exchange, resource)
  return [searchTemplate(`${exchange.place}/${resource.name}`, ['q', ...(resource.given.filter ?? [])])]
}

function searchTemplate(path: string, criteria: readonly string[]): DocumentLink {
  const names = new Set([...criteria, 'page', 'size', 'cursor', 'sort', 'fields'])
  return { rel: 'search', href: `${path}{?${[...names].join(',')}}`, templated: true }
}
