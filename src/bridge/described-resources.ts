/**
 * Resources that a map describes: which exchanges read, list and change their items. The exchanges
 * have to meet the same conditions as guessed ones; where one does not, an error names the place in
 * the map and the cure.
 */
import { isDeepStrictEqual } from 'node:util'
import { ownMember } from '../base/objects.ts'
import type { ResourceDescription } from '../contract/bridge-resources.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import { type Fields, singularName } from '../contract/field.ts'
import { isKeyField, membersOfType, simpleTypeOf, takesBlocks } from './exchange-members.ts'
import {
  type BridgedResource,
  bindReads,
  declareItems,
  grantsOf,
  readItemExchange,
  readListExchange,
} from './guess-resources.ts'
import {
  findVersion,
  type ItemOfReads,
  joinWrites,
  lacksCreatedMembers,
  readChange,
  readCreate,
  readRemove,
} from './guess-writes.ts'
import { fieldsOfType } from './xml-fields.ts'

type DescribedMember = keyof ResourceDescription
const exchangeSlots = ['get', 'list', 'create', 'update', 'remove'] as const
const slots: readonly string[] = [...exchangeSlots, 'id', 'version'] satisfies readonly DescribedMember[]

/**
 * The resources that a map serves, in its order.
 * @throws an error that names the place in `resources`, and the cure
 */
export function describeResources(
  ports: readonly Port[],
  described: Readonly<Record<string, unknown>>,
  guessed: readonly BridgedResource[],
): readonly BridgedResource[] {
  return Object.entries(described).map(([name, each]) => {
    const place = `resources.${name}`
    if (ports.some(({ port }) => port === name)) throw new Error(`${place} is the name of a port: give it another name`)
    if (each !== true) return describeOne(ports, name, requireDescription(place, each))
    const found = guessed.find(({ resource }) => resource.name === name)
    if (found) return found
    const all = guessed.map(({ resource }) => resource.name).join(', ')
    throw new Error(`${place} is not found by names (${all || 'none is'}): describe it, { get, list, id }`)
  })
}

function requireDescription(place: string, given: unknown): ResourceDescription {
  if (typeof given !== 'object' || given === null)
    throw new Error(`${place} must be true, or say which exchanges it has: { get, list, id }`)
  const unknown = Object.keys(given).find(key => !slots.includes(key))
  if (unknown !== undefined) throw new Error(`${place}.${unknown} is not known: use ${slots.join(', ')}`)
  for (const slot of slots) {
    const value = (given as Readonly<Record<string, unknown>>)[slot]
    const isNeeded = slot === 'get' || slot === 'list' || slot === 'id'
    if (typeof value !== 'string' && (isNeeded || value !== undefined))
      throw new Error(`${place}.${slot} must be a name${isNeeded ? '' : ', or be left out'}`)
  }
  return given as ResourceDescription // checked above
}

/** Throws an error that ends with the place in the map. */
type RefuseSlot = (slot: DescribedMember, why: string) => never

function describeOne(ports: readonly Port[], name: string, description: ResourceDescription): BridgedResource {
  const refuse: RefuseSlot = (slot, why) => {
    throw new Error(`resources.${name}.${slot}: ${description[slot]} ${why}`)
  }
  const port = findPort(ports, description, refuse)
  const of = (slot: (typeof exchangeSlots)[number]) => port.exchanges[description[slot] ?? ''] as PortExchange // `findPort`
  for (const slot of exchangeSlots)
    if (description[slot] !== undefined && takesBlocks(of(slot)))
      refuse(slot, 'has header blocks, which a resource does not send: leave it an action')
  for (const slot of ['get', 'list'] as const)
    if (!of(slot).isSafe) refuse(slot, 'does not say that it is safe: write safe: true in its exchange')
  const { item, list, fields } = readReads(description, of, refuse)
  const version = description.version ?? findVersion(item.item, item.form)
  const read: ItemOfReads = { ...item, noun: singularName(name), fields, key: description.id, version }
  const writes = joinWrites(read, readWrites(description, of, read, refuse))
  if (description.version !== undefined && writes.compared !== description.version)
    refuse('version', 'is not sent by update or remove: name a member that they send, or leave it out')
  const grants = grantsOf(port, description.get)
  if (!isDeepStrictEqual(grants, grantsOf(port, description.list)))
    refuse('list', `and ${description.get} are for different callers: give both the same allow`)
  const draft = { name, noun: read.noun, fields, key: description.id, port, read: grants }
  const { resource, mistake } = declareItems(draft, writes)
  if (!resource) throw new Error(`resources.${name}: ${mistake}`)
  return bindReads(port, item, list, { resource, writes, key: description.id })
}

