/** Decides what each certificate in an operator's files is trusted for. */

import type { Certificate } from './certificate.ts'

export interface SplitSigners {
  /** Trusted by themselves. */
  readonly authorities: readonly Certificate[]
  /** Trusted only through a path to one of the authorities, so that their revocation counts. */
  readonly intermediates: readonly Certificate[]
  /** Trusted to sign messages themselves. */
  readonly certificates: readonly Certificate[]
}

/**
 * Splits certificates: an authority issued by another one is an intermediate (RFC 5280 §6.1); an
 * authority that is self-issued, or whose issuer is not here, ends a path.
 *
 * @param known further trusted authorities
 */
export function splitSigners(found: readonly Certificate[], known: readonly Certificate[]): SplitSigners {
  const ownAuthorities = found.filter(({ x509 }) => x509.ca)
  const all = [...ownAuthorities, ...known]
  const issuersOf = (certificate: Certificate) =>
    all.filter(each => each.subjectKey === certificate.issuerKey && certificate.checkSignature(each) === undefined)
  const isEnd = (certificate: Certificate): boolean =>
    certificate.isSelfIssued || known.includes(certificate) || issuersOf(certificate).length === 0
  /** Authorities that have issued each other in a circle do not lead to an anchor. */
  const leadsOn = (certificate: Certificate, passed: readonly Certificate[] = []): boolean =>
    isEnd(certificate) ||
    issuersOf(certificate).some(each => !passed.includes(each) && leadsOn(each, [...passed, certificate]))
  const { authorities = [], intermediates = [] } = Object.groupBy(ownAuthorities, each =>
    isEnd(each) || !leadsOn(each) ? 'authorities' : 'intermediates',
  )
  return { authorities, intermediates, certificates: found.filter(({ x509 }) => !x509.ca) }
}
