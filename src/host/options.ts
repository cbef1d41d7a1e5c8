/** The options of `serve`, and the server that it returns. */

import type { Implementation } from '../contract/implement.ts'
import { findUnknownMembers, type MembersOf } from '../contract/member-kinds.ts'
import type { CertificateNameKind } from '../identity/certificate-name.ts'
import type { OpenIdProvider } from '../identity/openid.ts'
import type { PeoplePort } from '../identity/people-port.ts'
import { defaultLimits } from '../server/limits.ts'
import type { ServerLimits, Tls } from '../server/listener.ts'
import type { RequestNotes, Settings } from '../service/face-context.ts'
import type { Schedule } from '../service/schedule.ts'
import { type EventSink, findSinkMistakes } from './delivery/sinks.ts'
import type { ClusterPeers } from './operations/cluster.ts'
import type { Logger } from './operations/log.ts'
import type { OpenTelemetryApi } from './operations/open-telemetry.ts'
import { findWrongNumbers } from './operations/option-numbers.ts'
import type { Overload } from './operations/overload.ts'
import type { DocsOption } from './read-docs.ts'
import type { Tokens } from './safety.ts'
import type { MessageSecurity } from './trust/message-security.ts'

export interface RetentionDays {
  /** For a committed change in `/changes`, 0.01 or more. Default: 7. */
  readonly changesDays?: number
  /**
   * For the record that an identifier was removed (410) or moved (301); then it is unknown.
   * Default: for ever.
   */
  readonly formerDays?: number
}

/**
 * The options of `serve`. With an unknown option, the start fails with a TypeError that names it.
 */
export interface ServeOptions {
  /** Address to listen on. Default: 127.0.0.1. */
  readonly host?: string
  /** Default: 8080; 0 picks a free port. */
  readonly port?: number
  /** The database file, or `:memory:`. Default: `./data/<service>.sqlite`. */
  readonly data?: string
  /** `postgres://…`: PostgreSQL instead of the file. */
  readonly database?: string
  /** `postgres://…` of a standby for safe operations, whose data may lag behind. */
  readonly replica?: string
  readonly tls?: Tls
  /** Bearer tokens to accept. Default: those signed with the local key. */
  readonly tokens?: Tokens
  /**
   * The file of the local key, which all instances share; created if missing. Default: next to the
   * data.
   */
  readonly key?: string
  /** The file of API keys. Default: next to the data. */
  readonly keys?: string
  /** Your own directory of people, which replaces those of the store and its seed. */
  readonly people?: PeoplePort
  /** A provider where people can sign in with a browser, besides `/login`. Default: none. */
  readonly openid?: OpenIdProvider
  /** Accepts the seeded people, whose passwords are public, at any address. Default: false. */
  readonly insecure?: boolean
  /** For how long records are kept. */
  readonly retention?: RetentionDays
  readonly limits?: Partial<ServerLimits>
  readonly settings?: Partial<Settings>
  /**
   * The name in a client's or signer's certificate that identifies a person: the common name of its
   * subject, or subjectAltNames of one kind. Default: `commonName`.
   */
  readonly certificateName?: CertificateNameKind
  /**
   * The means besides passwords by which messages at `/soap/…/secure` may authenticate themselves.
   */
  readonly messageSecurity?: MessageSecurity
  /**
   * Addresses to which SOAP replies may go (ReplyTo, FaultTo), including all below them. Default:
   * none.
   */
  readonly replies?: readonly string[]
  /** Requests a second from one address, for all its users together. Default: 1,000. */
  readonly flood?: number
  /** Receives a line for each change and each error. Default: pino on standard error. */
  readonly logger?: Logger
  /**
   * Receives each internal error, with the incident id that the client received, the operation and
   * its caller. Default: the logger.
   */
  readonly onError?: (incident: string, thrown: unknown, notes?: RequestNotes) => void
  /** The other processes on this machine that serve the same contract. Default: none. */
  readonly siblings?: ClusterPeers | undefined
  /** Each receives every committed change: `createWebhook(…)`, or a function of your own. */
  readonly sinks?: readonly EventSink[]
  /** Milliseconds before a failed sink is retried, doubled each time. Default: 5,000. */
  readonly sinkBackOff?: number
  /**
   * Number of jobs that this process runs at once. Default: 2. False: none; `diglot work` runs
   * them.
   */
  readonly work?: number | false
  /** Jobs that start on a schedule, once for all instances. */
  readonly schedules?: readonly Schedule[]
  /** Logs a line for each request. Default: false. */
  readonly accessLog?: boolean
  /** A site by `diglot docs`, served at `/docs`: its folder, or more options. Default: none. */
  readonly docs?: string | DocsOption
  /** When to refuse requests under load. */
  readonly overload?: Overload
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly clock?: () => number
  /**
   * The HTTP server: the listener of this package (HTTP/1.1 and HTTP/2), or node:http (HTTP/1.1
   * only), for tools that instrument or patch it. Default: `own`.
   */
  readonly http?: 'own' | 'node'
  /**
   * The application's package `@opentelemetry/api`, whose tracer then gets a span for each request,
   * call and transaction. Default: no spans.
   */
  readonly openTelemetry?: OpenTelemetryApi
}

