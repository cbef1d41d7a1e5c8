/**
 * A message with parts that need not be held: the reader of its value reads their octets. What
 * always holds:
 *  (1) The first octets of a part have arrived before the message is used, so that a package
 *      without its parts is refused before anything is done with it.
 *  (2) The last octets end with the package: those of a truncated package never look complete.
 *  (3) Octets read in the order of their arrival are never held; in any other order they are held
 *      within the limit.
 */
import { beginReading, type Pieces } from '../../base/octets.ts'
import {
  type ArrivalOrder,
  listEach,
  PassingOctets,
  type ReadingOrder,
  replaceEach,
} from '../../base/passing-octets.ts'
import { limitLength } from '../../contract/octet-types.ts'
import { StreamedPart } from '../codecs/values.ts'
import type { RemainingParts } from './parts.ts'

/** How the reading of parts ends. */
export interface PartEnds {
  /** All parts arrived complete. */
  readonly finish: () => void
  /** The error that a reader gets in place of the thrown one. */
  readonly fail: (thrown: unknown) => unknown
  /** The rest of the package is not read. */
  readonly leave: () => void
  /** The part has more or fewer octets than its type allows. */
  readonly refuseCount: (detail: string) => never
}

/**
 * The value of a message, with passing octets in place of the parts that have not arrived.
 *
 * @param reading the order in which the parts will be read: parts read as they arrive are not held
 */
export async function passParts(
  value: unknown,
  parts: RemainingParts,
  reading: ReadingOrder,
  ends: PartEnds,
): Promise<unknown> {
  const waiting = new Set(listEach(value, StreamedPart))
  const [first] = waiting
  if (!first) {
    await parts.skipRest()
    ends.finish()
    return value
  }
  const finish = (part: StreamedPart) => {
    waiting.delete(part)
    if (waiting.size === 0) ends.finish()
  }
  const read = (part: StreamedPart) => {
    const octets = limitLength(parts.pass(part), part.lengths, ends.refuseCount)
    return readToEnd(octets, () => finish(part), ends)
  }
  if (reading === 'as written') {
    const firstPart = await beginReading(read(first)) // (1)
    const pass = (part: StreamedPart) => new PassingOctets(() => (part === first ? firstPart : read(part)), ends.leave)
    return replaceEach(value, StreamedPart, pass)
  }
  await parts.arriving() // (1)
  const order: ArrivalOrder = { next: () => reportToReader(() => parts.arriving(), ends) }
  const pass = (part: StreamedPart) => new PassingOctets(() => read(part), ends.leave, { order, key: part.id })
  return replaceEach(value, StreamedPart, pass)
}

async function reportToReader<T>(find: () => Promise<T>, { fail, leave }: PartEnds): Promise<T> {
  try {
    return await find()
  } catch (thrown) {
    const reason = fail(thrown)
    leave()
    throw reason
  }
}

async function* readToEnd(pieces: Pieces, finish: () => void, { fail, leave }: PartEnds): Pieces {
  let isWhole = false
  try {
    yield* pieces
    isWhole = true
    finish()
  } catch (thrown) {
    throw fail(thrown)
  } finally {
    if (!isWhole) leave()
  }
}
