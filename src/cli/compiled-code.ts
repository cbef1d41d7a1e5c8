/**
 * Compiled code that is kept for the next start, which then takes a third less time. It is stored
 * among the packages: anyone who may write there may change the programs, too, whereas a folder for
 * temporary files is open to others. If it cannot be written, Node compiles as it always does.
 */
import module from 'node:module' // an older Node lacks the name below, and must still be able to load this file
import { basename, dirname, join } from 'node:path'
import { packageRoot } from '../starter/own-package.ts'

/** Applies to modules that are loaded from here on. */
export function keepCompiledCode(): void {
  const parent = dirname(packageRoot)
  const packages = basename(parent) === 'node_modules' ? parent : join(packageRoot, 'node_modules')
  module.enableCompileCache(join(packages, '.cache', 'diglot'))
}
