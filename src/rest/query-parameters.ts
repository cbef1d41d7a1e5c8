/**
 * Row 14: the query of a target. Each parameter must be known and typed; a 400 names the first that
 * is not.
 */

import { memoizeByObject, memoizeByText } from '../base/memo.ts'
import {
  allowsComparison,
  type Comparison,
  comparisons,
  type FilterField,
  findFilterField,
} from '../contract/filter-field.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { readSettledScalar } from '../contract/lexical/settled-text.ts'
import { isPaged, type Operation } from '../contract/operation.ts'
import type { Resource } from '../contract/resource.ts'
import type { Pairs } from '../http/uri.ts'
import { searchWordsMax } from '../service/reads.ts'
import { searchWords } from '../service/search.ts'
import { type Filter, numberedItemsMax, type Query, type Sort } from '../service/store.ts'
import { restLimits } from './limits.ts'
import { readCursor } from './page-cursor.ts'
import { refuseRequest } from './refusal.ts'
import type { Route } from './route.ts'

export interface ParsedQuery {
  readonly query: Omit<Query, 'within'> | undefined
  readonly only: ReadonlySet<string> | undefined
  /** The parameters that links to other pages repeat: all but the position. */
  readonly kept: Pairs
  /** The number of the page, if it was given. */
  readonly page: number | undefined
}
export const emptyQuery: ParsedQuery = { query: undefined, only: undefined, kept: [], page: undefined }

const defaultSize = 20

const refuseParameter = (name: string, detail: string): never => refuseRequest({ kind: 'bad-parameter', name, detail })

const selectingKinds: readonly Operation['kind'][] = ['list', 'search', 'getSearch', 'get']

/**
 * @param lenient `Prefer: handling=lenient`: unknown parameters are ignored (RFC 7240 §4.4); never
 * where that would widen a removal
 */
export function parseParameters(
  operation: Operation,
  route: Route,
  id: string | undefined,
  pairs: Pairs,
  lenient: boolean,
): ParsedQuery {
  const { kind } = operation
  const parentFilters =
    route.within && id !== undefined ? [{ field: route.within.by, is: 'eq' as const, value: id }] : []
  if (pairs.length === 0 && !isPaged(operation)) return kind === 'bulk' ? refuseWithoutFilter() : emptyQuery
  if (pairs.length > restLimits.parameters)
    refuseParameter('', `the query has more than ${restLimits.parameters} parameters: send fewer`)
  const parameters = new Map<string, string>()
  const filters: Filter[] = [...parentFilters]
  const keptPairs: [string, string][] = []
  for (const [name, value] of pairs) {
    const controls = controlsOf(operation, route).has(name)
    const filter = controls ? undefined : filterOf(operation, route, name, value)
    if (filter) {
      if (filter.is === 'in' && filters.some(isSameChoice(filter)) && hasOneValue(operation, filter.field))
        refuseParameter(name, 'is given twice, and both would have to hold: separate the values by commas')
      filters.push(filter)
    } else if (!controls) {
      if (lenient) continue
      refuseUnknownParameter(operation, route, name)
    } else if (parameters.has(name)) refuseParameter(name, 'is given twice')
    else parameters.set(name, value)
    keptPairs.push([name, value])
  }
  if (kind === 'bulk')
    return filters.length === 0 ? refuseWithoutFilter() : { ...emptyQuery, query: bulkQuery(filters) }
  if (!('resource' in operation)) return emptyQuery
  const only = parseSelection(operation.resource, parameters.get('fields'))
  if (!isPaged(operation)) return { ...emptyQuery, only }
  return {
    ...parsePaging(operation.resource, parameters, filters),
    only,
    kept: keptPairs.filter(([name]) => !positionParameters.has(name)),
  }
}

const isSameChoice =
  ({ field }: Filter) =>
  (each: Filter): boolean =>
    each.field === field && each.is === 'in'
/**
 * A list of values that is sent as a repeated parameter, as some clients do, would find nothing. An
 * item may have many references within, and of several lists a match for each.
 */
const hasOneValue = (operation: Operation, name: string): boolean =>
  'resource' in operation && findFilterField(operation.resource, name)?.path === undefined

