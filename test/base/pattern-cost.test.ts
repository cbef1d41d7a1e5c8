/** Which patterns have so many ways that the engine of JavaScript may try them for long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { convertConsumingParts } from '../../src/base/convert-pattern.ts'
import { type PatternPart, parsePattern } from '../../src/base/linear-pattern.ts'
import { type CostlyText, findCostlyText } from '../../src/base/pattern-cost.ts'
import { assertCpuMsBelow } from '../support/cost.ts'
import { nestedPatterns } from '../support/nested-patterns.ts'

const [longText, many] = [1024 * 1024, 1_000_000]

function find(pattern: string, characters: number, stepsMax: number): CostlyText | undefined {
  const found = findCostlyText(pattern, characters, stepsMax)
  assert.notEqual(found, 'unjudged')
  return found === 'unjudged' ? undefined : found
}

describe('patterns that take exponential time', () => {
  const rows = [
    '(a+)+',
    '(a*)*',
    '(a|a)*',
    '(a|aa)*',
    'x(a|aa)+y',
    '(a|b|ab)*c',
    '(ab|a|b)*c',
    '(.*,)*x',
    '(.+)+@',
    '(\\w|\\d)+-',
    '(\\w+\\s?)*',
    '(([a-z])+.)+[A-Z]([a-z])+$',
    '(a{2,3})*',
    '((a{2,3}){2,3})*',
    '(([a-z]+)*,?)*',
    '((?:[a-z]+-)+)+',
    '(?:a?a)+',
    '(a?){30}',
    '(a|aa){30}',
    '(a{1,30}){30}',
    '(a{0,30}){1,30}b',
    '(?:x|\\d{1,2})*',
    '(?<label>\\w{1,63}\\.?)+',
    '([)(]{1,9})+',
    '(?=(a|a)*b)[a-z]*',
    '(a|a)'.repeat(30),
  ]
  for (const pattern of rows)
    test(pattern.slice(0, 40), () => {
      const costly = find(pattern, longText, many)
      assert.equal(costly?.steps, Number.POSITIVE_INFINITY)
      assert.ok((costly?.charactersMax ?? 0) < 200, `${costly?.charactersMax}`)
    })
})

describe('patterns without a loop, whose longest match is short', () => {
  const rows: readonly (readonly [pattern: string, steps: number])[] = [
    ['((a{0,2}a{0,2}){0,2}){0,2}', 5256],
    ['(((a{0,2}a{0,2}){0,2}){0,2}){0,2}', 27_630_792],
    ['(a{0,2}a{0,2}){0,4}', 4680],
  ]
  for (const [pattern, steps] of rows)
    test(`${pattern}: as many steps for any longer text`, () => {
      assert.deepEqual(
        [40, longText].map(each => find(pattern, each, 4000)?.steps),
        [steps, steps],
      )
      assert.equal(find(pattern, longText, steps + 1), undefined)
    })
})

describe('patterns that take a power of the length', () => {
  const rows: readonly (readonly [pattern: string, power: number])[] = [
    ['.*foo.*', 2],
    ['a*a*b', 2],
    ['a*a*a*b', 3],
    ['.*.*.*x', 3],
    ['[a-z]*(\\w*-)?\\d+', 2],
  ]
  for (const [pattern, power] of rows)
    test(`${pattern}: ${power}`, () => {
      const [once, twice] = [longText, longText * 2].map(each => find(pattern, each, many)?.steps ?? 0)
      assert.equal(Math.round(Math.log2((twice ?? 0) / (once ?? 1)) * 10) / 10, power)
      assert.equal(findCostlyText(pattern, 50, many), undefined, 'a short text is matched at once')
    })
  test('the longest text that takes no more steps than are allowed', () => {
    const costly = find('.*foo.*', longText, many)
    assert.ok(costly)
    assert.equal(findCostlyText('.*foo.*', costly.charactersMax, many * 1.1), undefined)
    assert.ok(findCostlyText('.*foo.*', costly.charactersMax, many * 0.9))
  })
})

describe('patterns with few ways', () => {
  const rows = [
    '',
    '[A-Z]{3}',
    '[a-z0-9]+(-[a-z0-9]+)*',
    "\\p{L}+([ '-]\\p{L}+)*",
    '([^,]*,)*[^,]*',
    '(\\d+\\.)+\\d+',
    '[^@\\s]+@[^@\\s]+',
    '(\\d{1,3}\\.){3}\\d{1,3}',
    '((25[0-5]|2[0-4]\\d|1?\\d?\\d)(\\.|$)){4}',
    '([0-9a-f]{1,4}:){1,7}[0-9a-f]{1,4}',
    '[A-Z]{2}\\d{2}(?: ?[A-Z0-9]{4}){3,7}',
    '(?:foo|bar)*',
    '(?:[^"\\\\]|\\\\.)*',
    '(?=.*\\d)(?=.*[a-z]).{8,64}',
    '(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}',
    '(a{1,2}){1,2}',
    '(-?[0-9]{1,2}){3}',
    '(\\d{1,3}(,\\d{3})*)?',
    '[(a+)+]{2}',
    '\\(a+\\)+',
    'P(?!$)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+S)?)?',
    '([a-z]+)(,\\1)*',
    '(\\s|\\S)*',
    '[\\s\\S]*[a-z]{3}[\\s\\S]*',
    'a{0,1000}a{0,1000}b',
    '.{1,2000}',
    '[a-z]{1,6}'.repeat(5),
  ]
  for (const pattern of rows)
    test(pattern.slice(0, 60) || 'nothing', () => assert.equal(findCostlyText(pattern, 10_000, many * 60), undefined))
})

test('no pattern takes long to be judged', async () => {
  const rows = [
    '(a?b?c?d?)*'.repeat(100),
    `(${'a|'.repeat(500)}b)*`,
    `${'('.repeat(200)}a${'+)+'.repeat(200)}`,
    '(.{0,900}.{0,900}){0,900}',
    `${'[a-z]*'.repeat(300)}`,
    `(${Array.from({ length: 300 }, (_, at) => `\\u{${(0x4e00 + at).toString(16)}}+`).join('|')})*`,
    'x'.repeat(4000),
  ]
  const judged: unknown[] = []
  for (const pattern of rows)
    await assertCpuMsBelow(5000, () => void judged.push(findCostlyText(pattern, longText, many)))
})

/** The characters that an engine takes which tries one way after the other; more than `most` are not counted. */
function countTakenCharacters(pattern: string, text: string, most: number): { taken: number; matches: boolean } {
  const characters = [...text]
  const takers = new Map<string, RegExp>()
  let taken = 0
  type Next = (at: number) => boolean
  const sequence = (parts: readonly PatternPart[], at: number, next: Next): boolean => {
    const [first, ...others] = parts
    return first ? one(first, at, there => sequence(others, there, next)) : next(at)
  }
  const one = (part: PatternPart, at: number, next: Next): boolean => {
    if (part.kind === 'choice') return part.alternatives.some(each => sequence(each, at, next))
    if (part.kind === 'repeat') return repeated(part, at, next, 0)
    const taker = takers.get(part.source) ?? new RegExp(`^(?:${part.source})$`, 'v')
    takers.set(part.source, taker)
    const character = characters[at]
    if (character === undefined || taken > most || !taker.test(character)) return false
    taken++
    return next(at + 1)
  }
  const repeated = (part: Extract<PatternPart, { kind: 'repeat' }>, at: number, next: Next, count: number): boolean => {
    const again = (there: number) => (there > at || count < part.min) && repeated(part, there, next, count + 1)
    return (count < part.max && one(part.of, at, again)) || (count >= part.min && next(at))
  }
  const alternatives = parsePattern(convertConsumingParts(pattern)[0] ?? '')
  const matches = alternatives.some(each => sequence(each, 0, at => at === characters.length))
  return { taken, matches }
}

