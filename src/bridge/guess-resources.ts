/**
 * Resources among the exchanges of a port, by what their names and messages say: `GetOrder`, which
 * sends one identifier and answers with an item, and `ListOrders`, which needs nothing and answers
 * with items of the same type, are the resource `orders`. A guess takes nothing away: its exchanges
 * stay where they are.
 */

import type { Port, PortExchange } from '../contract/exchange.ts'
import { type AnyField, type Fields, singularName, t } from '../contract/field.ts'
import { isScalarField } from '../contract/field-json.ts'
import { implement } from '../contract/implement.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import type { Grant } from '../contract/policy.ts'
import { resource as declareResource, type Resource } from '../contract/resource.ts'
import { findContractMistakes } from '../contract/review.ts'
import { type Service, service } from '../contract/service.ts'
import { listMembers } from '../contract/xml-members.ts'
import { isSimpleType, simpleCodecOf } from '../contract/xml-simple.ts'
import type { AnyMember, AnyRootElement, AnyXmlType, NamespaceForm } from '../contract/xml-type.ts'
import { contentOfMember, fieldsOfType } from './xml-fields.ts'

/** A resource whose reads are exchanges of a port. */
export interface BridgedResource {
  readonly resource: Resource
  readonly port: Port
  readonly get: {
    readonly exchange: string
    /** What is asked for an identifier; undefined for one that no item can have. */
    readonly inputOf: (id: string) => unknown
    /** The keys that lead from an answer to its item. */
    readonly path: readonly string[]
  }
  readonly list: {
    readonly exchange: string
    readonly input: unknown
    readonly path: readonly string[]
    /** The members of an answer that tell of its items. */
    readonly marks: readonly ListMark[]
  }
  /** The member of an item that identifies it. */
  readonly key: string
}

/** A member that tells how many items there are, or whether and where there are more. */
export interface ListMark {
  readonly path: readonly string[]
  readonly says: 'total' | 'more'
}

const readingName = /^(?:get|list|find|search|query|read|lookup|look_?up)(?=$|[A-Z_0-9])/
/** Only a word of its own counts: `Getaway` reads nothing. */
export const isReadByName = (name: string): boolean => readingName.test(lowerFirst(name))
const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** What can be read as a resource of these ports, for these callers. */
export function guessResources(ports: readonly Port[], allow: readonly Grant[]): readonly BridgedResource[] {
  const guesses = ports.flatMap(port => {
    const reads = Object.entries(port.exchanges).filter(([name, each]) => isReadByName(name) && !hasBlocks(each))
    const items = reads.flatMap(([name, each]) => readItemExchange(name, each) ?? [])
    const lists = reads.flatMap(([name, each]) => readListExchange(name, each) ?? [])
    return items.flatMap(item => {
      const list = lists.find(each => each.noun === item.noun && each.item === item.item)
      return list ? (joinReads(port, item, list, allow) ?? []) : []
    })
  })
  const taken = new Set(ports.map(each => each.port))
  return guesses.filter(({ resource: { name } }) => !taken.has(name) && taken.add(name))
}
/** Their content comes from the fields of a request, which a provider is not told. */
const hasBlocks = ({ requestHeaders }: PortExchange): boolean => Object.keys(requestHeaders).length > 0

interface ItemRead {
  readonly exchange: string
  readonly noun: string
  readonly item: AnyXmlType
  readonly form: NamespaceForm
  readonly path: readonly string[]
}

/** `GetOrder`, `getOrderById`: the noun in the singular, in words. */
const nounOf = (name: string): string =>
  singularName(
    lowerFirst(name)
      .replace(readingName, '')
      .replace(/^_?all(?=[A-Z_])/i, '')
      .replace(/_?By(?=[A-Z_]).*$|_by_.*$|_?List$/, '')
      .replace(/^_+/, '')
      .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
      .replace(/_+/g, '-')
      .toLowerCase(),
  )
