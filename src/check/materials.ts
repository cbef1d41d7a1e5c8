/**
 * The things that rules need to look at, made on demand and shared: an item, a created item, a job,
 * a search. Each function throws `NotObservable` with what is missing.
 */

import { memoizeByText } from '../base/memo.ts'
import type { Bench, CreatedItem, Sending } from './bench.ts'
import {
  type ApiPath,
  type CheckCaller,
  type CollectionTarget,
  lastSegmentOf,
  pathBelow,
} from './discovered-service.ts'
import { schemaOfContent } from './discovery.ts'
import { asRecord, asText, type Json, linkIn, linksIn, memberAt } from './probe-content.ts'
import { type ProbeExchange, requireUnreachable } from './probe-message.ts'
import { findSender, pathOfIdentifier, toPath } from './reading.ts'
import type { MadeThing } from './run-journal.ts'
import { makeSample, toDraft } from './schema-sample.ts'
import { NotApplicable, NotObservable } from './verdict.ts'

export interface ReadItem {
  readonly collection: CollectionTarget
  readonly path: string
  readonly as: CheckCaller | undefined
  readonly read: ProbeExchange
}

/** An existing item, as its collection lists it. */
export const readSomeItem = (bench: Bench): Promise<ReadItem> =>
  bench.once('item', async () => {
    for (const collection of bench.service.collections)
      for (const { path } of collection.items.slice(0, 1)) {
        const read = await bench.send('GET', path, { as: collection.reader })
        if (read.isSuccess) return { collection, path, as: collection.reader, read }
      }
    throw new NotObservable('a collection with an item that a caller may read: --caller, or an OpenAPI description')
  })

/**
 * Something that a caller may read, an item or the entry: for a missing or guarded target a service
 * need not look at the method. Undefined: there is neither.
 */
export async function findReadableTarget(bench: Bench): Promise<Pick<ReadItem, 'path' | 'as'> | undefined> {
  const item = await readSomeItem(bench).catch(asUndefined)
  const { request, isSuccess } = bench.service.entry
  if (item || !isSuccess) return item
  return { path: request.target, as: findSender(bench, bench.service.entry) }
}

/** An item of a collection that anonymous callers must not read. */
export const readGuardedItem = (bench: Bench): Promise<ReadItem> =>
  bench.once('guarded item', async () => {
    for (const collection of bench.service.collections)
      for (const { path } of collection.reader ? collection.items.slice(0, 1) : []) {
        const read = await bench.send('GET', path, { as: collection.reader })
        if (read.isSuccess) return { collection, path, as: collection.reader, read }
      }
    throw new NotObservable('a collection that asks for credentials, and a caller that may read it: --caller')
  })

/**
 * Creates one item in each empty collection of a new service. A collection where that fails becomes
 * a remark, since rules that need an item will say that they lack one.
 */
export async function fillEmptyCollections(bench: Bench): Promise<readonly CollectionTarget[]> {
  const filled: CollectionTarget[] = []
  for (const collection of bench.service.collections) filled.push(await fillCollection(bench, collection))
  return filled
}

async function fillCollection(bench: Bench, collection: CollectionTarget): Promise<CollectionTarget> {
  const { path, operations, items } = collection
  if (items.length > 0 || !operations['POST'] || !bench.options.allowChanges || !bench.mayChange(path))
    return collection
  const filled = await createFirstItem(bench, collection).catch((thrown: unknown) => {
    if (thrown instanceof NotObservable) return thrown.message
    return requireUnreachable(thrown).message
  })
  if (typeof filled !== 'string') return filled
  bench.remarks.push(`${path} is empty, and the run lacks ${filled}`)
  return collection
}

async function createFirstItem(bench: Bench, collection: CollectionTarget): Promise<CollectionTarget> {
  let answered = 0
  for (const as of [collection.reader, ...bench.callers.filter(each => each !== collection.reader)]) {
    const created = await tryToCreate(bench, collection, as)
    if (created.isSuccess) return keepFilling(bench, toCreated(bench, { collection, as }, created, {}))
    answered = created.status
  }
  throw new NotObservable(`an item: POST was answered ${answered}; give \`samples\` of the profile`)
}

function keepFilling(bench: Bench, item: CreatedItem): Promise<CollectionTarget> {
  addRemoval(bench, item)
  bench.fillings.set(item.collection.path, item)
  return readFilled(bench, item.collection, item)
}

