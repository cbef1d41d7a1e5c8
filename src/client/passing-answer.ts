/**
 * Answers in packages whose parts need not be held: the message is read, and its octets are left to
 * the reader of the value. What always holds:
 *  (1) A package of no more than `heldMax` octets is read to its end first, so that its errors are
 *      known before it is used.
 *  (2) Of a longer package, the message is held, within the limit of a message, and within the same
 *      limit again the parts that arrive before one that is read first.
 * `soap/mime/passing-parts.ts` says what else holds.
 */

import type { Pieces } from '../base/octets.ts'
import type { ReadingOrder } from '../base/passing-octets.ts'
import { parsePackageType } from '../http/media-type.ts'
import type { RemainingParts } from '../soap/mime/parts.ts'
import { passParts } from '../soap/mime/passing-parts.ts'
import { TransportFailure } from './errors.ts'
import { refuseAnswer } from './opened-answer.ts'
import type { ArrivingOctets, PassingResponses, TransportResponse } from './transport.ts'

const heldMax = 256 * 1024
/** Whether content may be too large to be held, by its Content-Length; without one, it may be. */
export const mayBeLarge = (announced: string | null | undefined): boolean =>
  !(Number(announced ?? heldMax + 1) <= heldMax)

/** Large packages pass, up to this many octets; content that announces less is held. */
export const passPackages = (octetsMax: number): PassingResponses => ({
  mayPass: (status, fields) =>
    status < 300 &&
    parsePackageType(fields['content-type'] ?? '')?.essence === 'multipart/related' &&
    mayBeLarge(fields['content-length']),
  octetsMax,
})

/** (1) All of a small response; a longer one with the start of its content put back. */
export async function holdSmallContent(response: TransportResponse): Promise<TransportResponse> {
  const { status, fields, arriving } = response
  if (!arriving) return response
  const pieces = arriving[Symbol.asyncIterator]()
  const start: Uint8Array[] = []
  for (let length = 0; length <= heldMax; ) {
    const next = await pieces.next(false)
    if (next.done) return { status, fields, content: Buffer.concat(start, length) }
    start.push(next.value)
    length += next.value.length
  }
  const { over, drop } = arriving
  const whole: ArrivingOctets = {
    over,
    drop: () => drop.call(arriving),
    [Symbol.asyncIterator]: () => readBehind(start, pieces),
  }
  return { ...response, arriving: whole }
}

async function* readBehind(start: Uint8Array[], pieces: AsyncIterator<Uint8Array, void, boolean | undefined>): Pieces {
  for (let next = start.shift(); next; next = start.shift()) yield next
  for (let next = await pieces.next(false); !next.done; ) next = await pieces.next(yield next.value)
}

export interface PassingValue {
  readonly value: unknown
  /** Why its octets did not arrive completely, as their reader was told; undefined: they did. */
  readonly failure: Promise<unknown>
}

/**
 * The value of an answer, with passing octets in place of the parts that have not arrived.
 *
 * @param reading how they will be read
 * @param drop called if they are not read to their end
 * @param explain turns an error of the source into the one that their reader gets
 */
export async function passAnswerParts(
  value: unknown,
  parts: RemainingParts,
  reading: ReadingOrder,
  drop: () => void,
  explain: (thrown: unknown) => unknown,
): Promise<PassingValue> {
  const { promise: failure, resolve: settle } = Promise.withResolvers<unknown>()
  const passing = await passParts(value, parts, reading, {
    finish: () => settle(undefined),
    fail: thrown => {
      const reason = explain(thrown)
      settle(reason)
      return reason
    },
    leave: () => {
      drop()
      settle(explain(new TransportFailure('closed', 'its reader went away', { mayHaveRun: true, begun: true })))
    },
    refuseCount: detail => refuseAnswer('invalid', detail),
  })
  return { value: passing, failure }
}
