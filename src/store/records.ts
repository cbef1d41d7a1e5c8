/** Everything beside the items: files, memos, jobs, the audit, changes and former items. Their tables and statements. */
import type { Service } from '../contract/service.ts'
import type { Change, Deed, JobRow, Maybe } from '../service/store.ts'
import { type Cells, type Connection, chain } from './connection.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { sql } from './sql.ts'
import { list, name, type Statement, statement, value, values } from './statement.ts'

/** Made once, when the store is new. */
export function recordTables(dialect: Dialect): readonly Sql[] {
  const { text, integer, real, blob } = dialect.types
  return [
    sql`create table "_shape" ("of" ${text} not null, "name" ${text} not null, "is" ${text} not null, primary key ("of", "name"))`,
    sql`create table "_former" ("resource" ${text} not null, "id" ${text} not null, "version" ${integer} not null, "to" ${text},
      primary key ("resource", "id"))`,
    sql`create table "_file" ("resource" ${text} not null, "id" ${text} not null, "part" ${text} not null, "mediaType" ${text},
      "bytes" ${blob}, "version" ${integer} not null, "modified" ${integer} not null, primary key ("resource", "id", "part"))`,
    sql`create table "_memo" ("space" ${text} not null, "key" ${text} not null, "value" ${text} not null,
      "expires" ${integer} not null, primary key ("space", "key"))`,
    sql`create index "_memo#expires" on "_memo" ("expires")`,
    sql`create table "_job" ("id" ${text} primary key, "job" ${text} not null, "state" ${text} not null, "progress" ${real} not null,
      "owner" ${text} not null, "caller" ${text} not null, "input" ${text} not null, "output" ${text}, "failure" ${text},
      "tries" ${integer} not null, "version" ${integer} not null, "created" ${integer} not null, "modified" ${integer} not null,
      "leased" ${integer} not null, "due" ${integer} not null)`,
    sql`create index "_job#due" on "_job" ("due", "created") where "state" in ('queued', 'running')`,
    sql`create index "_job#finished" on "_job" ("modified") where "state" not in ('queued', 'running')`,
    sql`create table "_deed" ("sequence" ${dialect.counter}, "at" ${integer} not null, "subject" ${text} not null,
      "operation" ${text} not null, "resource" ${text} not null, "id" ${text} not null, "version" ${integer},
      "face" ${text} not null, "request" ${text} not null)`,
    ...dialect.appendOnly('_deed'),
    sql`create table "_change" ("sequence" ${dialect.counter}, "at" ${integer} not null, "resource" ${text} not null,
      "id" ${text} not null, "version" ${integer} not null, "what" ${text} not null,
      "operation" ${text} not null)`,
    sql`create index "_change#at" on "_change" ("at")`,
  ]
}

const jobColumns = [
  'id', 'job', 'state', 'progress', 'owner', 'caller', 'input', 'output', 'failure', 'tries', 'version', 'created',
  'modified', 'leased', 'due',
] as const satisfies readonly (keyof JobRow)[] // biome-ignore format: one line reads best
const deedColumns = ['at', 'subject', 'operation', 'resource', 'id', 'version', 'face', 'request'] as const
const changeColumns = ['sequence', 'at', 'resource', 'id', 'version', 'what', 'operation'] as const

/** A column that is null is a member that is undefined. The tables' types are those of the rows. */
const recordOf =
  <T>(columns: readonly (keyof T & string)[]) =>
  (row: Cells): T =>
    Object.fromEntries(columns.map((column, i) => [column, row[i] ?? undefined])) as T
const cellsOf =
  <T>(columns: readonly (keyof T & string)[]) =>
  (record: T): readonly Cell[] =>
    columns.map(column => (record[column] ?? null) as Cell)

export const jobOf = recordOf<JobRow>(jobColumns)
export const jobCells = cellsOf<JobRow>(jobColumns)
export const deedCells = cellsOf<Deed>(deedColumns)
export const changeOf = recordOf<Change>(changeColumns)
export const changeCells = cellsOf<Omit<Change, 'sequence'>>(
  changeColumns.slice(1) as (keyof Omit<Change, 'sequence'>)[],
)

export type Records = ReturnType<typeof records>

