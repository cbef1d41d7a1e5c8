/**
 * Finds resources among the exchanges of a port, by their names and messages: `GetOrder`, which
 * sends one identifier and returns an item, and `ListOrders`, which needs nothing and returns items
 * of the same type, form the resource `orders`. A guess removes nothing: its exchanges remain
 * available.
 */

import { isDeepStrictEqual } from 'node:util'
import { mapMembers } from '../base/objects.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import { type AnyField, type Field, type Fields, t } from '../contract/field.ts'
import { isScalarField } from '../contract/field-json.ts'
import { implement, type Values } from '../contract/implement.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import type { Grant } from '../contract/policy.ts'
import { resource as declareResource, type Resource } from '../contract/resource.ts'
import { findContractMistakes } from '../contract/review.ts'
import { type Service, service } from '../contract/service.ts'
import { isSimpleType, simpleCodecOf } from '../contract/xml-simple.ts'
import type { AnyMember, AnyXmlType, NamespaceForm } from '../contract/xml-type.ts'
import { allowAbsence, markUnsent } from './carried-members.ts'
import {
  emptyInputOf,
  type FoundItem,
  findItemType,
  findKey,
  findOnlyNeeded,
  isNeeded,
  membersOfType,
  nounOf,
  simpleTypeOf,
  takesBlocks,
  unspacedName,
  verbOf,
} from './exchange-members.ts'
import { type BridgedWrites, findVersion, guessWrites, listWrites } from './guess-writes.ts'
import { contentOfMember, fieldsOfType } from './xml-fields.ts'

const noWrites: BridgedWrites = { readOnly: [], filled: [], compared: undefined }

/** A resource whose reads are exchanges of a port. */
export interface BridgedResource {
  readonly resource: Resource
  readonly port: Port
  readonly get: {
    readonly exchange: string
    /** The message for an identifier; undefined for an identifier that no item can have. */
    readonly inputOf: (id: string) => unknown
    /** The keys that lead from an answer to its item. */
    readonly path: readonly string[]
  }
  readonly list: {
    readonly exchange: string
    readonly input: unknown
    readonly path: readonly string[]
    /** The members of an answer that describe the list. */
    readonly marks: readonly ListMark[]
  }
  readonly writes: BridgedWrites
  /** The member of an item that identifies it. */
  readonly key: string
}

/** A member that says how many items there are, or whether and where there are more. */
export interface ListMark {
  readonly path: readonly string[]
  readonly says: 'total' | 'more'
}

/** The resources that can be read from these ports, for the callers of their exchanges. */
export function guessResources(ports: readonly Port[]): readonly BridgedResource[] {
  const guesses = ports.map(omitLater).flatMap(port => {
    const reads = Object.entries(port.exchanges).filter(([name, each]) => isRead(name, each) && !takesBlocks(each))
    const items = reads.flatMap(([name, each]) => readItemExchange(name, each) ?? [])
    const lists = reads.flatMap(([name, each]) => readListExchange(name, each) ?? [])
    return items.flatMap(item => {
      const list = lists.find(each => each.noun === item.noun && each.item === item.item)
      return list ? (joinReads(port, item, list) ?? []) : []
    })
  })
  const portNames = new Set(ports.map(each => each.port))
  return guesses.filter(({ resource: { name } }) => !portNames.has(name) && portNames.add(name))
}

/** Leaves out exchanges that are answered later, since a resource is read and changed at once. */
const omitLater = (port: Port): Port => ({
  ...port,
  exchanges: Object.fromEntries(Object.entries(port.exchanges).filter(([, { later }]) => later === undefined)),
})

