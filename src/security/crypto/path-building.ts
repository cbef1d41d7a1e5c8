/**
 * Paths from a certificate up to an anchor, by names alone (RFC 4158); `path-validation.ts` then
 * judges them. What always holds:
 *  (1) No certificate is on a path twice; a path has at most `pathCertificatesMax`.
 *  (2) Whatever certificates a stranger sends, at most `stepsMax` are examined.
 */

import type { Certificate } from './certificate.ts'
import type { CertificatePath } from './path-validation.ts'

const pathCertificatesMax = 10
const stepsMax = 200

/** Certificates that may be on paths, by the name of their subject. */
export class CertificatePool {
  readonly #bySubject: ReadonlyMap<string, readonly Certificate[]>

  constructor(certificates: Iterable<Certificate>) {
    this.#bySubject = Map.groupBy(certificates, ({ subjectKey }) => subjectKey)
  }

  /** The certificates with this subject, first the one with the wanted key. */
  find(subjectKey: string, keyIdentifier: Buffer | undefined): readonly Certificate[] {
    const found = this.#bySubject.get(subjectKey) ?? []
    if (found.length < 2 || !keyIdentifier) return found
    const hasWantedKey = (each: Certificate) => each.subjectKeyIdentifier?.equals(keyIdentifier) ?? false
    return [...found.filter(hasWantedKey), ...found.filter(each => !hasWantedKey(each))]
  }
}

/** The paths from a certificate to one of the anchors, most likely first. */
export function* walkPaths(
  target: Certificate,
  anchors: CertificatePool,
  between: CertificatePool,
): Generator<CertificatePath> {
  let steps = 0
  function* climb(path: CertificatePath): Generator<CertificatePath> {
    const last = path.at(-1)!
    const identifier = last.extensions.authorityKeyIdentifier
    for (const anchor of anchors.find(last.issuerKey, identifier)) yield [...path, anchor]
    if (path.length + 2 > pathCertificatesMax) return
    for (const next of between.find(last.issuerKey, identifier)) {
      if (++steps > stepsMax) return
      if (!path.some(each => each.der.equals(next.der))) yield* climb([...path, next])
    }
  }
  yield* climb([target])
}
