/** `diglot serve`: flags to the options of `serve`, signals, workers. */
import { readFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { isHttpAddress } from '../base/address.ts'
import type { Implementation } from '../contract/implement.ts'
import type { ServeOptions, Server } from '../host/serve.ts'
import type { Partner } from '../host/trust/signers.ts'
import { type CertificateNameKind, certificateNameKinds } from '../identity/certificate-name.ts'
import { type OcspHash, ocspHashes } from '../security/crypto/ocsp-response.ts'
import type { CertificatePurpose } from '../security/crypto/trust.ts'
import {
  addCallerOptions,
  addListenOptions,
  type ListenFlags,
  readListenFlags,
  reloadOnSignal,
} from './listen-options.ts'
import { loadService, serviceText } from './locate-service.ts'
import { collectOption, wholeNumberOption } from './option-types.ts'
import { failUsage, printError } from './usage.ts'

/** Adds `serve`. */
export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('serve a contract and its handlers until stopped')
    .argument('[service.ts]', serviceText)
  const groups = [addPlaceOptions, addSignInOptions, addMessageOptions, addProcessOptions]
  for (const addOptions of groups) addOptions(command)
  command.action(serveCommand)
}

/** Where it listens, and where it keeps its data. */
function addPlaceOptions(command: Command): Command {
  return addListenOptions(command)
    .option('--authorities <file>', 'PEM certificates of authorities that issue client certificates')
    .option('--data <file>', 'database file, or :memory: (default: ./data/<service>.sqlite)')
    .addOption(new Option('--database <url>', 'PostgreSQL instead of a file').env('DATABASE_URL'))
    .addOption(new Option('--replica <url>', 'a standby of the database, for safe requests').env('REPLICA_URL'))
    .option('--trace', 'add Diglot-Trace to responses, for development')
}

/** How callers prove who they are, and which pages may call. */
function addSignInOptions(command: Command): Command {
  return addCallerOptions(command)
    .addOption(
      new Option(
        '--openid <issuer>',
        'OpenID provider at which people sign in with a browser; requires --openid-client',
      ).env('DIGLOT_OPENID'),
    )
    .addOption(
      new Option('--openid-client <id>', 'client id of this service at the provider').env('DIGLOT_OPENID_CLIENT'),
    )
    .option('--openid-secret <file>', 'file with the client secret (or set DIGLOT_OPENID_SECRET)')
    .option('--openid-people', 'take roles and claims from the people of this service, not from the ID token')
    .option('--openid-sign-out-here', 'signing out ends only the session here, not the one at the provider')
    .addOption(
      new Option('--key <file>', 'the local key, shared by all instances (default: next to the data)').env(
        'DIGLOT_KEY',
      ),
    )
}

/** How SOAP messages prove their senders, and where replies may go. */
function addMessageOptions(command: Command): Command {
  return command
    .option('--signers <file>', 'PEM certificates of signers of SOAP messages, or of their authorities')
    .option(
      '--partner <names=file>',
      'one of several: people, and the certificates that may identify these people only (acme,acme-eu=acme.pem, or *=ours.pem); repeatable',
      collectOption,
      [],
    )
    .option(
      '--message-key <file>',
      'PEM key that signs SOAP responses and decrypts requests; read again when it changes',
    )
    .option('--message-certificate <file>', 'its certificate, in PEM')
    .option(
      '--message-key-passphrase <file>',
      'file with the passphrase of --message-key (or set DIGLOT_MESSAGE_KEY_PASSPHRASE)',
    )
    .option(
      '--crl <place>',
      'CRLs of the authorities of signers, PEM or DER: a file, or an http address to fetch; repeatable',
      collectOption,
      [],
    )
    .option(
      '--ocsp <address>',
      'http address of an OCSP responder to query about signers; repeatable',
      collectOption,
      [],
    )
    .addOption(
      new Option(
        '--ocsp-hash <name>',
        'hash that names the issuer in a query (default: sha1, which all responders know)',
      ).choices(ocspHashes),
    )
    .addOption(
      new Option(
        '--revocation <mode>',
        'if no fresh CRL and no responder answers: refuse, or accept what none revokes',
      ).choices(['required', 'ifKnown']),
    )
    .option(
      '--purpose <name>',
      'an extendedKeyUsage that signers may have, such as clientAuth; repeatable',
      collectOption,
      [],
    )
    .addOption(
      new Option('--certificate-name <kind>', 'the name in a certificate that identifies a person')
        .choices(certificateNameKinds)
        .default('commonName'),
    )
    .option('--reply-to <address>', 'allow SOAP replies to this address and below; repeatable', collectOption, [])
}

