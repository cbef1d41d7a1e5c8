/** What each certificate of an operator's files is trusted for. */

import type { Certificate } from './certificate.ts'

export interface SplitSigners {
  /** Trusted by themselves. */
  readonly authorities: readonly Certificate[]
  /** Trusted as far as a path leads to one of the former, so that a revocation of theirs counts. */
  readonly intermediates: readonly Certificate[]
  /** They may sign themselves. */
  readonly certificates: readonly Certificate[]
}

/**
 * Splits certificates: an authority that another one has issued stands on a path (RFC 5280 §6.1);
 * one that is self-issued, or whose issuer is not here, is where paths end.
 *
 * @param known authorities that are trusted besides
 */
export function splitSigners(found: readonly Certificate[], known: readonly Certificate[]): SplitSigners {
  const own = found.filter(({ x509 }) => x509.ca)
  const all = [...own, ...known]
  const issuersOf = (certificate: Certificate) =>
    all.filter(each => each.subjectKey === certificate.issuerKey && certificate.checkSignature(each) === undefined)
  const isEnd = (certificate: Certificate): boolean =>
    certificate.isSelfIssued || known.includes(certificate) || issuersOf(certificate).length === 0
  /** Authorities that have issued each other in a circle lead nowhere. */
  const leadsOn = (certificate: Certificate, passed: readonly Certificate[] = []): boolean =>
    isEnd(certificate) ||
    issuersOf(certificate).some(each => !passed.includes(each) && leadsOn(each, [...passed, certificate]))
  const { authorities = [], intermediates = [] } = Object.groupBy(own, each =>
    isEnd(each) || !leadsOn(each) ? 'authorities' : 'intermediates',
  )
  return { authorities, intermediates, certificates: found.filter(({ x509 }) => !x509.ca) }
}
