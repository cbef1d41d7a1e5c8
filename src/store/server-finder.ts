/**
 * Finds which of several PostgreSQL servers has a role at this moment. What always holds:
 *  (1) A primary that comes back after its standby was promoted is never chosen once the new one is
 *      known: it still takes changes, but the new primary would not have them. Its timeline tells,
 *      since a promotion begins a later one.
 *  (2) A server that is silent delays a search once, not each one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorCodeOf, messageOf } from '../base/attempt.ts'
import { memoizeByText } from '../base/memo.ts'
import { type PostgresServer, type ServerList, type ServerRole, writeServers } from './server-list.ts'

/** Receives that a former primary accepts changes, once for each that is found. */
export type TellFormer = (says: string) => void

/** How long to wait for the answer of one server if another may be the right one. */
const promptMs = 2000
/** How long servers are assumed to keep their roles before they are asked again. */
const freshMs = 1000
/** How long the first answer waits for the others. */
const othersMs = 500

/** Where a primary is in the history of its cluster. */
interface Timeline {
  readonly cluster: string
  readonly number: number
}
interface Standing {
  readonly server: PostgresServer
  /** Undefined for a standby, or if the server does not know. */
  readonly timeline: Timeline | undefined
}

/** What all pools of this process know of a cluster. */
const historyOf = memoizeByText((_cluster): { latest: number } => ({ latest: 0 }))
const latestOf = ({ cluster }: Timeline): number => historyOf(cluster).latest

export class ServerFinder {
  readonly #list: ServerList
  readonly #role: ServerRole
  readonly #tellFormer: TellFormer
  readonly #told = new Set<string>()
  #found: Promise<PostgresServer> | undefined
  #until = 0
  /** Those that had not answered when they were last asked. */
  #silent: ReadonlySet<PostgresServer> = new Set()

  constructor(list: ServerList, role: ServerRole, tellFormer: TellFormer) {
    this.#list = list
    this.#role = list.role ?? role
    this.#tellFormer = tellFormer
  }

  find(): Promise<PostgresServer> {
    if (!this.#found || performance.now() > this.#until) {
      this.#found = this.#ask()
      this.#until = performance.now() + freshMs
      this.#found.catch(() => (this.#found = undefined))
    }
    return this.#found
  }

  /** Asks all at once; one that answers after the first may be the newer primary. */
  async #ask(): Promise<PostgresServer> {
    const { first, servers } = this.#list
    const standings: Standing[] = []
    const silent = new Set(servers)
    const ask = async (server: PostgresServer): Promise<void> => {
      const standing = await askStanding(first, server, this.#role).finally(() => silent.delete(server))
      noteTimeline(standing.timeline)
      standings.push(standing)
    }
    const asked = servers.map(server => ({ server, answered: ask(server) }))
    await Promise.any(asked.map(({ answered }) => answered)).catch((thrown: AggregateError) =>
      this.#fail(servers.map((server, i) => [server, messageOf(thrown.errors[i])])),
    )
    const heeded = asked.filter(({ server }) => !this.#silent.has(server)).map(({ answered }) => answered)
    await Promise.race([Promise.allSettled(heeded), sleep(othersMs, undefined, { ref: false })])
    this.#silent = silent
    return this.#chooseCurrent(standings)
  }

  /** (1) */
  #chooseCurrent(standings: readonly Standing[]): PostgresServer {
    const former = standings.flatMap(({ server, timeline }): [PostgresServer, string][] =>
      timeline && timeline.number < latestOf(timeline) ? [[server, formerText(timeline)]] : [],
    )
    for (const [server, why] of former) this.#tellOnce(`${writeServers([server])} ${why}`)
    const current = standings.find(({ server }) => !former.some(([each]) => each === server))
    return current?.server ?? this.#fail(former.map(([server, why]) => [server, `it ${why}`]))
  }

  #tellOnce(says: string): void {
    if (this.#told.has(says)) return
    this.#told.add(says)
    this.#tellFormer(says)
  }

  #fail(reasons: readonly (readonly [server: PostgresServer, why: string])[]): never {
    const why = reasons.map(([server, each]) => `${writeServers([server])}: ${each}`).join('; ')
    throw Object.assign(new Error(`no server is ${roleTexts[this.#role]} (${why})`), { code: noServer })
  }
}

function noteTimeline(timeline: Timeline | undefined): void {
  if (timeline) historyOf(timeline.cluster).latest = Math.max(latestOf(timeline), timeline.number)
}

const formerText = (timeline: Timeline): string =>
  `takes changes, but is a former primary, so nothing is sent to it: its timeline is ${timeline.number}, and another server has ${latestOf(timeline)}; make it a standby of that one (pg_rewind, pg_basebackup)`

/** A code of Diglot's own, in the style of socket errors. */
const noServer = 'ENOSERVER'
const roleTexts: Readonly<Record<ServerRole, string>> = {
  primary: 'a primary that takes changes',
  standby: 'a standby',
  any: 'there',
}

const roleText = `select case when pg_is_in_recovery() then 'standby' when current_setting('default_transaction_read_only') = 'on' then 'read-only' else 'primary' end`
/** A name of the write-ahead log begins with the timeline, in eight hexadecimal digits. */
const timelineText = `select system_identifier::text, case when pg_is_in_recovery() then null else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end from pg_control_system()`
/** PostgreSQL Appendix A: classes of errors if a database has no timelines, or hides them. */
const isUnknown = (thrown: unknown): boolean => /^(42|0A)/.test(errorCodeOf(thrown))

async function askStanding(first: string, server: PostgresServer, role: ServerRole): Promise<Standing> {
  const options = { connectionString: first, connectionTimeoutMillis: promptMs, query_timeout: promptMs }
  const client = Object.assign(new pg.Client(options), server)
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<[string]>({ text: roleText, rowMode: 'array' })
    const is = rows[0]?.[0]
    if (role !== 'any' && is !== role) throw new Error(`it is ${is}`)
    return { server, timeline: is === 'primary' ? await askTimeline(client) : undefined }
  } finally {
    void client.end().catch(() => {})
  }
}

async function askTimeline(client: pg.Client): Promise<Timeline | undefined> {
  try {
    const { rows } = await client.query<[string, string | null]>({ text: timelineText, rowMode: 'array' })
    const [cluster, digits] = rows[0] ?? []
    return cluster && digits ? { cluster, number: Number.parseInt(digits, 16) } : undefined
  } catch (thrown) {
    if (isUnknown(thrown)) return undefined
    throw thrown
  }
}
