/**
 * Guards the routes against addresses that two readers understand differently (RFC 3986, RFC 9112 §3.2).
 * (1) A percent sign is followed by two hexadecimal digits, and what they encode is UTF-8; else there is no path, no query.
 * (2) Segments are split before they are decoded: `%2F` is data of one segment and never a separator.
 * (3) No control character survives the decoding of a path, and no NUL that of a query.
 * (4) Dot segments, also as `%2e`, are gone before anything is routed; a path that had them, or `//`, is not `clean`.
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
 * RFC 3986 pchar and "/", still encoded. In a query also what RFC 3986 leaves out and clients send unencoded, such as the
 * brackets of `total[gte]=10`: none of it can end the query.
 */
const path = /^\/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-Fa-f]{2})*$/
const query = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?[\]{}|^`\\]|%[0-9A-Fa-f]{2})*$/

/**
 * A request-target; undefined when it is in no form that its method takes. Authority form is of CONNECT only, asterisk form
 * of OPTIONS only; a fragment, white space, a control character or an octet beyond ASCII is never part of one.
 */
export function parseTarget(method: string, target: string): RequestTarget | undefined {
  if (method === 'CONNECT') return authorityForm(target)
  if (target.startsWith('/')) {
    const found = pathAndQuery(target)
    return found && { form: 'origin', ...found }
  }
  if (target === '*') return method === 'OPTIONS' ? { form: 'asterisk' } : undefined
  return absoluteForm(target)
}

/** §3.2.3: the port is not optional. */
function authorityForm(target: string): RequestTarget | undefined {
  const host = parseHost(target)
  return host?.port === undefined ? undefined : { form: 'authority', host }
}

const absolute = /^(https?):\/\/([^/?#]*)(.*)$/is

function absoluteForm(target: string): RequestTarget | undefined {
  const [, scheme, authority, rest] = absolute.exec(target) ?? []
  const host = authority === undefined ? undefined : parseHost(authority)
  const found = host && pathAndQuery(rest!.startsWith('/') ? rest! : `/${rest}`)
  return found && { form: 'absolute', scheme: scheme!.toLowerCase(), host: host!, ...found }
}

function pathAndQuery(text: string): { readonly path: string; readonly query?: string } | undefined {
  const mark = text.indexOf('?')
  if (mark < 0) return path.test(text) ? { path: text } : undefined
  const parts = { path: text.slice(0, mark), query: text.slice(mark + 1) }
  return path.test(parts.path) && query.test(parts.query) ? parts : undefined
}

const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const registeredName = /^(?:[a-z0-9\-._~!$&'()*+,;=]|%[0-9a-f]{2})+$/
const ipLiteral = /^\[(?:[0-9a-f:.]{2,45}|v[0-9a-f]+\.[a-z0-9\-._~!$&'()*+,;=:]+)\]$/

/**
 * RFC 9110 §7.2 Host = uri-host [ ":" port ]; undefined when it is malformed or empty. User information is malformed, and so
 * is a comma: of two Host lines combined none is believed.
 */
export const parseHost: (field: string) => Host | undefined = memoizeByText(field => {
  const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{0,5}))?$/.exec(field.toLowerCase()) ?? []
  if (name === undefined || name.includes(',') || !(registeredName.test(name) || ipLiteral.test(name))) return undefined
  if (ipv4.test(name) && name.split('.').some(part => Number(part) > 255)) return undefined
  if (!port) return { name }
  return Number(port) <= 65_535 ? { name, port: Number(port) } : undefined
})

/** Strict percent-decoding: undefined when an escape is cut, is not UTF-8, or hides a control character. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text
  const decoded = decodePercent(text)
  return decoded === undefined || /[\0-\x1f\x7f-\x9f]/.test(decoded) ? undefined : decoded
}

/** All but RFC 3986 unreserved, as UTF-8, percent-encoded. Half a surrogate pair, which UTF-8 lacks, becomes U+FFFD. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

export interface DecodedPath {
  /** Decoded, without dot segments and without the empty segments of `//`. A slash at the end is a last, empty segment. */
  readonly segments: readonly string[]
  /** Whether the path came without dot segments and `//`. */
  readonly clean: boolean
}

/** RFC 3986 §3.3, §5.2.4: the segments of an absolute path; undefined when an escape is refused by percentDecode. */
export function parsePath(path: string): DecodedPath | undefined {
  const segments: string[] = []
  const raw = path.split('/').slice(1)
  let clean = true
  for (const [at, text] of raw.entries()) {
    const segment = percentDecode(text)
    const last = at === raw.length - 1
    if (segment === undefined) return undefined
    if (segment === '.' || segment === '..') {
      clean = false
      if (segment === '..') segments.pop()
      if (last) segments.push('')
    } else {
      if (segment === '' && !last) clean = false // it stays until then: `..` takes it away, and not the one before it
      segments.push(segment)
    }
  }
  if (clean) return { segments, clean }
  return { segments: segments.filter((segment, at) => segment !== '' || at === segments.length - 1), clean }
}

/** RFC 3986 §6.2.2: the one spelling of a path: no dot segments, no `//`, escapes only where needed. */
export function normalizePath(path: string): string | undefined {
  const found = parsePath(path)
  return found && `/${found.segments.map(encodeSegment).join('/')}`
}

/** pchar stays as it is (RFC 3986 §3.3). */
const encodeSegment = (segment: string) =>
  encodeURIComponent(segment).replace(/%(?:24|26|2B|2C|3B|3D|3A|40)/g, decodeURIComponent)

export type Pairs = readonly (readonly [name: string, value: string])[]

/**
 * A query, or the text of application/x-www-form-urlencoded, as pairs in order; "+" is a space in both, as forms write it.
 * undefined when an escape is cut, is not UTF-8 or hides a NUL, or there are more pairs than the limit. Other control
 * characters are data here: a form has lines.
 */
export function parseQuery(text: string, limit = 1000): Pairs | undefined {
  const pairs: [string, string][] = []
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = text.indexOf('&', at)
    if (end < 0) end = text.length
    if (end === at) continue
    const piece = text.slice(at, end)
    const equals = piece.indexOf('=')
    const name = formDecode(equals < 0 ? piece : piece.slice(0, equals))
    const value = equals < 0 ? '' : formDecode(piece.slice(equals + 1))
    if (name === undefined || value === undefined || pairs.length >= limit) return undefined
    pairs.push([name, value])
  }
  return pairs
}

function formDecode(text: string): string | undefined {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  const decoded = decodePercent(spaced)
  return decoded?.includes('\0') ? undefined : decoded
}

/** The content of application/x-www-form-urlencoded, whose octets are UTF-8 where they are not escaped; see parseQuery. */
export function parseForm(content: Uint8Array, limit?: number): Pairs | undefined {
  const text = decodeUtf8(content)
  return text === undefined ? undefined : parseQuery(text, limit)
}

/** Pairs as a query, or as application/x-www-form-urlencoded; a space is `%20`, which every reader takes. */
export function writeQuery(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`).join('&')
}
