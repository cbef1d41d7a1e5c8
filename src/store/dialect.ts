/**
 * All differences of the two databases in SQL, as two records; no other file asks which one it has.
 * Everything else is written once, with the fragments of `sql.ts`.
 */
import { keyOctetsMax } from '../contract/list-index.ts'
import { type JsonDialect, postgresJson, sqliteJson } from './json-walk.ts'
import { postgresSearch } from './postgres-search.ts'
import type { SearchDialect } from './search-dialect.ts'
import { type Sql, sql } from './sql.ts'
import { sqliteSearch } from './sqlite-search.ts'

export type { Sql }
export type Cell = null | number | bigint | string | boolean | Uint8Array
/** What a column holds. `integer` has 64 bits. */
export type ColumnKind = 'text' | 'integer' | 'real' | 'boolean' | 'blob'

export interface Dialect {
  /** The parameter with this number, from 1. */
  readonly parameter: (number: number) => string
  readonly types: Readonly<Record<ColumnKind, Sql>>
  /** A key that counts up by itself and never back. */
  readonly counter: Sql
  /** Octets that a key of an index may have; a field that may be longer has no index. */
  readonly keyBytes: number
  /**
   * Octets of a column to read at once: more would gather as text and as buffers on their way here.
   */
  readonly answer: number
  /**
   * Statements that keep a column of octets uncompressed, so that a part of it is found without the
   * rest.
   */
  readonly uncompressed: (table: string, column: string) => readonly Sql[]
  /** A number for functions of text. */
  readonly small: (number: Sql) => Sql
  /**
   * At most so many rows. For a parameter alone SQLite makes its plan anew at each execution, since
   * its value may change the plan; a sum's value it does not know before.
   */
  readonly limit: (rows: Sql) => Sql
  /**
   * The beginnings of statements that write one row. SQLite keeps a copy of each page that a
   * statement with a trigger or `returning` changes, in case a later row fails; `or fail` says that
   * nothing has to be undone, since one row is checked before it is written.
   */
  readonly insertRow: Sql
  readonly updateRow: Sql
  /**
   * Ranges of rows in order are merged as far as a limit goes, in one statement. SQLite would sort
   * them all; there a statement more costs less than that.
   */
  readonly mergesRanges: boolean
  /**
   * Where no index has rows in their order, keys are sorted, and only the rows of the page are read
   * whole. PostgreSQL may plan to look for these among all.
   */
  readonly sortsKeys: boolean
  readonly statistics: {
    /** A row where there are any. */
    readonly exist: Sql
    /** Table, column or index, and how many rows have one value of its first column, on average. */
    readonly rowsOfValue: Sql
  }
  /** A row where this table exists. */
  readonly hasTable: (table: string) => Sql
  readonly boolean: (value: boolean) => Cell
  /** A whole number of 64 bits, by its digits. */
  readonly wholeNumber: (digits: string) => Cell
  /** Of a table with a `counter`, while rows are copied into it. */
  readonly counting: {
    /** Between the columns and the values: the counter is given. */
    readonly given: Sql
    /** A row with the last number; none, or null, where none was given. */
    readonly last: (table: string, counter: string) => Sql
    /** Statements that go on from the number at the first place, which is above zero. */
    readonly goOn: (table: string, counter: string) => readonly Sql[]
  }
  /** Octets of the contract, never of a request. */
  readonly octets: (value: Uint8Array) => Sql
  /** Whether the text has this part; case counts. */
  readonly contains: (text: Sql, part: Sql) => Sql
  /** In both, absent values come first ascending and last descending. */
  readonly ascending: Sql
  readonly descending: Sql
  /** An index can be made outside of a transaction, while others write. */
  readonly buildsBeside: boolean
  readonly search: SearchDialect
  readonly json: JsonDialect
  /** Behind the choice of a row that no other transaction may change before this one ends. */
  readonly locking: Sql
  /**
   * Behind a table: read by this index, whatever the statistics say. SQLite takes a partial index
   * that holds most rows for no help, and sorts the whole table.
   */
  readonly byIndex: (index: string) => Sql
  /** Behind the choice of a row that no other transaction may choose. */
  readonly choosing: Sql
  /** Statements that make a table refuse all but additions. */
  readonly appendOnly: (table: string) => readonly Sql[]
  /** In one transaction, before and after rows of such a table are removed. */
  readonly removal: (table: string) => readonly [before: Sql, after: Sql]
}

const literal = (text: string): Sql => sql.lit(text)
const writeHex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')

const refusingTrigger = (table: string, what: string): Sql =>
  sql`create trigger ${sql.id(`${table} ${what}`)} before ${sql.raw(what)} on ${sql.id(table)}
    begin select raise(abort, 'rows of this table are only added, never changed'); end`

