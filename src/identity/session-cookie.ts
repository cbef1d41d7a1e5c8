/**
 * The cookie of a session: its value names the person and the expiry, and proves them (rule A5.1).
 * The server keeps no session: any instance with the key can verify it. What it guards:
 *  (1) The tag covers the salt of the password, too: a new password ends every cookie of the old
 *      one.
 *  (2) A cookie is valid for eight hours. Before that, it can be revoked only by (1), by another
 *      key, or, if an OpenID provider began its session, by that provider (`session-end.ts`): it
 *      bears the provider's mark of the session.
 *  (3) A caller authenticated by an OpenID provider need not be a person of this service: such a
 *      cookie contains the caller's rights, under a separate secret, so neither kind of cookie
 *      counts as the other.
 */
import { decodeUtf8 } from '../base/attempt.ts'
import { decodeBase64Url, encodeBase64Url } from '../base/base64.ts'
import type { Caller } from '../contract/policy.ts'
import { authenticationTag, isSameTag } from './local-key.ts'

export const sessionSeconds = 8 * 3600

export interface SessionCookie {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/**
 * `<subject>.<until>.<tag>`: in base64url, base 36 and base64url. With a mark of 43 characters or
 * none, `<subject>.<until>~<mark>.<tag>`.
 */
export function issueSession(
  secret: Uint8Array,
  subject: string,
  salt: string,
  now: number,
  mark?: string,
): SessionCookie {
  const until = now + sessionSeconds * 1000
  const marked = mark === undefined ? '' : `~${mark}`
  const signed = `${encodeBase64Url(Buffer.from(subject))}.${until.toString(36)}${marked}`
  return { value: `${signed}.${authenticationTag(secret, `${signed}.${salt}`)}`, until }
}

const shape = /^(([\w-]{1,1400})\.([0-9a-z]{1,11})(?:~([\w-]{43}|))?)\.([\w-]{43})$/

/** The subject that a cookie names, without proof; undefined for another text. */
export function readSessionSubject(value: string): string | undefined {
  const [, , subject] = shape.exec(value) ?? []
  const octets = subject && decodeBase64Url(subject)
  return octets ? decodeUtf8(octets) : undefined
}

export interface ProvenSession {
  /** Milliseconds since 1970. */
  readonly until: number
  /** The provider's mark of the session; undefined for a session begun with a password. */
  readonly mark: string | undefined
}

/** The content of a cookie; undefined if it was not issued with this secret and salt. */
export function verifySession(secret: Uint8Array, value: string, salt: string): ProvenSession | undefined {
  const [, signed, , until = '', mark, tag = ''] = shape.exec(value) ?? []
  if (signed === undefined) return undefined
  return isSameTag(authenticationTag(secret, `${signed}.${salt}`), tag)
    ? { until: Number.parseInt(until, 36), mark }
    : undefined
}

/** (3) Browsers accept 4,096 octets for a cookie with its name and attributes (RFC 6265 §6.1). */
const callerCookieMax = 3_500

/**
 * (3) `~<caller>.<until>.<tag>`; undefined where the caller's roles and claims do not fit in a
 *     cookie.
 */
export function issueCallerSession(
  secret: Uint8Array,
  caller: Caller,
  now: number,
  mark: string,
): SessionCookie | undefined {
  const until = now + sessionSeconds * 1000
  const signed = `~${encodeBase64Url(Buffer.from(JSON.stringify({ ...caller, mark })))}.${until.toString(36)}`
  const value = `${signed}.${authenticationTag(secret, signed)}`
  return value.length > callerCookieMax ? undefined : { value, until }
}

const callerShape = /^(~([\w-]{1,3500})\.([0-9a-z]{1,11}))\.([\w-]{43})$/

/** The caller and session of such a cookie; undefined for another text. */
export function verifyCallerSession(
  secret: Uint8Array,
  value: string,
): (ProvenSession & { readonly caller: Caller }) | undefined {
  const [, signed = '', text = '', until = '', tag = ''] = callerShape.exec(value) ?? []
  if (signed === '' || !isSameTag(authenticationTag(secret, signed), tag)) return undefined
  const octets = decodeBase64Url(text)
  const sealed = octets && decodeUtf8(octets)
  if (!sealed) return undefined
  const { mark = '', ...caller } = JSON.parse(sealed) as Caller & { readonly mark?: string } // sealed here
  return { caller, until: Number.parseInt(until, 36), mark }
}
