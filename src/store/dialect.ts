/**
 * All differences between the SQL of the two databases, as two records; no other file asks which
 * database it has. Everything else is written once, with the fragments of `sql.ts`.
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
  /** A key that counts up automatically and never reuses a number. */
  readonly counter: Sql
  /** Octets that an index key may have; a field that may be longer has no index. */
  readonly keyBytes: number
  /**
   * Octets of a column to read at once; more would pile up as text and buffers on their way here.
   */
  readonly answer: number
  /**
   * Statements that store a column of octets uncompressed, so that a part of it can be read without
   * the rest.
   */
  readonly uncompressed: (table: string, column: string) => readonly Sql[]
  /** An integer that text functions accept. */
  readonly small: (number: Sql) => Sql
  /**
   * Limits the number of rows. SQLite plans a query anew at each execution if its limit is a bare
   * parameter, since the value may change the plan; it cannot see the value of a sum in advance.
   */
  readonly limit: (rows: Sql) => Sql
  /**
   * The beginnings of statements that write one row. SQLite copies each page that a statement with
   * a trigger or `returning` changes, in case a later row fails. `or fail` says that nothing has to
   * be undone, which is true because the row is checked before it is written.
   */
  readonly insertRow: Sql
  readonly updateRow: Sql
  /**
   * Whether one statement merges ordered ranges of rows only as far as the limit. SQLite would sort
   * them all, and there one more statement costs less than that.
   */
  readonly mergesRanges: boolean
  /**
   * If no index gives the rows in order, sorts the keys, and reads only the rows of the page whole.
   * PostgreSQL may plan to search all rows for these.
   */
  readonly sortsKeys: boolean
  readonly statistics: {
    /** Yields a row if there are any. */
    readonly exist: Sql
    /**
     * The table, the column or index, and the average number of rows per value of its first column.
     */
    readonly rowsOfValue: Sql
  }
  /** Yields a row if this table exists. */
  readonly hasTable: (table: string) => Sql
  /** The names of the indexes that serve queries. */
  readonly indexNames: Sql
  readonly boolean: (value: boolean) => Cell
  /** A 64-bit integer, from its digits. */
  readonly wholeNumber: (digits: string) => Cell
  /** For a table with a `counter`, while rows are copied into it. */
  readonly counting: {
    /** The clause between the columns and the values that lets an insert set the counter. */
    readonly overriding: Sql
    /** Yields a row with the last number; no row, or null, if there was none. */
    readonly last: (table: string, counter: string) => Sql
    /** Statements that continue from the number in the first place, which is above zero. */
    readonly continueFrom: (table: string, counter: string) => readonly Sql[]
    /**
     * Yields a row with the number in the first place if the counter has not reached it, and this
     * user may set the counter. Absent if the rows themselves hold the counter up.
     */
    readonly behind?: (table: string, counter: string) => Sql
  }
  /** Octets from the contract, never from a request. */
  readonly octets: (value: Uint8Array) => Sql
  /** A number from the contract: finite, or an infinity. */
  readonly number: (value: number | bigint) => Sql
  /** Whether the text contains this part; case matters. */
  readonly contains: (text: Sql, part: Sql) => Sql
  /** In both databases, absent values come first ascending and last descending. */
  readonly ascending: Sql
  readonly descending: Sql
  /** Whether an index can be built outside a transaction, while others write. */
  readonly buildsConcurrently: boolean
  readonly search: SearchDialect
  readonly json: JsonDialect
  /** Follows a select: no other transaction may change the row before this one ends. */
  readonly locking: Sql
  /**
   * Follows a table: read it by this index, whatever the statistics say. SQLite assumes that a
   * partial index with most rows is no help, and sorts the whole table.
   */
  readonly byIndex: (index: string) => Sql
  /** Follows a select: no other transaction may select the row. */
  readonly choosing: Sql
  /** Statements that make a table refuse every change but an addition. */
  readonly appendOnly: (table: string) => readonly Sql[]
  /** Run before and after rows of an append-only table are removed, in one transaction. */
  readonly removal: (table: string) => readonly [before: Sql, after: Sql]
}

const literal = (text: string): Sql => sql.lit(text)
const writeHex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')

