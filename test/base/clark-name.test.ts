import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseClarkName } from '../../src/base/clark-name.ts'

test("names are in James Clark's notation, even if the namespace has braces", () => {
  const table: readonly (readonly [text: string, uri?: string, local?: string])[] = [
    ['a', '', 'a'],
    ['{urn:x}a', 'urn:x', 'a'],
    ['{}a', '', 'a'],
    ['{http://{{host}}/api}a', 'http://{{host}}/api', 'a'],
    ['{{x}}a', '{x}', 'a'],
    [''],
    ['{urn:x}'],
    ['{urn:x'],
    ['a}b'],
    ['{urn:x}a{b'],
  ]
  for (const [text, uri = '', local] of table)
    assert.deepEqual(parseClarkName(text), local === undefined ? undefined : { uri, local }, text)
})
