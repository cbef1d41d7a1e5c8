/** The tables of a PostgreSQL database, in the first schema of its search path. */
import type { FoundTables, SqlColumn, SqlReference, SqlTable, TableLoss } from './sql-table.ts'

interface ColumnRow {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly declared: string
  readonly length: number | null
  readonly digits: number | null
  readonly places: number | null
  readonly nullable: boolean
  readonly made: boolean
  readonly always: boolean
  readonly values: readonly string[] | null
}
interface ConstraintRow {
  readonly table: string
  readonly kind: 'p' | 'u' | 'f' | 'c'
  readonly columns: readonly string[] | null
  readonly other: string | null
  readonly to: readonly string[] | null
  readonly definition: string
}

const columnsQuery = `
select c.relname as "table", a.attname as name, coalesce(b.typname, t.typname) as type,
  format_type(a.atttypid, a.atttypmod) as declared, i.character_maximum_length as length,
  i.numeric_precision as digits, i.numeric_scale as places, not a.attnotnull as nullable,
  a.atthasdef or a.attidentity <> '' as made, a.attgenerated <> '' as always,
  (select array_agg(e.enumlabel::text order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as values
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
join pg_type t on t.oid = a.atttypid left join pg_type b on b.oid = nullif(t.typbasetype, 0)
join information_schema.columns i
  on i.table_schema = current_schema() and i.table_name = c.relname and i.column_name = a.attname
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
order by c.relname, a.attnum`

const constraintsQuery = `
select c.relname as "table", k.contype as kind, pg_get_constraintdef(k.oid) as definition, f.relname as other,
  (select array_agg(a.attname::text order by n.at) from unnest(k.conkey) with ordinality n(number, at)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.number) as columns,
  (select array_agg(a.attname::text order by n.at) from unnest(k.confkey) with ordinality n(number, at)
    join pg_attribute a on a.attrelid = k.confrelid and a.attnum = n.number) as "to"
from pg_constraint k join pg_class c on c.oid = k.conrelid left join pg_class f on f.oid = k.confrelid
where c.relnamespace = current_schema()::regnamespace and k.contype in ('p', 'u', 'f', 'c')
order by k.conname`

const viewsQuery = `
select relname as name from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('v', 'm', 'f') order by 1`

/** @throws {Error} if the database is not reached, or pg is not installed */
export async function readPostgresTables(address: string): Promise<FoundTables> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: address, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const columns: readonly ColumnRow[] = (await client.query(columnsQuery)).rows
    const constraints: readonly ConstraintRow[] = (await client.query(constraintsQuery)).rows
    const views: readonly { name: string }[] = (await client.query(viewsQuery)).rows
    const losses = views.map(({ name }): TableLoss => ({ place: name, detail: 'a view has no key, and is left out' }))
    const tables = [...Map.groupBy(columns, ({ table }) => table)].map(([name, rows]) =>
      readPostgresTable(
        name,
        rows,
        constraints.filter(({ table }) => table === name),
      ),
    )
    return { tables, losses }
  } finally {
    await client.end()
  }
}

function readPostgresTable(name: string, rows: readonly ColumnRow[], constraints: readonly ConstraintRow[]): SqlTable {
  const of = (kind: ConstraintRow['kind']): readonly ConstraintRow[] => constraints.filter(each => each.kind === kind)
  return {
    name,
    columns: rows.map(readPostgresColumn),
    key: of('p')[0]?.columns ?? [],
    uniques: of('u').map(({ columns }) => columns ?? []),
    references: of('f').map(
      ({ columns, other, to }): SqlReference => ({ columns: columns ?? [], table: other ?? '', to: to ?? [] }),
    ),
    checks: of('c').map(({ definition }) => /^CHECK \((.*)\)/s.exec(definition)?.[1] ?? definition),
  }
}

function readPostgresColumn({ name, declared, nullable, made, always, ...row }: ColumnRow): SqlColumn {
  const filled = always ? 'generated' : made ? 'default' : undefined
  return { name, declared, ...kindOfType(row), isNullable: nullable, ...(filled && { filled }) }
}

const kinds: Readonly<Record<string, Pick<SqlColumn, 'kind' | 'form'>>> = {
  int2: { kind: 'int' },
  int4: { kind: 'int' },
  int8: { kind: 'long' },
  float4: { kind: 'double' },
  float8: { kind: 'double' },
  bool: { kind: 'boolean' },
  text: { kind: 'text' },
  varchar: { kind: 'text' },
  bpchar: { kind: 'text' },
  citext: { kind: 'text' },
  uuid: { kind: 'uuid' },
  date: { kind: 'date' },
  time: { kind: 'time' },
  timestamp: { kind: 'dateTime', form: 'iso' },
  timestamptz: { kind: 'dateTime', form: 'iso' },
  bytea: { kind: 'bytes', form: 'hex' },
}
function kindOfType({
  type,
  length,
  digits,
  places,
  values,
}: Pick<ColumnRow, 'type' | 'length' | 'digits' | 'places' | 'values'>) {
  if (values) return { kind: 'enum', values } as const
  if (type === 'numeric' && digits !== null && digits <= 18 && (places ?? 0) >= 0)
    return { kind: 'decimal', digits, places: places ?? 0 } as const
  return { kind: undefined, ...kinds[type], ...(length !== null && { length }) }
}
