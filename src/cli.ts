#!/usr/bin/env node
/**
 * `diglot`: each command is one sentence of the API. Usage errors exit with 2, all others with 1;
 * one line, no stack.
 */
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
  .addOption(new Option('--replica <url>', 'a standby of it that safe requests are answered from').env('REPLICA_URL'))
  .option('--trace', 'say in Diglot-Trace how each request was decided; for development')
  .option('--trust-proxy', 'a proxy in front is trusted: its Forwarded fields are read, content coding is left to it')
  .addOption(new Option('--public-url <url>', 'the address clients know').env('PUBLIC_URL'))
  .option('--tls-key <file>', 'PEM key: HTTPS, with HTTP/2 for clients that choose it; needs --tls-certificate')
  .option('--tls-certificate <file>', 'PEM certificate of that key, then the intermediate ones')
  .option('--authorities <file>', 'PEM certificates whose holders may prove themselves by a certificate of their own')
  .addOption(new Option('--jwks <file or url>', 'keys of who signs bearer tokens; needs --issuer').env('DIGLOT_JWKS'))
  .addOption(new Option('--issuer <iss>', 'whose tokens are taken').env('DIGLOT_ISSUER'))
  .addOption(new Option('--audience <aud>', 'whom tokens must be for (default: the service)').env('DIGLOT_AUDIENCE'))
  .option('--roles <place>', 'where a token has the roles, such as realm_access.roles (default: roles)')
  .option('--claim <name=place>', 'where a token has a claim of the policies; may be given again', pair, {})
  .option(
    '--algorithm <name>',
    'an algorithm of tokens; may be given again (default: all asymmetric ones)',
    collect,
    [],
  )
  .addOption(
    new Option('--key <file>', 'the local key, shared by all instances (default: beside the data)').env('DIGLOT_KEY'),
  )
  .option('--keys <file>', 'API keys, as diglot key writes them (default: beside the data)')
  .option('--origin <origin>', 'an origin whose pages may call; may be given again', collect, [])
  .option('--signers <file>', 'PEM certificates, or their authorities, whose holders may sign SOAP messages')
  .option('--reply-to <address>', 'SOAP replies may go to this address and below; may be given again', collect, [])
  .option('--insecure', 'let the people of the example in on any address')
  .option('--workers <number>', 'processes that serve together on this machine', whole(1, 256), 1)
  .option('--access-log', 'a line for each request')
  .option('--no-work', 'run no jobs here: diglot work does')
  .action(serveCommand)

program
  .command('relay')
  .description('a SOAP intermediary: process what is for this node, and forward messages to the next')
  .requiredOption('--listen <port>', 'port; 0 picks a free one', whole(0, 65535))
  .requiredOption('--to <url>', 'the next node')
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--role <uri>', 'a role that it plays beside next; may be given again', collect, [])
  .option('--uri <uri>', 'what it is called in faults (default: the address it listens on)')
  .action(relayCommand)

program
  .command('work')
  .description('run the jobs of a service, and serve nothing, until stopped')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .option('--jobs <number>', 'jobs at once', whole(1, 256), 2)
  .action(workCommand)

program
  .command('jobs')
  .description('list the jobs that have failed, one JSON line each')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .option('--retry <id>', 'put this one back, with all its tries')
  .action(jobsCommand)

program
  .command('backup')
  .description('copy the database file while it is in use, and check the copy')
  .argument('<file>', 'the copy; it must not be there')
  .option('--data <file>', 'the database file', './data/orders.sqlite')
  .action(async (file: string, { data }: { readonly data: string }) => {
    const { backUpDatabase: backup } = await import('./host/operations/backup.ts')
    await backup(data, file)
  })

