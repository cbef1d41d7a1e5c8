#!/usr/bin/env node
/**
 * `diglot`: each command is one sentence of the API. Usage errors exit with 2, all others with 1,
 * in one line without a stack.
 */
import './host/node-version.ts'
import { keepCompiledCode } from './cli/compiled-code.ts'

keepCompiledCode()
const { runCommand } = await import('./cli/run-command.ts')
await runCommand(process.argv)
