/**
 * Rules A9.3 and A9.4: sixty single changes of an OpenAPI document, each with what it does to the
 * callers that write what changed and to those that read it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import type { Json } from '../../src/base/objects.ts'
import { type AnyField, type Scalar, t } from '../../src/contract/field.ts'
import { scalarSchema } from '../../src/describe/json-schema.ts'
import { jsonPatchSchema } from '../../src/describe/openapi/openapi-components.ts'
import { compareServices, isBreaking, type ServiceDifference } from '../../src/diff/compare-services.ts'
import { readRestDescription } from '../../src/diff/read-openapi.ts'
import { DiffImpossible } from '../../src/diff/service-description.ts'
import { describeService } from '../../src/pages/openapi.ts'
import {
  changesOfOperations,
  changesOfTypes,
  integer,
  object,
  service,
  string,
  type Verdict,
} from './rest-change-table.ts'

const compare = (before: Json, after: Json): readonly ServiceDifference[] =>
  compareServices(readRestDescription(before, 'old'), readRestDescription(after, 'new'))
const only = (differences: readonly ServiceDifference[]): ServiceDifference => {
  assert.equal(differences.length, 1, JSON.stringify(differences, undefined, 1))
  return differences[0]!
}

describe('A9.3, A9.4 a type that is written and read', () => {
  for (const [title, before, after, writers, readers, place] of changesOfTypes)
    test(title, () => {
      const found = compare(service(before), service(after))
      if (place) assert.equal(only(found).place, place)
      const worst = (verdicts: readonly (Verdict | undefined)[]) =>
        verdicts.includes('breaking') ? 'breaking' : 'compatible'
      assert.equal(worst(found.map(each => each.writers)), writers)
      assert.equal(worst(found.map(each => each.readers)), readers)
      assert.equal(found.some(isBreaking), [writers, readers].includes('breaking'))
    })
})

describe('A9.3, A9.4 the zone of a date or time, in the form of our own descriptions', () => {
  const thing = (field: AnyField): Json => service(object({ a: scalarSchema(field.shape as Scalar) }))
  const required = t.dateTime()
  const optional = t.dateTime({ zone: 'optional' })
  const prohibited = t.dateTime({ zone: 'prohibited' })
  const rows: readonly (readonly [string, AnyField, AnyField, Verdict, Verdict])[] = [
    ['a zone may be left out', required, optional, 'compatible', 'breaking'],
    ['a zone has to be there', optional, required, 'breaking', 'compatible'],
    ['a zone must not be there', optional, prohibited, 'breaking', 'compatible'],
    ['a zone goes', required, prohibited, 'breaking', 'breaking'],
    ['a day may have a zone', t.date(), t.date({ zone: 'optional' }), 'compatible', 'breaking'],
    ['a day becomes a moment', t.date(), required, 'breaking', 'breaking'],
  ]
  for (const [title, before, after, writers, readers] of rows)
    test(title, () => {
      const found = compare(thing(before), thing(after))
      const { text, ...verdicts } = only(found)
      assert.deepEqual([verdicts.writers, verdicts.readers], [writers, readers], text)
    })
})

describe('A9.3, A9.4 an operation', () => {
  for (const [title, before, after, writers, readers] of changesOfOperations)
    test(title, () => {
      const found = only(compare(before, after))
      assert.deepEqual([found.writers, found.readers], [writers, readers], found.text)
      assert.equal(found.rule, isBreaking(found) ? 'A9.4' : 'A9.3')
      assert.equal(found.cure === '', !isBreaking(found), 'what breaks has a cure')
    })

  const withPath = (path: string, method = 'get'): Json => ({
    openapi: '3.0.3',
    paths: { [path]: { [method]: { responses: {} } } },
  })
  test('the name of a path parameter is not on the wire', () =>
    assert.deepEqual(compare(withPath('/a/{id}'), withPath('/a/{other}')), []))
  test('a changed path is one operation removed and one added', () => {
    const found = compare(withPath('/a'), withPath('/b'))
    assert.deepEqual(
      found.map(({ text, writers, readers }) => [text, writers, readers]),
      [
        ['operation removed', 'breaking', 'breaking'],
        ['operation added', 'compatible', 'compatible'],
      ],
    )
  })
  test('a removed method breaks its callers', () =>
    assert.equal(compare(withPath('/a'), withPath('/a', 'put')).filter(isBreaking).length, 1))
})

test('a member that may be null refers to its containing type: one change, where null is added', () => {
  const self = { $ref: '#/components/schemas/Thing' }
  const node = (next: Json): Json => object({ next })
  assert.deepEqual(
    compare(service(node({ anyOf: [self, { type: 'null' }] })), service(node({ anyOf: [self, { type: 'null' }] }))),
    [],
  )
  const found = only(compare(service(node(self)), service(node({ anyOf: [self, { type: 'null' }] }))))
  assert.deepEqual([found.place, found.text], ['Thing/next', 'null refused → allowed'])
})

test('a recursive type is compared once, and a change in it is reported once for all operations', () => {
  const node = (value: Json): Json => object({ value, next: { $ref: '#/components/schemas/Thing' } })
  const found = only(compare(service(node(string)), service(node(integer))))
  assert.deepEqual([found.place, found.operations], ['Thing/value', ['PUT /things/{}']])
})

test('a document has no difference from itself, whatever it contains', () => {
  for (const [, before, after] of [...changesOfTypes]) {
    assert.deepEqual(compare(service(before), service(before)), [])
    assert.deepEqual(compare(service(after), service(after)), [])
  }
})

test('A9.4 JSON Patch that our 3.1 only names is still taken, and what says nothing takes it no longer', () => {
  const merge = { 'application/merge-patch+json': { schema: { type: 'object' } } }
  const patches = { ...merge, 'application/json-patch+json': { schema: jsonPatchSchema } }
  const body = (requestBody: Json): Json => service(object({}), {}, { requestBody })
  const both = body({ required: true, content: patches })
  const named = body({ required: true, content: merge, description: 'Also as application/json-patch+json.' })
  assert.deepEqual([...compare(both, named), ...compare(named, both)], [])
  assert.equal(compare(both, body({ required: true, content: merge })).filter(isBreaking).length, 1)
})

test('A9.4 RFC 9457 §3.1.1 a description that is served and one of the contract have the same problem types', async () => {
  const inContract: Json = JSON.parse(await describeService(orders))
  for (const address of ['https://shop.example', 'https://shop.example/shop/', 'http://127.0.0.1:8080']) {
    const served: Json = JSON.parse(await describeService(orders, address))
    assert.deepEqual([...compare(served, inContract), ...compare(inContract, served)], [], address)
  }
})

for (const [title, document] of [
  ['OpenAPI 2.0', { swagger: '2.0' }],
  ['a list', []],
  ['null', null],
] as const)
  test(`${title} is not a description: an error says so`, () =>
    assert.throws(() => readRestDescription(document, 'x.json'), DiffImpossible))

test('references that are dead or circular count as any value', () => {
  const circle = { components: { schemas: { Thing: { $ref: '#/components/schemas/Thing' } } } }
  assert.deepEqual(compare(service({}, circle), service({ $ref: '#/nowhere' })), [])
})
