/**
 * RFC 9530 Content-Digest, Repr-Digest and their Want- fields, for the two algorithms that are
 * active in its registry; all others are left aside, as §2 allows. Nothing is computed here.
 */
import { parseDictionary } from './structured-fields.ts'

export type DigestAlgorithm = 'sha-256' | 'sha-512'

const isDigestAlgorithm = (name: string): name is DigestAlgorithm => name === 'sha-256' || name === 'sha-512'

/** The digests of algorithms that are known; undefined if the field is malformed (§2, §3). */
export function parseDigests(field: string): ReadonlyMap<DigestAlgorithm, Uint8Array> | undefined {
  const found = new Map<DigestAlgorithm, Uint8Array>()
  const members = parseDictionary(field)
  if (!members || members.size === 0) return undefined
  for (const [name, member] of members) {
    if (member.kind !== 'bytes') return undefined
    if (isDigestAlgorithm(name)) found.set(name, member.value)
  }
  return found
}

/** §4: the known algorithm with the largest preference from 1 to 10; undefined without one. */
export function preferredDigest(field: string): DigestAlgorithm | undefined {
  let found: DigestAlgorithm | undefined
  let most = 0
  for (const [name, member] of parseDictionary(field) ?? []) {
    if (!isDigestAlgorithm(name) || member.kind !== 'integer' || member.value > 10 || member.value <= most) continue
    most = member.value
    found = name
  }
  return found
}
