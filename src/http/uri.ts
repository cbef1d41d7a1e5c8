/**
 * Guards the routes against addresses that two readers understand differently (RFC 3986, RFC 9112
 * §3.2).
 *  (1) A percent sign is followed by two hexadecimal digits, and they encode UTF-8; otherwise there
 *      is no path, no query.
 *  (2) Segments are split before they are decoded: `%2F` is data of one segment and never a
 *      separator.
 *  (3) No control character survives the decoding of a path, and no NUL that of a query.
 *  (4) Dot segments, also as `%2e`, are removed before routing; a path that had them, or `//`, is
 *      not `clean`.
 */
import { decodePercent, decodeUtf8 } from '../base/attempt.ts'
import { memoizeByText } from '../base/memo.ts'

/** RFC 9112 §3.2: the four forms of a request-target. */
export type RequestTarget =
  | { readonly form: 'origin'; readonly path: string; readonly query?: string }
  | {
      readonly form: 'absolute'
      readonly scheme: string
      readonly host: Host
      readonly path: string
      readonly query?: string
    }
  | { readonly form: 'asterisk' }
  | { readonly form: 'authority'; readonly host: Host }

/** RFC 3986 §3.2.2: an IPv6 address keeps its brackets; letters are lower case. */
export interface Host {
  readonly name: string
  readonly port?: number
}

/**
 * RFC 3986 pchar and "/", still encoded. A query also has characters that RFC 3986 leaves out but
 * clients send unencoded, such as the brackets in `total[gte]=10`; none of them can end the query.
 */
const pathPattern = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/
const queryPattern = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?[\]{}|^`\\]|%[0-9A-Fa-f]{2})*$/

/**
 * A request-target; undefined if the method does not allow its form. Only CONNECT has the authority
 * form, only OPTIONS the asterisk form; a fragment, white space, a control character or an octet
 * beyond ASCII is never part of one.
 */
export function parseTarget(method: string, target: string): RequestTarget | undefined {
  if (method === 'CONNECT') return parseAuthorityForm(target)
  if (target.startsWith('/')) {
    const found = splitQuery(target)
    return found && { form: 'origin', ...found }
  }
  if (target === '*') return method === 'OPTIONS' ? { form: 'asterisk' } : undefined
  return parseAbsoluteForm(target)
}

/** §3.2.3: the port is required. */
function parseAuthorityForm(target: string): RequestTarget | undefined {
  const host = parseHost(target)
  return host?.port === undefined ? undefined : { form: 'authority', host }
}

const absolutePattern = /^(https?):\/\/([^/?#]*)(.*)$/is

function parseAbsoluteForm(target: string): RequestTarget | undefined {
  const [, scheme, authority, rest] = absolutePattern.exec(target) ?? []
  const host = authority === undefined ? undefined : parseHost(authority)
  const found = host && splitQuery(rest!.startsWith('/') ? rest! : `/${rest}`)
  return found && { form: 'absolute', scheme: scheme!.toLowerCase(), host: host!, ...found }
}

function splitQuery(text: string): { readonly path: string; readonly query?: string } | undefined {
  const mark = text.indexOf('?')
  if (mark < 0) return pathPattern.test(text) ? { path: text } : undefined
  const parts = { path: text.slice(0, mark), query: text.slice(mark + 1) }
  return pathPattern.test(parts.path) && queryPattern.test(parts.query) ? parts : undefined
}

const ipv4Pattern = /^\d{1,3}(?:\.\d{1,3}){3}$/
const ipv6GroupPattern = /^[0-9a-f]{1,4}$/
const registeredNamePattern = /^(?:[a-z0-9\-._~!$&'()*+,;=]|%[0-9a-f]{2})+$/
const futureAddressPattern = /^v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+$/

/**
 * RFC 9110 §7.2 Host = uri-host [ ":" port ]; undefined if malformed or empty. User information is
 * malformed, and so is a comma: of two combined Host lines, neither counts.
 */
export const parseHost: (field: string) => Host | undefined = memoizeByText(field => {
  const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(field.toLowerCase()) ?? []
  if (name === undefined || name.includes(',') || !isHostName(name)) return undefined
  if (!port) return { name }
  return Number(port) <= 65_535 ? { name, port: Number(port) } : undefined
})

/** RFC 3986 §3.2.2, in lower case. */
function isHostName(name: string): boolean {
  if (ipv4Pattern.test(name)) return isIpv4Address(name)
  const literal = /^\[(.*)\]$/.exec(name)?.[1]
  if (literal === undefined) return registeredNamePattern.test(name)
  return isIpv6Address(literal) || futureAddressPattern.test(literal)
}

const isIpv4Address = (text: string): boolean =>
  ipv4Pattern.test(text) && text.split('.').every(part => Number(part) <= 255)

/** Eight groups, of which `::` stands for one or more, and an IPv4 address at the end for two. */
function isIpv6Address(text: string): boolean {
  const parts = text.split('::')
  const groups = parts.flatMap(part => (part === '' ? [] : part.split(':')))
  const last = text.slice(text.lastIndexOf(':') + 1)
  if (isIpv4Address(last) && !/\b0\d/.test(last)) groups.splice(-1, 1, '0', '0')
  const isComplete = parts.length === 1 ? groups.length === 8 : parts.length === 2 && groups.length < 8
  return isComplete && groups.every(group => ipv6GroupPattern.test(group))
}

/**
 * Strict percent-decoding: undefined if an escape is incomplete, is not UTF-8, or hides a control
 * character.
 */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text
  const decoded = decodePercent(text)
  return decoded === undefined || /[\0-\x1f\x7f-\x9f]/.test(decoded) ? undefined : decoded
}

/**
 * Everything except RFC 3986 unreserved characters, as percent-encoded UTF-8. An unpaired
 * surrogate, which UTF-8 does not have, becomes U+FFFD.
 */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** The path of a request-target, decoded (RFC 3986 §3.3). */
export interface DecodedPath {
  /**
   * Decoded, without dot segments and without the empty segments of `//`. A trailing slash is a
   * last, empty segment.
   */
  readonly segments: readonly string[]
  /** Whether the path had neither dot segments nor `//`. */
  readonly clean: boolean
}

