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
import { TransportFailure } from './errors.ts'
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

export interface PassingValue {
  readonly value: unknown
  /** Why its octets did not come whole, as their reader was told; undefined: they did. */
  readonly failure: Promise<unknown>
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
): Promise<PassingValue> {
  const { promise: failure, resolve: settle } = Promise.withResolvers<unknown>()
  const waiting = new Set(listEach(value, StreamedPart))
  const leave = () => {
    drop()
    settle(explain(new TransportFailure('closed', 'its reader went away', { mayHaveRun: true, begun: true })))
  }
  const read = (part: StreamedPart) =>
    readToEnd(limitLength(parts.pass(part), part.lengths, refuseCount), {
      finish: () => {
        waiting.delete(part)
        if (waiting.size === 0) settle(undefined)
      },
      fail: thrown => {
        const reason = explain(thrown)
        settle(reason)
        return reason
      },
      leave,
    })
  const [first] = waiting
  if (!first) {
    await parts.skipRest()
    return { value, failure: Promise.resolve() }
  }
  const begun = await beginReading(read(first))
  const pass = (part: StreamedPart) => new PassingOctets(() => (part === first ? begun : read(part)), leave)
  return { value: replaceEach(value, StreamedPart, pass), failure }
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

/** How the reading of a part ends. */
interface PartEnds {
  readonly finish: () => void
  /** What its reader is told in place of what was thrown. */
  readonly fail: (thrown: unknown) => unknown
  /** The rest of the package is not read. */
  readonly leave: () => void
}
async function* readToEnd(pieces: Pieces, { finish, fail, leave }: PartEnds): Pieces {
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
