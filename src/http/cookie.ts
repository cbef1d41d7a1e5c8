/**
 * RFC 6265, and what RFC 6265bis adds: SameSite and name prefixes. A cookie that browsers would
 * reject is not written.
 */
import { writeDate } from './date.ts'
import { isToken, trimSpace } from './grammar.ts'

/**
 * §4.2 Cookie. The first of repeated names counts: user agents put the more specific path first.
 */
export function parseCookies(field: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const pair of field.split(';')) {
    const equals = pair.indexOf('=')
    if (equals < 0) continue
    const name = trimSpace(pair.slice(0, equals))
    if (name !== '' && !found.has(name)) found.set(name, trimSpace(pair.slice(equals + 1)))
  }
  return found
}

/** The attributes of a Set-Cookie field (RFC 6265 §4.1.2); an absent one is not written. */
export interface CookieAttributes {
  /** Milliseconds since 1970. */
  readonly expires?: number
  /** Seconds; 0 removes the cookie. */
  readonly maxAge?: number
  readonly domain?: string
  readonly path?: string
  readonly secure?: boolean
  readonly httpOnly?: boolean
  readonly sameSite?: 'Strict' | 'Lax' | 'None'
}

/** cookie-octet: no white space, quote, comma, semicolon, backslash. */
const cookieValuePattern =
  /^(?:[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*|"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")$/
const attributeValuePattern = /^[\x20-\x3a\x3c-\x7e]*$/

/**
 * §4.1 Set-Cookie; one field line each, since they cannot be combined. Undefined if the name, the
 * value or an attribute has forbidden characters, or if the attributes break a promise of the name
 * (`__Host-`, `__Secure-`, RFC 6265bis §4.1.3) or of SameSite=None.
 */
export function writeCookie(name: string, value: string, attributes: CookieAttributes = {}): string | undefined {
  const { expires, maxAge, domain, path, secure, httpOnly, sameSite } = attributes
  if (!isToken(name) || !cookieValuePattern.test(value) || !isPrefixHonoured(name, attributes)) return undefined
  if (!attributeValuePattern.test(domain ?? '') || !attributeValuePattern.test(path ?? '')) return undefined
  const parts = [`${name}=${value}`]
  if (expires !== undefined) parts.push(`Expires=${writeDate(expires)}`)
  if (maxAge !== undefined) parts.push(`Max-Age=${Math.trunc(maxAge)}`)
  if (domain !== undefined) parts.push(`Domain=${domain}`)
  if (path !== undefined) parts.push(`Path=${path}`)
  if (secure) parts.push('Secure')
  if (httpOnly) parts.push('HttpOnly')
  if (sameSite !== undefined) parts.push(`SameSite=${sameSite}`)
  return parts.join('; ')
}

function isPrefixHonoured(name: string, { secure, domain, path, sameSite }: CookieAttributes): boolean {
  const prefix = name.toLowerCase()
  if (prefix.startsWith('__host-')) return secure === true && domain === undefined && path === '/'
  return secure === true || (!prefix.startsWith('__secure-') && sameSite !== 'None')
}
