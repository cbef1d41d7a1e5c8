/** SQL compiled once and run often: values have numbered places, so one text serves every call of its form. */
import { type RawBuilder, sql } from 'kysely'
import type { Cell, Dialect, Sql } from './dialect.ts'

/** One prepared text. `places` says which of a call's values each parameter takes. */
export interface Statement {
  readonly text: string
  readonly places: readonly number[]
  /** Parameters are just the values, in order. */
  readonly straight: boolean
  /** Unique in the process: a server keeps what it prepared under it. Undefined: prepared anew each time. */
  readonly name: string | undefined
}

class Place {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}
/** The place of the value with this number. */
export const value = (at: number): RawBuilder<unknown> => sql.val(new Place(at))

let made = 0
export function statement(dialect: Dialect, text: Sql, named = true): Statement {
  const compiled = text.compile(dialect.compiler)
  const places = compiled.parameters.map(parameter => {
    if (parameter instanceof Place) return parameter.at
    throw new Error('a value of a statement has no place')
  })
  return {
    text: compiled.sql,
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
