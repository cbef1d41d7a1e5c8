/** Descriptions of resources that are nested in others: addresses, and elements of messages. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from '../service/nested-shop.ts'

const running = await startTestService(shop, app)
after(() => running.close())
const read = async (path: string): Promise<string> => (await running.fetchAs('cora')(running.address + path)).text()
const openapi = JSON.parse(await read('/openapi.json'))
const wsdl = await read('/soap/v2?wsdl')
const wsdl20 = await read('/soap/v2?wsdl2')
const oldWsdl = await read('/soap/v1?wsdl')

const namesAt = (path: string): string[] =>
  (openapi.paths[path]?.parameters ?? []).map((each: { name?: string; $ref?: string }) => each.name ?? each.$ref)

test('OpenAPI has an address with a parameter for each parent', () => {
  const id = '#/components/parameters/id'
  assert.deepEqual(namesAt('/api/v2/orders/{order}/notes'), ['order'])
  assert.deepEqual(namesAt('/api/v2/orders/{order}/notes/{id}'), ['order', id])
  assert.deepEqual(namesAt('/api/v2/orders/{order}/notes/{note}/replies/{id}'), ['order', 'note', id])
  assert.deepEqual(namesAt('/api/v1/orders/{purchase}/notes/{id}/scan'), ['purchase', id])
  assert.equal(openapi.paths['/api/v2/notes'], undefined)
  const { get, post, patch } = {
    ...openapi.paths['/api/v2/orders/{order}/notes'],
    patch: openapi.paths['/api/v2/orders/{order}/notes/{id}'].patch,
  }
  for (const operation of [get, post, patch]) assert.ok(operation.responses['404'], operation.operationId)
  assert.ok(get.responses['410'])
  const { links } = post.responses['201']
  assert.deepEqual(links.closing.parameters, { order: '$request.path.order', id: '$response.body#/id' })
  assert.equal(openapi.components.schemas['v2.NoteDraft'].properties.order.readOnly, true)
  const ids = Object.values(openapi.paths).flatMap(path =>
    Object.values(path as object).flatMap(each => each.operationId ?? []),
  )
  assert.equal(new Set(ids).size, ids.length)
})

test('messages that list or make items name the parent, in both WSDLs', () => {
  for (const text of [wsdl, wsdl20]) {
    for (const name of ['ListNotes', 'SearchNotes', 'CreateNote', 'ReplaceNote'])
      assert.match(partOf(text, name), /name="order" type="[a-z]+:Identifier"\/>/, name)
    for (const name of ['GetNote', 'DeleteNote', 'CloseNote'])
      assert.doesNotMatch(partOf(text, name), /name="order"/, name)
    assert.match(partOf(text, 'ListReplies'), /name="note" type/)
  }
  assert.match(partOf(oldWsdl, 'ListNotes'), /name="purchase" type/)
})

/** The declaration of an element, up to that of the next one at its depth. */
function partOf(text: string, name: string): string {
  const from = text.indexOf(`element name="${name}"`)
  assert.ok(from > 0, name)
  return text.slice(from, text.indexOf(`element name="${name}Response"`, from))
}
