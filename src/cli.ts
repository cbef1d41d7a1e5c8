#!/usr/bin/env node
/**
 * `diglot`: each command is one sentence of the API. Usage errors exit with 2, all others with 1,
 * in one line without a stack.
 */
import './host/node-version.ts'
import { expandProxyFlag } from './cli/listen-options.ts'
import { createProgram } from './cli/program.ts'
import { exitStatusOf } from './cli/usage.ts'

try {
  await createProgram().parseAsync(expandProxyFlag(process.argv))
} catch (thrown) {
  process.exitCode = exitStatusOf(thrown)
  if (process.exitCode !== 0) process.exit()
}
