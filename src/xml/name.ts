/**
 * Expanded names (Namespaces in XML 1.0 §2.1) as interned objects: two are equal exactly when they are `===`.
 *  (1) `name(uri, local)` registers a name for the life of the process. It is for names that the program knows: constants,
 *      the names of a contract. Never call it with text of a message, or the table grows as a stranger likes.
 *  (2) A document finds registered names in that table, and keeps all others in a table of its own that goes when it goes.
 *      Hence a name is registered before the documents in which it matters are read.
 *  (3) Documents that are to be compared with each other (the parts of one WSDL) are given one `Names` to share.
 * Tables are Maps, so `__proto__` and `constructor` are names like others; V8 seeds the hashes of their keys.
 */
export interface Name {
  /** The namespace name; empty for none. */
  readonly uri: string
  readonly local: string
}

interface Space {
  readonly uri: string
  readonly names: Map<string, Name>
}

type Table = Map<string, Space>

const registry: Table = new Map()

/** The one Name of this namespace and local part, for the life of the process. */
export function name(uri: string, local: string): Name {
  return intern(registry, uri, local)
}

function intern(table: Table, uri: string, local: string): Name {
  let space = table.get(uri)
  if (!space) table.set(uri, (space = { uri, names: new Map() }))
  let found = space.names.get(local)
  if (!found) space.names.set(local, (found = { uri: space.uri, local }))
  return found
}

/** For messages and maps: `{uri}local` (James Clark's notation), or the local part alone. */
export function clark({ uri, local }: Name): string {
  return uri ? `{${uri}}${local}` : local
}

/** Whether the program registered this very name: then it outlives every document. */
export function registered(of: Name): boolean {
  return registry.get(of.uri)?.names.get(of.local) === of
}

let tables = 0

/** The names of one document, or of several that are read together. */
export class Names {
  /** Never used twice in a process, and never 0. */
  readonly id: number = ++tables
  private own: Table | undefined

  name(uri: string, local: string): Name {
    return registry.get(uri)?.names.get(local) ?? intern((this.own ??= new Map()), uri, local)
  }

  /** The same text, as the one string that names of this namespace carry. */
  uri(text: string): string {
    const known = registry.get(text) ?? this.own?.get(text)
    if (known) return known.uri
    this.own ??= new Map()
    this.own.set(text, { uri: text, names: new Map() })
    return text
  }
}

export const xmlUri = 'http://www.w3.org/XML/1998/namespace'
export const xmlnsUri = 'http://www.w3.org/2000/xmlns/'
