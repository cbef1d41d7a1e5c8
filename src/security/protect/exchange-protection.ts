/**
 * Outgoing messages protected by the key of their exchange (WS-SecurityPolicy 1.3 §7.4). The Body
 * is encrypted before the signature, which covers the ciphertext; a request carries the key, and
 * the caller's certificate endorses its signature; a reply refers to the key of its request (WSS
 * 1.1 §7.3).
 */
import { createSecretKey, randomBytes } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import type { NamingForm } from '../../contract/endpoint-rule.ts'
import type { Element } from '../../xml/index.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { defaultLabel, deriveKey, type ExchangeKey, exchangeKeyOf } from '../crypto/derived-key.ts'
import { type SuiteAlgorithms, suiteTransport, usualSuite } from '../policy/algorithm-suite.ts'
import type { CoveredPart, KeyForm } from '../policy/policy.ts'
import type { Decryption } from '../policy/verification-context.ts'
import * as n from '../vocabulary.ts'
import { encryptInPlace, sealKey, writeEncryptedKey, writeSentReference } from './encrypt.ts'
import { createId, type ProtectionDraft, writeTokenReference } from './protection-draft.ts'
import { listTargets, signTargets, writeKeyInfo } from './sign.ts'

/** The use of the key of an exchange for one message. */
interface ExchangeUse {
  readonly form: KeyForm
  /** The signed parts: all elements of each. */
  readonly signed: readonly CoveredPart[]
  /** Whether attachments and the content of the Body are encrypted. */
  readonly encrypts: boolean
  /** Default: Basic256Sha256. */
  readonly suite?: SuiteAlgorithms
}

/**
 * For a request: the certificate to which the new key is encrypted, and the key pair with which the
 * caller endorses.
 */
export interface RequestExchange extends ExchangeUse {
  readonly to: Certificate
  /** How the message names it. Default: `thumbprint`. */
  readonly refer?: NamingForm | undefined
  readonly endorsedBy: Decryption
}

/** For a reply: the key of its request. */
export interface AnswerExchange extends ExchangeUse {
  readonly key: ExchangeKey
}

/** The key and the signatures that were added to a message. */
export interface ExchangeProtected {
  readonly exchangeKey: ExchangeKey
  /** The values of the signatures. */
  readonly signatures: readonly Buffer[]
}

/** Adds key, signatures and encryption to a message that already has its tokens. */
export function protectByExchangeKey(
  draft: ProtectionDraft,
  protection: RequestExchange | AnswerExchange,
): ExchangeProtected {
  const { form, signed, encrypts, suite = usualSuite } = protection
  const { hash, cipher, derivedOctets } = suite
  const secret = 'to' in protection ? sendKey(draft, protection, suite) : referToKey(protection.key)
  const useFor = (length: number) => (form === 'derived' ? addDerivedKey(draft, secret, length) : secret)
  const ciphering = encrypts ? useFor(derivedOctets.encrypt) : undefined
  const sealed = ciphering && encryptInPlace(draft, sealedParts, { cipher, isSignedAfter: true, ...ciphering })
  const signing = useFor(derivedOctets.sign)
  const key = createSecretKey(signing.secret)
  const endorser = 'to' in protection ? addEndorser(draft, protection.endorsedBy) : undefined
  const targets = [...listTargets(draft, signed), ...(endorser ? [endorser.token] : [])]
  const { element, value } = signTargets(draft, { key, hash }, signing.reference, targets)
  const endorsements = endorser
    ? [signTargets(draft, { key: endorser.key, hash }, endorser.keyInfo, [element]).value]
    : []
  for (const each of sealed ? [sealed.list, ...sealed.data] : []) draft.add(each)
  return { exchangeKey: secret.exchangeKey, signatures: [value, ...endorsements] }
}

const sealedParts: readonly CoveredPart[] = ['Body', 'Attachments']

interface ReferredSecret {
  readonly secret: Buffer
  /** A SecurityTokenReference. */
  readonly reference: string
}
interface ReferredKey extends ReferredSecret {
  readonly exchangeKey: ExchangeKey
}

function sendKey(
  draft: ProtectionDraft,
  { to, refer }: Pick<RequestExchange, 'to' | 'refer'>,
  { keyOctets }: SuiteAlgorithms,
): ReferredKey {
  const id = createId('EK')
  const secret = randomBytes(keyOctets)
  const sealed = sealKey(to, secret, suiteTransport, refer)
  draft.add(writeEncryptedKey(id, sealed))
  return { secret, reference: writeSentReference(id), exchangeKey: exchangeKeyOf(secret, sealed.octets) }
}

function referToKey(exchangeKey: ExchangeKey): ReferredKey {
  const identifier = `<wsse:KeyIdentifier EncodingType="${n.base64TypeUri}" ValueType="${n.keyIdentifierEncryptedKeyUri}">${encodeBase64(exchangeKey.digest)}</wsse:KeyIdentifier>`
  return { secret: exchangeKey.octets, reference: writeTokenReference(identifier, n.encryptedKeyTypeUri), exchangeKey }
}

/** WS-SecureConversation 1.3 §7.1. */
function addDerivedKey(draft: ProtectionDraft, { secret, reference }: ReferredSecret, length: number): ReferredSecret {
  const id = createId('DK')
  const nonce = randomBytes(16)
  draft.add(
    `<wsc:DerivedKeyToken xmlns:wsc="${n.secureConversationNs}" wsu:Id="${id}">${reference}` +
      `<wsc:Offset>0</wsc:Offset><wsc:Length>${length}</wsc:Length><wsc:Nonce>${encodeBase64(nonce)}</wsc:Nonce></wsc:DerivedKeyToken>`,
  )
  return {
    secret: deriveKey(secret, { label: defaultLabel, nonce, offset: 0, length }),
    reference: writeTokenReference(`<wsse:Reference URI="#${id}" ValueType="${n.derivedKeyTypeUri}"/>`),
  }
}

interface Endorser {
  readonly key: Decryption['key']
  readonly keyInfo: string
  /** The signer's certificate in the message. */
  readonly token: Element
}

/**
 * The caller signs the signature of the message (WS-SecurityPolicy 1.3 §8.3), which covers the
 * certificate of the caller (§8.4), so no other party can endorse it.
 */
function addEndorser(draft: ProtectionDraft, { key, certificate }: Decryption): Endorser {
  const keyInfo = writeKeyInfo(draft, { certificate, refer: 'direct' })
  const token = draft.security.elements(n.BinarySecurityTokenName).at(-1)!
  return { key, keyInfo, token }
}
