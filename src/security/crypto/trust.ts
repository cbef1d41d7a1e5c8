/**
 * Which certificates are trusted. What always holds, by number:
 *  (1) A certificate is trusted because it is pinned here, or because a valid path leads from it to
 *      an authority configured here (RFC 5280 §6). To arrive with a message counts for nothing.
 *  (2) It may sign, and it has a purpose named here or names no purpose.
 *  (3) Only trusted certificates are remembered, in bounded number: any other certificate is
 *      checked again each time, and occupies no memory.
 *  (4) A remembered result holds while the CRLs stay the same, and no certificate of the path and
 *      no CRL begins or ends.
 *  (5) Only `confirm` asks responders, and only about the certificates of a path that holds in
 *      everything else: no other certificate causes a request.
 */

import { createHash } from 'node:crypto'
import { chain, type Maybe } from '../../base/maybe.ts'
import { BoundedCache } from '../../base/memo.ts'
import type { Hash } from './algorithm.ts'
import type { Certificate } from './certificate.ts'
import {
  checkListed,
  findListSigner,
  findPath,
  isListed,
  type PathSearch,
  parseCertificate,
  type RevocationMode,
} from './certification-path.ts'
import type { RevocationList } from './crl.ts'
import { type DistinguishedName, sameDistinguishedName } from './distinguished-name.ts'
import {
  type CertificateSource,
  type CrlSource,
  type OneOrMore,
  readCertificateList,
  readCrlList,
} from './key-source.ts'
import type { OcspStatuses } from './ocsp-statuses.ts'
import { CertificatePool } from './path-building.ts'
import { checkPinned, describeCertificate, type PathRules } from './path-validation.ts'
import { RevocationLists } from './revocation.ts'

/** The purposes with names here (RFC 5280 §4.2.1.12, RFC 9336); others are object identifiers. */
const purposeIdentifiers = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  documentSigning: '1.3.6.1.5.5.7.3.36',
} as const
/** A name, or an object identifier such as `1.3.6.1.5.5.7.3.2`. */
export type CertificatePurpose = keyof typeof purposeIdentifiers | `${number}.${string}`

/** The certificates on which trust in signers rests, with the rules for what they issued. */
export interface Anchors {
  /** Authorities, roots or intermediates: the certificates that they issued are trusted. */
  readonly authorities?: OneOrMore<CertificateSource>
  /** Authorities trusted only through a path to one of `authorities`. */
  readonly intermediates?: OneOrMore<CertificateSource>
  /**
   * Pinned certificates; messages may also name them by thumbprint, key identifier, or issuer and
   * serial number.
   */
  readonly certificates?: OneOrMore<CertificateSource>
  /** Revocation lists of the authorities. */
  readonly crls?: OneOrMore<CrlSource>
  /**
   * The treatment of a certificate that no fresh CRL and no OCSP response covers. Default:
   * `required` if there are CRLs or responders, which refuses it; `ifKnown` accepts it unless a
   * list or a responder has revoked it, or a responder does not know it.
   */
  readonly revocation?: RevocationMode
  /**
   * The accepted purposes of a certificate (RFC 5280 §4.2.1.12). Default: none, so that one with an
   * extendedKeyUsage must name anyExtendedKeyUsage.
   */
  readonly purposes?: readonly CertificatePurpose[]
  /** Object identifiers of policies, one of which must be valid along the path. Default: any. */
  readonly certificatePolicies?: readonly string[]
  /** Whether a certificate is revoked; called at every use, for each certificate of the path. */
  readonly revoked?: (certificate: Certificate) => boolean
}

/** The current lists from an operator's files. */
export type CurrentLists = () => RevocationLists | undefined

/** Sources of revocation that change. */
export interface RevocationSources {
  /** Replaces `Anchors.crls`. */
  readonly lists?: CurrentLists | undefined
  /** Default: no responder is asked. */
  readonly statuses?: OcspStatuses | undefined
}

/**
 * A way to name a certificate without carrying it (X.509 Token Profile 1.1 §3.2, XML Signature 1.1
 * §4.5.4).
 */
export type CertificateReference =
  | { readonly by: 'issuer-serial'; readonly issuer: DistinguishedName; readonly serial: bigint }
  | { readonly by: 'thumbprint' | 'key-identifier'; readonly value: Buffer }
  | { readonly by: 'digest'; readonly hash: Hash; readonly value: Buffer }
  | { readonly by: 'subject'; readonly subject: DistinguishedName }

interface TrustedPath {
  readonly certificates: readonly [Certificate, ...Certificate[]]
  /** The search that found the path; undefined for a pinned certificate. */
  readonly search: PathSearch | undefined
  readonly lists: RevocationLists | undefined
  /** Milliseconds since 1970, both inclusive. */
  readonly from: number
  readonly until: number
}

