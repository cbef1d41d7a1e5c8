/**
 * WS-Security for outgoing messages: the service's replies and the client's requests. Tokens come
 * first, then the signature over them and encryption, in the order of `encryptsFirst`: a receiver
 * undoes them from the last to the first, and finds them in this order in the Security block.
 */

import { createHash, randomBytes } from 'node:crypto'
import { encodeBase64 } from '../../base/base64.ts'
import type { SentPart, WholeMessage } from '../../soap/security-port.ts'
import { escapeText, writeElement } from '../../xml/index.ts'
import type { ExchangeKey } from '../crypto/derived-key.ts'
import * as n from '../vocabulary.ts'
import { type Encryption, encryptParts } from './encrypt.ts'
import { type AnswerExchange, protectByExchangeKey, type RequestExchange } from './exchange-protection.ts'
import { createId, ProtectionDraft, writeBinaryToken } from './protection-draft.ts'
import { type Signing, signParts } from './sign.ts'

/** Additions to a message; none by default. */
export interface Protection {
  /** The lifetime of the message in milliseconds; default 300,000. */
  readonly timestamp?: { readonly lifetime?: number }
  readonly username?: { readonly name: string; readonly password: string; readonly kind: 'text' | 'digest' }
  /** An assertion as its issuer wrote it. */
  readonly assertion?: string
  /** A Kerberos AP-REQ in the GSS-API framing. */
  readonly ticket?: Uint8Array
  readonly signature?: Signing
  readonly encryption?: Encryption
  /**
   * Encrypts before signing, so that the signature covers what is sent: then CBC is safe
   * (WS-SecurityPolicy §6.3); only for Body and attachments. Default: signs, then encrypts.
   */
  readonly encryptsFirst?: boolean
  /** Signs and encrypts with the key of the exchange, instead of `signature` and `encryption`. */
  readonly exchange?: RequestExchange | AnswerExchange
  /** WSS §8.5: the values of the signatures in the request of this reply; empty if it had none. */
  readonly confirms?: readonly Buffer[]
  /** False: a receiver without WS-Security may ignore it. */
  readonly mustUnderstand?: boolean
}

/** A message with its Security block, and the signature values that an answer must confirm. */
export interface Protected {
  readonly envelope: string
  /** The parts that travel next to it, encrypted where demanded. */
  readonly attached: readonly SentPart[]
  /** The values of its signatures, which the reply must confirm. */
  readonly signatures: readonly Buffer[]
  /** With `exchange`: the key that proves the reply. */
  readonly exchangeKey?: ExchangeKey
}

/**
 * This envelope with a Security block.
 * @param now milliseconds since 1970
 * @param attached the parts that travel next to it
 * @throws TypeError if a part to cover is missing
 */
export function protectMessage(
  envelope: string,
  protection: Protection,
  now: number,
  attached: readonly SentPart[] = [],
): Protected {
  const draft = new ProtectionDraft(envelope, protection.mustUnderstand !== false, attached)
  addTokens(draft, protection, now)
  const { signature, encryption, encryptsFirst = false, exchange } = protection
  if (exchange) return { ...protectByExchangeKey(draft, exchange), ...writeProtected(draft) }
  const inner = encryption && encryptsFirst ? encryptParts(draft, encryption, signature !== undefined) : []
  const signatures = signature ? [signParts(draft, signature)] : []
  const outer = encryption && !encryptsFirst ? encryptParts(draft, encryption, false) : []
  draft.security.splice(0, 0, outer)
  draft.security.append(inner)
  return { ...writeProtected(draft), signatures }
}

const writeProtected = ({ envelope, attached }: ProtectionDraft): WholeMessage => ({
  envelope: `<?xml version="1.0" encoding="UTF-8"?>${writeElement(envelope)}`,
  attached,
})

const defaultLifetimeMs = 300_000

function addTokens(draft: ProtectionDraft, protection: Protection, now: number): void {
  const { timestamp, username, assertion, ticket, confirms } = protection
  if (timestamp) draft.add(writeTimestamp(now, now + (timestamp.lifetime ?? defaultLifetimeMs)))
  if (username) draft.addToken(writeUsernameToken(username, now))
  if (assertion) draft.addToken(assertion)
  if (ticket) draft.addToken(writeBinaryToken(createId('KRB'), n.gssKerberosUri, ticket))
  if (confirms?.length === 0) draft.add(writeConfirmation(''))
  for (const value of confirms ?? []) draft.add(writeConfirmation(` Value="${encodeBase64(value)}"`))
}

const writeInstant = (time: number): string => new Date(time).toISOString()

/** WSS §10. */
const writeTimestamp = (created: number, expires: number): string =>
  `<wsu:Timestamp wsu:Id="${createId('TS')}"><wsu:Created>${writeInstant(created)}</wsu:Created><wsu:Expires>${writeInstant(expires)}</wsu:Expires></wsu:Timestamp>`

/** WSS §8.5. */
const writeConfirmation = (value: string): string =>
  `<wsse11:SignatureConfirmation xmlns:wsse11="${n.wsse11Ns}" wsu:Id="${createId('SC')}"${value}/>`

/** Username Token Profile 1.1 §3.1. */
function writeUsernameToken({ name, password, kind }: NonNullable<Protection['username']>, now: number): string {
  const nonce = randomBytes(16)
  const created = writeInstant(now)
  const digest = createHash('sha1').update(nonce).update(`${created}${password}`).digest('base64')
  const [type, value] = kind === 'text' ? [n.passwordTextUri, escapeText(password)] : [n.passwordDigestUri, digest]
  return (
    `<wsse:UsernameToken wsu:Id="${createId('UT')}"><wsse:Username>${escapeText(name)}</wsse:Username><wsse:Password Type="${type}">${value}</wsse:Password>` +
    `<wsse:Nonce EncodingType="${n.base64TypeUri}">${encodeBase64(nonce)}</wsse:Nonce><wsu:Created>${created}</wsu:Created></wsse:UsernameToken>`
  )
}
