/**
 * START HERE for certificates: whether a path leads from a certificate to an anchor, and holds (RFC
 * 5280 §6). Paths are found by names (`path-building.ts`), validated from the anchor down
 * (`path-validation.ts`), and checked for revocation from the top down (`revocation.ts`).
 */

import { attempt } from '../../base/attempt.ts'
import { Certificate, isCertificateError } from './certificate.ts'
import { type DistributionPoint, KeyUsage } from './certificate-extensions.ts'
import { parseRevocationList, type RevocationList } from './crl.ts'
import { CertificatePool, walkPaths } from './path-building.ts'
import { type CertificatePath, checkPath, describeCertificate, type PathRules } from './path-validation.ts'
import { RevocationLists } from './revocation.ts'

/**
 * The treatment of a certificate that no fresh CRL covers: refuse it, or accept it unless a list
 * revokes it.
 */
export type RevocationMode = 'required' | 'ifKnown'

export interface PathSearch {
  readonly anchors: CertificatePool
  /** Certificates that may be on the path. */
  readonly between: CertificatePool
  /** Certificates outside a path that may have signed CRLs. */
  readonly signers: CertificatePool
  readonly rules: PathRules
  /** Undefined: revocation is not checked. */
  readonly lists: RevocationLists | undefined
  readonly revocation: RevocationMode
  readonly now: number
}

/** The first path that holds; otherwise, why none does. */
export function findPath(target: Certificate, search: PathSearch): CertificatePath | string {
  return findPathBetween(target, search, [])
}

/** @param visited the certificates whose paths are being sought, the first one first */
function findPathBetween(
  target: Certificate,
  search: PathSearch,
  visited: readonly Certificate[],
): CertificatePath | string {
  let reason: string | undefined
  for (const path of walkPaths(target, search.anchors, search.between)) {
    const problem = checkPath(path, search.rules, search.now) ?? checkRevocation(path, search, visited)
    if (problem === undefined) return path
    reason ??= problem
  }
  return reason ?? `${describeCertificate(target)}: no path leads from it to a trusted authority`
}

/** RFC 5280 §6.1.3 a 3, for each certificate below the anchor. */
function checkRevocation(
  path: CertificatePath,
  search: PathSearch,
  visited: readonly Certificate[],
): string | undefined {
  for (let at = path.length - 2; at >= 0; at--) {
    const problem = checkListed(path, at, search, visited)
    if (problem) return problem
  }
  return undefined
}

/** The same check for one certificate of a path, once those above it hold. */
export function checkListed(
  path: CertificatePath,
  at: number,
  search: PathSearch,
  visited: readonly Certificate[] = [],
): string | undefined {
  const { lists, revocation, now } = search
  if (!lists) return undefined
  const certificate = path[at]!
  const above = path.slice(at + 1)
  const find = (list: RevocationList, point: DistributionPoint) =>
    findSigner(list, point, { certificate, above, search, visited: [...visited, certificate] })
  const { status, reason } = lists.check(certificate, find, now)
  return status === 'revoked' || (status === 'unknown' && revocation === 'required')
    ? `${describeCertificate(certificate)}: ${reason}`
    : undefined
}

/**
 * Whether a list of a configured authority revokes a certificate that is trusted without a path: no
 * fresh list is needed, and the authority's own certificate is not checked.
 */
export function isListed(
  certificate: Certificate,
  lists: RevocationLists,
  signers: CertificatePool,
  now: number,
): boolean {
  return lists.check(certificate, list => findListSigner(list, signers), now).status === 'revoked'
}

/** The one of these certificates that signed a list and may do so; its own path is not checked. */
export const findListSigner = (list: RevocationList, signers: CertificatePool): Certificate | undefined =>
  signers
    .find(list.issuerKey, list.authorityKeyIdentifier)
    .find(signer => mayList(signer) && list.checkSignature(signer) === undefined)

interface SignerQuestion {
  readonly certificate: Certificate
  /** The certificates above it, none of which is revoked. */
  readonly above: readonly Certificate[]
  readonly search: PathSearch
  readonly visited: readonly Certificate[]
}

const visitedMax = 4

/** §6.3.3 f, g: a path to the same anchor, cRLSign, and the signature. */
function findSigner(
  list: RevocationList,
  { crlIssuer }: DistributionPoint,
  { certificate, above, search, visited }: SignerQuestion,
): Certificate | undefined {
  const others = search.signers.find(list.issuerKey, list.authorityKeyIdentifier)
  const candidates = [...above.filter(({ subjectKey }) => subjectKey === list.issuerKey), ...others]
  const anchors = new CertificatePool([above.at(-1)!])
  const holds = (signer: Certificate): boolean => {
    if (above.includes(signer)) return true
    // A certificate may sign the list that covers it only if its issuer names it as the signer of
    // that list.
    if (signer === certificate) return crlIssuer !== undefined
    if (visited.includes(signer) || visited.length >= visitedMax) return false
    return typeof findPathBetween(signer, { ...search, anchors, rules: {} }, visited) !== 'string'
  }
  return candidates.find(signer => mayList(signer) && list.checkSignature(signer) === undefined && holds(signer))
}

const mayList = ({ extensions: { keyUsage } }: Certificate): boolean => !keyUsage || keyUsage.has(KeyUsage.cRLSign)

/** A certificate and everything needed to validate it, as octets: DER, or PEM. */
export interface PathQuestion extends PathRules {
  readonly certificate: string | Uint8Array
  readonly intermediates?: readonly (string | Uint8Array)[]
  readonly anchors: readonly (string | Uint8Array)[]
  /** DER. */
  readonly crls?: readonly Uint8Array[]
  /** Default: required. */
  readonly revocation?: RevocationMode
  readonly at: Date
}

/** Whether a path holds, and if not, which step of RFC 5280 §6 it fails. */
export type PathAnswer = { readonly valid: true } | { readonly valid: false; readonly reason: string }

/**
 * RFC 5280 §6: whether a path leads from this certificate to one of the anchors, and is valid at
 * this time, with revocation only by these CRLs.
 */
export function validateCertificationPath(question: PathQuestion): PathAnswer {
  const { intermediates = [], crls = [], revocation = 'required', at } = question
  const target = parseCertificate(question.certificate)
  if (!target) return { valid: false, reason: 'the certificate cannot be read' }
  const between = new CertificatePool(intermediates.flatMap(each => parseCertificate(each) ?? []))
  const found = findPath(target, {
    anchors: new CertificatePool(question.anchors.flatMap(each => parseCertificate(each) ?? [])),
    between,
    signers: between,
    rules: question,
    lists: new RevocationLists(crls.flatMap(each => parseRevocationList(Buffer.from(each)) ?? [])),
    revocation,
    now: at.getTime(),
  })
  return typeof found === 'string' ? { valid: false, reason: found } : { valid: true }
}

/** Undefined for octets that are not a certificate. */
export const parseCertificate = (source: string | Uint8Array): Certificate | undefined =>
  attempt(() => new Certificate(source), isCertificateError)
