/**
 * What is decided in two ways, a fast one for nearly every value and a slow one for all, is decided
 * alike.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Json } from '../../src/base/objects.ts'
import { type AnyField, type Field, type Fields, t } from '../../src/contract/field.ts'
import { quoteJson, readFields, readOptions } from '../../src/contract/field-json.ts'
import type { FieldProblem } from '../../src/contract/given-fields.ts'
import {
  checkAnyDecimal,
  compileDecimalCheck,
  parseCanonicalDecimal,
  parseScaledDecimal,
  writeScaledDecimal,
} from '../../src/contract/lexical/decimal.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { parseAnyInteger, parseInteger } from '../../src/contract/lexical/number.ts'
import { isDay } from '../../src/contract/lexical/temporal.ts'
import { compileStringCheck } from '../../src/contract/lexical/text.ts'
import type { ScalarOf } from '../../src/contract/shape.ts'
import { checkValue } from '../../src/contract/typed-value.ts'
import { checkPlainly, readPlainly } from './plain-fields.ts'

/** Numbers, and what is nearly one. */
const numberLike = fc.oneof(
  fc.stringMatching(/^[+-]?[0-9]{0,20}(\.[0-9]{0,5})?$/),
  fc.stringMatching(/^[0-9]{1,12}\.[0-9]{2}$/),
  fc.integer().map(String),
  fc.string({ maxLength: 20 }),
)
const places = fc.integer({ min: 0, max: 5 })

test('§3.2.3 a stored decimal has the same units by the scanner as by the expression', () => {
  fc.assert(
    fc.property(numberLike, places, (text, places) => {
      const units = parseCanonicalDecimal(text, places)
      if (units !== undefined && Number.isSafeInteger(units))
        assert.equal(parseScaledDecimal(text, places), BigInt(units))
    }),
  )
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n - 1n }), places, (units, places) => {
      const text = writeScaledDecimal(units, places)
      if (text.length <= 16) assert.equal(parseCanonicalDecimal(text, places), Number(units))
    }),
  )
})

const bound = fc.option(fc.stringMatching(/^-?[0-9]{1,4}(\.[0-9])?$/), { nil: undefined })
const decimals = fc
  .record({ digits: fc.integer({ min: 1, max: 18 }), places, min: bound, max: bound })
  .map(({ digits, places, min, max }) => {
    const facets = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
    return t.decimal(digits, Math.min(digits, places), facets).shape as ScalarOf<'decimal'>
  })
test('§4.3 a decimal is checked against its facets alike, as stored and in any other form', () => {
  const text = fc.oneof(numberLike, fc.stringMatching(/^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,5})?$/))
  fc.assert(
    fc.property(decimals, text, (shape, text) =>
      assert.deepEqual(compileDecimalCheck(shape)(text), checkAnyDecimal(shape, text)),
    ),
    { numRuns: 2000 },
  )
})

test('§3.3.13 a whole number is the same by the scanner as by the expression', () => {
  fc.assert(fc.property(numberLike, text => assert.equal(parseInteger(text), parseAnyInteger(text))))
})

/** §3.2.7.1, §3.2.9; Date knows the days of each month. */
function isAnyDay(text: string): boolean {
  const [, year, month, day] = /^-?([1-9]\d{3,8}|0\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])Z?$/.exec(text) ?? []
  const last = new Date(0)
  last.setUTCFullYear(2000 + (Number(year) % 400), Number(month), 0)
  return year !== undefined && Number(day) <= last.getUTCDate()
}

test('§3.2.9 a day exists by the scanner if it does by the expression', () => {
  const days = fc.oneof(
    fc.stringMatching(/^-?[0-9]{3,6}-[0-3][0-9]-[0-4][0-9]Z?$/),
    fc.stringMatching(/^(19|20)[0-9]{2}-(02|0[1-9]|1[0-2])-(28|29|30|31)$/),
    fc.string({ maxLength: 12 }),
  )
  const tail = (text: string): boolean => text === '' || text === 'Z'
  fc.assert(
    fc.property(days, text => assert.equal(isDay(text, tail), isAnyDay(text))),
    { numRuns: 1000 },
  )
})

