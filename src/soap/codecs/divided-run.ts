/**
 * A run of equal elements that several repetitions of a group share. XML Schema Part 1 §3.8.4
 * divides it among them in any way that is valid: four `a` are two repetitions of `a{2,3}`. Each
 * repetition is read as long as it may be, so only the last one can lack elements; the run is then
 * divided again. As few repetitions as possible were read, so no other number of them would fit if
 * this one does not.
 */
import { countRequired } from '../../contract/xml-members.ts'
import type { ParticlePlan } from './schema-plan.ts'

type GroupRow = Record<string, unknown>

/** The repetitions of a group that have been read before this one, in order. */
export type EarlierRows = () => readonly GroupRow[]
export const noEarlierRows: EarlierRows = () => []

/** A particle of a group, and the members that this repetition of the group has so far. */
export interface RunPlace {
  readonly parts: readonly ParticlePlan[]
  readonly at: number
  readonly row: GroupRow
  readonly earlier: EarlierRows
}

const isEmptyMember = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)
const areEmpty = (parts: readonly ParticlePlan[], row: GroupRow): boolean =>
  parts.every(({ key }) => isEmptyMember(row[key]))

/** Earlier repetitions whose elements of this particle end where those of this one begin. */
function listAdjacentRows({ parts, at, row, earlier }: RunPlace): readonly GroupRow[] {
  const found: GroupRow[] = []
  const { key } = parts[at]! // callers pass an index of the list
  let later = row
  for (const each of earlier().toReversed()) {
    if (isEmptyMember(each[key]) || !areEmpty(parts.slice(0, at), later) || !areEmpty(parts.slice(at + 1), each)) break
    found.unshift(each)
    later = each
  }
  return found
}

/** The same for the groups in a single particle. */
export const earlierGroups =
  (place: RunPlace): EarlierRows =>
  () =>
    listAdjacentRows(place).map(row => row[place.parts[place.at]!.key] as GroupRow) // not empty, and a group has a row

/** Gives this repetition the elements that it lacks; true if the run can be divided like that. */
export function divideRun(place: RunPlace, found: unknown[]): boolean {
  const part = place.parts[place.at]! // callers pass an index of the list
  const { key, max } = part
  const min = countRequired(part, found.length)
  const runs = [...listAdjacentRows(place).map(row => row[key] as unknown[]), found] // of a particle that repeats
  const all = runs.flat(1)
  if (all.length < min * runs.length) return false
  let from = 0
  for (const [index, run] of runs.entries()) {
    const count = Math.min(max, all.length - from - min * (runs.length - 1 - index))
    run.splice(0, run.length, ...all.slice(from, from + count))
    from += count
  }
  return true
}
