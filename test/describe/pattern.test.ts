/** XML Schema Part 2 Appendix F: a pattern in two languages. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toSchemaPattern } from '../../src/describe/schema-pattern.ts'

const rows = [
  ['[a-z]+', '[a-z]+'],
  ['^[a-z]+$', '[a-z]+'],
  ['a\\$', 'a$'],
  ['\\d{2,4}', '[0-9]{2,4}'],
  ['[\\d_]', '[0-9_]'],
  ['\\w+', '[A-Za-z0-9_]+'],
  ['\\S', '[^\\s\\p{Z}\uFEFF]'],
  ['(?:a|b)c', '(a|b)c'],
  ['(?<year>\\d)', '([0-9])'],
  ['.', '[^\\n\\r\u2028\u2029]'],
  ['\\/\\.', '/\\.'],
  ['[-a\\]]', '[\\-a\\]]'],
  ['[a[]', '[a\\[]'],
  ['[a-]', '[a\\-]'],
  ['[^@]', '[^@]'],
  ['\\p{Lu}', '\\p{Lu}'],
  ['\\P{gc=Nd}', '\\P{Nd}'],
  ['\\u0041\\x42\\u{1F6D2}', 'AB🛒'],
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
    assert.equal(toSchemaPattern(pattern), written))