/** What the process does, and with how many workers. */
function addProcessOptions(command: Command): Command {
  return command
    .option('--insecure', 'accept the passwords of the example on any address')
    .addOption(
      new Option('--http <server>', 'HTTP server: the built-in one, or node:http (HTTP/1.1 only)')
        .choices(['own', 'node'])
        .default('own'),
    )
    .option('--workers <number>', 'processes that serve together on this machine', wholeNumberOption(1, 256), 1)
    .option('--docs <folder>', 'serve a site written by diglot docs at /docs')
    .option(
      '--docs-reader <role>',
      'a role whose callers may read the site, or anyone; repeatable (default: the roles it was made for)',
      collectOption,
      [],
    )
    .option('--no-work', 'run no jobs here; leave them to diglot work')
}

interface ServeFlags extends ListenFlags {
  readonly data?: string
  readonly database?: string
  readonly replica?: string
  readonly trace?: boolean
  readonly signers?: string
  readonly partner: readonly string[]
  readonly messageKey?: string
  readonly messageCertificate?: string
  readonly messageKeyPassphrase?: string
  readonly crl: readonly string[]
  readonly ocsp: readonly string[]
  readonly ocspHash?: OcspHash
  readonly revocation?: 'required' | 'ifKnown'
  readonly purpose: readonly string[]
  readonly certificateName: CertificateNameKind
  readonly openidClient?: string
  readonly openidSecret?: string
  readonly openidPeople?: boolean
  readonly openidSignOutHere?: boolean
  readonly key?: string
  readonly replyTo: readonly string[]
  readonly insecure?: boolean
  readonly http: 'own' | 'node'
  readonly workers: number
  readonly docs?: string
  readonly docsReader: readonly string[]
  readonly work: boolean
}

/** Roles and claims are in the same members as in bearer tokens: both come from one issuer. */
function openIdOf(flags: ServeFlags): ServeOptions['openid'] {
  const {
    openid: issuer,
    openidClient: client,
    openidSecret: file,
    openidPeople,
    openidSignOutHere,
    roles,
    claim,
  } = flags
  if (issuer === undefined) {
    const unused = client !== undefined ? '--openid-client' : file !== undefined ? '--openid-secret' : undefined
    if (unused !== undefined) failUsage(`${unused} requires --openid`)
    return undefined
  }
  if (client === undefined) failUsage('--openid requires --openid-client')
  const secret = file === undefined ? process.env['DIGLOT_OPENID_SECRET'] : readFileSync(file, 'utf8').trim()
  return {
    issuer,
    client,
    ...(secret && { secret }),
    ...(openidPeople && { rights: 'people' as const }),
    ...(openidSignOutHere && { signOut: 'here' as const }),
    ...(roles !== undefined && { roles }),
    ...(Object.keys(claim).length > 0 && { claims: claim }),
  }
}

async function messageSecurityOf(flags: ServeFlags): Promise<ServeOptions['messageSecurity']> {
  const { signers, partner, crl: places, ocsp: ocspAddresses, ocspHash, revocation, purpose } = flags
  const { messageKey: key, messageCertificate: certificate } = flags
  if ((key === undefined) !== (certificate === undefined))
    failUsage('--message-key and --message-certificate must be given together')
  const passphrase = messagePassphraseOf(flags)
  const keyFiles =
    key === undefined || certificate === undefined ? [] : [{ key, certificate, ...(passphrase && { passphrase }) }]
  if (signers === undefined && partner.length === 0) {
    const [unused] = [
      places.length > 0 && '--crl',
      ocspAddresses.length > 0 && '--ocsp',
      ocspHash && '--ocsp-hash',
      revocation && '--revocation',
      purpose.length > 0 && '--purpose',
    ].filter(Boolean)
    if (unused) failUsage(`${unused} requires --signers or --partner`)
    return keyFiles.length > 0 ? { keyFiles } : undefined
  }
  const purposes = purpose as readonly CertificatePurpose[] // the start reports an unknown one
  const [crlFiles, crlAddresses] = [places.filter(each => !isHttpAddress(each)), places.filter(isHttpAddress)]
  const responders = { ocspAddresses, ...(ocspHash && { ocspHash }) }
  const revocations = { crlFiles, crlAddresses, ...responders, ...(revocation && { revocation }) }
  const signerFiles = signers === undefined ? [] : [signers]
  return { signerFiles, partners: partner.map(parsePartner), keyFiles, purposes, ...revocations }
}

