/**
 * `diglot dev`: one process watches the files that are loaded. Another one serves, and is replaced
 * when a file changes. The compiler of the project reports wrong types; the service continues.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, type FSWatcher, watch } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { attempt } from '../base/attempt.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import type { Implementation, Person } from '../contract/implement.ts'
import { listCollectionPaths } from '../contract/nesting.ts'
import type { Server } from '../host/serve.ts'
import { findServiceFile, loadService, serviceText } from './locate-service.ts'
import { createPortOption } from './option-types.ts'

interface DevFlags {
  readonly port: number
  readonly data?: string
  readonly types: boolean
}

/** Adds `dev`. */
export function addDevCommand(program: Command): void {
  program
    .command('dev')
    .description(
      'serve on this machine only, restart after each change, check types in parallel, print links and tokens',
    )
    .argument('[service.ts]', serviceText)
    .addOption(createPortOption())
    .option('--data <file>', 'database file, or :memory: (default: ./data/<service>.sqlite)')
    .option('--no-types', 'skip type checks')
    .action(devCommand)
}

async function devCommand(file: string | undefined, flags: DevFlags): Promise<void> {
  if (isWatched()) return serveForDevelopment(file, flags)
  if (file === undefined && (await findServiceFile()) === undefined) await loadService(file)
  const checks = flags.types ? startTypeCheck() : []
  const ended = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      ended.abort()
      for (const child of checks) child.kill(signal)
    })
  await serveAndRestart(ended.signal)
  await Promise.all(checks.map(child => child.exitCode ?? once(child, 'close')))
}

/** In this environment variable, Node asks a process to send its parent the files that it loads. */
const reporting = 'WATCH_REPORT_DEPENDENCIES'
const isWatched = (): boolean => process.env[reporting] !== undefined

/** Serves in a separate process, and in a new one as soon as a file that it has loaded changes. */
async function serveAndRestart(ended: AbortSignal): Promise<void> {
  const words = [...process.execArgv, ...process.argv.slice(1)]
  const stop = new Promise<void>(resolve => ended.addEventListener('abort', () => resolve(), { once: true }))
  while (!ended.aborted) {
    const files = new WatchedFiles()
    const stdio: StdioOptions = ['inherit', 'inherit', 'inherit', 'ipc']
    const child = spawn(process.execPath, words, { stdio, env: { ...process.env, [reporting]: '1' } })
    const closed = once(child, 'close')
    child.on('message', message => files.add(filesOfMessage(message)))
    await Promise.race([files.changed, stop])
    files.close()
    child.kill('SIGTERM')
    await closed
  }
}

/**
 * Node's messages about modules: `watch:import` has addresses, `watch:require` paths, some of them
 * null.
 */
function filesOfMessage(message: unknown): readonly string[] {
  const { 'watch:import': imported = [], 'watch:require': required = [] } = message as ModuleReport
  const isText = (each: string | null): each is string => each !== null
  const files = imported.filter(isText).filter(each => each.startsWith('file:'))
  return [...files.map(each => fileURLToPath(each)), ...required.filter(isText)]
}
type ModuleReport = Readonly<Record<string, readonly (string | null)[]>>

/**
 * Watches the folders of files: an editor may save by replacing a file, and a watch of the file
 * itself would stay with the old one.
 */
