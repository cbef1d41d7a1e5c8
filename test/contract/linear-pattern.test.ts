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

/** Hardly any two of its parts are alike, so that no set of places is reached twice. */
function mixedText(length: number): string {
  let state = 1
  const next = () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return state > 2 ** 30 ? 'a' : 'b'
  }
  return `${Array.from({ length }, next).join('')}b${'a'.repeat(1900)}`
}

/** Each takes a backtracking engine seconds or more for these texts. */
const costly: readonly (readonly [pattern: string, text: string])[] = [
  ['[\\s\\S]*[a-z]+@[\\s\\S]*', 'a'.repeat(200_000)],
  ['(a+)+', `${'a'.repeat(200_000)}!`],
  ['(a|a)*', `${'a'.repeat(200_000)}!`],
  ['(a?){40}a{40}', 'a'.repeat(39)],
  ['.*.*.*=.*', 'a'.repeat(50_000)],
  ['(a|aa)'.repeat(30), `${'a'.repeat(60)}b`],
  ['(a{1,40}){1,40}', 'a'.repeat(4000)],
  ['b?.*a.{1900}', mixedText(20_000)],
]
for (const [source, given] of costly)
  test(`${source} takes time in proportion to the text`, async () => {
    const matches = compileXsdMatcher(source)
    assert.ok(matches)
    await assertCpuMsBelow(1000, () => assert.equal(matches(given), false))
  })

test('a text of a thousand different sets of places is followed to its end', () => {
  const matches = compileXsdMatcher('c?(.*a.{300}|d+)')
  const [text, expression] = [mixedText(3000), /^c?(.*a.{300}|d+)$/]
  for (let length = 2970; length < 3000; length++)
    assert.equal(matches?.(text.slice(0, length)), expression.test(text.slice(0, length)), String(length))
})

test('a pattern with too many steps is not compiled', () => {
  assert.equal(compileXsdMatcher('(a{0,3000}b){0,3000}'), undefined)
  assert.ok(compileXsdMatcher('a{0,100000}')?.('aaa'))
})
