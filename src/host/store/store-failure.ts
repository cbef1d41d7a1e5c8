/** Explains in one line why a database cannot be opened, with its place and the cure. */
import { errorCodeOf, messageOf } from '../../base/attempt.ts'
import { Unavailable } from '../../service/store.ts'
import { isDiskFull } from '../../store/disk-room.ts'
import { parseServerList, type ServerList, type ServerRole, writeServers } from '../../store/server-list.ts'

/** A database cannot be used. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
}

/**
 * @param role the role of the wanted server, which a list of servers may state itself
 * @throws StoreFailure for an address of another database, and for a malformed list
 */
export function ensurePostgresAddress(address: string, role: ServerRole): void {
  if (/^postgres(ql)?:\/\//.test(address)) {
    ensureServers(address, role)
    return
  }
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(address)?.[0]
  throw new StoreFailure(
    `a database at ${scheme === undefined ? 'this address' : `${scheme}:`} is not supported: give postgres://…, or data (--data) with a file for SQLite`,
  )
}

function ensureServers(address: string, role: ServerRole): void {
  const list = parseOrFail(address)
  if (role === 'primary' && (list?.role ?? role) !== role)
    throw new StoreFailure(
      'the address of the database has to lead to the primary: give target_session_attrs=read-write, and the standbys to --replica',
    )
}

function parseOrFail(address: string): ServerList | undefined {
  try {
    return parseServerList(address)
  } catch (thrown) {
    throw new StoreFailure(`the address of the database cannot be read: ${messageOf(thrown)}`)
  }
}

/** Explains the errors of the drivers; others, such as those of a migration, explain themselves. */
export function explainStoreFailure(thrown: unknown, database: string | undefined, file: string): unknown {
  const cause = thrown instanceof Unavailable ? thrown.cause : thrown
  const code = errorCodeOf(cause)
  if (code === 'ERR_MODULE_NOT_FOUND' && database !== undefined)
    return new StoreFailure('PostgreSQL needs its driver: npm install pg', { cause })
  if (code === '' && !(thrown instanceof Unavailable) && !isLostConnection(thrown, database)) return thrown
  const reason = messageOf(cause ?? 'no reply')
  return database === undefined
    ? new StoreFailure(`the database file ${file} cannot be used: ${reason}: ${fileCure(reason, file)}`, { cause })
    : new StoreFailure(
        `the database at ${databaseHostOf(database)} cannot be used: ${reason}: ${serverCures[code] ?? usualServerCure}`,
        { cause },
      )
}

/** The error of `pg`, without a code, if a server accepts a connection and then sends nothing. */
const isLostConnection = (thrown: unknown, database: string | undefined): boolean =>
  database !== undefined && /^(Connection terminated|timeout e|Query read timeout)/.test(messageOf(thrown))

/** Of a full disk, too, if there is no room for the shared memory next to the file. */
const isIoError = (reason: string): boolean => /^disk I\/O error/.test(reason)

const fileCure = (reason: string, file: string): string => {
  if (/is full/.test(reason) || (isIoError(reason) && isDiskFull(file))) return `free some space on the disk of ${file}`
  if (isIoError(reason)) return "the disk, or a limit of this process, refuses it: look into the system's log"
  if (/locked/.test(reason)) return 'wait for the process that holds it, or stop it'
  if (/not a database|malformed/.test(reason)) return 'give another file, or a copy that diglot backup has made'
  if (/^table .* already exists/.test(reason))
    return 'another program has this table: give the service a file of its own'
  return 'check the path, and that this user may read and write the file and its folder'
}

const usualServerCure = 'check that it runs, and its address, name and credentials'
/** PostgreSQL Appendix A. */
const serverCures: Readonly<Record<string, string>> = {
  '42P07':
    'another program has this table: give the service a database or a schema of its own (?options=-c%20search_path%3D…)',
  '08P01':
    'if it is PgBouncer, let it ignore_startup_parameters = lock_timeout,idle_in_transaction_session_timeout, and set both for the role',
  '25006':
    'it is a standby, or set to read-only: give the address of the primary, or of all servers, or reset default_transaction_read_only',
  '53300':
    'an instance needs 12 connections: end others, raise max_connections or the limit of the role or the database, or put PgBouncer in front',
  '42501': 'let the owner of the tables run diglot migrate --apply, or grant this user the right',
}

/** The host without the credentials. */
function databaseHostOf(database: string): string {
  const list = parseServerList(database)
  return list ? writeServers(list.servers) : URL.parse(database)?.host || 'this address'
}
