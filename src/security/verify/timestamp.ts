/**
 * WSS SOAP Message Security 1.1 §10: the one Timestamp of a Security block, and whether it is
 * currently valid.
 */
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { optionalChild, readInstant, requiredChild, trimmedText } from '../tree/strict-children.ts'
import { CreatedName, ExpiresName, SignatureConfirmationName, TimestampName } from '../vocabulary.ts'

/** How old a Timestamp may be, and how far ahead (WSS 1.1 §10). */
export interface Freshness {
  /** The greatest age of a message in milliseconds; replays are remembered for this long. */
  readonly age: number
  /** How many milliseconds a sender's clock may be ahead. */
  readonly skew: number
}

/** Five minutes old at most, a minute ahead at most. */
export const defaultFreshness: Freshness = { age: 300_000, skew: 60_000 }

export interface VerifiedTimestamp {
  readonly element: Element
  /** When it was created, in milliseconds since 1970. */
  readonly created: number
  /** When the message expires, in milliseconds since 1970. */
  readonly until: number
}

/**
 * The Timestamp, if there is one; refuses one that is not valid now. Its Expires can only shorten
 * its life.
 */
export function verifyTimestamp(block: Element, now: number, { age, skew }: Freshness): VerifiedTimestamp | undefined {
  const element = optionalChild(block, TimestampName)
  if (!element) return undefined
  const created = readTimestampInstant(requiredChild(element, CreatedName))
  const expires = optionalChild(element, ExpiresName)
  requireNothingElse(element, expires)
  const until = Math.min(created + age, expires ? readTimestampInstant(expires) : Infinity)
  if (until < created) return failSecurity('InvalidSecurity', 'a Timestamp that ends before it begins')
  if (created > now + skew) return failSecurity('MessageExpired', 'a Timestamp in the future')
  if (until <= now) return failSecurity('MessageExpired', 'an expired Timestamp')
  return { element, created, until }
}

/** WS-I Basic Security Profile 1.1 R3221, R3222: Created, then Expires. */
function requireNothingElse(stamp: Element, expires: Element | undefined): void {
  const [, second, another] = stamp.elements()
  if (second !== expires || another || stamp.text.trim() !== '')
    failSecurity('InvalidSecurity', 'a Timestamp with something other than Created and then Expires')
}

/**
 * Whether a block only states when its message is valid, and that no signature is confirmed (WSS
 * §8.5): it proves nothing, but is understood.
 */
export const isTimestampAlone = (block: Element): boolean =>
  block.elements().every(({ name }) => name === TimestampName || name === SignatureConfirmationName)

const readTimestampInstant = (element: Element): number =>
  readInstant(trimmedText(element)) ?? failSecurity('InvalidSecurity', 'a Timestamp in an invalid form')