/** Names the comparisons if it is a filter with an unknown one; otherwise all known parameters. */
function refuseUnknownParameter(operation: Operation, route: Route, text: string): never {
  const filters = 'resource' in operation ? filterableFields(operation, route) : noFields
  const [name = ''] = text.split('[')
  const field = filters.get(name)
  if (!field || name === text)
    return refuseParameter(text, explainUnknownParameter([...filters.keys(), ...controlsOf(operation, route)]))
  const forms = comparisons
    .filter(is => mayFilterBy(operation, field, is))
    .map(is => (is === 'eq' && !controlsOf(operation, route).has(name) ? name : `${name}[${is}]`))
  return refuseParameter(text, `is not a comparison of ${name}: use ${forms.join(', ')}`)
}
/** @param names the parameters of the target */
export const explainUnknownParameter = (names: readonly string[]): string =>
  `is not a known query parameter here: ${names.length === 0 ? 'send none' : `use ${names.join(', ')}`}`

const refuseWithoutFilter = (): never =>
  refuseRequest({
    kind: 'bad-parameter',
    name: '',
    detail: 'removing items of a collection requires a filter: give at least one',
  })
const positionParameters: ReadonlySet<string> = new Set(['page', 'cursor'])
const bulkQuery = (filters: readonly Filter[]) => ({ filters, sort: [], size: restLimits.pageItems, counted: false })

/**
 * Whether a search takes words and fields in its address: GET of the address of searches, and QUERY
 * of a list that takes words, whose links lead to itself; its content narrows them.
 */
const isSearchBy = ({ kind }: Operation, { template, takesWords }: Route): boolean =>
  kind === 'search' && (template === '/search' || takesWords === true)

/**
 * Parameters that are not filters: a field with one of these names is filtered by `size[eq]=3`.
 * Other QUERY has its words in the content.
 */
function controlsOf(operation: Operation, route: Route): ReadonlySet<string> {
  if (isSearchBy(operation, route) || (operation.kind === 'list' && route.takesWords)) return searchControls
  if (isPaged(operation)) return listControls
  return selectingKinds.includes(operation.kind) ? itemControls : noControls
}
const noControls: ReadonlySet<string> = new Set()
const itemControls: ReadonlySet<string> = new Set(['fields'])
const listControls: ReadonlySet<string> = new Set(['page', 'size', 'cursor', 'sort', 'fields'])
const searchControls: ReadonlySet<string> = new Set([...listControls, 'q'])
/** A field with this name is compared by `name[eq]` where there are words. */
export const isControl = (field: string): boolean => searchControls.has(field)
/** Whether a parameter says which part of what is found is shown, and how. */
export const isOfShown = (name: string): boolean => listControls.has(name)

function filterOf(operation: Operation, route: Route, text: string, value: string): Filter | undefined {
  const [, name = '', given = 'eq'] = /^([^[\]]+)(?:\[([a-z]+)\])?$/.exec(text) ?? []
  const field = 'resource' in operation ? filterableFields(operation, route).get(name) : undefined
  if (!field) return undefined
  const is = comparisons.find(each => each === given)
  if (!is || !mayFilterBy(operation, field, is)) return undefined
  const values = is === 'in' ? splitChoices(value) : [value]
  const shape = is === 'absent' ? ({ kind: 'boolean' } as const) : field.shape
  const typed = values.map(each => readSettledScalar(shape, each))
  const flaw = typed.find(each => each instanceof Flaw)
  if (flaw instanceof Flaw) refuseParameter(text, flaw.detail)
  return { field: name, is, value: is === 'in' ? typed : typed[0] }
}

/** Values between commas; `\,` is a comma of a value, `\\` a backslash. A query holds no NUL. */
const splitChoices = (text: string): readonly string[] =>
  text
    .replaceAll(/\\([\\,])/g, (_, sign: string) => (sign === ',' ? '\0' : sign))
    .split(',')
    .map(each => each.replaceAll('\0', ','))

const mayFilterBy = ({ kind }: Operation, field: FilterField, is: Comparison): boolean =>
  allowsComparison(field, is) && (kind !== 'search' || is === 'eq')

