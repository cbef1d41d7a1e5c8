/** WSS SOAP Message Security 1.1 §10: the one Timestamp of a Security block, and whether it is of now. */
import type { Element } from '../../xml/index.ts'
import { fail } from '../security-fault.ts'
import { instant, optional, required, trimmed } from '../tree/strict-children.ts'
import { Created, Expires, Timestamp } from '../vocabulary.ts'

export interface Freshness {
  /** Milliseconds that a message may be old, whatever it says of itself; replays are remembered so long. */
  readonly age: number
  /** Milliseconds that the clocks of a sender may be ahead. */
  readonly skew: number
}

export const freshness: Freshness = { age: 300_000, skew: 60_000 }

export interface Stamped {
  readonly element: Element
  /** When the message stops being taken, in milliseconds since 1970. */
  readonly until: number
}

/** The Timestamp, if there is one, and of now. Its own Expires can only shorten its life. */
export function stamped(block: Element, now: number, { age, skew }: Freshness): Stamped | undefined {
  const element = optional(block, Timestamp)
  if (!element) return undefined
  const created = time(required(element, Created))
  const expires = optional(element, Expires)
  const until = Math.min(created + age, expires ? time(expires) : Infinity)
  if (until < created) return fail('InvalidSecurity', 'a Timestamp that ends before it begins')
  if (created > now + skew) return fail('MessageExpired', 'a Timestamp of the future')
  if (until <= now) return fail('MessageExpired', 'a Timestamp of the past')
  return { element, until }
}

const time = (element: Element): number =>
  instant(trimmed(element)) ?? fail('InvalidSecurity', 'a Timestamp that is not in the form of one')