async function readFilled(
  bench: Bench,
  collection: CollectionTarget,
  { path, as }: CreatedItem,
): Promise<CollectionTarget> {
  const list = await bench.send('GET', collection.path, { as })
  const { json: value = {} } = await bench.send('GET', path, { as })
  return { ...collection, reader: as, list, items: [{ path, value }] }
}

interface CreatingCaller {
  readonly collection: CollectionTarget
  readonly as: CheckCaller | undefined
}

/** A new item that only this rule changes; it is removed at the end. */
export async function createTemporaryItem(bench: Bench): Promise<CreatedItem> {
  bench.requireChanges()
  const { collection, as } = await bench.once('maker', () => findMaker(bench))
  return createInCollection(bench, collection, as)
}

/**
 * Sends a change or removal of an item with an entity tag that does not match, so it has no effect.
 *
 * @param tag default: a tag that the item never had
 */
export function sendStaleChange(
  bench: Pick<Bench, 'send'>,
  { path, draft }: CreatedItem,
  method: string,
  as: CheckCaller | undefined,
  tag = '"no-such-version"',
): Promise<ProbeExchange> {
  const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
  const content = method === 'DELETE' ? {} : { json: draft }
  return bench.send(method, path, { as, ...content, fields: { ...type, 'if-match': tag } })
}

/** A member of an item that now has another value. */
export interface ChangedMember {
  readonly name: string
  readonly value: string
  readonly before: ProbeExchange
  readonly changed: ProbeExchange
  readonly after: ProbeExchange
}

/** How many changes of one member are tried until the service accepts one. */
const changesTried = 6

/** Letters of two, three and four octets in UTF-8. */
const rareLetters = 'é漢😀'

/**
 * Gives a text member of a new item another value: another item's, or a longer one. Undefined: the
 * service accepted no such change.
 *
 * @param isRare whether the value has letters beyond ASCII
 */
export async function changeMember(
  bench: Bench,
  item: CreatedItem,
  method: 'PUT' | 'PATCH',
  isRare = false,
): Promise<ChangedMember | undefined> {
  const before = await bench.send('GET', item.path, { as: item.as })
  const draft = asRecord(item.draft)
  const candidates = Object.entries(draft).flatMap(([name, value]) => {
    if (typeof value !== 'string') return []
    if (isRare) return [[name, `${value} ${rareLetters}`] as const]
    const others = item.collection.items.map(each => memberAt(each.value, name))
    const other = others.find(each => typeof each === 'string' && each !== value)
    return [...(typeof other === 'string' ? [other] : []), `${value}x`].map(text => [name, text] as const)
  })
  for (const [name, value] of candidates.slice(0, changesTried)) {
    const json = method === 'PUT' ? { ...draft, [name]: value } : { [name]: value }
    const type = method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}
    const fields = { ...type, ...(await currentMatch(bench, item.path, item.as)) }
    const changed = await bench.send(method, item.path, { as: item.as, json, fields })
    if (!changed.isSuccess) continue
    return { name, value, before, changed, after: await bench.send('GET', item.path, { as: item.as }) }
  }
  return undefined
}

/** Prefers a collection whose creator can also replace and remove its items. */
async function findMaker(bench: Bench): Promise<CreatingCaller> {
  const makers: (CreatingCaller & { readonly rank: number })[] = []
  for (const collection of changeable(bench).filter(({ items }) => items.length > 0))
    for (const as of [undefined, ...bench.callers])
      makers.push({ collection, as, rank: await rankCreator(bench, collection, as) })
  makers.sort((a, b) => b.rank - a.rank)
  for (const maker of makers.filter(({ rank }) => rank > 0)) {
    const created = await tryToCreate(bench, maker.collection, maker.as)
    if (created?.isSuccess) {
      addRemoval(bench, toCreated(bench, maker, created, {}))
      return maker
    }
  }
  const { openapi, collections } = bench.service
  if (openapi !== undefined && collections.length > 0 && !collections.some(({ operations }) => operations['POST']))
    throw new NotApplicable('no collection of the description has POST')
  throw new NotObservable('a collection in which a caller may create items: --caller, or `samples` of the profile')
}

const changeable = (bench: Bench): readonly CollectionTarget[] =>
  bench.service.collections.filter(({ path }) => bench.mayChange(path))

