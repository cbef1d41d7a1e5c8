/**
 * What is decided in two ways, a fast one for nearly every value and a slow one for all, is decided
 * alike.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Fields, t } from '../../src/contract/field.ts'
import { quoteJson } from '../../src/contract/field-json.ts'
import {
  checkAnyDecimal,
  compileDecimalCheck,
  parseCanonicalDecimal,
  parseScaledDecimal,
  writeScaledDecimal,
} from '../../src/contract/lexical/decimal.ts'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { parseAnyInteger, parseInteger } from '../../src/contract/lexical/number.ts'
import { isAnyDay, isDay } from '../../src/contract/lexical/temporal.ts'
import { compileStringCheck } from '../../src/contract/lexical/text.ts'
import type { ScalarOf } from '../../src/contract/shape.ts'
import { checkValue, findProblems, isSoundValue } from '../../src/contract/typed-value.ts'

/** Numbers, and what is nearly one. */
const numberLike = fc.oneof(
  fc.stringMatching(/^[+-]?[0-9]{0,20}(\.[0-9]{0,5})?$/),
  fc.stringMatching(/^[0-9]{1,12}\.[0-9]{2}$/),
  fc.integer().map(String),
  fc.string({ maxLength: 20 }),
)
const places = fc.integer({ min: 0, max: 5 })

test('§3.2.3 a decimal as it is kept has the same units by hand as by expression', () => {
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
test('§4.3 a decimal is held against its facets alike, as it is kept and in any form', () => {
  const text = fc.oneof(numberLike, fc.stringMatching(/^-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,5})?$/))
  fc.assert(
    fc.property(decimals, text, (shape, text) =>
      assert.deepEqual(compileDecimalCheck(shape)(text), checkAnyDecimal(shape, text)),
    ),
    { numRuns: 2000 },
  )
})

test('§3.3.13 a whole number is the same by hand as by expression', () => {
  fc.assert(fc.property(numberLike, text => assert.equal(parseInteger(text), parseAnyInteger(text))))
})

test('§3.2.9 a day exists by hand where it does by expression', () => {
  const days = fc.oneof(
    fc.stringMatching(/^-?[0-9]{3,6}-[0-3][0-9]-[0-4][0-9]Z?$/),
    fc.stringMatching(/^(19|20)[0-9]{2}-(02|0[1-9]|1[0-2])-(28|29|30|31)$/),
    fc.string({ maxLength: 12 }),
  )
  const tail = (text: string): boolean => text === '' || text === 'Z'
  fc.assert(
    fc.property(days, text => assert.equal(isDay(text, tail), isAnyDay(text, tail))),
    { numRuns: 1000 },
  )
})

test('§4.3.1 characters are counted only where UTF-16 units may differ from them', () => {
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

test('RFC 8259 §7 text without anything to escape is quoted as JSON.stringify quotes it', () => {
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
const values = record({
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
})

test('A2.1 a value is sound where nothing is found wrong with it', () => {
  const seen = { sound: 0, flawed: 0 }
  fc.assert(
    fc.property(values, value => {
      const isSound = isSoundValue(fields, value)
      seen[isSound ? 'sound' : 'flawed']++
      assert.equal(findProblems(fields, value, []).length === 0, isSound)
      assert.deepEqual(checkValue(fields, value), findProblems(fields, value, []))
    }),
    { numRuns: 1000 },
  )
  assert.ok(seen.sound > 50 && seen.flawed > 50, JSON.stringify(seen))
})

test('A2.1 members of a value that is known to be sound are not checked again, all others are', () => {
  fc.assert(
    fc.property(values, values, (sound, changed) => {
      fc.pre(isSoundValue(fields, sound))
      const value = { ...sound, name: changed['name'] }
      assert.equal(isSoundValue(fields, value, sound), findProblems(fields, value, []).length === 0)
    }),
    { numRuns: 300 },
  )
})
