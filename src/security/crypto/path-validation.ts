/**
 * Validation of one path (RFC 5280 §6.1), in the order of the standard. What always holds:
 *  (1) The path begins at a configured anchor; the constraints of the anchor's own certificate on
 *      names, policies, length and usage apply below it as well (RFC 5937).
 *  (2) The first failed step ends the validation: a key is used only once everything above it
 *      holds.
 * `revocation.ts` then checks revocation, for a path that holds in everything else.
 */

import type { Certificate } from './certificate.ts'
import { anyPolicy, anyPurpose, KeyUsage } from './certificate-extensions.ts'
import { findKeyWeakness } from './key-strength.ts'
import { NameConstraintState } from './name-constraints.ts'
import { PolicyGraph } from './policy-graph.ts'

/** The inputs of RFC 5280 §6.1.1, and the purposes that certificates need. */
export interface PathRules {
  /**
   * Object identifiers of purposes (RFC 5280 §4.2.1.12). A certificate of the path that limits its
   * purposes has to name one of these or any; undefined: purposes are not checked.
   */
  readonly purposes?: ReadonlySet<string> | undefined
  /** §6.1.1 c: object identifiers of policies, one of which has to hold. Default: any. */
  readonly policies?: ReadonlySet<string> | undefined
  /** §6.1.1 e: a policy has to hold. Default: where a certificate demands it. */
  readonly requireExplicitPolicy?: boolean | undefined
  /** §6.1.1 d, f. Default: where a certificate demands it. */
  readonly inhibitPolicyMapping?: boolean | undefined
  readonly inhibitAnyPolicy?: boolean | undefined
}

/** From the certificate in question up to the anchor. */
export type CertificatePath = readonly [Certificate, ...Certificate[]]

/** Why a path does not hold at this time; undefined if it holds, regardless of revocation. */
export function checkPath(path: CertificatePath, rules: PathRules, now: number): string | undefined {
  const state = new PathState(path, rules, now)
  const problem = state.enterAnchor()
  if (problem) return `${describeCertificate(path.at(-1)!)}: ${problem}`
  for (let at = path.length - 2; at >= 0; at--) {
    const failure = state.check(path[at]!, path[at + 1]!, at === 0)
    if (failure) return `${describeCertificate(path[at]!)}: ${failure}`
  }
  return state.wrapUp(path[0])
}

/** Why a certificate trusted without a path may not be used; undefined if it may. */
export function checkPinned(certificate: Certificate, rules: PathRules, now: number): string | undefined {
  return checkTimes(certificate, now) ?? checkUse(certificate, rules) ?? findLastWeakness(certificate)
}

export const describeCertificate = ({ commonNames, x509 }: Certificate): string =>
  JSON.stringify(commonNames[0] ?? x509.subject.replaceAll('\n', ', '))

class PathState {
  readonly #anchor: Certificate
  readonly #rules: PathRules
  readonly #now: number
  readonly #names = new NameConstraintState()
  readonly #policies = new PolicyGraph()
  #explicitPolicy: number
  #policyMapping: number
  #anyPolicy: number
  #pathLength: number

  /** §6.1.2. */
  constructor(path: CertificatePath, rules: PathRules, now: number) {
    const length = path.length - 1
    this.#anchor = path.at(-1)!
    this.#rules = rules
    this.#now = now
    this.#explicitPolicy = rules.requireExplicitPolicy ? 0 : length + 1
    this.#policyMapping = rules.inhibitPolicyMapping ? 0 : length + 1
    this.#anyPolicy = rules.inhibitAnyPolicy ? 0 : length + 1
    this.#pathLength = length
  }

