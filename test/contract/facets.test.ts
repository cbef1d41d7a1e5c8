/** XML Schema Part 2 §4.3: facets are of values, and patterns of texts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Flaw } from '../../src/contract/lexical/flaw.ts'
import { compileXsdMatcher } from '../../src/contract/lexical/xsd-pattern.ts'
import { clarkNames, equalsText, simpleCodecOf } from '../../src/contract/xml-simple.ts'
import { type AnyXmlType, type SchemaFacets, x } from '../../src/contract/xml-type.ts'

const isValid = (type: AnyXmlType, facets: SchemaFacets, text: string): boolean =>
  !(simpleCodecOf(x.simple(type, facets)).read(text, clarkNames) instanceof Flaw)

/** Of one type, from the first to the last; what stands in one string, with a space, is one value. */
const rising: readonly (readonly [AnyXmlType, readonly string[]])[] = [
  [x.date, ['-0044-03-15', '0001-01-01', '2024-02-29', '2024-03-01', '2026-01-01', '12026-01-01']],
  [x.date, ['2026-01-01+14:00', '2025-12-31-11:00', '2026-01-01Z 2026-01-01+00:00', '2026-01-01-14:00']],
  [x.dateTime, ['-0001-12-31T23:59:59Z', '2026-01-01T00:00:00Z 2026-01-01T01:00:00.0+01:00 2025-12-31T24:00:00Z', '2026-01-01T00:00:00.0001Z']],
  [x.dateTime, ['2026-01-01T00:00:00', '2026-01-02T00:00:00 2026-01-01T24:00:00.000', '2026-01-02T00:00:00.000000000001']],
  [x.time, ['00:00:00 24:00:00', '11:59:59.999', '12:00:00 12:00:00.00', '23:59:59']],
  [x.time, ['12:00:00+14:00', '12:00:00Z 13:00:00+01:00 10:30:00-01:30', '12:00:00-00:01']],
  [x.gYear, ['-12026', '-0001', '0999', '2026', '12026', '123456789012']],
  [x.gYearMonth, ['2025-12', '2026-01', '2026-10']],
  [x.gMonth, ['--01', '--02', '--12']],
  [x.gMonthDay, ['--01-31', '--02-29', '--03-01', '--12-31']],
  [x.gDay, ['---01', '---15', '---31']],
  [x.duration, ['-P1Y', '-PT1S', 'P0D PT0S', 'PT0.000001S', 'PT1M PT60S', 'P1D PT24H PT1440M', 'P27D', 'P1M', 'P32D', 'P1Y P12M', 'P1Y1D', 'P368D']],
  [x.double, ['-INF', '-1', '0 -0 0e5', '1 1.0 10e-1', 'INF']],
  [x.decimal, ['-12345678901234567890.5', '-0.10 -.1', '0 -0 0.0', '1 01.00', '1.5']],
] // biome-ignore format: a table

for (const [type, values] of rising) {
  const name = type.definition.kind === 'builtIn' ? type.definition.name : ''
  test(`§4.3.5, §4.3.7–§4.3.10 values of ${name} from ${values[0]} on have their order`, () => {
    const texts = values.flatMap((each, order) => each.split(' ').map(text => [text, order] as const))
    for (const [bound, at] of texts)
      for (const [text, order] of texts) {
        assert.equal(isValid(type, { minInclusive: bound }, text), order >= at, `${text} >= ${bound}`)
        assert.equal(isValid(type, { minExclusive: bound }, text), order > at, `${text} > ${bound}`)
        assert.equal(isValid(type, { maxInclusive: bound }, text), order <= at, `${text} <= ${bound}`)
        assert.equal(isValid(type, { maxExclusive: bound }, text), order < at, `${text} < ${bound}`)
        assert.equal(isValid(type, { values: [bound] }, text), order === at, `${text} = ${bound}`)
        const codec = simpleCodecOf(type)
        assert.equal(equalsText(codec, codec.read(text, clarkNames), bound, clarkNames), order === at, 'fixed')
      }
  })
}

