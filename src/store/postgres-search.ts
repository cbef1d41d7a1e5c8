/**
 * Word search by GIN indexes on expressions: the array of a column's words, and the references in
 * its JSON. The server maintains them with the row.
 */

import type { SearchDialect, SearchPart, Step } from './search-dialect.ts'
import { databaseName, type Sql, sql } from './sql.ts'

/** How many characters of a word are kept: a GIN key has 2,704 octets at most. */
const keyCharacters = 200
const shorten = (token: string): string => [...token].slice(0, keyCharacters).join('')

const wordsIn = (column: Sql): Sql =>
  sql`string_to_array(btrim(regexp_replace(${column}, ${sql.lit(`([^ ]{${keyCharacters}})[^ ]+`)}, '\\1', 'g')), ' ')`

const pathAlong = (steps: readonly Step[]): string =>
  `$${steps
    .slice(1)
    .map(step => (step === 'each' ? '[*]' : `."${step.member}"`))
    .join('')}`

const referenceValue = (column: Sql, steps: readonly Step[]): Sql =>
  steps.length === 1 ? column : sql`jsonb_path_query_array(${column}::jsonb, ${sql.lit(pathAlong(steps))})`

const expressionOf = ({ column, steps }: SearchPart): Sql =>
  steps ? referenceValue(sql.id(column), steps) : wordsIn(sql.id(column))

const postgresIndexName = (table: string, part: string): string => databaseName(`${table}##${part}`)

/**
 * New GIN entries gather in a list that each search reads (PostgreSQL 70.4.1). Its default of 4 MB
 * costs some 25 ms; this is the smallest setting.
 */
const pendingKilobytes = 64

function createSearchIndex(table: string, part: SearchPart, how: Sql): Sql {
  const isPlain = part.steps?.length === 1
  const on = isPlain ? sql`` : sql`using gin `
  const more = isPlain ? sql`` : sql` with (gin_pending_list_limit = ${sql.lit(pendingKilobytes)})`
  return sql`create index ${how}${sql.id(postgresIndexName(table, part.name))} on ${sql.id(table)} ${on}((${expressionOf(part)}))${more}`
}

export const postgresSearch: SearchDialect = {
  term: (_, tokens) => tokens.map(shorten).join(' '),
  having: (table, column, term) =>
    sql`select "id" from ${sql.id(table)} where ${wordsIn(sql.id(column))} @> string_to_array(${term}, ' ')`,
  thenJoin: sql`join`,
  referring: (table, { column, steps = [] }, named) => {
    const from = sql`select "referring"."id" from (${named}) as "named" join ${sql.id(table)} as "referring"`
    const references = referenceValue(sql`"referring".${sql.id(column)}`, steps)
    return steps.length === 1
      ? sql`${from} on ${references} = "named"."id"`
      : sql`${from} on ${references} @> jsonb_build_array("named"."id")`
  },
  create: (table, parts) => parts.map(part => createSearchIndex(table, part, sql``)),
  // PostgreSQL "CREATE INDEX CONCURRENTLY": a failed one is left behind, invalid.
  createConcurrently: (table, parts) =>
    parts.flatMap(part => [
      sql`drop index concurrently if exists ${sql.id(postgresIndexName(table, part.name))}`,
      createSearchIndex(table, part, sql`concurrently `),
    ]),
  drop: (table, parts) => parts.map(part => sql`drop index if exists ${sql.id(postgresIndexName(table, part))}`),
  fill: undefined,
  waiting: undefined,
}