const refusingTrigger = (table: string, statement: string): Sql =>
  sql`create trigger ${sql.id(`${table} ${statement}`)} before ${sql.raw(statement)} on ${sql.id(table)}
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
  indexNames: sql`select "name" from sqlite_master where type = 'index'`,
  boolean: value => (value ? 1 : 0),
  wholeNumber: digits => BigInt(digits),
  counting: {
    overriding: sql``,
    last: table => sql`select cast("seq" as text) from sqlite_sequence where "name" = ${literal(table)}`,
    continueFrom: table => [
      sql`delete from sqlite_sequence where "name" = ${literal(table)}`,
      sql`insert into sqlite_sequence ("seq", "name") values (${sql.place(0)}, ${literal(table)})`,
    ],
  },
  octets: value => sql.raw(`x'${writeHex(value)}'`),
  number: value => sql.raw(String(value).replace('Infinity', '9e999')), // it has no word for it, and reads this as infinite
  contains: (text, part) => sql`instr(${text}, ${part}) > 0`,
  ascending: sql`asc`,
  descending: sql`desc`,
  buildsConcurrently: false,
  json: sqliteJson,
  limit: rows => sql`limit ${rows} + 0`,
  insertRow: sql`insert or fail into`,
  updateRow: sql`update or fail`,
  mergesRanges: false,
  sortsKeys: true,
  statistics: {
    exist: sql`select 1 from sqlite_master where type = 'table' and name = 'sqlite_stat1'`,
    // "Rows, rows per value of the first column, …": the cast takes the leading digits.
    rowsOfValue: sql`select "tbl", "idx", cast(substr("stat", instr("stat", ' ') + 1) as integer) from sqlite_stat1
      where "idx" is not null`,
  },
  locking: sql``,
  byIndex: index => sql`indexed by ${sql.id(index)}`,
  choosing: sql``,
  appendOnly: table => ['update', 'delete'].map(statement => refusingTrigger(table, statement)),
  removal: table => [sql`drop trigger ${sql.id(`${table} delete`)}`, refusingTrigger(table, 'delete')],
}

const sequenceOf = (table: string, counter: string): Sql =>
  sql`pg_get_serial_sequence(${literal(`"${table}"`)}, ${literal(counter)})::regclass`
const lastOf = (table: string, counter: string): Sql => sql`pg_sequence_last_value(${sequenceOf(table, counter)})`

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
  answer: 48 * 1024, // its digits, and the buffers of the driver that joins them, take four times as much
  uncompressed: (table, column) => [
    sql`alter table ${sql.id(table)} alter column ${sql.id(column)} set storage external`,
  ],
  small: number => sql`${number}::integer`,
  hasTable: table => sql`select 1 from pg_tables where schemaname = current_schema() and tablename = ${literal(table)}`,
  indexNames: sql`select relname from pg_class join pg_index on indexrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and indisvalid`,
  boolean: value => value,
  wholeNumber: digits => digits,
  counting: {
    overriding: sql`overriding system value`,
    last: (table, counter) => sql`select cast(${lastOf(table, counter)} as text)`,
    continueFrom: (table, counter) => [
      sql`select setval(${sequenceOf(table, counter)}, greatest(${sql.place(0)}::bigint, ${lastOf(table, counter)}))`,
    ],
    behind: (table, counter) => sql`select cast(${sql.place(0)}::bigint as text)
      where case when has_sequence_privilege(${sequenceOf(table, counter)}, 'usage')
          and has_sequence_privilege(${sequenceOf(table, counter)}, 'update')
        then ${sql.place(0)}::bigint > coalesce(${lastOf(table, counter)}, 0) end`,
  },
  octets: value => sql.raw(`'\\x${writeHex(value)}'::bytea`),
  number: value => sql.raw(Math.abs(Number(value)) === Infinity ? `'${value}'` : String(value)),
  contains: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  ascending: sql`asc nulls first`,
  descending: sql`desc nulls last`,
  buildsConcurrently: true,
  json: postgresJson,
  limit: rows => sql`limit ${rows}`,
  insertRow: sql`insert into`,
  updateRow: sql`update`,
  mergesRanges: true,
  sortsKeys: false,
  statistics: {
    exist: sql`select 1`,
    // A negative number of values is a share of the rows.
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
