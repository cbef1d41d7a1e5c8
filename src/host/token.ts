/** Bearer tokens (RFC 6750) as JWT (RFC 7519, RFC 8725): signed by the local key, or by whom a JWKS names. */
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify, SignJWT } from 'jose'
import type { Caller } from '../contract/policy.ts'
import type { LocalKey } from './key.ts'

/** Algorithms that are taken: asymmetric ones, so that no public key can pass for a secret. */
const algorithms = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']

export interface TokenSpec {
  readonly subject: string
  readonly roles: readonly string[]
  readonly claims?: Readonly<Record<string, string>>
  /** Seconds from now; negative for one that has expired. */
  readonly expires: number
}

const issuer = 'diglot'

export function sign(key: LocalKey, audience: string, spec: TokenSpec, now: number): Promise<string> {
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

export interface Trust {
  readonly keys: JWTVerifyGetKey
  readonly issuer: string
  readonly audience: string
}
export const localTrust = (key: LocalKey, audience: string): Trust => ({
  keys: async () => key.public,
  issuer,
  audience,
})

/** Who a token says, and until when (milliseconds); undefined when it proves nothing. */
export async function verify(
  trust: Trust,
  token: string,
  now: number,
): Promise<{ readonly caller: Caller; readonly expires: number } | undefined> {
  try {
    const { payload } = await jwtVerify(token, trust.keys, {
      algorithms,
      issuer: trust.issuer,
      audience: trust.audience,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(now),
      clockTolerance: 5,
    })
    return { caller: callerOf(payload), expires: (payload.exp ?? 0) * 1000 }
  } catch {
    return undefined
  }
}

const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter(each => typeof each === 'string') : [])

function callerOf(payload: JWTPayload): Caller {
  const { claims } = payload
  const named = typeof claims === 'object' && claims !== null ? Object.entries(claims) : []
  return {
    subject: payload.sub,
    roles: texts(payload['roles']),
    claims: Object.fromEntries(named.filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
  }
}
