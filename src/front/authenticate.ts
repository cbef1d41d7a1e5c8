/**
 * Who is asking (rules A5.1, A5.3): the credentials of a request, proven by whatever knows people and keys. Guards people
 * whose browser sends credentials by itself: see `isForeign` of cors.ts.
 */

import { isLoopbackAddress } from '../base/address.ts'
import type { Maybe } from '../base/maybe.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import { parseCookies } from '../http/cookie.ts'
import { proveCredentials, writeChallengesFor } from '../http/credentials.ts'
import type { Request } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'
import { refuse } from '../service/refusal.ts'

/** Credentials that prove nothing are refused also where none were needed: whoever sent them believes to be somebody. */
export function authenticate(request: Request, serving: FaceContext): Maybe<Caller> {
  if (hasAmbientCredentials(request)) return alongOf(request, serving)
  const found = proveCredentials(request, serving.identities, { passwords: isConfidential(request, serving) })
  if (found === 'untaken') return refuse({ kind: 'unauthenticated' })
  return found instanceof Promise ? found.then(known) : known(found)
}

const known = (caller: Caller | undefined): Caller => caller ?? refuse({ kind: 'unauthenticated' })

/** A cookie or a certificate came along unasked: where it proves nobody, nobody has said who they are. */
function alongOf({ fields, scheme, certificate }: Request, { app, identities }: FaceContext): Maybe<Caller> {
  const cookies = fields['cookie']
  const value = cookies && parseCookies(cookies).get(sessionCookieName(app.contract.service, scheme))
  const found =
    value && identities.cookie ? identities.cookie(value) : certificate && identities.certificate(certificate)
  return found instanceof Promise ? found.then(caller => caller ?? anonymous) : (found ?? anonymous)
}

/** Whether what proves the caller, if anything does, is of the browser's own accord. */
export const hasAmbientCredentials = ({ fields }: Request): boolean =>
  fields['authorization'] === undefined && fields['api-key'] === undefined

/** RFC 6265bis §4.1.3.2: over TLS no other host, and nobody on the way in cleartext, can have set it. */
export const sessionCookieName = (service: string, scheme: Request['scheme']): string =>
  scheme === 'https' ? `__Host-${service}` : service

/**
 * RFC 7617 §4: a password is readable on the way, unless the way is TLS or never leaves this machine. Behind a proxy that
 * says nothing of the client, nothing is known of the way.
 */
export function isConfidential({ scheme, from, fields }: Request, { settings }: FaceContext): boolean {
  if (scheme === 'https') return true
  if (!settings.passwordsOnLoopback || !isLoopbackAddress(from)) return false
  return !settings.trustProxy || fields['forwarded'] !== undefined || fields['x-forwarded-for'] !== undefined
}

/** Every scheme that would be taken; with credentials that failed, that they did. */
export const writeAuthChallenges = (request: Request, serving: FaceContext): string =>
  writeChallengesFor({
    realm: serving.app.contract.service,
    passwords: isConfidential(request, serving),
    keys: serving.identities.takesKeys?.() ?? false,
    failed: !hasAmbientCredentials(request),
  })
