/** Names in a contract: the characters they may have, and names that occur twice. */
import { pathSegmentPattern } from '../lexical/text.ts'

/** For resources and jobs. */
export const segmentText = /^[a-z][a-zA-Z0-9-]*$/
/** For actions and files. */
export const pathSegmentText = new RegExp(`^${pathSegmentPattern}$`)
export const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/

export function findRepeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return [...new Set(names.filter(name => seen.has(name) || !seen.add(name)))]
}
