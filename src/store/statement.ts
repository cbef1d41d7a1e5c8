/**
 * SQL compiled once and run often: values have numbered places, so one text serves every call of
 * its form.
 */
import type { Cell, Dialect, Sql } from './dialect.ts'
import { compileSql, sql } from './sql.ts'

/** One prepared text. `places` says which of a call's values each parameter gets. */
export interface Statement {
  readonly text: string
  readonly places: readonly number[]
  /** The parameters are the values, in their order. */
  readonly straight: boolean
  /** A server may keep the prepared text, since it will be used again. */
  readonly recurs: boolean
}

/** The place of the value with this number. */
export const parameterAt = (at: number): Sql => sql.place(at)

export function compileStatement(dialect: Dialect, text: Sql, recurs = true): Statement {
  const { text: written, places } = compileSql(text, dialect.parameter)
  return {
    text: written,
    places,
    straight: places.every((at, i) => at === i),
    recurs,
  }
}

export function boundParameters({ straight, places }: Statement, values: readonly Cell[]): readonly Cell[] {
  if (straight && places.length === values.length) return values
  const cells: Cell[] = []
  for (const at of places) cells.push(values[at] ?? null)
  return cells
}

/** Names from the contract, quoted; never from a request. */
export const quoteName = (text: string): Sql => sql.id(text)
export const quoteNames = (texts: readonly string[]): Sql => joinList(texts.map(quoteName))
export const joinList = (parts: readonly Sql[]): Sql => sql.join(parts)
export const parameterList = (from: number, count: number): Sql =>
  joinList(Array.from({ length: count }, (_, i) => parameterAt(from + i)))
export const allOf = (conditions: readonly Sql[]): Sql => joinHalves(conditions, sql` and `) ?? sql`true`
export const anyOf = (conditions: readonly Sql[]): Sql => joinHalves(conditions, sql` or `) ?? sql`false`

/**
 * Joined half by half: SQLite treats `a and b and c` as an expression as deep as it is long, and
 * refuses any deeper than 1,000.
 */
function joinHalves(conditions: readonly Sql[], by: Sql): Sql | undefined {
  if (conditions.length < 2) return conditions[0]
  const middle = conditions.length >> 1
  const halves = [conditions.slice(0, middle), conditions.slice(middle)].map(half => joinHalves(half, by) ?? sql``)
  return sql`(${sql.join(halves, by)})`
}

/** PostgreSQL text cannot contain U+0000, so nothing is stored under such a name. */
export const isTextCell = (key: string): boolean => !key.includes('\0')
