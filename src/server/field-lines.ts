/**
 * RFC 9110 §5.3: lines with the same name become one value, in order, joined by ", " (Cookie by ";
 * "). No line is dropped and no member is inherited: two Hosts stay visible, and a field called
 * "constructor" or "__proto__" is a field like any other.
 */
export function addFieldLine(fields: Record<string, string>, name: string, value: string): void {
  const before = fields[name]
  fields[name] = before === undefined ? value : before + (name === 'cookie' ? '; ' : ', ') + value
}

/** The fields of a request by lower-case name; HTTP/2's pseudo-header fields are left out. */
export function joinFieldLines(lines: readonly string[]): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const name = lines[at]!.toLowerCase()
    if (name.charCodeAt(0) !== 0x3a) addFieldLine(fields, name, lines[at + 1]!)
  }
  return fields
}

/** Octets of field lines in HTTP/1.1: name, colon, space, value, CRLF. */
export function measureFieldLines(lines: readonly string[]): number {
  let size = 0
  for (const text of lines) size += text.length + 2
  return size
}
