/**
 * `ctx.items`: what handlers read and change besides the item of their call. Reads have the
 * caller's rights or, with `all`, the service's; changes have the service's own. What always holds,
 * by number:
 *  (1) A change passes the same checks as a call's, except the policy: types, references, `derive`,
 *      `removing`, the machine, versions, the change feed and the audit.
 *  (2) A handler's changes call other handlers in turn, up to a bounded depth; these cannot change
 *      an item that is already being changed.
 *  (3) Problems with what a handler gives are bugs; an exchange passes on what its caller has sent,
 *      so its problems are the caller's. A refusal by another handler ends the call.
 *  (4) Changes that a handler starts at once, by Promise.all, are made one after the other.
 */
import { omitUndefined } from '../base/objects.ts'
import type { Context, GivenFile, ItemList, ItemReader, Items } from '../contract/context.ts'
import { fillDefaults } from '../contract/default-values.ts'
import { allowsComparison, comparisons, findFilterField } from '../contract/filter-field.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import type { Values } from '../contract/implement.ts'
import { readRestriction } from '../contract/policy.ts'
import { type Resource, singleId } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import { type ContextFacts, itemKey, markStarted, requireResource, type StoreReach } from './handler-facts.ts'
import { describeFile, putOwnFile, requireFilePart } from './handler-files.ts'
import {
  addItem,
  applyAction,
  changeOfService,
  deriveValue,
  endByProblems,
  findCurrent,
  type ItemChange,
  nameProblem,
  newItemFields,
  putChangedItem,
  removeOne,
  requireAllFields,
  requireFitting,
  requireUnreferenced,
} from './item-changes.ts'
import { idPrefix, isActionOfState, readGrants, stateOf } from './item-checks.ts'
import { type BeginPart, type ReadPage, walkItems } from './item-walk.ts'
import { Refused, refuse } from './refusal.ts'
import { type Filter, isFormer, isWithin, type Query, type Snapshot, type Sort, type StoreWriter } from './store.ts'
import { isSameValue } from './typed-json.ts'

/** Creates the context of a handler that is called for another item, in the same transaction. */
export type ContextIn = (about: ContextFacts, writer: StoreWriter) => Context

export function createItems(about: ContextFacts, reach: StoreReach, contextIn: ContextIn): Items<Service> {
  /** (4) The change under way: another would read the version that this one is about to replace. */
  let current: Promise<Values> | undefined
  /** One change: its item counts as being changed, and its audit is written with it. */
  const changing = async (
    name: string,
    id: string,
    work: (change: ItemChange, resource: Resource) => Promise<Snapshot>,
    underWay = requireRoom(about, name, id),
  ): Promise<Values> => {
    const [resource, inner] = [requireResource(about, name), { ...about, underWay }]
    while (current) await Promise.allSettled([current])
    const changed = reach.write(async writer => {
      const change = changeOfService(inner, writer, resource, () => contextIn(inner, writer))
      const item = await nameRefusals(name, () => work(change, resource))
      await recordDeed(change, name, item)
      return item.value
    })
    current = Promise.resolve(changed)
    try {
      return await current
    } finally {
      current = undefined
    }
  }
  const changes = {
    create: async (name: string, values: Values) => {
      const of = requireResource(about, name)
      const draft = omitUndefined(values)
      const id = of.isSingle ? singleId : String(draft['id'] ?? about.id(idPrefix(of)))
      return changing(name, id, (change, resource) => createByHandler(change, resource, id, draft))
    },
    change: (name: string, ...args: readonly unknown[]) => {
      const [id, changes] = withId<[id: string, set: Values]>(about, name, args)
      return changing(name, id, async (change, resource) =>
        changeByHandler(change, resource, await requireCurrent(change, name, id), changes),
      )
    },
    remove: async (name: string, ...args: readonly unknown[]) => {
      const [id] = withId<[id: string]>(about, name, args)
      await changing(name, id, async (change, resource) => {
        const item = await requireCurrent(change, name, id)
        await requireUnreferenced(change, resource, id)
        await removeOne(change, resource, item)
        return item
      })
    },
    act: async (name: string, ...args: readonly unknown[]) => {
      const [id, verb, input = {}] = withId<[id: string, verb: string, input?: Values]>(about, name, args)
      let output: Values | undefined
      const value = await changing(name, id, async (change, resource) => {
        const result = await actByHandler(change, resource, await requireCurrent(change, name, id), verb, input)
        output = result.output
        return result.item
      })
      return output ?? value
    },
    putFile: async (name: string, ...args: readonly unknown[]) => {
      const [id, part, file] = withId<[id: string, part: string, file: GivenFile]>(about, name, args)
      const put = async (change: ItemChange, resource: Resource): Promise<Snapshot> =>
        putOwnFile(change, resource, await requireCurrent(change, name, id), part, file)
      await changing(name, id, put, roomForFile(about, name, id))
    },
  }
  // Rows here: `implement` checked handlers against the contract's values.
  return { ...createItemReaders(about, reach), ...markChanges(about, changes) } as unknown as Items<Service>
}

