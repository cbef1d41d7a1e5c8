/**
 * Which certificates are trusted. What always holds, by number:
 *  (1) A certificate is trusted because it is pinned here, or because a path leads from it to an
 *      authority that is configured here and holds (RFC 5280 §6). That it came with a message
 *      counts for nothing.
 *  (2) It may sign, and is for a purpose that is named here unless it names none.
 *  (3) Only trusted certificates are remembered, and a bounded number of them: a stranger's
 *      certificate is checked anew each time, and occupies no memory.
 *  (4) What is remembered holds as long as no certificate of the path and no CRL begins or ends,
 *      and the CRLs are the same.
 */

import { BoundedCache } from '../../base/memo.ts'
import type { Certificate } from './certificate.ts'
import { findPath, isListed, type PathSearch, parseCertificate, type RevocationMode } from './certification-path.ts'
import { type DistinguishedName, sameDistinguishedName } from './distinguished-name.ts'
import {
  type CertificateSource,
  type CrlSource,
  type OneOrMore,
  readCertificateList,
  readCrlList,
} from './key-source.ts'
import { CertificatePool } from './path-building.ts'
import { checkPinned, type PathRules } from './path-validation.ts'
import { RevocationLists } from './revocation.ts'

/** The purposes that have names here (RFC 5280 §4.2.1.12, RFC 9336); others are identifiers. */
const purposeIdentifiers = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  documentSigning: '1.3.6.1.5.5.7.3.36',
} as const
/** A name, or an object identifier such as `1.3.6.1.5.5.7.3.2`. */
export type CertificatePurpose = keyof typeof purposeIdentifiers | `${number}.${string}`

export interface Anchors {
  /** Authorities, roots or intermediates, which make trusted what they issued. */
  readonly authorities?: OneOrMore<CertificateSource>
  /** Authorities that are trusted only as far as a path leads to one of `authorities`. */
  readonly intermediates?: OneOrMore<CertificateSource>
  /**
   * Pinned certificates; messages may also name them by thumbprint, key identifier, or issuer and
   * serial number.
   */
  readonly certificates?: OneOrMore<CertificateSource>
  /** Revocation lists of the authorities. */
  readonly crls?: OneOrMore<CrlSource>
  /**
   * What to do about a certificate of whose state no fresh CRL tells. Default: `required` where
   * there are CRLs, which refuses it; `ifKnown` accepts it unless a list has revoked it.
   */
  readonly revocation?: RevocationMode
  /**
   * The purposes that a certificate may be for (RFC 5280 §4.2.1.12). Default: none, so that one
   * with an extendedKeyUsage has to name anyExtendedKeyUsage.
   */
  readonly purposes?: readonly CertificatePurpose[]
  /** Object identifiers of policies, one of which has to hold along the path. Default: any. */
  readonly certificatePolicies?: readonly string[]
  /** Whether a certificate is revoked; asked at every use, of each certificate of the path. */
  readonly revoked?: (certificate: Certificate) => boolean
}

/** What an operator's files give, in addition: the lists as they are now. */
export type CurrentLists = () => RevocationLists | undefined

/** A way to name a certificate without carrying it (X.509 Token Profile 1.1 §3.2). */
export type CertificateReference =
  | { readonly by: 'issuer-serial'; readonly issuer: DistinguishedName; readonly serial: bigint }
  | { readonly by: 'thumbprint' | 'key-identifier'; readonly value: Buffer }

interface TrustedPath {
  readonly certificates: readonly [Certificate, ...Certificate[]]
  readonly lists: RevocationLists | undefined
  /** Milliseconds since 1970; both are within. */
  readonly from: number
  readonly until: number
}

const carriedMax = 5
const pathsRemembered = 1000

export class CertificateTrust {
  readonly #authorities: readonly Certificate[]
  readonly #intermediates: readonly Certificate[]
  readonly #pinned: readonly Certificate[]
  readonly #anchorPool: CertificatePool
  readonly #signerPool: CertificatePool
  readonly #currentLists: CurrentLists
  readonly #revocation: RevocationMode
  readonly #rules: PathRules
  readonly #revoked: (certificate: Certificate) => boolean
  readonly #paths = new BoundedCache<string, TrustedPath>(pathsRemembered)

