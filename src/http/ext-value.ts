/**
 * RFC 8187 §3.2 (formerly RFC 5987): a parameter value beyond ASCII, `UTF-8''na%C3%AFve`, under a
 * name that ends in "*".
 */
import { decodePercent } from '../base/attempt.ts'

/** attr-char is written unchanged; everything else as percent-encoded UTF-8. */
export function writeExtValue(value: string): string {
  return `UTF-8''${encodeURIComponent(value.toWellFormed()).replace(/[%'()*]/g, char => (char === '%' ? char : writeEscape(char)))}`
}

const writeEscape = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * The text; undefined if malformed. UTF-8, or ISO-8859-1 as old senders write it. The language is
 * dropped.
 */
export function parseExtValue(text: string): string | undefined {
  const [, charset, value] = /^([^']*)'[^']*'((?:[A-Za-z0-9!#$&+\-.^_`|~]|%[0-9A-Fa-f]{2})*)$/.exec(text) ?? []
  if (value === undefined) return undefined
  if (charset?.toLowerCase() === 'iso-8859-1') return unescapeLatin1(value)
  return charset?.toLowerCase() === 'utf-8' ? decodePercent(value) : undefined
}

const unescapeLatin1 = (value: string) =>
  value.replace(/%(..)/g, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16)))