export function records(dialect: Dialect) {
  const make = (text: Sql): Statement => statement(dialect, text)
  const columns = (of: readonly string[]): Sql => list(of.map(name))
  const job = columns(jobColumns)
  const file = sql`"resource" = ${value(0)} and "id" = ${value(1)} and "part" = ${value(2)}`
  return {
    /** Of a resource and an id: version and where it went. */
    former: make(sql`select "version", "to" from "_former" where "resource" = ${value(0)} and "id" = ${value(1)}`),
    end: make(sql`insert into "_former" ("resource", "id", "version", "to") values (${values(0, 4)})`),
    begin: make(sql`delete from "_former" where "resource" = ${value(0)} and "id" = ${value(1)}`),
    file: make(
      sql`select "mediaType", "bytes", "version", "modified" from "_file" where ${file} and "bytes" is not null`,
    ),
    putFile: make(
      sql`insert into "_file" ("resource", "id", "part", "mediaType", "bytes", "modified", "version") values (${values(0, 6)}, 1)
        on conflict ("resource", "id", "part") do update set "mediaType" = excluded."mediaType", "bytes" = excluded."bytes",
        "modified" = excluded."modified", "version" = "_file"."version" + 1 returning "version"`,
    ),
    /** The version stays, so that it is not used again. */
    emptyFiles: make(
      sql`update "_file" set "bytes" = null, "mediaType" = null where "resource" = ${value(0)} and "id" = ${value(1)}`,
    ),
    recall: make(sql`select "value", "expires" from "_memo" where "space" = ${value(0)} and "key" = ${value(1)}`),
    remember: make(
      sql`insert into "_memo" ("space", "key", "value", "expires") values (${values(0, 4)})
        on conflict ("space", "key") do update set "value" = excluded."value", "expires" = excluded."expires"
        where "_memo"."expires" <= ${value(4)} returning 1`,
    ),
    forget: make(sql`delete from "_memo" where "space" = ${value(0)} and "key" = ${value(1)}`),
    job: make(sql`select ${job} from "_job" where "id" = ${value(0)}`),
    dropJob: make(sql`delete from "_job" where "id" = ${value(0)}`),
    jobs: make(
      sql`select ${job} from "_job" where "state" = ${value(0)} order by "modified" desc, "id" limit ${value(1)}`,
    ),
    putJob: make(
      sql`insert into "_job" (${job}) values (${values(0, jobColumns.length)}) on conflict ("id") do update set
        ${list(jobColumns.slice(1).map(column => sql`${name(column)} = excluded.${name(column)}`))}`,
    ),
    record: make(sql`insert into "_deed" (${columns(deedColumns)}) values (${values(0, deedColumns.length)})`),
    changed: make(
      sql`insert into "_change" (${columns(changeColumns.slice(1))}) values (${values(0, changeColumns.length - 1)})`,
    ),
    changes: make(
      sql`select ${columns(changeColumns)} from "_change" where "sequence" > ${value(0)}
        order by "sequence" limit ${value(1)}`,
    ),
    swept: make(sql`select "is" from "_shape" where "of" = 'store' and "name" = 'swept'`),
    ready: make(sql`select 1 from "_shape" limit 1`),
  }
}

/** Of now, the end of the lease, then the names of jobs. */
export function lease(dialect: Dialect, jobs: number): Statement {
  const due = sql`"state" = 'queued' and "due" <= ${value(0)}`
  const over = sql`"state" = 'running' and "leased" <= ${value(0)}`
  return statement(
    dialect,
    sql`update "_job" set "state" = 'running', "leased" = ${value(1)}, "modified" = ${value(0)}, "tries" = "tries" + 1,
      "version" = "version" + 1 where "id" = (select "id" from "_job" where "job" in (${values(2, jobs)})
        and ((${due}) or (${over})) order by "due", "created", "id" limit 1 ${dialect.choosing})
      returning ${list(jobColumns.map(name))}`,
  )
}

/** How many rows one transaction deletes, so that it is short. */
export const batch = 2000

export interface Expiry {
  readonly statement: Statement
  readonly values: (now: number) => readonly Cell[]
  /** Takes the largest number among those of the rows that went. */
  readonly mark?: Statement
}
/** What a sweep deletes, a batch at a time; a row for each that went. `changesKept` in milliseconds. */
export function expiries(service: Service, dialect: Dialect, changesKept: number): readonly Expiry[] {
  const oldest = (table: string, key: string, where: Sql): Statement =>
    statement(
      dialect,
      sql`delete from ${name(table)} where ${name(key)} in
        (select ${name(key)} from ${name(table)} where ${where} limit ${sql.lit(batch)}) returning ${name(key)}`,
    )
  const memos = statement(
    dialect,
    sql`delete from "_memo" where ("space", "key") in
      (select "space", "key" from "_memo" where "expires" <= ${value(0)} limit ${sql.lit(batch)}) returning 1`,
  )
  const mark = statement(
    dialect,
    sql`insert into "_shape" ("of", "name", "is") values ('store', 'swept', ${value(0)})
      on conflict ("of", "name") do update set "is" = excluded."is"
      where cast("_shape"."is" as bigint) < cast(excluded."is" as bigint)`,
  )
  const finished = sql`"state" not in ('queued', 'running') and "modified" <= ${value(0)} and "job" = ${value(1)}`
  return [
    { statement: memos, values: now => [now] },
    ...service.jobs.map(job => ({
      statement: oldest('_job', 'id', finished),
      values: (now: number) => [now - job.keep * 1000, job.job],
    })),
    { statement: oldest('_change', 'sequence', sql`"at" <= ${value(0)}`), values: now => [now - changesKept], mark },
  ]
}

/** Deletes one batch, within a transaction; how many rows went. */
export function expired({ statement, values, mark }: Expiry, on: Connection, now: number): Maybe<number> {
  return chain(on.rows(statement, values(now)), rows => {
    if (!mark || rows.length === 0) return rows.length
    const last = Math.max(...rows.map(([key]) => Number(key)))
    return chain(on.run(mark, [String(last)]), () => rows.length)
  })
}
