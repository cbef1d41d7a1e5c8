/**
 * Which certificates are trusted. What always holds, by number:
 *  (1) A certificate is trusted because it is pinned here, or because a path of at most
 *      `pathCertificatesMax` certificates leads from it to an authority that is configured here.
 *      That it came with a message counts for nothing.
 *  (2) Every certificate of the path is valid now and not revoked, has no unknown critical
 *      extension, and is not signed with SHA-1 or MD5; every issuer is a CA, within its path
 *      length. The certificate itself may sign.
 *  (3) Only trusted certificates are remembered, and a bounded number of them: a stranger's
 *      certificate is checked anew each time, and occupies no memory.
 */

import { attempt } from '../../base/attempt.ts'
import { BoundedCache } from '../../base/memo.ts'
import { Certificate, type DistinguishedName, isCertificateError, sameDistinguishedName } from './certificate.ts'

export interface Anchors {
  /** PEM or DER of authorities, roots or intermediates, which make trusted what they issued. */
  readonly authorities?: readonly (string | Uint8Array)[]
  /**
   * PEM or DER of pinned certificates; messages may also name them by thumbprint, key identifier,
   * or issuer and serial number.
   */
  readonly certificates?: readonly (string | Uint8Array)[]
  /** Whether a certificate is revoked; asked at every use. */
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

const pathCertificatesMax = 5
const pathsRemembered = 1000

export class CertificateTrust {
  readonly #authorities: readonly Certificate[]
  readonly #pinned: readonly Certificate[]
  readonly #revoked: (certificate: Certificate) => boolean
  readonly #paths = new BoundedCache<string, CertificatePath>(pathsRemembered)

  /** @throws Error when one of them is not a certificate */
  constructor(anchors: Anchors) {
    this.#authorities = (anchors.authorities ?? []).map(source => new Certificate(source))
    this.#pinned = (anchors.certificates ?? []).map(source => new Certificate(source))
    this.#revoked = anchors.revoked ?? (() => false)
  }

  /** Whether it trusts no certificate at all. */
  get isEmpty(): boolean {
    return this.#authorities.length + this.#pinned.length === 0
  }

  /**
   * The certificate in these octets, if it is trusted at this time.
   * @param others certificates that came with it and may be on its path
   */
  findTrusted(der: Buffer, now: number, others: readonly Buffer[] = []): Certificate | undefined {
    const key = der.toString('latin1')
    let path = this.#paths.get(key)
    if (!path) {
      path = this.#findPath(der, others)
      if (!path) return undefined
      this.#paths.set(key, path)
    }
    if (now < path.notBefore || now >= path.notAfter || path.certificates.some(this.#revoked)) return undefined
    return path.certificates[0]
  }

  /** The pinned certificate that a reference names. */
  findPinned(reference: CertificateReference): Certificate | undefined {
    return this.#pinned.find(certificate => findNamed(certificate, reference))
  }

  #findPath(der: Buffer, others: readonly Buffer[]): CertificatePath | undefined {
    const first = parseCertificate(der)
    if (!first?.maySign || !first.isUnderstood) return undefined
    const certificates = this.#pinned.some(pinned => pinned.der.equals(der))
      ? [first]
      : this.#findIssuers(first, others)
    return (
      certificates && {
        certificates,
        notBefore: Math.max(...certificates.map(({ notBefore }) => notBefore)),
        notAfter: Math.min(...certificates.map(({ notAfter }) => notAfter)),
      }
    )
  }

  /** RFC 5280 §6.1, without policies and name constraints, which are critical and so refuse. */
  #findIssuers(first: Certificate, others: readonly Buffer[]): Certificate[] | undefined {
    const between = others.slice(0, pathCertificatesMax - 2).flatMap(der => parseCertificate(der) ?? [])
    return this.#findAbove(first, 0, between)
  }

  /**
   * The path from here up, through these certificates at most. A key that came with the message is
   * used only once a path leads to it.
   */
  #findAbove(last: Certificate, below: number, between: readonly Certificate[]): Certificate[] | undefined {
    if (weakAlgorithms.has(last.signatureAlgorithm)) return undefined
    const anchor = this.#authorities.find(
      authority => isIssuedBy(last, authority, below) && isSignedBy(last, authority),
    )
    if (anchor) return [last, anchor]
    for (const one of between) {
      if (!one.isUnderstood || !isIssuedBy(last, one, below)) continue
      const rest = this.#findAbove(
        one,
        below + 1,
        between.filter(other => other !== one),
      )
      if (rest && isSignedBy(last, one)) return [last, ...rest]
    }
    return undefined
  }
}

/** RSA with MD2, MD5 and SHA-1, DSA and ECDSA with SHA-1. */
const weakAlgorithms = new Set([
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
])

/** Whether the issuer's name, key identifier, usage and path length fit. */
const isIssuedBy = (certificate: Certificate, issuer: Certificate, below: number): boolean =>
  issuer.mayIssue(below) && certificate.x509.checkIssued(issuer.x509)

const isSignedBy = (certificate: Certificate, issuer: Certificate): boolean => certificate.x509.verify(issuer.key)

export function findNamed(certificate: Certificate, reference: CertificateReference): boolean {
  if (reference.by === 'issuer-serial') {
    return certificate.serial === reference.serial && sameDistinguishedName(certificate.issuer, reference.issuer)
  }
  if (reference.by === 'thumbprint') return certificate.thumbprint.equals(reference.value)
  return certificate.subjectKeyIdentifier?.equals(reference.value) ?? false
}

/** Octets that are not a certificate are not trusted. */
const parseCertificate = (der: Buffer): Certificate | undefined =>
  attempt(() => new Certificate(der), isCertificateError)
