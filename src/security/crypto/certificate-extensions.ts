/**
 * The extensions of certificates (RFC 5280 §4.2), each as the type that path validation needs. What
 * always holds, by number:
 *  (1) An extension listed here is read completely, or the certificate is invalid.
 *  (2) A critical extension that is not listed here refuses the certificate.
 *  (3) No extension occurs twice (§4.2).
 */

import {
  BIT_STRING,
  BOOLEAN,
  constructedTag,
  DerFields,
  type DerValue,
  INTEGER,
  NotDer,
  OBJECT_IDENTIFIER,
  OCTET_STRING,
  primitiveTag,
  readDer,
  readDerBits,
  readDerBoolean,
  readDerIdentifier,
  readDerInteger,
  readDerList,
} from './der.ts'
import { readRelativeName } from './distinguished-name.ts'
import { type GeneralName, readGeneralName, readGeneralNames } from './general-name.ts'

export interface Extension {
  readonly critical: boolean
  readonly content: Buffer
}

/**
 * By extnID. Extension ::= SEQUENCE { extnID, critical BOOLEAN DEFAULT FALSE, extnValue OCTET
 * STRING }
 */
export function readExtensions(list: DerValue | undefined): ReadonlyMap<string, Extension> {
  const extensions = new Map<string, Extension>()
  for (const entry of list ? readDerList(list) : []) {
    const fields = new DerFields(entry)
    const id = readDerIdentifier(fields.required(OBJECT_IDENTIFIER))
    const critical = fields.optional(BOOLEAN)
    const { content } = fields.required(OCTET_STRING)
    fields.end()
    if (extensions.has(id)) throw new NotDer('an extension that occurs twice')
    extensions.set(id, { critical: critical !== undefined && readDerBoolean(critical), content })
  }
  return extensions
}

/** RFC 5280 §4.2.1.3, by the number of the bit. */
export const KeyUsage = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5, cRLSign: 6 } as const

export const anyPolicy = '2.5.29.32.0'
export const anyPurpose = '2.5.29.37.0'

/** RFC 5280 §4.2.1.10. */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[]
  readonly excluded: readonly GeneralName[]
}

/** RFC 5280 §4.2.1.11: how many certificates may still follow. */
export interface PolicyConstraints {
  readonly requireExplicitPolicy: number | undefined
  readonly inhibitPolicyMapping: number | undefined
}

/** RFC 5280 §4.2.1.13: where the CRL of a certificate is published, and by which issuer. */
export interface DistributionPoint {
  readonly name: DistributionPointName | undefined
  /** The reasons that its CRLs cover; undefined: all. */
  readonly reasons: ReadonlySet<number> | undefined
  readonly crlIssuer: readonly GeneralName[] | undefined
}

export type DistributionPointName =
  | { readonly kind: 'full'; readonly names: readonly GeneralName[] }
  /** Relative to the name of the CRL's issuer. */
  | { readonly kind: 'relative'; readonly name: string }

export interface CertificateExtensions {
  readonly keyUsage: ReadonlySet<number> | undefined
  /** Undefined for a certificate that is not an authority. */
  readonly authority: { readonly pathLength: number } | undefined
  readonly alternativeNames: readonly GeneralName[] | undefined
  readonly nameConstraints: NameConstraints | undefined
  readonly policies: readonly string[] | undefined
  readonly policyMappings: readonly (readonly [issuer: string, subject: string])[]
  readonly policyConstraints: PolicyConstraints
  readonly inhibitAnyPolicy: number | undefined
  readonly purposes: ReadonlySet<string> | undefined
  readonly distributionPoints: readonly DistributionPoint[]
  readonly subjectKeyIdentifier: Buffer | undefined
  readonly authorityKeyIdentifier: Buffer | undefined
  /** URIs of OCSP responders, from authorityInfoAccess (RFC 5280 §4.2.2.1). */
  readonly responders: readonly string[]
  /**
   * id-pkix-ocsp-nocheck (RFC 6960 §4.2.2.2.1): the revocation of this responder's certificate is
   * not checked.
   */
  readonly isUnchecked: boolean
  /** The first critical extension that this code does not process (RFC 5280 §4.2). */
  readonly unknown: string | undefined
}

