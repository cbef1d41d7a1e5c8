/**
 * WSS SOAP Message Security 1.1 §8.5: a reply repeats the signature values of its request, which
 * proves that it belongs to this request, and that the request arrived as it was signed. Each value
 * occurs once, no other does, and the reply's own signature covers them. Where nothing has to be
 * confirmed, a reply is at least not the request itself, which the same key may have signed.
 */
import { encodeBase64 } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { SignatureConfirmationName, valueAttribute } from '../vocabulary.ts'
import type { Incoming } from './incoming.ts'
import type { VerifiedSignature } from './signature.ts'

/** Refuses a message that these signatures show not to be a reply to the request. */
export function requireReply(
  block: Element,
  { sent = [], isUnconfirmed }: Pick<Incoming, 'sent' | 'isUnconfirmed'>,
  signature: Pick<VerifiedSignature<unknown>, 'elements' | 'value'> | undefined,
): void {
  if (signature && sent.some(value => value.equals(signature.value)))
    failSecurity('FailedCheck', 'the request itself in place of a reply')
  if (!isUnconfirmed || block.elements(SignatureConfirmationName).length > 0)
    requireConfirmation(block, sent, signature?.elements)
}

/**
 * @param sent the signature values of the request; empty if it had none, which an element without a
 *   value confirms
 */
function requireConfirmation(block: Element, sent: readonly Buffer[], covered: ReadonlySet<Element> | undefined): void {
  const confirmations = block.elements(SignatureConfirmationName)
  const values = confirmations.map(element => element.attribute(valueAttribute)?.trim() ?? '').sort()
  const expected = (sent.length === 0 ? [''] : sent.map(value => encodeBase64(value))).sort()
  if (values.length !== expected.length || values.some((value, at) => value !== expected[at])) {
    failSecurity('FailedCheck', 'a reply to another request')
  }
  if (!confirmations.every(element => covered?.has(element)))
    failSecurity('FailedCheck', 'a confirmation that is not signed')
}