/** HAL links say what this caller may do; without links, the methods say what exists. */
async function rankCreator(
  bench: Bench,
  { path, items, operations, itemPath }: CollectionTarget,
  as: CheckCaller | undefined,
): Promise<number> {
  const [first] = items
  if (!first || (Object.keys(operations).length > 0 && !operations['POST'])) return 0
  const list = await bench.send('GET', path, { as })
  if (!list.isSuccess) return 0
  const item = await bench.send('GET', first.path, { as })
  const rels = linksIn(item.json).map(({ rel }) => rel)
  const methods = Object.keys(itemPath?.operations ?? {})
  const count = (wanted: readonly string[], found: readonly string[]): number =>
    wanted.filter(each => found.includes(each)).length
  return 1 + 4 * count(['edit', 'delete'], rels) + count(['PUT', 'PATCH', 'DELETE'], methods)
}

/** The item that a run would create there: the profile's sample, or a copy of an existing item. */
export function draftFor(bench: Bench, collection: CollectionTarget): Json {
  const { openapi } = bench.service
  const sample = bench.profile.samples?.[`POST ${collection.path}`]
  const schema = schemaOfContent(openapi, memberAt(collection.operations['POST'], 'requestBody'))
  const [existing] = collection.items
  if (sample !== undefined) return sample
  return existing ? toDraft(openapi, schema, existing.value) : makeSample(openapi ?? {}, schema)
}

/** PUT at an unused address, where the description declares 201 for it; undefined if nowhere. */
export async function putNewItem(bench: Bench): Promise<ProbeExchange | undefined> {
  const { openapi } = bench.service
  for (const collection of changeable(bench)) {
    const operation = collection.itemPath?.operations['PUT']
    const [existing] = collection.items
    if (memberAt(operation, 'responses', '201') === undefined || !existing) continue
    const json = toDraft(openapi, schemaOfContent(openapi, memberAt(operation, 'requestBody')), existing.value)
    const path = pathBelow(collection.path, `probe-${crypto.randomUUID().slice(0, 8)}`)
    for (const as of bench.callers) {
      const created = await bench.send('PUT', path, { as, json, fields: { 'if-none-match': '*' } })
      if (!created.isSuccess) continue
      addRemoval(bench, { path, as })
      return created
    }
  }
  return undefined
}

const tryToCreate = (bench: Bench, collection: CollectionTarget, as: CheckCaller | undefined): Promise<ProbeExchange> =>
  bench.send('POST', collection.path, { as, json: draftFor(bench, collection) })

async function createInCollection(
  bench: Bench,
  collection: CollectionTarget,
  as: CheckCaller | undefined,
): Promise<CreatedItem> {
  const created = await tryToCreate(bench, collection, as)
  if (!created.isSuccess) throw new NotObservable(describeUncreated(collection, as, created))
  const item = toCreated(bench, { collection, as }, created, draftFor(bench, collection))
  addRemoval(bench, item)
  return item
}

function describeUncreated({ path }: CollectionTarget, as: CheckCaller | undefined, { status }: ProbeExchange): string {
  const cure = status === 401 || status === 403 ? 'a caller that may: --caller' : `\`samples\` of the profile`
  return `a new item: POST ${path} by ${as?.name ?? 'nobody'} was answered ${status}; give ${cure}`
}

/** A POST that should be refused; if it is not, whatever it created is removed. */
export async function postDraft(bench: Bench, collection: CollectionTarget, sending: Sending): Promise<ProbeExchange> {
  const posted = await bench.send('POST', collection.path, sending)
  if (posted.isSuccess) addRemoval(bench, toCreated(bench, { collection, as: sending.as }, posted, {}))
  return posted
}

/**
 * The item's own link takes precedence over Location, so that one wrong field does not hide the
 * item from all rules.
 */
function toCreated(bench: Bench, { collection, as }: CreatingCaller, created: ProbeExchange, draft: Json): CreatedItem {
  const { location, 'content-location': contentLocation } = created.fields
  const href = linkIn(created.json, 'self') ?? location ?? contentLocation ?? pathOfIdentifier(collection, created.json)
  const path = href === undefined ? undefined : toPath(bench, href, collection.path)
  if (path === undefined) {
    bench.addLeft(`what POST ${collection.path} has created, which has no address`)
    throw new NotObservable('the address of a new item: it has neither a self link nor Location')
  }
  return { collection, as, path, draft, created }
}

/**
 * DELETE by each caller; where the state forbids it, first the action that ends the item's life.
 */
