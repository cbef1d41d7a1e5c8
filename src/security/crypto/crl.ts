/**
 * A certificate revocation list (RFC 5280 §5), decoded completely at once. A list may have hundreds
 * of thousands of entries, so an entry is kept as just a serial number and a reason.
 */

import { attempt } from '../../base/attempt.ts'
import type { Certificate } from './certificate.ts'
import {
  type DistributionPointName,
  type Extension,
  readAuthorityKeyIdentifier,
  readDistributionPointName,
  readExtensions,
} from './certificate-extensions.ts'
import {
  BIT_STRING,
  constructedTag,
  DerFields,
  type DerValue,
  ENUMERATED,
  GENERALIZED_TIME,
  INTEGER,
  NotDer,
  primitiveTag,
  readDer,
  readDerBits,
  readDerBoolean,
  readDerInteger,
  readDerList,
  readDerOctets,
  readDerTime,
  readIntegerOctets,
  SEQUENCE,
  UTC_TIME,
} from './der.ts'
import { type DistinguishedName, readDistinguishedName, writeNameKey } from './distinguished-name.ts'
import { listDirectoryNames, readGeneralNames } from './general-name.ts'
import { checkX509Signature, type SignedObject } from './x509-signature.ts'

/** RFC 5280 §5.2.5. */
export interface IssuingDistributionPoint {
  readonly name: DistributionPointName | undefined
  readonly only: 'users' | 'authorities' | 'attributes' | undefined
  /** Undefined: all. */
  readonly reasons: ReadonlySet<number> | undefined
  readonly isIndirect: boolean
  /** The octets of the extension, to compare with that of a delta CRL. */
  readonly octets: Buffer
}

/** RFC 5280 §5.3.1. */
export const CrlReason = { unspecified: 0, certificateHold: 6, removeFromCRL: 8 } as const

export class RevocationList {
  readonly issuer: DistinguishedName
  readonly issuerKey: string
  /** Milliseconds since 1970. */
  readonly thisUpdate: number
  /** A list without a next update is never fresh (§5.1.2.5 demands one). */
  readonly nextUpdate: number
  readonly number: bigint | undefined
  /** For a delta CRL: the number of the complete list that it extends (§5.2.4). */
  readonly baseNumber: bigint | undefined
  readonly scope: IssuingDistributionPoint | undefined
  readonly authorityKeyIdentifier: Buffer | undefined
  readonly size: number
  readonly #signed: SignedObject
  /** Issuer of the certificate → its serial number → the reason. */
  readonly #entries: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly #signers = new WeakMap<Certificate, string>()
  #signer: Certificate | undefined

  /** @throws NotDer if it is not a list, or has an unsupported critical extension (§5.2) */
  constructor(der: Buffer) {
    const whole = new DerFields(readDer(der))
    const signed = whole.required(SEQUENCE)
    const algorithm = whole.required(SEQUENCE)
    const signature = readDerOctets(whole.required(BIT_STRING))
    whole.end()
    const fields = new DerFields(signed)
    const version = fields.optional(INTEGER)
    if (version && readDerInteger(version) !== 1n) throw new NotDer('a list of an unknown version')
    const inside = fields.required(SEQUENCE)
    this.issuer = readDistinguishedName(fields.required(SEQUENCE))
    this.issuerKey = writeNameKey(this.issuer)
    this.thisUpdate = readDerTime(fields.required(UTC_TIME, GENERALIZED_TIME))
    const next = fields.optional(UTC_TIME, GENERALIZED_TIME)
    this.nextUpdate = next ? readDerTime(next) : Number.NEGATIVE_INFINITY
    const entries = fields.optional(SEQUENCE)
    const extensions = readListExtensions(fields.optional(constructedTag(0)))
    fields.end()
    this.number = extensions.number
    this.baseNumber = extensions.baseNumber
    this.scope = extensions.scope
    this.authorityKeyIdentifier = extensions.authorityKeyIdentifier
    const entryList = readEntries(entries, this.issuerKey, this.scope?.isIndirect ?? false)
    this.#entries = entryList.entries
    this.size = entryList.size
    this.#signed = { signed: signed.octets, algorithms: [inside, algorithm], signature }
  }

  /** The reason for which the list revokes a certificate, if it does. */
  findReason({ issuerKey, serialKey }: Certificate): number | undefined {
    return this.#entries.get(issuerKey)?.get(serialKey)
  }

  /** A certificate whose key has signed the list, once one was found. */
  get signer(): Certificate | undefined {
    return this.#signer
  }

