/** docs/rest.md and docs/soap.md: their commands are run against the orders service, and print what the pages show. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { childEnvironment, type Ran, serveProject } from '../support/linked-project.ts'
import { findMissingTool, followPage } from './page-reader.ts'

const orders = join(import.meta.dirname, '..', '..', 'examples', 'orders', 'service.ts')
const isNotOfPage = (): Ran => assert.fail('these pages only start the service and call it')

for (const page of ['docs/rest.md', 'docs/soap.md'])
  test(page, { skip: findMissingTool() ?? false }, async () => {
    const count = await followPage(page, {
      install: isNotOfPage,
      create: isNotOfPage,
      diglot: isNotOfPage,
      runTests: isNotOfPage,
      runTypes: isNotOfPage,
      serve: folder => serveProject(folder, [orders, '--data', ':memory:']),
      environment: childEnvironment(),
    })
    assert.ok(count >= 8, `${count} commands and outputs`)
  })
