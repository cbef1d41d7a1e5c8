/**
 * The credentials that somebody chose to put into a request: Authorization (RFC 9110 §11.6.2) or a key in a field of its
 * own. What comes along by itself (a cookie, the certificate of a connection) is not among them: a page of a foreign
 * origin can make a browser send that, and cannot make it send these.
 */
import { memoizeByObject } from '../base/memo.ts'
import { basicCredentials, bearerToken, type Challenge, parseCredentials, writeChallenges } from './authorization.ts'
import type { HttpFields, Request } from './message.ts'

/** Whoever knows what credentials prove; `P` is what it answers with. */
export interface CredentialProver<P> {
  /** @param came what the token came in: the same object when it comes again */
  bearer(token: string, came: object): P
  password(name: string, password: string, from: string): P
  key(key: string): P
}

/**
 * What they prove; undefined when the request has none. `untaken` stands for a scheme that is not known, credentials that
 * are not of its syntax, a password where none is taken, and two at once: which of them would count is anybody's guess.
 */
export function proveCredentials<P>(
  { fields, from }: Request,
  by: CredentialProver<P>,
  mayTravel: () => boolean,
): P | 'untaken' | undefined {
  const { authorization: field, 'api-key': key } = fields
  if (key !== undefined) return field === undefined ? by.key(key) : 'untaken'
  if (field === undefined) return undefined
  const token = tokenOf(fields)
  if (token !== '') return by.bearer(token, fields)
  const basic = mayTravel() ? basicCredentials(field) : undefined
  if (basic) return by.password(basic.user, basic.password, from)
  const { scheme, token68 } = parseCredentials(field) ?? {}
  return scheme === 'apikey' && token68 !== undefined ? by.key(token68) : 'untaken'
}

/** Empty where there is none. A connection that repeats its fields has one object for them. */
const tokenOf = memoizeByObject((fields: HttpFields) => bearerToken(fields['authorization'] ?? '') ?? '')

export interface Schemes {
  readonly realm: string
  readonly passwords: boolean
  readonly keys: boolean
  /** Credentials came and proved nothing (RFC 6750 §3.1). */
  readonly failed: boolean
}

/** WWW-Authenticate with every scheme that would be taken (RFC 9110 §11.6.1). */
export function writeChallengesFor({ realm, passwords, keys, failed }: Schemes): string {
  const bearer: Challenge = { scheme: 'Bearer', parameters: { realm, ...(failed && { error: 'invalid_token' }) } }
  const basic: Challenge = { scheme: 'Basic', parameters: { realm, charset: 'UTF-8' } }
  const key: Challenge = { scheme: 'ApiKey', parameters: { realm } }
  return writeChallenges([bearer, ...(passwords ? [basic] : []), ...(keys ? [key] : [])])
}