function filterableFields(operation: Operation & { readonly resource: Resource }, route: Route) {
  const { kind, resource } = operation
  if (kind === 'list' || kind === 'bulk') return filterFieldsOf(resource)
  return isSearchBy(operation, route) ? searchFieldsOf(resource) : noFields
}
const noFields: ReadonlyMap<string, FilterField> = new Map()
const filterFieldsOf = memoizeByObject((resource: Resource) => findFields(resource, resource.given.filter))
const searchFieldsOf = memoizeByObject((resource: Resource) => findFields(resource, resource.given.searchBy))
const findFields = (resource: Resource, names: readonly string[] = []): ReadonlyMap<string, FilterField> =>
  new Map(
    names.flatMap(name => {
      const found = findFilterField(resource, name)
      return found ? [[name, found] as const] : []
    }),
  )

/** The same selection gives the same set object, so that its compiled writers are found again. */
const selectionsOf = memoizeByObject((resource: Resource) =>
  memoizeByText((text: string): ReadonlySet<string> => {
    const names = text.split(',')
    const known = Object.keys(resource.fields).filter(name => !resource.fields[name]?.isInternal)
    const unknown = names.find(name => !known.includes(name))
    if (unknown !== undefined)
      refuseName('fields', unknown, `is not a known field of ${resource.name}`, known.join(', '))
    return new Set(names)
  }, 100),
)
/** For a name in a comma-separated list; the name may be empty. */
const refuseName = (parameter: string, name: string, problem: string, use: string): never =>
  refuseParameter(parameter, `${name === '' ? 'has an empty name' : `${name} ${problem}`}: use ${use}`)
const parseSelection = (resource: Resource, text: string | undefined): ReadonlySet<string> | undefined =>
  text === undefined ? undefined : selectionsOf(resource)(text)

function parsePaging(
  resource: Resource,
  parameters: ReadonlyMap<string, string>,
  filters: readonly Filter[],
): ParsedQuery {
  const size = parseWhole('size', parameters.get('size'), defaultSize, restLimits.pageItems)
  const sort = parseSort(resource, parameters.get('sort'))
  const cursor = parameters.get('cursor')
  const page = parameters.has('page') ? parseWhole('page', parameters.get('page'), 1, 1_000_000) : undefined
  if (page !== undefined && page * size > numberedItemsMax)
    refuseParameter('page', `must not go beyond item ${numberedItemsMax}: follow the link next, which has a cursor`)
  if (cursor !== undefined && page !== undefined)
    refuseParameter('cursor', 'cannot be combined with page: give one of them')
  const from = cursor === undefined ? undefined : readCursor(resource, sort, cursor)
  if (cursor !== undefined && !from) refuseParameter('cursor', 'is not a cursor of this query: follow a link to a page')
  const q = parameters.get('q')
  const sought = q === undefined ? undefined : searchWords(q)
  if (sought && sought.length > searchWordsMax) refuseParameter('q', `has more than ${searchWordsMax} words`)
  const query = {
    filters,
    sort,
    size,
    counted: from === undefined && (page ?? 1) === 1,
    octets: restLimits.pageOctets,
    ...(sought && { words: sought }),
    ...(page !== undefined && { offset: (page - 1) * size }),
    ...(from && { from }),
  }
  return { query, only: undefined, kept: [], page }
}

function parseWhole(name: string, text: string | undefined, otherwise: number, max: number): number {
  if (text === undefined) return otherwise
  const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > max) refuseParameter(name, `must be a whole number from 1 to ${max}`)
  return number
}

/** `-placedAt,total`; if absent, the contract's own order. */
function parseSort(resource: Resource, text: string | undefined): readonly Sort[] {
  const names = text === undefined ? (resource.given.order ?? []) : text.split(',')
  const sort = names.map(name => {
    const descending = name.startsWith('-')
    return { field: descending ? name.slice(1) : name, descending }
  })
  if (text === undefined) return sort.filter(({ field }) => resource.fields[field]) // those that this version knows
  const sortable = (resource.given.sort ?? []).filter(name => resource.fields[name])
  if (sortable.length === 0) refuseParameter('sort', `${resource.name} cannot be sorted here: leave it out`)
  for (const [i, { field }] of sort.entries()) {
    if (!sortable.includes(field))
      refuseName(
        'sort',
        field,
        `cannot sort ${resource.name}`,
        `${sortable.join(', ')}; with "-" in front, the largest is first`,
      )
    if (sort.findIndex(each => each.field === field) !== i) refuseParameter('sort', `${field} is given twice`)
  }
  return sort
}
