/** What a client writes of a parameter in its style, a mock reads as the same value. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/objects.ts'
import { writeParameter } from '../../src/bridge/parameter-text.ts'
import { parseQuery, percentEncode } from '../../src/http/uri.ts'
import { loadAnyParser } from '../../src/import/description-text.ts'
import { Losses } from '../../src/import/loss.ts'
import { OpenApiDocument } from '../../src/import/openapi/openapi-document.ts'
import { readParameterStyle } from '../../src/import/openapi/parameter-style.ts'
import { readParameter } from '../../src/mock/read-parameter.ts'

const how = { find: () => undefined, losses: new Losses(), parse: await loadAnyParser() }
const document = new OpenApiDocument('{"openapi":"3.1.0"}', 'api.json', how)
const integer = { type: 'integer' }
const kinds: readonly (readonly [schema: JsonObject, value: Json])[] = [
  [integer, 7],
  [integer, 2n ** 63n - 1n],
  [{ type: 'number' }, 1.5],
  [{ type: 'array', items: integer }, [7, 8]],
  [
    { type: 'object', properties: { R: integer, G: { type: 'string' } } },
    { R: 7, G: 'x' },
  ],
]
const read = (parameter: object, text: string | undefined, place: string) =>
  readParameter(
    document,
    { name: 'color', in: place, ...parameter },
    place === 'query' ? { pairs: parseQuery(text?.slice(1) ?? '') ?? [] } : { text: text && decodeURIComponent(text) },
  )

const styles: Readonly<Record<string, readonly string[]>> = {
  path: ['matrix', 'label', 'simple'],
  header: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
}
for (const [place, names] of Object.entries(styles))
  for (const style of names)
    for (const explode of style === 'deepObject' ? [true] : [false, true])
      test(`OpenAPI §4.8.12.3 ${style} of the ${place}, explode ${explode}`, () => {
        for (const [schema, value] of kinds) {
          if (style === 'deepObject' && schema['type'] !== 'object') continue
          const parameter = { in: place, style, explode, schema }
          const written = writeParameter('color', value, readParameterStyle(parameter), percentEncode)
          const text = place === 'query' ? `?${written}` : written
          assert.deepEqual(read(parameter, text, place), value, `${written}`)
        }
      })

const absent: readonly (readonly [what: string, place: string, parameter: object, text: string | undefined])[] = [
  ['a path of another style', 'path', { style: 'matrix', schema: integer }, '7'],
  ['a path of another name', 'path', { style: 'matrix', schema: integer }, ';size=7'],
  ['a path without its dot', 'path', { style: 'label', schema: integer }, '7'],
  ['a deep object of another name', 'query', { style: 'deepObject', explode: true, schema: kinds[3]?.[0] }, '?size[R]=1'],
  ['members of others', 'query', { schema: kinds[3]?.[0] }, '?X=1'],
  ['a missing header', 'header', { schema: integer }, undefined],
] // biome-ignore format: a table
for (const [what, place, parameter, text] of absent)
  test(`${what} is not a value`, () => assert.equal(read(parameter, text, place), undefined))

test('OpenAPI §4.8.12.2.2 content is JSON, and other content is a text that its schema checks', () => {
  const parameter = { content: { 'application/json': { schema: kinds[3]?.[0] } } }
  assert.deepEqual(read(parameter, '?color=%7B%22R%22%3A1%7D', 'query'), { R: 1 })
  assert.equal(read(parameter, '?color=R', 'query'), 'R')
})
