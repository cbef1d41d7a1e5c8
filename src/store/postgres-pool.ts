/**
 * Pools of connections to the database. If its address names several servers, each new connection
 * goes to the server that has the wanted role at that moment: so a promoted standby takes over from
 * its primary without a restart.
 */
import pg from 'pg'
import { ServerFinder, type TellFormer } from './server-finder.ts'
import { parseServerList, type ServerRole } from './server-list.ts'

/**
 * Settings that a database or a role may have for its other programs, and that would change values
 * on their way, or what a statement means. The last one: many small reads share the server, and
 * starting workers for one costs more than it gains.
 */
const sessionText =
  'set bytea_output = hex; set extra_float_digits = 1; set standard_conforming_strings = on; set gin_fuzzy_search_limit = 0; set max_parallel_workers_per_gather = 0'

/**
 * If several servers are named, a connection does not outlast this, for its server may have become
 * a former primary without noticing.
 */
const maxLifetimeSeconds = 30

/** @param role of the server, if the address names several and does not say which */
export function openPool(
  address: string,
  role: ServerRole,
  options: pg.PoolConfig,
  tellFormer: TellFormer = ignore,
): pg.Pool {
  const list = parseServerList(address)
  const pool = list
    ? new pg.Pool({
        ...options,
        maxLifetimeSeconds,
        connectionString: list.first,
        Client: clientOf(new ServerFinder(list, role, tellFormer)),
      })
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
