/**
 * Rule B9.2: single changes of a WSDL, each with what it does to the callers that write what
 * changed and to those that read it. Clients made from a WSDL are strict: an element that their
 * schema does not have ends the call.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compareServices, isBreaking, type ServiceDifference } from '../../src/diff/compare-services.ts'
import { readSoapDescription } from '../../src/diff/read-soap.ts'
import { DiffImpossible } from '../../src/diff/service-description.ts'
import {
  a,
  changesOfOperations,
  changesOfTypes,
  plain,
  type Shape,
  simple,
  thing,
  type Verdict,
  writeWsdl,
  xs,
} from './soap-change-table.ts'

const compare = (before: Shape, after: Shape): readonly ServiceDifference[] =>
  compareServices(
    readSoapDescription(writeWsdl(before), 'old', () => undefined),
    readSoapDescription(writeWsdl(after), 'new', () => undefined),
  )

describe('B9.2 a type that is written and read', () => {
  for (const [title, before, after, writers, readers] of changesOfTypes)
    test(title, () => {
      const found = compare(before, after)
      const worst = (verdicts: readonly (Verdict | undefined)[]) =>
        verdicts.includes('breaking') ? 'breaking' : 'compatible'
      assert.ok(found.length > 0)
      assert.equal(worst(found.map(each => each.writers)), writers, JSON.stringify(found))
      assert.equal(worst(found.map(each => each.readers)), readers, JSON.stringify(found))
      assert.ok(found.every(({ face, rule }) => face === 'soap' && rule === 'B9.2'))
    })
})

describe('B9.2 an operation', () => {
  for (const [title, before, after, breaks] of changesOfOperations)
    test(`${title}: ${breaks ? 'breaking' : 'compatible'}`, () => {
      const found = compare(before, after)
      assert.ok(found.length > 0)
      assert.equal(found.some(isBreaking), breaks, JSON.stringify(found))
    })
})

test('a document has no difference from itself, and names of types are not on the wire', () => {
  for (const [, before, after] of changesOfTypes) {
    assert.deepEqual(compare(before, before), [])
    assert.deepEqual(compare(after, after), [])
  }
  const renamed = { ...plain, schema: plain.schema.replace('"Thing"', '"Other"') }
  const text = writeWsdl(renamed).replaceAll('t:Thing', 't:Other')
  const [old, now] = [writeWsdl(plain), text].map(each => readSoapDescription(each, 'x', () => undefined))
  assert.ok(old && now)
  assert.deepEqual(compareServices(old, now), [])
})

const numbers = (...all: string[]): Shape =>
  simple(all.map(each => `<xs:enumeration value="${each}"/>`).join(''), 'xs:decimal')
const oneValue = (type: string, value: string): Shape => simple(`<xs:enumeration value="${value}"/>`, type)
const attributeOf = (type: string, value: string): Shape =>
  thing('', `<xs:attribute name="a" type="${type}" default="${value}"/>`)
const sameValues: readonly (readonly [title: string, before: Shape, after: Shape])[] = [
  [
    'an exclusive bound of whole numbers',
    simple('<xs:maxExclusive value="10"/>', 'xs:int'),
    simple('<xs:maxInclusive value="9"/>', 'xs:int'),
  ],
  [
    'an int, and an integer with its bounds',
    a('xs:int'),
    simple('<xs:minInclusive value="-2147483648"/><xs:maxInclusive value="2147483647"/>', 'xs:integer'),
  ],
  ['numbers in another spelling', numbers('1.0', '0.50', '-0'), numbers('1', '+.5', '0.0')],
  ...(
    [
      ['xs:dateTime', '2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.0Z'],
      ['xs:dateTime', '2025-12-31T24:00:00', '2026-01-01T00:00:00'],
      ['xs:time', '12:00:00+00:00', '12:00:00Z'],
      ['xs:date', '2026-01-01Z', '2026-01-01-00:00'],
      ['xs:duration', 'P1Y1DT60S', 'P12MT24H1M'],
      ['xs:duration', '-PT0S', 'P0Y'],
      ['xs:double', '1.0E1', '10'],
      ['xs:double', 'INF', ' INF '],
      ['xs:boolean', '1', 'true'],
      ['xs:hexBinary', 'ab', 'AB'],
      ['xs:base64Binary', 'AAAA AAAA', 'AAAAAAAA'],
      ['xs:token', ' a  b ', 'a b'],
    ] as const
  ).flatMap(([type, one, other]): (readonly [string, Shape, Shape])[] => [
    [`${one} and ${other} as ${type}`, oneValue(type, one), oneValue(type, other)],
    [`the defaults ${one} and ${other} as ${type}`, attributeOf(type, one), attributeOf(type, other)],
  ]),
  [
    'a bound in another spelling',
    simple('<xs:maxInclusive value="1.50"/>', 'xs:decimal'),
    simple('<xs:maxInclusive value="1.5"/>', 'xs:decimal'),
  ],
]
for (const [title, before, after] of sameValues)
  test(`Part 2 §2.2 other spellings of a value are not a difference: ${title}`, () => {
    assert.deepEqual(compare(before, after), [])
    assert.deepEqual(compare(after, before), [])
  })

test('the elements of a schema without a WSDL are compared', () => {
  const schema = (type: string) =>
    `<xs:schema xmlns:xs="${xs}" targetNamespace="urn:x"><xs:element name="a" type="${type}"/></xs:schema>`
  const [old, now] = ['xs:int', 'xs:long'].map(each => readSoapDescription(schema(each), each, () => undefined))
  assert.ok(old && now)
  const [found, ...more] = compareServices(old, now)
  assert.deepEqual([found?.place, found?.text, more], ['element {urn:x}a content', 'xs:int → xs:long', []])
})

test('a file that is not a description ends in an error that names it', () =>
  assert.throws(() => readSoapDescription('<a', 'x.wsdl', () => undefined), DiffImpossible))
