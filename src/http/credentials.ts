/**
 * The credentials that a client deliberately puts into a request: Authorization (RFC 9110 §11.6.2)
 * or a key in a field of its own. They do not include what a browser sends on its own (a cookie,
 * the certificate of a connection): a page of a foreign origin can make it send that, but not
 * these.
 */
import { memoizeByObject } from '../base/memo.ts'
import { basicCredentials, bearerToken, type Challenge, parseCredentials, writeChallenges } from './authorization.ts'
import type { LastingCredentials } from './lasting-fields.ts'
import type { Request } from './message.ts'

/** Proves credentials of each kind; `P` is what they prove. */
export interface CredentialProver<P> {
  /** @param source the object in which the token arrived, if it recurs */
  bearer(token: string, source: object | undefined): P
  password(name: string, password: string, from: string): P
  key(key: string): P
}

/**
 * What the credentials prove; undefined if the request has none. `unusable` means an unknown
 * scheme, malformed credentials, a password where none is accepted, or two credentials at once,
 * either of which might be meant.
 */
export function proveCredentials<P>(
  { fields, credentials, from }: Request,
  by: CredentialProver<P>,
  mayTravel: () => boolean,
): P | 'unusable' | undefined {
  const { authorization: field, 'api-key': key } = fields
  if (key !== undefined) return field === undefined ? by.key(key) : 'unusable'
  if (field === undefined) return undefined
  const token = credentials ? tokenOf(credentials) : readToken(field)
  if (token !== '') return by.bearer(token, credentials)
  const basic = mayTravel() ? basicCredentials(field) : undefined
  if (basic) return by.password(basic.user, basic.password, from)
  const { scheme, token68 } = parseCredentials(field) ?? {}
  return scheme === 'apikey' && token68 !== undefined ? by.key(token68) : 'unusable'
}

/** Empty without a token. */
const readToken = (field: string): string => bearerToken(field) ?? ''
const tokenOf = memoizeByObject(({ authorization = '' }: LastingCredentials) => readToken(authorization))

export interface Schemes {
  readonly realm: string
  readonly passwords: boolean
  readonly keys: boolean
  /** The request had a token that proved nothing (RFC 6750 §3.1). */
  readonly isTokenInvalid: boolean
}

/** WWW-Authenticate with every accepted scheme (RFC 9110 §11.6.1). */
export function writeChallengesFor({ realm, passwords, keys, isTokenInvalid }: Schemes): string {
  const failure = isTokenInvalid && { error: 'invalid_token' }
  const bearer: Challenge = { scheme: 'Bearer', parameters: { realm, ...failure } }
  const basic: Challenge = { scheme: 'Basic', parameters: { realm, charset: 'UTF-8' } }
  const key: Challenge = { scheme: 'ApiKey', parameters: { realm } }
  return writeChallenges([bearer, ...(passwords ? [basic] : []), ...(keys ? [key] : [])])
}
