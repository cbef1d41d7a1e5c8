/** How the key of an AES key wrap was agreed on (XML Encryption 1.1 §5.6, §5.4.1). */

import type { KeyObject } from 'node:crypto'
import { decodeHex } from '../../base/base64.ts'
import type { Element, Name } from '../../xml/index.ts'
import { type Allowances, readDigestMethod } from '../crypto/algorithm.ts'
import type { AgreedDerivation } from '../crypto/key-agreement.ts'
import { failSecurity, refuseAlgorithm } from '../security-fault.ts'
import { onlyChildNamed, optionalChild, requiredAttribute, requiredChild } from '../tree/strict-children.ts'
import {
  agreementUri,
  algorithmAttribute,
  ConcatKDFParamsName,
  concatAttributes,
  concatUri,
  DigestMethodName,
  KeyDerivationMethodName,
  OriginatorKeyInfoName,
  RecipientKeyInfoName,
} from '../vocabulary.ts'
import { readKeyValue } from './key-value.ts'

export interface ReadAgreement {
  /** The public key that the sender has made for it. */
  readonly originator: KeyObject
  /** A KeyInfo that names the key of the receiver. */
  readonly recipient: Element | undefined
  readonly derivation: AgreedDerivation
}

const knownChildren: ReadonlySet<Name> = new Set([KeyDerivationMethodName, OriginatorKeyInfoName, RecipientKeyInfoName])

export function readAgreement(method: Element, allow: Allowances): ReadAgreement {
  requireAgreementBy(method, agreementUri)
  if (method.elements().some(({ name }) => !knownChildren.has(name)))
    return failSecurity('UnsupportedAlgorithm', 'a key agreement with parameters that ECDH-ES does not have')
  const [value, another] = requiredChild(method, OriginatorKeyInfoName).elements()
  if (!value || another)
    return failSecurity('SecurityTokenUnavailable', 'a key agreement without one key of its sender')
  return {
    originator: readKeyValue(value),
    recipient: optionalChild(method, RecipientKeyInfoName),
    derivation: readConcatenation(requiredChild(method, KeyDerivationMethodName), allow),
  }
}

function readConcatenation(method: Element, allow: Allowances): AgreedDerivation {
  requireAgreementBy(method, concatUri)
  const parameters = onlyChildNamed(method, ConcatKDFParamsName)
  return {
    digest: readDigestMethod(onlyChildNamed(parameters, DigestMethodName), allow),
    info: Buffer.concat(concatAttributes.map(name => readWholeOctets(parameters.attribute(name)))),
  }
}

/** §5.4.1: the first octet is the number of bits added to the last one, 0 for whole octets. */
function readWholeOctets(text: string | undefined): Uint8Array {
  const octets = decodeHex(text?.trim() ?? '')
  if (!(octets instanceof Uint8Array)) return failSecurity('InvalidSecurity', 'parameters that are not hexadecimal')
  if ((octets[0] ?? 0) !== 0) return failSecurity('UnsupportedAlgorithm', 'parameters that are not whole octets')
  return octets.subarray(1)
}

function requireAgreementBy(method: Element, uri: string): void {
  const stated = requiredAttribute(method, algorithmAttribute)
  if (stated !== uri) refuseAlgorithm('an unsupported key agreement', stated)
}