interface ItemRead extends FoundItem {
  readonly exchange: string
  readonly noun: string
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`
}

export function readItemExchange(exchange: string, { input, output }: PortExchange) {
  if (typeof input !== 'object' || typeof output !== 'object') return undefined
  const only = findOnlyNeeded(membersOfType(input.type(), input.form))
  const identifierType = only && simpleTypeOf(only.member)
  if (!only || !identifierType) return undefined
  const found = findItemType(output)
  return (
    found && {
      exchange,
      noun: nounOf(exchange),
      ...found,
      identifierKey: only.key,
      codec: simpleCodecOf(identifierType),
    }
  )
}

export function readListExchange(exchange: string, { input, output }: PortExchange) {
  if (typeof output !== 'object') return undefined
  if (typeof input === 'object' && membersOfType(input.type(), input.form).some(each => isNeeded(each.member)))
    return undefined
  if (typeof input === 'object' && input.type().definition.kind !== 'complex') return undefined
  const found = findListType(output.type(), output.form, [])
  return found && { exchange, noun: nounOf(exchange), ...found, input: emptyInputOf(input) }
}
/** The repeating items, inside one or two wrappers, and their marks. */
function findListType(
  type: AnyXmlType,
  form: NamespaceForm,
  path: readonly string[],
): (Pick<ItemRead, 'item' | 'path'> & { readonly marks: readonly ListMark[] }) | undefined {
  const members = membersOfType(type, form).map(each => ({ ...each, says: markOf(each) }))
  const [only, ...others] = members.filter(each => !each.says)
  const content = only && contentOfMember(only.member)
  if (!content || others.length > 0 || path.length > 1) return undefined
  const marks = members.flatMap(({ key, says }) => (says ? [{ path: [...path, key], says }] : []))
  if (only.member.marks.isMany) return { item: content.type, path: [...path, only.key], marks }
  const inner = findListType(content.type, only.form, [...path, only.key])
  return inner && { ...inner, marks: [...marks, ...inner.marks] }
}

const markNames: readonly (readonly [ListMark['says'], RegExp])[] = [
  ['total', /^(?:total|count|(?:total|item|record|result|row|hit)s?count|total(?:items|records|results|rows|hits))$/],
  [
    'more',
    /^(?:(?:has|is)?more|hasnext|istruncated|next(?:page|token|pagetoken|cursor|link)?|continuation(?:token)?)$/,
  ],
]
/** Found by its name, in any spelling; only a single simple value can be a mark. */
function markOf({ key, member }: { readonly key: string; readonly member: AnyMember }): ListMark['says'] | undefined {
  const content = contentOfMember(member)
  if (!content || member.marks.isMany || !isSimpleType(content.type)) return undefined
  const bare = unspacedName(key)
  return markNames.find(([, pattern]) => pattern.test(bare))?.[0]
}

type ItemExchange = NonNullable<ReturnType<typeof readItemExchange>>
type ListExchange = NonNullable<ReturnType<typeof readListExchange>>

function joinReads(port: Port, item: ItemExchange, list: ListExchange): BridgedResource | undefined {
  const fields = fieldsOfType(item.item, item.form)
  const key = fields && findKey(fields, item.identifierKey, item.noun)
  if (!key || (key !== 'id' && Object.hasOwn(fields, 'id'))) return undefined
  const writes = guessWrites(port, { ...item, fields, key, version: findVersion(item.item, item.form) })
  const read = grantsOf(port, item.exchange)
  if (!isDeepStrictEqual(read, grantsOf(port, list.exchange))) return undefined
  const draft = { name: pluralOf(item.noun), noun: item.noun, fields, key, port, read }
  const whole = declareItems(draft, writes)
  const { resource } = whole.resource ? whole : declareItems(draft, noWrites)
  return resource && bindReads(port, item, list, { resource, writes: whole.resource ? writes : noWrites, key })
}
export const grantsOf = (port: Port, exchange: string): readonly Grant[] => port.exchanges[exchange]?.allow ?? []

/** The resource with the exchanges that read it. */
export function bindReads(
  port: Port,
  item: ItemExchange,
  list: ListExchange,
  declared: Pick<BridgedResource, 'resource' | 'writes' | 'key'>,
): BridgedResource {
  const { identifierKey, codec } = item
  const inputOf = (id: string): unknown => {
    const value = codec.read(id, { qname: () => undefined })
    return value instanceof Flaw
      ? undefined
      : { ...emptyInputOf(port.exchanges[item.exchange]?.input ?? 'empty'), [identifierKey]: value }
  }
  return {
    ...declared,
    port,
    get: { exchange: item.exchange, inputOf, path: item.path },
    list: { exchange: list.exchange, input: list.input, path: list.path, marks: list.marks },
  }
}
interface GivenItem {
  readonly name: string
  readonly noun: string
  readonly fields: Fields
  readonly key: string
  readonly port: Port
  readonly read: readonly Grant[]
}
const markFields = (fields: Fields, { readOnly, filled, create, change }: BridgedWrites): Fields =>
  Object.fromEntries(
    Object.entries(fields as Record<string, Field<unknown>>).map(([name, field]) => {
      const marked = readOnly.includes(name) ? field.readOnly() : markUnsent(field, name, create, change)
      return [name, filled.includes(name) ? allowAbsence(marked) : marked]
    }),
  )

/** `derive` sets nothing: the backend sets the read-only fields. */
export const emptyValues = (): Values => ({})

/** By the first word of its name, and because the port declares it safe. */
const isRead = (name: string, { isSafe }: PortExchange): boolean => isSafe && verbOf(name) === 'read'

/** The resource for a contract, or why there cannot be one. */
export function declareItems(
  { name, noun, fields: typed, key, port, read }: GivenItem,
  writes: BridgedWrites,
): { readonly resource?: Resource; readonly mistake?: string } {
  const { id: _, ...others } = typed
  const fields = markFields(key === 'id' ? others : typed, writes)
  const filter = Object.keys(fields).filter(name => {
    const field = fields[name] as AnyField // one of its names
    return isScalarField(field) && field.shape.kind !== 'bytes'
  })
  const draft = declareResource(name, { fields: { id: t.id(noun.charAt(0) || 'i'), ...fields } })
  const complete = draft.rules({
    one: noun,
    filter: filter as never,
    unserved: 'accept',
    allow: { read, ...mapMembers(listWrites(writes), ({ exchange }) => grantsOf(port, exchange)) } as never,
    messages: [],
  }) as unknown as Resource // its fields are known only at run time
  const contract = service('guess', { namespace: 'urn:guess', resources: [complete] }) as unknown as Service
  const keep = { isRemote: true, load: () => undefined, list: () => [], save: () => 'stale', remove: () => false }
  const mistakes = findContractMistakes(
    implement(contract, { [complete.name]: { keep, derive: emptyValues } } as never),
  )
  const [mistake] = mistakes
  return mistake === undefined ? { resource: complete } : { mistake }
}
