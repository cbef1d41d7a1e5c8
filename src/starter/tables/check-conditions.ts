/** Conditions of tables as facets of fields: lists of texts, and bounds of numbers and lengths. */
import type { SqlColumn, SqlTable, TableLoss } from './sql-table.ts'

/** What one condition says about one column. */
interface Facet {
  readonly column: string
  readonly facet: Pick<SqlColumn, 'values' | 'minimum' | 'maximum' | 'length'>
}

/** The columns with the facets of the checks; a check that no facet can express is a loss. */
export function applyChecks(table: SqlTable): { readonly table: SqlTable; readonly losses: readonly TableLoss[] } {
  let columns = table.columns
  const losses: TableLoss[] = []
  for (const check of table.checks) {
    const facets = readCheck(check)
    const applied = facets && applyFacets(columns, facets)
    if (applied) columns = applied
    else
      losses.push({ place: table.name, detail: `check (${check}) stays with the database, which ends a call with 500` })
  }
  return { table: { ...table, columns }, losses }
}

function applyFacets(columns: readonly SqlColumn[], facets: readonly Facet[]): readonly SqlColumn[] | undefined {
  let all = columns
  for (const { column, facet } of facets) {
    const at = all.findIndex(({ name }) => name.toLowerCase() === column.toLowerCase())
    const found = all[at]
    const fitted = found && fitFacet(found, facet)
    if (!fitted) return undefined
    all = all.with(at, fitted)
  }
  return all
}

/** Undefined for a facet that a field of this kind does not have. */
function fitFacet(column: SqlColumn, { values, length, minimum, maximum }: Facet['facet']): SqlColumn | undefined {
  const { kind } = column
  if (values) return kind === 'text' ? { ...column, kind: 'enum', values } : undefined
  if (length !== undefined)
    return kind === 'text' ? { ...column, length: Math.min(length, column.length ?? length) } : undefined
  const lowest = minimum === undefined ? undefined : fitBound(column, minimum, 1n)
  const highest = maximum === undefined ? undefined : fitBound(column, maximum, -1n)
  if ((minimum !== undefined && lowest === undefined) || (maximum !== undefined && highest === undefined))
    return undefined
  return {
    ...column,
    ...(lowest !== undefined && { minimum: lowest }),
    ...(highest !== undefined && { maximum: highest }),
  }
}

/** An excluded bound becomes the next value, if there is one. */
function fitBound({ kind, places = 0 }: SqlColumn, bound: string, step: 1n | -1n): string | undefined {
  if (kind === 'double') return bound.endsWith('!') ? undefined : bound
  if (kind !== 'int' && kind !== 'long' && kind !== 'decimal') return undefined
  const [units = '', fraction = ''] = bound.replace('!', '').split('.')
  if (fraction.length > places) return undefined
  const scaled = BigInt(units + fraction.padEnd(places, '0')) + (bound.endsWith('!') ? step : 0n)
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  return `${scaled < 0n ? '-' : ''}${whole}${places === 0 ? '' : `.${digits.slice(-places)}`}`
}

const literal = "'(?:[^']|'')*'"
const listed = new RegExp(
  String.raw`^"?(\w+)"? (?:in|= any array)\s*\[?\s*(${literal}(?:\s*,\s*${literal})*)\s*\]?$`,
  'i',
)
const compared = /^"?(\w+)"? (>=|>|<=|<) '?(-?\d+(?:\.\d+)?)'?$/
const between = /^"?(\w+)"? between (-?\d+(?:\.\d+)?) and (-?\d+(?:\.\d+)?)$/i
const measured = /^(?:char_|character_)?length "?(\w+)"? <= (\d+)$/i

/** Undefined for a condition that facets cannot express. A bound that ends in `!` is excluded. */
export function readCheck(check: string): readonly Facet[] | undefined {
  const literals = check.match(new RegExp(literal, 'g')) ?? []
  if (literals.some(each => /[()[\]]|::| and /i.test(each))) return undefined
  const plain = check
    .replaceAll(/::(?:character varying|double precision|[\w"]+)(?:\[\])?/g, '')
    .replaceAll(/[()]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?(>=|<=|<>|>|<|=) ?/g, ' $1 ')
    .trim()
  const [, ofList = '', values] = listed.exec(plain) ?? []
  if (values !== undefined) return [{ column: ofList, facet: { values: readLiterals(values) } }]
  const [, inside = '', minimum, maximum] = between.exec(plain) ?? []
  if (minimum !== undefined && maximum !== undefined) return [{ column: inside, facet: { minimum, maximum } }]
  const parts = plain.split(/ and /i).map(readComparison)
  return parts.every(part => part !== undefined) ? parts : undefined
}

function readComparison(text: string): Facet | undefined {
  const [, counted = '', length] = measured.exec(text) ?? []
  if (length !== undefined) return { column: counted, facet: { length: Number(length) } }
  const [, column = '', operator = '', bound] = compared.exec(text) ?? []
  if (bound === undefined) return undefined
  const written = operator.length === 1 ? `${bound}!` : bound
  return { column, facet: operator.startsWith('>') ? { minimum: written } : { maximum: written } }
}

const readLiterals = (text: string): string[] => [
  ...new Set((text.match(new RegExp(literal, 'g')) ?? []).map(each => each.slice(1, -1).replaceAll("''", "'"))),
]
