/** Converts cells of a table into values of a contract and back, and keys into identifiers. */

export type Cell = null | string | number | bigint | Uint8Array

/**
 * `…-id`: the key of another table, as the identifier of its item. `decimal-2`: two decimal places.
 * `utc`: a time in UTC, as SQLite's own functions write it: `2026-01-31 12:30:00`.
 */
export type CellType =
  | ('text' | 'int' | 'long' | 'double' | 'boolean' | 'bytes' | 'hex' | 'uuid' | 'iso' | 'utc')
  | `decimal-${number}`
  | 'text-id'
  | 'long-id'
  | 'uuid-id'

/** @throws {Error} if the cell does not have the type; the message names its place */
export function readCell(type: CellType, cell: Exclude<Cell, null>, place: string): unknown {
  const value = readers[type.replace(/-\d+$/, '')]?.(cell, placesOf(type))
  if (value === undefined)
    throw new Error(`${place} is ${String(cell)}, which does not fit ${type}: correct it, or declare another field`)
  return value
}

/** Returns undefined if the cell does not have the type. */
type Reader = (cell: Exclude<Cell, null>, places: number) => unknown
const whole = (cell: Exclude<Cell, null>): bigint | undefined =>
  typeof cell === 'bigint' ? cell : /^-?\d+$/.test(String(cell)) ? BigInt(String(cell)) : undefined
const text: Reader = cell => (typeof cell === 'string' ? cell : undefined)
const readers: Readonly<Record<string, Reader>> = {
  text,
  uuid: text,
  iso: cell =>
    text(cell, 0) &&
    String(cell)
      .replace(' ', 'T')
      .replace(/([+-]\d\d)$/, '$1:00')
      .replace(/[+]00:00$/, 'Z'),
  utc: cell =>
    /^\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(String(cell)) ? readUtc(String(cell)) : undefined,
  int: cell => {
    const value = whole(cell)
    return value === undefined || BigInt.asIntN(32, value) !== value ? undefined : Number(value)
  },
  long: cell => {
    const value = whole(cell)
    return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value
  },
  double: cell =>
    typeof cell === 'object' || String(cell).trim() === '' || Number.isNaN(Number(cell)) ? undefined : Number(cell),
  boolean: cell => ({ '0': false, '1': true, false: false, true: true })[String(cell)],
  bytes: cell => (cell instanceof Uint8Array ? cell : undefined),
  hex: cell => (/^\\x/.test(String(cell)) ? readHex(String(cell).slice(2)) : undefined),
  decimal: (cell, places) => {
    if (typeof cell === 'string' && /^-?\d+(?:\.\d+)?$/.test(cell)) return padPlaces(cell, places)
    if (typeof cell === 'bigint') return padPlaces(String(cell), places)
    if (typeof cell !== 'number') return undefined
    const fixed = cell.toFixed(places)
    return Number(fixed) === cell ? fixed : undefined
  },
  'text-id': cell => (typeof cell === 'string' ? escapeKey(cell, false) : undefined),
  'long-id': cell => whole(cell)?.toString(),
  'uuid-id': text,
}
const readHex = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, 'hex'))
const writeHex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex')
const placesOf = (type: CellType): number => Number(/-(\d+)$/.exec(type)?.[1] ?? 0)
const readUtc = (cell: string): string => `${cell.replace(' ', 'T')}${cell.length === 16 ? ':00' : ''}Z`

/** A number with all its decimal places; undefined if it has more. */
function padPlaces(value: string, places: number): string | undefined {
  const [units = '', fraction = ''] = value.split('.')
  const kept = fraction.replace(/0+$/, '')
  if (kept.length > places) return undefined
  return places === 0 ? units : `${units}.${kept.padEnd(places, '0')}`
}

/** The cell for a value that the contract has checked. */
export function writeCell(type: CellType, value: unknown): Cell {
  if (value === undefined || value === null) return null
  if (type === 'boolean') return value === true ? 1 : 0
  if (type === 'hex') return value instanceof Uint8Array ? `\\x${writeHex(value)}` : null
  if (type === 'utc') return writeUtc(String(value))
  if (type === 'text-id') return unescapeKey(String(value))
  if (type === 'long-id') return /^-?\d+$/.test(String(value)) ? BigInt(String(value)) : null
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof Uint8Array) return value
  return String(value)
}
const writeUtc = (value: string): string =>
  new Date(/(?:Z|[+-]\d\d:\d\d)$/.test(value) ? value : `${value}Z`)
    .toISOString()
    .replace('T', ' ')
    .replace(/(?:\.000)?Z$/, '')

type KeyColumn = readonly [column: string, type: CellType, filled?: string]

/** The id of a row: its key, or several key columns joined by a point. */
export function writeKey(key: readonly KeyColumn[], row: Readonly<Record<string, Cell>>, table: string): string {
  const parts = key.map(([column]) => escapeKey(String(row[column] ?? ''), key.length > 1))
  const id = parts.join('.')
  if (id.length > 64) throw new Error(`${table} has a key that makes an id of more than 64 characters: ${id}`)
  return id
}
/** Undefined for an id that no row can have. */
export function readKey(key: readonly KeyColumn[], id: string): readonly Cell[] | undefined {
  const parts = key.length === 1 ? [id] : id.split('.')
  if (parts.length !== key.length) return undefined
  const cells = parts.map((part, at) => readKeyPart(key[at]?.[1] ?? 'text', part))
  return cells.every(cell => cell !== undefined) ? cells : undefined
}
function readKeyPart(type: CellType, part: string): Cell | undefined {
  if (/^(?:int|long)/.test(type)) {
    const value = /^(?:0|-?[1-9]\d{0,18})$/.test(part) ? BigInt(part) : undefined
    const bits = type === 'int' ? 32 : 64
    return value !== undefined && BigInt.asIntN(bits, value) === value ? value : undefined
  }
  if (/^uuid/.test(type)) return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(part) ? part : undefined
  return unescapeKey(part)
}

/** An id has letters, digits, "-", "_" and "."; each other octet is `~` and two hex digits. */
function escapeKey(text: string, isPart: boolean): string {
  if (text === '') return '~'
  const kept = isPart ? /[^A-Za-z0-9_-]/gu : /[^A-Za-z0-9._-]|^\./gu
  return text.replace(kept, character => writeHex(Buffer.from(character)).replace(/../g, '~$&'))
}
const unescapeKey = (id: string): string =>
  id === '~'
    ? ''
    : id.replace(/(?:~[0-9a-f]{2})+/g, octets => new TextDecoder().decode(readHex(octets.replaceAll('~', ''))))
