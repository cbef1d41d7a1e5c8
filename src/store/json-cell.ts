/** Lists, objects and unions as JSON text and back, exactly: what JSON has no type for is put by what the field says. */
import type { AnyField, Fields } from '../contract/field.ts'

export interface CellCodec {
  readonly encode: (value: unknown) => string
  readonly decode: (text: string) => unknown
}
/** One value to another; undefined where values stay as they are. */
type CellConversion = ((value: unknown) => unknown) | undefined
type Way = 'out' | 'in'

/** `JSON.stringify` and `JSON.parse` alone where nothing in the field needs more. */
export function createCellCodec(field: AnyField): CellCodec {
  const out = change(field, 'out')
  const back = change(field, 'in')
  return {
    encode: value => JSON.stringify(out ? out(value) : value),
    decode: text => (back ? back(JSON.parse(text)) : JSON.parse(text)),
  }
}

function change(field: AnyField, way: Way): CellConversion {
  const { shape } = field
  const made =
    shape.kind === 'list'
      ? ofList(change(shape.item, way))
      : shape.kind === 'object'
        ? ofMembers(shape.fields, way)
        : shape.kind === 'union'
          ? ofUnion(shape.on, shape.of, way)
          : scalar[way][shape.kind]
  return made && (value => (value === null ? null : made(value)))
}

/** A value of each kind as JSON, and back. The casts rest on the contract's checks, which every stored value has passed. */
const scalar: Readonly<Record<Way, Readonly<Record<string, (value: unknown) => unknown>>>> = {
  out: {
    long: String,
    bytes: value => (value as Uint8Array).toBase64(),
    double: value => (isPlainDouble(value as number) ? value : doubleText(value as number)),
  },
  in: {
    long: value => BigInt(value as string),
    bytes: value => Uint8Array.fromBase64(value as string),
    double: Number,
  },
}

/** What JSON and SQL numbers hold: not NaN, an infinity or minus zero. */
export const isPlainDouble = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0)
export const doubleText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

const ofList = (item: CellConversion): CellConversion => item && (value => (value as readonly unknown[]).map(item))

function ofMembers(fields: Fields, way: Way): CellConversion {
  const changes = Object.entries(fields).flatMap(([name, field]) => {
    const made = change(field, way)
    return made ? [{ name, made }] : []
  })
  if (changes.length === 0) return undefined
  return value => {
    const members: Record<string, unknown> = { ...(value as Readonly<Record<string, unknown>>) }
    for (const { name, made } of changes) if (members[name] !== undefined) members[name] = made(members[name])
    return members
  }
}

function ofUnion(on: string, of: Readonly<Record<string, Fields>>, way: Way): CellConversion {
  const changes = new Map(Object.entries(of).map(([name, fields]) => [name, ofMembers(fields, way)]))
  if (![...changes.values()].some(Boolean)) return undefined
  return value => {
    const made = changes.get(String((value as Readonly<Record<string, unknown>>)[on]))
    return made ? made(value) : value
  }
}
