/** `diglot copy`: a database into an empty one of the other kind. */
import type { Command } from 'commander'
import { loadService, serviceText } from './locate-service.ts'
import { ProgressLine } from './progress-line.ts'
import { writeOutput } from './usage.ts'

/** Adds `copy`. */
export function addCopyCommand(program: Command): void {
  program
    .command('copy')
    .description('copy the whole database of a service into an empty one: a file to PostgreSQL, or back')
    .argument('[service.ts]', serviceText)
    .requiredOption('--to <place>', 'the empty database: postgres://…, or a file, which must not exist')
    .option('--data <file>', 'the database file to copy (default: ./data/<service>.sqlite)')
    .option('--database <url>', 'the PostgreSQL database to copy, instead of a file')
    .action(copyCommand)
}

interface CopyFlags {
  readonly to: string
  readonly data?: string
  readonly database?: string
}

/** Tables are printed once the copy is complete. */
async function copyCommand(
  file: string | undefined,
  { to, data, database }: CopyFlags,
  command: Command,
): Promise<void> {
  const [{ copyDatabase, databasePlaceOf }, app] = await Promise.all([
    import('../host/store/copy-database.ts'),
    loadService(file),
  ])
  const isFile = command.getOptionValueSource('data') === 'cli' && command.getOptionValueSource('database') !== 'cli'
  const from = { ...(data !== undefined && { data }), ...(database !== undefined && !isFile && { database }) }
  const lines: string[] = []
  const progress = new ProgressLine()
  try {
    await copyDatabase(app, from, databasePlaceOf(to), {
      copied: (table, rows, isOver) => {
        progress.show(`copying: ${table}, ${rows} rows`)
        if (isOver) lines.push(`${table}: ${rows} rows\n`)
      },
      filling: ({ what, rowsDone }) => progress.show(`filling: ${what}, ${rowsDone} rows`),
      leftBehind: name =>
        console.error(
          `diglot: ${name} stays behind: the contract does not have it, and it is kept in the source alone`,
        ),
    })
    progress.clear()
    await writeOutput(lines.join(''))
  } finally {
    progress.end()
  }
}