function addRemoval(bench: Bench, { path, as }: Pick<CreatedItem, 'path' | 'as'>): void {
  const removeItem = async (): Promise<string | undefined> => {
    for (const caller of [as, ...bench.callers]) {
      const current = await bench.send('GET', path, { as: caller })
      if (current.status === 404 || current.status === 410) return undefined
      const etag = current.fields['etag']
      const fields = etag === undefined ? {} : { 'if-match': etag }
      const removed = await bench.send('DELETE', path, { as: caller, fields })
      if (removed.isSuccess) return undefined
      const cancel = linkIn(current.json, 'cancel')
      const at = cancel === undefined ? undefined : toPath(bench, cancel, path)
      if (removed.status === 409 && at !== undefined) {
        await bench.send('POST', at, { as: caller })
        const ended = await bench.send('DELETE', path, { as: caller, fields: await currentMatch(bench, path, caller) })
        if (ended.isSuccess) return undefined
      }
    }
    return path
  }
  bench.addCleanup(removeItem, { path, caller: as?.name, isItem: true })
}

/** Things that an interrupted run created, to be removed at the end of this one. */
export function addEarlierRemoval(bench: Bench, { path, caller, isItem }: MadeThing): void {
  const as = bench.callers.find(({ name }) => name === caller)
  if (isItem) addRemoval(bench, { path, as })
  else addPlainRemoval(bench, path, as)
}

export async function currentMatch(
  bench: Bench,
  path: string,
  as: CheckCaller | undefined,
): Promise<Readonly<Record<string, string>>> {
  const { fields } = await bench.send('GET', path, { as })
  return fields['etag'] === undefined ? {} : { 'if-match': fields['etag'] }
}

export interface ActedItem {
  readonly item: CreatedItem
  /** The caller that performs the action, and reads the item before and after. */
  readonly as: CheckCaller | undefined
  readonly action: OfferedAction
  readonly content: Json | undefined
  readonly before: ProbeExchange
  readonly acted: ProbeExchange
}

/** A new item on which an action offered by its links has been performed. */
export async function performAction(bench: Bench): Promise<ActedItem> {
  bench.requireChanges()
  const { openapi, paths } = bench.service
  if (openapi !== undefined && !paths.some(({ path, operations }) => operations['POST'] && path.includes('}/')))
    throw new NotApplicable('the description has no POST below an item')
  const needs = new Set<string>()
  let refused: ActedItem | undefined
  for (const collection of listStateful(bench))
    for (const as of makersOf(bench, collection)) {
      const item = await createInCollection(bench, collection, as).catch(thrown => void needs.add(requireNeed(thrown)))
      const acted = item && (await actAsAnyone(bench, item))
      if (acted && !isOfMadeContent(bench, acted)) return acted
      refused = chooseRefusal(bench, refused, acted)
      if (item && !acted) needs.add(describeUnoffered(item))
    }
  if (refused) return refused
  throw new NotObservable(needs.size > 0 ? [...needs].join('; or ') : actionNeed)
}
const actionNeed =
  'an OpenAPI description that has a collection, POST below its items, and links of an item to it: --openapi'
const describeUnoffered = ({ collection }: CreatedItem): string =>
  `a caller to whom the links of a new item of ${collection.path} offer an action: --caller`

/**
 * The same, shared by all rules that only look at it. Where no second item can be created, such as
 * one for the same time, it is the item that the run created in the empty collection.
 */
export const performSomeAction = (bench: Bench): Promise<ActedItem> =>
  bench.once('action', () =>
    performAction(bench).catch(async thrown => {
      requireNeed(thrown)
      const acted = await actOnFilling(bench)
      if (acted) return acted
      throw thrown
    }),
  )

async function actOnFilling(bench: Bench): Promise<ActedItem | undefined> {
  for (const { path } of listStateful(bench)) {
    const item = bench.fillings.get(path)
    const acted = item && (await actAsAnyone(bench, item))
    if (!acted) continue
    const { collections } = bench.service
    const changed = collections.map(each => (each.path === path ? readFilled(bench, each, item) : each))
    bench.service = { ...bench.service, collections: await Promise.all(changed) }
    bench.forget('item', 'guarded item')
    return acted
  }
  return undefined
}

const listStateful = (bench: Bench): readonly CollectionTarget[] =>
  changeable(bench).filter(({ parts }) => parts.some(({ operations }) => operations['POST']))

