#!/usr/bin/env node
/** `diglot`: each command is one sentence of the API. Usage errors exit with 2, all others with 1; one line, no stack. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Implementation } from './contract/implement.ts'
import type { ServeOptions } from './host/serve.ts'

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= least && number <= most))
      throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`)
    return number
  }
const collect = (text: string, before: readonly string[]): string[] => [...before, text]
const pair = (text: string, before: Readonly<Record<string, string>>): Record<string, string> => {
  const [name, ...value] = text.split('=')
  if (!name || value.length === 0) throw new InvalidArgumentError('must be NAME=VALUE.')
  return { ...before, [name]: value.join('=') }
}

/** An application's default export. Throws with the cure when the file is not one. */
async function load(file: string): Promise<Implementation> {
  const { existsSync } = await import('node:fs')
  if (!existsSync(file)) throw new Error(`${file} is not there: name the file that exports your implement(…)`)
  const module: { default?: Partial<Implementation> } = await import(pathToFileURL(resolve(file)).href).catch(
    thrown => {
      throw new Error(`${file} cannot be loaded: ${thrown instanceof Error ? thrown.message : thrown}`)
    },
  )
  const app = module.default
  if (!app?.contract || !app.handlers) throw new Error(`${file} has no default export made by implement(…)`)
  return app as Implementation // made by `implement`: it has both
}

const program = new Command('diglot')
  .description('One service contract, served at once as resource-oriented HTTP and as SOAP.')
  .version('0.1.0')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'diglot: ')) })

program
  .command('serve')
  .description('serve a contract and its handlers until stopped')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .addOption(
    new Option('--port <number>', 'port; 0 picks a free one').env('PORT').default(8080).argParser(whole(0, 65535)),
  )
  .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
  .option('--data <file>', 'database file, or :memory: (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .option('--trace', 'say in Diglot-Trace how each request was decided; for development')
  .option('--trust-proxy', 'a proxy in front is trusted: its Forwarded fields are read, content coding is left to it')
  .addOption(new Option('--public-url <url>', 'the address clients know').env('PUBLIC_URL'))
  .option('--tls-key <file>', 'PEM key: HTTPS, with HTTP/2 for clients that choose it; needs --tls-certificate')
  .option('--tls-certificate <file>', 'PEM certificate of that key, then the intermediate ones')
  .action(serveCommand)

program
  .command('token')
  .description('print a signed bearer token for the local key, and nothing else')
  .requiredOption('--subject <name>', 'who')
  .option('--role <role>', 'a role of theirs; may be given again', collect, [])
  .option('--claim <name=value>', 'a claim of theirs, such as customer=c-1; may be given again', pair, {})
  .option('--expires <seconds>', 'seconds until it expires; may be negative', whole(-1e9, 1e9), 8 * 3600)
  .option('--audience <service>', 'the service it is for', 'orders')
  .option('--data <file>', 'the database file whose key signs', './data/orders.sqlite')
  .action(tokenCommand)

interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly data?: string
  readonly database?: string
  readonly trace?: boolean
  readonly trustProxy?: boolean
  readonly publicUrl?: string
  readonly tlsKey?: string
  readonly tlsCertificate?: string
}
function tlsOf({ tlsKey: key, tlsCertificate: certificate }: ServeFlags): ServeOptions['tls'] {
  if (key !== undefined && certificate !== undefined) return { key, certificate }
  if (key === undefined && certificate === undefined) return undefined
  program.error('error: --tls-key and --tls-certificate go together', { exitCode: 2 })
}

async function serveCommand(file: string, flags: ServeFlags): Promise<void> {
  const { serve } = await import('./host/serve.ts')
  const tls = tlsOf(flags)
  const app = await load(file)
  const options: ServeOptions = {
    port: flags.port,
    host: flags.host,
    ...(flags.data !== undefined && { data: flags.data }),
    ...(flags.database !== undefined && { database: flags.database }),
    ...(tls && { tls }),
    settings: {
      trace: flags.trace === true,
      trustProxy: flags.trustProxy === true,
      ...(flags.publicUrl !== undefined && { publicUrl: flags.publicUrl }),
    },
  }
  const server = await serve(app, options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  console.log(`listening on ${server.url}`)
  const clerk = app.seed().people?.find(person => person.roles.includes('clerk'))
  const collection = app.contract.resources[0]?.name
  if (clerk && collection) {
    const token = await server.token(clerk.subject, clerk.roles)
    console.log(`try: curl -H 'Authorization: Bearer ${token}' ${server.url}/api/${collection}`)
  }
}

interface TokenFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires: number
  readonly audience: string
  readonly data: string
}
async function tokenCommand(flags: TokenFlags): Promise<void> {
  const [{ localKey }, { sign }, { mkdirSync }, { dirname }] = await Promise.all([
    import('./host/key.ts'),
    import('./host/token.ts'),
    import('node:fs'),
    import('node:path'),
  ])
  mkdirSync(dirname(flags.data), { recursive: true })
  const spec = { subject: flags.subject, roles: flags.role, claims: flags.claim, expires: flags.expires }
  console.log(await sign(localKey(`${flags.data}.key`), flags.audience, spec, Date.now()))
}

/** Commander's own errors have been said; a wrong flag or a missing word is a usage error. */
function exitCode(thrown: unknown): number {
  if (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.')) {
    return 'exitCode' in thrown && thrown.exitCode === 0 ? 0 : 2
  }
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  process.stderr.write(`diglot: ${text.split('\n').join('\ndiglot: ')}\n`)
  return 1
}

try {
  await program.parseAsync()
} catch (thrown) {
  process.exitCode = exitCode(thrown)
  if (process.exitCode !== 0) process.exit()
}
