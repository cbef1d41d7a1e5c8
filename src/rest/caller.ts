/** Who is asking (rules A5.1, A5.3): the credentials of a request, proven by whatever knows people and keys. */
import { anonymous, type Caller } from '../contract/policy.ts'
import { basicCredentials, bearerToken, type Challenge, writeChallenges } from '../http/authorization.ts'
import type { Request } from '../http/message.ts'
import type { Serving } from '../service/serving.ts'
import type { Maybe } from '../service/store.ts'
import { no } from './refusal.ts'

/** Credentials that prove nothing are refused also where none were needed: whoever sent them believes to be somebody. */
export function callerOf(request: Request, serving: Serving): Maybe<Caller> {
  const field = request.fields['authorization']
  if (field === undefined) return anonymous
  const found = proven(field, request, serving)
  return found instanceof Promise ? found.then(known) : known(found)
}

const known = (caller: Caller | undefined): Caller => caller ?? no({ kind: 'unauthenticated' })

function proven(field: string, request: Request, serving: Serving): Maybe<Caller | undefined> {
  const token = bearerToken(field)
  if (token !== undefined) return serving.identities.bearer(token)
  const basic = takesPasswords(request, serving) ? basicCredentials(field) : undefined
  return basic && serving.identities.password(basic.user, basic.password, request.from)
}

const loopback = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|::ffff:127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/

/** RFC 7617 §4: a password is readable on the way, unless the way is TLS or never leaves this machine. */
const takesPasswords = (request: Request, { settings }: Serving): boolean =>
  request.scheme === 'https' || (settings.passwordsOnLoopback && loopback.test(request.from))

/** Every scheme that would be taken (RFC 9110 §11.6.1); with credentials that failed, that they did (RFC 6750 §3.1). */
export function challenges(request: Request, serving: Serving): string {
  const realm = serving.app.contract.service
  const failed = request.fields['authorization'] !== undefined && { error: 'invalid_token' }
  const bearer: Challenge = { scheme: 'Bearer', parameters: { realm, ...failed } }
  const basic: Challenge = { scheme: 'Basic', parameters: { realm, charset: 'UTF-8' } }
  return writeChallenges(takesPasswords(request, serving) ? [bearer, basic] : [bearer])
}
