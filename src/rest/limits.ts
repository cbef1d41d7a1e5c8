/** What one request may cost, and how much a face remembers. */

import type { Operation } from '../contract/operation.ts'
import { frontLimits } from '../front/front-rows.ts'

export const restLimits = {
  ...frontLimits,
  /** Octets of content, unless the contract gives a file another limit. */
  contentOctets: 1024 * 1024,
  /**
   * Content with more octets is read only after target and precondition are checked (rows 22–24).
   */
  eagerOctets: 16 * 1024,
  /** Longer content is compressed outside the event loop. */
  codedAtOnceOctets: 64 * 1024,
  /** Items of one page. */
  pageItems: 100,
  /** A page ends once its stored items reach this many octets; the next link continues. */
  pageOctets: 4 * 1024 * 1024,
  /** Seconds that `Prefer: wait` may delay a response: proxies give up after sixty. */
  waitSeconds: 30,
  /** Characters of an idempotency key: twice the longest that known clients create. */
  keyCharacters: 255,
  /** Criteria sent as content have an address if they take no more of it; links add to it. */
  criteriaCharacters: 4 * 1024,
  /** Query parameters of one request. */
  parameters: 100,
  /** Documents of one item: editions, addresses, and sets of links. */
  documentsKept: 8,
  /** Pages of collections. */
  pagesKept: 256,
  /** For a page that is kept: octets of its items as they are stored. */
  keptPageOctets: 128 * 1024,
  /** Variants that have tags. */
  variantsKept: 10_000,
  /** Octets of compressed content. */
  codedOctetsKept: 16 * 1024 * 1024,
} as const

/** @param mediaType of the content, with or without parameters */
export function contentLimitOf(operation: Operation | undefined, mediaType = ''): number {
  if (operation?.kind === 'putFile') return operation.file.max
  const passingMax = operation?.kind === 'exchange' && isFormType(mediaType) ? operation.exchange.passingMax : undefined
  return passingMax ?? restLimits.contentOctets
}
const isFormType = (mediaType: string): boolean => /^multipart\/form-data[ \t]*(?:;|$)/i.test(mediaType)
