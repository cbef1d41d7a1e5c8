import { createHash } from 'node:crypto'

/** PostgreSQL truncates a name to 63 bytes: a longer one ends in a digest of the whole. */
export function databaseName(text: string): string {
  if (Buffer.byteLength(text) <= 63) return text
  return `${text.slice(0, 12)}#${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
