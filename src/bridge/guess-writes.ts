/**
 * Finds the writes of a resource among the exchanges of its port: `CreatePart` and `UpdatePart`,
 * which send an item, and `DeletePart`, which sends its identifier. Members of an item that an
 * exchange cannot send are read-only; an exchange that needs more than an item has is left as it
 * is.
 */

import type { Port, PortExchange } from '../contract/exchange.ts'
import type { Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { simpleCodecOf } from '../contract/xml-simple.ts'
import type { AnyRootElement, AnyXmlType, NamespaceForm } from '../contract/xml-type.ts'
import { type CarriedMembers, carriedNothing, carryMembers, lacksNeeded, pickCarried } from './carried-members.ts'
import {
  type ExchangeVerb,
  emptyInputOf,
  findItemType,
  findKey,
  findOnlyNeeded,
  isNeeded,
  membersOfType,
  nounOf,
  simpleTypeOf,
  type TypeMember,
  takesBlocks,
  unspacedName,
  verbOf,
} from './exchange-members.ts'
import { contentOfMember } from './xml-fields.ts'

/** An exchange that changes an item, and which members it sends. */
export interface BridgedWrite extends CarriedMembers {
  readonly exchange: string
  /** The keys that lead from the message to the item. */
  readonly path: readonly string[]
  readonly inputOf: (item: Values) => unknown
}
export interface BridgedCreate extends BridgedWrite {
  /**
   * The keys that lead from an answer to the identifier of the new item; undefined: the identifier
   * that was sent.
   */
  readonly idPath: readonly string[] | undefined
}
export interface BridgedWrites {
  readonly create?: BridgedCreate
  readonly change?: BridgedWrite
  readonly remove?: BridgedWrite
  /** Fields that no exchange can set, and the version that the service counts. */
  readonly readOnly: readonly string[]
  /** Fields that the service fills in a new item, where its content leaves them out. */
  readonly filled: readonly string[]
  /** The version with which the service detects a changed item, where a change sends it. */
  readonly compared: string | undefined
}

/** The item of a resource, as found from its reads. */
export interface ItemOfReads {
  readonly noun: string
  readonly item: AnyXmlType
  readonly form: NamespaceForm
  readonly fields: Fields
  /** The field that identifies it; `id` is a text, whatever its type here. */
  readonly key: string
  /** The member with which the service detects that the item was changed. */
  readonly version: string | undefined
  /** Another name that messages use for the identifier, if a map gives one. */
  readonly identifierKey?: string
}

const versionName =
  /^(?:row|record|object)?(?:version(?:no|number|id)?|revision|etag|timestamp|concurrency(?:token|stamp))$/
/** A member with one simple value that is named like a version; a time may belong to anything. */
export const findVersion = (item: AnyXmlType, form: NamespaceForm): string | undefined =>
  membersOfType(item, form).find(({ key, member }) => {
    const type = simpleTypeOf(member)
    return type && versionName.test(unspacedName(key)) && !isTime(type)
  })?.key
const isTime = ({ definition }: AnyXmlType): boolean =>
  definition.kind === 'builtIn' && /^(?:dateTime|date|time)/.test(definition.name)

export function guessWrites(port: Port, read: ItemOfReads): BridgedWrites {
  const named = Object.entries(port.exchanges).filter(([name]) => nounOf(name) === read.noun)
  const find = <T>(verb: ExchangeVerb, of: (name: string, exchange: PortExchange) => T | undefined): T | undefined => {
    const found = named.filter(([name]) => verbOf(name) === verb).flatMap(([name, each]) => of(name, each) ?? [])
    return found.length === 1 ? found[0] : undefined // if there are two, it is unclear which one is meant
  }
  const create = find('create', (name, each) => readCreate(name, each, read))
  const found = find('change', (name, each) => readChange(name, each, read))
  const change = found && lacksCreatedMembers(found, create, read) ? undefined : found
  const remove = find('remove', (name, each) => readRemove(name, each, read))
  return joinWrites(read, { create, change, remove })
}

/** A change has to send what a new item needs; otherwise a changed item would be incomplete. */
export const lacksCreatedMembers = (
  change: BridgedWrite,
  create: BridgedWrite | undefined,
  read: ItemOfReads,
): boolean =>
  create !== undefined && lacksNeeded(change, { ...create, needed: create.needed.filter(name => name !== read.key) })

/** The writes found for a resource, at most one for each verb. */
export interface FoundWrites {
  readonly create: BridgedCreate | undefined
  readonly change: BridgedWrite | undefined
  readonly remove: BridgedWrite | undefined
}
export function joinWrites(read: ItemOfReads, { create, change, remove }: FoundWrites): BridgedWrites {
  const carried = [create, change].flatMap(each => (each ? [new Set(each.sent)] : []))
  const isSettable = (name: string) => carried.length > 0 && carried.every(sent => sent.has(name))
  const isChosen = create?.sent.includes(read.key) ?? false
  const { version } = read
  const isSent = (name: string) => [change, remove].some(each => each?.sent.includes(name))
  const compared = version !== undefined && isSent(version) ? version : undefined
  const isCounted = (name: string) => name === compared && !create?.needed.includes(name)
  const isReadOnly = (name: string) => (name === read.key ? !isChosen : !isSettable(name) || isCounted(name))
  const names = Object.keys(read.fields)
  return {
    ...(create && { create }),
    ...(change && { change }),
    ...(remove && { remove }),
    readOnly: names.filter(isReadOnly),
    filled: create ? names.filter(name => !create.needed.includes(name)) : [],
    compared,
  }
}

/** How a message carries an item. */
interface ItemInput extends CarriedMembers {
  /** The keys that lead to the item. */
  readonly path: readonly string[]
  /** The type of the identifier, if that is among them. */
  readonly id: AnyXmlType | undefined
  readonly write: (item: Values) => unknown
}

/** The message is the item, or contains it as the only member needed besides the identifier. */
function readItemInput(input: AnyRootElement, read: ItemOfReads): ItemInput | undefined {
  const members = membersOfType(input.type(), input.form)
  const whole = carryItem(input.type(), members, read)
  if (whole) return { ...whole, path: [] }
  const needed = members.filter(({ member }) => isNeeded(member))
  const beside = members.filter(each => namesItem(each, read) || isVersion(each, read))
  const others = needed.filter(each => !beside.includes(each))
  const [inner, ...more] = others.length > 0 ? others : members.filter(each => !beside.includes(each))
  const content = inner && !inner.member.marks.isMany ? contentOfMember(inner.member) : undefined
  if (!inner || !content || more.length > 0) return undefined
  const carried = carryItem(content.type, membersOfType(content.type, inner.form), read)
  if (!carried) return undefined
  const writeBeside = writeNames(beside, read)
  return {
    ...carried,
    sent: [...carried.sent, ...versionsIn(beside, read)],
    path: [inner.key],
    write: item => ({ ...emptyInputOf(input), ...writeBeside(item), [inner.key]: carried.write(item) }),
  }
}

/** A type whose needed members are all members of the item, with the same types. */
function carryItem(
  type: AnyXmlType,
  members: readonly TypeMember[],
  read: ItemOfReads,
): Omit<ItemInput, 'path'> | undefined {
  if (type.definition.kind !== 'complex') return undefined
  const carried = carryMembers(members, membersOfType(read.item, read.form))
  const foreign = members.filter(each => !carried.sent.includes(each.key))
  const hasContent = carried.sent.some(name => name !== read.key)
  if (!hasContent || foreign.some(({ member }) => isNeeded(member))) return undefined
  const id = members.find(each => each.key === read.key && carried.sent.includes(each.key))
  const asTyped = writeNames(id ? [id] : [], read)
  const repeated = Object.fromEntries(foreign.filter(({ member }) => member.marks.isMany).map(({ key }) => [key, []]))
  return {
    ...carried,
    id: id && simpleTypeOf(id.member),
    write: item => ({ ...repeated, ...pickCarried(carried, item), ...asTyped(item) }),
  }
}

/** A member with one simple value that is named like the identifier of the item. */
const namesItem = ({ key, member }: TypeMember, { fields, key: own, noun, identifierKey }: ItemOfReads): boolean =>
  simpleTypeOf(member) !== undefined && (key === identifierKey || findKey(fields, key, noun) === own)

/** Whether a member is the version of the item, as the item has it. */
const isVersion = (each: TypeMember, { version, item, form }: ItemOfReads): boolean =>
  each.key === version && carryMembers([each], membersOfType(item, form)).sent.length > 0
const versionsIn = (members: readonly TypeMember[], read: ItemOfReads): readonly string[] =>
  members.filter(each => isVersion(each, read)).map(each => each.key)

/** The version, and the identifier in the type of its member; what an item lacks is left out. */
function writeNames(members: readonly TypeMember[], read: ItemOfReads): (item: Values) => Values {
  const versions = versionsIn(members, read)
  const codecs = members.flatMap(each => {
    const type = versions.includes(each.key) ? undefined : simpleTypeOf(each.member)
    return type ? [[each.key, simpleCodecOf(type)] as const] : []
  })
  return item => {
    const id = item[read.key]
    const asText = id === undefined ? [] : codecs
    const names = asText.map(([name, codec]) => [name, codec.read(String(id), noPrefixes)])
    return { ...pickCarried({ ...carriedNothing, sent: versions }, item), ...Object.fromEntries(names) }
  }
}
const noPrefixes = { qname: () => undefined }

export function readCreate(exchange: string, each: PortExchange, read: ItemOfReads): BridgedCreate | undefined {
  const { input, output } = each
  if (typeof input !== 'object' || takesBlocks(each) || output === undefined) return undefined
  const carried = readItemInput(input, read)
  if (!carried) return undefined
  // Our `id` is a text of any form: the service chooses an identifier that has its own rules.
  const isChosen = read.key !== 'id' || isAnyText(carried.id)
  if (!isChosen && carried.needed.includes('id')) return undefined
  const isSent = carried.sent.includes(read.key) && isChosen && (read.key !== 'id' || carried.needed.includes('id'))
  const idPath = typeof output === 'object' ? findMadeId(output, read) : undefined
  if (!idPath && !isSent) return undefined
  const { path, needed, within } = carried
  const sentKeys = isSent ? carried.sent : carried.sent.filter(name => name !== read.key)
  const write = (item: Values) => carried.write(isSent ? item : omitMember(item, read.key))
  return { exchange, sent: sentKeys, needed, within, path, inputOf: write, idPath }
}
const isAnyText = (type: AnyXmlType | undefined): boolean =>
  type?.definition.kind === 'builtIn' && type.definition.name === 'string'
const omitMember = (item: Values, name: string): Values =>
  Object.fromEntries(Object.entries(item).filter(([each]) => each !== name))

/** The keys to the identifier, in the created item or as a separate value. */
function findMadeId(output: AnyRootElement, read: ItemOfReads): readonly string[] | undefined {
  const found = findItemType(output)
  if (found?.item === read.item) return [...found.path, read.key]
  const members = membersOfType(output.type(), output.form)
  const named = members.find(each => namesItem(each, read))
  if (named) return [named.key]
  const [only, ...others] = members
  return only && others.length === 0 && simpleTypeOf(only.member) ? [only.key] : undefined
}

export function readChange(exchange: string, each: PortExchange, read: ItemOfReads): BridgedWrite | undefined {
  if (typeof each.input !== 'object' || takesBlocks(each)) return undefined
  const carried = readItemInput(each.input, read)
  const isNamed = carried && (carried.sent.includes(read.key) || isNamedBeside(each.input, read))
  if (!isNamed) return undefined
  const { sent, needed, within, path, write } = carried
  return { exchange, sent, needed, within, path, inputOf: write }
}
const isNamedBeside = (input: AnyRootElement, read: ItemOfReads): boolean =>
  membersOfType(input.type(), input.form).some(each => namesItem(each, read))

export function readRemove(exchange: string, each: PortExchange, read: ItemOfReads): BridgedWrite | undefined {
  const { input } = each
  if (typeof input !== 'object' || takesBlocks(each)) return undefined
  const members = membersOfType(input.type(), input.form)
  const versions = members.filter(each => isVersion(each, read))
  const only = findOnlyNeeded(members.filter(each => !versions.includes(each)))
  if (!only || !namesItem(only, read)) return undefined
  const write = writeNames([only, ...versions], read)
  const sentKeys = versions.map(each => each.key)
  return {
    ...carriedNothing,
    exchange,
    sent: sentKeys,
    path: [],
    inputOf: item => ({ ...emptyInputOf(input), ...write(item) }),
  }
}

/** The writes by their names in the rules of a resource. */
export const listWrites = ({ create, change, remove }: BridgedWrites): Readonly<Record<string, BridgedWrite>> => ({
  ...(create && { create }),
  ...(change && { change }),
  ...(remove && { remove }),
})