/**
 * RFC 3986 §3.3, §5.2.4: the segments of an absolute path; undefined if percentDecode refuses an
 * escape.
 */
export function parsePath(path: string): DecodedPath | undefined {
  if (!path.includes('%') && !path.includes('//') && !path.includes('/.'))
    return { segments: path.split('/').slice(1), clean: true } // most paths
  const segments: string[] = []
  const raw = path.split('/') // the first is empty, before the first slash
  let clean = true
  for (let at = 1; at < raw.length; at++) {
    const text = raw[at]! // within bounds
    const segment = text.includes('%') ? percentDecode(text) : text
    const last = at === raw.length - 1
    if (segment === undefined) return undefined
    if (segment === '.' || segment === '..') {
      clean = false
      if (segment === '..') segments.pop()
      if (last) segments.push('')
    } else {
      if (segment === '' && !last) clean = false // kept for now: a `..` removes it, and not the segment before
      segments.push(segment)
    }
  }
  if (clean) return { segments, clean }
  return { segments: segments.filter((segment, at) => segment !== '' || at === segments.length - 1), clean }
}

/**
 * RFC 3986 §6.2.2: the single spelling of a path: no dot segments, no `//`, escapes only where
 * necessary.
 */
export function normalizePath(path: string): string | undefined {
  const parsed = parsePath(path)
  return parsed && `/${parsed.segments.map(encodeSegment).join('/')}`
}

/** A segment of a path; pchar is kept unchanged (RFC 3986 §3.3). */
export const encodeSegment = (segment: string): string =>
  encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent)

/** Names and values of a query in order; a name may occur several times. */
export type Pairs = readonly (readonly [name: string, value: string])[]

/**
 * A query, or the text of application/x-www-form-urlencoded, as pairs in order; "+" is a space in
 * both, as forms write it. Undefined if an escape is incomplete, is not UTF-8 or hides a NUL, or
 * there are more pairs than the limit. Other control characters are data here, since a form may
 * contain lines.
 */
export function parseQuery(text: string, limit = 1000): Pairs | undefined {
  const pairs: [string, string][] = []
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = text.indexOf('&', at)
    if (end < 0) end = text.length
    if (end === at) continue
    const piece = text.slice(at, end)
    const equals = piece.indexOf('=')
    const name = decodeFormText(equals < 0 ? piece : piece.slice(0, equals))
    const value = equals < 0 ? '' : decodeFormText(piece.slice(equals + 1))
    if (name === undefined || value === undefined || pairs.length >= limit) return undefined
    pairs.push([name, value])
  }
  return pairs
}

function decodeFormText(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  const decoded = decodePercent(spaced)
  return decoded?.includes('\0') ? undefined : decoded
}

/**
 * The content of application/x-www-form-urlencoded, whose unescaped octets are UTF-8; see
 * parseQuery.
 */
export function parseForm(content: Uint8Array, limit?: number): Pairs | undefined {
  const text = decodeUtf8(content)
  return text === undefined ? undefined : parseQuery(text, limit)
}

/**
 * Pairs as a query, or as application/x-www-form-urlencoded; a space becomes `%20`, which every
 * reader accepts.
 */
export function writeQuery(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).join('&')
}
