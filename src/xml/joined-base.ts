/**
 * The xml:base of an element whose ancestors are left out (Canonical XML 1.1 §2.4): theirs joined
 * with its own. Only texts are joined: nothing is resolved or fetched.
 */

/** RFC 3986 appendix B, without the fragment. */
const uriParts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?/
interface UriParts {
  readonly scheme: string | undefined
  readonly authority: string | undefined
  readonly path: string
  readonly query: string | undefined
}
function splitUri(uri: string): UriParts {
  const [, scheme, authority, path = '', query] = uriParts.exec(uri) ?? []
  return { scheme, authority, path, query }
}
const joinUri = ({ scheme, authority, path, query }: UriParts): string =>
  `${scheme === undefined ? '' : `${scheme}:`}${authority === undefined ? '' : `//${authority}`}${path}${query === undefined ? '' : `?${query}`}`

/** §2.4, join-URI-References: RFC 3986 §5.2.2 with a base that may be relative. */
export function joinBases(base: string, reference: string): string {
  const [outer, inner] = [splitUri(base), splitUri(reference)]
  if (inner.scheme !== undefined) return joinUri({ ...inner, path: removeDotSegments(inner.path) })
  const { scheme } = outer
  if (inner.authority !== undefined) return joinUri({ ...inner, scheme, path: removeDotSegments(inner.path) })
  const { authority } = outer
  const folder = /(?:^|\/)\.\.$/.test(outer.path) ? `${outer.path}/` : outer.path
  if (inner.path === '') return joinUri({ ...outer, path: folder, query: inner.query ?? outer.query })
  const merged = inner.path.startsWith('/') ? inner.path : mergePaths(authority, folder, inner.path)
  return joinUri({ scheme, authority, path: removeDotSegments(merged), query: inner.query })
}

/** RFC 3986 §5.2.3. */
const mergePaths = (authority: string | undefined, base: string, path: string): string =>
  authority !== undefined && base === '' ? `/${path}` : base.slice(0, base.lastIndexOf('/') + 1) + path

/**
 * RFC 3986 §5.2.4 as §2.4 changes it: a leading `../` stays, a trailing `..` gets a slash, and
 * several slashes become one.
 */
export function removeDotSegments(path: string): string {
  const isAbsolute = path.startsWith('/')
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') segments.push(segment)
    else if (segments.length > 0 && segments.at(-1) !== '..') segments.pop()
    else if (!isAbsolute) segments.push(segment)
  }
  const isFolder = segments.length > 0 && /(?:^|\/)\.{0,2}$/.test(path)
  return `${isAbsolute ? '/' : ''}${segments.join('/')}${isFolder ? '/' : ''}`
}
