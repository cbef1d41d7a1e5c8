#!/usr/bin/env node
/**
 * `diglot`: each command is one sentence of the API. Usage errors exit with 2, all others with 1,
 * in one line without a stack.
 */
import './host/node-version.ts'

import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { CheckFlags } from './check/command.ts'
import type { Implementation } from './contract/implement.ts'
import type { DiffFlags } from './diff/diff-command.ts'
import type { LoadedContract } from './diff/diff-sources.ts'
import type { PeopleFlags } from './host/operations/people-command.ts'
import type { ServeOptions, Server } from './host/serve.ts'
import { type CertificateNameKind, certificateNameKinds } from './identity/certificate-name.ts'
import type { ImportFlags } from './import/import-command.ts'
import type { CertificatePurpose } from './security/crypto/trust.ts'
import type { StarterExample } from './starter/create-project.ts'

const wholeNumberOption =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^-?[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (!(number >= min && number <= max))
      throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`)
    return number
  }
const collectOption = (text: string, before: readonly string[]): string[] => [...before, text]
const pairOption = (text: string, before: Readonly<Record<string, string>>): Record<string, string> => {
  const [name, ...value] = text.split('=')
  if (!name || value.length === 0) throw new InvalidArgumentError('must be NAME=VALUE')
  return { ...before, [name]: value.join('=') }
}

const timeOption = (text: string): number => {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('must be a date or a time, such as 2026-01-31')
  return time
}
const serviceText =
  'the file whose default export is made by implement(…) (default: the service whose database --data is, or the example)'

/** An application's default export. Throws an error that says what to give for another file. */
async function loadImplementation(file: string): Promise<Implementation> {
  const { existsSync } = await import('node:fs')
  if (!existsSync(file)) throw new Error(`${file} not found: give the file that exports your implement(…)`)
  const module: { default?: Partial<Implementation> } = await import(pathToFileURL(resolve(file)).href).catch(
    thrown => {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      const cure = /outside a module/.test(why) ? ': add "type": "module" to its package.json' : ''
      throw new Error(`${file} cannot be loaded: ${why}${cure}`)
    },
  )
  const app = module.default
  if (!app?.contract || !app.handlers) throw new Error(`${file} has no default export made by implement(…)`)
  return app as Implementation // made by `implement`
}

const proxyFields: readonly string[] = ['x-forwarded', 'forwarded']

const program = new Command('diglot')
  .description('one service contract, served as resource-oriented HTTP and as SOAP')
  .version('0.2.0')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'diglot: ')) })

program
  .command('new')
  .description('make a folder with a service of your own, its tests, a container and checks; nothing is overwritten')
  .argument('<folder>', 'the folder, whose name is the name of the service')
  .addOption(
    new Option(
      '--from <example>',
      'one resource with states, the smallest service, or a clinic with files, jobs and versions',
    )
      .choices(['tickets', 'hello', 'clinic'] satisfies StarterExample[])
      .default('tickets'),
  )
  .action(newCommand)

program
  .command('serve')
  .description('serve a contract and its handlers until stopped')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .addOption(
    new Option('--port <number>', 'port; 0 picks a free one')
      .env('PORT')
      .default(8080)
      .argParser(wholeNumberOption(0, 65535)),
  )
  .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
  .option('--data <file>', 'database file, or :memory: (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .addOption(new Option('--replica <url>', 'a standby of the database, for safe requests').env('REPLICA_URL'))
  .option('--trace', 'add Diglot-Trace to responses, for development')
  .addOption(
    new Option(
      '--trust-proxy [fields]',
      'trust the proxy in front: read these fields of it and no others (default: x-forwarded), leave content coding to it',
    ).choices(proxyFields),
  )
  .addOption(new Option('--public-url <url>', 'the address that clients use').env('PUBLIC_URL'))
  .option(
    '--tls-key <file>',
    'PEM key: serve HTTPS, with HTTP/2 for clients that choose it; requires --tls-certificate',
  )
  .option('--tls-certificate <file>', 'PEM certificate of the key, then the intermediate ones')
  .option('--authorities <file>', 'PEM certificates of authorities that issue client certificates')
  .addOption(
    new Option('--jwks <file or url>', 'keys of the issuer of bearer tokens; requires --issuer').env('DIGLOT_JWKS'),
  )
  .addOption(new Option('--issuer <iss>', 'issuer of accepted tokens').env('DIGLOT_ISSUER'))
  .addOption(
    new Option('--audience <aud>', 'audience of accepted tokens (default: the service)').env('DIGLOT_AUDIENCE'),
  )
  .option('--roles <place>', 'place of the roles in a token, such as realm_access.roles (default: roles)')
  .option('--claim <name=place>', 'place of a claim of the policies in a token; repeatable', pairOption, {})
  .option(
    '--algorithm <name>',
    'algorithm of accepted tokens; repeatable (default: all asymmetric ones)',
    collectOption,
    [],
  )
  .addOption(
    new Option('--key <file>', 'the local key, shared by all instances (default: next to the data)').env('DIGLOT_KEY'),
  )
  .option('--keys <file>', 'API keys, as diglot key writes them (default: next to the data)')
  .option('--origin <origin>', 'an origin whose pages may call; repeatable', collectOption, [])
  .option('--signers <file>', 'PEM certificates of signers of SOAP messages, or of their authorities')
  .option('--message-key <file>', 'PEM key that signs SOAP answers and decrypts requests; read again when it changes')
  .option('--message-certificate <file>', 'its certificate, in PEM')
  .option('--crl <file>', 'CRLs of the authorities of signers, PEM or DER; repeatable', collectOption, [])
  .addOption(
    new Option('--revocation <mode>', 'when no fresh CRL tells: refuse, or accept what no list revokes').choices([
      'required',
      'ifKnown',
    ]),
  )
  .option(
    '--purpose <name>',
    'an extendedKeyUsage that signers may have, such as clientAuth; repeatable',
    collectOption,
    [],
  )
  .addOption(
    new Option('--certificate-name <kind>', 'the names by which certificates stand for people')
      .choices(certificateNameKinds)
      .default('commonName'),
  )
  .option('--reply-to <address>', 'allow SOAP replies to this address and below; repeatable', collectOption, [])
  .option('--insecure', 'accept the passwords of the example on any address')
  .addOption(
    new Option('--http <server>', 'who reads HTTP: our own server, or node:http (HTTP/1.1 alone)')
      .choices(['own', 'node'])
      .default('own'),
  )
  .option('--workers <number>', 'processes that serve together on this machine', wholeNumberOption(1, 256), 1)
  .option('--access-log', 'log a line for each request')
  .option('--no-work', 'run no jobs here; diglot work does')
  .action(serveCommand)

program
  .command('relay')
  .description('a SOAP intermediary: process the blocks for this node, forward messages to the next')
  .requiredOption('--listen <port>', 'port; 0 picks a free one', wholeNumberOption(0, 65535))
  .requiredOption('--to <url>', 'the next node')
  .option('--host <address>', 'address to listen on', '127.0.0.1')
  .option('--role <uri>', 'a role that this node plays besides next; repeatable', collectOption, [])
  .option('--uri <uri>', 'URI of this node in faults (default: the address it listens on)')
  .action(relayCommand)

program
  .command('import')
  .description('write the contract of a WSDL 1.1, or the types of an XML Schema, as TypeScript')
  .argument('<file>', 'a WSDL or XSD; what it imports is looked up next to it, and never fetched')
  .option('-o, --output <file>', 'the file to write (default: standard output)')
  .option('--from <folder>', 'a folder with documents that it imports by address; repeatable', collectOption, [])
  .option('--force', 'replace the file')
  .action(importCommand)

program
  .command('work')
  .description('run the jobs of a service until stopped, without serving')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .option('--jobs <number>', 'jobs at once', wholeNumberOption(1, 256), 2)
  .action(workCommand)

program
  .command('jobs')
  .description('list the failed jobs, one JSON line each')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .option('--retry <id>', 'queue this job again, with all its tries')
  .action(jobsCommand)

program
  .command('backup')
  .description('copy the database file while it is in use, and check the copy')
  .usage('[options] [service.ts] <copy>')
  .argument('<service.ts>', serviceText)
  .argument('[copy]', 'the copy, which must not exist')
  .option('--data <file>', 'the database file (default: ./data/<service>.sqlite)')
  .action(backupCommand)

program
  .command('audit')
  .description('print who did what, one JSON line each, the oldest first; --remove removes it once it is printed')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--before <time>', 'only what was done before this date or time, such as 2026-01-31', timeOption)
  .option('--remove', 'remove what was printed; requires --before')
  .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
  .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
  .action(auditCommand)

program
  .command('token')
  .description('print a bearer token signed by the local key, and nothing else')
  .argument('[service.ts]', serviceText)
  .requiredOption('--subject <name>', 'name of the caller')
  .option('--role <role>', 'a role of the caller; repeatable', collectOption, [])
  .option('--claim <name=value>', 'a claim of the caller, such as customer=c-1; repeatable', pairOption, {})
  .option('--expires <seconds>', 'seconds until it expires; may be negative', wholeNumberOption(-1e9, 1e9), 8 * 3600)
  .option('--audience <service>', 'the service that accepts it (default: the service)')
  .option('--data <file>', 'the database file whose key signs (default: ./data/<service>.sqlite)')
  .addOption(new Option('--key <file>', 'the key that signs (default: next to the data)').env('DIGLOT_KEY'))
  .action(tokenCommand)

program
  .command('key')
  .description('print a new API key, and nothing else; only its hash is stored')
  .argument('[service.ts]', serviceText)
  .requiredOption('--subject <name>', 'name of the caller')
  .option('--role <role>', 'a role of the caller; repeatable', collectOption, [])
  .option('--claim <name=value>', 'a claim of the caller, such as customer=c-1; repeatable', pairOption, {})
  .option('--expires <seconds>', 'seconds until it expires (default: never)', wholeNumberOption(1, 1e9))
  .option('--data <file>', 'the database file next to which it is stored (default: ./data/<service>.sqlite)')
  .option('--keys <file>', 'the file in which it is stored (default: next to the data)')
  .action(keyCommand)

const people = program
  .command('people')
  .description('the people of a service who have a password; passwords are read from standard input')
const commandOnPeople = (name: string, description: string): Command =>
  people
    .command(name)
    .description(description)
    .argument('<service.ts>', 'the file whose default export is made by implement(…)')
    .option('--data <file>', 'database file (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL in place of a file').env('DATABASE_URL'))
const withDigests = (command: Command): Command =>
  command
    .option('--digests', 'also seal the password under the local key, so that UsernameToken digests can be checked')
    .addOption(new Option('--key <file>', 'the local key (default: next to the data)').env('DIGLOT_KEY'))

withDigests(commandOnPeople('add', 'add a person, whose password is the one line of standard input'))
  .argument('<name>', 'name of the person')
  .option('--role <role>', 'a role of the person; repeatable', collectOption, [])
  .option('--claim <name=value>', 'a claim of the person, such as customer=c-1; repeatable', pairOption, {})
  .action(async (file: string, name: string, { role, claim, ...flags }: AddFlags) => {
    const { addOnePerson, app } = await loadPeople(file)
    await addOnePerson(app, flags, { subject: name, roles: role, claims: claim })
  })
withDigests(commandOnPeople('password', 'give a person the password that is the one line of standard input'))
  .argument('<name>', 'name of the person')
  .action(async (file: string, name: string, flags: PeopleFlags) => {
    const { setPassword, app } = await loadPeople(file)
    await setPassword(app, flags, name)
  })
for (const [command, isDisabled, description] of [
  ['disable', true, 'let nothing prove a person, until diglot people enable'],
  ['enable', false, 'let the password of a disabled person count again'],
] as const)
  commandOnPeople(command, description)
    .argument('<name>', 'name of the person')
    .action(async (file: string, name: string, flags: PeopleFlags) => {
      const { setPersonDisabled, app } = await loadPeople(file)
      await setPersonDisabled(app, flags, name, isDisabled)
    })
commandOnPeople('list', 'list the people, one JSON line each').action(async (file: string, flags: PeopleFlags) => {
  const { describePeople, app } = await loadPeople(file)
  for (const line of await describePeople(app, flags)) console.log(line)
})
withDigests(
  commandOnPeople('import', 'add people, all or none: a JSON line each of subject, password, roles and claims'),
).action(async (file: string, flags: PeopleFlags) => {
  const { importPeople, app } = await loadPeople(file)
  console.log(`${await importPeople(app, flags)} people added`)
})

type AddFlags = PeopleFlags & {
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
}
async function loadPeople(file: string) {
  const [commands, app] = await Promise.all([import('./host/operations/people-command.ts'), loadImplementation(file)])
  return { ...commands, app }
}

const descriptions = ['access', 'openapi', 'wsdl', 'wsdl2', 'xsd', 'machine'] as const
program
  .command('describe')
  .description('print one description of a contract')
  .argument('<service.ts>', 'the file whose default export is made by implement(…)')
  .option('--access', 'the access matrix, as a Markdown table')
  .option('--openapi', 'OpenAPI 3.1')
  .option('--wsdl', 'WSDL 1.1')
  .option('--wsdl2', 'WSDL 2.0')
  .option('--xsd', 'the XML Schema')
  .option('--machine', 'the states of each resource, as Mermaid diagrams')
  .option('--contract <version>', 'version of the contract, such as v1 (default: the newest)')
  .option('--endpoint <path>', 'the SOAP endpoint of a WSDL (default: the first of the version)')
  .option('--address <url>', 'the address in the description', 'http://127.0.0.1:8080')
  .action(describeCommand)

/** `--trust-proxy` without a kind of fields: the argument behind it is not its value. */
const expandProxyFlag = (args: readonly string[]): string[] =>
  args.map((each, at) =>
    each === '--trust-proxy' && !proxyFields.includes(args[at + 1] ?? '') ? `${each}=${proxyFields[0]}` : each,
  )

program
  .command('diff')
  .description('compare two releases: what breaks callers that read, and those that write, in each face')
  .argument('<old>', 'a contract (service.ts), an OpenAPI document, a WSDL, their address, or git:REVISION[:path]')
  .argument('[new]', 'the other release, likewise')
  .option('--against <old>', 'compare the first argument, as the new release, with this one: --against git:main')
  .option('--breaking', 'print no compatible changes')
  .option('--json <file>', 'write all differences there, as JSON')
  .option('--sarif <file>', 'write all differences there, as SARIF 2.1.0')
  .action(diffCommand)

program
  .command('check')
  .description('try every rule of the conventions against a live service, with each exchange as evidence')
  .argument('[address]', 'the base address of a service, or the address of a WSDL')
  .option('--list', 'print the rules; with --markdown as a page')
  .option('--markdown', 'print the rules as a page of Markdown')
  .option('--explain <rule>', 'print how a rule is probed')
  .option('--caller <name:password>', 'a caller by HTTP Basic; repeatable', collectOption, [])
  .option('--token <token>', 'a caller by bearer token; repeatable', collectOption, [])
  .option('--wsdl <address>', 'the address or the file of a WSDL of the service; repeatable', collectOption, [])
  .option('--profile <file>', 'what cannot be discovered, as JSON or a module')
  .option('--rule <rule>', 'try this rule alone; repeatable', collectOption, [])
  .option('--allow-changes', 'create, change and remove items of the service')
  .option('--insecure', 'accept any TLS certificate')
  .option('--rate <number>', 'requests a second', wholeNumberOption(1, 10_000), 50)
  .option('--time <seconds>', 'seconds for the whole run', wholeNumberOption(1, 3600), 120)
  .option('--json <file>', 'write the report as JSON, also for --baseline')
  .option('--junit <file>', 'write the report as JUnit XML')
  .option('--sarif <file>', 'write the report as SARIF')
  .option('--html <file>', 'write the report as one HTML page')
  .option('--baseline <file>', 'a JSON report whose failures are known')
  .action(checkCommand)

interface ServeFlags {
  readonly port: number
  readonly host: string
  readonly data?: string
  readonly database?: string
  readonly replica?: string
  readonly trace?: boolean
  readonly trustProxy?: 'x-forwarded' | 'forwarded'
  readonly publicUrl?: string
  readonly tlsKey?: string
  readonly tlsCertificate?: string
  readonly authorities?: string
  readonly signers?: string
  readonly messageKey?: string
  readonly messageCertificate?: string
  readonly crl: readonly string[]
  readonly revocation?: 'required' | 'ifKnown'
  readonly purpose: readonly string[]
  readonly certificateName: CertificateNameKind
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
  readonly http: 'own' | 'node'
  readonly workers: number
  readonly accessLog?: boolean
  readonly work: boolean
}
function tlsOf({ tlsKey: key, tlsCertificate: certificate, authorities }: ServeFlags): ServeOptions['tls'] {
  if (key !== undefined && certificate !== undefined) return { key, certificate, authorities }
  if (key === undefined && certificate === undefined && authorities === undefined) return undefined
  const needed = authorities === undefined ? 'must be given together' : 'are required by --authorities'
  program.error(`error: --tls-key and --tls-certificate ${needed}`, { exitCode: 2 })
}
function tokensOf({ jwks, issuer = '', audience, roles, claim, algorithm }: ServeFlags): ServeOptions['tokens'] {
  if (jwks === undefined && issuer !== '') program.error('error: --issuer requires --jwks', { exitCode: 2 })
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

async function messageSecurityOf(flags: ServeFlags): Promise<ServeOptions['messageSecurity']> {
  const { signers, crl: crlFiles, revocation, purpose, messageKey: key, messageCertificate: certificate } = flags
  if ((key === undefined) !== (certificate === undefined))
    program.error('error: --message-key and --message-certificate must be given together', { exitCode: 2 })
  const keyFiles = key === undefined || certificate === undefined ? [] : [{ key, certificate }]
  if (signers === undefined) {
    const [unused] = [
      crlFiles.length > 0 && '--crl',
      revocation && '--revocation',
      purpose.length > 0 && '--purpose',
    ].filter(Boolean)
    if (unused) program.error(`error: ${unused} requires --signers`, { exitCode: 2 })
    return keyFiles.length > 0 ? { keyFiles } : undefined
  }
  const purposes = purpose as readonly CertificatePurpose[] // an unknown one is told at start
  return { signerFiles: [signers], keyFiles, crlFiles, purposes, ...(revocation && { revocation }) }
}

async function newCommand(folder: string, { from }: { readonly from: StarterExample }): Promise<void> {
  const { createProject } = await import('./starter/create-project.ts')
  const files = createProject(folder, from)
  console.log([...files, '', `next: cd ${folder} && npm install && npm test && npm start`].join('\n'))
}

async function serveCommand(file: string, flags: ServeFlags): Promise<void> {
  const cluster = flags.workers > 1 ? await import('./host/operations/cluster.ts') : undefined
  if (cluster && !cluster.isWorker()) return serveTogether(cluster, flags.workers)
  const [{ startService }, { allowsSeededPasswords, isForThisMachine }] = await Promise.all([
    import('./host/serve.ts'),
    import('./host/safety.ts'),
  ])
  const siblings = cluster?.connectToPrimary()
  const tls = tlsOf(flags)
  const tokens = tokensOf(flags)
  const messageSecurity = await messageSecurityOf(flags)
  const app = await loadImplementation(file)
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
    http: flags.http,
    replies: flags.replyTo,
    accessLog: flags.accessLog === true,
    ...(!flags.work && { work: false as const }),
    siblings,
    certificateName: flags.certificateName,
    ...(messageSecurity && { messageSecurity }),
    settings: {
      origins: flags.origin,
      trace: flags.trace === true,
      trustProxy: flags.trustProxy ?? false,
      ...(flags.publicUrl !== undefined && { publicUrl: flags.publicUrl }),
    },
  }
  const server = await startService(app, options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  process.on('SIGHUP', () => {
    try {
      server.reload()
    } catch (thrown) {
      printError(thrown)
    }
  })
  const lines = [`listening on ${server.url}`]
  if (process.stdout.isTTY && allowsSeededPasswords(options) && isForThisMachine(options))
    lines.push(...(await writeExample(app, server)))
  if (siblings) siblings.ready(lines)
  else console.log(lines.join('\n'))
}

/** A first request, with a token: for the eyes at a terminal of this machine, and for no log. */
async function writeExample(app: Implementation, server: Server): Promise<string[]> {
  const clerk = app.seed().people?.find(person => person.roles.includes('clerk'))
  const collection = app.contract.resources[0]?.name
  if (!clerk || !collection) return []
  const token = await server.token(clerk.subject, clerk.roles)
  return [`try: curl -H 'Authorization: Bearer ${token}' ${server.url}/api/${collection}`]
}

async function serveTogether(
  { forkWorkers: workers, WorkerFailed }: typeof import('./host/operations/cluster.ts'),
  count: number,
) {
  const running = workers(count, why => printError(why))
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
async function importCommand(file: string, flags: ImportFlags): Promise<void> {
  const { importContract } = await import('./import/import-command.ts')
  importContract(file, flags, {
    text: text => process.stdout.write(text),
    note: line => process.stderr.write(`${line}\n`),
  })
}

async function relayCommand({ listen: port, to, host, role: roles, uri }: RelayFlags): Promise<void> {
  const { startSoapRelay: relaying } = await import('./host/soap-relay.ts')
  const listener = await relaying({ port, host, to, roles, uri, onError: printError })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void listener.close(10_000).then(() => process.exit(0)))
  console.log(`relaying from ${listener.url} to ${to}`)
}

interface StoreFlags {
  readonly data?: string
  readonly database?: string
}
async function workCommand(file: string, { jobs, ...flags }: StoreFlags & { readonly jobs: number }): Promise<void> {
  const [{ startWorkers: work }, app] = await Promise.all([import('./host/serve.ts'), loadImplementation(file)])
  const working = await work(app, { ...flags, work: jobs })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void working.close().then(() => process.exit(0)))
  console.log(`working on ${app.contract.jobs.map(job => job.job).join(', ') || 'nothing: the contract has no jobs'}`)
}

async function jobsCommand(file: string, { retry, ...flags }: StoreFlags & { readonly retry?: string }): Promise<void> {
  const [{ openStore }, { failedJobs, retryJob }, app] = await Promise.all([
    import('./host/serve.ts'),
    import('./service/job.ts'),
    loadImplementation(file),
  ])
  const store = await openStore(app, flags)
  try {
    if (retry !== undefined && !(await retryJob(store, retry, Date.now())))
      throw new Error(`${retry} is not a failed job: run the command without --retry to list them`)
    if (retry === undefined) for (const job of await failedJobs(store)) console.log(JSON.stringify(job))
  } finally {
    await store.close()
  }
}

/** The name of a service and its database file: by the service's own file, else by its database. */
async function locateService(
  file: string | undefined,
  { data, key }: { readonly data?: string; readonly key?: string },
): Promise<{ readonly name: string; readonly data: string }> {
  const { dataFileOf, readServiceName } = await import('./host/open-store.ts')
  if (file !== undefined) {
    const app = await loadImplementation(file)
    return { name: app.contract.service, data: dataFileOf(app, data === undefined ? {} : { data }) }
  }
  const { existsSync } = await import('node:fs')
  const place = data ?? './data/orders.sqlite'
  const isKnown =
    data !== undefined || key !== undefined || existsSync(place) || existsSync('examples/orders/service.ts')
  if (!isKnown) throw new Error('the service is not known: give the file that exports your implement(…), or --data')
  return { name: (await readServiceName(place)) ?? 'orders', data: place }
}

async function backupCommand(first: string, second: string | undefined, flags: { readonly data?: string }) {
  const { data } = await locateService(second === undefined ? undefined : first, flags)
  const { backUpDatabase } = await import('./host/operations/backup.ts')
  await backUpDatabase(data, second ?? first)
}

interface AuditFlags extends StoreFlags {
  readonly before?: number
  readonly remove?: boolean
}
async function auditCommand(file: string, { before, remove, ...flags }: AuditFlags): Promise<void> {
  if (remove && before === undefined) program.error('error: --remove requires --before', { exitCode: 2 })
  const [{ openStore }, { listDeeds, removeDeeds }, app] = await Promise.all([
    import('./host/serve.ts'),
    import('./host/operations/audit.ts'),
    loadImplementation(file),
  ])
  const store = await openStore(app, flags)
  const until = before ?? Number.MAX_SAFE_INTEGER
  try {
    let last = 0
    for await (const { sequence, at, ...deed } of listDeeds(store, until)) {
      await writeOutput(`${JSON.stringify({ sequence, at: new Date(at).toISOString(), ...deed })}\n`)
      last = sequence
    }
    if (remove) await removeDeeds(store, until, last)
  } finally {
    await store.close()
  }
}

/** Rejects where it cannot be written, so that nothing is removed that was not kept. */
const writeOutput = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())))

interface TokenFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires: number
  readonly audience?: string
  readonly data?: string
  readonly key?: string
}
async function tokenCommand(file: string | undefined, flags: TokenFlags): Promise<void> {
  const [{ openLocalKey }, { signToken }, { createFolderOf }, { name, data }] = await Promise.all([
    import('./identity/local-key.ts'),
    import('./identity/bearer-token.ts'),
    import('./store/private-file.ts'),
    locateService(file, flags),
  ])
  const { subject, role: roles, claim: claims, expires, key = `${data}.key`, audience = name } = flags
  createFolderOf(key)
  console.log(await signToken(openLocalKey(key), audience, { subject, roles, claims, expires }, Date.now()))
}

interface KeyFlags {
  readonly subject: string
  readonly role: readonly string[]
  readonly claim: Readonly<Record<string, string>>
  readonly expires?: number
  readonly data?: string
  readonly keys?: string
}
async function keyCommand(service: string | undefined, flags: KeyFlags): Promise<void> {
  const [{ issueKey }, { createFolderOf }] = await Promise.all([
    import('./identity/api-key.ts'),
    import('./store/private-file.ts'),
  ])
  const { subject, role: roles, claim: claims, expires } = flags
  const file = flags.keys ?? `${(await locateService(service, flags)).data}.keys`
  createFolderOf(file)
  const until = expires === undefined ? {} : { expires: Date.now() + expires * 1000 }
  console.log(issueKey(file, { subject, roles, claims, ...until }))
}

/** 2: the check could not be made. */
async function checkCommand(address: string | undefined, flags: CheckFlags): Promise<void> {
  const { performCheck, CheckImpossible } = await import('./check/command.ts')
  await printVerdict(() => performCheck(address, flags), CheckImpossible)
}

/** Prints what was found and exits with its status, or with 2 where nothing could be judged. */
async function printVerdict(
  judge: () => Promise<{ readonly text: string; readonly status: number }>,
  impossible: new () => Error,
): Promise<void> {
  try {
    const { text, status } = await judge()
    process.stdout.once('error', ignoreClosedPipe)
    process.stdout.write(text)
    process.exitCode = status
  } catch (thrown) {
    if (!(thrown instanceof impossible)) throw thrown
    program.error(`error: ${thrown.message}`, { exitCode: 2 })
  }
}

type DescribeFlags = { readonly [K in (typeof descriptions)[number]]?: boolean } & {
  readonly contract?: string
  readonly endpoint?: string
  readonly address: string
}
async function describeCommand(file: string, flags: DescribeFlags): Promise<void> {
  const [what = 'access', ...more] = descriptions.filter(each => flags[each])
  if (more.length > 0 || !flags[what])
    program.error(`error: give one of ${descriptions.map(each => `--${each}`).join(', ')}`, { exitCode: 2 })
  const app = await loadImplementation(file)
  const [
    { writeAccessMatrix: access, writeStateDiagram: diagram, writeWsdl11: wsdl11, writeWsdl20: wsdl20, writeXsd: xsd },
    { newestVersion: newest },
    { endpointsOf },
  ] = await Promise.all([
    import('./describe/index.ts'),
    import('./contract/service.ts'),
    import('./contract/endpoint-rule.ts'),
  ])
  const { contract } = app
  const version = flags.contract ?? newest(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new Error(`${version} is not a known version: use ${Object.keys(contract.versions).join(', ')}`)
  const endpoint = endpointsOf(contract).find(each =>
    flags.endpoint ? each.path === flags.endpoint : each.version === version,
  )
  if (!endpoint && what.startsWith('wsdl'))
    throw new Error(
      `there is no such SOAP endpoint: use ${endpointsOf(contract)
        .map(({ path }) => path)
        .join(', ')}`,
    )
  const { path = '', style = 'document', soap = 'both', version: served = version } = endpoint ?? {}
  const address = flags.address.replace(/\/+$/, '') + path
  const written: Readonly<Record<(typeof descriptions)[number], () => string | Promise<string>>> = {
    access: () => access(contract),
    openapi: async () => (await import('./pages/openapi.ts')).describeService(app, flags.address),
    wsdl: () => wsdl11(contract, served, { address, style, soap }),
    wsdl2: () => wsdl20(contract, served, { address, soap }),
    xsd: () => xsd(contract, version),
    machine: () => contract.resources.flatMap(each => diagram(each) ?? []).join('\n'),
  }
  process.stdout.once('error', ignoreClosedPipe)
  process.stdout.write(`${(await written[what]()).trimEnd()}\n`)
}

async function diffCommand(first: string, second: string | undefined, flags: DiffFlags): Promise<void> {
  const { performDiff, DiffImpossible } = await import('./diff/diff-command.ts')
  await printVerdict(() => performDiff([first, second], flags, loadDescribed), DiffImpossible)
}

async function loadDescribed(file: string): Promise<LoadedContract> {
  const app = await loadImplementation(file)
  const { contract } = app
  const [{ describeService }, { writeWsdl11 }] = await Promise.all([
    import('./pages/openapi.ts'),
    import('./describe/index.ts'),
  ])
  const served = Object.entries(contract.versions).flatMap(([version, rule]) => (rule.retired ? [] : [version]))
  const wsdls = served.map(version => writeWsdl11(contract, version, { address: `http://127.0.0.1/soap/${version}` }))
  return { contract, openApi: await describeService(app), wsdls }
}

