/**
 * docs/tutorial.md, line by line in an empty folder: files are written, commands run, and what they
 * print is compared. npm asks no registry: this checkout stands in for what it would install;
 * `test/peers/packed.peer.ts` does the same with the packages as npm packs them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  childEnvironment,
  linkPackages,
  runDiglot,
  runTests,
  runTypes,
  serveProject,
} from '../support/linked-project.ts'
import { findMissingTool, followPage } from './page-reader.ts'

test('the tutorial, line by line', { skip: findMissingTool() ?? false }, async () => {
  const count = await followPage('docs/tutorial.md', {
    install: linkPackages,
    create: (args, folder) => runDiglot(['new', ...args], folder),
    diglot: runDiglot,
    runTests,
    runTypes,
    serve: serveProject,
    environment: childEnvironment(),
  })
  assert.ok(count > 20)
})