const written = ({ start, pump }: CostlyText, length: number): string =>
  [...start, ...pump.repeat(length)].slice(0, length).join('')

const anyPattern = nestedPatterns({
  atom: fc.constantFrom('a', 'b', 'c', '[ab]', '[^a]', '.'),
  quantifier: fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}'),
  groups: ['(', '(?:'],
})

test('a text that is found takes more steps than are allowed, if what follows does not match', () => {
  let [found, unjudged] = [0, 0]
  fc.assert(
    fc.property(anyPattern, pattern => {
      const [length, most] = [60, 500]
      const costly = findCostlyText(pattern, length, most)
      if (costly === 'unjudged') unjudged++
      if (!costly || costly === 'unjudged') return
      found++
      const text = written(costly, Math.min(length, costly.charactersMax + 2)) + costly.end
      const { taken, matches } = countTakenCharacters(pattern, text, most)
      if (!matches) assert.ok(taken > most / 2, `${pattern} ${JSON.stringify(costly)} ${taken}`)
    }),
    { numRuns: 400 },
  )
  assert.ok(found > 40 && unjudged < 60, `${found} and ${unjudged} of 400`)
})

test('if none is found, no text takes many times as many', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '!'), maxLength: 30 })
  const repeatedText = fc
    .tuple(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), text)
    .map(([pump, end]) => (pump.repeat(30).slice(0, 24) + end).slice(0, 30))
  fc.assert(
    fc.property(
      anyPattern,
      fc.array(fc.oneof(text, repeatedText), { minLength: 10, maxLength: 10 }),
      (pattern, texts) => {
        const most = 1000
        if (findCostlyText(pattern, 30, most)) return
        for (const each of texts)
          assert.ok(
            countTakenCharacters(pattern, each, most * 5).taken <= most * 5,
            `${pattern} ${JSON.stringify(each)}`,
          )
      },
    ),
    { numRuns: 150 },
  )
})
