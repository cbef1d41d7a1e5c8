/**
 * XML Signature (second edition) as WS-Security uses it. What always holds, by number:
 *  (1) The checks run in this order, each before the next one costs anything: shape and algorithms,
 *      the key and whether it is trusted, the SignatureValue over the canonical SignedInfo, and
 *      only then the references, at most `referencesMax`.
 *  (2) A reference names one element of the message's own document, by an identifier that occurs
 *      there once, or an attachment. No other URI is followed, and only listed transforms are
 *      applied.
 *  (3) All canonical forms together are in proportion to the length of the message
 *      (`CanonicalBudget`).
 *  (4) The element that was digested is itself handed on. The reader of the message reads that
 *      object, or refuses.
 * Deliberately absent: XPath, XSLT, base64, XPointer, Manifest, RetrievalMethod, and keys that a
 * message brings along.
 */

import { hash, type KeyObject } from 'node:crypto'
import { removeBlanks } from '../../base/base64.ts'
import type { AttachmentForm } from '../../contract/endpoint-rule.ts'
import type { CanonicalBudget } from '../../xml/canonical-budget.ts'
import type { CanonicalForm, Element } from '../../xml/index.ts'
import {
  type Allowances,
  isCanonicalization,
  readCanonicalization,
  readDigestMethod,
  readSignatureMethod,
  verifySignatureValue,
} from '../crypto/algorithm.ts'
import { failSecurity, orFail, refuseAlgorithm } from '../security-fault.ts'
import { digestedOctets } from '../tree/attachment-octets.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import {
  onlyChildNamed,
  optionalChild,
  readBase64,
  requiredAttribute,
  requiredChild,
  textOnly,
} from '../tree/strict-children.ts'
import {
  algorithmAttribute,
  attachmentCompleteUri,
  attachmentContentUri,
  CanonicalizationMethodName,
  DigestMethodName,
  DigestValueName,
  dsNs,
  KeyInfoName,
  ReferenceName,
  SecurityTokenReferenceName,
  SignatureMethodName,
  SignatureObjectName,
  SignatureValueName,
  SignedInfoName,
  strTransformUri,
  TransformationParametersName,
  TransformName,
  TransformsName,
  uriAttribute,
} from '../vocabulary.ts'
import { IncomingParts } from './incoming-parts.ts'

/**
 * More are an attack (X4): a message has a Body, a Timestamp, tokens, up to seven blocks of
 * WS-Addressing and those of its contract. Each attachment adds one.
 */
export const referencesMax = 24

/** The dependencies of the check of a signature. `S` is the type of a known signer. */
export interface SignatureContext<S extends { readonly key: KeyObject }> {
  readonly identifiers: Identifiers
  readonly budget: CanonicalBudget
  readonly allow: Allowances
  /** The signer that this KeyInfo names; refuses an untrusted one. */
  readonly signer: (keyInfo: Element | undefined) => S
  /** The token that a SecurityTokenReference refers to, in the document. */
  readonly token?: (reference: Element) => Element
  /** The attachments of the message. */
  readonly parts?: IncomingParts
}

export interface VerifiedSignature<S> {
  /** The Signature. */
  readonly element: Element
  readonly signer: S
  /** The elements that were digested. */
  readonly elements: ReadonlySet<Element>
  /** How attachments were digested, by Content-ID. */
  readonly attachments: ReadonlyMap<string, AttachmentForm>
  /**
   * The digest of the canonical SignedInfo: it identifies this signature even where its value can
   * be varied (ECDSA).
   */
  readonly digest: string
  readonly value: Buffer
}

