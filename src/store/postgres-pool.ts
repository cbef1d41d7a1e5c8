/**
 * Pools of connections to the database. If its address names several servers, each new connection
 * goes to the server that has the wanted role at that moment: so a promoted standby takes over from
 * its primary without a restart.
 */
import pg from 'pg'
import { messageOf } from '../base/attempt.ts'
import { type PostgresServer, parseServerList, type ServerList, type ServerRole, writeServers } from './server-list.ts'

/** How long to wait for the answer of one server if another may be the right one. */
const promptMs = 2000
/** How long servers are assumed to keep their roles before they are asked again. */
const freshMs = 1000

/**
 * Settings that a database or a role may have for its other programs, and that would change values
 * on their way, or what a statement means. The last one: many small reads share the server, and
 * starting workers for one costs more than it gains.
 */
const sessionText =
  'set bytea_output = hex; set extra_float_digits = 1; set standard_conforming_strings = on; set max_parallel_workers_per_gather = 0'

/** @param role of the server, if the address names several and does not say which */
export function openPool(address: string, role: ServerRole, options: pg.PoolConfig): pg.Pool {
  const list = parseServerList(address)
  const pool = list
    ? new pg.Pool({ ...options, connectionString: list.first, Client: clientOf(new ServerFinder(list, role)) })
    : new pg.Pool({ ...options, connectionString: address })
  // An idle connection that breaks has already left the pool: the next caller gets another.
  pool.on('error', ignore)
  // A connection that refuses this also fails its first transaction. Without pipelining, `pg` warns
  // of a second statement.
  if (options.pipeline) pool.on('connect', client => void client.query(sessionText).catch(ignore))
  return pool
}

const ignore = (): void => {}

/** The class a pool makes its connections from; `pg` reads the address when it connects. */
function clientOf(finder: ServerFinder): new () => pg.Client {
  return class extends pg.Client {
    override connect(): Promise<pg.Client>
    override connect(done: (thrown: Error) => void): void
    override connect(done?: (thrown: Error) => void): Promise<pg.Client> | undefined {
      const connected = finder.find().then(server => Object.assign(this, server) && super.connect())
      if (!done) return connected
      connected.then(() => done(undefined as never), done)
      return undefined
    }
  }
}

/** Finds which of several servers has a role. */
class ServerFinder {
  readonly #list: ServerList
  readonly #role: ServerRole
  #found: Promise<PostgresServer> | undefined
  #until = 0

  constructor(list: ServerList, role: ServerRole) {
    this.#list = list
    this.#role = list.role ?? role
  }

  find(): Promise<PostgresServer> {
    if (!this.#found || performance.now() > this.#until) {
      this.#found = this.#ask()
      this.#until = performance.now() + freshMs
      this.#found.catch(() => (this.#found = undefined))
    }
    return this.#found
  }

  /** Asks all at once, so that a silent server keeps no other waiting. */
  #ask(): Promise<PostgresServer> {
    const { first, servers } = this.#list
    return Promise.any(servers.map(server => requireRole(first, server, this.#role))).catch(
      (thrown: AggregateError) => {
        const why = thrown.errors.map((each, i) => `${writeServers(servers.slice(i, i + 1))}: ${messageOf(each)}`)
        throw Object.assign(new Error(`no server is ${roleTexts[this.#role]} (${why.join('; ')})`), { code: noServer })
      },
    )
  }
}
/** A code of Diglot's own, in the style of socket errors. */
const noServer = 'ENOSERVER'
const roleTexts: Readonly<Record<ServerRole, string>> = {
  primary: 'a primary that takes changes',
  standby: 'a standby',
  any: 'there',
}

const roleText = `select case when pg_is_in_recovery() then 'standby' when current_setting('default_transaction_read_only') = 'on' then 'read-only' else 'primary' end`

async function requireRole(first: string, server: PostgresServer, role: ServerRole): Promise<PostgresServer> {
  const options = { connectionString: first, connectionTimeoutMillis: promptMs, query_timeout: promptMs }
  const client = Object.assign(new pg.Client(options), server)
  client.on('error', ignore)
  try {
    await client.connect()
    const { rows } = await client.query<[string]>({ text: roleText, rowMode: 'array' })
    const is = rows[0]?.[0]
    if (role !== 'any' && is !== role) throw new Error(`it is ${is}`)
    return server
  } finally {
    void client.end().catch(ignore)
  }
}
