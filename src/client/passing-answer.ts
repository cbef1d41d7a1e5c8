/**
 * Answers in packages whose parts need not be held: the message is read, and its octets are left to
 * the reader of the value. What always holds:
 *  (1) A package of no more than `heldMax` octets is read to its end first: what is wrong with it
 *      is known before anything is made of it.
 *  (2) Of a longer one the message is held, within the limit of a message, and parts that come
 *      before one that is read first, within the same limit again.
 *  (3) The first octets are asked for at once, so that a package without its parts is no answer.
 *      The last ones end with the package: octets of one that is cut never look whole.
 */

import type { Pieces } from '../base/octets.ts'
import { listEach, PassingOctets, replaceEach } from '../base/passing-octets.ts'
import { limitLength } from '../contract/octet-types.ts'
import { parseMediaType } from '../http/media-type.ts'
import { StreamedPart } from '../soap/codecs/values.ts'
import type { RemainingParts } from '../soap/mime/parts.ts'
import { refuseAnswer } from './opened-answer.ts'
import type { ArrivingOctets, PassingResponses, TransportResponse } from './transport.ts'

const heldMax = 256 * 1024

/** Large packages pass, up to so many octets; what announces less is held. */
export const passPackages = (octetsMax: number): PassingResponses => ({
  mayPass: (status, fields) =>
    status < 300 &&
    parseMediaType(fields['content-type'] ?? '')?.essence === 'multipart/related' &&
    !(Number(fields['content-length'] ?? heldMax + 1) <= heldMax),
  octetsMax,
})

/** (1) All of a response that is small; a longer one with what has come of it in front. */
export async function holdSmallContent(response: TransportResponse): Promise<TransportResponse> {
  const { status, fields, arriving } = response
  if (!arriving) return response
  const pieces = arriving[Symbol.asyncIterator]()
  const held: Uint8Array[] = []
  for (let length = 0; length <= heldMax; ) {
    const next = await pieces.next(false)
    if (next.done) return { status, fields, content: Buffer.concat(held, length) }
    held.push(next.value)
    length += next.value.length
  }
  const { over, drop } = arriving
  const whole: ArrivingOctets = {
    over,
    drop: () => drop.call(arriving),
    [Symbol.asyncIterator]: () => readBehind(held, pieces),
  }
  return { ...response, arriving: whole }
}

async function* readBehind(held: Uint8Array[], pieces: AsyncIterator<Uint8Array, void, boolean | undefined>): Pieces {
  for (let next = held.shift(); next; next = held.shift()) yield next
  for (let next = await pieces.next(false); !next.done; ) next = await pieces.next(yield next.value)
}

/**
 * The value of a message, with octets that pass in place of the parts that have not arrived.
 *
 * @param drop where they are not read to their end
 * @param explain what is thrown to their reader in place of what went wrong
 */
export async function passParts(
  value: unknown,
  parts: RemainingParts,
  drop: () => void,
  explain: (thrown: unknown) => unknown,
): Promise<unknown> {
  const read = (part: StreamedPart) =>
    readToEnd(limitLength(parts.pass(part), part.lengths, refuseCount), drop, explain)
  const [first] = listEach(value, StreamedPart)
  if (!first) {
    await parts.skipRest()
    return value
  }
  const begun = await beginReading(read(first))
  return replaceEach(value, StreamedPart, part => new PassingOctets(() => (part === first ? begun : read(part)), drop))
}

/** (3) */
async function beginReading(pieces: Pieces): Promise<Pieces> {
  const first = await pieces.next()
  async function* all(): Pieces {
    try {
      for (let next = first; !next.done; ) next = await pieces.next(yield next.value)
    } finally {
      await pieces.return()
    }
  }
  return all()
}

const refuseCount = (detail: string): never => refuseAnswer('invalid', detail)

/** Where its reader leaves before the end, the package is dropped. */
async function* readToEnd(pieces: Pieces, drop: () => void, explain: (thrown: unknown) => unknown): Pieces {
  let isWhole = false
  try {
    yield* pieces
    isWhole = true
  } catch (thrown) {
    throw explain(thrown)
  } finally {
    if (!isWhole) drop()
  }
}
