/**
 * `npm run simulate:mutants`: the simulated world has to notice each of these mistakes within a
 * number of seeds. Each is made in a copy of src/. A word behind `--` chooses those that it
 * describes. Ends with status 1 where one is not noticed.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Mutant {
  readonly what: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const mutants: readonly Mutant[] = [
  {
    what: 'what the works before a late throw wrote is not written again',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#on.writeAgain(this.#before)',
    to: '',
  },
  {
    what: 'what a work wrote before it threw stays',
    file: 'store/sqlite-transaction.ts',
    from: 'else if (hasWritten) this.#undoByRecord()',
    to: '',
  },
  {
    what: 'one statement too few is written again',
    file: 'store/sqlite-transaction.ts',
    from: 'this.#record.slice(0, count)',
    to: 'this.#record.slice(0, count - 1)',
  },
  {
    what: 'works are told before the commit',
    file: 'store/write-queue.ts',
    from: '      this.#transaction.commit()\n      this.#open = false\n      for (const tell of outcomes) tell()',
    to: '      for (const tell of outcomes) tell()\n      this.#transaction.commit()\n      this.#open = false',
  },
  {
    what: 'works are told that a commit which failed has been made',
    file: 'store/write-queue.ts',
    from: 'for (const { reject } of members) reject(why)',
    to: 'if (why) for (const { resolve } of members) resolve(undefined)',
  },
  {
    what: 'what a work throws is told as success',
    file: 'store/write-queue.ts',
    from: 'return () => next.reject(thrown)',
    to: 'return () => next.resolve(thrown)',
  },
  {
    what: 'a version is given again',
    file: 'store/row-version.ts',
    from: 'return before < drawn ? drawn : before + 1 + (drawn % stepsMax)',
    to: 'return before',
  },
  {
    what: 'a key is forgotten',
    file: 'service/idempotency.ts',
    from: 'if (memo && memo.expires > now) {',
    to: 'if (memo && memo.expires < now) {',
  },
  {
    what: 'a step of a job happens again',
    file: 'service/job-step.ts',
    from: 'if (memo && memo.expires > about.now)',
    to: 'if (memo && memo.expires < about.now)',
  },
  {
    what: 'a job that lost its worker stays where it is',
    file: 'store/records.ts',
    from: `"leased" <= \${parameterAt(0)} and \${named}`,
    to: `"leased" <= -\${parameterAt(0)} and \${named}`,
  },
  {
    what: 'a change is not told',
    file: 'service/item-changes.ts',
    from: 'await writer.changed(',
    to: 'if (version % 7 > 0) await writer.changed(',
  },
  {
    what: 'a sink loses the event whose delivery failed',
    file: 'host/delivery/sinks.ts',
    from: 'rejectOnAbort(signal)])',
    to: 'rejectOnAbort(signal)]).catch(() => {})',
  },
  {
    what: 'a limit is counted anew with each request',
    file: 'service/limiter.ts',
    from: 'window.count += by',
    to: 'window.count = by',
  },
  {
    what: 'a reply is dropped before it is delivered',
    file: 'host/delivery/outbox.ts',
    from: 'await postSafely(message, stop, resolve)\n    await store.write(writer => writer.dropJob(row.id))',
    to: 'await store.write(writer => writer.dropJob(row.id))\n    await postSafely(message, stop, resolve)',
  },
]

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
function findProblem(copy: string, { file, from, to }: Mutant): string | undefined {
  const path = join(copy, 'src', file)
  const text = readFileSync(path, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`)
  writeFileSync(
    path,
    text.replace(from, () => to),
  )
  try {
    const words = [
      '--conditions=diglot-source',
      join(copy, 'test/simulation/run.ts'),
      '--seeds',
      String(seedsMax),
      '--first',
    ]
    const { status, stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
    return status === 0 ? undefined : stdout.split('\n').slice(0, 2).join(' ').trim()
  } finally {
    writeFileSync(path, text)
  }
}

const copy = prepareCopy()
const asked = mutants.filter(({ what }) => what.includes(process.argv[2] ?? ''))
let missed = 0
try {
  for (const mutant of asked) {
    const found = findProblem(copy, mutant)
    if (found === undefined) missed++
    console.log(`${found === undefined ? 'NOT NOTICED' : 'noticed'}: ${mutant.what}\n  ${found ?? ''}`)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
console.log(`${asked.length - missed} of ${asked.length} mistakes were noticed`)
process.exitCode = missed > 0 ? 1 : 0