type StartChange = (resource: string, ...args: never[]) => Promise<unknown>
/** The handler must await each of these. */
const markChanges = (about: ContextFacts, changes: Readonly<Record<string, StartChange>>): object =>
  Object.fromEntries(
    Object.entries(changes).map(([verb, start]) => [
      verb,
      (resource: string, ...args: never[]) =>
        markStarted(about, `ctx.items.${verb}('${resource}', …)`, start(resource, ...args)),
    ]),
  )

/** Adds the identifier of a single resource, which handlers leave out. */
const withId = <T extends readonly [id: string, ...unknown[]]>(
  about: ContextFacts,
  resource: string,
  args: readonly unknown[],
): T => (requireResource(about, resource).isSingle ? [singleId, ...args] : args) as unknown as T // typed by `Items`

/** Changes within changes: deeper nesting than this would never end. */
const depthMax = 8

/** (2) */
function requireRoom({ operation, underWay }: ContextFacts, resource: string, id: string): readonly string[] {
  const key = itemKey(resource, id)
  if (underWay[0] === key)
    throw new Error(`${operation}: ctx.items cannot change ${key}, the item of this call: return its new values`)
  if (underWay.includes(key))
    throw new Error(
      `${operation}: ctx.items cannot change ${key} while it is changed: its handlers call each other in a cycle`,
    )
  if (underWay.length >= depthMax)
    throw new Error(
      `${operation}: changes are nested more than ${depthMax} deep: ${underWay.join(', ')}: look for handlers that call each other`,
    )
  return [...underWay, key]
}

/** A file changes nothing in its item, which may be under change. */
const roomForFile = (about: ContextFacts, resource: string, id: string): readonly string[] =>
  about.underWay.includes(itemKey(resource, id)) ? about.underWay : requireRoom(about, resource, id)

async function requireCurrent({ about, writer }: ItemChange, resource: string, id: string): Promise<Snapshot> {
  const item = await writer.getForChange(resource, id)
  if (!item || isFormer(item)) throw new Error(`${about.operation}: cannot change ${resource} ${id}: it does not exist`)
  return item
}

async function createByHandler(change: ItemChange, resource: Resource, id: string, draft: Values): Promise<Snapshot> {
  if (await findCurrent(change.writer, resource.name, id)) {
    const cure = resource.isSingle ? 'use ctx.items.change' : 'use ctx.items.change, or leave out the id'
    throw new Error(`${change.about.operation}: cannot create ${resource.name} ${id}: it exists already: ${cure}`)
  }
  requireFitting(change, resource.name, resource.fields, draft)
  requireAllFields(change, resource, draft)
  const input = fillDefaults(resource.fields, pickFields(resource, draft, isSent))
  const value = await deriveValue(change, resource, input, newItemFields(resource, id))
  return addItem(change, resource, id, { ...value, ...pickFields(resource, draft, isServed), id }, draft)
}

async function changeByHandler(
  change: ItemChange,
  resource: Resource,
  was: Snapshot,
  changes: Values,
): Promise<Snapshot> {
  requireSameState(change, resource, was, changes)
  requireFitting(change, resource.name, resource.fields, changes)
  const next = fillDefaults(resource.fields, { ...was.value, ...changes, id: was.id })
  const isDerived = Object.keys(changes).some(name => isSent(resource, name))
  const value = isDerived
    ? await deriveValue(change, resource, pickFields(resource, next, isSent), next, was.value)
    : next
  const final = { ...value, ...pickFields(resource, changes, isServed), id: was.id }
  return isSameValue(was.value, final) ? was : putChangedItem(change, resource.name, was, final)
}

