/** Lists and searches: pages that lead to one another, and removal of all that match. */
import { isJsonObject } from '../../base/objects.ts'
import type { Values } from '../../contract/implement.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import type { Resource } from '../../contract/resource.ts'
import { isScalar } from '../../contract/shape.ts'
import { type FetchedPage, Results } from '../results.ts'
import type { BulkRemoval, NestedOptions, RequestOptions } from '../surface-types.ts'
import { readDocument, toDocument } from './representation-reader.ts'
import { jsonType, type ResourceMethods } from './resource-methods.ts'
import { type RestReply, refuseReply } from './rest-reply.ts'
import { requireLink } from './rest-session.ts'

export interface ListQuery {
  readonly where?: Values
  readonly sort?: readonly string[]
  readonly size?: number | undefined
  readonly only?: readonly string[]
  /** Of a nested resource. */
  readonly within?: Values
}

export function listCollection(
  methods: ResourceMethods,
  query: ListQuery = {},
  options?: RequestOptions,
): Results<Values> {
  const operation = methods.nameOf('list')
  return new Results(async () => {
    const link = await methods.findTarget(operation, undefined, { ...options, within: query.within })
    const target = addQuery(link, methods.resource, query)
    return fetchPage(methods, operation, target, readEach(methods, operation, options), query.only !== undefined)
  })
}

/** The items that refer to one, by its link. */
export function listRelated(
  related: ResourceMethods,
  operation: string,
  link: URL,
  query: ListQuery = {},
  options?: RequestOptions,
): Results<Values> {
  const target = () => addQuery(link, related.resource, query)
  return new Results(() => fetchPage(related, operation, target(), readEach(related, operation, options)))
}

type AskPage = (target: URL) => Promise<RestReply>

const readEach =
  ({ session }: ResourceMethods, operation: string, options: RequestOptions | undefined): AskPage =>
  target =>
    session.wire.read({ operation, target, options })

/** @param seen the pages so far: a list that leads back to one would never end */
async function fetchPage(
  methods: ResourceMethods,
  operation: string,
  target: URL,
  ask: AskPage,
  isPart = false,
  seen = new Set<string>(),
): Promise<FetchedPage<Values>> {
  seen.add(target.href)
  const reply = await ask(target)
  const { members, links } = readDocument(operation, reply)
  const { items, total } = members
  if (!Array.isArray(items) || !items.every(isJsonObject))
    return refuseReply(operation, 'structure', 'a page has no items', reply)
  const next = links.find('next')
  if (links.relations.includes('next') && (!next || seen.has(next.href)))
    return refuseReply(operation, 'structure', 'the link next does not lead on', reply)
  return {
    items: items.map(item => methods.readMember(operation, reply, toDocument(item, reply), undefined, isPart)),
    ...(typeof total === 'number' && { total }),
    fetchNext: next && (() => fetchPage(methods, operation, next, ask, isPart, seen)),
  }
}

// Queries

/** Parameters of the service's own; a field of such a name is compared by `[eq]`. */
const controls: readonly string[] = ['page', 'size', 'cursor', 'sort', 'fields', 'q']

function addQuery(link: URL, resource: Resource, { where = {}, sort, size, only }: ListQuery): URL {
  const target = new URL(link)
  const { searchParams } = target
  for (const [name, value] of filterPairs(resource, where)) searchParams.append(name, value)
  if (sort) searchParams.append('sort', sort.join())
  if (size !== undefined) searchParams.append('size', String(size))
  if (only) searchParams.append('fields', only.join())
  return target
}

/** Fields that filter are scalars. */
const isComparisons = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array)

function filterPairs({ fields }: Resource, where: Values): (readonly [name: string, value: string])[] {
  const write = (name: string, value: unknown): string => {
    const shape = fields[name]?.shape
    return shape && isScalar(shape) ? writeScalar(shape, value) : String(value)
  }
  return Object.entries(where).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (!isComparisons(value)) return [[controls.includes(name) ? `${name}[eq]` : name, write(name, value)] as const]
    const comparisons = Object.entries(value).filter(([, than]) => than !== undefined)
    return comparisons.map(([is, than]) => {
      const text = Array.isArray(than)
        ? than.map(each => write(name, each).replace(/[\\,]/g, '\\$&')).join()
        : is === 'absent'
          ? String(than)
          : write(name, than)
      return [`${name}[${is}]`, text] as const
    })
  })
}

// Searches

export interface SearchQuery extends NestedOptions {
  readonly stored?: boolean
  readonly size?: number
}

/**
 * By the address that the entry gives for a search, or with QUERY (RFC 10008) where it gives none.
 */
export function searchCollection(
  methods: ResourceMethods,
  words: string,
  where: Values = {},
  { stored = false, size, ...options }: SearchQuery = {},
): Results<Values> {
  const { session, resource } = methods
  const operation = methods.nameOf('search')
  const values = { q: words, ...Object.fromEntries(filterPairs(resource, where)) }
  const isLinked = session.service.searches?.of === resource.name
  return new Results(async () => {
    if (stored) return fetchStored(methods, operation, values, size, options)
    if (isLinked) {
      const target = await session.findEntryLink(operation, 'search', options, { ...values, size })
      return fetchPage(methods, operation, target, readEach(methods, operation, options))
    }
    const link = await methods.findTarget(operation, undefined, options)
    const content = JSON.stringify(values)
    // The other pages are requested with the same content.
    return fetchPage(methods, operation, addQuery(link, resource, { size }), target =>
      session.wire.ask({ operation, method: 'QUERY', target, fields: jsonType, content, options }),
    )
  })
}

async function fetchStored(
  methods: ResourceMethods,
  operation: string,
  values: Readonly<Record<string, string>>,
  size: number | undefined,
  options: RequestOptions,
): Promise<FetchedPage<Values>> {
  const target = await methods.session.findEntryLink(operation, 'searches', options)
  const content = JSON.stringify(values)
  const reply = await methods.session.wire.ask({
    operation,
    method: 'POST',
    target,
    fields: jsonType,
    content,
    options,
  })
  const search = requireLink(operation, readDocument(operation, reply).links, 'self')
  const pages = addQuery(search, methods.resource, { size })
  return fetchPage(methods, operation, pages, readEach(methods, operation, options))
}

// Removal

export async function removeMatching(
  methods: ResourceMethods,
  where: Values,
  options?: NestedOptions,
): Promise<BulkRemoval> {
  const operation = methods.nameOf('removeAll')
  const target = addQuery(await methods.findTarget(operation, undefined, options), methods.resource, { where })
  const reply = await methods.session.wire.ask({ operation, method: 'DELETE', target, options })
  const { removed, refused, more } = readDocument(operation, reply).members
  if (typeof removed !== 'number' || typeof refused !== 'number')
    return refuseReply(operation, 'structure', 'removed and refused are missing', reply)
  return { removed, refused, ...(more === true && { more }) }
}
