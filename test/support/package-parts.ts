/** Packages of multipart/related, taken apart and put together again, for tests that change them. */

export interface PackagePart {
  head: string
  /** Of octets as latin1. */
  content: string
}

/** Some begin with an empty line. */
const findDelimiter = (octets: Uint8Array): string =>
  /^(?:\r\n)?(--[^\r]*)\r\n/.exec(Buffer.from(octets).toString('latin1'))?.[1] ?? ''

/** The root first. */
export function splitPackage(octets: Uint8Array): PackagePart[] {
  const parts = `\r\n${Buffer.from(octets).toString('latin1')}`.split(`\r\n${findDelimiter(octets)}`).slice(1, -1)
  return parts.map(part => {
    const at = part.indexOf('\r\n\r\n')
    return { head: part.slice(2, at), content: part.slice(at + 4) }
  })
}

/** With the same boundary. */
export function joinPackage(octets: Uint8Array, parts: readonly PackagePart[]): Buffer {
  const first = findDelimiter(octets)
  const written = parts.map(({ head, content }) => `${first}\r\n${head}\r\n\r\n${content}\r\n`)
  return Buffer.from(`${written.join('')}${first}--\r\n`, 'latin1')
}

/** The package after a change of its parts. */
export function changePackage(octets: Uint8Array, change: (parts: PackagePart[]) => void): Buffer {
  const parts = splitPackage(octets)
  change(parts)
  return joinPackage(octets, parts)
}