  /** Why this certificate's key did not sign the list; undefined if it did. */
  checkSignature(signer: Certificate): string | undefined {
    let found = this.#signers.get(signer)
    if (found === undefined) {
      found = checkX509Signature(this.#signed, signer.key) ?? ''
      this.#signers.set(signer, found)
      if (found === '') this.#signer ??= signer
    }
    return found === '' ? undefined : found
  }
}

interface ListExtensions {
  readonly number: bigint | undefined
  readonly baseNumber: bigint | undefined
  readonly scope: IssuingDistributionPoint | undefined
  readonly authorityKeyIdentifier: Buffer | undefined
}

/** cRLNumber, deltaCRLIndicator, issuingDistributionPoint, authorityKeyIdentifier. */
const processedOfLists = new Set(['2.5.29.20', '2.5.29.27', '2.5.29.28', '2.5.29.35'])
/** cRLReason, invalidityDate, certificateIssuer. */
const processedOfEntries = new Set(['2.5.29.21', '2.5.29.24', '2.5.29.29'])

function readListExtensions(field: DerValue | undefined): ListExtensions {
  const all = readExtensions(field && readDer(field.content))
  refuseUnknown(all, processedOfLists)
  const extensionOf = (id: string): DerValue | undefined => {
    const extension = all.get(id)
    return extension && readDer(extension.content)
  }
  const number = extensionOf('2.5.29.20')
  const base = extensionOf('2.5.29.27')
  const scope = extensionOf('2.5.29.28')
  const identifier = extensionOf('2.5.29.35')
  return {
    number: number && readDerInteger(number),
    baseNumber: base && readDerInteger(base),
    scope: scope && readScope(scope),
    authorityKeyIdentifier: identifier && readAuthorityKeyIdentifier(identifier),
  }
}

function refuseUnknown(all: ReadonlyMap<string, Extension>, processed: ReadonlySet<string>): void {
  for (const [id, { critical }] of all)
    if (critical && !processed.has(id)) throw new NotDer(`a critical extension that is not supported (${id})`)
}

/** IssuingDistributionPoint (RFC 5280 §5.2.5). */
function readScope(value: DerValue): IssuingDistributionPoint {
  const fields = new DerFields(value)
  const name = fields.optional(constructedTag(0))
  const users = readFlag(fields.optional(primitiveTag(1)))
  const authorities = readFlag(fields.optional(primitiveTag(2)))
  const reasons = fields.optional(primitiveTag(3))
  const isIndirect = readFlag(fields.optional(primitiveTag(4)))
  const attributes = readFlag(fields.optional(primitiveTag(5)))
  fields.end()
  if (Number(users) + Number(authorities) + Number(attributes) > 1) throw new NotDer('a scope of two kinds')
  return {
    name: name && readDistributionPointName(name),
    only: users ? 'users' : authorities ? 'authorities' : attributes ? 'attributes' : undefined,
    reasons: reasons && readDerBits(reasons),
    isIndirect,
    octets: value.octets,
  }
}

const readFlag = (value: DerValue | undefined): boolean => value !== undefined && readDerBoolean(value)

/** revokedCertificates. In an indirect list an entry inherits the previous issuer (§5.3.3). */
function readEntries(list: DerValue | undefined, issuerKey: string, isIndirect: boolean) {
  const entries = new Map<string, Map<string, number>>()
  let owner = issuerKey
  let size = 0
  for (const entry of list ? readDerList(list) : []) {
    const fields = new DerFields(entry)
    const serial = fields.required(INTEGER)
    fields.required(UTC_TIME, GENERALIZED_TIME)
    const extensions = fields.optional(SEQUENCE)
    fields.end()
    const { reason, issuer } = extensions ? readEntryExtensions(extensions) : noEntryExtensions
    if (issuer !== undefined && !isIndirect)
      throw new NotDer('an entry of another issuer in a list that is not indirect')
    owner = issuer ?? owner
    let ofOwner = entries.get(owner)
    if (!ofOwner) entries.set(owner, (ofOwner = new Map()))
    ofOwner.set(readIntegerOctets(serial).toString('latin1'), reason)
    size++
  }
  return { entries, size }
}

interface EntryExtensions {
  readonly reason: number
  readonly issuer: string | undefined
}
const noEntryExtensions: EntryExtensions = { reason: CrlReason.unspecified, issuer: undefined }

function readEntryExtensions(list: DerValue): EntryExtensions {
  const all = readExtensions(list)
  refuseUnknown(all, processedOfEntries)
  const reason = all.get('2.5.29.21')
  const issuer = all.get('2.5.29.29')
  const [name, another] = issuer ? listDirectoryNames(readGeneralNames(readDer(issuer.content))) : []
  if (another || (issuer && !name)) throw new NotDer('an entry whose issuer is not one name')
  return {
    reason: reason ? readReason(readDer(reason.content)) : CrlReason.unspecified,
    issuer: name && writeNameKey(name),
  }
}

function readReason(value: DerValue): number {
  if (value.tag !== ENUMERATED) throw new NotDer('a reason that is not ENUMERATED')
  return Number(readDerInteger(value))
}

/** Undefined for octets that are not a usable list. */
export const parseRevocationList = (der: Buffer): RevocationList | undefined =>
  attempt(
    () => new RevocationList(der),
    thrown => thrown instanceof NotDer,
  )
