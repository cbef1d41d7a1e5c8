/**
 * Lists, objects and unions as JSON text and back, without loss: the field says how to write a type
 * that JSON lacks.
 */
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import { mapMembers, ownMember } from '../base/objects.ts'
import type { AnyField, Fields, Scalar } from '../contract/field.ts'
import { entryFields, foldShape, type ShapeCases } from '../contract/shape.ts'

export interface CellCodec {
  readonly encode: (value: unknown) => string
  readonly decode: (text: string) => unknown
}
/** Converts a value; undefined if values stay as they are. */
type CellConversion = ((value: unknown) => unknown) | undefined
type ConversionWay = 'out' | 'in'

/** Plain `JSON.stringify` and `JSON.parse` if the field needs no more. */
export function createCellCodec(field: AnyField): CellCodec {
  const out = compileConversion(field, 'out')
  const back = compileConversion(field, 'in')
  return {
    encode: value => JSON.stringify(out ? out(value) : value),
    decode: text => (back ? back(JSON.parse(text)) : JSON.parse(text)),
  }
}

function compileConversion({ shape }: AnyField, way: ConversionWay): CellConversion {
  const convert = foldShape(shape, conversions, way)
  return convert && (value => (value === null ? null : convert(value)))
}
const conversions: ShapeCases<CellConversion, [way: ConversionWay]> = {
  scalar: ({ kind }, way) => scalarConversions[kind][way],
  list: ({ item }, way) => listConversion(compileConversion(item, way)),
  map: (shape, way) => mapConversion(compileConversion(entryFields(shape).value, way)),
  object: ({ fields }, way) => memberConversion(fields, way),
  union: ({ on, of }, way) => unionConversion(on, of, way),
}

const unchanged: Readonly<Record<ConversionWay, CellConversion>> = { out: undefined, in: undefined }
/**
 * Converts a value of each kind to JSON and back. The casts rely on the contract's checks, which
 * every stored value has passed.
 */
const scalarConversions: Readonly<Record<Scalar['kind'], Readonly<Record<ConversionWay, CellConversion>>>> = {
  string: unchanged,
  boolean: unchanged,
  int: unchanged,
  long: { out: String, in: value => BigInt(value as string) },
  decimal: unchanged,
  double: { out: value => (isPlainDouble(value as number) ? value : doubleText(value as number)), in: Number },
  date: unchanged,
  time: unchanged,
  dateTime: unchanged,
  duration: unchanged,
  bytes: { out: value => encodeBase64(value as Uint8Array), in: value => requireBase64(value as string) },
  enum: unchanged,
  id: unchanged,
  ref: unchanged,
}

/** Numbers that both JSON and SQL can hold: not NaN, an infinity or minus zero. */
export const isPlainDouble = (value: number): boolean => Number.isFinite(value) && !Object.is(value, -0)
export const doubleText = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))

const listConversion = (item: CellConversion): CellConversion =>
  item && (value => (value as readonly unknown[]).map(item))

const mapConversion = (convert: CellConversion): CellConversion =>
  convert && (value => mapMembers(value as Readonly<Record<string, unknown>>, convert))

function memberConversion(fields: Fields, way: ConversionWay): CellConversion {
  const changes = Object.entries(fields).flatMap(([name, field]) => {
    const convert = compileConversion(field, way)
    return convert ? [{ name, made: convert }] : []
  })
  if (changes.length === 0) return undefined
  return value => {
    const members: Record<string, unknown> = { ...(value as Readonly<Record<string, unknown>>) }
    for (const { name, made } of changes) {
      const member = ownMember(members, name)
      if (member !== undefined) members[name] = made(member)
    }
    return members
  }
}

function unionConversion(on: string, of: Readonly<Record<string, Fields>>, way: ConversionWay): CellConversion {
  const changes = new Map(Object.entries(of).map(([name, fields]) => [name, memberConversion(fields, way)]))
  if (![...changes.values()].some(Boolean)) return undefined
  return value => {
    const convert = changes.get(String((value as Readonly<Record<string, unknown>>)[on]))
    return convert ? convert(value) : value
  }
}
