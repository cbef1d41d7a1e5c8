/** A signature over parts of an outgoing message (WSS §8, XML Signature §3.1). */

import { hash, type KeyObject } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import type { SentPart } from '../../soap/security-port.ts'
import { canonicalize, type Element, escapeText, Malformed, writeAttribute } from '../../xml/index.ts'
import {
  digestUri,
  exclusiveC14n,
  fitsKey,
  type Hash,
  type Method,
  methodUri,
  signOctets,
} from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { type CoveredPart, signedAttachmentsOf } from '../policy/policy.ts'
import { digestedOctets } from '../tree/attachment-octets.ts'
import { trustedFragment } from '../tree/tree-edit.ts'
import { includedParts } from '../tree/xop-inline.ts'
import { isAssertion } from '../verify/saml.ts'
import * as n from '../vocabulary.ts'
import { listContentPrefixes } from './content-prefixes.ts'
import {
  createId,
  type ProtectionDraft,
  partFieldsOf,
  partUri,
  type ReferenceForm,
  writeBinaryToken,
  writeCertificateReference,
  writeTokenReference,
} from './protection-draft.ts'

/**
 * A signature to create: its key, the way to name the key, the parts that it covers (XML Signature
 * 1.1, WSS 1.1 §8).
 */
export interface Signing {
  /** A private key, or a secret shared by both sides. */
  readonly key: KeyObject
  /**
   * How the receiver identifies the key: by a certificate and the way to name it, by the name of a
   * secret, or by the message's assertion.
   */
  readonly by:
    | { readonly certificate: Certificate; readonly refer: ReferenceForm }
    | { readonly name: string }
    | 'assertion'
  /** The covered parts: all elements of each. SignatureConfirmations are always covered. */
  readonly parts: readonly CoveredPart[]
  /** Default: SHA-256. */
  readonly hash?: Hash
  /** RSASSA-PSS instead of PKCS#1 v1.5. */
  readonly pss?: boolean
}

/** Adds a Signature to the Security block. @returns its SignatureValue */
export function signParts(draft: ProtectionDraft, signing: Signing): Buffer {
  const keyInfo = writeKeyInfo(draft, signing.by)
  return signTargets(draft, signing, keyInfo, [...new Set(listTargets(draft, signing.parts))]).value
}

/** The target of one reference of a signature. */
type SignatureTarget = Element | SignedPart

interface SignedPart {
  readonly part: SentPart
  /** With the fields that describe it. */
  readonly isComplete: boolean
}

/** The elements of the parts, then those that are always signed, then the attachments. */
export function listTargets(draft: ProtectionDraft, parts: readonly CoveredPart[]): readonly SignatureTarget[] {
  const confirmations = draft.security.elements(n.SignatureConfirmationName)
  const targets = [...parts.flatMap(part => draft.elementsOf(part)), ...confirmations]
  if (targets.some(target => includedParts(target).length > 0))
    throw new TypeError('a signature does not cover the octets that an Include refers to: put them inside the XML')
  const attached = signedAttachmentsOf(parts)
  const isComplete = attached === 'CompleteAttachments'
  return [...targets, ...(attached ? draft.attached.map(part => ({ part, isComplete })) : [])]
}

/** Adds a Signature over these targets. @param keyInfo the content of its KeyInfo */
export function signTargets(
  draft: ProtectionDraft,
  signing: Pick<Signing, 'key' | 'hash' | 'pss'>,
  keyInfo: string,
  targets: readonly SignatureTarget[],
): { readonly element: Element; readonly value: Buffer } {
  const method = methodFor(signing)
  const references = targets.map(target => writeReference(target, signing.hash ?? 'sha256'))
  const element = draft.add(
    `<ds:Signature xmlns:ds="${n.dsNs}" Id="${createId('SIG')}"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="${exclusiveC14n}"/>` +
      `<ds:SignatureMethod Algorithm="${methodUri(method.family, method.hash)}"/>${references.join('')}</ds:SignedInfo></ds:Signature>`,
  )
  const info = element.elements(n.SignedInfoName)[0]!
  const octets = Buffer.from(canonicalize(info, { exclusive: true, comments: false }))
  const value = signOctets(method, signing.key, octets)
  const ending = `<ds:SignatureValue>${encodeBase64(value)}</ds:SignatureValue><ds:KeyInfo>${keyInfo}</ds:KeyInfo>`
  element.append(trustedFragment(ending, element))
  return { element, value }
}

