/** What the pages show as compiled compiles, strictly, next to the service of the tutorial. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { linkPackages, runDiglot, runTypes } from '../support/linked-project.ts'
import { listSnippets, pages } from './pages.ts'

test('every snippet that is marked as compiled compiles', t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-snippets-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const project = join(folder, 'helpdesk')
  assert.equal(runDiglot(['new', 'helpdesk'], folder).status, 0)
  linkPackages(project)
  const snippets = pages.flatMap(listSnippets).filter(({ mark }) => mark === 'compiled')
  assert.ok(snippets.length >= 4)
  for (const { page, line, text } of snippets)
    writeFileSync(join(project, `${page.replaceAll(/\W/g, '-')}-line-${line}.ts`), text)
  const { status, stdout } = runTypes(project)
  assert.equal(status, 0, stdout)
})
