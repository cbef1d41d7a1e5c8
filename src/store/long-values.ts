/**
 * Finds stored values that are longer than a `max` in the current contract. They are served
 * unchanged, but a client that sends one back is refused, so an operator is warned. What always
 * holds:
 *  (1) A start examines `rowsLookedAt` rows of a table at most, and only if a `max` is below the
 *      one that the database remembers; `diglot migrate` examines all rows.
 *  (2) A start only raises the remembered bound, since an older program may run next to this one.
 *      `diglot migrate --apply` lowers it, once no row is longer.
 * If the database remembers no bound, because an older program created it, a start examines its
 * first rows and warns if there are more, until `diglot migrate --apply` has examined all of them.
 */
import { type DatabaseShape, forgetShape, type MigrationStep, rememberShape, type Steps } from './database-shape.ts'
import { sql } from './sql.ts'
import type { StoreSchema } from './sql-access.ts'
import { joinList, quoteName } from './statement.ts'
import type { Table } from './table.ts'

/** Per table, at a start. */
export const examinedRowsMax = 10_000

/** Called with a sentence for each field: its path, how many values are longer, and the cure. */
export type WarnOfLength = (says: string) => void

interface LengthBound {
  readonly field: string
  readonly stored: string
  /** Characters of a text, octets of bytes. */
  readonly max: number
  /** The longest value that any program could store; undefined if the database does not know. */
  readonly was: number | undefined
}

/**
 * Looks at the rows, and warns.
 * @param isAsked whether `diglot migrate` runs it
 * @returns what the database should remember
 */
export function* findLongValues(
  schema: StoreSchema,
  shape: DatabaseShape,
  isAsked: boolean,
  warn: WarnOfLength,
): Steps<readonly MigrationStep[]> {
  const steps: MigrationStep[] = []
  for (const table of schema.tables.values()) {
    const { looked, known, gone } = compareBounds(table, shape)
    steps.push(
      ...gone.map(stored => forgetShape(boundsKey(table), stored)),
      ...known.map(each => remember(table, each)),
    )
    if (looked.length > 0) steps.push(...(yield* lookAtRows(table, looked, isAsked, warn)))
  }
  return steps
}

const boundsKey = (table: Table): string => `max ${table.name}`
const remember = (table: Table, { stored, max }: LengthBound): MigrationStep =>
  rememberShape(boundsKey(table), stored, String(max))

/**
 * Which bounds need a look at the rows, which can be remembered at once, and which no longer exist.
 */
function compareBounds(table: Table, shape: DatabaseShape) {
  const columns = shape.get(`table ${table.name}`)
  const remembered = shape.get(boundsKey(table)) ?? new Map<string, string>()
  const looked: LengthBound[] = []
  const known: LengthBound[] = []
  const gone: string[] = []
  for (const { field, stored } of table.fields) {
    const text = remembered.get(stored)
    const was = text === undefined ? undefined : Number(text)
    const max = maxLengthOf(table, field)
    if (max === undefined) {
      if (was !== undefined) gone.push(stored)
    } else if (columns?.has(stored) && (was === undefined || was > max)) looked.push({ field, stored, max, was })
    else if (was !== max) known.push({ field, stored, max, was })
  }
  return { looked, known, gone }
}

function maxLengthOf(table: Table, field: string): number | undefined {
  const shape = table.resource.fields[field]?.shape
  return shape?.kind === 'string' || shape?.kind === 'bytes' ? shape.max : undefined
}

function* lookAtRows(
  table: Table,
  bounds: readonly LengthBound[],
  isAsked: boolean,
  warn: WarnOfLength,
): Steps<readonly MigrationStep[]> {
  const names = bounds.map(each => quoteName(each.stored))
  const figures = bounds.flatMap(({ max }, at) => [
    sql`sum(case when length(${names[at]!}) > ${sql.lit(max)} then 1 else 0 end)`, // a name for each bound
    sql`max(length(${names[at]!}))`,
  ])
  const within = isAsked ? sql`` : sql` limit ${sql.lit(examinedRowsMax)}`
  const rows = sql`select ${joinList(names)} from ${quoteName(table.name)}${within}`
  const [row = []] = yield { text: sql`select ${joinList([sql`count(*)`, ...figures])} from (${rows}) as "looked"` }
  const [count = 0, ...found] = row.map(Number)
  const isPart = !isAsked && count >= examinedRowsMax
  const steps: MigrationStep[] = []
  bounds.forEach((bound, at) => {
    const [longer = 0, longest = 0] = found.slice(2 * at)
    if (longer > 0) warn(describeLongValues(table, bound, longer, longest, isPart))
    else if (isPart) warn(describeUnseen(table, bound))
    else if (isAsked || bound.was === undefined) steps.push(remember(table, bound))
  })
  return steps
}

const lookAtAll = '`diglot migrate --plan` looks at all'

function describeLongValues(
  { name }: Table,
  { field, stored, max }: LengthBound,
  longer: number,
  longest: number,
  isPart: boolean,
): string {
  const rows = `${longer} ${longer === 1 ? 'row has a value' : 'rows have a value'} longer than its max of ${max} (the longest: ${longest})`
  const scope = isPart ? `, among the first ${examinedRowsMax} rows (${lookAtAll})` : ''
  const text = `select "id" from "${name}" where length("${stored}") > ${max}`
  return `${name}.${field}: ${rows}${scope}: a client that sends it back is refused: raise max to ${longest}, or shorten the values: ${text}`
}

const describeUnseen = ({ name }: Table, { field, max, was }: LengthBound): string =>
  `${name}.${field}: its max is ${max} and was ${was ?? 'not remembered'}: the first ${examinedRowsMax} rows keep it, others may not: ${lookAtAll}`