function findPort(ports: readonly Port[], description: ResourceDescription, refuse: RefuseSlot): Port {
  const named = exchangeSlots.filter(slot => description[slot] !== undefined)
  const has = ({ exchanges }: Port, slot: DescribedMember) => Object.hasOwn(exchanges, description[slot] ?? '')
  const found = ports.find(port => named.every(slot => has(port, slot)))
  if (found) return found
  const [unknown] = named.filter(slot => !ports.some(port => has(port, slot)))
  const all = ports.flatMap(({ exchanges }) => Object.keys(exchanges)).join(', ')
  if (unknown) return refuse(unknown, `is not an exchange of the map: it has ${all}`)
  const [other = 'list'] = named.filter(slot => !ports.some(port => has(port, 'get') && has(port, slot)))
  return refuse(other, `and ${description.get} are of different ports: name exchanges of one port`)
}

type ExchangeOf = (slot: (typeof exchangeSlots)[number]) => PortExchange

function readReads({ get, list: listed, id, version }: ResourceDescription, of: ExchangeOf, refuse: RefuseSlot) {
  const item =
    readItemExchange(get, of('get')) ??
    refuse('get', 'must send one simple value and return an item, by itself or in one element')
  const fields: Fields =
    fieldsOfType(item.item, item.form) ??
    refuse('get', 'returns an item that no resource can have: one with a choice, a wildcard or derived types')
  if (!isKeyField(ownMember(fields, id)))
    refuse('id', `is not a member of the item that is text or a whole number: it has ${Object.keys(fields).join(', ')}`)
  if (id !== 'id' && Object.hasOwn(fields, 'id')) refuse('id', 'is not id, and the item has a member id: name that')
  const simple = membersOfType(item.item, item.form).filter(({ member }) => simpleTypeOf(member))
  if (version !== undefined && !simple.some(({ key }) => key === version))
    refuse('version', `is not a member of the item with one value: it has ${simple.map(({ key }) => key).join(', ')}`)
  const list =
    readListExchange(listed, of('list')) ??
    refuse('list', 'must require no input, and return items, in one element of their own or in two')
  if (list.item !== item.item) refuse('list', `returns items of a type other than that of ${get}`)
  return { item, list, fields }
}

function readWrites(description: ResourceDescription, of: ExchangeOf, read: ItemOfReads, refuse: RefuseSlot) {
  const create =
    description.create === undefined
      ? undefined
      : (readCreate(description.create, of('create'), read) ??
        refuse(
          'create',
          'must send an item or members of one, require nothing else, and return the identifier of the new item',
        ))
  const change =
    description.update === undefined
      ? undefined
      : (readChange(description.update, of('update'), read) ??
        refuse('update', 'must send an item or members of one, with its identifier, and require nothing else'))
  if (change && lacksCreatedMembers(change, create, read))
    refuse('update', `does not send all that ${description.create} needs: a changed item would be incomplete`)
  const remove =
    description.remove === undefined
      ? undefined
      : (readRemove(description.remove, of('remove'), read) ??
        refuse('remove', 'must send the identifier of an item, and require nothing else except its version'))
  return { create, change, remove }
}
