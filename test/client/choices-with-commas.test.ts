/** docs/rest.md, "in": values of a choice arrive as they are, whatever characters they have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const authors = resource('authors', {
  fields: {
    id: t.id('a'),
    name: t.string({ max: 40 }).describe('As on the cover.'),
    kind: t.enum('a,b', 'a', 'b\\').default('a'),
  },
}).rules({
  filter: ['name', 'kind'],
  sort: ['name'],
  bulk: true,
  allow: { read: [anyone], create: [anyone], bulk: [anyone], remove: [anyone] },
})
const books = service('books', { namespace: 'urn:test:books', resources: [authors] })
const names = ['', ',', '\\', '\\,', 'Lem', 'Lem, Stanisław', 'Stanisław', '\\\\', 'a\\b', 'x\\', ',,']

test('a list by several values finds exactly the items with one of them', async () => {
  await using started = await startTestService(books, implement(books, { authors: {} }))
  const { authors: api } = started.rest()
  for (const name of names) await api.create({ name })
  const find = async (choice: readonly string[]) => {
    const found = await Array.fromAsync(api.list({ where: { name: { in: [...choice] } }, size: 1 }))
    return found.map(({ name }) => name).toSorted()
  }
  for (const one of names) {
    assert.deepEqual(await find([one]), [one])
    for (const other of names) assert.deepEqual(await find([one, other]), [...new Set([one, other])].toSorted())
  }
  for (const kind of ['a,b', 'b\\'] as const) await api.create({ name: kind, kind })
  const kinds = await Array.fromAsync(api.list({ where: { kind: { in: ['a,b', 'b\\'] } } }))
  assert.deepEqual(kinds.map(({ kind }) => kind).toSorted(), ['a,b', 'b\\'])
})

test('a bulk removal by several values removes no item of a part of one', async () => {
  await using started = await startTestService(books, implement(books, { authors: {} }))
  const { authors: api } = started.rest()
  for (const name of names) await api.create({ name })
  await api.removeAll({ name: { in: ['Lem, Stanisław', 'nobody'] } })
  const left = await Array.fromAsync(api.list())
  assert.deepEqual(left.map(({ name }) => name).toSorted(), names.filter(name => name !== 'Lem, Stanisław').toSorted())
})

test('OpenAPI says how a value has a comma, next to what it says of the field', async () => {
  await using started = await startTestService(books, implement(books, { authors: {} }))
  const { components } = (await (await started.fetchAs()(`${started.address}/openapi.json`)).json()) as {
    readonly components: { readonly parameters: Readonly<Record<string, { name: string; description?: string }>> }
  }
  const found = Object.values(components.parameters).find(each => each.name === 'name[in]')
  assert.match(found?.description ?? '', /^As on the cover\. In a value, `\\,` is a comma/)
})
