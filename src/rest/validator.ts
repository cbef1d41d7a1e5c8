/**
 * Entity tags: `"<version>-<h>"`, strong. h tells media type, selected fields, content coding, the links this caller sees and
 * the version of the contract apart, so that no two representations of one state share a tag (RFC 9110 §8.8.3.3). It is
 * worked out once for each such variant and remembered: an answer costs no hashing.
 */
import { hash } from 'node:crypto'

const known = new Map<string, string>()
const most = 10_000

/** Hexadecimal, so without the hyphen that divides it from the version. */
export const digest = (of: string | Uint8Array): string => shortened(hash('sha256', of, 'hex'))
export const shortened = (digest: string): string => digest.slice(0, 16)

function variant(of: string): string {
  const before = known.get(of)
  if (before !== undefined) return before
  if (known.size >= most) known.clear()
  const made = digest(of).slice(0, 10)
  known.set(of, made)
  return made
}

/** @param version of the state: a number that is never used twice for its key, or a digest of what is shown */
export const entityTag = (version: number | string, of: string): string => `"${version}-${variant(of)}"`

/** The version alone, for a change to be tried again with: it is the tag of no representation. */
export const versionTag = (version: number): string => `"${version}-v"`
