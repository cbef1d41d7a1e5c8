/** JSON Schema Core §10.2.1.1: every schema of allOf applies; §8.2: schemas may be named besides their places. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { writeJson } from '../../src/http/json.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { createDocumentFinder } from '../../src/import/document-files.ts'
import { readImportedService } from '../../src/import/openapi/imported-service.ts'
import { writeServiceTypescript } from '../../src/import/openapi/write-service.ts'

const parse = await loadAnyParser()
const base = {
  type: 'object',
  properties: {
    text: { type: 'string', minLength: 2, maxLength: 9 },
    size: { type: 'integer', minimum: 3, maximum: 90 },
    kind: { type: 'string', enum: ['a', 'b', 'c'] },
    place: { $ref: '#/components/schemas/Place' },
  },
}
const schemas = {
  Base: base,
  Place: { type: 'object', required: ['street'], properties: { street: { type: 'string' } } },
  'odd/~name%': { $anchor: 'odd', type: 'boolean' },
  Named: { $id: 'https://schemas.example/named', $defs: { inner: { type: 'integer', format: 'int32' } } },
}

/** The member `a` of an item with this schema, as TypeScript. */
function memberOf(schema: object, openapi = '3.1.0'): string {
  const given = { type: 'object', required: ['a'], properties: { id: { type: 'string' }, a: schema } }
  const content = { 'application/json': { schema: given } }
  const document = {
    openapi,
    info: { title: 'Tried' },
    paths: { '/api/v1/things/{id}': { get: { responses: { 200: { description: 'It.', content } } } } },
    components: { schemas },
  }
  const text = writeJson(document as unknown as Json)
  const service = readImportedService(text, 'test.json', { find: createDocumentFinder([]), parse })
  const code = writeServiceTypescript(service, 'test')
  const losses = service.losses
    .map(({ place, detail }) => `${place}: ${detail}`)
    .filter(each => / a\b|\.a\b/.test(each))
  const [, place = ''] = /^const place = (.*)$/m.exec(code) ?? []
  const [, member = ''] = /\n? *\ba: ((?:.|\n)*?),?\n? *\},?\n?\}\)\.rules/.exec(code) ?? []
  return [member.replace(/\s+/g, ' '), place, ...losses].join(' ').trim()
}
const extended = (properties: object, more: object = {}) => ({
  allOf: [{ $ref: '#/components/schemas/Base' }, { required: Object.keys(properties), properties, ...more }],
})

for (const [title, schema, found] of [
  ['a member that only describes another one', extended({ text: { description: 'Told.' } }), /text: t\.string\(\{ min: 2, max: 9 \}\)/],
  ['a member that narrows another one', extended({ text: { maxLength: 5 } }), /text: t\.string\(\{ min: 2, max: 5 \}\)/],
  ['a member that is wider than another one', extended({ text: { minLength: 1, maxLength: 99 } }), /text: t\.string\(\{ min: 2, max: 9 \}\)/],
  ['bounds of numbers', extended({ size: { minimum: 1, maximum: 50 } }), /size: t\.int\(\{ min: 3, max: 50 \}\)/],
  ['values that both list', extended({ kind: { enum: ['c', 'd', 'a'] } }), /kind: t\.enum\('a', 'c'\)/],
  ['a reference with a description', extended({ place: { description: 'Where.' } }), /place: Place/],
  ['bounds next to allOf', { type: 'integer', minimum: 7, maximum: 80, allOf: [{ minimum: 8 }, { maximum: 70 }] }, /t\.int\(\{ min: 8, max: 70 \}\)/],
] as const) // biome-ignore format: a row for each form
  test(`§10.2.1.1 ${title}`, () => assert.match(memberOf(schema), found))

for (const [title, schema, found, openapi] of [
  ['Validation §6.2.4, §6.2.5 both lower bounds', { type: 'integer', minimum: 10, exclusiveMinimum: 3, maximum: 99 }, /min: 10, max: 99/],
  ['Validation §6.2.2, §6.2.3 both upper bounds', { type: 'integer', minimum: 0, maximum: 9, exclusiveMaximum: 20 }, /min: 0, max: 9/],
  ['Validation §6.2.5 a fraction', { type: 'integer', minimum: 0.5, maximum: 9.5 }, /min: 1, max: 9/],
  ['OpenAPI 3.0 exclusiveMinimum is a boolean', { type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9 }, /min: 2, max: 9/, '3.0.3'],
  ['OpenAPI 3.0 a bound of a number that is not kept', { type: 'number', minimum: 1, exclusiveMinimum: true }, /exclusiveMinimum is not checked/, '3.0.3'],
  ['Validation §6.1.2 values of several types without a type', { enum: [1, 'x'] }, /a: may be any value/],
  ['Validation §6.1.2 null among values without a type', { enum: [null, 'x', 'y'] }, /t\.enum\('x', 'y'\)\.nullable\(\)/],
] as const) // biome-ignore format: a row for each form
  test(title, () => assert.match(memberOf(schema, openapi), found))

for (const [title, reference, found] of [
  ['RFC 6901 §6 a pointer in a fragment', '#/components/schemas/odd~1~0name%25', /t\.boolean\(\)/],
  ['RFC 6901 §6 a pointer whose escapes are percent-encoded', '#/components/schemas/odd%7E1%7E0name%25', /t\.boolean\(\)/],
  ['Core §8.2.2 $anchor', '#odd', /t\.boolean\(\)/],
  ['Core §8.2.1 $id, and a pointer below it', 'https://schemas.example/named#/$defs/inner', /t\.int\(\)/],
] as const) // biome-ignore format: a row for each form
  test(title, () => assert.match(memberOf({ $ref: reference }), found))

for (const [highest, written] of [
  ['9223372036854775807', 't.long({ min: 0n })'],
  ['18446744073709551615', "t.long({ xsd: 'unsignedLong' })"],
  ['99999999999999999999', "t.long({ xsd: 'integer', min: 0n, max: 99999999999999999999n })"],
  ['12', 't.int({ min: 0, max: 12 })'],
] as const)
  test(`YAML 1.2 §10.3.2 the bound ${highest} is exact`, () => {
    const text = `openapi: 3.1.0
info: {title: Tried, version: '1'}
paths:
  /api/v1/things/{id}:
    get:
      responses:
        200:
          description: It.
          content:
            application/json:
              schema: {type: object, required: [a], properties: {id: {type: string}, a: {type: integer, minimum: 0, maximum: ${highest}}}}
`
    const service = readImportedService(text, 'test.yaml', { find: createDocumentFinder([]), parse })
    assert.ok(
      writeServiceTypescript(service, 'test').includes(`a: ${written}`),
      writeServiceTypescript(service, 'test'),
    )
  })

for (const reference of ['#none', 'https://schemas.example/other#/$defs/inner'])
  test(`${reference} leads nowhere, and is reported`, () => assert.doesNotMatch(memberOf({ $ref: reference }), /^t\./))
