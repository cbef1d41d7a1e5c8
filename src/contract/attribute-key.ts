/** The names of attributes of any name, as members of an object: `{namespace}local`. */
import { matchesNcName } from './lexical/text.ts'

const clarkText = /^(?:\{([^{}]*)\})?([^{}]+)$/
/**
 * Of these no wildcard takes an attribute: declarations are none (Namespaces in XML §3), and those
 * of XMLSchema-instance tell how a document is read (XML Schema Part 1 §3.2.7).
 */
const reservedNamespaces: ReadonlySet<string> = new Set([
  'http://www.w3.org/2000/xmlns/',
  'http://www.w3.org/2001/XMLSchema-instance',
])

/** Undefined where no attribute can have this name. */
export function parseAttributeKey(key: string): { readonly uri: string; readonly local: string } | undefined {
  const [, uri = '', local = ''] = clarkText.exec(key) ?? []
  const isDeclaration = reservedNamespaces.has(uri) || (uri === '' && local === 'xmlns')
  return matchesNcName(local) && !isDeclaration ? { uri, local } : undefined
}
