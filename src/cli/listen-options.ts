/** The options of each command that listens: where, over TLS, behind a proxy, for which callers. */
import { type Command, Option } from 'commander'
import type { ServeOptions, Server } from '../host/serve.ts'
import type { Tls } from '../server/tls.ts'
import type { ProxyFields, Settings } from '../service/face-context.ts'
import { collectOption, createPortOption, pairOption } from './option-types.ts'
import { failUsage } from './usage.ts'

const proxyFields: readonly ProxyFields[] = ['x-forwarded', 'forwarded']

export const createProxyOption = (): Option =>
  new Option(
    '--trust-proxy [fields]',
    'trust the proxy in front: read these fields of it and no others (default: x-forwarded), leave content coding to it',
  ).choices(proxyFields)

export const createProxyProtocolOption = (): Option =>
  new Option(
    '--proxy-protocol',
    'a proxy passes connections on unread: each begins with its PROXY header, version 1 or 2, and one without it is closed',
  )

/** Of `--public-url`. */
export const publicUrlText = 'the address that clients use'

export interface ProxyFlags {
  readonly trustProxy?: ProxyFields
  readonly proxyProtocol?: boolean
  readonly publicUrl?: string
}

/** What a service knows about the proxy in front of it. */
const proxySettingsOf = ({
  trustProxy,
  proxyProtocol = false,
  publicUrl,
}: ProxyFlags): Pick<Settings, 'trustProxy' | 'proxyProtocol' | 'publicUrl'> => ({
  trustProxy: trustProxy ?? false,
  proxyProtocol,
  ...(publicUrl !== undefined && { publicUrl }),
})

/** `--trust-proxy` without a kind of fields: the argument that follows is not its value. */
export const expandProxyFlag = (args: readonly string[]): string[] =>
  args.map((each, at) =>
    each === '--trust-proxy' && !proxyFields.some(fields => fields === args[at + 1])
      ? `${each}=${proxyFields[0]}`
      : each,
  )

export interface TlsFlags {
  readonly tlsKey?: string
  readonly tlsCertificate?: string
  readonly authorities?: string
}

export const addTlsOptions = (command: Command): Command =>
  command
    .option('--tls-key <file>', 'PEM key: serve HTTPS; requires --tls-certificate')
    .option('--tls-certificate <file>', 'PEM certificate of the key, then the intermediate ones')

/** Ends with a usage error if half of a pair is missing. */
export function readTlsFlags({ tlsKey: key, tlsCertificate: certificate, authorities }: TlsFlags): Tls | undefined {
  if (key !== undefined && certificate !== undefined) return { key, certificate, authorities }
  if (key === undefined && certificate === undefined && authorities === undefined) return undefined
  const needed = authorities === undefined ? 'must be given together' : 'are required by --authorities'
  failUsage(`--tls-key and --tls-certificate ${needed}`)
}

interface IssuerFlags {
  readonly jwks?: string
  readonly issuer?: string
  readonly audience?: string
  readonly roles?: string
  readonly claim: Readonly<Record<string, string>>
  readonly algorithm: readonly string[]
  readonly boundTokens?: boolean
  /** For `serve`: its ID tokens have roles and claims in the same members as bearer tokens. */
  readonly openid?: string
}

/** Bearer tokens of another issuer. */
const addTokenOptions = (command: Command): Command =>
  command
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
    .option('--bound-tokens', 'accept only tokens bound to a client certificate or to a key that proves each request')

/** Undefined: no foreign tokens are accepted. Ends with a usage error if the keys are missing. */
function readIssuerFlags(flags: IssuerFlags): ServeOptions['tokens'] {
  const { jwks, issuer = '', audience, roles, claim, algorithm, boundTokens } = flags
  if (jwks === undefined) return refuseUnusedIssuer(flags)
  return {
    jwks,
    issuer,
    audience,
    roles,
    ...(Object.keys(claim).length > 0 && { claims: claim }),
    ...(algorithm.length > 0 && { algorithms: algorithm }),
    ...(boundTokens && { bound: true }),
  }
}

function refuseUnusedIssuer(flags: IssuerFlags): undefined {
  const { issuer = '', audience, roles, claim, algorithm, boundTokens, openid } = flags
  const [unused] = [
    issuer !== '' && '--issuer',
    audience !== undefined && '--audience',
    algorithm.length > 0 && '--algorithm',
    boundTokens && '--bound-tokens',
    openid === undefined && roles !== undefined && '--roles',
    openid === undefined && Object.keys(claim).length > 0 && '--claim',
  ].filter(Boolean)
  if (unused) failUsage(`${unused} requires --jwks`)
}

/**
 * For a service: where callers reach it, how they prove who they are, and what it logs about them.
 */
export interface ListenFlags extends ProxyFlags, TlsFlags, IssuerFlags {
  readonly port: number
  readonly host: string
  readonly keys?: string
  readonly origin: readonly string[]
  readonly accessLog?: boolean
}

export const addListenOptions = (command: Command): Command =>
  addTlsOptions(
    command
      .addOption(createPortOption())
      .addOption(new Option('--host <address>', 'address to listen on').env('HOST').default('127.0.0.1'))
      .addOption(createProxyOption())
      .addOption(createProxyProtocolOption())
      .addOption(new Option('--public-url <url>', publicUrlText).env('PUBLIC_URL')),
  ).option('--access-log', 'log a line for each request')

export const addCallerOptions = (command: Command): Command =>
  addTokenOptions(command)
    .option('--keys <file>', 'API keys, as diglot key writes them (default: next to the data)')
    .option('--origin <origin>', 'an origin whose pages may call; repeatable', collectOption, [])

export function readListenFlags(flags: ListenFlags) {
  const { port, host, keys, origin: origins, accessLog } = flags
  const [tls, tokens] = [readTlsFlags(flags), readIssuerFlags(flags)]
  return {
    ...{ port, host, accessLog: accessLog === true },
    ...(tls && { tls }),
    ...(tokens && { tokens }),
    ...(keys !== undefined && { keys }),
    settings: { ...proxySettingsOf(flags), origins },
  }
}

/**
 * SIGHUP: the files of key and certificate are read again; if that fails, the old ones stay in use.
 * @param report receives a failure; a service logs it
 */
export function reloadOnSignal(server: Pick<Server, 'reload'>, report: (thrown: unknown) => void = () => {}): void {
  process.on('SIGHUP', () => {
    try {
      server.reload()
    } catch (thrown) {
      report(thrown)
    }
  })
}
