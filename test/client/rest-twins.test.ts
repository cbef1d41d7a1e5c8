/** Small versions, for pages, of parts of the service: each agrees with the service's own. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseExactJson } from '../../src/client/rest/exact-json.ts'
import { expandLink, type LinkValues } from '../../src/client/rest/hal-links.ts'
import { parseJson } from '../../src/http/json.ts'
import { expandTemplate } from '../../src/http/uri-template.ts'

describe('RFC 6570: the forms of templates that a service writes', () => {
  const cases: readonly (readonly [template: string, values: LinkValues])[] = [
    ['/orders/{id}', { id: 'o-1' }],
    ['/orders/{id}', { id: 'a/b c?' }],
    ['/orders/{id}', {}],
    ['/a{?q,state,size}', { q: 'tea & cake', state: undefined, size: 20 }],
    ['/a{?q,state}', {}],
    ['/a{?q}', { q: '' }],
    ['/a?x=1{&q,y}', { q: 'ü', y: 'é' }],
    ['/a/{x,y}', { x: '1', y: '2' }],
  ]
  for (const [template, values] of cases)
    test(`${template} ${JSON.stringify(values)}`, () => {
      assert.equal(expandLink(template, values), expandTemplate(template, values))
    })
  for (const template of ['/a{/id}', '/a{#id}', '/a{id*}', '/a{', '/a}'])
    test(`${template} is left to a reader that knows it`, () =>
      assert.equal(expandLink(template, { id: '1' }), undefined))
})

describe('RFC 8259: whole numbers keep their digits', () => {
  const texts = [
    '9007199254740991',
    '9007199254740993',
    '-9223372036854775808',
    '[18446744073709551616, 1.5, 1e3, 12345678901234567890.5]',
    '{"a":"12345678901234567890","b":[{"c":12345678901234567890}]}',
    '"\\u00e4"',
    'null',
  ]
  for (const text of texts) test(text, () => assert.deepEqual(parseExactJson(text), parseJson(text).value))
  test('{"a": is not JSON', () => assert.equal(parseExactJson('{"a":'), undefined))
})
