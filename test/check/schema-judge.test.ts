/** Answers are judged by the schema that the description publishes (JSON Schema 2020-12). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { findMismatch } from '../../src/check/schema-judge.ts'
import { makeSample } from '../../src/check/schema-sample.ts'
import { digestValue } from '../../src/diff/value-space.ts'
import { checkSmall, createNotes, describeNotes, listVerdicts } from './small-services.ts'

const document: Json = {
  components: {
    schemas: {
      Tree: { type: 'object', properties: { left: { $ref: '#/components/schemas/Tree' } }, required: ['name'] },
      Loop: { $ref: '#/components/schemas/Loop' },
    },
  },
}
const tree = { $ref: '#/components/schemas/Tree' }

it('a type or a format that every object inherits is unknown, and allows any value', () => {
  for (const name of ['constructor', '__proto__', 'toString']) {
    assert.equal(findMismatch({}, { type: name, format: name }, 'a'), undefined, name)
    assert.equal(makeSample({}, { type: 'string', format: name }), 'probe', name)
    assert.equal(digestValue(name, ' a'), ' a', name)
  }
})

/** The clause, the schema, what it allows, and what it does not, with what is said. */
const cases: readonly (readonly [clause: string, schema: Json, allowed: Json, refused: Json, says: RegExp])[] = [
  ['Validation §6.1.1 type', { type: 'string' }, 'a', 1, /^the content is 1: the schema says string$/],
  ['Validation §6.1.1 types', { type: ['string', 'null'] }, null, 1, /string or null/],
  ['Validation §6.1.1 integer', { type: 'integer' }, 2.0, 2.5, /integer/],
  ['OpenAPI 3.0 nullable', { type: 'string', nullable: true }, null, 1, /string/],
  ['Validation §6.1.2 enum', { enum: ['a', { b: 1 }] }, { b: 1 }, 'c', /one of \["a",\{"b":1\}\]/],
  ['Validation §6.1.3 const', { const: 'a' }, 'a', 'b', /says "a"/],
  ['Core §4.2.2 const −0', { const: 0 }, -0, 1, /says 0/],
  ['Core §4.2.2 enum −0', { enum: [[0], { a: -0 }] }, { a: 0 }, { a: 1 }, /one of/],
  ['Validation §6.2.1 multipleOf', { multipleOf: 0.01 }, 19.99, 19.999, /has multipleOf 0.01/],
  ['Validation §6.2.2 maximum', { maximum: 3 }, 3, 4, /has maximum 3/],
  ['Validation §6.2.5 exclusiveMinimum', { exclusiveMinimum: 3 }, 4, 3, /has exclusiveMinimum 3/],
  ['Validation §6.3.1 maxLength counts characters', { maxLength: 1 }, '😀', 'ab', /has maxLength 1/],
  ['Validation §6.4.2 minItems', { minItems: 1 }, [1], [], /has minItems 1/],
  ['Validation §6.4.3 uniqueItems', { uniqueItems: true }, [1, '1'], ['a', 'b', 'a'], /says that items differ/],
  ['Validation §6.5.1 maxProperties', { maxProperties: 1 }, { a: 1, _links: {} }, { a: 1, b: 1 }, /maxProperties 1/],
  ['Core §10.3.2.4 propertyNames', { propertyNames: { maxLength: 2 } }, { de: 1 }, { deu: 1 }, /"deu": .*maxLength 2/],
  ['Validation §6.5.3 required', { required: ['a'] }, { a: 1 }, {}, /requires a$/],
  [
    'OpenAPI 3.1 writeOnly',
    { properties: { a: { writeOnly: true } }, required: ['a', 'b'] },
    { b: 1 },
    {},
    /requires b/,
  ],
  ['Validation §7.3.1 date', { format: 'date' }, '2026-02-01', 'today', /says date$/],
  ['Validation §7.3.1 date-time', { format: 'date-time' }, '2026-02-01T00:00:00Z', '2026-02-01', /says date-time$/],
  ['Validation §7.3.5 uuid', { format: 'uuid' }, '00000000-0000-4000-8000-000000000000', '7', /says uuid$/],
  ['Core §10.2.1.1 allOf', { allOf: [{ type: 'string' }, { maxLength: 1 }] }, 'a', 'ab', /maxLength/],
  ['Core §10.2.1.2 anyOf', { anyOf: [{ type: 'string' }, { type: 'null' }] }, null, 1, /string/],
  ['Core §10.3.1.2 items', { items: { type: 'string' } }, ['a'], ['a', 1], /^\/1 is 1/],
  ['Core §10.3.1.1 prefixItems', { prefixItems: [{ type: 'string' }] }, ['a', 1], [1], /^\/0 is 1/],
  ['Core §10.3.2.1 properties', { properties: { 'a/b': { type: 'string' } } }, { c: 1 }, { 'a/b': 1 }, /^\/a~1b is 1/],
  [
    'Core §10.3.2.3 additionalProperties',
    { additionalProperties: false },
    {},
    { a: 1 },
    /^\/a is 1: nothing is allowed/,
  ],
  [
    'Core §8.2.3.1 $ref',
    tree,
    { name: '', left: { name: '' } },
    { name: '', left: {} },
    /^\/left is \{\}: .*requires name/,
  ],
]

describe('a response is judged by its schema', () => {
  for (const [clause, schema, allowed, refused, says] of cases)
    it(clause, () => {
      assert.equal(findMismatch(document, schema, allowed), undefined)
      assert.match(findMismatch(document, schema, refused) ?? '', says)
    })

  it('a schema that refers only to itself and an unknown keyword allow everything', () => {
    for (const schema of [{ $ref: '#/components/schemas/Loop' }, { $ref: '#/nowhere' }, { unheardOf: 1 }])
      assert.equal(findMismatch(document, schema, { a: 1 }), undefined)
  })
})

describe('A2.1 judges all responses of the run', () => {
  const judge = async (title: Json) => {
    const notes = createNotes({ known: ['1'] })
    const report = await checkSmall(
      asked => {
        const answer = notes(asked)
        return /^\/notes\/1$/.test(asked.path) ? { ...answer, json: { ...(answer.json as object), title } } : answer
      },
      ['A2.1', 'A4.6'],
      { openapi: describeNotes({ properties: { id: {}, title: { type: 'string' } } }) as unknown as NonNullable<Json> },
    )
    return listVerdicts(report).filter(each => each.startsWith('A2.1'))
  }
  it('a member of another type fails, and the report names the operation', async () => {
    assert.deepEqual(await judge('fine'), ['A2.1 pass'])
    const [verdict = ''] = await judge(7)
    assert.match(verdict, /^A2\.1 fail: 200 of GET \/notes\/\{id\} is .*: \/title is 7: the schema says string$/)
  })
})
