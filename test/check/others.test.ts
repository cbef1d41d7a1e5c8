/** docs/check-others.md is what the table of verdicts says; check-others.peer.ts holds the table. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { checkRules } from '../../src/check/index.ts'
import { evidenceOf } from '../peers/others/evidence.ts'
import { writeOthersPage } from '../peers/others/page.ts'
import { type StackName, verdicts } from '../peers/others/verdicts.ts'

const page = join(import.meta.dirname, '..', '..', 'docs', 'check-others.md')

it('docs/check-others.md is generated from the table of verdicts', () => {
  const made = writeOthersPage()
  if (process.env['WRITE_PAGES'] === 'true') writeFileSync(page, made)
  assert.ok(
    readFileSync(page, 'utf8') === made,
    'make it again: WRITE_PAGES=true node --test test/check/others.test.ts',
  )
})

for (const [name, { pass, fail }] of Object.entries(verdicts))
  it(`${name}: each rule of the table exists, has one verdict, and each failure its evidence`, () => {
    const ids = [...pass.split(' '), ...Object.keys(fail)]
    assert.equal(new Set(ids).size, ids.length)
    const known = new Set(checkRules.map(({ id }) => id))
    assert.deepEqual(
      ids.filter(id => !known.has(id)),
      [],
    )
    for (const id of Object.keys(fail)) assert.ok(evidenceOf(name as StackName, id).shows) // a key of the table
  })
