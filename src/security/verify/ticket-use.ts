/**
 * The key by which a repeated Kerberos AP-REQ is recognized (RFC 4120 §5.5.1): its authenticator,
 * whose ciphertext cannot be changed and still be decrypted. Anyone can change the rest, such as
 * options, key versions and the GSS-API framing, which makes another token with the same proof.
 */
import {
  constructedTag,
  DerFields,
  type DerValue,
  NotDer,
  OBJECT_IDENTIFIER,
  OCTET_STRING,
  readDer,
} from '../crypto/der.ts'
import { failSecurity } from '../security-fault.ts'

const applicationTag = (number: number): number => 0x60 | number
/** RFC 4121 §4.1.1: the mark of an AP-REQ in the framing of RFC 2743 §3.1. */
const requestMark = '0100'

/** The ciphertext of the authenticator. @throws Insecure if the token is not an AP-REQ */
export function readAuthenticator(token: Buffer): Buffer {
  try {
    return readCipherText(readDer(token))
  } catch (thrown) {
    if (thrown instanceof NotDer) return failSecurity('InvalidSecurityToken', 'a ticket in a form other than AP-REQ')
    throw thrown
  }
}

function readCipherText(token: DerValue): Buffer {
  const request = new DerFields(readOnly(token.tag === applicationTag(0) ? unframe(token) : token, applicationTag(14)))
  for (const number of [0, 1, 2, 3]) request.required(constructedTag(number)) // pvno, msg-type, ap-options, ticket
  const encrypted = new DerFields(readOnly(request.required(constructedTag(4)), constructedTag(4)))
  request.end()
  encrypted.required(constructedTag(0)) // etype
  encrypted.optional(constructedTag(1)) // kvno
  const cipher = readOnly(encrypted.required(constructedTag(2)), constructedTag(2))
  encrypted.end()
  if (cipher.tag !== OCTET_STRING) throw new NotDer('not a cipher text')
  return cipher.content
}

/** The single value inside an EXPLICIT tag. */
function readOnly({ tag, content }: DerValue, expected: number): DerValue {
  if (tag !== expected) throw new NotDer('another type')
  return readDer(content)
}

function unframe({ content }: DerValue): DerValue {
  const [tag, length = 0] = content
  const marked = content.subarray(2 + length)
  if (tag !== OBJECT_IDENTIFIER || length >= 0x80 || marked.toString('hex', 0, 2) !== requestMark)
    throw new NotDer('another framing')
  return readDer(marked.subarray(2))
}
