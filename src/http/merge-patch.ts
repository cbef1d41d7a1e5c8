import { defineMember, type Json } from './json.ts'
import { isRecord } from './json-pointer.ts'

/**
 * RFC 7396 §2 MergePatch(Target, Patch). Neither argument is changed; the result shares unchanged
 * parts. Both arguments came through parseJson, whose limit of depth bounds the recursion.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (!isRecord(patch)) return patch
  const result: { [name: string]: Json } = isRecord(target) ? { ...target } : {}
  for (const name of Object.keys(patch)) {
    const value = patch[name]!
    if (value === null) delete result[name]
    else defineMember(result, name, applyMergePatch(Object.hasOwn(result, name) ? result[name]! : null, value))
  }
  return result
}
