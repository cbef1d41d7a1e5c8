/**
 * All tests, or those of the files that are named: two files at once on a machine of two cores,
 * where Node would take one after the other.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const named = process.argv.slice(2)
const filesAtOnce = Math.max(2, availableParallelism() - 1)
const words = ['--conditions=diglot-source', '--import', './test/compile-cache.ts', '--test']
const files = named.length > 0 ? named : ['test/**/*.test.ts', 'examples/**/*.test.ts']
const { status } = spawnSync(process.execPath, [...words, `--test-concurrency=${filesAtOnce}`, ...files], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
