/** A4.23: which items the query parameters of a collection select, and in which order. */
import type { CheckCaller, CollectionTarget } from '../discovered-service.ts'
import { parametersOf } from '../discovery.ts'
import { asRecord, asText, itemsOf, type Json, memberAt, type ProbedRecord } from '../probe-content.ts'
import type { ProbeExchange } from '../probe-message.ts'
import { encodeLoosely, listNextPages, toPath } from '../reading.ts'
import type { Trial } from '../trial.ts'

interface MemberFilter {
  readonly name: string
  readonly value: string
}
const writeFilters = (filters: readonly MemberFilter[]): string =>
  filters.map(({ name, value }) => `${name}=${encodeLoosely(value)}`).join('&')

/** False: no parameter is named like a member that divides the items. */
export async function checkQueries(trial: Trial, collection: CollectionTarget): Promise<boolean> {
  const { path, operations, reader } = collection
  const parameters = parametersOf(trial.bench.service.openapi, operations['GET'])
  const names = parameters.map(each => String(each['name']))
  const items = collection.items.map(({ value }) => value)
  const [first] = items
  const name = names.find(each => isDividing(each, items))
  if (first === undefined || name === undefined) return false
  const filter = filterBy(name, first)
  await checkFilter(trial, collection, [filter])
  const two = findTwoFilters(names, items)
  if (two) await checkFilter(trial, collection, two)
  await checkUnmatched(trial, collection, name, items)
  const size = names.find(each => pageSizes.has(each.toLowerCase()))
  if (size !== undefined) await checkNextPage(trial, collection, filter, size)
  const sort = parameters.find(each => each['name'] === 'sort')
  if (sort) await checkSorting(trial, path, reader, sort, items)
  return true
}

/** Items differ in a text member, so a filter by it leaves some of them out. */
function isDividing(name: string, items: readonly Json[]): boolean {
  const values = items.map(each => memberAt(each, name))
  return name !== 'id' && typeof values[0] === 'string' && new Set(values).size > 1
}
const filterBy = (name: string, item: Json): MemberFilter => ({ name, value: String(memberAt(item, name)) })

/** Two filters, the second of which leaves out some of the items that the first selects. */
function findTwoFilters(names: readonly string[], items: readonly Json[]): readonly MemberFilter[] | undefined {
  for (const name of names.filter(each => typeof memberAt(items[0], each) === 'string' && each !== 'id')) {
    const filter = filterBy(name, items[0] as Json) // there is one with this name
    const selected = items.filter(item => matches(item, filter))
    const second = names.find(each => each !== name && isDividing(each, selected))
    if (second !== undefined) return [filter, filterBy(second, items[0] as Json)]
  }
  return undefined
}

/** A filter may search for part of a text, ignoring case. */
const matches = (item: Json, { name, value }: MemberFilter): boolean =>
  String(memberAt(item, name)).toLowerCase().includes(value.toLowerCase())

async function checkFilter(
  trial: Trial,
  { path, reader }: CollectionTarget,
  filters: readonly MemberFilter[],
): Promise<void> {
  const query = writeFilters(filters)
  const filtered = await trial.send('GET', `${path}?${query}`, { as: reader })
  const items = itemsOf(filtered.json) ?? []
  const isSelected = items.length > 0 && items.every(item => filters.every(each => matches(item, each)))
  trial.expect(isSelected, `${query} selects by its value${filters.length > 1 ? 's' : ''}`, filtered)
}

/** A type without such a value may refuse it. */
async function checkUnmatched(
  trial: Trial,
  { path, reader }: CollectionTarget,
  name: string,
  items: readonly Json[],
): Promise<void> {
  const longest = items.map(each => String(memberAt(each, name))).reduce((a, b) => (b.length > a.length ? b : a))
  const value = isNumeral(longest) ? `9${longest.replace(/^-/, '')}` : `${longest}x`
  const query = writeFilters([{ name, value }])
  const filtered = await trial.send('GET', `${path}?${query}`, { as: reader })
  if (!filtered.isSuccess) return
  trial.expect(
    (itemsOf(filtered.json) ?? []).length === 0,
    `${query} selects nothing: no item has that value`,
    filtered,
  )
}

