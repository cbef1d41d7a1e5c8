/** Entity tags of representations (RFC 9110 §8.8.3). */
import type { Exchange } from './exchange.ts'

/** Everything that a tag must distinguish besides the version of the state. */
export function variantKey(
  exchange: Exchange,
  mask: number | string,
  coding: string,
  offer = exchange.head.offer,
): string {
  const only = exchange.parameters.only ? [...exchange.parameters.only].join() : '*'
  const variant = `${exchange.edition.version} ${exchange.base} ${offer?.type ?? ''} ${only} ${mask} ${coding}`
  return offer?.write === 'page' ? `${variant} ${visitorKey(exchange)}` : variant
}

/** A page names its reader and what they may do. */
const visitorKey = ({ caller: { subject, roles, claims } }: Exchange): string =>
  JSON.stringify([subject ?? null, roles, claims])

/**
 * Entity tags: `"<version>-<h>"`, strong. h distinguishes media type, selected fields, content
 * coding, the links that this caller sees and the version of the contract, so that no two
 * representations of one state share a tag (RFC 9110 §8.8.3.3).
 * @param version of the state: a number that is never used twice for its key, or a digest of the
 * content
 */
export const representationTag = (
  exchange: Exchange,
  version: number | string,
  mask: number | string,
  coding: string,
  offer = exchange.head.offer,
): string => `"${version}-${exchange.face.memory.variantTag(variantKey(exchange, mask, coding, offer))}"`

/** Only the version, for retrying a change: no representation has this tag. */
export const fileVersionTag = (version: number): string => `"${version}-v"`