const bounds: readonly (readonly [why: string, AnyXmlType, SchemaFacets, text: string, valid: boolean])[] = [
  ['§3.2.7.4 14 hours around a moment, one without a zone has no order', x.dateTime, { minInclusive: '2026-01-01T00:00:00Z' }, '2026-01-01T14:00:00', false],
  ['§3.2.7.4 … and behind them it has', x.dateTime, { minInclusive: '2026-01-01T00:00:00Z' }, '2026-01-01T14:00:01', true],
  ['§3.2.7.4 … nor one with a zone around one without', x.dateTime, { maxInclusive: '2026-01-01T00:00:00' }, '2025-12-31T20:00:00Z', false],
  ['§3.2.7.4 … and ahead of them it has', x.dateTime, { maxInclusive: '2026-01-01T00:00:00' }, '2025-12-31T09:59:59Z', true],
  ['§3.2.7.4 a value with a zone is none without', x.time, { values: ['12:00:00'] }, '12:00:00Z', false],
  ['§3.2.6.2 a month has no order with 30 days', x.duration, { minInclusive: 'P30D' }, 'P1M', false],
  ['§3.2.6.2 … and is none of them', x.duration, { values: ['P30D'] }, 'P1M', false],
  ['§3.2.11 a year of eighteen digits is one', x.gYear, { minInclusive: '2026' }, '9'.repeat(18), true],
  ['§3.2.11 … and one of nineteen has no order', x.gYear, { minInclusive: '2026' }, '9'.repeat(19), false],
  ['§3.2.11 … but is itself', x.gYear, { values: ['9'.repeat(19)] }, '9'.repeat(19), true],
  ['§3.2.11 … and no other', x.gYear, { values: ['9'.repeat(19)] }, '8'.repeat(19), false],
  ['§4.3.7 a bound is a value, whatever texts its base allows', x.simple(x.decimal, { patterns: ['[0-9]+[.][0-9]{2}'] }), { maxInclusive: '5' }, '5.01', false],
  ['§4.3.7 … and that value is within it', x.simple(x.decimal, { patterns: ['[0-9]+[.][0-9]{2}'] }), { maxInclusive: '5' }, '5.00', true],
  ['§4.3.10 … also a bound of dates', x.simple(x.date, { patterns: ['.*Z'] }), { minExclusive: '2026-01-01' }, '2025-12-30Z', false],
  ['§3.2.4 NaN is in no range', x.float, { maxInclusive: 'INF' }, 'NaN', false],
  ['§4.3.5 a list is among others by its items', x.simple(x.list(x.decimal), {}), { values: ['5. 1'] }, '5.0 01', true],
  ['§4.3.5 a union has the values of its types', x.union(x.boolean, x.time), { values: ['12:00:00Z'] }, '13:00:00+01:00', true],
  ['§4.3.5 … and values of two types are two', x.union(x.gDay, x.gMonth), { values: ['---01'] }, '--01', false],
  ['§4.3.6 a pattern sees spaces where they are kept', x.normalizedString, { patterns: ['[a ]+'] }, ' a  a', true],
  ['§4.3.6 … and not those around others', x.normalizedString, { patterns: ['a'] }, ' a', false],
  ['§4.3.6 a pattern sees a space for a tab', x.normalizedString, { patterns: ['a a'] }, 'a\ta', true],
  ['§4.3.6 … where the type in between replaces it', x.simple(x.string, { whiteSpace: 'replace' }), { patterns: ['a a'] }, 'a\ta', true],
  ['§4.3.6 … and one space where white space collapses', x.token, { patterns: ['a a'] }, ' a\t a ', true],
  ['F.1.1 a block of characters', x.string, { patterns: ['\\p{IsLetterlikeSymbols}\\P{IsArrows}'] }, 'ℵℵ', true],
  ['F.1.1 … ends', x.string, { patterns: ['\\p{IsNumberForms}'] }, '\u2190', false],
  ['F.1.1 … of two ranges', x.string, { patterns: ['\\p{IsSpecials}+'] }, '\ufeff\ufffc', true],
  ['F.1.1 … beyond 16 bits', x.string, { patterns: ['\\p{IsPrivateUse}{2}'] }, '\ue000\u{10fffd}', true],
  ['§4.3.1.3 a QName has no length', x.QName, { length: 3 }, '{urn:a}name', true],
  ['§4.3.2.3, §4.3.3.3 … and none that is too short or too long', x.simple(x.NOTATION, { minLength: 90 }), { maxLength: 1 }, 'ab', true],
  ['§4.3.1.3 … but a list of them has', x.simple(x.list(x.QName), {}), { length: 2 }, 'a b c', false],
  ['F a hyphen ends a class, and another one begins a subtraction', x.string, { patterns: ['[a-c--[b]]+'] }, 'a-c', true],
] // biome-ignore format: a table
for (const [why, type, facets, text, valid] of bounds)
  test(why, () => assert.equal(isValid(type, facets, text), valid, text))

for (const pattern of ['\\u0041', '\\bfoo', '\\x41', '[\\A]', '\\1', '[a--b]', '[!--]'])
  test(`F ${pattern} is not an expression of XML Schema, and is not read as another one`, () =>
    assert.equal(compileXsdMatcher(pattern), undefined))

test('a value of megabytes is compared in less than a tenth of a second', () => {
  const digits = '9'.repeat(4_000_000)
  for (const [type, text] of [
    [x.gYear, digits],
    [x.gYearMonth, `${digits}-01`],
    [x.date, `${digits}-01-01`],
    [x.dateTime, `2026-01-01T00:00:00.${digits}`],
    [x.duration, `P${digits}Y`],
    [x.decimal, `1.${digits}`],
  ] as const) {
    const bound = type === x.decimal ? '1.5' : type === x.duration ? 'P1Y' : text.replace(/9{9,}/, '2026')
    const before = process.cpuUsage()
    isValid(type, { maxInclusive: bound }, text)
    isValid(type, { values: [bound] }, text)
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 200_000, `${text.slice(0, 24)}…: ${(user + system) / 1000} ms for two`)
  }
})