test('§4.3.1 characters are counted only where their number may differ from that of UTF-16 units', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 })
  fc.assert(
    fc.property(text, fc.nat(8), fc.nat(8), (text, min, max) => {
      const [least, most] = [Math.min(min, max), Math.max(min, max)]
      const shape = t.string({ min: least, max: most }).shape as ScalarOf<'string'>
      const found = compileStringCheck(shape)(text)
      const characters = [...text].length
      assert.equal(
        found instanceof Flaw ? found.code : '',
        characters < least ? 'minLength' : characters > most ? 'maxLength' : '',
      )
    }),
  )
})

test('RFC 8259 §7 text without characters to escape is quoted as JSON.stringify quotes it', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.stringMatching(/^[ -~]*$/))
  fc.assert(fc.property(text, text => assert.equal(quoteJson(text), JSON.stringify(text))))
})

const line: Fields = { product: t.ref('products'), price: t.decimal(6, 2), due: t.date().optional() }
const fields: Fields = {
  name: t.string({ max: 3 }),
  count: t.int({ min: 0 }).optional(),
  large: t.long().nullable(),
  ratio: t.double().optional().nullable(),
  lines: t.list(t.object(line), { min: 1, max: 2 }),
  tags: t.list(t.list(t.enum('a', 'b'))).optional(),
  payment: t.union('by', { card: { last: t.string({ pattern: '[0-9]{2}' }) }, cash: {} }),
  secret: t.bytes({ max: 2 }).internal().optional(),
  constructor: t.boolean().optional(),
}
const nothing = fc.constantFrom(undefined, null)
const junk = fc.oneof(
  nothing,
  fc.string({ maxLength: 4 }),
  fc.integer(),
  fc.constant([]),
  fc.constant({}),
  fc.boolean(),
)
/** Nearly always of its type. */
const mostly = (values: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: values, weight: 12 }, { arbitrary: junk, weight: 1 })
const record = (members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(members).map(([name, values]) => [name, mostly(values)])), {
    requiredKeys: Object.keys(members).filter(name => name !== 'due'),
  })
const likely: Record<string, fc.Arbitrary<unknown>> = {
  name: fc.constantFrom('', 'a', 'abc', '😀😀😀'),
  count: fc.oneof(fc.nat(), nothing),
  large: fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.constant(null)),
  ratio: fc.oneof(fc.double(), nothing),
  lines: fc.array(
    record({ product: fc.constant('p-1'), price: fc.constantFrom('1.00', '2.5'), due: fc.constant('2026-11-21') }),
    { maxLength: 3 },
  ),
  tags: fc.array(fc.array(fc.constantFrom('a', 'b'))),
  payment: fc.oneof(
    record({ by: fc.constant('card'), last: fc.constantFrom('12', '34') }),
    fc.constant({ by: 'cash' }),
    fc.constant({ by: 'stamps' }),
  ),
}
const plainValue = { name: 'a', large: 1n, lines: [{ product: 'p-1', price: '1.00' }], payment: { by: 'cash' } }

/** Fields of every kind of shape, some inside of others. */
const { shapes } = fc.letrec<{ shapes: Field<unknown>; members: Fields }>(tie => ({
  shapes: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom<Field<unknown>>(
      t.string({ max: 3 }),
      t.int({ min: 0 }),
      t.long(),
      t.double(),
      t.boolean(),
      t.decimal(4, 2),
      t.date(),
      t.enum('a', 'b'),
      t.ref('products'),
      t.bytes({ max: 2 }),
    ),
    fc
      .tuple(tie('shapes'), fc.nat(1), fc.integer({ min: 1, max: 3 }))
      .map(([item, min, max]) => t.list(item, { min, max })),
    fc
      .tuple(tie('shapes'), fc.boolean())
      .map(([value, isShort]) => t.map(value, { max: 2, ...(isShort && { key: t.string({ max: 2 }) }) })),
    tie('members').map(fields => t.object(fields)),
    fc.tuple(tie('members'), tie('members')).map(([card, cash]) => t.union('by', { card, cash })),
  ),
  members: fc.dictionary(
    fc.constantFrom('name', 'of', 'lines', 'toString', 'x'),
    fc
      .tuple(tie('shapes'), fc.subarray(['optional', 'nullable', 'readOnly', 'internal', 'default'] as const))
      .map(([field, marks]) =>
        marks.reduce((of: AnyField, mark) => (mark === 'default' ? of.default('a') : of[mark]()), field),
      ),
    { maxKeys: 4 },
  ),
}))
const randomFields = fc.dictionary(fc.constantFrom('name', 'of', 'by', 'constructor'), shapes, { maxKeys: 4 })

