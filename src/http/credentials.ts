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

/** Proves credentials of each kind; `P` is their proof, `Q` a proof of possession (RFC 9449). */
export interface CredentialProver<P, Q> {
  /**
   * @param source the object in which the token arrived, if it recurs
   * @param certificate DER of the certificate of the connection
   */
  bearer(token: string, source: object | undefined, certificate: Uint8Array | undefined): P
  /** RFC 9449 §7.1: the scheme DPoP; absent if it is not accepted. */
  readonly dpop?: (token: string, proof: Q) => P
  password(name: string, password: string, from: string): P
  key(key: string): P
}

/** What depends on the request and on the settings; called for the credentials that need it. */
export interface CredentialRules<Q> {
  readonly takesPassword: () => boolean
  readonly proofOf: () => Q
}

/**
 * What the credentials prove; undefined if the request has none. `unusable` means an unknown
 * scheme, malformed credentials, a password where none is accepted, or two credentials at once,
 * either of which might be meant.
 */
export function proveCredentials<P, Q>(
  request: Request,
  by: CredentialProver<P, Q>,
  rules: CredentialRules<Q>,
): P | 'unusable' | undefined {
  const { fields, credentials, from } = request
  const { authorization: field, 'api-key': key } = fields
  if (key !== undefined) return field === undefined ? by.key(key) : 'unusable'
  if (field === undefined) return undefined
  const token = credentials ? tokenOf(credentials) : readToken(field)
  if (token !== '') return by.bearer(token, credentials, request.certificate)
  const basic = rules.takesPassword() ? basicCredentials(field) : undefined
  if (basic) return by.password(basic.user, basic.password, from)
  const { scheme, token68 } = parseCredentials(field) ?? {}
  if (token68 === undefined) return 'unusable'
  if (scheme === 'dpop' && by.dpop) return by.dpop(token68, rules.proofOf())
  return scheme === 'apikey' ? by.key(token68) : 'unusable'
}

/** Empty without a token. */
const readToken = (field: string): string => bearerToken(field) ?? ''
const tokenOf = memoizeByObject(({ authorization = '' }: LastingCredentials) => readToken(authorization))

export interface Schemes {
  readonly realm: string
  readonly passwords: boolean
  readonly keys: boolean
  /** The algorithms of proofs for tokens of the scheme DPoP; absent if it is not accepted. */
  readonly proofAlgorithms: readonly string[] | undefined
  /** The request had a token of this scheme that proved nothing (RFC 6750 §3.1, RFC 9449 §7.1). */
  readonly failed: 'bearer' | 'dpop' | undefined
}

/** The scheme of a request with a token; undefined for one without. */
export function tokenScheme({ authorization = '' }: Request['fields']): Schemes['failed'] {
  if (bearerToken(authorization) !== undefined) return 'bearer'
  return parseCredentials(authorization)?.scheme === 'dpop' ? 'dpop' : undefined
}

/** WWW-Authenticate with every accepted scheme (RFC 9110 §11.6.1). */
export function writeChallengesFor({ realm, passwords, keys, proofAlgorithms, failed }: Schemes): string {
  const failure = { error: 'invalid_token' }
  const bearer: Challenge = { scheme: 'Bearer', parameters: { realm, ...(failed === 'bearer' && failure) } }
  const algs = proofAlgorithms?.join(' ') ?? ''
  const dpop: Challenge = { scheme: 'DPoP', parameters: { realm, algs, ...(failed === 'dpop' && failure) } }
  const basic: Challenge = { scheme: 'Basic', parameters: { realm, charset: 'UTF-8' } }
  const key: Challenge = { scheme: 'ApiKey', parameters: { realm } }
  return writeChallenges([
    bearer,
    ...(proofAlgorithms ? [dpop] : []),
    ...(passwords ? [basic] : []),
    ...(keys ? [key] : []),
  ])
}
