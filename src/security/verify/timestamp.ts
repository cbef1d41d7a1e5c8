/** WSS SOAP Message Security 1.1 §10: the one Timestamp of a Security block, and whether it is of now. */
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { optionalChild, readInstant, requiredChild, trimmedText } from '../tree/strict-children.ts'
import { CreatedName, ExpiresName, TimestampName } from '../vocabulary.ts'

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
export function verifyTimestamp(block: Element, now: number, { age, skew }: Freshness): Stamped | undefined {
  const element = optionalChild(block, TimestampName)
  if (!element) return undefined
  const created = time(requiredChild(element, CreatedName))
  const expires = optionalChild(element, ExpiresName)
  const until = Math.min(created + age, expires ? time(expires) : Infinity)
  if (until < created) return failSecurity('InvalidSecurity', 'a Timestamp that ends before it begins')
  if (created > now + skew) return failSecurity('MessageExpired', 'a Timestamp of the future')
  if (until <= now) return failSecurity('MessageExpired', 'a Timestamp of the past')
  return { element, until }
}

const time = (element: Element): number =>
  readInstant(trimmedText(element)) ?? failSecurity('InvalidSecurity', 'a Timestamp that is not in the form of one')