const pageSizes: ReadonlySet<string> = new Set(['size', 'limit', 'page_size', 'pagesize', 'per_page', 'perpage'])

/** The link to the next page keeps the parameters of the request. */
async function checkNextPage(
  trial: Trial,
  { path, reader }: CollectionTarget,
  filter: MemberFilter,
  size: string,
): Promise<void> {
  const page = await trial.send('GET', `${path}?${writeFilters([filter])}&${size}=1`, { as: reader })
  const [href] = listNextPages(page)
  const next = page.isSuccess && href !== undefined ? toPath(trial.bench, href, page.request.target) : undefined
  if (next === undefined) return
  const second = await trial.send('GET', next, { as: reader })
  const isKept = (itemsOf(second.json) ?? []).every(each => matches(each, filter))
  trial.expect(isKept, `the next page of ${filter.name}=${filter.value} selects by it as well`, page, second)
}

async function checkSorting(
  trial: Trial,
  path: string,
  as: CheckCaller | undefined,
  sort: ProbedRecord,
  items: readonly Json[],
): Promise<void> {
  for (const name of listOrderable(items)) {
    const sorted = await trial.send('GET', `${path}?sort=${name}`, { as })
    if (!sorted.isSuccess) continue
    trial.expect(isOrdered(listValues(sorted, name)), `sort=${name} orders by it`, sorted)
    if (!reversesByMinus(sort, name)) return
    const reversed = await trial.send('GET', `${path}?sort=-${name}`, { as })
    const isReversed = reversed.isSuccess && isOrdered(listValues(reversed, name).toReversed())
    trial.expect(isReversed, `sort=-${name} orders by it, the last one first`, reversed)
    return
  }
}

/** An order shows only where values differ, so these members come first. */
function listOrderable(items: readonly Json[]): readonly string[] {
  const item = asRecord(items[0])
  const differ = (name: string): boolean => new Set(items.map(each => memberAt(each, name))).size > 1
  return Object.keys(item)
    .filter(each => /^(?:number|string)$/.test(typeof item[each]) && each !== 'id')
    .sort((one, other) => Number(differ(other)) - Number(differ(one)))
}

const listValues = (page: ProbeExchange, name: string): readonly (Json | undefined)[] =>
  (itemsOf(page.json) ?? []).map(each => memberAt(each, name))

/** The description says so, in words or by its values. */
function reversesByMinus(sort: ProbedRecord, name: string): boolean {
  const values = asRecord(sort['schema'])['enum']
  return Array.isArray(values)
    ? values.includes(`-${name}`)
    : /["'`‘“]-["'`’”]|\bminus\b|["'`]-\w+["'`]/.test(asText(sort['description']) ?? '')
}

function isOrdered(values: readonly (Json | undefined)[]): boolean {
  const isDecimal = values.every(value => isNumeral(String(value)))
  const orders: readonly ((one: Json | undefined, other: Json | undefined) => boolean)[] = isDecimal
    ? [(one, other) => Number(one) <= Number(other)]
    : [(one, other) => String(one) <= String(other), ...collations]
  return orders.some(isBefore => values.every((value, at) => at === 0 || isBefore(values[at - 1], value)))
}

const isNumeral = (text: string): boolean => /^-?[0-9.]+$/.test(text)

/** Databases order texts ignoring case, or as people do. */
const collations = (['base', 'variant'] as const).map(sensitivity => {
  const { compare } = new Intl.Collator('en', { sensitivity })
  return (one: Json | undefined, other: Json | undefined): boolean => compare(String(one), String(other)) <= 0
})
