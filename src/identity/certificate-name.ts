/**
 * For whom a certificate speaks: the names of one kind in it (RFC 5280 §4.1.2.6, §4.2.1.6), which
 * the settings choose. An authority that proves domains, say, may write any text into an e-mail
 * address, so names of other kinds count for nothing. The certificate, and the peer's possession of
 * its key, have been verified before.
 */

import { X509Certificate } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'

/** `commonName` of the subject; the others are subjectAltNames. */
export const certificateNameKinds = ['commonName', 'email', 'dns', 'uri'] as const
export type CertificateNameKind = (typeof certificateNameKinds)[number]

export interface CertificateNames {
  /** In the order of the certificate. */
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

/** A common name with a line break tries to pass for several: it is dropped. */
function commonNames({ subject }: X509Certificate): string[] {
  const names = subject.split('\n').filter(line => line.startsWith('CN='))
  return names.length === 1 ? names.map(name => name.slice(3)) : []
}
