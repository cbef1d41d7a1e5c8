/**
 * Bare keys (XML Signature 1.1 §4.5.2, §4.5.10). A key in a message proves nothing by itself: it
 * counts where an assertion vouches for it, or where it repeats the key of a certificate.
 */

import { createPublicKey, type KeyObject } from 'node:crypto'
import { encodeBase64Url } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { curveUris } from '../crypto/key-strength.ts'
import { failSecurity, orFail } from '../security-fault.ts'
import { readBase64, requiredAttribute, requiredChild } from '../tree/strict-children.ts'
import {
  DEREncodedKeyValueName,
  ECKeyValueName,
  ExponentName,
  ModulusName,
  NamedCurveName,
  PublicKeyName,
  RSAKeyValueName,
  uriAttribute,
} from '../vocabulary.ts'

const fault = 'InvalidSecurityToken'

/** The key in a KeyValue or a DEREncodedKeyValue. */
export function readKeyValue(element: Element): KeyObject {
  if (element.name === DEREncodedKeyValueName) {
    const key = readBase64(element, fault)
    return orFail(fault, 'an invalid key in DER', () => createPublicKey({ key, format: 'der', type: 'spki' }))
  }
  const [child, another] = element.elements()
  if (child && !another && child.name === RSAKeyValueName) return readRsaKey(child)
  if (child && !another && child.name === ECKeyValueName) return readEcKey(child)
  return failSecurity('SecurityTokenUnavailable', 'a key of an unsupported kind')
}

function readRsaKey(value: Element): KeyObject {
  const n = encodeBase64Url(readBase64(requiredChild(value, ModulusName), fault))
  const e = encodeBase64Url(readBase64(requiredChild(value, ExponentName), fault))
  return orFail(fault, 'an invalid RSA key', () => createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }))
}

function readEcKey(value: Element): KeyObject {
  const crv =
    curveOfUri.get(requiredAttribute(requiredChild(value, NamedCurveName), uriAttribute)) ??
    failSecurity(fault, 'an unsupported curve')
  const point = readBase64(requiredChild(value, PublicKeyName), fault)
  const half = (point.length - 1) / 2
  if (point[0] !== 0x04) return failSecurity(fault, 'a point in an unsupported form')
  const x = encodeBase64Url(point.subarray(1, 1 + half))
  const y = encodeBase64Url(point.subarray(1 + half))
  return orFail(fault, 'an invalid EC key', () => createPublicKey({ key: { kty: 'EC', crv, x, y }, format: 'jwk' }))
}

const curveOfUri: ReadonlyMap<string, string> = new Map([...curveUris].map(([curve, uri]) => [uri, curve]))
