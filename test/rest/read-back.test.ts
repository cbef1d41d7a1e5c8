/** What a format writes of random values, its reader takes back; and no two values look alike. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AnyField, type Fields, t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, resource, service } from '../../src/index.ts'
import { csvWriter } from '../../src/rest/formats/csv.ts'
import { startTestService } from '../../src/testing/index.ts'
import { describeThings, randomFields } from '../service/random-things.ts'
import { rowOf } from '../soap/values.ts'

const types = ['application/json', 'application/hal+json', 'application/xml', 'text/xml']

interface Things {
  create(value: object): Promise<{ readonly id: string }>
  get(id: string): Promise<{ readonly version: string }>
}

/** Reads an item in each format, and puts there what it has read. */
async function requireUnchanged(things: Things, ask: typeof fetch, id: string): Promise<void> {
  const { version: _, ...stored } = await things.get(id)
  const address = `http://service.test/api/things/${id}`
  for (const type of types) {
    const found = await ask(address, { headers: { accept: type } })
    const headers = { accept: type, 'content-type': type, 'if-match': found.headers.get('etag') ?? '' }
    const body = await found.text()
    const put = await ask(address, { method: 'PUT', headers, body })
    assert.deepEqual([put.status, await put.text()], [200, body], type)
    const { version: _, ...after } = await things.get(id)
    assert.deepEqual(after, stored, type)
  }
  const page = await ask(address, { headers: { accept: 'text/html' } })
  assert.equal(page.status, 200)
  assert.doesNotMatch(await page.text(), /native code/)
}

test('A1.6 what each format says of an item changes nothing when it is put there, for random contracts', async () => {
  const property = fc.asyncProperty(randomFields, fc.integer({ min: 1 }), async (fields, seed) => {
    const values = rowOf(fields)
    if (!values) return
    const contract = describeThings(fields)
    await using world = await startTestService(contract, implement(contract, {}, {}))
    const { things } = world.soap() as unknown as { things: Things }
    for (const value of fc.sample(values, { numRuns: 3, seed }))
      await requireUnchanged(things, world.fetchAs(), (await things.create(value)).id)
    assert.deepEqual(world.incidents, [])
  })
  await fc.assert(property, { numRuns: 30 })
})

/** One field, and a value that a format could lose. */
const fragile: readonly (readonly [title: string, field: AnyField, value: unknown])[] = [
  [
    'an attribute in a case of a union',
    t.union('kind', { card: { number: t.string().attribute(), x: t.int() } }),
    { kind: 'card', number: '4', x: 1 },
  ],
  ['null among objects, on a page', t.list(t.object({ x: t.int() }).nullable()), [null, { x: 1 }]],
  [
    'the absence of a member with an inherited name, on a page',
    t.list(t.object({ constructor: t.string().optional() })),
    [{}],
  ],
  ['a choice that ends with a blank', t.list(t.enum('a', 'b ')), ['b ', 'a']],
]
for (const [title, field, value] of fragile)
  test(`A1.6 ${title}`, async () => {
    const contract = describeThings({ name: field })
    await using world = await startTestService(contract, implement(contract, {}, {}))
    const { things } = world.soap() as unknown as { things: Things }
    const { id } = await things.create({ name: value })
    assert.deepEqual(Object.entries(await things.get(id)).find(([name]) => name === 'name')?.[1], value)
    await requireUnchanged(things, world.fetchAs(), id)
  })

const writeCells = (fields: Fields, value: object): string =>
  csvWriter
    .write({ name: 'row', title: 'Row', fields, value: value as Record<string, unknown>, links: [] }, plain, [])
    .replace(/^.*\r\n/, '')
const plain = { base: '', namespace: '', only: undefined }

test('RFC 4180 no two texts have the same cell, whichever look like formulas', () => {
  const characters = fc.constantFrom(...'\'=+-@\t\r\n",; a1\uff1d')
  const texts = fc.array(characters, { maxLength: 4 }).map(all => all.join(''))
  const fields = { text: t.string().optional(), other: t.string() }
  const cellOf = (text: string | undefined) => writeCells(fields, { ...(text !== undefined && { text }), other: 'o' })
  fc.assert(
    fc.property(fc.option(texts, { nil: undefined }), fc.option(texts, { nil: undefined }), (a, b) => {
      assert.equal(cellOf(a) === cellOf(b), a === b)
    }),
    {
      numRuns: 5000,
      examples: [
        ['=1', "'=1"],
        ['', undefined],
      ],
    },
  )
})

test('RFC 4180 an item without a value in the only column has a line of its own', async () => {
  const notes = resource('notes', { fields: { id: t.id('n'), text: t.string().optional() } }).rules({
    allow: { read: [anyone], create: [anyone] },
  })
  const contract = service('notes', { namespace: 'urn:n', resources: [notes] })
  await using world = await startTestService(contract, implement(contract, {}, {}))
  for (const text of ['a', undefined, '']) await world.rest().notes.create({ ...(text !== undefined && { text }) })
  const found = await world.fetchAs()('http://service.test/api/notes?fields=text', { headers: { accept: 'text/csv' } })
  assert.equal((await found.text()).match(/\r\n(?=.)/g)?.length, 3)
})
