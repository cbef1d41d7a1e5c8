/**
 * Whether a certificate is revoked, by the CRLs at hand (RFC 5280 §6.3). What always holds:
 *  (1) A list counts for a certificate in its scope if the list's issuer is the certificate's, or
 *      the one that the certificate names, and the path of the list's signer holds.
 *  (2) A certificate is cleared once fresh lists cover every reason (§6.3.3 l).
 *  (3) Where an issuer has several keys, the last list of each key counts: some issuers list with
 *      each key only the certificates that it signed.
 *  (4) A list that is not fresh clears no certificate, but a certificate that the last list revoked
 *      stays revoked.
 */

import type { Certificate } from './certificate.ts'
import type { DistributionPoint, DistributionPointName } from './certificate-extensions.ts'
import { CrlReason, type RevocationList } from './crl.ts'
import { type DistinguishedName, writeNameKey } from './distinguished-name.ts'
import { type GeneralName, listDirectoryNames, writeGeneralNameKey } from './general-name.ts'

/** `unknown`: the lists at hand do not decide. */
export interface RevocationStatus {
  readonly status: 'good' | 'revoked' | 'unknown'
  readonly reason: string
}

/** Finds the certificate that signed a list, if its path holds (§6.3.3 f, g). */
export type FindSigner = (list: RevocationList, point: DistributionPoint) => Certificate | undefined

/** ReasonFlags (RFC 5280 §4.2.1.13) without the unused bit. */
const allReasons: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 7, 8])

export class RevocationLists {
  readonly #complete: ReadonlyMap<string, readonly RevocationList[]>
  readonly #deltas: ReadonlyMap<string, readonly RevocationList[]>
  readonly #boundaries: readonly number[]

  constructor(lists: readonly RevocationList[]) {
    const newestFirst = [...lists].sort((a, b) => b.thisUpdate - a.thisUpdate)
    const byIssuer = (some: RevocationList[]) => Map.groupBy(some, ({ issuerKey }) => issuerKey)
    this.#complete = byIssuer(newestFirst.filter(({ baseNumber }) => baseNumber === undefined))
    this.#deltas = byIssuer(newestFirst.filter(({ baseNumber }) => baseNumber !== undefined))
    this.#boundaries = lists.flatMap(({ thisUpdate, nextUpdate }) => [thisUpdate, nextUpdate])
  }

