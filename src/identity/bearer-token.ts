/**
 * Bearer tokens (RFC 6750) as JWT (RFC 7519, RFC 8725): signed by the local key, or by a key of a
 * JWKS. What it guards:
 *  (1) The algorithm is on a list of asymmetric ones: no `none`, and no public key used as a
 *      secret.
 *  (2) Issuer, audience, subject and expiry are required and checked; no part of a token is used
 *      before it is verified.
 *  (3) Another kind of token that the same issuer signs for the same audience is invalid (RFC 8725
 *      §3.11, §3.12): ID tokens, logout tokens, security events.
 *  (4) A token that is bound to its owner says so with the caller (`token-binding.ts`).
 */
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { hasMembers } from '../base/objects.ts'
import type { Caller } from '../contract/policy.ts'
import { Unavailable } from '../service/store.ts'
import { verifyJwt } from './key-choice.ts'
import type { LocalKey } from './local-key.ts'
import { hasBinding, readBinding, type TokenBinding } from './token-binding.ts'

export const tokenAlgorithms: readonly string[] = [
  ...['EdDSA', 'Ed25519', 'ES256', 'ES384', 'ES512'],
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
]

export interface TokenSpec {
  readonly subject: string
  readonly roles: readonly string[]
  readonly claims?: Readonly<Record<string, string>>
  /** Seconds from now; negative for an expired token. */
  readonly expires: number
}

const issuer = 'diglot'

/** (3) `typ` of access tokens (RFC 7519 §5.1, RFC 9068 §2.1), without `application/`. */
const tokenTypes: ReadonlySet<string> = new Set(['jwt', 'at+jwt'])
/**
 * (3) Claims of other kinds: ID tokens (OpenID Connect Core 1.0 §3.1.3.6, §3.3.2.11) and security
 *     events (RFC 8417 §2.2), which include logout tokens.
 */
const foreignClaims: readonly string[] = ['at_hash', 'c_hash', 'events']
/** How many seconds an issuer's clock may be ahead. */
const issuedAheadMax = 60

export async function signToken(key: LocalKey, audience: string, spec: TokenSpec, now: number): Promise<string> {
  const { SignJWT } = await import('jose')
  const at = Math.floor(now / 1000)
  return new SignJWT({ roles: [...spec.roles], ...(spec.claims && { claims: spec.claims }) })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(spec.subject)
    .setIssuedAt(Math.min(at, at + spec.expires))
    .setExpirationTime(at + spec.expires)
    .sign(key.private)
}

/** Where a token has roles and claims: in a member, or at a path such as `realm_access.roles`. */
export interface Places {
  /** A list of texts, or one text separated by spaces. Default: `roles`. */
  readonly roles?: string | undefined
  /** Claim of the contract's policies → its place. Default: the members of `claims`. */
  readonly claims?: Readonly<Record<string, string>> | undefined
}

export interface TokenTrust extends Places {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string
  readonly audience: string
  /** A subset of `tokenAlgorithms`. Default: all of them. */
  readonly algorithms?: readonly string[] | undefined
  /** Only tokens that are bound to a certificate or a key count. Default: false. */
  readonly bound?: boolean | undefined
  /** The subject is a person known here, whose claims are added to the token's. */
  readonly ours?: boolean
}
export const trustLocalKey = (key: LocalKey, audience: string): TokenTrust => ({
  keys: async () => key.public,
  issuer,
  audience,
  algorithms: ['EdDSA', 'Ed25519'],
  ours: true,
})

export interface VerifiedToken {
  readonly caller: Caller
  /** Milliseconds since 1970. */
  readonly expires: number
  /** (4) Still to be compared with what the sender of the request owns. */
  readonly binding: TokenBinding
}

/** Undefined for an invalid token. Throws `Unavailable`. */
export async function verifyToken(trust: TokenTrust, token: string, now: number): Promise<VerifiedToken | undefined> {
  const { errors } = await import('jose')
  try {
    const { payload, protectedHeader } = await verifyJwt(token, trust.keys, {
      algorithms: [...(trust.algorithms ?? tokenAlgorithms)],
      issuer: trust.issuer,
      audience: trust.audience,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(now),
      clockTolerance: 5,
    })
    if (!isAccessToken(protectedHeader.typ, payload) || !isIssued(payload, now)) return undefined
    const binding = readBinding(payload)
    if (binding === undefined || (trust.bound && !hasBinding(binding))) return undefined
    return { caller: readTokenCaller(payload, trust), expires: (payload.exp ?? 0) * 1000, binding }
  } catch (thrown) {
    if (thrown instanceof Unavailable) throw thrown
    if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) return undefined // malformed or invalid
    throw thrown
  }
}

/** RFC 7519 §4.1.2: the subject must be a text, whatever the payload contains. */
function isAccessToken(typ: string | undefined, payload: JWTPayload): boolean {
  const subject: unknown = payload.sub
  if (typ !== undefined && !tokenTypes.has(typ.toLowerCase().replace(/^application\//, ''))) return false
  return typeof subject === 'string' && subject !== '' && !foreignClaims.some(name => Object.hasOwn(payload, name))
}

/** RFC 7519 §4.1.6: the time of issue, if present, is not in the future. */
function isIssued({ iat }: { readonly iat?: unknown }, now: number): boolean {
  return iat === undefined || (typeof iat === 'number' && iat <= now / 1000 + issuedAheadMax)
}

/** The subject of a verified token, with the roles and claims at these places. */
export function readTokenCaller(payload: JWTPayload, { roles = 'roles', claims }: Places): Caller {
  const named = claims
    ? Object.entries(claims).map(([name, place]) => [name, claimAt(payload, place)] as const)
    : Object.entries(hasMembers(payload['claims']) ? payload['claims'] : {})
  return {
    subject: payload.sub,
    roles: stringsIn(claimAt(payload, roles)),
    claims: Object.fromEntries(named.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
  }
}

/**
 * The member with this name (`https://example.org/roles` contains dots), or else the one at the
 * path separated by the dots.
 */
function claimAt(payload: unknown, place: string): unknown {
  if (hasMembers(payload) && Object.hasOwn(payload, place)) return payload[place]
  let found = payload
  for (const name of place.split('.')) found = hasMembers(found) && Object.hasOwn(found, name) ? found[name] : undefined
  return found
}

function stringsIn(list: unknown): string[] {
  if (typeof list === 'string') return list.split(' ').filter(each => each !== '')
  return Array.isArray(list) ? list.filter(each => typeof each === 'string') : []
}