export const sqlite: Dialect = {
  search: sqliteSearch,
  parameter: () => '?',
  types: { text: sql`text`, integer: sql`integer`, real: sql`real`, boolean: sql`integer`, blob: sql`blob` },
  counter: sql`integer primary key autoincrement`,
  keyBytes: Number.POSITIVE_INFINITY,
  answer: Number.POSITIVE_INFINITY,
  uncompressed: () => [],
  small: number => number,
  hasTable: table => sql`select 1 from sqlite_master where type = 'table' and name = ${literal(table)}`,
  boolean: value => (value ? 1 : 0),
  wholeNumber: digits => BigInt(digits),
  counting: {
    given: sql``,
    last: table => sql`select cast("seq" as text) from sqlite_sequence where "name" = ${literal(table)}`,
    goOn: table => [
      sql`delete from sqlite_sequence where "name" = ${literal(table)}`,
      sql`insert into sqlite_sequence ("seq", "name") values (${sql.place(0)}, ${literal(table)})`,
    ],
  },
  octets: value => sql.raw(`x'${writeHex(value)}'`),
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  ascending: sql`asc`,
  descending: sql`desc`,
  buildsBeside: false,
  json: sqliteJson,
  limit: rows => sql`limit ${rows} + 0`,
  insertRow: sql`insert or fail into`,
  updateRow: sql`update or fail`,
  mergesRanges: false,
  sortsKeys: true,
  statistics: {
    exist: sql`select 1 from sqlite_master where type = 'table' and name = 'sqlite_stat1'`,
    // "Rows, rows of one value of the first column, …": the cast takes the digits in front.
    rowsOfValue: sql`select "tbl", "idx", cast(substr("stat", instr("stat", ' ') + 1) as integer) from sqlite_stat1
      where "idx" is not null`,
  },
  locking: sql``,
  byIndex: index => sql`indexed by ${sql.id(index)}`,
  choosing: sql``,
  appendOnly: table => ['update', 'delete'].map(what => refusingTrigger(table, what)),
  removal: table => [sql`drop trigger ${sql.id(`${table} delete`)}`, refusingTrigger(table, 'delete')],
}

const sequenceOf = (table: string, counter: string): Sql =>
  sql`pg_get_serial_sequence(${literal(`"${table}"`)}, ${literal(counter)})::regclass`

export const postgres: Dialect = {
  search: postgresSearch,
  parameter: number => `$${number}`,
  types: {
    text: sql`text collate "C"`,
    integer: sql`bigint`,
    real: sql`double precision`,
    boolean: sql`boolean`,
    blob: sql`bytea`,
  },
  counter: sql`bigint generated always as identity primary key`,
  keyBytes: keyOctetsMax, // a third of a page of 8 KiB, less the other columns
  answer: 48 * 1024, // its digits, and what the driver joins them in, take four times as much
  uncompressed: (table, column) => [
    sql`alter table ${sql.id(table)} alter column ${sql.id(column)} set storage external`,
  ],
  small: number => sql`${number}::integer`,
  hasTable: table => sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${literal(table)}`,
  boolean: value => value,
  wholeNumber: digits => digits,
  counting: {
    given: sql`overriding system value`,
    last: (table, counter) => sql`select cast(pg_sequence_last_value(${sequenceOf(table, counter)}) as text)`,
    goOn: (table, counter) => [sql`select setval(${sequenceOf(table, counter)}, ${sql.place(0)}::bigint)`],
  },
  octets: value => sql.raw(`'\\x${writeHex(value)}'::bytea`),
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  ascending: sql`asc nulls first`,
  descending: sql`desc nulls last`,
  buildsBeside: true,
  json: postgresJson,
  limit: rows => sql`limit ${rows}`,
  insertRow: sql`insert into`,
  updateRow: sql`update`,
  mergesRanges: true,
  sortsKeys: false,
  statistics: {
    exist: sql`select 1`,
    // A number of values below zero is a share of the rows.
    rowsOfValue: sql`select s."tablename", s."attname", (1 - s."null_frac") *
        case when s."n_distinct" > 0 then c."reltuples" / s."n_distinct" else -1 / nullif(s."n_distinct", 0) end
      from pg_stats as s join pg_class as c on c."relname" = s."tablename"
        and c."relnamespace" = current_schema()::regnamespace
      where s."schemaname" = current_schema()`,
  },
  locking: sql`for update`,
  byIndex: () => sql``,
  choosing: sql`for update skip locked`,
  appendOnly: table => [
    sql`create or replace function ${sql.id(`${table} refuse`)}() returns trigger language plpgsql as
      $$ begin raise exception 'rows of this table are only added, never changed'; end $$`,
    sql`create trigger ${sql.id(`${table} guard`)} before update or delete on ${sql.id(table)}
      for each row execute function ${sql.id(`${table} refuse`)}()`,
  ],
  removal: table => [
    sql`alter table ${sql.id(table)} disable trigger ${sql.id(`${table} guard`)}`,
    sql`alter table ${sql.id(table)} enable trigger ${sql.id(`${table} guard`)}`,
  ],
}
