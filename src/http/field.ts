/** Guards the wire against response splitting: whatever is not a field is not sent. */
import { isToken } from './grammar.ts'

/** RFC 9110 §5.1: a field name is a token. */
export const isFieldName = isToken

/**
 * RFC 9110 §5.5 field-value: VCHAR, obs-text, SP and HTAB inside; no CR, LF, NUL or other control, no white space at its
 * ends, and no character beyond one octet, which would be sent as another.
 */
export function isFieldValue(value: string): boolean {
  return /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value)
}
