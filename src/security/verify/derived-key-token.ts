/**
 * A DerivedKeyToken (WS-SecureConversation 1.3 §7.1), read strictly: it names an EncryptedKey, so
 * there are no chains or cycles, and its numbers are small, so a derivation is cheap.
 */
import type { Element, Name } from '../../xml/index.ts'
import { defaultLabel, type KeyDerivation } from '../crypto/derived-key.ts'
import { failSecurity } from '../security-fault.ts'
import { optionalChild, readBase64, requiredChild, textOnly, trimmedText } from '../tree/strict-children.ts'
import {
  algorithmAttribute,
  DerivedNonceName,
  derivationAttribute,
  derivationUri,
  GenerationName,
  LabelName,
  LengthName,
  OffsetName,
  SecurityName,
  SecurityTokenReferenceName,
} from '../vocabulary.ts'

/** The statements of a token about a key: its source, and how to derive it. */
export interface DerivedKeyClaim {
  /** The SecurityTokenReference to the secret. */
  readonly reference: Element
  readonly derivation: KeyDerivation
}

// In octets. The keys of all supported algorithms fit; an honest nonce has 16 octets.
const keyOctetsMin = 16
const keyOctetsMax = 64
const sequenceOctetsMax = 256
const nonceOctetsMax = 128
const labelOctetsMax = 256
const defaultKeyOctets = 32

/** @throws Insecure */
export function readDerivedKeyToken(token: Element): DerivedKeyClaim {
  if (token.parent?.name !== SecurityName)
    return failSecurity('InvalidSecurity', 'a DerivedKeyToken outside of the Security block')
  const unknown = token.elements().find(({ name }) => !knownChildren.has(name))
  if (unknown) return failSecurity('UnsupportedSecurityToken', `a DerivedKeyToken with ${unknown.name.local}`)
  const algorithms = [algorithmAttribute, derivationAttribute].map(name => token.attribute(name))
  if (algorithms.some(each => each !== undefined && each !== derivationUri))
    return failSecurity('UnsupportedAlgorithm', 'an unsupported derivation of keys')
  const length = readSmallNumber(token, LengthName) ?? defaultKeyOctets
  const offset = readOffset(token, length)
  if (length < keyOctetsMin || length > keyOctetsMax || offset + length > sequenceOctetsMax)
    return failSecurity('InvalidSecurityToken', 'a derived key that is too short, too long or at too large an offset')
  const label = optionalChild(token, LabelName)
  const derivation = { label: (label && readLabel(label)) || defaultLabel, nonce: readNonce(token), offset, length }
  return { reference: requiredChild(token, SecurityTokenReferenceName), derivation }
}

const knownChildren: ReadonlySet<Name> = new Set([
  SecurityTokenReferenceName,
  GenerationName,
  OffsetName,
  LengthName,
  LabelName,
  DerivedNonceName,
])

/** A generation counts keys of this length; only one of offset and generation may occur. */
function readOffset(token: Element, length: number): number {
  const generation = readSmallNumber(token, GenerationName)
  const offset = readSmallNumber(token, OffsetName)
  if (generation !== undefined && offset !== undefined)
    return failSecurity('InvalidSecurityToken', 'a derived key with both Generation and Offset')
  return offset ?? (generation ?? 0) * length
}

function readSmallNumber(token: Element, name: Name): number | undefined {
  const child = optionalChild(token, name)
  if (!child) return undefined
  const text = trimmedText(child)
  return /^\d{1,9}$/.test(text)
    ? Number(text)
    : failSecurity('InvalidSecurityToken', `${name.local} that is not a small number`)
}

function readLabel(element: Element): string {
  const label = textOnly(element)
  return Buffer.byteLength(label) > labelOctetsMax
    ? failSecurity('InvalidSecurityToken', 'a Label that is too long')
    : label
}

/** The standard allows a nonce that the receiver already knows; this receiver knows none. */
function readNonce(token: Element): Buffer {
  const nonce = readBase64(requiredChild(token, DerivedNonceName), 'InvalidSecurityToken')
  return nonce.length === 0 || nonce.length > nonceOctetsMax
    ? failSecurity('InvalidSecurityToken', 'a Nonce that is empty or too long')
    : nonce
}
