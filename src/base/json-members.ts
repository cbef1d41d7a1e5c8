/** Members of a parsed JSON document that may be of another type than they should. */
import type { Json } from './objects.ts'

export type JsonObject = { readonly [name: string]: Json }
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
export const jsonItems = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
export const stringOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
/** The members that are objects, with their names. */
export const objectEntries = (value: Json | undefined): readonly (readonly [string, JsonObject])[] =>
  Object.entries(objectOf(value)).filter((entry): entry is [string, JsonObject] => isJsonObject(entry[1]))
