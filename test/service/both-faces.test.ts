/** What one face stores, the other reads, finds and replaces, for random contracts and values. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AnyField, Field, type Fields, type Shape, t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { startTestService } from '../../src/testing/index.ts'
import { scalars } from '../describe/contracts.ts'
import { rowOf } from '../soap/values.ts'

/** Some are inherited by every object, so that a member that is absent seems to be there. */
const names = fc.constantFrom('name', 'class', 'order', 'b_c', 'constructor', 'toString', 'valueOf', 'hasOwnProperty')
const marks = fc.record({ isOptional: fc.boolean(), isNullable: fc.boolean() })

const markField = (
  shape: Shape,
  { isOptional, isNullable }: { isOptional: boolean; isNullable: boolean },
): AnyField => {
  const field: AnyField = isOptional ? new Field(shape).optional() : new Field(shape)
  return isNullable ? field.nullable() : field
}

const { fields: randomFields } = fc.letrec<{ shape: Shape; fields: Fields }>(tie => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalars.map(field => field.shape).filter(({ kind }) => kind !== 'id' && kind !== 'ref'),
    tie('shape').map((shape): Shape => ({ kind: 'list', item: new Field(shape) })),
    tie('shape').map((shape): Shape => t.map(new Field(shape)).shape),
    tie('fields').map((fields): Shape => ({ kind: 'object', fields })),
    fc
      .dictionary(fc.constantFrom('card', 'cash'), tie('fields'), { minKeys: 1 })
      .map((of): Shape => ({ kind: 'union', on: 'kind', of })),
  ),
  fields: fc
    .array(fc.tuple(names, tie('shape'), marks), { maxLength: 4 })
    .map(all => Object.fromEntries(all.map(([name, shape, marked]) => [name, markField(shape, marked)]))),
}))

type Item = { readonly id: string } & Readonly<Record<string, unknown>>
interface Query {
  readonly where?: object
  readonly sort?: readonly string[]
  readonly size?: number
}
/** What the clients of both faces have for the one resource of a random contract. */
interface Things {
  create(value: object): Promise<Item>
  get(id: string): Promise<Item>
  replace(item: Item, value: object): Promise<Item>
  list(query: Query): AsyncIterable<Item>
}

const isCompared = ({ shape }: AnyField): boolean => !['list', 'map', 'object', 'union', 'bytes'].includes(shape.kind)
/** A database stores NaN like a missing value, so a double has no filter for the latter. */
const hasAbsentFilter = ({ isOptional, isNullable, shape }: AnyField): boolean =>
  (isOptional || isNullable) && shape.kind !== 'double'

function describeThings(fields: Fields): Service {
  const compared = Object.keys(fields).filter(name => isCompared(fields[name]!))
  const all = [anyone]
  const things = resource('things', { fields: { id: t.id('x'), ...fields } }).rules({
    one: 'thing',
    filter: compared as never, // names of random fields
    sort: compared as never,
    allow: { read: all, create: all, change: all, remove: all },
  })
  return service('test', { namespace: 'urn:test', resources: [things] }) as unknown as Service // only names are narrower
}

/** In SOAP, the version is a member of an item. */
const membersOf = ({ version: _, ...value }: Item): Item => value as Item

async function requireOneMeaning(mine: Things, other: Things, value: object): Promise<Item> {
  const made = await mine.create(value)
  const item = membersOf(await mine.get(made.id))
  assert.deepEqual(item, { ...value, id: made.id })
  const found = await other.get(made.id)
  assert.deepEqual(membersOf(found), item)
  const { id: _, ...members } = item
  await other.replace(found, members)
  assert.deepEqual(membersOf(await mine.get(made.id)), item)
  return item
}

const listAll = async (things: Things, query: Query): Promise<readonly Item[]> =>
  (await Array.fromAsync(things.list(query))).map(membersOf)

const isWithEqual = { lt: false, lte: true, gt: false, gte: true, ne: false, eq: true } as const

async function requireFound(rest: Things, soap: Things, name: string, field: AnyField, item: Item): Promise<void> {
  const value = Object.hasOwn(item, name) ? item[name] : undefined
  const isListed = async (where: object) => (await listAll(rest, { where })).some(({ id }) => id === item.id)
  if (value === undefined || value === null)
    return assert.equal(hasAbsentFilter(field) && !(await isListed({ [name]: { absent: true } })), false)
  for (const [comparison, isExpected] of Object.entries(isWithEqual))
    assert.equal(await isListed({ [name]: { [comparison]: value } }), isExpected, `${name} ${comparison}`)
  const where = { [name]: value }
  assert.deepEqual(await listAll(soap, { where }), await listAll(rest, { where }))
}

test('what one face stores, the other reads, finds and replaces', async () => {
  const property = fc.asyncProperty(randomFields, fc.integer({ min: 1 }), async (fields, seed) => {
    const values = rowOf(fields)
    if (!values) return
    const contract = describeThings(fields)
    await using world = await startTestService(contract, implement(contract, {}, {}))
    const [rest, soap] = [world.rest(), world.soap()].map(each => (each as unknown as { things: Things }).things)
    assert.ok(rest && soap)
    const items: Item[] = []
    for (const value of fc.sample(values, { numRuns: 4, seed }))
      items.push(await (items.length % 2 ? requireOneMeaning(soap, rest, value) : requireOneMeaning(rest, soap, value)))
    for (const [name, field] of Object.entries(fields).filter(([, each]) => isCompared(each))) {
      for (const item of items) await requireFound(rest, soap, name, field, item)
      for (const sort of [name, `-${name}`]) {
        const pages = await listAll(rest, { sort: [sort], size: 3 })
        assert.deepEqual(pages.map(({ id }) => id).sort(), items.map(({ id }) => id).sort())
      }
    }
    assert.deepEqual(world.incidents, [])
  })
  await fc.assert(property, { numRuns: 30 })
})
