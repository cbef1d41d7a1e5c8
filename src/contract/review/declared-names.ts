/** Names of a contract: what they may be made of, and those that come twice. */
import { pathSegmentPattern } from '../lexical/text.ts'

/** Of resources and jobs. */
export const segmentText = /^[a-z][a-zA-Z0-9-]*$/
/** Of actions and files. */
export const pathSegmentText = new RegExp(`^${pathSegmentPattern}$`)
export const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/

export function findRepeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return [...new Set(names.filter(name => seen.has(name) || !seen.add(name)))]
}
