/** Why a database cannot be opened, in one line with its place and its cure. */
import { errorCodeOf } from '../../base/attempt.ts'
import { Unavailable } from '../../service/store.ts'

/** A database cannot be used. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
}

/** @throws StoreFailure for an address of something else than PostgreSQL, or of several servers */
export function ensurePostgresAddress(address: string): void {
  if (/^postgres(ql)?:\/\//.test(address)) {
    ensureOneServer(address)
    return
  }
  const scheme = /^[a-z][a-z0-9+.-]*(?=:)/i.exec(address)?.[0]
  throw new StoreFailure(
    `a database at ${scheme === undefined ? 'this address' : `${scheme}:`} is not supported: give postgres://…, or --data with a file for SQLite`,
  )
}

/** The driver knows no list of hosts, as libpq takes it, and would look all up as one name. */
function ensureOneServer(address: string): void {
  const hosts = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(address)?.[1] ?? ''
  const named = new URLSearchParams(/\?([^#]*)/.exec(address)?.[1]).get('host') ?? ''
  if (`${hosts}${named}`.includes(','))
    throw new StoreFailure(
      'the address of the database names several servers: name one that leads to the primary, also after a failover, such as a name in DNS, a virtual address or a pooler',
    )
}

/** The errors of the drivers in words; other errors, such as those of a migration, have theirs. */
export function explainStoreFailure(thrown: unknown, database: string | undefined, file: string): unknown {
  const cause = thrown instanceof Unavailable ? thrown.cause : thrown
  const code = errorCodeOf(cause)
  if (code === 'ERR_MODULE_NOT_FOUND' && database !== undefined)
    return new StoreFailure('PostgreSQL needs its driver: npm install pg', { cause })
  if (code === '' && !(thrown instanceof Unavailable)) return thrown
  const why = messageOf(cause)
  return database === undefined
    ? new StoreFailure(`the database file ${file} cannot be opened: ${why}: ${fileCure(why)}`, { cause })
    : new StoreFailure(
        `the database at ${databaseHostOf(database)} cannot be used: ${why}: check that it runs, and its address, name and credentials`,
        { cause },
      )
}

const fileCure = (why: string): string => {
  if (/locked/.test(why)) return 'wait for the process that holds it, or stop it'
  if (/not a database|malformed/.test(why)) return 'give another file, or a copy that diglot backup has made'
  return 'check the path, and that this user may read and write the file and its folder'
}

/** Without its credentials. */
const databaseHostOf = (database: string): string => URL.parse(database)?.host || 'this address'

/** An AggregateError of several addresses has no message of its own. */
function messageOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return messageOf((thrown.errors as unknown[])[0])
  return thrown instanceof Error ? thrown.message || errorCodeOf(thrown) : String(thrown ?? 'no reply')
}
