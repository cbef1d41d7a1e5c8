/**
 * Finds filters whose lists are longer than the contract assumes. No declaration says how many
 * items share a value, but the statistics that a database keeps for its query plans do.
 */
import { listAssumedFilters } from '../contract/list-index.ts'
import type { CrowdedFilter } from '../service/store.ts'
import type { Steps } from './database-shape.ts'
import type { Dialect } from './dialect.ts'
import { fewRows } from './long-query.ts'
import type { Table } from './table.ts'

export function* findCrowded(
  tables: ReadonlyMap<string, Table>,
  { statistics }: Dialect,
): Steps<readonly CrowdedFilter[]> {
  if ((yield { text: statistics.exist }).length === 0) return []
  const rows = yield { text: statistics.rowsOfValue }
  const rowCounts = new Map(rows.map(([table, name, count]) => [`${table}\n${name}`, Number(count)]))
  return [...tables.values()].flatMap(table =>
    listAssumedFilters(table.resource, table.lists).flatMap(({ field, keys }) => {
      const items = Math.max(
        0,
        ...namesInStatistics(table, field).map(name => rowCounts.get(`${table.name}\n${name}`) ?? 0),
      )
      return items > fewRows ? [{ resource: table.resource.name, field, items: Math.round(items), keys }] : []
    }),
  )
}

/** PostgreSQL has statistics per column, SQLite per index. */
function namesInStatistics({ compared, indexes }: Table, field: string): readonly string[] {
  const column = compared.get(field)?.column
  if (column === undefined) return []
  return [column, ...indexes.filter(each => each.columns[0]?.name === column).map(each => each.name)]
}
