/** Values as JSON text, exactly; apart from the readers, which clients in browsers do without. */
import type { Json } from '../base/objects.ts'

/** The JSON text of a value; a bigint is written with all its digits, minus zero with its sign. */
export const writeJson = (value: Json): string => JSON.stringify(value, isPlainJson(value) ? undefined : writeExactly)

/** Whether JSON.stringify alone writes the value exactly, which is three times as fast. */
const isPlainJson = (value: Json): boolean =>
  typeof value === 'object' && value !== null
    ? Object.values(value).every(isPlainJson)
    : typeof value !== 'bigint' && !Object.is(value, -0)

/** ECMAScript 2026 §25.5.3; its type is not in the library yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown }

/**
 * A replacer for JSON.stringify, where its text is indented: a bigint is written with all its
 * digits, minus zero with its sign (ECMAScript 2026 §25.5.3, rawJSON).
 */
export const writeExactly = (_name: string, value: Json): unknown =>
  typeof value === 'object' || isPlainJson(value) ? value : rawJSON(typeof value === 'bigint' ? String(value) : '-0')
