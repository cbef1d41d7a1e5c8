/** Samples for schemas with a pattern: what a service refuses only because of its form is not tried. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/base/objects.ts'
import { makeSample } from '../../src/check/schema-sample.ts'

const rows: readonly (readonly [pattern: string, more: { readonly [name: string]: Json }, sample: string])[] = [
  ['^(?:[0-9]{4}-[0-9]{2})$', {}, '0000-00'],
  ['^[A-Z]{2}\\d{3}$', {}, 'AA000'],
  ['[^@\\s]+@[^@\\s]+', {}, 'a@a'],
  ['^x+$', { minLength: 3 }, 'xxx'],
  ['^[a-z]+$', {}, 'probe'],
  ['^-?[0-9]{1,8}(\\.[0-9]{1,2})?$', { format: 'decimal' }, '1.00'],
  ['(', {}, 'probe'],
  ['^(?:(a{1000}){1000}){1000}$', {}, 'probe'],
]
for (const [pattern, more, sample] of rows)
  test(`JSON Schema Validation §6.3.3 a sample for ${pattern} is ${sample}`, () =>
    assert.equal(makeSample({}, { type: 'string', pattern, ...more }), sample))