/** Callers that may be able to create items there: the reader first, anonymous or not. */
const makersOf = (bench: Bench, { reader }: CollectionTarget): ReadonlySet<CheckCaller | undefined> =>
  new Set([reader, ...bench.callers])

/** Performed by the maker of the item, otherwise by another caller to whom it offers an action. */
async function actAsAnyone(bench: Bench, item: CreatedItem): Promise<ActedItem | undefined> {
  let last: ActedItem | undefined
  for (const as of new Set([item.as, ...bench.callers])) {
    const performed = await tryActions(bench, item, as)
    if (performed?.acted.isSuccess) return performed
    last = chooseRefusal(bench, last, performed)
  }
  return last
}

function requireNeed(thrown: unknown): string {
  if (!(thrown instanceof NotObservable)) throw thrown
  return thrown.message
}

const asUndefined = (thrown: unknown): undefined => void requireNeed(thrown)

export interface OfferedAction {
  readonly rel: string
  readonly path: string
  readonly part: ApiPath
}

/** The actions that the links of an item offer. */
export const listOffered = (bench: Bench, item: CreatedItem, read: ProbeExchange): readonly OfferedAction[] =>
  linksIn(read.json).flatMap(({ rel, href }) => {
    const path = toPath(bench, href, item.path)
    const part = item.collection.parts.find(each => path !== undefined && isOfTemplate(path, each.path))
    return path !== undefined && part?.operations['POST'] ? [{ rel, path, part }] : []
  })

/** A new item that offers actions, none of which has been performed; undefined: no item does. */
export const createActionItem = (bench: Bench) => bench.once('offered actions', () => offerActions(bench))

async function offerActions(bench: Bench) {
  for (const collection of listStateful(bench))
    for (const as of makersOf(bench, collection)) {
      const item = await createInCollection(bench, collection, as).catch(asUndefined)
      const before = item && (await bench.send('GET', item.path, { as }))
      const actions = item && before ? listOffered(bench, item, before) : []
      if (item && before && actions.length > 0) return { item, before, actions }
    }
  return undefined
}

/** The actions that need the least content come first. */
async function tryActions(
  bench: Bench,
  item: CreatedItem,
  as: CheckCaller | undefined,
): Promise<ActedItem | undefined> {
  const before = await bench.send('GET', item.path, { as })
  const offered = listOffered(bench, item, before)
  const isDemanding = ({ part }: OfferedAction): boolean =>
    memberAt(part.operations['POST'], 'requestBody', 'required') === true
  let last: ActedItem | undefined
  for (const action of offered.toSorted((a, b) => Number(isDemanding(a)) - Number(isDemanding(b)))) {
    const { acted, content } = await sendAction(bench, action, as)
    const performed = { item, as, action, content, before, acted }
    if (acted.isSuccess) return performed
    last = chooseRefusal(bench, last, performed)
  }
  return last
}

export async function sendAction(bench: Bench, { path, part }: OfferedAction, as: CheckCaller | undefined) {
  const content = actionContent(bench, part)
  const acted = await bench.send('POST', path, { as, ...(content !== undefined && { json: content }) })
  return { acted, content }
}

/** Whether a refusal may be due to content that the run made up from a schema. */
export const isOfMadeContent = ({ profile }: Bench, { acted, content, action }: ActedItem): boolean =>
  content !== undefined &&
  profile.samples?.[`POST ${action.part.path}`] === undefined &&
  (acted.status === 400 || acted.status === 422)

/** Of two refusals, the one that made-up content cannot have caused, otherwise the later one. */
const chooseRefusal = (bench: Bench, one: ActedItem | undefined, other: ActedItem | undefined) =>
  other === undefined || (one && !isOfMadeContent(bench, one)) ? one : other

/** Undefined: the action needs no content. */
export function actionContent(bench: Bench, part: ApiPath): Json | undefined {
  const sample = bench.profile.samples?.[`POST ${part.path}`]
  if (sample !== undefined) return sample
  const schema = schemaOfContent(bench.service.openapi, memberAt(part.operations['POST'], 'requestBody'))
  return schema && makeSample(bench.service.openapi ?? {}, schema)
}

/** Whether `/orders/7/payment` matches `/orders/{id}/payment`. */
export const isOfTemplate = (path: string, template: string): boolean =>
  templatePattern(template).test(path.split('?')[0] ?? '')

