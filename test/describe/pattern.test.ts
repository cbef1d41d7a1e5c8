/** XML Schema Part 2 Appendix F: a pattern in two languages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compilePattern } from '../../src/contract/lexical/text.ts'
import { toSchemaPattern } from '../../src/describe/schema-pattern.ts'
import { escapeText, writeAttribute } from '../../src/xml/write.ts'
import { judge } from './oracle.ts'

const rows = [
  ['[a-z]+', '[a-z]+'],
  ['^[a-z]+$', '[a-z]+'],
  ['a\\$', 'a$'],
  ['\\d{2,4}', '[0-9]{2,4}'],
  ['[\\d_]', '[0-9_]'],
  ['\\w+', '[A-Za-z0-9_]+'],
  ['(?:a|b)c', '(a|b)c'],
  ['(?<year>\\d)', '([0-9])'],
  ['\\/\\.', '/\\.'],
  ['[-a\\]]', '[\\-a\\]]'],
  ['[a[]', '[a\\[]'],
  ['[a-]', '[a\\-]'],
  ['[^@]', '[^@]'],
  ['\\p{Lu}', '\\p{Lu}'],
  ['\\P{gc=Nd}', '\\P{Nd}'],
  ['\\u0041\\x42\\u{43}', 'ABC'],
  ['\\u002B', '\\+'],
  ['a|b', 'a|b'],
  // Without an equivalent
  ['(?=a)a', undefined],
  ['(?!a).', undefined],
  ['(?<=a)b', undefined],
  ['(?<!a)b', undefined],
  ['(a)\\1', undefined],
  ['(?<n>a)\\k<n>', undefined],
  ['a+?', undefined],
  ['\\bword', undefined],
  ['a^b', undefined],
  ['a$b', undefined],
  ['^a|b$', undefined],
  ['[]', undefined],
  ['[^]', undefined],
  ['[\\W]', undefined],
  ['\\p{Script=Greek}', undefined],
  ['\\0', undefined],
  ['(?i:a)', undefined],
] as const
for (const [pattern, written] of rows)
  test(`Appendix F ${pattern} is ${written ?? 'not expressible'}`, () =>
    assert.deepEqual(toSchemaPattern(pattern), written && { written, isExact: true }))

/** Wider than the contract's, each with a text that only the published pattern accepts. */
const other = '[^\\t\\n\\r -~]'
const wider = [
  ['.', '.', '\u2028'],
  ['\\s', `(\\s|${other})`, 'é'],
  ['\\S', '\\S', '\u00a0'],
  ['[^@\\s]+@[^@\\s]+', '[^@\\s]+@[^@\\s]+', '\ufeff@b'],
  ['[\\s,]+', `([\\s,]|${other})+`, 'ß'],
  ['Straße', `Stra${other}e`, 'Straée'],
  ['[a-zäöü]{2}', `([a-z]|${other}){2}`, 'éa'],
  ['[äöü]', other, 'é'],
  ['[^äöü]', '[\\s\\S]', 'ä'],
  ['[^a-ÿ]', '[^a-~]', 'é'],
  ['[a-ÿ]', `([a-~]|${other})`, '数'],
  ['\\u{1F6D2}x', `${other}x`, 'éx'],
] as const
for (const [pattern, written, text] of wider)
  test(`B2.7 a pattern is published in ASCII, though wider than the contract's: ${pattern}`, () => {
    assert.deepEqual(toSchemaPattern(pattern), { written, isExact: false })
    assert.match(written, /^[\0-\x7f]*$/)
    assert.ok(!compilePattern(pattern).test(text), 'the service refuses it')
    assert.ok(isPublished(written, text), 'the schema accepts it')
  })

const isPublished = (written: string, text: string): boolean =>
  judge(
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="a"><xs:simpleType><xs:restriction base="xs:string"><xs:pattern value=${writeAttribute(written)}/></xs:restriction></xs:simpleType></xs:element></xs:schema>`,
  ).flaw(`<a>${escapeText(text)}</a>`) === undefined

test('B2.7 whatever a pattern of the contract accepts, the published one does; if exact, nothing else', () => {
  const texts = fc.array(
    fc.oneof(
      fc.constantFrom(
        'a',
        'ab',
        '12',
        'Z',
        'Strasse',
        'Straße',
        'a@b',
        'ü',
        'äü',
        '🛒x',
        'x',
        ' ',
        '\u00a0',
        '\u2028',
        '-',
        ']',
      ),
      fc.string({ unit: fc.constantFrom(...'ab1_-]@ß\u00a0\u2028é🛒 ~') }),
    ),
    { minLength: 20, maxLength: 40 },
  )
  fc.assert(
    fc.property(fc.constantFrom(...[...rows, ...wider].map(([pattern]) => pattern)), texts, (pattern, tried) => {
      const published = toSchemaPattern(pattern)
      if (!published) return
      const own = compilePattern(pattern)
      for (const text of tried) {
        const accepts = isPublished(published.written, text)
        if (published.isExact) assert.equal(accepts, own.test(text), `${pattern} ${JSON.stringify(text)}`)
        else assert.ok(accepts || !own.test(text), `${pattern} as ${published.written} refuses ${JSON.stringify(text)}`)
      }
    }),
    { numRuns: 200 },
  )
})
