/** What a database has to offer for an index of words; see search-index.ts. */
import type { Sql } from './sql.ts'

/** Into a member, or into each item of a list. The first is always the member that has a column. */
export type Step = { readonly member: string } | 'each'
/** What a table's index has of a row: folded words, or the references at the end of steps. */
export interface SearchPart {
  readonly name: string
  readonly column: string
  readonly steps: readonly Step[] | undefined
}

export interface SearchDialect {
  /** The value for `having`. */
  readonly term: (column: string, tokens: readonly string[]) => string
  /** Selects the ids of rows that have the words of a term in this column. */
  readonly having: (table: string, column: string, term: Sql) => Sql
  /**
   * A join that looks rows up for each of those on its left. What refers to few rows, by an index
   * whose values repeat, is otherwise found by reading the whole index.
   */
  readonly thenJoin: Sql
  /** Selects the ids of rows that refer to one of these ids. */
  readonly referring: (table: string, part: SearchPart, named: Sql) => Sql
  /** Statements that make the index of a table. */
  readonly create: (table: string, parts: readonly SearchPart[]) => readonly Sql[]
  /**
   * The same, outside of a transaction and without holding writes, for a table that has many rows;
   * what an earlier try has left goes. Undefined where making an index costs little.
   */
  readonly createBeside: ((table: string, parts: readonly SearchPart[]) => readonly Sql[]) | undefined
  /** Where an index takes in rows some time after they were written. */
  readonly waiting:
    | {
        readonly ids: (table: string) => Sql
        /** Statements that take in the rows up to an id (value 0). */
        readonly settle: (table: string, parts: readonly SearchPart[]) => readonly Sql[]
      }
    | undefined
  readonly drop: (table: string, parts: readonly string[]) => readonly Sql[]
  /**
   * Statements that bring the rows between two ids (values 0 and 1) into an index that was made
   * after them; undefined where making it is enough.
   */
  readonly fill: ((table: string, parts: readonly SearchPart[]) => readonly Sql[]) | undefined
}
