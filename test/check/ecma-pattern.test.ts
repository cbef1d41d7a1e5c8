/** Patterns of JSON Schema, judged in linear time as ECMA-262 has them (Validation §6.3.3). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { matchesPattern, patternCharactersMax } from '../../src/check/ecma-pattern.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { nestedPatterns } from '../support/nested-patterns.ts'

describe('A2.1 a pattern is what a regular expression with u is', () => {
  const atom = fc.constantFrom(
    ...[
      'a',
      'b',
      '😀',
      '.',
      '\\d',
      '\\w',
      '\\s',
      '\\.',
      '\\-'.slice(1),
      '\\u0061',
      '\\u{1F600}',
      '\\uD83D\\uDE00',
      '\\x62',
    ],
    ...[
      '[ab]',
      '[^a]',
      '[a-c]',
      '[+--]',
      '[-a]',
      '[a-]',
      '[&&|]',
      '[(\\[]',
      '[\\w\\-]',
      '[^\\d\\s]',
      '[\\b]',
      '\\p{Lu}',
      '\\/',
    ],
  )
  const quantifier = fc.constantFrom('', '', '', '*', '+?', '??', '{2}', '{1,3}?', '{0,2}')
  const inner = nestedPatterns({ atom, quantifier, groups: ['(', '(?:', '(?<n>'] })
  const whole = fc
    .array(fc.tuple(fc.constantFrom('', '^'), inner, fc.constantFrom('', '$')), { minLength: 1, maxLength: 2 })
    .map(all => all.map(([start, each, end]) => `${start}${each.includes('|') ? `(?:${each})` : each}${end}`).join('|'))
  /** Short: of eight characters the expression may take minutes. */
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', '1', '-', '+', '.', ' ', '&', '(', 'É', '😀'),
    maxLength: 5,
  })

  it('a pattern agrees with the regular expression on every text', () => {
    let judged = 0
    fc.assert(
      fc.property(whole, fc.array(text, { maxLength: 8 }), (pattern, texts) => {
        if (pattern.length > patternCharactersMax || /<n>.*<n>/.test(pattern)) return // a name stands once
        // Spelled out from its start: V8 finds no /[^a]-aa$/u in "😀-aa".
        const expression = new RegExp(`^[^]*?(?:${pattern})`, 'u')
        for (const each of texts) {
          judged++
          assert.equal(matchesPattern(pattern, each), expression.test(each), `${pattern} ${JSON.stringify(each)}`)
        }
      }),
      { numRuns: 2000 },
    )
    assert.ok(judged > 1000)
  })

  for (const pattern of [
    '(?=a)b',
    '(?!a)b',
    '(?<=a)b',
    '\\bword\\b',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    '(^a$)',
    'a^b',
    'a$b',
    '\\_',
    '(',
  ])
    it(`${pattern} is not supported, and gets no verdict`, () => assert.equal(matchesPattern(pattern, 'zz'), undefined))

  it('a pattern that a backtracking engine never finishes is judged at once', async () => {
    await assertCpuMsBelow(2000, () => assert.equal(matchesPattern('^(a+)+$', `${'a'.repeat(50_000)}!`), false))
    assert.equal(matchesPattern('a'.repeat(patternCharactersMax + 1), 'a'), undefined)
    assert.equal(matchesPattern('(?:a{100}){100}', 'a'), undefined, 'more steps than are followed')
  })
})