/** (1) Only an action of its machine brings an item to another state. */
function requireSameState({ about }: ItemChange, { name, states }: Resource, was: Snapshot, changes: Values): void {
  const { state = was.value['state'] } = changes
  if (states.length > 0 && state !== was.value['state'])
    throw new Error(
      `${about.operation}: ctx.items.change cannot move ${name} ${was.id} to the state ${String(state)}: use ctx.items.act with an action that leads there`,
    )
}

/**
 * Whether clients send the field, or name it in an address; the check of the whole value finds
 * unknown names.
 */
const isSent = ({ fields, within }: Resource, name: string): boolean =>
  name === within || !(Object.hasOwn(fields, name) && fields[name]?.isReadOnly)
const isServed = (resource: Resource, name: string): boolean => !isSent(resource, name)
const pickFields = (resource: Resource, value: Values, matches: typeof isSent): Values =>
  Object.fromEntries(Object.entries(value).filter(([name]) => matches(resource, name)))

async function actByHandler(change: ItemChange, resource: Resource, item: Snapshot, verb: string, input: Values) {
  const { about } = change
  const action = Object.hasOwn(resource.actions, verb) ? resource.actions[verb] : undefined
  if (!action || action.effect === 'read')
    throw new Error(`${about.operation}: ${verb} is not an action that changes ${resource.name}: name one of those`)
  endByProblems(change, `${resource.name}.${verb}`, checkValue(action.input, fillDefaults(action.input, input)))
  const state = stateOf(item)
  if (!isActionOfState(action, state))
    refuse({ kind: 'conflict', detail: `${item.id} of ${resource.name} is ${state}, which does not allow ${verb}` })
  return applyAction(change, { resource, verb, action }, item, input)
}

/**
 *  (3) A problem reported by another item's handler has no place in the content of this call: it is
 *      reported for the content as a whole, with the name of the place.
 */
async function nameRefusals<T>(resource: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof Refused) || thrown.refusal.kind !== 'invalid') throw thrown
    return refuse({
      kind: 'invalid',
      problems: (thrown as Refused<{ kind: 'invalid'; problems: readonly FieldProblem[] }>).refusal.problems.map(each =>
        nameProblem(resource, each),
      ),
    })
  }
}

/** One line of the audit for each change, as for a call's own. */
async function recordDeed({ about, writer }: ItemChange, resource: string, item: Snapshot): Promise<void> {
  const { now, caller, operation, face, request } = about
  const { id, version } = item
  await writer.record({ at: now, subject: caller.subject ?? '', operation, resource, id, version, face, request })
}

/** The items that the caller may read; throws for a caller that may never read any. */
function restrictionOf({ operation, caller, now }: ContextFacts, resource: Resource): Query['within'] {
  const rows = readRestriction(readGrants(resource), caller, now)
  if (rows === 'all' || rows.length > 0) return rows
  throw new Error(
    `${operation} reads ${resource.name}, which this caller may never read: use ctx.items.all to read for the service`,
  )
}

/** Reads what the caller may read, and with `all` everything. */
export const createItemReaders = (
  about: ContextFacts,
  reach: StoreReach,
): ItemReader<Service> & { readonly all: ItemReader<Service> } => ({
  ...createItemReader(about, reach, restrictionOf),
  all: createItemReader(about, reach, () => 'all'),
})