/** The options of a service without those of its address. */
export type ServiceOptions = Omit<ServeOptions, 'host' | 'port' | 'tls' | 'http'>

/** JavaScript may pass options that no type has checked. */
const findUnknownOptions = (options: ServeOptions): string[] => [
  ...findUnknownMembers('the options of serve', options, optionMembers),
  ...findUnknownMembers('the option settings', options.settings ?? {}, settingMembers),
  ...findUnknownMembers('the option overload', options.overload ?? {}, overloadMembers),
  ...findUnknownMembers('the option retention', options.retention ?? {}, retentionMembers),
  ...findUnknownMembers('the option tokens', options.tokens ?? {}, tokenMembers),
  ...findUnknownMembers('the option openid', options.openid ?? {}, openIdMembers),
  ...findUnknownMembers('the option docs', typeof options.docs === 'object' ? options.docs : {}, docsMembers),
  ...findUnknownMembers('the option tls', options.tls ?? {}, tlsMembers),
  ...findUnknownMembers('the option limits', options.limits ?? {}, defaultLimits),
]
const optionMembers: MembersOf<ServeOptions> = {
  host: true, port: true, data: true, database: true, replica: true, tls: true, tokens: true, key: true, keys: true,
  insecure: true, retention: true, limits: true, settings: true, messageSecurity: true, replies: true, flood: true,
  logger: true, onError: true, siblings: true, sinks: true, sinkBackOff: true, work: true, schedules: true,
  accessLog: true, overload: true, clock: true, people: true, certificateName: true, http: true, openid: true,
  docs: true, openTelemetry: true,
} // biome-ignore format: a list of names reads best in few lines
const settingMembers: MembersOf<Settings> = {
  publicUrl: true,
  prefix: true,
  trustProxy: true,
  proxyProtocol: true,
  trace: true,
  passwordsOnLoopback: true,
  origins: true,
}
const overloadMembers: MembersOf<Overload> = { concurrent: true, late: true, calm: true }
const retentionMembers: MembersOf<RetentionDays> = { changesDays: true, formerDays: true }
const tokenMembers: MembersOf<Tokens> = {
  jwks: true,
  issuer: true,
  audience: true,
  algorithms: true,
  bound: true,
  roles: true,
  claims: true,
}
const openIdMembers: MembersOf<OpenIdProvider> = {
  issuer: true,
  client: true,
  secret: true,
  scope: true,
  title: true,
  rights: true,
  signOut: true,
  roles: true,
  claims: true,
}
const docsMembers: MembersOf<DocsOption> = { folder: true, readers: true }
const tlsMembers: MembersOf<Tls> = { key: true, certificate: true, passphrase: true, authorities: true }

/** Throws a TypeError that names unknown options, wrong numbers, and the mistakes of sinks. */
export function requireSoundOptions({ contract }: Implementation, options: ServeOptions): void {
  const mistakes = [
    ...findUnknownOptions(options),
    ...findWrongNumbers(options),
    ...findSinkMistakes(options.sinks ?? [], contract),
  ]
  if (mistakes.length > 0) throw new TypeError(mistakes.join('\n'))
}

/** If the start fails, nothing stays open. */
export async function openAllOrNothing<T>(open: (opened: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const opened = new AsyncDisposableStack()
  try {
    return await open(opened)
  } catch (thrown) {
    await opened.disposeAsync().catch(() => {}) // the failure of the start is the one to report
    throw thrown
  }
}

/** A service that runs until it is closed. */
export interface Server {
  /** Without a slash at the end. */
  readonly url: string
  readonly port: number
  /** Signs a bearer token for a subject with these roles, with the local key. */
  readonly token: (subject: string, roles: readonly string[]) => Promise<string>
  /**
   * Reads the files of key and certificate again, for later handshakes. If that fails, throws
   * `StartFailure` and keeps the old ones.
   */
  reload(): void
  /**
   * Accepts no more requests, waits up to `limit` milliseconds (default: 10,000) for current ones,
   * and closes the store.
   */
  close(limit?: number): Promise<void>
}