/** What a field may be given, and what not. */
const { given } = fc.letrec<{ given: unknown }>(tie => ({
  given: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom<unknown>('a', 'abcd', 'p-1', '1.00', '2026-11-21', 'INF', 'AAE=', 3, -1, 1.5, 7n, true, null, {}),
    fc.array(tie('given'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('name', 'of', 'by', 'lines', 'toString', 'x', 'long key'), tie('given'), {
      maxKeys: 4,
    }),
    fc.record({ by: fc.constantFrom('card', 'cash', 'stamps'), name: tie('given'), of: tie('given') }),
  ),
}))
const typed = fc.oneof(given, fc.constantFrom<unknown>(undefined, new Uint8Array(2), [undefined], Number.NaN))
const whole = (values: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc.dictionary(fc.constantFrom('name', 'of', 'by', 'constructor', '_links', 'else'), values, { maxKeys: 5 })

/** Of one shape and values that mostly suit it, or of any shape and any values. */
const pairs = (values: fc.Arbitrary<unknown>): fc.Arbitrary<[Fields, Record<string, unknown>]> =>
  fc.oneof(fc.tuple(fc.constant(fields), record(likely)), fc.tuple(randomFields, whole(values)))

/** That of a value: how many have none, and how many have some. */
function countSound() {
  const seen = { sound: 0, flawed: 0 }
  return { see: (problems: readonly unknown[]) => seen[problems.length === 0 ? 'sound' : 'flawed']++, seen }
}

test('A2.1 one visit reads content and finds the same mistakes as a walk for each', () => {
  const { see, seen } = countSound()
  fc.assert(
    fc.property(pairs(given), ([fields, json]) => {
      const [one, two] = [readOptions(new Set(['_links'])), readOptions(new Set(['_links']))]
      const [found, plain]: FieldProblem[][] = [[], []]
      const value = readFields(fields, json as Json, found ?? [], one)
      const expected = readPlainly(fields, json as Json, plain ?? [], two)
      assert.deepEqual(found, plain)
      assert.deepEqual(one.server, two.server)
      see(found ?? [])
      // A client reads on where a newer service has sent more.
      if (found?.every(({ code }) => code === 'unknown')) assert.deepEqual(value, expected)
    }),
    { numRuns: 4000 },
  )
  assert.ok(seen.sound > 50 && seen.flawed > 50, JSON.stringify(seen))
})

test('A2.1 the same visit finds all mistakes of a typed value, in order', () => {
  const { see, seen } = countSound()
  fc.assert(
    fc.property(pairs(typed), ([fields, value]) => {
      const found = checkValue(fields, value)
      see(found)
      assert.deepEqual(found, checkPlainly(fields, value, []))
    }),
    { numRuns: 4000 },
  )
  assert.ok(seen.sound > 50 && seen.flawed > 50, JSON.stringify(seen))
})

test('A2.1 content with more than a hundred problems gets the same list of them', () => {
  for (const json of [
    Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`unknown${i}`, i])),
    {
      lines: Array.from({ length: 150 }, () => ({ product: 1, more: 2 })),
      tags: [Array.from({ length: 99 }, () => 'c')],
    },
    { by: Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`k${i}`, 'a'])) },
  ]) {
    const [found, plain]: FieldProblem[][] = [[], []]
    const known = { ...fields, by: t.map(t.int(), { max: 3 }).optional() }
    readFields(known, json as Json, found ?? [])
    readPlainly(known, json as Json, plain ?? [])
    assert.ok((found?.length ?? 0) >= 100)
    assert.deepEqual(found, plain)
    assert.deepEqual(checkValue(known, json), checkPlainly(known, json, []))
  }
})

test('A2.1 members of a value that has been checked are not checked again, all others are', () => {
  fc.assert(
    fc.property(record(likely), record(likely), (sound, changed) => {
      fc.pre(checkValue(fields, sound).length === 0)
      const value = { ...sound, name: changed['name'] }
      assert.deepEqual(checkValue(fields, value, sound), checkPlainly(fields, value, []))
    }),
    { numRuns: 300 },
  )
  const wrong = { ...plainValue, count: -1 }
  assert.deepEqual([checkValue(fields, wrong).length, checkValue(fields, wrong, wrong).length], [1, 0])
})
