/**
 * Whom a certificate identifies: the names in it of the one kind that the settings choose (RFC 5280
 * §4.1.2.6, §4.2.1.6). Names of other kinds count for nothing: an authority that checks domains,
 * for example, may write any text as an e-mail address. The certificate, and the peer's possession
 * of its key, have been verified before.
 */

import { X509Certificate } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'

/** `commonName` of the subject; the others are subjectAltNames. */
export const certificateNameKinds = ['commonName', 'email', 'dns', 'uri'] as const
export type CertificateNameKind = (typeof certificateNameKinds)[number]

export interface CertificateNames {
  /** In the order in which the certificate has them. */
  readonly names: readonly string[]
  /** Validity, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

/** Undefined for octets that are not a certificate. */
export function readCertificateNames(der: Uint8Array, kind: CertificateNameKind): CertificateNames | undefined {
  const certificate = attempt(() => new X509Certificate(der), isCryptoError)
  if (!certificate) return undefined
  return {
    names: kind === 'commonName' ? commonNames(certificate) : alternativeNames(certificate, kind),
    from: certificate.validFromDate.getTime(),
    until: certificate.validToDate.getTime(),
  }
}

/** Node writes `email:a@b.c, URI:urn:x, DNS:y`, and quotes an ambiguous name as JSON. */
function alternativeNames({ subjectAltName = '' }: X509Certificate, kind: CertificateNameKind): string[] {
  const found: string[] = []
  const pattern = /(?:^|, )(\w[\w ]*):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g
  for (const [, label = '', quoted, plain] of (subjectAltName ?? '').matchAll(pattern))
    if (label.toLowerCase() === kind) found.push(quoted ? JSON.parse(quoted) : (plain ?? ''))
  return found.filter(name => name !== '')
}

/** A common name with a line break tries to pass for several names, so it is dropped. */
function commonNames({ subject }: X509Certificate): string[] {
  const names = subject.split('\n').filter(line => line.startsWith('CN='))
  return names.length === 1 ? names.map(name => name.slice(3)) : []
}