program
  .command('token')
  .description('print a signed bearer token for the local key, and nothing else')
  .requiredOption('--subject <name>', 'who')
  .option('--role <role>', 'a role of theirs; may be given again', collect, [])
  .option('--claim <name=value>', 'a claim of theirs, such as customer=c-1; may be given again', pair, {})
  .option('--expires <seconds>', 'seconds until it expires; may be negative', whole(-1e9, 1e9), 8 * 3600)
  .option('--audience <service>', 'the service it is for', 'orders')
  .option('--data <file>', 'the database file whose key signs', './data/orders.sqlite')
  .addOption(new Option('--key <file>', 'the key that signs (default: beside the data)').env('DIGLOT_KEY'))
  .action(tokenCommand)

program
  .command('key')
  .description('print a new API key, and nothing else; only its hash is kept')
  .requiredOption('--subject <name>', 'who')
  .option('--role <role>', 'a role of theirs; may be given again', collect, [])
  .option('--claim <name=value>', 'a claim of theirs, such as customer=c-1; may be given again', pair, {})
  .option('--expires <seconds>', 'seconds until it expires (default: never)', whole(1, 1e9))
  .option('--data <file>', 'the database file beside which it is kept', './data/orders.sqlite')
  .option('--keys <file>', 'the file it is kept in (default: beside the data)')
  .action(keyCommand)

const described = ['access', 'openapi', 'wsdl', 'wsdl2', 'xsd', 'machine'] as const
program
  .command('describe')
  .description('print what a contract says, in the form that is asked for')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--access', 'who may do what, as a Markdown table')
  .option('--openapi', 'OpenAPI 3.1')
  .option('--wsdl', 'WSDL 1.1')
  .option('--wsdl2', 'WSDL 2.0')
  .option('--xsd', 'the XML Schema')
  .option('--machine', 'the states of each resource, as Mermaid diagrams')
  .option('--contract <version>', 'of this version, such as v1 (default: the newest)')
  .option('--address <url>', 'the address that is written down', 'http://127.0.0.1:8080')
  .action(describeCommand)

interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly data?: string
  readonly database?: string
  readonly replica?: string
  readonly trace?: boolean
  readonly trustProxy?: boolean
  readonly publicUrl?: string
  readonly tlsKey?: string
  readonly tlsCertificate?: string
  readonly authorities?: string
  readonly signers?: string
  readonly jwks?: string
  readonly issuer?: string
  readonly audience?: string
  readonly roles?: string
  readonly claim: Readonly<Record<string, string>>
  readonly algorithm: readonly string[]
  readonly key?: string
  readonly keys?: string
  readonly origin: readonly string[]
  readonly replyTo: readonly string[]
  readonly insecure?: boolean
  readonly workers: number
  readonly accessLog?: boolean
  readonly work: boolean
}
function tlsOf({ tlsKey: key, tlsCertificate: certificate, authorities }: ServeFlags): ServeOptions['tls'] {
  if (key !== undefined && certificate !== undefined) return { key, certificate, authorities }
  if (key === undefined && certificate === undefined && authorities === undefined) return undefined
  const needed = authorities === undefined ? 'go together' : 'are needed for --authorities'
  program.error(`error: --tls-key and --tls-certificate ${needed}`, { exitCode: 2 })
}
function tokensOf({ jwks, issuer = '', audience, roles, claim, algorithm }: ServeFlags): ServeOptions['tokens'] {
  if (jwks === undefined && issuer !== '') program.error('error: --issuer is for --jwks', { exitCode: 2 })
  if (jwks === undefined) return undefined
  return {
    jwks,
    issuer,
    audience,
    roles,
    ...(Object.keys(claim).length > 0 && { claims: claim }),
    ...(algorithm.length > 0 && { algorithms: algorithm }),
  }
}