class WatchedFiles {
  readonly changed: Promise<void>
  #resolve: () => void = () => {}
  readonly #files = new Set<string>()
  /** Undefined for a folder that cannot be watched, which is reported once. */
  readonly #folders = new Map<string, FSWatcher | undefined>()
  constructor() {
    this.changed = new Promise(resolve => {
      this.#resolve = resolve
    })
  }
  add(files: readonly string[]): void {
    for (const file of files) {
      this.#files.add(file)
      const folder = dirname(file)
      if (!this.#folders.has(folder)) this.#watchFolder(folder)
    }
  }
  /**
   * A folder may be gone, and a system limits its watches: the service continues in either case.
   */
  #watchFolder(folder: string): void {
    const watcher = attempt(
      () => watch(folder, (_what, name) => this.#look(folder, name)),
      (thrown): thrown is NodeJS.ErrnoException => thrown instanceof Error && 'code' in thrown,
    )
    this.#folders.set(folder, watcher)
    if (!watcher) reportUnwatched(folder)
    watcher?.on('error', () => {
      watcher.close()
      reportUnwatched(folder)
    })
  }
  close(): void {
    for (const watcher of this.#folders.values()) watcher?.close()
  }
  /** A save causes several events: the file is complete after the last one. */
  #look(folder: string, name: string | null): void {
    if (name !== null && this.#files.has(join(folder, name))) setTimeout(this.#resolve, settledMs)
  }
}
const settledMs = 100
const reportUnwatched = (folder: string): void =>
  console.error(`diglot: ${folder} cannot be watched: save a file elsewhere, or start dev again, after changes there`)

/** The project's TypeScript; each of its lines is printed after "types:". */
function startTypeCheck(): readonly ChildProcess[] {
  const near = createRequire(resolve('package.json'))
  const manifest = attempt(
    () => near.resolve('typescript/package.json'),
    (thrown): thrown is Error => thrown instanceof Error,
  )
  if (manifest === undefined || !existsSync('tsconfig.json')) {
    console.log('types: not checked: install typescript, and add a tsconfig.json')
    return []
  }
  const words = [resolve(manifest, '../bin/tsc'), '--noEmit', '--watch', '--preserveWatchOutput', '--pretty', 'false']
  const checking = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  createInterface({ input: checking.stdout }).on('line', line => {
    if (line.trim() !== '') console.log(`types: ${line}`)
  })
  return [checking]
}

async function serveForDevelopment(file: string | undefined, flags: DevFlags): Promise<void> {
  const [app, { startService }] = await Promise.all([loadService(file), import('../host/serve.ts')])
  const { port, data } = flags
  const server = await startService(app, { port, host: '127.0.0.1', ...(data !== undefined && { data }) })
  const end = (): void => void server.close(1000).then(() => process.exit(0))
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  process.once('disconnect', end) // the process that restarts it was killed
  console.log([...describeAddresses(app, server.url), ...(await describeTokens(app, server, data))].join('\n'))
}

const describeAddresses = ({ contract }: Implementation, url: string): readonly string[] => [
  `listening on ${url}`,
  ...(contract.hasRest ? listCollectionPaths(contract.resources).map(path => `REST: ${url}/api${path}`) : []),
  ...endpointsOf(contract).map(({ path }) => `WSDL: ${url}${path}?wsdl`),
]

/** A token for each person of the seed, with their claims. */
async function describeTokens(app: Implementation, server: Server, data?: string): Promise<readonly string[]> {
  const people = app.seed().people ?? []
  const sign = data === ':memory:' ? undefined : await createTokenSigner(app, data)
  const tokens = people.map(each => (sign ? sign(each) : server.token(each.subject, each.roles)))
  const signed = await Promise.all(tokens)
  return people.map(({ subject, roles }, at) => `${subject} (${roles.join(', ')}): Bearer ${signed[at]}`)
}

const tokenSeconds = 8 * 3600

async function createTokenSigner(app: Implementation, data?: string): Promise<(person: Person) => Promise<string>> {
  const [{ openLocalKey }, { signToken }, { dataFileOf }] = await Promise.all([
    import('../identity/local-key.ts'),
    import('../identity/bearer-token.ts'),
    import('../host/store/open-store.ts'),
  ])
  const key = openLocalKey(`${dataFileOf(app, data === undefined ? {} : { data })}.key`)
  return async ({ subject, roles, claims: all = {} }) => {
    const claims = Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : [])))
    return signToken(key, app.contract.service, { subject, roles, claims, expires: tokenSeconds }, Date.now())
  }
}
