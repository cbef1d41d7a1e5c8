/** docs/diff.md says how many single changes are judged by calls, and which of them no call shows. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as rest from './rest-change-table.ts'
import * as soap from './soap-change-table.ts'
import { unseenChanges } from './unseen-changes.ts'

const page = readFileSync(new URL('../../docs/diff.md', import.meta.url), 'utf8')
const rowsAfter = (head: string): readonly string[] =>
  page.slice(page.indexOf(head)).split('\n\n')[0]?.split('\n').slice(2) ?? []

/** Messages with attachments are none of the client that judges operations of SOAP. */
const attachmentsCount = 3

test('the page counts the changes of the tables, at least 60 for each face', () => {
  const counts = rowsAfter('| face | changes | judged by |').map(row =>
    /^\| (\w+) \| (\d+) of (\w+) /.exec(row)?.slice(1),
  )
  assert.deepEqual(counts, [
    ['SOAP', String(soap.changesOfTypes.length), 'types'],
    ['SOAP', String(soap.changesOfOperations.length - attachmentsCount), 'operations'],
    ['REST', String(rest.changesOfTypes.length), 'types'],
    ['REST', String(rest.changesOfOperations.length), 'operations'],
  ])
  const all = counts.map(each => Number(each?.[1]))
  assert.ok((all[0] ?? 0) + (all[1] ?? 0) >= 60 && (all[2] ?? 0) + (all[3] ?? 0) >= 60)
  assert.ok(page.includes(`each of ${all.reduce((sum, each) => sum + each, 0)} single changes`))
})

test('the page lists the changes that no call shows, and nothing else', () =>
  assert.deepEqual(
    rowsAfter('| change | who breaks | why no call shows it |'),
    unseenChanges.map(({ face, title, side, reason }) => `| ${face}: ${title} | ${side} | ${reason} |`),
  ))

test('each change that no call shows is in the tables', () => {
  const titles = {
    SOAP: [...soap.changesOfTypes, ...soap.changesOfOperations],
    REST: [...rest.changesOfTypes, ...rest.changesOfOperations],
  }
  for (const { face, title } of unseenChanges)
    assert.equal(titles[face].filter(([each]) => each === title).length, 1, title)
})