async function serveCommand(file: string, flags: ServeFlags): Promise<void> {
  const together = flags.workers > 1 ? await import('./host/operations/cluster.ts') : undefined
  if (together && !together.isWorker()) return serveTogether(together, flags.workers)
  const { serve } = await import('./host/serve.ts')
  const siblings = together?.connectToPrimary()
  const tls = tlsOf(flags)
  const tokens = tokensOf(flags)
  const app = await load(file)
  const options: ServeOptions = {
    port: flags.port,
    host: flags.host,
    ...(flags.data !== undefined && { data: flags.data }),
    ...(flags.database !== undefined && { database: flags.database }),
    ...(flags.replica !== undefined && { replica: flags.replica }),
    ...(tls && { tls }),
    ...(tokens && { tokens }),
    ...(flags.key !== undefined && { key: flags.key }),
    ...(flags.keys !== undefined && { keys: flags.keys }),
    insecure: flags.insecure === true,
    replies: flags.replyTo,
    accessLog: flags.accessLog === true,
    ...(!flags.work && { work: false as const }),
    siblings,
    ...(flags.signers !== undefined && {
      messageSecurity: (await import('./host/message-security.ts')).readSigners(flags.signers),
    }),
    settings: {
      origins: flags.origin,
      trace: flags.trace === true,
      trustProxy: flags.trustProxy === true,
      ...(flags.publicUrl !== undefined && { publicUrl: flags.publicUrl }),
    },
  }
  const server = await serve(app, options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  process.on('SIGHUP', () => {
    try {
      server.reload()
    } catch (thrown) {
      complain(thrown)
    }
  })
  const lines = [`listening on ${server.url}`]
  const clerk = app.seed().people?.find(person => person.roles.includes('clerk'))
  const collection = app.contract.resources[0]?.name
  if (clerk && collection && !tokens) {
    const token = await server.token(clerk.subject, clerk.roles)
    lines.push(`try: curl -H 'Authorization: Bearer ${token}' ${server.url}/api/${collection}`)
  }
  if (siblings) siblings.ready(lines)
  else console.log(lines.join('\n'))
}

async function serveTogether(
  { forkWorkers: workers, WorkerFailed }: typeof import('./host/operations/cluster.ts'),
  count: number,
) {
  const running = workers(count, why => complain(why))
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void running.close().then(() => process.exit(0)))
  process.on('SIGHUP', () => running.signal('SIGHUP'))
  try {
    console.log((await running.ready).join('\n'))
  } catch (thrown) {
    await running.close()
    if (thrown instanceof WorkerFailed) process.exit(thrown.status)
    throw thrown
  }
}

interface RelayFlags {
  readonly listen: number
  readonly to: string
  readonly host: string
  readonly role: readonly string[]
  readonly uri?: string
}
async function relayCommand({ listen: port, to, host, role: roles, uri }: RelayFlags): Promise<void> {
  const { startSoapRelay: relaying } = await import('./host/soap-relay.ts')
  const listener = await relaying({ port, host, to, roles, uri, onError: complain })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void listener.close(10_000).then(() => process.exit(0)))
  console.log(`relaying from ${listener.url} to ${to}`)
}

interface StoreFlags {
  readonly data?: string
  readonly database?: string
}
async function workCommand(file: string, { jobs, ...flags }: StoreFlags & { readonly jobs: number }): Promise<void> {
  const [{ startWorkers: work }, app] = await Promise.all([import('./host/serve.ts'), load(file)])
  const working = await work(app, { ...flags, work: jobs })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void working.close().then(() => process.exit(0)))
  console.log(`working on ${app.contract.jobs.map(job => job.job).join(', ') || 'nothing: the contract has no jobs'}`)
}

async function jobsCommand(file: string, { retry, ...flags }: StoreFlags & { readonly retry?: string }): Promise<void> {
  const [{ openStore }, { failedJobs, retryJob: retried }, app] = await Promise.all([
    import('./host/serve.ts'),
    import('./service/job.ts'),
    load(file),
  ])
  const store = await openStore(app, flags)
  try {
    if (retry !== undefined && !(await retried(store, retry, Date.now()))) throw new Error(`${retry} is no failed job`)
    if (retry === undefined) for (const job of await failedJobs(store)) console.log(JSON.stringify(job))
  } finally {
    await store.close()
  }
}

