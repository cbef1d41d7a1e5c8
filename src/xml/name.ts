/**
 * Expanded names (Namespaces in XML 1.0 §2.1) as interned objects: two are equal exactly when they are `===`.
 *  (1) `name(uri, local)` keeps a name for the life of the process. It is for names that the program knows: constants, the
 *      names of a contract. Never call it with text of a message, or the table grows as a stranger likes.
 *  (2) `passing(uri, local)` gives the same object, but keeps a name that the program does not know only as long as somebody
 *      holds it. All names of documents are made so.
 * Tables are Maps, so `__proto__` and `constructor` are names like others; V8 seeds the hashes of their keys.
 */
export interface Name {
  /** The namespace name; empty for none. */
  readonly uri: string
  readonly local: string
}

export const xmlUri = 'http://www.w3.org/XML/1998/namespace'
export const xmlnsUri = 'http://www.w3.org/2000/xmlns/'

/** The names of one namespace. */
interface NamespaceNames {
  readonly uri: string
  readonly kept: Map<string, Name>
  readonly passing: Map<string, WeakRef<Name>>
}

const spaces = new Map<string, NamespaceNames>()
/** Takes names that nobody holds any more out of the tables. */
const forgotten = new FinalizationRegistry<{ readonly space: NamespaceNames; readonly local: string }>(
  ({ space, local }) => {
    if (space.passing.get(local)?.deref()) return // made again since
    space.passing.delete(local)
    if (space.passing.size === 0 && space.kept.size === 0 && spaces.get(space.uri) === space) spaces.delete(space.uri)
  },
)

/** The name of this namespace and local part, for the life of the process. */
export function internName(uri: string, local: string): Name {
  const space = spaceOf(uri)
  let found = space.kept.get(local)
  if (!found) {
    found = space.passing.get(local)?.deref() ?? { uri: space.uri, local }
    space.kept.set(local, found)
    space.passing.delete(local)
  }
  return found
}

/** The same name, forgotten when nobody holds it. `born` is called when the process did not have it. */
export function internTransient(uri: string, local: string, born?: () => void): Name {
  const space = spaceOf(uri)
  const found = space.kept.get(local) ?? space.passing.get(local)?.deref()
  if (found) return found
  born?.()
  const made: Name = { uri: space.uri, local }
  space.passing.set(local, new WeakRef(made))
  forgotten.register(made, { space, local })
  return made
}

/** The same text, as the one string that the names of this namespace carry; undefined when there are none. */
export function knownUri(text: string): string | undefined {
  return spaces.get(text)?.uri
}

/** For messages and maps: `{uri}local` (James Clark's notation), or the local part alone. */
export function clark({ uri, local }: Name): string {
  return uri ? `{${uri}}${local}` : local
}

function spaceOf(uri: string): NamespaceNames {
  let space = spaces.get(uri)
  if (!space) spaces.set(uri, (space = { uri, kept: new Map(), passing: new Map() }))
  return space
}
