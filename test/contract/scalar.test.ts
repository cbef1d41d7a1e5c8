/** XML Schema Part 2, by clause: accepted texts, flaws, and that written values are read back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/base/objects.ts'
import type { Fields, Scalar } from '../../src/contract/field.ts'
import { membersWriter, readFields } from '../../src/contract/field-json.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import { parseScaledDecimal, writeScaledDecimal } from '../../src/contract/lexical/decimal.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { checkScalar, readScalar, writeScalar } from '../../src/contract/lexical/scalar.ts'
import { readSettledScalar } from '../../src/contract/lexical/settled-text.ts'
import { parseInstant } from '../../src/contract/lexical/temporal.ts'
import { findReferences } from '../../src/contract/typed-value.ts'
import { t } from '../../src/index.ts'

type Case = readonly [title: string, field: { readonly shape: unknown }, text: string, value: unknown]
const flaw = (code: string) => ({ code })
const cases: readonly Case[] = [
  ['§3.2.2 boolean accepts 1', t.boolean(), ' 1 ', true],
  ['§3.2.2 boolean accepts false', t.boolean(), 'false', false],
  ['§3.2.2 boolean refuses yes', t.boolean(), 'yes', flaw('type')],
  ['§3.3.17 int collapses white space', t.int(), '\n 42\t', 42],
  ['§3.3.17 int ends at 2147483647', t.int(), '2147483648', flaw('maximum')],
  ['§3.3.17 int refuses a fraction', t.int(), '1.0', flaw('type')],
  ['§3.3.17 int accepts a plus', t.int(), '+7', 7],
  ['§3.3.24 unsignedByte starts at 0', t.int({ xsd: 'unsignedByte' }), '-1', flaw('minimum')],
  ['§3.3.16 long is exact', t.long(), '9223372036854775807', 9223372036854775807n],
  ['§3.3.16 long ends', t.long(), '9223372036854775808', flaw('maximum')],
  ['§3.3.13 integer is unbounded', t.long({ xsd: 'integer' }), '9223372036854775808', 9223372036854775808n],
  ['§3.2.3 decimal gets all its places', t.decimal(12, 2), '12.5', '12.50'],
  ['§3.2.3 decimal accepts leading and trailing zeros', t.decimal(4, 2), '0012.500', '12.50'],
  ['§3.2.3 decimal accepts .5', t.decimal(4, 2), '.5', '0.50'],
  ['§4.3.12 fractionDigits', t.decimal(4, 2), '1.234', flaw('type')],
  ['§4.3.11 totalDigits', t.decimal(4, 2), '100.00', flaw('totalDigits')],
  ['§3.2.3 decimal has no exponent', t.decimal(4, 2), '1e1', flaw('type')],
  ['a decimal from 0 has no sign', t.decimal(12, 2, { min: '0' }), '+1.00', flaw('pattern')],
  ['a decimal from 0 has no minus zero', t.decimal(12, 2, { min: '0' }), '-0.00', flaw('pattern')],
  ['§3.2.3 a decimal has a digit', t.decimal(4, 2), '.', flaw('type')],
  ['§3.2.5 double accepts INF', t.double(), '-INF', -Infinity],
  ['§3.2.5 double accepts NaN', t.double(), 'NaN', Number.NaN],
  ['§3.2.5 double refuses hexadecimal digits', t.double(), '0x10', flaw('type')],
  ['§4.3.7 a float at its maximum', t.double({ xsd: 'float', max: 0.1 }), '0.1', Math.fround(0.1)],
  ['§4.3.10 a float at its minimum', t.double({ xsd: 'float', min: 0.7 }), '0.7', Math.fround(0.7)],
  ['§4.3.7 a float above its maximum', t.double({ xsd: 'float', max: 0.1 }), '0.11', flaw('maximum')],
  ['§3.2.9 a date', t.date(), '2026-02-28', '2026-02-28'],
  ['§3.2.9 a day that does not exist', t.date(), '2026-02-29', flaw('type')],
  ['§3.2.9 a leap day', t.date({ zone: 'optional' }), '2028-02-29Z', '2028-02-29Z'],
  ['RFC 3339 §5.6 a date has no zone', t.date(), '2028-02-29Z', flaw('pattern')],
  ['RFC 3339 §5.6 a year has four digits', t.date(), '12028-02-29', flaw('pattern')],
  ['RFC 3339 §5.6 … and no sign', t.date(), '-0044-03-15', flaw('pattern')],
  ['§3.2.7.1 no year is 0000', t.date(), '0000-03-15', flaw('pattern')],
  ['§3.2.9 a zone that is asked for', t.date({ zone: 'required' }), '2028-02-29', flaw('pattern')],
  ['RFC 3339 §5.6 a dateTime has a zone', t.dateTime(), '2026-01-01T10:00:00', flaw('pattern')],
  ['RFC 3339 §5.6 a dateTime has no hour 24', t.dateTime(), '2026-01-01T24:00:00Z', flaw('pattern')],
  ['§3.2.7 a dateTime without a zone', t.dateTime({ zone: 'optional' }), '2026-01-01T10:00:00', '2026-01-01T10:00:00'],
  ['… with one, where it may have none', t.dateTime({ zone: 'prohibited' }), '2026-01-01T10:00:00Z', flaw('pattern')],
  ['§3.2.8 a time of day', t.time(), '09:30:00', '09:30:00'],
  ['§3.2.8 a time with its zone', t.time(), '09:30:00.5-01:00', '09:30:00.5-01:00'],
  ['… where it may have none', t.time({ zone: 'prohibited' }), '09:30:00-01:00', flaw('pattern')],
  ['§3.2.8 a time without its zone', t.time({ zone: 'required' }), '09:30:00', flaw('pattern')],
  ['§3.2.7 dateTime keeps its zone', t.dateTime(), '2026-01-01T10:00:00+05:30', '2026-01-01T10:00:00+05:30'],
  ['§3.2.7 dateTime has a T', t.dateTime(), '2026-01-01 10:00:00', flaw('type')],
  ['§3.2.7 hour 24 is only midnight', t.dateTime(), '2026-01-01T24:00:01Z', flaw('type')],
  ['§3.2.7 zones end at 14:00', t.dateTime(), '2026-01-01T10:00:00+14:01', flaw('type')],
  ['§3.2.6 duration', t.duration(), 'P1Y2M3DT4H5M6.7S', 'P1Y2M3DT4H5M6.7S'],
  ['§3.2.6 a duration has a part', t.duration(), 'PT', flaw('type')],
  ['§3.2.16 base64 with white space', t.bytes(), ' AQ\nID ', Uint8Array.of(1, 2, 3)],
  ['§3.2.16 base64 without its second digit', t.bytes(), 'A', flaw('type')],
  ['§3.2.15 hexBinary', t.bytes({ encoding: 'hex' }), '0aFF', Uint8Array.of(10, 255)],
  ['§3.3.2 token collapses', t.string({ xsd: 'token' }), ' a  b ', 'a b'],
  ['§3.3.1 normalizedString replaces', t.string({ xsd: 'normalizedString' }), 'a\tb', 'a b'],
  ['a string keeps its white space', t.string(), ' a ', ' a '],
  ['§4.3.1 length counts characters', t.string({ max: 1 }), '😀', '😀'],
  ['§4.3.3 maxLength', t.string({ max: 1 }), 'ab', flaw('maxLength')],
  ['§4.3.4 a pattern is anchored', t.string({ pattern: 'a|b' }), 'ab', flaw('pattern')],
  ['XML 1.0 §2.2 no NUL', t.string(), 'a\0', flaw('character')],
  ['XML 1.0 §2.2 no lone surrogate', t.string(), '\ud800', flaw('character')],
  ['an enum is compared with its case', t.enum('EUR'), 'eur', flaw('enum')],
  ['a reference is a path segment', t.ref('x'), 'a/b', flaw('type')],
  ['a reference is not a dot segment', t.ref('x'), '..', flaw('type')],
  ['a prototype’s name is a name', t.enum('a'), 'constructor', flaw('enum')],
]
const settled: readonly (readonly [title: string, field: { readonly shape: unknown }, text: string, value: unknown])[] =
  [
    ['a day without its zone', t.date(), ' 2028-02-29Z ', '2028-02-29'],
    ['… which may be any', t.date(), '2028-02-29-05:00', '2028-02-29'],
    ['… but no other text', t.date(), '2028-02-29+15:00', flaw('type')],
    ['a day that has to have a zone', t.date({ zone: 'required' }), '2028-02-29', flaw('pattern')],
    ['a moment without a zone in UTC', t.dateTime(), '2026-01-01T10:00:00 ', '2026-01-01T10:00:00Z'],
    ['a moment as it is', t.dateTime(), '2026-01-01T10:00:00+01:00', '2026-01-01T10:00:00+01:00'],
    ['a moment that must have no zone', t.dateTime({ zone: 'prohibited' }), '2026-01-01T10:00:00Z', flaw('pattern')],
    ['any zone where there is no rule', t.date({ zone: 'optional' }), '2028-02-29Z', '2028-02-29Z'],
  ]
for (const [title, { shape }, text, value] of settled)
  test(`§3.2.7, §3.2.9 messages and parameters give ${title}`, () => {
    const found = readSettledScalar(shape as Scalar, text)
    if (typeof value === 'object') assert.equal(found instanceof Flaw ? found.code : found, (value as Flaw).code)
    else assert.equal(found, value)
  })

for (const [title, { shape }, text, value] of cases)
  test(title, () => {
    const found = readScalar(shape as Scalar, text)
    if (typeof value === 'object' && value !== null && 'code' in value)
      assert.equal(found instanceof Flaw ? found.code : found, value.code)
    else assert.deepEqual(found, value)
  })

test('§2.3 written values are read back', () => {
  const shapes: readonly (readonly [Scalar, fc.Arbitrary<unknown>])[] = [
    [t.int().shape as Scalar, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
    [t.long().shape as Scalar, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    [t.double().shape as Scalar, fc.double()],
    [t.double({ xsd: 'float' }).shape as Scalar, fc.double().map(Math.fround)],
    [t.bytes().shape as Scalar, fc.uint8Array()],
    [t.bytes({ encoding: 'hex' }).shape as Scalar, fc.uint8Array()],
    [t.boolean().shape as Scalar, fc.boolean()],
  ]
  for (const [shape, values] of shapes)
    fc.assert(fc.property(values, value => assert.deepEqual(readScalar(shape, writeScalar(shape, value)), value)))
})

const floats = [
  ['0.005', '0.005'],
  ['0.004999999888241291', '0.005'],
  ['3.4028235e38', '3.4028235e+38'],
  ['1.401298464324817e-45', '1e-45'],
  ['16777217', '16777216'],
  ['-0', '-0'],
] as const
for (const [text, shortest] of floats)
  test(`§3.2.4 the float ${text} is written ${shortest}`, () => {
    const { shape } = t.double({ xsd: 'float' })
    assert.equal(writeScalar(shape as Scalar, readScalar(shape as Scalar, text)), shortest)
  })

const numbers: readonly (readonly [title: string, json: Json, expected: unknown])[] = [
  ['RFC 8259 §6 a string is not a number', '12', 'type'],
  ['RFC 8259 §6 … nor is INF with a blank', ' INF', 'type'],
  ['§3.2.5 INF is text, because JSON has no number for it', '-INF', -Infinity],
  ['§3.2.5 so is NaN', 'NaN', Number.NaN],
]
for (const [title, json, expected] of numbers)
  test(title, () => {
    const problems: FieldProblem[] = []
    const { it } = readFields({ it: t.double() }, { it: json }, problems)
    assert.deepEqual(problems[0]?.code ?? it, expected)
  })

test('A2.1 an inherited member of an object is not the value of a field', () => {
  const fields: Fields = { a: t.string(), constructor: t.ref('things').optional() }
  const write = membersWriter(fields)
  assert.equal(write({ a: 'b' }), '"a":"b"')
  assert.equal(write({ a: 'b', constructor: 'c' }), '"a":"b","constructor":"c"')
  assert.deepEqual(findReferences(fields, { a: 'b' }), [])
})

test('decimals are compared by their units', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), fc.integer({ min: 0, max: 6 }), (units, places) => {
      assert.equal(parseScaledDecimal(writeScaledDecimal(units, places), places), units)
    }),
  )
  assert.equal(checkScalar(t.decimal(12, 2).shape as Scalar, 12.5) instanceof Flaw, true, 'a decimal is not a number')
  assert.ok(parseInstant('2026-01-01T10:00:00+01:00') < parseInstant('2026-01-01T09:30:00Z'))
  const ordered = ['-0044-03-15', '-0044-03-16T00:00:00Z', '0001-01-01', '9999-12-31', '12026-01-01T00:00:00']
  const instants = ordered.map(parseInstant)
  assert.deepEqual(
    instants.toSorted((one, other) => one - other),
    instants,
    'years before 1, and after 9999',
  )
})

test('§3.3.2 a token has no space at its ends, and no two in a row, even after a line separator', () => {
  const token = t.string({ xsd: 'token' }).shape as Scalar
  assert.equal(checkScalar(token, 'a\u2028b'), 'a\u2028b')
  for (const value of ['a\u2028b ', 'a\u2028b  c', ' a']) assert.ok(checkScalar(token, value) instanceof Flaw, value)
})

test('§3.2.3 a decimal has the value of its digits in every form', () => {
  const digits = fc.integer({ min: 1, max: 18 })
  fc.assert(
    fc.property(digits, fc.nat(6), fc.bigInt(-(10n ** 19n), 10n ** 19n), fc.boolean(), (all, places, units, padded) => {
      fc.pre(places <= all)
      const canonical = decimalText(units, places)
      const given = padded ? canonical.replace(/^-?/, sign => `${sign}0`) : canonical
      const [low, high] = [-(10n ** BigInt(all)) / 3n, 10n ** BigInt(all) / 2n]
      const { shape } = t.decimal(all, places, { min: decimalText(low, places), max: decimalText(high, places) })
      const found = checkScalar(shape as Scalar, given)
      const fits = units >= low && units <= high
      assert.equal(
        found instanceof Flaw ? 'a flaw' : found,
        fits ? canonical.replace(/^-(0*(\.0*)?)$/, '$1') : 'a flaw',
      )
    }),
    { numRuns: 2000 },
  )
})

function decimalText(units: bigint, places: number): string {
  const magnitude = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  const point = magnitude.length - places
  return `${units < 0n ? '-' : ''}${magnitude.slice(0, point)}${places > 0 ? `.${magnitude.slice(point)}` : ''}`
}

test('§3.3.17 an int has the value of its digits in every form', () =>
  fc.assert(
    fc.property(
      fc.integer({ min: -(2 ** 33), max: 2 ** 33 }),
      fc.nat(20),
      fc.constantFrom('', '+'),
      (value, zeros, plus) => {
        const text = `${value < 0 ? '-' : plus}${'0'.repeat(zeros)}${Math.abs(value)}`
        const found = readScalar(t.int().shape as Scalar, text)
        if (Math.abs(value) < 2 ** 31) assert.equal(found, value)
        else assert.ok(found instanceof Flaw || value === -(2 ** 31))
      },
    ),
  ))
