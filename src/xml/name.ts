import { isNcName } from './character.ts'

/**
 * Expanded names (Namespaces in XML 1.0 §2.1) as interned objects: two are equal exactly when they
 * are `===`.
 *  (1) `internName` keeps a name for the life of the process. It is for names that the program
 *      knows: constants, the names of a contract. It must never be called with text from a message,
 *      or a stranger could grow the table at will.
 *  (2) `internTransient` returns the same object, but holds a name unknown to the program only
 *      weakly, so the name lives as long as a document that has it. All names in documents are
 *      interned this way.
 * Tables are Maps, so `__proto__` and `constructor` are names like any other; V8 seeds the hashes
 * of their keys. They are the only memory outside base/memo.ts, since they are weak and have two
 * levels.
 */
export interface Name {
  /** The namespace name; empty for none. */
  readonly uri: string
  readonly local: string
}

/** The namespace of `xml:lang` and `xml:space` (Namespaces in XML §3). */
export const xmlUri = 'http://www.w3.org/XML/1998/namespace'
/** The namespace of namespace declarations (Namespaces in XML §3). */
export const xmlnsUri = 'http://www.w3.org/2000/xmlns/'

/** The names of one namespace. */
interface NamespaceNames {
  readonly uri: string
  readonly kept: Map<string, Name>
  readonly passing: Map<string, WeakRef<Name>>
}

const namespacesByUri = new Map<string, NamespaceNames>()
/** Removes names from the tables once no document has them. */
const forgottenNames = new FinalizationRegistry<{ readonly space: NamespaceNames; readonly local: string }>(
  ({ space, local }) => {
    if (space.passing.get(local)?.deref()) return // created again since then
    space.passing.delete(local)
    if (space.passing.size === 0 && space.kept.size === 0 && namespacesByUri.get(space.uri) === space)
      namespacesByUri.delete(space.uri)
  },
)

/** The name with this namespace and local part, for the life of the process. */
export function internName(uri: string, local: string): Name {
  const space = namesOfUri(uri)
  let found = space.kept.get(local)
  if (!found) {
    found = space.passing.get(local)?.deref() ?? { uri: space.uri, local }
    space.kept.set(local, found)
    space.passing.delete(local)
  }
  return found
}

/** The same name, for as long as it is used. `born` is called when it is new to the process. */
export function internTransient(uri: string, local: string, born?: () => void): Name {
  const space = namesOfUri(uri)
  const found = space.kept.get(local) ?? space.passing.get(local)?.deref()
  if (found) return found
  born?.()
  const name: Name = { uri: space.uri, local }
  space.passing.set(local, new WeakRef(name))
  forgottenNames.register(name, { space, local })
  return name
}

/**
 * The one string for this text that the names of this namespace share; undefined if the namespace
 * has no names.
 */
export function knownUri(text: string): string | undefined {
  return namespacesByUri.get(text)?.uri
}

/** For messages and maps: `{uri}local` (James Clark's notation), or only the local part. */
export function clarkNotation({ uri, local }: Name): string {
  return uri ? `{${uri}}${local}` : local
}

function namesOfUri(uri: string): NamespaceNames {
  let space = namespacesByUri.get(uri)
  if (!space) namespacesByUri.set(uri, (space = { uri, kept: new Map(), passing: new Map() }))
  return space
}

/** Anything that knows the namespaces in scope. */
interface PrefixScope {
  namespace(prefix: string): string | undefined
}

/**
 * The name that a QName in content means (XML Schema Part 2 §3.2.18): without a prefix it is in the
 * default namespace. Undefined for text that is not a QName or has an undeclared prefix.
 * @param born see `internTransient`
 */
export function resolveQName(text: string, place: PrefixScope, born?: () => void): Name | undefined {
  const written = text.trim() // white space that XML does not know is not part of a name either
  const colon = written.indexOf(':')
  const prefix = colon < 0 ? '' : written.slice(0, colon)
  const local = written.slice(colon + 1)
  if (!isNcName(local) || (colon >= 0 && !isNcName(prefix))) return undefined
  const uri = place.namespace(prefix)
  return uri === undefined ? undefined : internTransient(uri, local, born)
}
