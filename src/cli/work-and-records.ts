/** Commands for those who run a service: work, jobs, backup, audit. */
import { type Command, Option } from 'commander'
import { loadService, locateService, serviceText, splitArguments } from './locate-service.ts'
import { timeOption, wholeNumberOption } from './option-types.ts'
import { failUsage, flushOutput, writeOutput } from './usage.ts'

/** Adds `work`, `jobs`, `backup` and `audit`. */
export function addRecordCommands(program: Command): void {
  program
    .command('work')
    .description('run the jobs of a service until stopped, without serving')
    .argument('[service.ts]', serviceText)
    .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
    .option('--jobs <number>', 'jobs at once', wholeNumberOption(1, 256), 2)
    .action(workCommand)

  program
    .command('jobs')
    .description('list the failed jobs, one JSON line each')
    .argument('[service.ts]', serviceText)
    .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
    .option('--limit <number>', 'number of jobs to list: those that failed last', wholeNumberOption(1, 1_000_000), 1000)
    .option('--retry <id>', 'queue this job again, with all its tries')
    .action(jobsCommand)

  program
    .command('backup')
    .description('copy the database file while it is in use, and verify the copy')
    .usage('[options] [service.ts] <copy>')
    .argument('[service.ts]', serviceText)
    .argument('[copy]', 'the copy, which must not exist')
    .option('--data <file>', 'the database file (default: ./data/<service>.sqlite)')
    .action(backupCommand)

  program
    .command('audit')
    .description('print who did what, one JSON line each, the oldest first; --remove removes the printed rows')
    .argument('[service.ts]', serviceText)
    .option('--before <time>', 'only rows before this date or time, such as 2026-01-31', timeOption)
    .option('--remove', 'remove the printed rows; requires --before')
    .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
    .action(auditCommand)
}

interface StoreFlags {
  readonly data?: string
  readonly database?: string
}
async function workCommand(
  file: string | undefined,
  { jobs, ...flags }: StoreFlags & { readonly jobs: number },
): Promise<void> {
  if (flags.data === ':memory:' && flags.database === undefined)
    failUsage('a database in memory has only jobs that start there: give --data the file of the service')
  const [{ startWorkers: work }, app] = await Promise.all([import('../host/serve.ts'), loadService(file)])
  const working = await work(app, { ...flags, work: jobs })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void working.close().then(() => process.exit(0)))
  console.log(`working on ${app.contract.jobs.map(job => job.job).join(', ') || 'nothing: the contract has no jobs'}`)
}

async function jobsCommand(
  file: string | undefined,
  { retry, limit, ...flags }: StoreFlags & { readonly retry?: string; readonly limit: number },
): Promise<void> {
  const [{ openKnownStore }, { listFailedJobs, retryJob }, app] = await Promise.all([
    import('../host/store/open-store.ts'),
    import('../service/job.ts'),
    loadService(file),
  ])
  const store = await openKnownStore(app, flags)
  try {
    if (retry !== undefined && !(await retryJob(store, retry, Date.now())))
      throw new Error(`${retry} is not a failed job: run the command without --retry to list them`)
    if (retry !== undefined) return
    const { jobs, more } = await listFailedJobs(store, limit)
    for (const job of jobs) if (!(await writeOutput(`${JSON.stringify(job)}\n`))) return
    if (more) console.error(`diglot: only the last ${limit} failed jobs are listed: give a larger --limit for the rest`)
  } finally {
    await store.close()
  }
}

async function backupCommand(
  first: string | undefined,
  second: string | undefined,
  flags: { readonly data?: string },
): Promise<void> {
  const [file, copy] = splitArguments('copy', first, second)
  const { data } = await locateService(file, flags)
  const { backUpDatabase } = await import('../host/operations/backup.ts')
  await backUpDatabase(data, copy)
}

interface AuditFlags extends StoreFlags {
  readonly before?: number
  readonly remove?: boolean
}
async function auditCommand(file: string | undefined, { before, remove, ...flags }: AuditFlags): Promise<void> {
  if (remove && before === undefined) failUsage('--remove requires --before')
  const [{ openKnownStore }, { listDeeds, ListedDeeds }, app] = await Promise.all([
    import('../host/store/open-store.ts'),
    import('../host/operations/audit.ts'),
    loadService(file),
  ])
  const store = await openKnownStore(app, flags)
  const until = before ?? Number.MAX_SAFE_INTEGER
  try {
    const listed = new ListedDeeds()
    for await (const { sequence, at, ...deed } of listDeeds(store, until)) {
      const isTaken = await writeOutput(`${JSON.stringify({ sequence, at: new Date(at).toISOString(), ...deed })}\n`)
      if (!isTaken && remove) throw new Error('the reader of standard output has gone: nothing is removed')
      if (!isTaken) return
      if (remove) listed.add(sequence)
    }
    if (remove) flushOutput()
    await listed.remove(store)
  } finally {
    await store.close()
  }
}
