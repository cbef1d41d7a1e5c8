/**
 * Everything besides the items: files, memos, jobs, the audit, changes and former items. Their
 * tables and statements.
 */

import { chain, type Maybe } from '../base/maybe.ts'
import { memoizeByNumber } from '../base/memo.ts'
import type { JobState } from '../contract/job.ts'
import { laterJobName } from '../contract/later-call.ts'
import { listLaterOperations } from '../contract/port-operation.ts'
import type { Service } from '../contract/service.ts'
import type { AuditRecord, ChangeRecord, JobRow } from '../service/store.ts'
import type { Cells, StatementRunner } from './connection.ts'
import type { Cell, ColumnKind, Dialect, Sql } from './dialect.ts'
import { instanceSpace } from './instance-needs.ts'
import { earliestVersion, followingVersion, laterTime } from './row-version.ts'
import { sql } from './sql.ts'
import { compileStatement, joinList, parameterAt, parameterList, quoteName, type Statement } from './statement.ts'

/** Created once, when the store is new. */
export function declareRecordTables(dialect: Dialect): readonly Sql[] {
  const { text, integer, real, blob } = dialect.types
  return [
    sql`create table "_shape" ("of" ${text} not null, "name" ${text} not null, "is" ${text} not null, primary key ("of", "name"))`,
    sql`create table "_former" ("resource" ${text} not null, "id" ${text} not null, "version" ${integer} not null, "to" ${text},
      primary key ("resource", "id"))`,
    sql`create table "_file" ("resource" ${text} not null, "id" ${text} not null, "part" ${text} not null, "mediaType" ${text},
      "bytes" ${blob}, "version" ${integer} not null, "modified" ${integer} not null, ${fileColumns(dialect)},
      primary key ("resource", "id", "part"))`,
    ...pieceTables(dialect),
    ...migrateFormers,
    sql`create table "_memo" ("space" ${text} not null, "key" ${text} not null, "value" ${text} not null,
      "expires" ${integer} not null, primary key ("space", "key"))`,
    sql`create index "_memo#expires" on "_memo" ("expires")`,
    sql`create table "_job" ("id" ${text} primary key, "job" ${text} not null, "state" ${text} not null, "progress" ${real} not null,
      "owner" ${text} not null, "caller" ${text} not null, "input" ${text} not null, "output" ${text}, "failure" ${text},
      "tries" ${integer} not null, "version" ${integer} not null, "created" ${integer} not null, "modified" ${integer} not null,
      "leased" ${integer} not null, "due" ${integer} not null, ${joinList(turnColumns(dialect))})`,
    ...turnIndexes,
    sql`create index "_job#finished" on "_job" ("modified") where "state" not in ('queued', 'running')`,
    endedIndex,
    failedIndex,
    queuedIndex,
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

/** A table to copy to another database. */
export interface CopiedTable {
  readonly name: string
  readonly columns: Readonly<Record<string, ColumnKind>>
  /** The columns that identify a row; rows are read in their order. */
  readonly key: readonly string[]
  /** The key counts up, and continues from its last number. */
  readonly counts?: true
  /** Rows that belong to this database only, by a column and its value. */
  readonly own?: readonly [column: string, value: string]
}

/** All of them except `_shape`, which says what one database has. */
export const copiedRecords: readonly CopiedTable[] = [
  {
    name: '_former',
    columns: { resource: 'text', id: 'text', version: 'integer', to: 'text' },
    key: ['resource', 'id'],
  },
  {
    name: '_file',
    columns: {
      ...{ resource: 'text', id: 'text', part: 'text', mediaType: 'text', bytes: 'blob', version: 'integer' },
      ...{ modified: 'integer', content: 'text', length: 'integer', before: 'text' },
    },
    key: ['resource', 'id', 'part'],
  },
  { name: '_content', columns: { id: 'text', expires: 'integer' }, key: ['id'] },
  { name: '_piece', columns: { content: 'text', number: 'integer', bytes: 'blob' }, key: ['content', 'number'] },
  {
    name: '_memo',
    columns: { space: 'text', key: 'text', value: 'text', expires: 'integer' },
    key: ['space', 'key'],
    own: ['space', instanceSpace],
  },
  {
    name: '_job',
    columns: {
      ...{ id: 'text', job: 'text', state: 'text', progress: 'real', owner: 'text', caller: 'text', input: 'text' },
      ...{ output: 'text', failure: 'text', tries: 'integer', version: 'integer', created: 'integer' },
      ...{ modified: 'integer', leased: 'integer', due: 'integer', party: 'text', turn: 'integer' },
    },
    key: ['id'],
  },
  {
    name: '_deed',
    columns: {
      ...{ sequence: 'integer', at: 'integer', subject: 'text', operation: 'text', resource: 'text', id: 'text' },
      ...{ version: 'integer', face: 'text', request: 'text' },
    },
    key: ['sequence'],
    counts: true,
  },
  {
    name: '_change',
    columns: {
      ...{ sequence: 'integer', at: 'integer', resource: 'text', id: 'text', version: 'integer', what: 'text' },
      operation: 'text',
    },
    key: ['sequence'],
    counts: true,
  },
]

const turnColumns = ({ types: { text, integer } }: Dialect): readonly Sql[] => [
  sql`"party" ${text} not null default ''`,
  sql`"turn" ${integer} not null default 0`,
]
const turnIndexes = [
  sql`create index "_job#turn" on "_job" ("turn", "due", "created", "id") where "state" = 'queued'`,
  sql`create index "_job#party" on "_job" ("party", "turn") where "state" = 'queued'`,
  sql`create index "_job#leased" on "_job" ("leased") where "state" = 'running'`,
]

/** For a store that was created when jobs were picked by age. */
export const migrateTurns = (dialect: Dialect): readonly Sql[] => [
  ...turnColumns(dialect).map(column => sql`alter table "_job" add column ${column}`),
  ...turnIndexes,
  sql`drop index "_job#due"`,
]

/** For the sweep of one kind of job, so that jobs with a longer life need not be skipped. */
const endedIndex = sql`create index "_job#ended" on "_job" ("job", "modified") where "state" not in ('queued', 'running')`
/** For a store that was created when all finished jobs shared the index by time alone. */
export const migrateEnded: readonly Sql[] = [endedIndex]

/** For operators: lists of failed jobs, and their number at each reading of the figures. */
const failedIndex = sql`create index "_job#failed" on "_job" ("modified" desc, "id") where "state" = 'failed'`
/** For a store that was created when failed jobs were searched among all jobs. */
export const migrateFailed: readonly Sql[] = [failedIndex]

/** For jobs that are due, so that those that wait for their time need not be skipped. */
const queuedIndex = sql`create index "_job#queued" on "_job" ("job", "due") where "state" = 'queued'`
/** For a store that was created when due jobs were found by their turns. */
export const migrateQueued: readonly Sql[] = [queuedIndex]

/** By age, for a service that keeps the records of former items for a time only. */
export const migrateFormers: readonly Sql[] = [
  sql`create index "_former#version" on "_former" ("version")`,
  sql`create index "_file#emptied" on "_file" ("version") where "mediaType" is null`,
]

/**
 * Columns of `_file`: the name of its pieces, if it has more than one, and the octets in them; and
 * the name of its previous pieces, so that the statement that replaces them returns what to remove.
 */
const fileColumns = ({ types: { text, integer } }: Dialect): Sql => joinList(pieceColumns(text, integer))
const pieceColumns = (text: Sql, integer: Sql): readonly Sql[] => [
  sql`"content" ${text}`,
  sql`"length" ${integer}`,
  sql`"before" ${text}`,
]

/**
 * `expires`: when pieces that belong to no file, or no longer to one, are removed; pieces of a file
 * have none.
 */
function pieceTables({ types: { text, integer, blob }, uncompressed }: Dialect): readonly Sql[] {
  return [
    sql`create table "_content" ("id" ${text} primary key, "expires" ${integer})`,
    sql`create index "_content#expires" on "_content" ("expires") where "expires" is not null`,
    sql`create table "_piece" ("content" ${text} not null, "number" ${integer} not null, "bytes" ${blob} not null,
      primary key ("content", "number"))`,
    ...uncompressed('_piece', 'bytes'),
  ]
}

/** For a store that was created when a file was one value. */
export const migratePieces = (dialect: Dialect): readonly Sql[] => [
  ...pieceColumns(dialect.types.text, dialect.types.integer).map(
    column => sql`alter table "_file" add column ${column}`,
  ),
  ...pieceTables(dialect),
]

const jobColumns = [
  'id', 'job', 'state', 'progress', 'owner', 'caller', 'input', 'output', 'failure', 'tries', 'version', 'created',
  'modified', 'leased', 'due', 'party', 'turn',
] as const satisfies readonly (keyof JobRow)[] // biome-ignore format: one line reads best
const deedColumns = ['at', 'subject', 'operation', 'resource', 'id', 'version', 'face', 'request'] as const
const changeColumns = ['sequence', 'at', 'resource', 'id', 'version', 'what', 'operation'] as const

/** A null column is an undefined member. The tables have the types of the rows. */
const recordOf =
  <T>(columns: readonly (keyof T & string)[]) =>
  (row: Cells): T =>
    Object.fromEntries(columns.map((column, i) => [column, row[i] ?? undefined])) as T
const cellsOf =
  <T>(columns: readonly (keyof T & string)[]) =>
  (record: T): readonly Cell[] => {
    const cells: Cell[] = []
    for (const column of columns) cells.push((record[column] ?? null) as Cell)
    return cells
  }

export const jobOf = recordOf<JobRow>(jobColumns)
export const jobCells = cellsOf<JobRow>(jobColumns)
export const deedCells = cellsOf<AuditRecord>(deedColumns)
export const deedOf = recordOf<AuditRecord & { sequence: number }>(['sequence', ...deedColumns])
export const changeOf = recordOf<ChangeRecord>(changeColumns)
export const changeCells = cellsOf<Omit<ChangeRecord, 'sequence'>>(
  changeColumns.slice(1) as (keyof Omit<ChangeRecord, 'sequence'>)[],
)

export type Records = ReturnType<typeof compileRecords>

export const compileRecords = (dialect: Dialect) => ({
  ...compileFormers(dialect),
  ...compileFiles(dialect),
  ...compilePieces(dialect),
  ...compileMemos(dialect),
  ...compileJobs(dialect),
  ...compileDeeds(dialect),
  ...compileChanges(dialect),
})

const columnList = (columns: readonly string[]): Sql => joinList(columns.map(quoteName))
const ofItem = sql`where "resource" = ${parameterAt(0)} and "id" = ${parameterAt(1)}`

const compileFormers = (dialect: Dialect) => ({
  /** Of a resource and an id: its version, and where it went. */
  former: compileStatement(dialect, sql`select "version", "to" from "_former" ${ofItem}`),
  end: compileStatement(
    dialect,
    sql`insert into "_former" ("resource", "id", "version", "to") values (${parameterList(0, 4)})`,
  ),
  begin: compileStatement(dialect, sql`delete from "_former" ${ofItem}`),
})

const compileFiles = (dialect: Dialect) => ({
  file: compileStatement(
    dialect,
    sql`select "mediaType", "bytes", "version", "modified", "content", "length" from "_file"
        ${ofItem} and "part" = ${parameterAt(2)} and "mediaType" is not null`,
  ),
  putFile: compileStatement(
    dialect,
    sql`${dialect.insertRow} "_file" ("resource", "id", "part", "mediaType", "bytes", "content", "length", "modified", "version")
        values (${parameterList(0, 9)}) on conflict ("resource", "id", "part") do update set "mediaType" = excluded."mediaType",
        "bytes" = excluded."bytes", "before" = "_file"."content", "content" = excluded."content",
        "length" = excluded."length", "modified" = ${laterTime(sql`"_file"."modified"`, sql`excluded."modified"`)},
        "version" = ${followingVersion(sql`"_file"."version"`, sql`excluded."version"`)}
        returning "version", "before", "modified"`,
  ),
  /** The version stays, so that it is never used twice. */
  emptyFiles: compileStatement(
    dialect,
    sql`update "_file" set "bytes" = null, "mediaType" = null, "before" = "content", "content" = null, "length" = null
        ${ofItem} returning "before"`,
  ),
})

/** The octets of files, and of pieces that are to become one. */
const compilePieces = (dialect: Dialect) => ({
  /** Takes a name and when it expires; not for the pieces of a file. */
  staged: compileStatement(
    dialect,
    sql`insert into "_content" ("id", "expires") values (${parameterList(0, 2)}) on conflict ("id")
        do update set "expires" = excluded."expires" where "_content"."expires" is not null`,
  ),
  stage: compileStatement(
    dialect,
    sql`insert into "_piece" ("content", "number", "bytes") values (${parameterList(0, 3)})`,
  ),
  discard: compileStatement(
    dialect,
    sql`update "_content" set "expires" = 0 where "id" = ${parameterAt(0)} and "expires" is not null`,
  ),
  /**
   * Takes a name and now: the pieces belong to a file from here on. No row if they have expired.
   */
  claim: compileStatement(
    dialect,
    sql`${dialect.updateRow} "_content" set "expires" = null where "id" = ${parameterAt(0)} and "expires" > ${parameterAt(1)} returning 1`,
  ),
  retire: compileStatement(
    dialect,
    sql`update "_content" set "expires" = ${parameterAt(1)} where "id" = ${parameterAt(0)}`,
  ),
  /** Takes a name, the number of a piece, the place in it, and how many octets. */
  octets: compileStatement(
    dialect,
    sql`select substr("bytes", ${dialect.small(parameterAt(2))}, ${dialect.small(parameterAt(3))}) from "_piece"
        where "content" = ${parameterAt(0)} and "number" = ${parameterAt(1)}`,
  ),
})

function compileMemos(dialect: Dialect) {
  const recall = sql`select "value", "expires" from "_memo" where "space" = ${parameterAt(0)} and "key" = ${parameterAt(1)}`
  return {
    recall: compileStatement(dialect, recall),
    recallForChange: compileStatement(dialect, sql`${recall} ${dialect.locking}`),
    recallAll: compileStatement(
      dialect,
      sql`select "key", "value", "expires" from "_memo" where "space" = ${parameterAt(0)}
        order by "key" ${dialect.limit(parameterAt(1))}`,
    ),
    remember: compileStatement(
      dialect,
      sql`${dialect.insertRow} "_memo" ("space", "key", "value", "expires") values (${parameterList(0, 4)})
        on conflict ("space", "key") do update set "value" = excluded."value", "expires" = excluded."expires"
        where "_memo"."expires" <= ${parameterAt(4)} returning 1`,
    ),
    forget: compileStatement(
      dialect,
      sql`delete from "_memo" where "space" = ${parameterAt(0)} and "key" = ${parameterAt(1)}`,
    ),
  }
}

/**
 * Each takes a limit. The state is part of their text, so that indexes of one state can be used.
 */
function jobsByState(
  dialect: Dialect,
  write: (parts: { readonly is: Sql; readonly limit: Sql }) => Sql,
): Readonly<Record<JobState, Statement>> {
  const limit = dialect.limit(parameterAt(0))
  const of = (state: JobState): Statement =>
    compileStatement(dialect, write({ is: sql`"state" = ${sql.lit(state)}`, limit }))
  return {
    queued: of('queued'),
    running: of('running'),
    completed: of('completed'),
    failed: of('failed'),
    cancelled: of('cancelled'),
  }
}

/** A process looks for the jobs of a few contracts, and for the replies of its outbox. */
const jobCountsMax = 32

function compileJobs(dialect: Dialect) {
  const columns = columnList(jobColumns)
  const byId = sql`select ${columns} from "_job" where "id" = ${parameterAt(0)}`
  const byCount = (compile: typeof leaseStatement) => memoizeByNumber(count => compile(dialect, count), jobCountsMax)
  return {
    lease: byCount(leaseStatement),
    due: byCount(dueStatement),
    turn: byCount((on, jobs) => turnStatement(on, jobs)),
    dueTurn: byCount((on, jobs) => turnStatement(on, jobs, parameterAt(1))),
    job: compileStatement(dialect, byId),
    jobForChange: compileStatement(dialect, sql`${byId} ${dialect.locking}`),
    dropJob: compileStatement(dialect, sql`delete from "_job" where "id" = ${parameterAt(0)}`),
    jobs: jobsByState(
      dialect,
      ({ is, limit }) => sql`select ${columns} from "_job" where ${is} order by "modified" desc, "id" ${limit}`,
    ),
    countJobs: jobsByState(
      dialect,
      ({ is, limit }) => sql`select count(*) from (select 1 from "_job" where ${is} ${limit}) as "some"`,
    ),
    putJob: compileStatement(
      dialect,
      sql`insert into "_job" (${columns}) values (${parameterList(0, jobColumns.length)}) on conflict ("id") do update set
        ${joinList(jobColumns.slice(1).map(column => sql`${quoteName(column)} = excluded.${quoteName(column)}`))}`,
    ),
  }
}

/** Takes the cells of a deed. */
export const insertDeed = sql`insert into "_deed" (${columnList(deedColumns)}) values (${parameterList(0, deedColumns.length)})`

const nextDeeds = (dialect: Dialect, columns: Sql, limit: Sql): Sql =>
  sql`(select "sequence"${columns} from "_deed" where "sequence" > ${parameterAt(0)}
    order by "sequence" ${dialect.limit(limit)}) as "next"`

const compileDeeds = (dialect: Dialect) => ({
  record: compileStatement(dialect, insertDeed),
  deeds: compileStatement(
    dialect,
    sql`select * from ${nextDeeds(dialect, sql`, ${columnList(deedColumns)}`, parameterAt(2))}
        where "at" < ${parameterAt(1)} order by "sequence"`,
  ),
  lastDeed: compileStatement(dialect, sql`select max("sequence") from ${nextDeeds(dialect, sql``, parameterAt(1))}`),
  beforeRemoval: compileStatement(dialect, dialect.removal('_deed')[0]),
  removeDeeds: compileStatement(
    dialect,
    sql`delete from "_deed" where "sequence" between ${parameterAt(0)} and ${parameterAt(1)} returning 1`,
  ),
  afterRemoval: compileStatement(dialect, dialect.removal('_deed')[1]),
})

const compileChanges = (dialect: Dialect) => ({
  changed: compileStatement(
    dialect,
    sql`insert into "_change" (${columnList(changeColumns.slice(1))}) values (${parameterList(0, changeColumns.length - 1)})`,
  ),
  changes: compileStatement(
    dialect,
    sql`select ${columnList(changeColumns)} from "_change" where "sequence" > ${parameterAt(0)}
        order by "sequence" ${dialect.limit(parameterAt(1))}`,
  ),
  swept: compileStatement(dialect, sql`select "is" from "_shape" where "of" = 'store' and "name" = 'swept'`),
})

const overdue = (now: Sql, ofNames: Sql): Sql => sql`"state" = 'running' and "leased" <= ${now} and ${ofNames}`
const queuedUntil = (now: Sql, ofNames: Sql): Sql => sql`"state" = 'queued' and "due" <= ${now} and ${ofNames}`
const dueJobs = (dialect: Dialect, now: Sql, ofNames: Sql): Sql =>
  sql`from "_job" ${dialect.byIndex('_job#queued')} where ${queuedUntil(now, ofNames)}`

/** Takes the time, then the names of jobs. Yields a row if one of them may be leased. */
function dueStatement(dialect: Dialect, jobs: number): Statement {
  const ofNames = sql`"job" in (${parameterList(1, jobs)})`
  const over = sql`select 1 from "_job" where ${overdue(parameterAt(0), ofNames)}`
  const next = sql`select 1 ${dueJobs(dialect, parameterAt(0), ofNames)}`
  return compileStatement(dialect, sql`select 1 where exists (${over}) or exists (${next})`)
}

/** A lease sorts up to this many due jobs by their turns; for more, it reads the index of turns. */
const sortedJobsMax = 100

/**
 * Takes the time, the end of the lease, how many jobs of one party may run, a drawn version, then
 * the names of jobs.
 */
function leaseStatement(dialect: Dialect, jobs: number): Statement {
  const now = parameterAt(0)
  const ofNames = sql`"job" in (${parameterList(4, jobs)})`
  const over = sql`select "id" from "_job" where ${overdue(now, ofNames)}
    order by "leased", "due", "id" limit 1 ${dialect.choosing}`
  const running = sql`select count(*) from "_job" as "other" where "other"."state" = 'running' and "other"."party" = "_job"."party"`
  const first = (turn: Sql): Sql =>
    sql`and (${running}) < ${parameterAt(2)} order by ${turn}, "due", "created", "id" limit 1 ${dialect.choosing}`
  const due = dueJobs(dialect, now, ofNames)
  const count = sql`select count(*) from (select 1 ${due} limit ${sql.lit(sortedJobsMax + 1)}) as "due"`
  // A sum keeps SQLite away from the index of turns, which includes all that wait for their time.
  const few = sql`select "id" from "_job" where "id" in (select "id" ${due}) and ${queuedUntil(now, ofNames)} ${first(sql`"turn" + 0`)}`
  const many = sql`select "id" from "_job" ${dialect.byIndex('_job#turn')} where ${queuedUntil(now, ofNames)} ${first(sql`"turn"`)}`
  const next = sql`case when (${count}) <= ${sql.lit(sortedJobsMax)} then (${few}) else (${many}) end`
  return compileStatement(
    dialect,
    sql`${dialect.updateRow} "_job" set "state" = 'running', "leased" = ${parameterAt(1)}, "modified" = ${now}, "tries" = "tries" + 1,
      "version" = ${followingVersion(sql`"version"`, parameterAt(3))} where "id" = coalesce((${over}), ${next})
      returning ${joinList(jobColumns.map(quoteName))}`,
  )
}

/**
 * Takes a party, then until when its jobs count, if there is an end, then the names of jobs.
 * Returns the count and the last turn of its queued jobs, then the first turn of all.
 */
function turnStatement(dialect: Dialect, jobs: number, until?: Sql): Statement {
  const queued = sql`where "state" = 'queued' and "job" in (${parameterList(until ? 2 : 1, jobs)})`
  const due = until ? sql`and "due" <= ${until}` : sql``
  const ofParty = sql`from "_job" ${queued} and "party" = ${parameterAt(0)} ${due}`
  const first = sql`select "turn" from "_job" ${dialect.byIndex('_job#turn')} ${queued} order by "turn" limit 1`
  return compileStatement(
    dialect,
    sql`select (select count(*) ${ofParty}), (select max("turn") ${ofParty}), (${first})`,
  )
}

/** Rows that one transaction deletes, in some ten milliseconds. */
const sweepBatch = 500
/** Two megabytes. */
const pieceSweepBatch = 8

export interface Expiry {
  readonly statement: Statement
  /** Rows in one batch: if this many were deleted, there may be more. */
  readonly batch: number
  readonly values: (now: number) => readonly Cell[]
  /** Records the largest number among the deleted rows. */
  readonly mark?: Statement
}
/** Milliseconds for which records are kept. */
export interface Retention {
  /** A committed change in the feed. Default: seven days. */
  readonly changesKept?: number
  /** The record of a removed or moved identifier (410, 301). Default: for ever. */
  readonly formerKept?: number
}
const dayMs = 24 * 3600 * 1000
const weekMs = 7 * dayMs

/** What a sweep deletes, a batch at a time; each statement returns a row per deletion. */
export function compileExpiries(
  service: Service,
  dialect: Dialect,
  { changesKept = weekMs, formerKept = Number.POSITIVE_INFINITY }: Retention,
): readonly Expiry[] {
  const oldest = (table: string, key: string, where: Sql): Statement =>
    compileStatement(
      dialect,
      sql`delete from ${quoteName(table)} where ${quoteName(key)} in
        (select ${quoteName(key)} from ${quoteName(table)} where ${where} limit ${sql.lit(sweepBatch)}) returning ${quoteName(key)}`,
    )
  const memos = compileStatement(
    dialect,
    sql`delete from "_memo" where ("space", "key") in
      (select "space", "key" from "_memo" where "expires" <= ${parameterAt(0)} limit ${sql.lit(sweepBatch)}) returning 1`,
  )
  const mark = compileStatement(
    dialect,
    sql`insert into "_shape" ("of", "name", "is") values ('store', 'swept', ${parameterAt(0)})
      on conflict ("of", "name") do update set "is" = excluded."is"
      where cast("_shape"."is" as bigint) < cast(excluded."is" as bigint)`,
  )
  const changes: Expiry = {
    statement: oldest('_change', 'sequence', sql`"at" <= ${parameterAt(0)}`),
    batch: sweepBatch,
    values: now => [now - changesKept],
    mark,
  }
  const finished = sql`"state" not in ('queued', 'running') and "modified" <= ${parameterAt(0)} and "job" = ${parameterAt(1)}`
  const over = sql`"expires" <= ${parameterAt(0)}`
  const pieces = compileStatement(
    dialect,
    sql`delete from "_piece" where ("content", "number") in (select "content", "number" from "_piece" where "content" in
      (select "id" from "_content" where ${over}) limit ${sql.lit(pieceSweepBatch)}) returning 1`,
  )
  // A version is a time, so an item that reuses such an identifier gets a later one.
  const formerValues = (now: number): readonly Cell[] => [earliestVersion(now - formerKept)]
  const formers: readonly Expiry[] = [
    sql`delete from "_former" where ("resource", "id") in
      (select "resource", "id" from "_former" where "version" < ${parameterAt(0)} limit ${sql.lit(sweepBatch)}) returning 1`,
    sql`delete from "_file" where ("resource", "id", "part") in (select "resource", "id", "part" from "_file"
      where "mediaType" is null and "version" < ${parameterAt(0)} limit ${sql.lit(sweepBatch)}) returning 1`,
  ].map(text => ({ statement: compileStatement(dialect, text), batch: sweepBatch, values: formerValues }))
  const empty = sql`${over} and not exists (select 1 from "_piece" where "_piece"."content" = "_content"."id")`
  const laterJobs = listLaterOperations(service).map(each => each.job)
  const declaredJobs = [...service.jobs, ...laterJobs]
  // Older rows have no declaration left: whatever the index finds is deleted.
  const abandonedKeptMs = Math.max(dayMs, ...declaredJobs.map(({ keep }) => keep * 1000))
  return [
    { statement: memos, batch: sweepBatch, values: now => [now] },
    { statement: pieces, batch: pieceSweepBatch, values: now => [now] },
    { statement: oldest('_content', 'id', empty), batch: sweepBatch, values: now => [now] },
    ...declaredJobs.map(job => ({
      statement: oldest('_job', 'id', finished),
      batch: sweepBatch,
      values: (now: number) => [now - job.keep * 1000, job.job],
    })),
    ...abandonedCalls(laterJobs.length).map(where => ({
      statement: oldest('_job', 'id', where),
      batch: sweepBatch,
      values: (now: number) => [now - abandonedKeptMs, ...laterJobs.map(({ job }) => job)],
    })),
    ...(changesKept === Number.POSITIVE_INFINITY ? [] : [changes]),
    ...(formerKept === Number.POSITIVE_INFINITY ? [] : formers),
  ]
}

/**
 * Calls of exchanges that are no longer declared, or that now answer at once: they can neither be
 * answered nor queried. Takes a time, then the names of the declared ones.
 */
function abandonedCalls(declaredCount: number): readonly Sql[] {
  const declared = declaredCount === 0 ? sql`` : sql` and "job" not in (${parameterList(1, declaredCount)})`
  const undeclared = sql`"job" like ${sql.lit(laterJobName('%', '%'))}${declared}`
  return [
    sql`"state" not in ('queued', 'running') and "modified" <= ${parameterAt(0)} and ${undeclared}`,
    sql`"state" = 'running' and "leased" <= ${parameterAt(0)} and ${undeclared}`, // until it was due
  ]
}

/** Deletes one batch, within a transaction. @returns how many rows were deleted */
export function removeExpired({ statement, values, mark }: Expiry, on: StatementRunner, now: number): Maybe<number> {
  return chain(on.rows(statement, values(now)), rows => {
    if (!mark || rows.length === 0) return rows.length
    const last = Math.max(...rows.map(([key]) => Number(key)))
    return chain(on.run(mark, [String(last)]), () => rows.length)
  })
}
