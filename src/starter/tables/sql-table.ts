/** What a database says of its tables, in words that both databases share. */

/** How a column holds a value; undefined where no field can. */
export type SqlKind =
  | ('text' | 'int' | 'long' | 'double' | 'boolean' | 'bytes' | 'uuid' | 'date' | 'time' | 'dateTime')
  | 'decimal'
  | 'enum'

export interface SqlColumn {
  readonly name: string
  /** The type as the database names it. */
  readonly declared: string
  readonly kind: SqlKind | undefined
  /** How a cell of it is written, where the kind alone does not say it: `utc`, `iso` or `hex`. */
  readonly form?: 'utc' | 'iso' | 'hex'
  /** Of a decimal. */
  readonly digits?: number
  readonly places?: number
  /** Of a text, in characters. */
  readonly length?: number
  readonly minimum?: string
  readonly maximum?: string
  readonly values?: readonly string[]
  readonly isNullable: boolean
  /** The database fills it in: where nothing is given, or always. */
  readonly filled?: 'default' | 'generated'
}

export interface SqlReference {
  readonly columns: readonly string[]
  readonly table: string
  readonly to: readonly string[]
}

export interface SqlTable {
  /** With its schema, where it has one that statements have to name. */
  readonly name: string
  readonly columns: readonly SqlColumn[]
  readonly key: readonly string[]
  /** The columns of each unique key but the primary one. */
  readonly uniques: readonly (readonly string[])[]
  readonly references: readonly SqlReference[]
  /** Conditions, without the word `check`. */
  readonly checks: readonly string[]
}

/** What a contract does not say of the tables, with its place. */
export interface TableLoss {
  readonly place: string
  readonly detail: string
}

export interface FoundTables {
  readonly tables: readonly SqlTable[]
  readonly losses: readonly TableLoss[]
}
