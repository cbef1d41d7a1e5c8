/**
 * Replaces what is random in a run by texts that are the same for every run: identifiers of new
 * items, versions of rows and what is made of them, numbered in the order in which they first
 * occur.
 */

/** `<prefix>-` and the random part from `host/item-identifier.ts`. */
const drawnIdentifier = /(?<=\b[A-Za-z][\w]*-)[0-9a-hjkmnp-tv-z]{20}\b/g
/**
 * A version of `store/row-version.ts`, near the fixed time of a bench; or the digest of a list of
 * such versions, at the beginning of its entity tag.
 */
const drawnVersion = /\b180963[0-9]{10}\b|(?<=")[0-9a-f]{16}(?=-[0-9a-f]+")/g
const drawnUuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
/** A function that remembers the texts of one example. */
export function createStabilizer(): (text: string) => string {
  const known = new Map<string, string>()
  const settle = (write: (at: number) => string, kind: string) => (drawn: string) => {
    const key = `${kind} ${drawn}`
    const found = known.get(key) ?? write([...known.keys()].filter(each => each.startsWith(`${kind} `)).length + 1)
    known.set(key, found)
    return found
  }
  const identifier = settle(at => `00example${String(at).padStart(11, '0')}`, 'identifier')
  const version = settle(at => `18096390144${String(at).padStart(5, '0')}`, 'version')
  const uuid = settle(at => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`, 'uuid')
  return text =>
    text.replaceAll(drawnIdentifier, identifier).replaceAll(drawnUuid, uuid).replaceAll(drawnVersion, version)
}
