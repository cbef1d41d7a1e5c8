/**
 * All tests, or those of the files that are named, with what options of Node are given: two files
 * at once on a machine of two cores, where Node would take one after the other.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const isOption = (word: string): boolean => word.startsWith('-')
const given = process.argv.slice(2)
const named = given.filter(word => !isOption(word))
const filesAtOnce = Math.max(2, availableParallelism() - 1)
const { status } = spawnSync(
  process.execPath,
  [
    ...['--conditions=diglot-source', '--import', './test/compile-cache.ts'],
    ...['--test', `--test-concurrency=${filesAtOnce}`, ...given.filter(isOption)],
    ...(named.length > 0 ? named : ['test/**/*.test.ts', 'examples/**/*.test.ts']),
  ],
  { stdio: 'inherit' },
)
process.exitCode = status ?? 1
