/**
 * Whose certificates are believed. What always holds, by number:
 *  (1) A certificate is trusted because it is pinned here, or because a path of at most `longest` certificates leads from it to
 *      an authority configured here. That it came with a message counts for nothing.
 *  (2) Of every certificate on the path: valid now, not revoked, no critical extension unknown, not signed with SHA-1 or MD5;
 *      of every issuer: a CA, within its path length. The certificate itself may sign.
 *  (3) Only trusted certificates are remembered, and a bounded number: a stranger's cost is paid again, and kept nowhere.
 */

import { attempt } from '../../base/attempt.ts'
import { BoundedCache } from '../../base/memo.ts'
import { Certificate, type DistinguishedName, isCertificateError, sameDistinguishedName } from './certificate.ts'

export interface Anchors {
  /** PEM or DER of authorities, roots or intermediates: what they have issued is trusted. */
  readonly authorities?: readonly (string | Uint8Array)[]
  /** PEM or DER of certificates that are trusted themselves; also found by thumbprint, key identifier, or issuer and serial. */
  readonly certificates?: readonly (string | Uint8Array)[]
  /** Whether a certificate has been withdrawn; asked at every use. */
  readonly revoked?: (certificate: Certificate) => boolean
}

/** A way to name a certificate without carrying it (X.509 Token Profile 1.1 §3.2). */
export type CertificateReference =
  | { readonly by: 'issuer-serial'; readonly issuer: DistinguishedName; readonly serial: bigint }
  | { readonly by: 'thumbprint' | 'key-identifier'; readonly value: Buffer }

interface CertificatePath {
  readonly certificates: readonly Certificate[]
  readonly notBefore: number
  readonly notAfter: number
}

const longest = 5
const remembered = 1000

export class CertificateTrust {
  private readonly authorities: readonly Certificate[]
  private readonly pinned: readonly Certificate[]
  private readonly revoked: (certificate: Certificate) => boolean
  private readonly paths = new BoundedCache<string, CertificatePath>(remembered)

  /** @throws Error when one of them is no certificate */
  constructor(anchors: Anchors) {
    this.authorities = (anchors.authorities ?? []).map(source => new Certificate(source))
    this.pinned = (anchors.certificates ?? []).map(source => new Certificate(source))
    this.revoked = anchors.revoked ?? (() => false)
  }

  /** Whether anything can be trusted at all. */
  get empty(): boolean {
    return this.authorities.length + this.pinned.length === 0
  }

  /** The certificate in these octets, if it is trusted at this time. @param others that came with it and may be on the path */
  trusted(der: Buffer, now: number, others: readonly Buffer[] = []): Certificate | undefined {
    const key = der.toString('latin1')
    let path = this.paths.get(key)
    if (!path) {
      path = this.path(der, others)
      if (!path) return undefined
      this.paths.set(key, path)
    }
    if (now < path.notBefore || now >= path.notAfter || path.certificates.some(this.revoked)) return undefined
    return path.certificates[0]
  }

  /** The certificate that this names, among the pinned ones. */
  find(reference: CertificateReference): Certificate | undefined {
    return this.pinned.find(certificate => findNamed(certificate, reference))
  }

  private path(der: Buffer, others: readonly Buffer[]): CertificatePath | undefined {
    const first = parsed(der)
    if (!first?.signs || !first.understood) return undefined
    const certificates = this.pinned.some(pinned => pinned.der.equals(der)) ? [first] : this.issued(first, others)
    return (
      certificates && {
        certificates,
        notBefore: Math.max(...certificates.map(({ notBefore }) => notBefore)),
        notAfter: Math.min(...certificates.map(({ notAfter }) => notAfter)),
      }
    )
  }

  /** RFC 5280 §6.1, without policies and name constraints (which are critical, and so refuse). */
  private issued(first: Certificate, others: readonly Buffer[]): Certificate[] | undefined {
    const between = others.slice(0, longest - 2).flatMap(der => parsed(der) ?? [])
    return this.above(first, 0, between)
  }

  /** The path from here up, through these at most; a key that came along is used when there is a path to it, and not before. */
  private above(last: Certificate, below: number, between: readonly Certificate[]): Certificate[] | undefined {
    if (weak.has(last.signatureAlgorithm)) return undefined
    const anchor = this.authorities.find(authority => issued(last, authority, below) && signedBy(last, authority))
    if (anchor) return [last, anchor]
    for (const one of between) {
      if (!one.understood || !issued(last, one, below)) continue
      const rest = this.above(
        one,
        below + 1,
        between.filter(other => other !== one),
      )
      if (rest && signedBy(last, one)) return [last, ...rest]
    }
    return undefined
  }
}

/** RSA with MD2, MD5 and SHA-1, DSA and ECDSA with SHA-1. */
const weak = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
])

/** Whether the issuer's name, key identifier, usage and path length fit. */
const issued = (certificate: Certificate, issuer: Certificate, below: number): boolean =>
  issuer.issues(below) && certificate.x509.checkIssued(issuer.x509)

const signedBy = (certificate: Certificate, issuer: Certificate): boolean => certificate.x509.verify(issuer.key)

export function findNamed(certificate: Certificate, reference: CertificateReference): boolean {
  if (reference.by === 'issuer-serial') {
    return certificate.serial === reference.serial && sameDistinguishedName(certificate.issuer, reference.issuer)
  }
  if (reference.by === 'thumbprint') return certificate.thumbprint.equals(reference.value)
  return certificate.subjectKeyIdentifier?.equals(reference.value) ?? false
}

/** Octets that are not a certificate are not trusted. */
const parsed = (der: Buffer): Certificate | undefined => attempt(() => new Certificate(der), isCertificateError)