/** The extensions that may be critical; for those of policies see `readPolicies`. */
const processed = new Set([
  ...['2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.30', '2.5.29.31', '2.5.29.32', '2.5.29.33', '2.5.29.36'],
  ...['2.5.29.37', '2.5.29.54'],
])

/** @throws NotDer */
export function readCertificateExtensions(list: DerValue | undefined): CertificateExtensions {
  const all = readExtensions(list)
  const read = <T>(id: string, type: (value: DerValue) => T): T | undefined => {
    const extension = all.get(id)
    return extension && type(readDer(extension.content))
  }
  const policies = read('2.5.29.32', readPolicies)
  const unsupported = policies?.isUnderstood === false && all.get('2.5.29.32')?.critical ? '2.5.29.32' : undefined
  return {
    keyUsage: read('2.5.29.15', readUsage),
    authority: read('2.5.29.19', readBasicConstraints),
    alternativeNames: read('2.5.29.17', value => requireSequence(value, readGeneralNames)),
    nameConstraints: read('2.5.29.30', readNameConstraints),
    policies: policies?.identifiers,
    policyMappings: read('2.5.29.33', readPolicyMappings) ?? [],
    policyConstraints: read('2.5.29.36', readPolicyConstraints) ?? noPolicyConstraints,
    inhibitAnyPolicy: read('2.5.29.54', readSkipCertificates),
    purposes: read('2.5.29.37', value => new Set(readDerList(value).map(readDerIdentifier))),
    distributionPoints: read('2.5.29.31', value => readDerList(value).map(readDistributionPoint)) ?? [],
    subjectKeyIdentifier: read('2.5.29.14', readKeyIdentifier),
    authorityKeyIdentifier: read('2.5.29.35', readAuthorityKeyIdentifier),
    responders: read('1.3.6.1.5.5.7.1.1', readResponders) ?? [],
    isUnchecked: all.has('1.3.6.1.5.5.7.48.1.5'),
    unknown: unsupported ?? [...all].find(([id, { critical }]) => critical && !processed.has(id))?.[0],
  }
}

const noPolicyConstraints: PolicyConstraints = { requireExplicitPolicy: undefined, inhibitPolicyMapping: undefined }

function requireSequence<T>(value: DerValue, read: (value: DerValue) => T): T {
  if (value.tag !== 0x30) throw new NotDer('not a SEQUENCE')
  return read(value)
}

function readUsage(value: DerValue): ReadonlySet<number> {
  if (value.tag !== BIT_STRING) throw new NotDer('a KeyUsage that is not a BIT STRING')
  return readDerBits(value)
}

function readKeyIdentifier({ tag, content }: DerValue): Buffer {
  if (tag !== OCTET_STRING) throw new NotDer('a key identifier that is not an OCTET STRING')
  return content
}

/** Of keyIdentifier, authorityCertIssuer and authorityCertSerialNumber, only the first is used. */
export function readAuthorityKeyIdentifier(value: DerValue): Buffer | undefined {
  return new DerFields(value).optional(primitiveTag(0))?.content
}

/** RFC 5280 §4.2.1.9. Without cA, or with cA FALSE, the certificate is not an authority. */
function readBasicConstraints(value: DerValue): CertificateExtensions['authority'] {
  const fields = new DerFields(value)
  const isAuthority = fields.optional(BOOLEAN)
  const longest = fields.optional(INTEGER)
  fields.end()
  const pathLength = longest ? readCount(longest) : Number.POSITIVE_INFINITY
  return isAuthority && readDerBoolean(isAuthority) ? { pathLength } : undefined
}

/** INTEGER (0..MAX). */
function readCount(value: DerValue): number {
  const count = Number(readDerInteger(value))
  if (count < 0) throw new NotDer('a negative number of certificates')
  return count
}

function readSkipCertificates(value: DerValue): number {
  if (value.tag !== INTEGER) throw new NotDer('not an INTEGER')
  return readCount(value)
}

