import type { Fields } from '../http/message.ts'

/**
 * RFC 9110 §5.3: field lines (name, value, name, value, …) become one value for each lower-case name, in order, joined by
 * ", " (Cookie by "; ", RFC 9113 §8.2.3). Nothing is dropped and nothing inherited: two Hosts stay visible, and a field
 * called "constructor" or "__proto__" is a field like any other. HTTP/2's pseudo-header fields are left out.
 */
export function fieldsOf(lines: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const name = lines[at]!.toLowerCase()
    const value = lines[at + 1]!
    if (name.charCodeAt(0) === 0x3a) continue
    const before = fields[name]
    fields[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value
  }
  return fields
}

/** Octets that field lines take in HTTP/1.1: name, colon, space, value, CRLF. */
export function sizeOf(lines: readonly string[]): number {
  let size = 0
  for (const text of lines) size += text.length + 2
  return size
}

/** RFC 9112 §6.3, already checked by the parser: 0 without content, undefined when it comes chunked. */
export function lengthOf(fields: Fields): number | undefined {
  if (fields['transfer-encoding'] !== undefined) return undefined
  const length = fields['content-length']
  return length === undefined ? 0 : Number(length)
}
