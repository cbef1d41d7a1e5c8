/**
 * What a word is, and what a database must offer for an index of words; see search-index.ts.
 */
import type { Sql } from './sql.ts'

/**
 * A step into a member, or into each item of a list. The first is always the member with a column.
 */
export type Step = { readonly member: string } | 'each'
/** What an index has from a row: folded words, or the references at the end of steps. */
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
   * A join that looks up rows for each row on its left. If an index's values repeat, a plain join
   * finds what refers to a few rows by reading the whole index.
   */
  readonly thenJoin: Sql
  /** Selects the ids of rows that refer to one of these ids. */
  readonly referring: (table: string, part: SearchPart, named: Sql) => Sql
  /** Statements that make the index of a table. */
  readonly create: (table: string, parts: readonly SearchPart[]) => readonly Sql[]
  /**
   * The same outside a transaction and without blocking writes, for a table with many rows; it
   * removes what an earlier try has left. Undefined if making an index costs little.
   */
  readonly createConcurrently: ((table: string, parts: readonly SearchPart[]) => readonly Sql[]) | undefined
  /** Present if an index takes in rows some time after they were written. */
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
   * after them; undefined if making the index already does so.
   */
  readonly fill: ((table: string, parts: readonly SearchPart[]) => readonly Sql[]) | undefined
}

/** Changes when `foldText` does: a start then makes the stored words again. */
export const foldingVersion = 'words 1'

const tokenPattern = /[\p{L}\p{N}\p{M}]+|[^\s]/gu

/**
 * Text as its words, so that a database finds whole words in any case by plain comparison: the text
 * is kept next to the value as " word word ", and a search looks for the word with a space at each
 * side. A character that is not a letter, digit or mark is a word of its own, so "%" finds "100%"
 * and nothing else, and "e-mail" is found as it is written. Empty for a text without words.
 */
export function foldText(text: string): string {
  const tokens = foldCase(text).match(tokenPattern)
  return tokens ? ` ${tokens.join(' ')} ` : ''
}

/**
 * Unicode §3.13: upper case first, so that ß meets SS and ſ meets S; the final sigma is a sigma.
 */
const foldCase = (text: string): string => text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
