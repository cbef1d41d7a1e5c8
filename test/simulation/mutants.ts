/**
 * `npm run simulate:mutants`: the simulated world has to notice each of these mistakes within a
 * number of seeds. Each is made in a copy of src/, two at a time. A word behind `--` chooses those
 * that it describes. Ends with status 1 where one is not noticed.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type Mistake, mistakes, readMistake } from './mistakes.ts'

const root = join(import.meta.dirname, '../..')
/** A world in some hundreds has the troubles that show a mistake. */
const seedsMax = 1000

function prepareCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'mutant-'))
  cpSync(join(root, 'src'), join(copy, 'src'), { recursive: true })
  cpSync(join(root, 'test/simulation'), join(copy, 'test/simulation'), { recursive: true })
  mkdirSync(join(copy, 'test/support'))
  cpSync(join(root, 'test/support/history.ts'), join(copy, 'test/support/history.ts'))
  cpSync(join(root, 'package.json'), join(copy, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** What was found, and in which seed; undefined where nothing was. */
async function findProblem(copy: string, mistake: Mistake): Promise<string | undefined> {
  const { path, right, wrong } = readMistake(copy, mistake)
  writeFileSync(path, wrong)
  const program = ['--conditions=diglot-source', join(copy, 'test/simulation/run.ts')]
  const words = [...program, '--seeds', String(seedsMax), '--first']
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  execFile(process.execPath, words, (failure, stdout) =>
    resolve(failure ? stdout.split('\n').slice(0, 2).join(' ').trim() : undefined),
  )
  const found = await promise
  writeFileSync(path, right)
  return found
}

const asked = mistakes.filter(({ what }) => what.includes(process.argv[2] ?? ''))
const waiting = [...asked]
let missed = 0
async function findProblems(): Promise<void> {
  const copy = prepareCopy()
  try {
    for (let mistake = waiting.shift(); mistake; mistake = waiting.shift()) {
      const found = await findProblem(copy, mistake)
      if (found === undefined) missed++
      console.log(`${found === undefined ? 'NOT NOTICED' : 'noticed'}: ${mistake.what}\n  ${found ?? ''}`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
await Promise.all([findProblems(), findProblems()])
console.log(`${asked.length - missed} of ${asked.length} mistakes were noticed`)
process.exitCode = missed > 0 ? 1 : 0