function createItemReader(
  about: ContextFacts,
  reach: StoreReach,
  within: (about: ContextFacts, resource: Resource) => Query['within'],
): ItemReader<Service> {
  return {
    get: async (name: string, ...args: readonly unknown[]) => {
      const resource = requireResource(about, name)
      const id = resource.isSingle ? singleId : args[0]
      if (typeof id !== 'string')
        throw new Error(
          `${about.operation}: ctx.items.get('${name}') has the identifier ${String(id)}: give a text, and check first that the reference is set`,
        )
      const mine = within(about, resource)
      const value = (await reach.read(reader => findCurrent(reader, name, id)))?.value
      return value && isWithin(value, mine) ? value : undefined
    },
    file: async (name: string, ...args: readonly unknown[]) => {
      const [id, part] = withId<[id: string, part: string]>(about, name, args)
      const resource = requireResource(about, name)
      requireFilePart(about, resource, part)
      const mine = within(about, resource)
      const found = await reach.read(async reader => {
        const value = (await findCurrent(reader, name, id))?.value
        return value && isWithin(value, mine) ? reader.file(name, id, part) : undefined
      })
      return found && describeFile(found)
    },
    list: (name: string, where: Values = {}, { order = [] }: { readonly order?: readonly string[] } = {}) => {
      const resource = requireResource(about, name)
      if (resource.isSingle)
        throw new Error(`${about.operation}: ${name} is single and has no list: use ctx.items.get('${name}')`)
      const query = {
        filters: toFilters(about, resource, where),
        within: within(about, resource),
        sort: toSort(about, resource, order),
      }
      const place = `${about.operation}: ctx.items.list('${name}')`
      return createItemList(page => reach.read(reader => reader.list(name, page)), query, place, reach.beginPart)
    },
  } as ItemReader<Service> // as in `createItems`
}

function requireCount(place: string, count: number): void {
  if (!(Number.isInteger(count) && count > 0))
    throw new Error(`${place}: ${count} is not a number of items: give a whole number above 0`)
}

function createItemList(
  read: ReadPage,
  query: Pick<Query, 'filters' | 'within' | 'sort'>,
  place: string,
  beginPart: BeginPart | undefined,
): ItemList<Values> {
  return {
    async *[Symbol.asyncIterator]() {
      for await (const item of walkItems(read, query, { beginPart })) yield item.value
    },
    first: async limit => {
      requireCount(`${place}.first`, limit)
      const page = await read({ ...query, size: limit, counted: false })
      return { items: page.items.map(item => item.value), more: page.more.after }
    },
    async *pages(size) {
      requireCount(`${place}.pages`, size)
      let page: Values[] = []
      for await (const item of walkItems(read, query, { sizeMax: size, beginPart })) {
        page.push(item.value)
        if (page.length < size) continue
        yield page
        page = []
      }
      if (page.length > 0) yield page
    },
    count: async () => (await read({ ...query, sort: [], size: 1, counted: 'exact' })).total ?? 0,
  }
}

/** A name or a comparison that the contract does not have is a mistake, not an empty list. */
function toFilters({ operation }: ContextFacts, resource: Resource, where: Values): Filter[] {
  const { name, given } = resource
  const fail = (field: string, problem: string): never => {
    throw new Error(`${operation}: ctx.items.list('${name}'): ${field} ${problem}`)
  }
  return Object.entries(where).flatMap(([field, value]): Filter[] => {
    const filters = [...(given.filter ?? []), ...(resource.within === undefined ? [] : [resource.within])]
    if (!filters.includes(field))
      fail(field, `is not one of its filters: use ${filters.join(', ') || 'none, or declare filter'}`)
    if (value === undefined) fail(field, 'is undefined: leave it out, or give a value')
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [{ field, is: 'eq', value }]
    const found = findFilterField(resource, field)
    const allowed = comparisons.filter(each => found && allowsComparison(found, each))
    return Object.entries(value).map(([key, of]) => {
      const is =
        allowed.find(each => each === key) ?? fail(`${field}.${key}`, `is not a comparison: use ${allowed.join(', ')}`)
      if (of === undefined) fail(`${field}.${key}`, 'is undefined: leave it out, or give a value')
      if (is === 'absent' && typeof of !== 'boolean') fail(`${field}.${key}`, 'must be true or false')
      return { field, is, value: of }
    })
  })
}

function toSort({ operation }: ContextFacts, { name, given }: Resource, order: readonly string[]): Sort[] {
  return order.map(each => {
    const field = each.replace(/^-/, '')
    if (!given.sort?.some(known => known === field))
      throw new Error(
        `${operation}: ctx.items.list('${name}'): "${each}" is not an order: use ${given.sort?.join(', ') ?? 'none, or declare sort'}`,
      )
    return { field, descending: each.startsWith('-') }
  })
}