function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`
}

const listTypeMembers = (type: AnyXmlType, form: NamespaceForm) =>
  type.definition.kind === 'complex' ? listMembers(type.definition, form) : []

function readItemExchange(exchange: string, { input, output }: PortExchange) {
  if (typeof input !== 'object' || typeof output !== 'object') return undefined
  const members = listTypeMembers(input.type(), input.form)
  // Some tools declare every member as one that may be absent: a single one is needed all the same.
  const [only, ...others] = members.length === 1 ? members : members.filter(({ member }) => isNeeded(member))
  if (!only || others.length > 0 || only.member.marks.isMany) return undefined
  const content = contentOfMember(only.member)
  if (!content || !isSimpleType(content.type)) return undefined
  const found = findItemType(output)
  return found && { exchange, noun: nounOf(exchange), ...found, asked: only.key, codec: simpleCodecOf(content.type) }
}

/** The element is the item, or has it as its one member. */
function findItemType(root: AnyRootElement): Pick<ItemRead, 'item' | 'form' | 'path'> | undefined {
  const type = root.type()
  const members = listTypeMembers(type, root.form)
  const [only] = members
  const inner = members.length === 1 && only && !only.member.marks.isMany ? contentOfMember(only.member) : undefined
  if (inner && only && inner.type.definition.kind === 'complex')
    return { item: inner.type, form: only.form, path: [only.key] }
  return members.length > 1 ? { item: type, form: root.form, path: [] } : undefined
}

function readListExchange(exchange: string, { input, output }: PortExchange) {
  if (typeof output !== 'object') return undefined
  if (typeof input === 'object' && listTypeMembers(input.type(), input.form).some(each => isNeeded(each.member)))
    return undefined
  if (typeof input === 'object' && input.type().definition.kind !== 'complex') return undefined
  const found = findListType(output.type(), output.form, [])
  return (
    found && { exchange, noun: nounOf(exchange), ...found, input: input === 'empty' ? undefined : emptyInput(input) }
  )
}
const isNeeded = ({ marks }: AnyMember): boolean => marks.min > 0
const emptyInput = (input: AnyRootElement): object =>
  Object.fromEntries(
    listTypeMembers(input.type(), input.form)
      .filter(({ member }) => member.marks.isMany)
      .map(({ key }) => [key, []]),
  )

/** The items that repeat, within one wrapper or two, and their marks. */
function findListType(
  type: AnyXmlType,
  form: NamespaceForm,
  path: readonly string[],
): (Pick<ItemRead, 'item' | 'path'> & { readonly marks: readonly ListMark[] }) | undefined {
  const members = listTypeMembers(type, form).map(each => ({ ...each, says: markOf(each) }))
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
/** By its name, in any spelling; only one simple value is a mark. */
function markOf({ key, member }: { readonly key: string; readonly member: AnyMember }): ListMark['says'] | undefined {
  const content = contentOfMember(member)
  if (!content || member.marks.isMany || !isSimpleType(content.type)) return undefined
  const bare = key.replace(/[_-]/g, '').toLowerCase()
  return markNames.find(([, pattern]) => pattern.test(bare))?.[0]
}

type ItemExchange = NonNullable<ReturnType<typeof readItemExchange>>
type ListExchange = NonNullable<ReturnType<typeof readListExchange>>

function joinReads(
  port: Port,
  item: ItemExchange,
  list: ListExchange,
  allow: readonly Grant[],
): BridgedResource | undefined {
  const fields = fieldsOfType(item.item, item.form)
  const key = fields && findKey(fields, item.asked, item.noun)
  if (!key || (key !== 'id' && Object.hasOwn(fields, 'id'))) return undefined
  const resource = describeReads(item.noun, fields, key, allow)
  if (!resource) return undefined
  const { asked, codec } = item
  const inputOf = (id: string): unknown => {
    const value = codec.read(id, { resolve: () => undefined })
    return value instanceof Flaw ? undefined : { ...emptyMany(port, item.exchange), [asked]: value }
  }
  return {
    resource,
    port,
    get: { exchange: item.exchange, inputOf, path: item.path },
    list: { exchange: list.exchange, input: list.input, path: list.path, marks: list.marks },
    key,
  }
}
function emptyMany(port: Port, exchange: string): object {
  const input = port.exchanges[exchange]?.input
  return typeof input === 'object' ? emptyInput(input) : {}
}

/** The member that is asked for: `id` of an order is its `orderId`, too. */
function findKey(fields: Fields, asked: string, noun: string): string | undefined {
  const bare = (name: string) => name.replace(/[_-]/g, '').toLowerCase()
  const one = bare(noun)
  const short = bare(asked).startsWith(one) ? bare(asked).slice(one.length) : bare(asked)
  const names = [bare(asked), short, `${one}${short}`]
  const key = Object.keys(fields).find(name => names.includes(bare(name)))
  return key !== undefined && isKeyField(fields[key]) ? key : undefined
}
const keyKinds = new Set(['string', 'int', 'long', 'enum'])
const isKeyField = (field: AnyField | undefined): boolean => field !== undefined && keyKinds.has(field.shape.kind)

/** Undefined where a contract cannot have such a resource. */
function describeReads(noun: string, typed: Fields, key: string, allow: readonly Grant[]): Resource | undefined {
  const { [key]: _, ...others } = typed
  const fields = key === 'id' ? others : typed
  const filter = Object.keys(fields).filter(name => {
    const field = fields[name] as AnyField // one of its names
    return isScalarField(field) && field.shape.kind !== 'bytes'
  })
  const draft = declareResource(pluralOf(noun), { fields: { id: t.id(noun.charAt(0) || 'i'), ...fields } })
  const made = draft.rules({
    one: noun,
    filter: filter as never,
    unserved: 'accept',
    allow: { read: allow },
    messages: [],
  }) as unknown as Resource // its fields are known at run time alone
  const contract = service('guess', { namespace: 'urn:guess', resources: [made] }) as unknown as Service
  const keep = { load: () => undefined, list: () => [], save: () => 'stale', remove: () => false }
  const mistakes = findContractMistakes(implement(contract, { [made.name]: { keep } } as never))
  return mistakes.length === 0 ? made : undefined
}
