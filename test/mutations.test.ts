/** CONTRIBUTING.md, "npm run mutants": which changes are tried, and in which order. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { applyMutation, mutationsOf, readTrees, shuffle } from './support/mutations.ts'

function changesOf(text: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-mutations-'))
  try {
    const file = join(folder, 'it.ts')
    const config = join(folder, 'tsconfig.json')
    writeFileSync(file, text)
    writeFileSync(config, '{"files":["it.ts"]}')
    const changed: string[] = []
    readTrees(config, [file], tree => {
      changed.push(...mutationsOf(tree).map(each => applyMutation(text, each)))
    })
    return changed
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const cases: readonly (readonly [what: string, text: string, changed: readonly string[]])[] = [
  ['a condition is negated', 'if (a) {}', ['if (!(a)) {}']],
  ['a choice is negated', 'let b = a ? c : d', ['let b = !(a) ? c : d']],
  ['an edge moves', 'let c = a < b', ['let c = a <= b']],
  ['an equality turns round', 'let c = a !== b', ['let c = a === b']],
  ['a connective is exchanged', 'let c = a && b', ['let c = a || b']],
  ['a call is removed', 'if (a) b(c)', ['if (!(a)) b(c)', 'if (a) ;']],
  ['an assignment is removed', 'a.b = c', [';']],
  ['what is awaited is removed', 'await a()', [';']],
  ['a throw is removed', 'throw a', [';']],
  ['a result is dropped', 'function a() { return b }', ['function a() { return undefined }']],
  ['the result of an arrow is dropped', 'let a = () => b', ['let a = () => undefined']],
  ['a truth turns round', 'let a = () => true', ['let a = () => false']],
  ['a falsehood turns round', 'function a() { return false }', ['function a() { return true }']],
  ['a number grows by one', 'let a = 7', ['let a = (7 + 1)']],
  ['a key stays', 'let a = { 1: b }', []],
  ['a type stays', 'let a: 7 | 8', []],
  ['the call of the parent class stays', 'class A extends B { constructor() { super() } }', []],
]
for (const [what, text, changed] of cases)
  test(`a mutation changes one place: ${what}`, () => {
    assert.deepEqual(changesOf(text), changed)
  })

test('the same seed gives the same order, and a larger sample holds the smaller one', () => {
  const items = Array.from({ length: 100 }, (_, index) => index)
  assert.deepEqual(shuffle(items, 1), shuffle(items, 1))
  assert.notDeepEqual(shuffle(items, 1), shuffle(items, 2))
  assert.deepEqual(
    [...shuffle(items, 1)].sort((a, b) => a - b),
    items,
  )
})