/** How many certificates besides the signing one are examined. */
export const carriedMax = 5
const pathsRemembered = 1000
/** The longest text of a certificate that is remembered as spelled: 6 KB of octets. */
const spellingMax = 8192
/** Most partners always spell their certificate the same way. */
const spellingsRemembered = 1000

/**
 * Trust in certificates of signers: by paths to authorities (RFC 5280 §6) or because they are
 * pinned, with revocation.
 */
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
  readonly #statuses: OcspStatuses | undefined
  readonly #paths = new BoundedCache<string, TrustedPath>(pathsRemembered)
  readonly #spelt = new BoundedCache<string, TrustedPath>(spellingsRemembered)
  readonly #pathOf = new WeakMap<Certificate, TrustedPath>()

  /**
   * @param place of these settings, for errors
   * @throws TypeError if one of them is not a certificate or a CRL, or `revocation` has no source
   */
  constructor(anchors: Anchors, place = 'trust', { lists: currentLists, statuses }: RevocationSources = {}) {
    this.#authorities = readCertificateList(anchors.authorities, `${place}.authorities`)
    this.#intermediates = readCertificateList(anchors.intermediates, `${place}.intermediates`)
    this.#pinned = readCertificateList(anchors.certificates, `${place}.certificates`)
    this.#anchorPool = new CertificatePool(this.#authorities)
    this.#signerPool = new CertificatePool([...this.#authorities, ...this.#intermediates])
    const lists = currentLists ? [] : readCrlList(anchors.crls, `${place}.crls`)
    const fixed = lists.length > 0 ? new RevocationLists(lists) : undefined
    this.#currentLists = currentLists ?? (() => fixed)
    this.#statuses = statuses
    const hasSource = (currentLists ?? fixed ?? statuses) !== undefined
    this.#revocation = anchors.revocation ?? (hasSource ? 'required' : 'ifKnown')
    if (this.#revocation === 'required' && !hasSource)
      throw new TypeError(`${place}.revocation is required without a CRL or a responder: give crls, or set ifKnown`)
    this.#rules = compileRules(anchors, place)
    this.#revoked = anchors.revoked ?? (() => false)
  }

  /** Whether messages may name a certificate that they do not carry. */
  get hasPinned(): boolean {
    return this.#pinned.length > 0
  }

  /** Whether no certificate at all is trusted. */
  get isEmpty(): boolean {
    return this.#authorities.length + this.#pinned.length === 0
  }

  /** Whether an authority of the settings has signed a list. */
  hasSigned(list: RevocationList): boolean {
    return findListSigner(list, this.#signerPool) !== undefined
  }

  /**
   * The certificate in these octets, if it is trusted at this time.
   * @param others certificates that arrived with it and may be on its path
   */
  findTrusted(der: Buffer, now: number, others: readonly Buffer[] = []): Certificate | undefined {
    const found = this.judge(der, now, others)
    return typeof found === 'string' ? undefined : found
  }

  /** The same, or why it is not trusted: for the service's own log. */
  judge(der: Buffer, now: number, others: readonly Buffer[] = []): Certificate | string {
    const lists = this.#currentLists()
    const key = der.toString('latin1')
    const known = this.#findRemembered(this.#paths, key, lists, now)
    if (known) return this.#judgePath(known)
    const found = this.#findPath(der, others, lists, now)
    if (typeof found === 'string') return found
    this.#paths.set(key, found)
    this.#pathOf.set(found.certificates[0], found)
    return this.#judgePath(found)
  }

  /**
   * The same for a certificate as a message spells it. A trusted spelling is not decoded again
   * while (4) holds: partners repeat theirs in every message.
   * @param decode gives the octets of the text, or throws
   */
  judgeSpelling(text: string, now: number, decode: () => Buffer): Certificate | string {
    const known = this.#findRemembered(this.#spelt, text, this.#currentLists(), now)
    if (known) return this.#judgePath(known)
    const found = this.judge(decode(), now)
    const path = typeof found === 'string' ? undefined : this.#pathOf.get(found)
    if (path && text.length <= spellingMax) this.#spelt.set(text, path)
    return found
  }

  #findRemembered(
    paths: BoundedCache<string, TrustedPath>,
    key: string,
    lists: RevocationLists | undefined,
    now: number,
  ): TrustedPath | undefined {
    const path = paths.get(key)
    return path && path.lists === lists && now >= path.from && now <= path.until ? path : undefined
  }

  /** The checks made at every use. */
  #judgePath({ certificates }: TrustedPath): Certificate | string {
    return certificates.some(this.#revoked) ? 'it is revoked' : certificates[0]
  }

  /**
   * Why responders do not confirm a trusted certificate: one of its path is revoked or unknown;
   * undefined if the path holds. A promise while a responder is being asked (5).
   */
  confirm(certificate: Certificate, now: number): Maybe<string | undefined> {
    const { certificates, search } = this.#pathOf.get(certificate) ?? {}
    if (!this.#statuses || !certificates || !search) return undefined
    const current = { ...search, lists: this.#currentLists(), revocation: this.#revocation, now }
    return this.#confirmFrom(certificates, certificates.length - 2, current)
  }

  /** From the top down. */
  #confirmFrom(path: TrustedPath['certificates'], at: number, search: PathSearch): Maybe<string | undefined> {
    const [certificate, issuer, ...above] = path.slice(at)
    if (at < 0 || !certificate || !issuer) return undefined
    return chain(this.#statuses?.find({ path: [certificate, issuer, ...above], search }), found => {
      const problem = found?.status === 'good' ? undefined : checkWithoutAnswer(path, at, search, found?.status)
      return problem ?? this.#confirmFrom(path, at - 1, search)
    })
  }

  /** The certificate at which the path of a trusted certificate ends: itself, if it is pinned. */
  findAnchor(certificate: Certificate): Certificate | undefined {
    return this.#pathOf.get(certificate)?.certificates.at(-1)
  }

  /**
   * The pinned certificate that a reference names. A certificate and its renewal for the same key
   * have one key identifier: the one that is trusted now is meant.
   */
  findPinned(reference: CertificateReference, now: number): Certificate | undefined {
    const [first, ...others] = this.#pinned.filter(certificate => findNamed(certificate, reference))
    if (!first || others.length === 0) return first
    return [first, ...others].find(({ der }) => this.findTrusted(der, now)) ?? first
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
      return checkPinned(first, this.#rules, now) ?? rememberPath([first], undefined, lists, now)
    }
    const carried = others.slice(0, carriedMax).flatMap(each => parseCertificate(each) ?? [])
    const search: PathSearch = {
      anchors: this.#anchorPool,
      between: new CertificatePool([...this.#intermediates, ...carried]),
      signers: this.#signerPool,
      rules: this.#rules,
      lists,
      revocation: this.#statuses ? 'ifKnown' : this.#revocation, // `confirm` asks the responders first
      now,
    }
    const path = findPath(first, search)
    return typeof path === 'string' ? path : rememberPath(path, search, lists, now)
  }
}

/** For a certificate that no responder clears: one that a responder does not know needs a CRL. */
function checkWithoutAnswer(
  path: TrustedPath['certificates'],
  at: number,
  search: PathSearch,
  status: 'revoked' | 'unknown' | undefined,
): string | undefined {
  const place = describeCertificate(path[at]!)
  if (status === 'revoked') return `${place}: its responder says that it is revoked`
  const revocation = status === 'unknown' ? 'required' : search.revocation
  if (search.lists) return checkListed(path, at, { ...search, revocation })
  if (revocation === 'ifKnown') return undefined
  return `${place}: ${status ? 'its responder does not know it' : 'no OCSP response shows whether it is revoked'}`
}

function rememberPath(
  certificates: TrustedPath['certificates'],
  search: PathSearch | undefined,
  lists: RevocationLists | undefined,
  now: number,
): TrustedPath {
  const steady = lists?.steadyTime(now)
  return {
    certificates,
    search,
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
  const identifiers = policies.map(each => requireIdentifier(each, `${place}.certificatePolicies`, ''))
  return { ...rules, policies: new Set(identifiers), requireExplicitPolicy: true }
}

function requireIdentifier(text: string, place: string, names: string): string {
  if (objectIdentifier.test(text)) return text
  throw new TypeError(
    `${place} has ${JSON.stringify(text)}: give an object identifier such as 1.3.6.1.5.5.7.3.2${names}`,
  )
}

export function findNamed(certificate: Certificate, reference: CertificateReference): boolean {
  switch (reference.by) {
    case 'issuer-serial':
      return certificate.serial === reference.serial && sameDistinguishedName(certificate.issuer, reference.issuer)
    case 'subject':
      return sameDistinguishedName(certificate.subject, reference.subject)
    case 'thumbprint':
      return certificate.thumbprint.equals(reference.value)
    case 'digest':
      return createHash(reference.hash).update(certificate.der).digest().equals(reference.value)
    case 'key-identifier':
      return certificate.subjectKeyIdentifier?.equals(reference.value) ?? false
  }
}
