/** The catalogue has every rule, says of each how it is probed, and prints its own page. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { explainRule, findRule, writeRuleList, writeRulePage } from '../../src/check/catalogue.ts'
import { attackRules, checkRules } from '../../src/check/index.ts'

/** The sections of the conventions with rules, and how many each has. */
const counts: Readonly<Record<string, number>> = {
  ...{ A1: 10, A2: 5, A3: 4, A4: 25, A5: 4, A7: 18, A8: 3, A9: 4 },
  ...{ B2: 14, B4: 12, B5: 5, B7: 5, B8: 1, B9: 3, C6: 1 },
}

test('the catalogue has every rule of the conventions, once and in order', () => {
  const ids = Object.entries(counts).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
  )
  assert.deepEqual(
    checkRules.map(({ id }) => id),
    ids,
  )
})

test('each rule states its promise and its probe', () => {
  for (const { id, says, how } of [...checkRules, ...attackRules]) assert.ok(says.length > 12 && how.length > 20, id)
})

test('--explain accepts the id of a rule in upper or lower case', () => {
  const rule = findRule('a4.20')
  assert.ok(rule)
  assert.match(explainRule(rule), /A4\.20 {2}If-Match.*\n[\s\S]*section 4, style A/)
  assert.equal(findRule('A4.99'), undefined)
  assert.equal(writeRuleList().trimEnd().split('\n').length, checkRules.length + attackRules.length)
})

test('attacks have ids of their own, in order, and none is a rule of the conventions', () => {
  const ids = Object.entries({ D1: 15, D2: 5, D3: 19 }).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
  )
  assert.deepEqual(
    attackRules.map(({ id }) => id),
    ids,
  )
  const attack = findRule('d3.2')
  assert.ok(attack)
  assert.match(explainRule(attack), /section 3, attacks: tried with --attacks/)
})

test('docs/check-rules.md is the output of --list --markdown', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'check-rules.md'), 'utf8')
  assert.ok(page === writeRulePage(), 'print it again: diglot check --list --markdown > docs/check-rules.md')
})