  /** RFC 5937 §3: the anchor's certificate is not validated, but its constraints are kept. */
  enterAnchor(): string | undefined {
    const { extensions } = this.#anchor
    const problem =
      checkTimes(this.#anchor, this.#now) ?? checkUse(this.#anchor, this.#rules) ?? checkAuthority(this.#anchor)
    if (problem) return problem
    this.#names.add(extensions.nameConstraints)
    this.#limitPolicies(this.#anchor)
    this.#pathLength = Math.min(this.#pathLength, extensions.authority?.pathLength ?? 0)
    return undefined
  }

  /** §6.1.3, and §6.1.4 unless it is the last certificate. */
  check(certificate: Certificate, issuer: Certificate, isLast: boolean): string | undefined {
    if (certificate.issuer.length === 0 || certificate.issuerKey !== issuer.subjectKey)
      return 'its issuer has another name' // a 4, checked first because it costs nothing
    const problem =
      certificate.checkSignature(issuer) ?? // a 1
      checkTimes(certificate, this.#now) ?? // a 2
      (certificate.isSelfIssued && !isLast ? undefined : this.#names.check(certificate)) ?? // b, c
      this.#checkPolicies(certificate, isLast) ?? // d, e, f
      checkUse(certificate, this.#rules) // §6.1.4 o, §6.1.5 f
    return problem ?? (isLast ? findLastWeakness(certificate) : this.#prepareNext(certificate))
  }

  /** §6.1.5 a, b, g. */
  wrapUp({ extensions }: Certificate): string | undefined {
    this.#explicitPolicy = Math.max(0, this.#explicitPolicy - 1)
    if (extensions.policyConstraints.requireExplicitPolicy === 0) this.#explicitPolicy = 0
    const policies = [this.#rules.policies, this.#anchor.extensions.policies].flatMap(each =>
      each ? [new Set(each)] : [],
    )
    const holds = this.#policies.intersects(policies.reduce(intersectPolicies, new Set([anyPolicy])))
    return this.#explicitPolicy > 0 || holds ? undefined : 'no certificate policy holds that is accepted here'
  }

  #checkPolicies({ extensions, isSelfIssued }: Certificate, isLast: boolean): string | undefined {
    this.#policies.addCertificate(extensions.policies, this.#anyPolicy > 0 || (!isLast && isSelfIssued))
    return this.#explicitPolicy > 0 || !this.#policies.isNull ? undefined : 'no certificate policy holds'
  }

  #prepareNext(certificate: Certificate): string | undefined {
    const { policyMappings, nameConstraints, authority } = certificate.extensions
    if (policyMappings.flat().includes(anyPolicy)) return 'it maps from or to any policy' // a
    this.#policies.mapPolicies(policyMappings, this.#policyMapping > 0) // b
    this.#names.add(nameConstraints) // g
    if (!certificate.isSelfIssued) this.#countDown() // h
    this.#limitPolicies(certificate) // i, j
    const problem = checkAuthority(certificate) // k, n
    if (problem) return problem
    if (!certificate.isSelfIssued && this.#pathLength-- <= 0)
      return 'more authorities follow than an authority above it allows' // l
    this.#pathLength = Math.min(this.#pathLength, authority?.pathLength ?? 0) // m
    return undefined
  }

  #countDown(): void {
    this.#explicitPolicy = Math.max(0, this.#explicitPolicy - 1)
    this.#policyMapping = Math.max(0, this.#policyMapping - 1)
    this.#anyPolicy = Math.max(0, this.#anyPolicy - 1)
  }

  #limitPolicies({ extensions: { policyConstraints, inhibitAnyPolicy } }: Certificate): void {
    const { requireExplicitPolicy, inhibitPolicyMapping } = policyConstraints
    this.#explicitPolicy = Math.min(this.#explicitPolicy, requireExplicitPolicy ?? this.#explicitPolicy)
    this.#policyMapping = Math.min(this.#policyMapping, inhibitPolicyMapping ?? this.#policyMapping)
    this.#anyPolicy = Math.min(this.#anyPolicy, inhibitAnyPolicy ?? this.#anyPolicy)
  }
}

/** Any-policy on one side yields the other side. */
function intersectPolicies(one: ReadonlySet<string>, other: ReadonlySet<string>): Set<string> {
  if (one.has(anyPolicy)) return new Set(other)
  return new Set([...one].filter(policy => other.has(anyPolicy) || other.has(policy)))
}

/** §6.1.4 k, n. */
function checkAuthority({ extensions: { authority, keyUsage } }: Certificate): string | undefined {
  if (!authority) return 'it is not an authority'
  return keyUsage && !keyUsage.has(KeyUsage.keyCertSign) ? 'it may not sign certificates' : undefined
}

function findLastWeakness({ key }: Certificate): string | undefined {
  const weakness = findKeyWeakness(key)
  return weakness && `it has ${weakness}`
}

function checkTimes({ notBefore, notAfter }: Certificate, now: number): string | undefined {
  if (now < notBefore) return 'it is not valid yet'
  return now > notAfter ? 'it has expired' : undefined
}

/** Critical extensions, and purposes. */
function checkUse({ extensions: { unknown, purposes } }: Certificate, rules: PathRules): string | undefined {
  if (unknown !== undefined) return `it has a critical extension that is not supported (${unknown})`
  const { purposes: wanted } = rules
  if (!purposes || !wanted || purposes.has(anyPurpose) || [...purposes].some(each => wanted.has(each))) return undefined
  return `it is for other purposes (${[...purposes].join(', ')})`
}
