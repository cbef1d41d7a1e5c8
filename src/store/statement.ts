/** SQL compiled once and run often: values have numbered places, so one text serves every call of its form. */
import type { Cell, Dialect, Sql } from './dialect.ts'
import { compiled, sql } from './sql.ts'

/** One prepared text. `places` says which of a call's values each parameter takes. */
export interface Statement {
  readonly text: string
  readonly places: readonly number[]
  /** Parameters are just the values, in order. */
  readonly straight: boolean
  /** Unique in the process: a server keeps what it prepared under it. Undefined: prepared anew each time. */
  readonly name: string | undefined
}

/** The place of the value with this number. */
export const value = (at: number): Sql => sql.place(at)

let made = 0
export function statement(dialect: Dialect, text: Sql, named = true): Statement {
  const { text: written, places } = compiled(text, dialect.parameter)
  return {
    text: written,
    places,
    straight: places.every((at, i) => at === i),
    name: named ? `diglot ${++made}` : undefined,
  }
}

export const parameters = (of: Statement, values: readonly Cell[]): readonly Cell[] =>
  of.straight && of.places.length === values.length ? values : of.places.map(at => values[at] ?? null)

/** Names of the contract, quoted; never of a request. */
export const name = (text: string): Sql => sql.id(text)
export const names = (texts: readonly string[]): Sql => list(texts.map(name))
export const list = (parts: readonly Sql[]): Sql => sql.join(parts)
export const values = (from: number, count: number): Sql =>
  list(Array.from({ length: count }, (_, i) => value(from + i)))
export const all = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`
export const any = (conditions: readonly Sql[]): Sql =>
  conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`
