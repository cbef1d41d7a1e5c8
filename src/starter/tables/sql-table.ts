/** What a database says about its tables, in terms that both databases share. */

/** How a column holds a value; undefined if no field can. */
export type SqlKind =
  | ('text' | 'int' | 'long' | 'double' | 'boolean' | 'bytes' | 'uuid' | 'date' | 'time' | 'dateTime')
  | 'decimal'
  | 'enum'

export interface SqlColumn {
  readonly name: string
  /** The type as the database names it. */
  readonly declared: string
  readonly kind: SqlKind | undefined
  /** How its cell is written, if the kind alone does not determine it: `utc`, `iso` or `hex`. */
  readonly form?: 'utc' | 'iso' | 'hex'
  /** For a decimal. */
  readonly digits?: number
  readonly places?: number
  /** For a text, in characters. */
  readonly length?: number
  readonly minimum?: string
  readonly maximum?: string
  readonly values?: readonly string[]
  readonly isNullable: boolean
  /** Whether the database fills it in: if no value is given, or always. */
  readonly filled?: 'default' | 'generated'
}

export interface SqlReference {
  readonly columns: readonly string[]
  readonly table: string
  readonly to: readonly string[]
}

export interface SqlTable {
  /** With its schema, if statements have to name it. */
  readonly name: string
  readonly columns: readonly SqlColumn[]
  readonly key: readonly string[]
  /** The columns of each unique key except the primary one. */
  readonly uniques: readonly (readonly string[])[]
  readonly references: readonly SqlReference[]
  /** Conditions, without the word `check`. */
  readonly checks: readonly string[]
}

/** What a contract does not express of the tables, with its place. */
export interface TableLoss {
  readonly place: string
  readonly detail: string
}

export interface FoundTables {
  readonly tables: readonly SqlTable[]
  readonly losses: readonly TableLoss[]
}
