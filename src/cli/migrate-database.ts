/** `diglot migrate`: what a start would add, and removals that a person has approved. */
import { type Command, Option } from 'commander'
import type { FillProgress } from '../service/store.ts'
import { loadService, serviceText } from './locate-service.ts'
import { collectOption } from './option-types.ts'
import { ProgressLine } from './progress-line.ts'
import { failUsage, writeOutput } from './usage.ts'

/** Adds `migrate`. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description(
      'adapt a database to the contract; exit status 0: done, or nothing to do; 3: steps are planned; 1: impossible',
    )
    .argument('[service.ts]', serviceText)
    .option('--plan', 'print each step, in words and SQL, and change nothing')
    .option('--apply', 'carry out the steps, in one transaction; then complete what a start leaves for later')
    .option('--drop <name>', 'remove a table, or table.field, with its values; repeatable', collectOption, [])
    .option('--json', 'print one JSON line for each step')
    .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
    .action(migrateCommand)
}

interface MigrateFlags {
  readonly plan?: boolean
  readonly apply?: boolean
  readonly json?: boolean
  readonly drop: readonly string[]
  readonly data?: string
  readonly database?: string
}

/** Steps are printed once all of them are done: a refusal undoes the earlier ones. */
async function migrateCommand(
  file: string | undefined,
  { plan, apply, json, drop, ...flags }: MigrateFlags,
): Promise<void> {
  if ((plan === true) === (apply === true)) failUsage('give one of --plan, --apply')
  const [{ migrateDatabase }, app] = await Promise.all([import('../host/store/open-store.ts'), loadService(file)])
  const isPlan = plan === true
  const lines: string[] = []
  const progress = new ProgressLine()
  const add = (fields: object, words: string) => void lines.push(`${json ? JSON.stringify(fields) : words}\n`)
  const print = async (): Promise<void> => {
    progress.clear()
    await writeOutput(lines.splice(0).join(''))
  }
  const tell = (step: string, sql: string): void => {
    if (!isPlan) progress.show(step)
    add({ step, sql }, `-- ${step}\n${sql};`)
  }
  let filledCount = 0
  const filling = (now: FillProgress): void => {
    progress.show(describeFilling(now))
    if (!now.isOver) return
    filledCount++
    add({ filled: now.what, rows: now.rowsDone }, `-- filled: ${now.what}, ${now.rowsDone} rows`)
  }
  try {
    const watch = {
      warn: (warning: string): void => add({ warning }, `-- warning: ${warning}`),
      undone: (why: string): void => {
        lines.length = 0
        progress.show(why)
      },
      committed: print,
      filling,
    }
    const wish = { drop, now: Date.now(), isPlan, tell }
    const count = await migrateDatabase(app, flags, wish, watch)
    if (count + filledCount === 0 && !json) lines.push('-- nothing to do\n')
    await print()
    if (isPlan && count > 0) process.exitCode = 3
  } finally {
    progress.end()
  }
}

const describeFilling = ({ what, rowsDone, rowsTotal, phase }: FillProgress): string =>
  `filling: ${what}, ${rowsDone} of about ${rowsTotal} rows${phase === undefined ? '' : ` (${phase})`}`
