/**
 * The names in a certificate (RFC 5280 §4.2.1.6): alternative names of a person or a program, else
 * its common name. The certificate, and the peer's possession of its key, have been verified
 * before.
 */

import { X509Certificate } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'

export interface CertificateNames {
  /** In the order of the certificate. */
  readonly names: readonly string[]
  /** Validity, in milliseconds since 1970. */
  readonly from: number
  readonly until: number
}

/** Undefined for octets that are not a certificate. */
export function readCertificateNames(der: Uint8Array): CertificateNames | undefined {
  const certificate = attempt(() => new X509Certificate(der), isCryptoError)
  if (!certificate) return undefined
  const alternative = splitAlternatives(certificate.subjectAltName ?? '')
  return {
    names: alternative.length > 0 ? alternative : commonNames(certificate),
    from: certificate.validFromDate.getTime(),
    until: certificate.validToDate.getTime(),
  }
}

/** Node writes `email:a@b.c, URI:urn:x, DNS:y`, and quotes an ambiguous name as JSON. */
function splitAlternatives(text: string): string[] {
  const found: string[] = []
  for (const [, kind, quoted, plain] of text.matchAll(/(?:^|, )(\w[\w ]*):(?:("(?:[^"\\]|\\.)*")|([^,]*))/g))
    if (kind === 'email' || kind === 'URI' || kind === 'DNS') found.push(quoted ? JSON.parse(quoted) : (plain ?? ''))
  return found.filter(name => name !== '')
}

/** A common name with a line break tries to pass for several: it is dropped. */
function commonNames({ subject }: X509Certificate): string[] {
  const names = subject.split('\n').filter(line => line.startsWith('CN='))
  return names.length === 1 ? names.map(name => name.slice(3)) : []
}