function messagePassphraseOf({ messageKey, messageKeyPassphrase: file }: ServeFlags): string | undefined {
  if (file !== undefined && messageKey === undefined) failUsage('--message-key-passphrase requires --message-key')
  return file === undefined ? process.env['DIGLOT_MESSAGE_KEY_PASSPHRASE'] : readFileSync(file, 'utf8').trim()
}

function parsePartner(text: string): Partner {
  const at = text.indexOf('=')
  const names = text.slice(0, at).split(',')
  if (at < 1 || names.includes('') || text.length === at + 1)
    return failUsage(`--partner ${text} is not NAMES=FILE: write acme,acme-eu=acme.pem, or *=ours.pem`)
  return { people: names.includes('*') ? 'all' : names, signerFiles: [text.slice(at + 1)] }
}

function docsOf({ docs: folder, docsReader }: ServeFlags): ServeOptions['docs'] {
  if (folder === undefined && docsReader.length > 0) failUsage('--docs-reader requires --docs')
  if (folder === undefined || docsReader.length === 0) return folder
  return { folder, readers: docsReader.includes('anyone') ? 'anyone' : docsReader }
}

async function serveCommand(file: string | undefined, flags: ServeFlags): Promise<void> {
  if (flags.workers > 1 && flags.data === ':memory:' && flags.database === undefined)
    failUsage('--workers share a database, but each would have its own in memory: give --data a file, or --database')
  const cluster = flags.workers > 1 ? await import('../host/operations/cluster.ts') : undefined
  if (cluster && !cluster.isWorker()) return serveTogether(cluster, flags.workers)
  const [{ startService }, { allowsSeededPasswords, isForThisMachine }] = await Promise.all([
    import('../host/serve.ts'),
    import('../host/safety.ts'),
  ])
  const siblings = cluster?.connectToPrimary()
  const { settings, ...listening } = readListenFlags(flags)
  const openid = openIdOf(flags)
  const messageSecurity = await messageSecurityOf(flags)
  const docs = docsOf(flags)
  const app = await loadService(file)
  const options: ServeOptions = {
    ...listening,
    ...(flags.data !== undefined && { data: flags.data }),
    ...(flags.database !== undefined && { database: flags.database }),
    ...(flags.replica !== undefined && { replica: flags.replica }),
    ...(openid && { openid }),
    ...(flags.key !== undefined && { key: flags.key }),
    insecure: flags.insecure === true,
    http: flags.http,
    replies: flags.replyTo,
    ...(!flags.work && { work: false as const }),
    siblings,
    certificateName: flags.certificateName,
    ...(messageSecurity && { messageSecurity }),
    ...(docs !== undefined && { docs }),
    settings: { ...settings, trace: flags.trace === true },
  }
  const server = await startService(app, options)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  reloadOnSignal(server)
  const lines = [`listening on ${server.url}`]
  if (process.stdout.isTTY && allowsSeededPasswords(options) && isForThisMachine(options))
    lines.push(...(await writeExample(app, server)))
  if (siblings) siblings.ready(lines)
  else console.log(lines.join('\n'))
}

/** A first request, with a token: only for a terminal of this machine, and for no log. */
async function writeExample(app: Implementation, server: Server): Promise<string[]> {
  const clerk = app.seed().people?.find(person => person.roles.includes('clerk'))
  const collection = app.contract.resources[0]?.name
  if (!clerk || !collection || !app.contract.hasRest) return []
  const token = await server.token(clerk.subject, clerk.roles)
  return [`try: curl -H 'Authorization: Bearer ${token}' ${server.url}/api/${collection}`]
}

async function serveTogether(
  { forkWorkers: workers, WorkerFailed }: typeof import('../host/operations/cluster.ts'),
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
