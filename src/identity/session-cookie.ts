/**
 * What signing in leaves behind: a cookie's value that says who and until when, and proves it (rule
 * A5.1). There is no session on our side: any instance that has the key can tell. What it guards:
 *  (1) The tag covers the salt of the password too: a new password ends every cookie that the old
 *      one gave.
 *  (2) A cookie is good for eight hours. It cannot be called back before, but by (1) or by another
 *      key.
 */
import { timingSafeEqual } from 'node:crypto'
import { authenticationTag } from './local-key.ts'

/** Seconds. */
export const sessionSeconds = 8 * 3600

export interface SessionCookie {
  readonly value: string
  /** Milliseconds since 1970. */
  readonly until: number
}

/** `<who>.<until>.<tag>`, the first two in base64url and base 36. */
export function issueSession(secret: Uint8Array, subject: string, salt: string, now: number): SessionCookie {
  const until = now + sessionSeconds * 1000
  const said = `${Buffer.from(subject).toString('base64url')}.${until.toString(36)}`
  return { value: `${said}.${authenticationTag(secret, `${said}.${salt}`)}`, until }
}

const shape = /^([\w-]{1,1400})\.([0-9a-z]{1,11})\.([\w-]{43})$/

/** Who it says it is for: nothing is proven yet. */
export function readSessionSubject(value: string): string | undefined {
  const [, who] = shape.exec(value) ?? []
  return who && Buffer.from(who, 'base64url').toString('utf8')
}

/**
 * Until when (milliseconds since 1970) it proves its subject; undefined when it was not made by
 * `issueSession` with this salt.
 */
export function verifySession(secret: Uint8Array, value: string, salt: string): number | undefined {
  const [, who, until = '', tag = ''] = shape.exec(value) ?? []
  if (who === undefined) return undefined
  const right = Buffer.from(authenticationTag(secret, `${who}.${until}.${salt}`))
  const given = Buffer.from(tag)
  return given.length === right.length && timingSafeEqual(given, right) ? Number.parseInt(until, 36) : undefined
}
