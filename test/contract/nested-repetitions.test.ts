/** Which patterns of a contract have so many ways that JavaScript may try them for minutes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nestsRepetitions } from '../../src/contract/review/nested-repetitions.ts'

const nested = [
  '(a+)+',
  '(a{2,3})*',
  '((a{2,3}){2,3})*',
  '(([a-z]+)*,?)*',
  '(?:a?a)+',
  '(a{1,30}){30}',
  '(a{0,30}){1,30}b',
  '((?:[a-z]+-)+)+',
  '(?:x|\\d{1,2})*',
  '(?<label>\\w{1,63}\\.?)+',
  '([)(]{1,9})+',
]
for (const pattern of nested) test(`${pattern} has too many ways`, () => assert.equal(nestsRepetitions(pattern), true))

const plain = [
  '',
  '[A-Z]{3}',
  '[^@\\s]+@[^@\\s]+',
  '(\\d{1,3}\\.){3}\\d{1,3}',
  '([0-9a-f]{1,4}:){1,7}[0-9a-f]{1,4}',
  '[A-Z]{2}\\d{2}(?: ?[A-Z0-9]{4}){3,7}',
  '(?:foo|bar)*',
  '(?=.*\\d)(?=.*[a-z]).{8,64}',
  '(a{1,2}){2}',
  '(-?[0-9]{1,2}){3}',
  '(\\d{1,3}(,\\d{3})*)?',
  '[(a+)+]{2}',
  '\\(a+\\)+',
]
for (const pattern of plain)
  test(`${pattern || 'nothing'} has few ways`, () => assert.equal(nestsRepetitions(pattern), false))
