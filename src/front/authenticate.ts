/**
 * Who is asking (rules A5.1, A5.3): the credentials of a request, proven by whatever knows people and keys. Guards people
 * whose browser sends credentials by itself: see `isForeign` of cors.ts.
 */

import { isLoopbackAddress } from '../base/address.ts'
import type { Maybe } from '../base/maybe.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import { parseCookies } from '../http/cookie.ts'
import { challengesOf, proofOf } from '../http/credentials.ts'
import type { Request } from '../http/message.ts'
import type { Serving } from '../service/face-context.ts'
import { refuse } from '../service/refusal.ts'

/** Credentials that prove nothing are refused also where none were needed: whoever sent them believes to be somebody. */
export function callerOf(request: Request, serving: Serving): Maybe<Caller> {
  if (cameAlong(request)) return alongOf(request, serving)
  const found = proofOf(request, serving.identities, { passwords: takesPasswords(request, serving) })
  if (found === 'untaken') return refuse({ kind: 'unauthenticated' })
  return found instanceof Promise ? found.then(known) : known(found)
}

const known = (caller: Caller | undefined): Caller => caller ?? refuse({ kind: 'unauthenticated' })

/** A cookie or a certificate came along unasked: where it proves nobody, nobody has said who they are. */
function alongOf({ fields, scheme, certificate }: Request, { app, identities }: Serving): Maybe<Caller> {
  const cookies = fields['cookie']
  const value = cookies && parseCookies(cookies).get(cookieName(app.contract.service, scheme))
  const found =
    value && identities.cookie ? identities.cookie(value) : certificate && identities.certificate(certificate)
  return found instanceof Promise ? found.then(caller => caller ?? anonymous) : (found ?? anonymous)
}

/** Whether what proves the caller, if anything does, is of the browser's own accord. */
export const cameAlong = ({ fields }: Request): boolean =>
  fields['authorization'] === undefined && fields['api-key'] === undefined

/** RFC 6265bis §4.1.3.2: over TLS no other host, and nobody on the way in cleartext, can have set it. */
export const cookieName = (service: string, scheme: Request['scheme']): string =>
  scheme === 'https' ? `__Host-${service}` : service

/**
 * RFC 7617 §4: a password is readable on the way, unless the way is TLS or never leaves this machine. Behind a proxy that
 * says nothing of the client, nothing is known of the way.
 */
export function takesPasswords({ scheme, from, fields }: Request, { settings }: Serving): boolean {
  if (scheme === 'https') return true
  if (!settings.passwordsOnLoopback || !isLoopbackAddress(from)) return false
  return !settings.trustProxy || fields['forwarded'] !== undefined || fields['x-forwarded-for'] !== undefined
}

/** Every scheme that would be taken; with credentials that failed, that they did. */
export const challenges = (request: Request, serving: Serving): string =>
  challengesOf({
    realm: serving.app.contract.service,
    passwords: takesPasswords(request, serving),
    keys: serving.identities.takesKeys?.() ?? false,
    failed: !cameAlong(request),
  })
