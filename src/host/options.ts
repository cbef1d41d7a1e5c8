/** What `serve` is told, and what it answers with. */
import type { ServerLimits, Tls } from '../server/listener.ts'
import type { Settings } from '../service/face-context.ts'
import type { Schedule } from '../service/schedule.ts'
import type { EventSink } from './delivery/sinks.ts'
import type { MessageSecurity } from './message-security.ts'
import type { ClusterPeers } from './operations/cluster.ts'
import type { Logger } from './operations/log.ts'
import type { Overload } from './operations/overload.ts'
import type { Tokens } from './safety.ts'

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** Default 8080; 0 picks a free one. */
  readonly port?: number
  /** The database file, or `:memory:`; default `./data/<service>.sqlite`. */
  readonly data?: string
  /** `postgres://…`: PostgreSQL in place of the file. */
  readonly database?: string
  /**
   * `postgres://…` of a standby of it: safe operations are asked there first, and may be as old as
   * it is behind.
   */
  readonly replica?: string
  readonly tls?: Tls
  /** Whose bearer tokens are taken; default those that the local key has signed. */
  readonly tokens?: Tokens
  /**
   * The local key, in a file that all instances share; default beside the data, made when it is not
   * there.
   */
  readonly key?: string
  /** The file of API keys; default beside the data. */
  readonly keys?: string
  /** Lets the example's people in, with the passwords that everybody knows, on any address. */
  readonly insecure?: boolean
  readonly limits?: Partial<ServerLimits>
  readonly settings?: Partial<Settings>
  /** What proves messages at `/soap/…/secure`, beside the people's passwords. */
  readonly messageSecurity?: MessageSecurity
  /**
   * Addresses that replies of SOAP may go to (ReplyTo, FaultTo), and all below them; default none.
   */
  readonly replies?: readonly string[]
  /** Requests a second that one address may send, whoever it says it is; default 1,000. */
  readonly flood?: number
  /**
   * A line for each change and each error. Default pino on standard error; anything that is called
   * as pino is will do.
   */
  readonly logger?: Logger
  /**
   * What went wrong inside, with the incident id that the caller was given. Default: a line of the
   * logger's.
   */
  readonly onError?: (incident: string, thrown: unknown) => void
  /** The other processes of this machine that serve the same, where there are any. */
  readonly siblings?: ClusterPeers | undefined
  /** What every committed change is handed on to: `webhook(…)`, or a function of one's own. */
  readonly sinks?: readonly EventSink[]
  /** Milliseconds before a sink that failed is tried again, doubled each time; default 5,000. */
  readonly sinkBackOff?: number
  /** Jobs that this process runs at once; default 2. False: none, `diglot work` runs them. */
  readonly work?: number | false
  /** Jobs that begin by the clock, once for all instances. */
  readonly schedules?: readonly Schedule[]
  /** A line of the logger's for each request; default none. */
  readonly accessLog?: boolean
  /** When requests are turned away because too much is under way. */
  readonly overload?: Overload
  /** Milliseconds since 1970; default the system's clock. */
  readonly clock?: () => number
}

export interface Server {
  /** Without a slash at its end. */
  readonly url: string
  readonly port: number
  /** A bearer token for a person or a role, by the local key. */
  readonly token: (subject: string, roles: readonly string[]) => Promise<string>
  /**
   * Takes what the files of key and certificate say now, for handshakes to come. Throws
   * `StartFailure` and keeps the old ones.
   */
  reload(): void
  /**
   * Stops taking requests, gives those under way `limit` milliseconds (default 10,000), closes the
   * store.
   */
  close(limit?: number): Promise<void>
}