interface TokenFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires: number
  readonly audience: string
  readonly data: string
  readonly key?: string
}
async function tokenCommand(flags: TokenFlags): Promise<void> {
  const [{ openLocalKey: localKey }, { signToken: sign }, { mkdirSync }, { dirname }] = await Promise.all([
    import('./identity/local-key.ts'),
    import('./identity/bearer-token.ts'),
    import('node:fs'),
    import('node:path'),
  ])
  mkdirSync(dirname(flags.data), { recursive: true })
  const spec = { subject: flags.subject, roles: flags.role, claims: flags.claim, expires: flags.expires }
  const key = localKey(flags.key ?? `${flags.data}.key`)
  console.log(await sign(key, flags.audience, spec, Date.now()))
}

interface KeyFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires?: number
  readonly data: string
  readonly keys?: string
}
async function keyCommand({ subject, role, claim, expires, data, keys }: KeyFlags): Promise<void> {
  const [{ issueKey }, { mkdirSync }, { dirname }] = await Promise.all([
    import('./identity/api-key.ts'),
    import('node:fs'),
    import('node:path'),
  ])
  const file = keys ?? `${data}.keys`
  mkdirSync(dirname(file), { recursive: true })
  const until = expires === undefined ? {} : { expires: Date.now() + expires * 1000 }
  console.log(issueKey(file, { subject, roles: role, claims: claim, ...until }))
}

type DescribeFlags = { readonly [K in (typeof described)[number]]?: boolean } & {
  readonly contract?: string
  readonly address: string
}
async function describeCommand(file: string, flags: DescribeFlags): Promise<void> {
  const [what = 'access', ...more] = described.filter(each => flags[each])
  if (more.length > 0 || !flags[what])
    program.error(`error: name one of ${described.map(each => `--${each}`).join(', ')}`, { exitCode: 2 })
  const app = await load(file)
  const [
    { writeAccessMatrix: access, writeStateDiagram: diagram, writeWsdl11: wsdl11, writeWsdl20: wsdl20, writeXsd: xsd },
    { newestVersion: newest },
  ] = await Promise.all([import('./describe/index.ts'), import('./contract/service.ts')])
  const { contract } = app
  const version = flags.contract ?? newest(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new Error(`${version} is no version of it: versions are ${Object.keys(contract.versions).join(', ')}`)
  const address = `${flags.address.replace(/\/+$/, '')}/soap/${version}`
  const written: Readonly<Record<(typeof described)[number], () => string | Promise<string>>> = {
    access: () => access(contract),
    openapi: async () => (await import('./pages/openapi.ts')).describeService(app, flags.address),
    wsdl: () => wsdl11(contract, version, { address }),
    wsdl2: () => wsdl20(contract, version, { address }),
    xsd: () => xsd(contract, version),
    machine: () => contract.resources.flatMap(each => diagram(each) ?? []).join('\n'),
  }
  process.stdout.once('error', unread)
  process.stdout.write(`${(await written[what]()).trimEnd()}\n`)
}

/** Who reads has seen enough (`| head`): the rest is not written, and nothing is wrong. */
function unread(thrown: Error): void {
  if (!('code' in thrown && thrown.code === 'EPIPE')) throw thrown
}

/** Commander's own errors have been said; a wrong flag or a missing word is a usage error. */
function exitCode(thrown: unknown): number {
  if (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.')) {
    return 'exitCode' in thrown && thrown.exitCode === 0 ? 0 : 2
  }
  complain(thrown)
  return 1
}

function complain(thrown: unknown): void {
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  process.stderr.write(`diglot: ${text.split('\n').join('\ndiglot: ')}\n`)
}

try {
  await program.parseAsync()
} catch (thrown) {
  process.exitCode = exitCode(thrown)
  if (process.exitCode !== 0) process.exit()
}