/** The proof that a Signature element holds. @throws Insecure */
export function verifySignature<S extends { readonly key: KeyObject }>(
  signature: Element,
  context: SignatureContext<S>,
): VerifiedSignature<S> {
  const [signedInfo, signatureValue, keyInfo] = splitSignature(signature)
  const [form, method, references] = readSignedInfo(signedInfo, context)
  const value = readBase64(signatureValue, 'FailedCheck')
  const signer = context.signer(keyInfo)
  const octets = orFail('FailedCheck', 'SignedInfo', () => context.budget.canonicalize(signedInfo, form))
  if (!verifySignatureValue(method, signer.key, octets, value))
    return failSecurity('FailedCheck', 'the SignatureValue is wrong')
  const elements = new Set<Element>()
  const attachments = new Map<string, AttachmentForm>()
  for (const reference of references) {
    const target = verifyReference(reference, signature, context)
    if ('name' in target) elements.add(target)
    else if (attachments.has(target.id)) failSecurity('InvalidSecurity', 'an attachment that is signed twice')
    else attachments.set(target.id, target.form)
  }
  return { element: signature, signer, elements, attachments, digest: hash('sha256', octets, 'base64url'), value }
}

/**
 * XML Signature §4.2: SignedInfo, SignatureValue, KeyInfo?, Object*; nothing else, and each of the
 * first three once.
 */
function splitSignature(signature: Element): [Element, Element, Element | undefined] {
  const [signedInfo, signatureValue, ...others] = signature.elements()
  if (signedInfo?.name !== SignedInfoName || signatureValue?.name !== SignatureValueName) {
    return failSecurity('InvalidSecurity', 'a Signature without SignedInfo and SignatureValue')
  }
  const keyInfo = others[0]?.name === KeyInfoName ? others.shift() : undefined
  if (others.some(other => other.name !== SignatureObjectName))
    return failSecurity('InvalidSecurity', 'a Signature with unexpected content')
  return [signedInfo, signatureValue, keyInfo]
}

/** XML Signature §4.4. */
function readSignedInfo(
  signedInfo: Element,
  { allow, parts }: Pick<SignatureContext<never>, 'allow' | 'parts'>,
): [CanonicalForm, ReturnType<typeof readSignatureMethod>, Element[]] {
  const [canonicalization, method, ...references] = signedInfo.elements()
  if (canonicalization?.name !== CanonicalizationMethodName || method?.name !== SignatureMethodName) {
    return failSecurity('InvalidSecurity', 'a SignedInfo without its methods')
  }
  if (references.length === 0) return failSecurity('InvalidSecurity', 'a signature without references')
  if (references.length > referencesMax + (parts?.count ?? 0))
    return failSecurity('InvalidSecurity', 'too many references')
  if (references.some(({ name }) => name !== ReferenceName))
    return failSecurity('InvalidSecurity', 'a SignedInfo with unexpected content')
  return [readCanonicalization(canonicalization), readSignatureMethod(method, allow), references]
}

interface DigestedAttachment {
  readonly id: string
  readonly form: AttachmentForm
}

/** XML Signature §4.4.3: the target of a reference, once its digest is verified. */
function verifyReference<S extends { readonly key: KeyObject }>(
  reference: Element,
  signature: Element,
  context: SignatureContext<S>,
): Element | DigestedAttachment {
  const uri = requiredAttribute(reference, uriAttribute)
  const listed = optionalChild(reference, TransformsName)
  const transforms = listed?.elements() ?? []
  if (reference.elements().length !== (listed ? 3 : 2))
    return failSecurity('InvalidSecurity', 'a Reference with unexpected content')
  const algorithm = readDigestMethod(requiredChild(reference, DigestMethodName), context.allow)
  const value = requiredChild(reference, DigestValueName)
  const expected = removeBlanks(textOnly(value, 'FailedCheck'))
  const check = (octets: Uint8Array | string) => {
    // Compared as text: octets have only one spelling in base64 (RFC 4648 §3.5).
    if (hash(algorithm, octets, 'base64') === expected) return
    readBase64(value, 'FailedCheck')
    failSecurity('FailedCheck', 'a digest is wrong')
  }
  if (uri.startsWith('cid:')) {
    const { octets, ...found } = readAttachment(uri, transforms, context)
    check(octets)
    return found
  }
  const target =
    context.identifiers.findReferred(uri) ??
    failSecurity('FailedCheck', 'a reference to an element that is not in this document')
  const [element, octets] = transformElement(target, transforms, signature, context)
  check(octets)
  return element
}

