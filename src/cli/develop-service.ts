/**
 * `diglot dev`: one process watches the files that are loaded. Another one serves, and is replaced
 * when a file changes. The compiler of the project reports wrong types; the service continues.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { attempt } from '../base/attempt.ts'
import { endpointsOf } from '../contract/endpoint-rule.ts'
import type { Implementation, Person } from '../contract/implement.ts'
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
    .description('serve on this machine alone, again after each change; check types beside; print links and tokens')
    .argument('[service.ts]', serviceText)
    .addOption(createPortOption())
    .option('--data <file>', 'database file, or :memory: (default: ./data/<service>.sqlite)')
    .option('--no-types', 'check no types')
    .action(devCommand)
}

async function devCommand(file: string | undefined, flags: DevFlags): Promise<void> {
  if (isWatched()) return serveForDevelopment(file, flags)
  if (file === undefined && (await findServiceFile()) === undefined) await loadService(file)
  const words = [...process.execArgv, '--watch', '--watch-preserve-output', ...process.argv.slice(1)]
  const children = [spawn(process.execPath, words, { stdio: 'inherit' }), ...(flags.types ? startTypeCheck() : [])]
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      for (const child of children) child.kill(signal)
    })
  await Promise.all(children.map(child => child.exitCode ?? once(child, 'close')))
}

/** Node tells the process that it watches so: it asks it for the files that it loads. */
const isWatched = (): boolean => process.env['WATCH_REPORT_DEPENDENCIES'] !== undefined

/** TypeScript of the project, which says each line behind "types:". */
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close(1000).then(() => process.exit(0)))
  console.log([...describeAddresses(app, server.url), ...(await describeTokens(app, server, data))].join('\n'))
}

const describeAddresses = ({ contract }: Implementation, url: string): readonly string[] => [
  `listening on ${url}`,
  ...contract.resources.map(({ name }) => `REST: ${url}/api/${name}`),
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
    import('../host/open-store.ts'),
  ])
  const key = openLocalKey(`${dataFileOf(app, data === undefined ? {} : { data })}.key`)
  return async ({ subject, roles, claims: all = {} }) => {
    const claims = Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (value ? [[name, value]] : [])))
    return signToken(key, app.contract.service, { subject, roles, claims, expires: tokenSeconds }, Date.now())
  }
}