  /**
   * @param place of these settings, for errors
   * @param currentLists CRLs that change, in place of `anchors.crls`
   * @throws TypeError when one of them is not a certificate or a CRL, or `revocation` has no CRL
   */
  constructor(anchors: Anchors, place = 'trust', currentLists?: CurrentLists) {
    this.#authorities = readCertificateList(anchors.authorities, `${place}.authorities`)
    this.#intermediates = readCertificateList(anchors.intermediates, `${place}.intermediates`)
    this.#pinned = readCertificateList(anchors.certificates, `${place}.certificates`)
    this.#anchorPool = new CertificatePool(this.#authorities)
    this.#signerPool = new CertificatePool([...this.#authorities, ...this.#intermediates])
    const lists = currentLists ? [] : readCrlList(anchors.crls, `${place}.crls`)
    const fixed = lists.length > 0 ? new RevocationLists(lists) : undefined
    this.#currentLists = currentLists ?? (() => fixed)
    const hasLists = currentLists !== undefined || fixed !== undefined
    this.#revocation = anchors.revocation ?? (hasLists ? 'required' : 'ifKnown')
    if (this.#revocation === 'required' && !hasLists)
      throw new TypeError(`${place}.revocation is required without a CRL: give crls, or say ifKnown`)
    this.#rules = compileRules(anchors, place)
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
    const found = this.judge(der, now, others)
    return typeof found === 'string' ? undefined : found
  }

  /** The same, or why it is not trusted: for the service's own log. */
  judge(der: Buffer, now: number, others: readonly Buffer[] = []): Certificate | string {
    const lists = this.#currentLists()
    const key = der.toString('latin1')
    let path = this.#paths.get(key)
    if (!path || path.lists !== lists || now < path.from || now > path.until) {
      const found = this.#findPath(der, others, lists, now)
      if (typeof found === 'string') return found
      path = found
      this.#paths.set(key, path)
    }
    return path.certificates.some(this.#revoked) ? 'it is revoked' : path.certificates[0]
  }

  /** The pinned certificate that a reference names. */
  findPinned(reference: CertificateReference): Certificate | undefined {
    return this.#pinned.find(certificate => findNamed(certificate, reference))
  }

  #findPath(
    der: Buffer,
    others: readonly Buffer[],
    lists: RevocationLists | undefined,
    now: number,
  ): TrustedPath | string {
    const first = parseCertificate(der)
    if (!first) return 'it is not a certificate'
    if (!first.maySign) return 'it may not sign messages'
    if (this.#pinned.some(pinned => pinned.der.equals(der))) {
      if (lists && isListed(first, lists, this.#signerPool, now)) return 'it is revoked'
      return checkPinned(first, this.#rules, now) ?? rememberPath([first], lists, now)
    }
    const carried = others.slice(0, carriedMax).flatMap(each => parseCertificate(each) ?? [])
    const search: PathSearch = {
      anchors: this.#anchorPool,
      between: new CertificatePool([...this.#intermediates, ...carried]),
      signers: this.#signerPool,
      rules: this.#rules,
      lists,
      revocation: this.#revocation,
      now,
    }
    const path = findPath(first, search)
    return typeof path === 'string' ? path : rememberPath(path, lists, now)
  }
}

function rememberPath(
  certificates: TrustedPath['certificates'],
  lists: RevocationLists | undefined,
  now: number,
): TrustedPath {
  const steady = lists?.steadyTime(now)
  return {
    certificates,
    lists,
    from: Math.max(...certificates.map(({ notBefore }) => notBefore), steady?.from ?? Number.NEGATIVE_INFINITY),
    until: Math.min(...certificates.map(({ notAfter }) => notAfter), (steady?.until ?? Number.POSITIVE_INFINITY) - 1),
  }
}

const objectIdentifier = /^[0-2](?:\.\d+)+$/

function compileRules({ purposes = [], certificatePolicies: policies }: Anchors, place: string): PathRules {
  const identifierOf = (purpose: string): string => {
    const known = new Map<string, string>(Object.entries(purposeIdentifiers)).get(purpose)
    return known ?? requireIdentifier(purpose, `${place}.purposes`, ` or ${Object.keys(purposeIdentifiers).join(', ')}`)
  }
  const rules: PathRules = { purposes: new Set(purposes.map(identifierOf)) }
  if (!policies) return rules
  const wanted = policies.map(each => requireIdentifier(each, `${place}.certificatePolicies`, ''))
  return { ...rules, policies: new Set(wanted), requireExplicitPolicy: true }
}

function requireIdentifier(text: string, place: string, names: string): string {
  if (objectIdentifier.test(text)) return text
  throw new TypeError(
    `${place} has ${JSON.stringify(text)}: give an object identifier such as 1.3.6.1.5.5.7.3.2${names}`,
  )
}

export function findNamed(certificate: Certificate, reference: CertificateReference): boolean {
  if (reference.by === 'issuer-serial') {
    return certificate.serial === reference.serial && sameDistinguishedName(certificate.issuer, reference.issuer)
  }
  if (reference.by === 'thumbprint') return certificate.thumbprint.equals(reference.value)
  return certificate.subjectKeyIdentifier?.equals(reference.value) ?? false
}
