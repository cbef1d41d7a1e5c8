/** SQL for both databases that walks the JSON of a column to the references and texts in it. */
import type { Step } from './search-dialect.ts'
import { type Sql, sql } from './sql.ts'

export interface JsonDialect {
  /** Converts the text of a column to JSON. */
  readonly of: (column: Sql) => Sql
  readonly member: (json: Sql, name: string) => Sql
  readonly memberText: (json: Sql, name: string) => Sql
  /** A table of the items of an array, empty for any other value; each item is `item(alias)`. */
  readonly items: (json: Sql, alias: string) => Sql
  readonly item: (alias: string) => Sql
  readonly itemText: (alias: string) => Sql
}

const jsonPath = (name: string): Sql => sql.lit(`$."${name}"`)

export const sqliteJson: JsonDialect = {
  of: column => column,
  member: (json, name) => sql`(${json} -> ${jsonPath(name)})`,
  memberText: (json, name) => sql`(${json} ->> ${jsonPath(name)})`,
  items: (json, alias) => sql`json_each(${json}) as ${sql.id(alias)}`,
  item: alias => sql`${sql.id(alias)}."value"`,
  itemText: alias => sql`${sql.id(alias)}."value"`,
}

export const postgresJson: JsonDialect = {
  of: column => sql`${column}::jsonb`,
  member: (json, name) => sql`(${json} -> ${sql.lit(name)})`,
  memberText: (json, name) => sql`(${json} ->> ${sql.lit(name)})`,
  items: (json, alias) =>
    sql`jsonb_array_elements(case when jsonb_typeof(${json}) = 'array' then ${json} end) as ${sql.id(alias)}("value")`,
  item: alias => sql`${sql.id(alias)}."value"`,
  itemText: alias => sql`(${sql.id(alias)}."value" #>> '{}')`,
}

/** Tables of the items of each list along the steps, and the text at their end. */
export function walkReferences(
  column: Sql,
  steps: readonly Step[],
  json: JsonDialect,
  alias: string,
): { readonly sources: readonly Sql[]; readonly text: Sql } {
  const sources: Sql[] = []
  let at = json.of(column)
  let text = steps.length === 1 ? column : at
  for (const step of steps.slice(1)) {
    if (step === 'each') {
      const item = `item ${alias} ${sources.length}`
      sources.push(json.items(at, item))
      at = json.item(item)
      text = json.itemText(item)
    } else {
      text = json.memberText(at, step.member)
      at = json.member(at, step.member)
    }
  }
  return { sources, text }
}
