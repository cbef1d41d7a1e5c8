/** What one face stores, the other reads, finds and replaces, for random contracts and values. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { AnyField } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { startTestService } from '../../src/testing/index.ts'
import { rowOf } from '../soap/values.ts'
import { describeThings, isCompared, randomFields } from './random-things.ts'

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

/** A database stores NaN like a missing value, so a double has no filter for the latter. */
const hasAbsentFilter = ({ isOptional, isNullable, shape }: AnyField): boolean =>
  (isOptional || isNullable) && shape.kind !== 'double'

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
  if (value === undefined || value === null || Number.isNaN(value))
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