/** A reader that has seen enough (`| head`) closes the pipe, which is not an error. */
function ignoreClosedPipe(thrown: Error): void {
  if (!('code' in thrown && thrown.code === 'EPIPE')) throw thrown
}

/** Commander has printed its own errors; a wrong flag or a missing argument is a usage error. */
function exitCode(thrown: unknown): number {
  if (thrown instanceof Error && 'code' in thrown && String(thrown.code).startsWith('commander.')) {
    return 'exitCode' in thrown && thrown.exitCode === 0 ? 0 : 2
  }
  printError(thrown)
  return 1
}

/** What is thrown in words, with its cure; an `Unavailable` has its cause. */
function describeThrown(thrown: unknown): string {
  const cause = thrown instanceof Object && 'after' in thrown && 'cause' in thrown ? thrown.cause : thrown
  if (!(cause instanceof Error)) return typeof cause === 'string' ? cause : inspect(cause)
  const text = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return 'cure' in cause ? `${text}: ${cause.cure}` : text
}

function printError(thrown: unknown): void {
  const text = describeThrown(thrown)
  process.stderr.write(`diglot: ${text.split('\n').join('\ndiglot: ')}\n`)
}

try {
  await program.parseAsync(expandProxyFlag(process.argv))
} catch (thrown) {
  process.exitCode = exitCode(thrown)
  if (process.exitCode !== 0) process.exit()
}