function methodFor({ key, hash = 'sha256', pss }: Pick<Signing, 'key' | 'hash' | 'pss'>): Method {
  const family = key.type === 'secret' ? 'hmac' : key.asymmetricKeyType === 'ec' ? 'ecdsa' : pss ? 'rsa-pss' : 'rsa'
  const method: Method = { family, hash }
  if (!fitsKey(method, key)) throw new TypeError('no supported algorithm fits the key')
  return method
}

/** XML Signature §4.4.3. */
function writeReference(target: SignatureTarget, algorithm: Hash): string {
  const [uri, transform, octets] = 'part' in target ? referToPart(target) : referToElement(target)
  return (
    `<ds:Reference URI=${writeAttribute(uri)}><ds:Transforms>${transform}</ds:Transforms>` +
    `<ds:DigestMethod Algorithm="${digestUri(algorithm)}"/><ds:DigestValue>${hash(algorithm, octets, 'base64')}</ds:DigestValue></ds:Reference>`
  )
}

type DigestedTarget = readonly [uri: string, transform: string, octets: Uint8Array | string]

function referToElement(target: Element): DigestedTarget {
  const id = identifierAttributes.map(name => target.attribute(name)).find(value => value !== undefined)
  if (id === undefined) throw new TypeError(`${target.name.local} has no identifier`)
  const prefixes = [...listContentPrefixes(target)].sort()
  const form = { exclusive: true, comments: false, prefixes }
  return [`#${id}`, writeTransform(exclusiveC14n, prefixes), canonicalize(target, form)]
}

/** Exclusive C14N §4. */
function writeTransform(uri: string, prefixes: readonly string[] = []): string {
  if (prefixes.length === 0) return `<ds:Transform Algorithm="${uri}"/>`
  const list = writeAttribute(prefixes.join(' '))
  return `<ds:Transform Algorithm="${uri}"><ec:InclusiveNamespaces xmlns:ec="${uri}" PrefixList=${list}/></ds:Transform>`
}

/** SwA Profile 1.1 §5.4: an attachment by its content, or with its fields. */
function referToPart({ part, isComplete }: SignedPart): DigestedTarget {
  const { id, mediaType, bytes } = part
  const transform = writeTransform(isComplete ? n.attachmentCompleteUri : n.attachmentContentUri)
  try {
    return [partUri(id), transform, digestedOctets({ type: mediaType, bytes, fields: partFieldsOf(part) }, isComplete)]
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) throw thrown
    throw new TypeError(`an attachment of ${mediaType} is not XML that can be signed: ${thrown.reason}`, {
      cause: thrown,
    })
  }
}

const identifierAttributes = [n.wsuId, n.upperIdAttribute, n.assertionIdAttribute, n.idAttribute]

/** The content of a KeyInfo; a certificate that is sent along goes before the signature. */
export function writeKeyInfo(draft: ProtectionDraft, by: Signing['by']): string {
  if (by === 'assertion') return writeAssertionReference(draft.signByToken())
  if ('name' in by) return `<ds:KeyName>${escapeText(by.name)}</ds:KeyName>`
  if (by.refer !== 'direct') return writeCertificateReference(by.certificate, by.refer)
  const id = createId('X509')
  draft.addSigningToken(writeBinaryToken(id, n.x509v3Uri, by.certificate.der))
  return writeTokenReference(`<wsse:Reference URI="#${id}" ValueType="${n.x509v3Uri}"/>`)
}

/** SAML Token Profile 1.1 §3.4. */
function writeAssertionReference(token: Element | undefined): string {
  if (!token || !isAssertion(token)) throw new TypeError('the message has no assertion')
  const isSaml2 = token.name.uri === n.saml2Ns
  const id = token.attribute(isSaml2 ? n.upperIdAttribute : n.assertionIdAttribute) ?? ''
  const identifier = `<wsse:KeyIdentifier ValueType="${isSaml2 ? n.saml2IdUri : n.saml1IdUri}">${escapeText(id)}</wsse:KeyIdentifier>`
  return writeTokenReference(identifier, isSaml2 ? n.saml2TypeUri : n.saml1TypeUri)
}
