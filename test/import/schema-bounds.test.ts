/** Bounds of JSON Schema in the messages of exchanges: they take what the schema takes (docs/import.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { findMismatch } from '../../src/check/schema-judge.ts'
import { anyone } from '../../src/contract/policy.ts'
import { createXmlJsonCodec } from '../../src/contract/xml-json.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { Losses } from '../../src/import/loss.ts'
import { OpenApiDocument } from '../../src/import/openapi/openapi-document.ts'
import { readRestPort } from '../../src/import/openapi/rest-port.ts'

const parse = await loadAnyParser()
const find = () => undefined

function readMessage(schema: object, version = '3.1.0') {
  const content = { 'application/json': { schema: { type: 'object', required: ['it'], properties: { it: schema } } } }
  const text = JSON.stringify({
    openapi: version,
    info: { title: 'Bounds', version: '1' },
    paths: { '/run': { post: { operationId: 'run', requestBody: { content }, responses: { 204: {} } } } },
  })
  const { exchanges, losses } = readRestPort(text, 'api.json', [anyone], { find, parse })
  const root = exchanges.get('Run')?.input
  assert.ok(root)
  const codec = createXmlJsonCodec(root, () => undefined)
  const accepts = (value: Json): boolean => {
    const problems: never[] = []
    codec.read({ it: value }, problems)
    return problems.length === 0
  }
  const document = new OpenApiDocument(text, 'api.json', { find, parse, losses: new Losses() })
  const pattern = 'pattern' in schema ? new RegExp(String(schema.pattern), 'u') : undefined
  const judges = (value: Json): boolean =>
    findMismatch(document.root, schema as never, value) === undefined && (!pattern || pattern.test(String(value)))
  return { accepts, judges, losses }
}

const texts = ['', 'a', 'ab', 'abc', 'AB-123', 'xAB-123y', '😀', '😀😀', '2026', 'a b']
const whole = [-5n, -1n, 0n, 1n, 2n, 5n, 99n, 100n, 101n, 2147483647n].map(Number)
const numbers = [-1.5, 0, 0.5, 1, 1.5, 10, 1e21]
const lists: Json[] = [[], ['a'], ['a', 'b'], ['a', 'b', 'c']]
const rows: readonly (readonly [schema: object, values: readonly Json[], version?: string])[] = [
  [{ type: 'string', minLength: 2 }, texts],
  [{ type: 'string', maxLength: 2 }, texts],
  [{ type: 'string', minLength: 1, maxLength: 1 }, texts],
  [{ type: 'string', minLength: 0 }, texts],
  [{ type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' }, texts],
  [{ type: 'string', pattern: '[A-Z]{2}-[0-9]{3}' }, texts],
  [{ type: 'string', pattern: '^a|c$' }, texts],
  [{ type: 'string', pattern: 'x|^A[|(]?B|(c|d)$' }, texts],
  [{ type: 'string', pattern: '^(?:a(b|c)?)$' }, texts],
  [{ type: 'string', pattern: '^(?:ab)|(?:c)$' }, texts], // two groups, and two alternatives
  [{ type: 'string', pattern: '^\\d{4}$' }, texts],
  [{ type: 'string', pattern: 'a', maxLength: 2 }, texts],
  [{ type: 'integer', minimum: 1, maximum: 100 }, whole],
  [{ type: 'integer', exclusiveMinimum: 1, exclusiveMaximum: 100 }, whole],
  [{ type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 100, exclusiveMaximum: true }, whole, '3.0.3'],
  [{ type: 'integer', format: 'int32', minimum: -2147483648, maximum: 2147483647 }, whole],
  [{ type: 'integer', format: 'int64', minimum: 0 }, whole],
  [{ type: 'number', minimum: 0.5, maximum: 10 }, numbers],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 10 }, numbers],
  [{ type: 'number', minimum: 0, exclusiveMinimum: true }, numbers, '3.0.3'],
  [{ type: 'number', minimum: 1, exclusiveMinimum: 0 }, numbers],
  [{ type: 'number', maximum: 1, exclusiveMaximum: 10 }, numbers],
  [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 }, lists],
  [{ type: 'array', items: { type: 'string', maxLength: 1, minLength: 1 } }, [...lists, ['ab']]],
]
for (const [schema, values, version] of rows)
  test(`${JSON.stringify(schema)}${version === undefined ? '' : ` of ${version}`}`, () => {
    const { accepts, judges, losses } = readMessage(schema, version)
    const judged = values.map(each => [each, judges(each)] as const)
    assert.deepEqual(
      values.map(each => [each, accepts(each)]),
      judged,
    )
    assert.ok(judged.some(([, isValid]) => isValid))
    assert.deepEqual(losses, [])
  })

const unchecked: readonly (readonly [schema: object, what: RegExp])[] = [
  [{ type: 'string', pattern: '^(?=a)b$' }, /the pattern \^\(\?=a\)b\$ is not checked: XML Schema has no/],
  [{ type: 'string', pattern: '^[^@\\s]+$' }, /checked only in ASCII/],
  [{ type: 'integer', multipleOf: 5 }, /multipleOf is not checked/],
  [{ type: 'integer', enum: [1, 2] }, /its values are not checked/],
  [{ type: 'number', const: 1.5 }, /its values are not checked/],
  [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, /uniqueItems is not checked/],
]
for (const [schema, what] of unchecked)
  test(`a bound that a message cannot express is reported: ${JSON.stringify(schema)}`, () => {
    assert.match(
      readMessage(schema)
        .losses.map(each => `${each.place} ${each.detail}`)
        .join('\n'),
      what,
    )
  })

for (const schema of [
  { minLength: 1.5 },
  { maxLength: -1 },
  { minItems: 1.5, type: 'array', items: { type: 'string' } },
])
  test(`an invalid bound on the number of characters or items is ignored: ${JSON.stringify(schema)}`, () => {
    assert.ok(readMessage({ type: 'string', ...schema }).accepts('items' in schema ? [] : ''))
  })