/** SwA Profile 1.1 §5.3, §5.4: the content, with or without some of its fields. */
function readAttachment<S extends { readonly key: KeyObject }>(
  uri: string,
  transforms: readonly Element[],
  { parts = new IncomingParts(), budget }: SignatureContext<S>,
): DigestedAttachment & { readonly octets: Uint8Array } {
  const [transform, another] = transforms
  const kind = transform?.name === TransformName ? requiredAttribute(transform, algorithmAttribute) : ''
  if (another || (kind !== attachmentContentUri && kind !== attachmentCompleteUri))
    return refuseAlgorithm('an attachment with an unsupported transform', kind)
  const [id, part] = parts.require(uri)
  const form: AttachmentForm = kind === attachmentCompleteUri ? 'complete' : 'content'
  const digested = () => digestedOctets(part, form === 'complete', (node, as) => budget.canonicalize(node, as))
  return { id, form, octets: orFail('FailedCheck', 'an attachment', digested) }
}

const envelopedUri = `${dsNs}enveloped-signature`

/**
 * The covered element, and the octets digested for it. Supported: enveloped-signature (XML
 * Signature §6.6.4; without effect on an element that does not contain the Signature), then one
 * canonicalization; or STR-Transform alone (WSS §8.3). A reference to an identifier leaves comments
 * out (XML Signature §4.4.3.3), even where the canonicalization would keep them.
 */
function transformElement<S extends { readonly key: KeyObject }>(
  target: Element,
  transforms: readonly Element[],
  signature: Element,
  context: SignatureContext<S>,
): [Element, Uint8Array | string] {
  const kinds = transforms.map(transform =>
    transform.name === TransformName
      ? requiredAttribute(transform, algorithmAttribute)
      : failSecurity('InvalidSecurity', 'Transforms with unexpected content'),
  )
  if (kinds.length === 1 && kinds[0] === strTransformUri) return transformReference(target, transforms[0]!, context)
  let last = kinds.length
  const form = last > 0 && isCanonicalization(kinds[last - 1]!) ? readCanonicalization(transforms[--last]!) : plainForm
  const without = last > 0 && kinds[last - 1] === envelopedUri && last--
  if (last !== 0) return refuseAlgorithm('an unsupported transform, or an order of them', ...kinds)
  const octets = orFail('FailedCheck', 'a reference', () =>
    context.budget.canonicalize(target, {
      ...form,
      comments: false,
      ...(without !== false && { without: signature }),
    }),
  )
  return [target, octets]
}

/** XML Signature §4.4.3.2: for a node-set that no transform turned into octets. */
const plainForm: CanonicalForm = { exclusive: false, comments: false }

/**
 * WSS §8.3: the token replaces the reference to it, always with a default namespace declaration.
 */
function transformReference<S extends { readonly key: KeyObject }>(
  target: Element,
  transform: Element,
  context: SignatureContext<S>,
): [Element, string] {
  if (target.name !== SecurityTokenReferenceName || !context.token) {
    return failSecurity('InvalidSecurity', 'an STR-Transform of something other than a token reference')
  }
  const form = readCanonicalization(
    onlyChildNamed(onlyChildNamed(transform, TransformationParametersName), CanonicalizationMethodName),
  )
  const token = context.token(target)
  const octets = orFail('FailedCheck', 'a token', () =>
    context.budget.canonicalize(token, { ...form, comments: false }),
  )
  return [token, addDefaultNamespace(Buffer.from(octets).toString())]
}

function addDefaultNamespace(text: string): string {
  const [tag] = /^<[^ >]*/.exec(text) ?? ['']
  const start = text.slice(0, text.indexOf('>'))
  return start.includes(' xmlns="') ? text : `${tag} xmlns=""${text.slice(tag.length)}`
}