const templatePattern = memoizeByText(template => {
  const pattern = template.split(/\{[^}]+\}/).map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${pattern.join('[^/]+')}$`)
})

export interface StartedPost {
  readonly as: CheckCaller | undefined
  readonly posted: ProbeExchange
  /** The path that Location names. */
  readonly location: string | undefined
}

export const startSomeJob = (bench: Bench): Promise<StartedPost> =>
  bench.once('job', () => postTo(bench, bench.service.jobs, 'POST that starts a job'))

export const createSomeSearch = (bench: Bench): Promise<StartedPost> =>
  bench.once('search', () => postTo(bench, bench.service.searches, 'POST that makes a search'))

async function postTo(bench: Bench, targets: readonly ApiPath[], subject: string): Promise<StartedPost> {
  if (targets.length === 0) throwMissing(bench, subject)
  bench.requireChanges()
  /** The refusal that says most: about the content, not about the caller. */
  let started: StartedPost | undefined
  for (const { path, operations } of targets.filter(each => bench.mayChange(each.path))) {
    const json = contentFor(bench, { path, operations })
    for (const as of bench.callers.length > 0 ? bench.callers : [undefined]) {
      const posted = await bench.send('POST', path, { as, json })
      const address = posted.fields['location'] ?? linkIn(posted.json, 'self')
      const tried = { as, posted, location: address === undefined ? undefined : toPath(bench, address, path) }
      if (posted.isSuccess) {
        if (tried.location !== undefined) addPlainRemoval(bench, tried.location, as)
        return tried
      }
      if (!started || isForbidden(started.posted)) started = tried
    }
  }
  if (!started) throw new NotObservable(`permission for a ${subject}: \`mayCreate\` of the profile`)
  const { request, status } = started.posted
  const need = isForbidden(started.posted) ? 'a caller that may do it: --caller' : '`samples` of the profile'
  throw new NotObservable(`a ${subject} and succeeds: POST ${request.target} was answered ${status}; give ${need}`)
}

const isForbidden = ({ status }: ProbeExchange): boolean => status === 401 || status === 403

/** If the description has none, the rule does not apply; without a description, it may apply. */
function throwMissing({ service }: Bench, subject: string): never {
  if (service.openapi !== undefined) throw new NotApplicable(`the description has no ${subject}`)
  throw new NotObservable(`an OpenAPI description that has a ${subject}: --openapi`)
}

/** The content of a POST that creates a job or a search. */
export function contentFor({ service, profile }: Bench, { path, operations }: ApiPath): Json {
  const schema = schemaOfContent(service.openapi, memberAt(operations['POST'], 'requestBody'))
  return profile.samples?.[`POST ${path}`] ?? makeSample(service.openapi ?? {}, schema)
}

/** It is removed at the end by DELETE, or named in the report. */
export function addPlainRemoval(bench: Bench, path: string, as: CheckCaller | undefined): void {
  const removePlainly = async (): Promise<string | undefined> => {
    const removed = await bench.send('DELETE', path, { as })
    return removed.isSuccess || removed.status === 404 || removed.status === 410 ? undefined : path
  }
  bench.addCleanup(removePlainly, { path, caller: as?.name, isItem: false })
}

/** A path below the API where nothing can exist. */
export const absentPath = ({ service }: Bench): string => {
  const [collection] = service.collections
  return `${collection ? collection.path.replace(/\/[^/]*\/?$/, '') : service.basePath.replace(/\/$/, '')}/no-such-resource-7f3a`
}

/** An identifier at which there is no item. */
export async function readAbsentItem(
  bench: Bench,
  fields: Readonly<Record<string, string>> = {},
): Promise<ProbeExchange> {
  const { collection, path, as } = await readSomeItem(bench)
  const identifier = absentIdentifier(lastSegmentOf(path))
  return bench.send('GET', pathBelow(collection.path, identifier), { as, fields })
}

/** An identifier of the existing kind: another kind may be refused before the look-up. */
function absentIdentifier(existing: string): string {
  if (/^[0-9]+$/.test(existing)) return '987654321'
  if (/^[0-9a-f]{16,}$/i.test(existing)) return 'fe9'.padEnd(existing.length, '7')
  return uuidPattern.test(existing) ? crypto.randomUUID() : 'no-such-item-7f3a'
}
const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** @param member the member with the state. Default: `state`, then `status` */
export function readState(value: Json | undefined, member?: string): string | undefined {
  const record = asRecord(value)
  return member === undefined ? (asText(record['state']) ?? asText(record['status'])) : asText(record[member])
}
