/**
 * WSS SOAP Message Security 1.1 §8.5: a reply repeats the signature values of its request, which
 * proves that it belongs to this request, and that the request arrived as it was signed. Each value
 * occurs once, no other does, and the reply's own signature covers them.
 */
import { encodeBase64 } from '../../base/base64.ts'
import type { Element } from '../../xml/index.ts'
import { failSecurity } from '../security-fault.ts'
import { SignatureConfirmationName, valueAttribute } from '../vocabulary.ts'

/**
 * @param sent the signature values of the request; empty if it had none, which an element without a
 *   value confirms
 */
export function requireConfirmation(
  block: Element,
  sent: readonly Buffer[],
  covered: ReadonlySet<Element> | undefined,
): void {
  const found = block.elements(SignatureConfirmationName)
  const said = found.map(element => element.attribute(valueAttribute)?.trim() ?? '').sort()
  const expected = (sent.length === 0 ? [''] : sent.map(value => encodeBase64(value))).sort()
  if (said.length !== expected.length || said.some((value, at) => value !== expected[at])) {
    failSecurity('FailedCheck', 'a reply to another request')
  }
  if (!found.every(element => covered?.has(element))) failSecurity('FailedCheck', 'a confirmation that is not signed')
}
