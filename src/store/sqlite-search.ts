/**
 * Word search by FTS5 without the text ("contentless"), since the row already has it. The numbers
 * of FTS5's documents are in a table of their own, because row numbers change with VACUUM. Triggers
 * note which rows change: FTS5 writes out its buffer at each savepoint, and each write is one, so
 * rows enter the index in batches.
 */
import { sqliteJson, walkReferences } from './json-walk.ts'
import type { SearchDialect, SearchPart } from './search-dialect.ts'
import { type Sql, sql } from './sql.ts'

const indexOf = (table: string): Sql => sql.id(`${table}##search`)
const documentsOf = (table: string): Sql => sql.id(`${table}##documents`)
/**
 * Rows written or removed since then: they are candidates of each search until they are settled.
 */
const waitingOf = (table: string): Sql => sql.id(`${table}##waiting`)
const putWaiting = (table: string, row: 'new' | 'old'): Sql =>
  sql`insert into ${waitingOf(table)} ("id") values (${sql.raw(row)}."id") on conflict do nothing`
const triggerOf = (table: string, event: string): Sql => sql.id(`${table}##${event}`)

/**
 * Folded text is words with spaces between them, so every other character is part of a word. The
 * tokenizer "ascii" already treats all non-ASCII characters as letters.
 */
const wordCharacters = Array.from({ length: 127 }, (_, i) => String.fromCharCode(i + 1))
  .filter(each => /[^\sA-Za-z0-9]/.test(each))
  .join('')
const quoteOption = (text: string, quote: string): string => quote + text.replaceAll(quote, quote + quote) + quote
const tokenizer = quoteOption(`ascii tokenchars ${quoteOption(wordCharacters, "'")}`, '"')

const quoteTerm = (text: string): string => quoteOption(text, '"')

/** What the index has from a row: words unchanged, references in hexadecimal. */
function partValue(row: Sql, { column, steps }: SearchPart): Sql {
  const cell = sql`${row}.${sql.id(column)}`
  if (!steps) return cell
  const { sources, text } = walkReferences(cell, steps, sqliteJson, '')
  if (sources.length === 0) return sql`hex(${text})`
  return sql`(select group_concat(hex(${text}), ' ') from ${sql.join(sources)})`
}

const partNames = (parts: readonly SearchPart[]): Sql => sql.join(parts.map(each => sql.id(each.name)))
const partValues = (row: Sql, parts: readonly SearchPart[]): Sql => sql.join(parts.map(each => partValue(row, each)))

export const sqliteSearch: SearchDialect = {
  term: (column, tokens) => `{${quoteTerm(column)}} : (${tokens.map(quoteTerm).join(' AND ')})`,
  having: (table, _, term) =>
    sql`select "document"."id" from ${indexOf(table)} as "words" cross join ${documentsOf(table)} as "document" on "document"."number" = "words".rowid where "words".${indexOf(table)} match ${term}`,
  // SQLite "Manual Control Of Query Plans Using CROSS JOIN"
  thenJoin: sql`cross join`,
  referring: (table, { name }, named) =>
    sql`select "document"."id" from (${named}) as "named" cross join ${indexOf(table)} as "words" cross join ${documentsOf(table)} as "document" on "document"."number" = "words".rowid where "words".${indexOf(table)} match (${sql.lit(`{${quoteTerm(name)}} : "`)} || hex("named"."id") || '"')`,
  create: (table, parts) => {
    const changed = sql.join(
      [...new Set(parts.map(each => each.column))].map(
        column => sql`new.${sql.id(column)} is not old.${sql.id(column)}`,
      ),
      sql` or `,
    )
    return [
      sql`create virtual table ${indexOf(table)} using fts5(${partNames(parts)}, content = '', contentless_delete = 1, detail = 'column', tokenize = ${sql.raw(tokenizer)})`,
      sql`create table ${documentsOf(table)} ("number" integer primary key autoincrement, "id" text not null unique)`,
      sql`create table ${waitingOf(table)} ("id" text primary key) without rowid`,
      sql`create trigger ${triggerOf(table, 'insert')} after insert on ${sql.id(table)} begin ${putWaiting(table, 'new')}; end`,
      sql`create trigger ${triggerOf(table, 'update')} after update on ${sql.id(table)} when ${changed} begin ${putWaiting(table, 'new')}; end`,
      sql`create trigger ${triggerOf(table, 'delete')} after delete on ${sql.id(table)} begin ${putWaiting(table, 'old')}; end`,
    ]
  },
  createConcurrently: undefined,
  drop: table => [
    ...['insert', 'update', 'delete'].map(event => sql`drop trigger if exists ${triggerOf(table, event)}`),
    sql`drop table if exists ${indexOf(table)}`,
    sql`drop table if exists ${documentsOf(table)}`,
    sql`drop table if exists ${waitingOf(table)}`,
  ],
  fill: (table, parts) => {
    const inBatch = sql`"id" > ${sql.place(0)} and "id" <= ${sql.place(1)}`
    return [...insertRows(table, parts, inBatch), sql`delete from ${waitingOf(table)} where ${inBatch}`]
  },
  waiting: {
    ids: table => sql`select "id" from ${waitingOf(table)}`,
    settle: (table, parts) => {
      const waiting = sql`(select "id" from ${waitingOf(table)} where "id" <= ${sql.place(0)})`
      const removed = sql`"id" in ${waiting} and "id" not in (select "id" from ${sql.id(table)} where "id" in ${waiting})`
      return [
        sql`delete from ${indexOf(table)} where rowid in (select "number" from ${documentsOf(table)} where ${removed})`,
        sql`delete from ${documentsOf(table)} where ${removed}`,
        ...insertRows(table, parts, sql`"id" in ${waiting}`),
        sql`delete from ${waitingOf(table)} where "id" <= ${sql.place(0)}`,
      ]
    },
  },
}

/** A row that it already has is replaced. */
const insertRows = (table: string, parts: readonly SearchPart[], which: Sql): readonly Sql[] => [
  sql`insert into ${documentsOf(table)} ("id") select "id" from ${sql.id(table)} where ${which} on conflict do nothing`,
  sql`insert or replace into ${indexOf(table)} (rowid, ${partNames(parts)})
    select "document"."number", ${partValues(sql`"row"`, parts)}
    from (select * from ${sql.id(table)} where ${which}) as "row" join ${documentsOf(table)} as "document" on "document"."id" = "row"."id"`,
]
