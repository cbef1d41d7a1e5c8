/** The integer types of fields, by the names in OpenAPI's registry of formats. */
import type { IntType, LongType } from '../field.ts'
import { intBounds, longBounds } from './number.ts'

export const isIntType = (name: string): name is IntType => Object.hasOwn(intBounds, name)
export const isLongType = (name: string): name is LongType => Object.hasOwn(longBounds, name)

/** The types that the registry has. */
export const integerFormats: Readonly<Partial<Record<IntType | LongType, string>>> = {
  ...{ byte: 'int8', short: 'int16', int: 'int32', long: 'int64' },
  ...{ unsignedByte: 'uint8', unsignedShort: 'uint16', unsignedInt: 'uint32', unsignedLong: 'uint64' },
}

export const integersByFormat: ReadonlyMap<string, IntType | LongType> = new Map(
  (Object.entries(integerFormats) as [IntType | LongType, string][]).map(([name, format]) => [format, name]), // its keys
)