/** RFC 5280 §4.2.1.10: minimum is 0 and maximum absent. */
function readNameConstraints(value: DerValue): NameConstraints {
  const fields = new DerFields(value)
  const permitted = fields.optional(constructedTag(0))
  const excluded = fields.optional(constructedTag(1))
  fields.end()
  return { permitted: readSubtrees(permitted), excluded: readSubtrees(excluded) }
}

const readSubtrees = (value: DerValue | undefined): GeneralName[] =>
  (value ? readDerList(value, value.tag) : []).map(subtree => {
    const fields = new DerFields(subtree)
    const base = fields.any()
    const minimum = fields.optional(primitiveTag(0))
    fields.end()
    if (!base || (minimum && readDerInteger(minimum) !== 0n)) throw new NotDer('a subtree with a minimum')
    return readGeneralName(base)
  })

/** RFC 5280 §4.2.1.4: the understood qualifiers only inform a person. */
const qualifiersUnderstood = new Set(['1.3.6.1.5.5.7.2.1', '1.3.6.1.5.5.7.2.2'])

function readPolicies(value: DerValue): { readonly identifiers: readonly string[]; readonly isUnderstood: boolean } {
  const identifiers = new Set<string>()
  let isUnderstood = true
  for (const information of readDerList(value)) {
    const fields = new DerFields(information)
    const id = readDerIdentifier(fields.required(OBJECT_IDENTIFIER))
    const qualifiers = fields.any()
    fields.end()
    if (identifiers.has(id)) throw new NotDer('a policy that occurs twice')
    identifiers.add(id)
    for (const qualifier of qualifiers ? readDerList(qualifiers) : []) {
      const kind = readDerIdentifier(new DerFields(qualifier).required(OBJECT_IDENTIFIER))
      isUnderstood &&= qualifiersUnderstood.has(kind)
    }
  }
  if (identifiers.size === 0) throw new NotDer('an empty list of policies')
  return { identifiers: [...identifiers], isUnderstood }
}

/** AuthorityInfoAccessSyntax: the locations with the access method id-ad-ocsp. */
const readResponders = (value: DerValue): string[] =>
  readDerList(value).flatMap(description => {
    const fields = new DerFields(description)
    const method = readDerIdentifier(fields.required(OBJECT_IDENTIFIER))
    const place = fields.any()
    fields.end()
    if (!place) throw new NotDer('an access description without a location')
    const name = readGeneralName(place)
    return method === '1.3.6.1.5.5.7.48.1' && name.kind === 'uri' ? [name.value] : []
  })

const readPolicyMappings = (value: DerValue): (readonly [string, string])[] =>
  readDerList(value).map(mapping => {
    const fields = new DerFields(mapping)
    const issuer = readDerIdentifier(fields.required(OBJECT_IDENTIFIER))
    const subject = readDerIdentifier(fields.required(OBJECT_IDENTIFIER))
    fields.end()
    return [issuer, subject] as const
  })

function readPolicyConstraints(value: DerValue): PolicyConstraints {
  const fields = new DerFields(value)
  const explicit = fields.optional(primitiveTag(0))
  const mapping = fields.optional(primitiveTag(1))
  fields.end()
  return {
    requireExplicitPolicy: explicit && readCount(explicit),
    inhibitPolicyMapping: mapping && readCount(mapping),
  }
}

function readDistributionPoint(value: DerValue): DistributionPoint {
  const fields = new DerFields(value)
  const name = fields.optional(constructedTag(0))
  const reasons = fields.optional(primitiveTag(1))
  const issuer = fields.optional(constructedTag(2))
  fields.end()
  return {
    name: name && readDistributionPointName(name),
    reasons: reasons && readDerBits(reasons),
    crlIssuer: issuer && readGeneralNames(issuer),
  }
}

/** DistributionPointName ::= CHOICE, inside its explicit tag (RFC 5280 §4.2.1.13, §5.2.5). */
export function readDistributionPointName({ content }: DerValue): DistributionPointName {
  const name = readDer(content)
  if (name.tag === constructedTag(0)) return { kind: 'full', names: readGeneralNames(name) }
  if (name.tag === constructedTag(1)) return { kind: 'relative', name: readRelativeName(name, name.tag) }
  throw new NotDer('a distribution point with a name of an unknown form')
}
