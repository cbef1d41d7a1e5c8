/** Names in a contract: the characters they may have, and names that occur twice. */
import { matchesNcName, pathSegmentPattern } from '../lexical/text.ts'

/** For resources and jobs. */
export const segmentText = /^[a-z][a-zA-Z0-9-]*$/
/** For actions and files. */
export const pathSegmentText = new RegExp(`^${pathSegmentPattern}$`)
export const fieldNameText = /^[A-Za-z][A-Za-z0-9_]*$/

export function findRepeated(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return [...new Set(names.filter(name => seen.has(name) || !seen.add(name)))]
}

/** @param one the name of one item, or of the output of a job */
export const findOneMistakes = (place: string, one: unknown): string[] =>
  one === undefined || (typeof one === 'string' && matchesNcName(one))
    ? []
    : [`${place}: one is ${JSON.stringify(one)}, which names no operation, such as GetOrder: write it as 'order'`]
