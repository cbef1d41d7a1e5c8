/** Patterns of XML Schema in a time that grows with the text (`base/linear-pattern.ts`). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileXsdMatcher, compileXsdPattern } from '../../src/contract/lexical/xsd-pattern.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { nestedPatterns } from '../support/nested-patterns.ts'

const atom = fc.constantFrom('a', 'b', 'c', '[ab]', '[^a]', '.', '\\d', '\\i', '[a-z-[b]]', '\\.', '\\p{L}')
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}')
const pattern = nestedPatterns({ atom, quantifier, groups: ['('] })
/** Short: of eight characters the expression of JavaScript may take minutes. */
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '.', '\n', '😀'), maxLength: 5 })

test('Part 2 appendix F: a linear pattern accepts what the expression of JavaScript accepts', () => {
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 10, maxLength: 20 }), (source, texts) => {
      const [matches, expression] = [compileXsdMatcher(source), compileXsdPattern(source)]
      assert.ok(matches && expression, source)
      for (const each of texts) assert.equal(matches(each), expression.test(each), `${source} ${JSON.stringify(each)}`)
    }),
    { numRuns: 1000 },
  )
})

/** Each takes a backtracking engine seconds or more for these texts. */
const costly: readonly (readonly [pattern: string, text: string])[] = [
  ['[\\s\\S]*[a-z]+@[\\s\\S]*', 'a'.repeat(200_000)],
  ['(a+)+', `${'a'.repeat(200_000)}!`],
  ['(a|a)*', `${'a'.repeat(200_000)}!`],
  ['(a?){40}a{40}', 'a'.repeat(39)],
  ['.*.*.*=.*', 'a'.repeat(50_000)],
]
for (const [source, given] of costly)
  test(`${source} takes time in proportion to the text`, async () => {
    const matches = compileXsdMatcher(source)
    assert.ok(matches)
    await assertCpuMsBelow(1000, () => assert.equal(matches(given), false))
  })

test('a pattern with too many steps is not compiled', () => {
  assert.equal(compileXsdMatcher('(a{0,3000}b){0,3000}'), undefined)
  assert.ok(compileXsdMatcher('a{0,100000}')?.('aaa'))
})