  /** The time around `now` in which no list becomes or ceases to be fresh. */
  steadyTime(now: number): { readonly from: number; readonly until: number } {
    return {
      from: Math.max(Number.NEGATIVE_INFINITY, ...this.#boundaries.filter(time => time <= now)),
      until: Math.min(Number.POSITIVE_INFINITY, ...this.#boundaries.filter(time => time > now)),
    }
  }

  /** §6.3.3. */
  check(certificate: Certificate, findSigner: FindSigner, now: number): RevocationStatus {
    const status = this.#consult(certificate, findSigner, now)
    if (status !== 'unknown') return describeStatus(status)
    const last = this.#consult(certificate, findSigner, undefined)
    return describeStatus(last === 'revoked' ? last : 'unknown')
  }

  /** @param now undefined: the last lists count, fresh or not */
  #consult(certificate: Certificate, findSigner: FindSigner, now: number | undefined): RevocationStatus['status'] {
    const covered = new Set<number>()
    const keys = new Set<string | undefined>()
    for (const point of listPoints(certificate))
      for (const list of this.#listsOf(point, certificate)) {
        const reasons = intersectReasons(list.scope?.reasons, point.reasons) // d
        const key = list.authorityKeyIdentifier?.toString('latin1')
        const isCovered = keys.has(key) && reasons.every(reason => covered.has(reason))
        if (!isInScope(list, point, certificate) || isCovered) continue // b, e
        const reason = this.#findReason(certificate, list, () => findSigner(list, point), now)
        if (reason === 'unknown') continue
        if (reason !== undefined && reason !== CrlReason.removeFromCRL) return 'revoked' // i, j, k
        for (const each of reasons) covered.add(each) // l
        keys.add(key)
      }
    return covered.size === allReasons.size ? 'good' : 'unknown'
  }

  /** The reason in a list or in its delta (§6.3.3 a, c, f–j). */
  #findReason(
    certificate: Certificate,
    list: RevocationList,
    findSigner: () => Certificate | undefined,
    now: number | undefined,
  ): number | 'unknown' | undefined {
    const deltas = (this.#deltas.get(list.issuerKey) ?? []).filter(delta => mayAdd(delta, list))
    if (![list, ...deltas].some(each => isFresh(each, now))) return 'unknown'
    const signer = findSigner()
    if (!signer) return 'unknown'
    const delta = deltas.find(each => isFresh(each, now) && each.checkSignature(signer) === undefined)
    if (!delta && !isFresh(list, now)) return 'unknown'
    return delta?.findReason(certificate) ?? list.findReason(certificate)
  }

  /** §6.3.3 b 1: complete lists by the issuer that the point names, or the certificate's own. */
  #listsOf({ crlIssuer }: DistributionPoint, { issuerKey }: Certificate): readonly RevocationList[] {
    if (!crlIssuer) return this.#complete.get(issuerKey) ?? []
    return listDirectoryNames(crlIssuer).flatMap(name => this.#complete.get(writeNameKey(name)) ?? [])
  }
}

const reasonTexts: Readonly<Record<RevocationStatus['status'], string>> = {
  good: '',
  revoked: 'it is revoked',
  unknown: 'no fresh CRL shows whether it is revoked',
}
const describeStatus = (status: RevocationStatus['status']): RevocationStatus => ({
  status,
  reason: reasonTexts[status],
})

/** §6.3.3: the certificate's own points, then one for lists that its issuer signs for all. */
const listPoints = ({ extensions, issuer }: Certificate): DistributionPoint[] => [
  ...extensions.distributionPoints,
  {
    name: { kind: 'full', names: [{ kind: 'directory', value: issuer }] },
    reasons: undefined,
    crlIssuer: undefined,
  },
]

const isFresh = ({ thisUpdate, nextUpdate }: RevocationList, now: number | undefined): boolean =>
  now === undefined || (thisUpdate <= now && now < nextUpdate)

const intersectReasons = (one = allReasons, other = allReasons): number[] =>
  [...allReasons].filter(reason => one.has(reason) && other.has(reason))

/** §5.2.4, §6.3.3 c: whether a delta CRL may be added to a complete one. */
function mayAdd(delta: RevocationList, list: RevocationList): boolean {
  if (list.number === undefined || delta.number === undefined || delta.baseNumber === undefined) return false
  return (
    isSameOctets(delta.scope?.octets, list.scope?.octets) &&
    isSameOctets(delta.authorityKeyIdentifier, list.authorityKeyIdentifier) &&
    list.number >= delta.baseNumber &&
    list.number < delta.number
  )
}

export const isSameOctets = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other)

/** §6.3.3 b. */
function isInScope({ scope, issuer }: RevocationList, point: DistributionPoint, certificate: Certificate): boolean {
  if (point.crlIssuer && !scope?.isIndirect) return false
  if (!scope) return true
  const isAuthority = certificate.extensions.authority !== undefined
  if (scope.only === 'attributes' || (scope.only === 'users' && isAuthority)) return false
  if (scope.only === 'authorities' && !isAuthority) return false
  if (!scope.name) return true
  const [base = certificate.issuer] = listDirectoryNames(point.crlIssuer ?? [])
  const names = point.name ? expandName(point.name, base) : (point.crlIssuer ?? [])
  const keys = new Set(names.map(writeGeneralNameKey))
  return expandName(scope.name, issuer).some(name => keys.has(writeGeneralNameKey(name)))
}

const expandName = (name: DistributionPointName, issuer: DistinguishedName): readonly GeneralName[] =>
  name.kind === 'full' ? name.names : [{ kind: 'directory', value: [...issuer, name.name] }]
