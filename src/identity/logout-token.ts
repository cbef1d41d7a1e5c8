/**
 * The token by which an OpenID provider ends sessions (OpenID Connect Back-Channel Logout 1.0
 * §2.4–§2.6). What it guards:
 *  (1) Signature, issuer, audience, times and `jti` are required and checked, and `events` has the
 *      event of a logout.
 *  (2) An ID token does not count as one: `nonce` is forbidden, and `typ` must not name another
 *      kind.
 */
import type { JWTPayload } from 'jose'
import { hasMembers } from '../base/objects.ts'
import { Unavailable } from '../service/store.ts'
import { type TokenTrust, tokenAlgorithms } from './bearer-token.ts'
import { verifyJwt } from './key-choice.ts'
import type { SessionEnd } from './session-end.ts'

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
/** (2) `typ` without `application/`. §2.4 recommends the last; older providers write none. */
const types: ReadonlySet<string> = new Set(['', 'jwt', 'logout+jwt'])
/** How many seconds the provider's clock may differ. */
const clockTolerance = 60

/** The sessions that the token ends, or why it does not count. Throws `Unavailable`. */
export async function verifyLogoutToken(
  token: string,
  { keys, issuer, audience }: Pick<TokenTrust, 'keys' | 'issuer' | 'audience'>,
  now: number,
): Promise<SessionEnd | string> {
  const { errors } = await import('jose')
  try {
    const { payload, protectedHeader } = await verifyJwt(token, keys, {
      algorithms: [...tokenAlgorithms],
      issuer,
      audience,
      requiredClaims: ['iat', 'exp', 'jti', 'events'],
      currentDate: new Date(now),
      clockTolerance,
      maxTokenAge: '1 day', // this also refuses an `iat` in the future
    })
    const { typ = '' } = protectedHeader
    if (!types.has(typ.toLowerCase().replace(/^application\//, '')))
      return `typ ${typ} belongs to another kind of token`
    return readSessionEnd(payload)
  } catch (thrown) {
    if (thrown instanceof Unavailable) throw thrown
    if (thrown instanceof errors.JOSEError || thrown instanceof TypeError) return thrown.message // malformed or invalid
    throw thrown
  }
}

/** §2.4, §2.6 */
function readSessionEnd({ sub, sid, jti, exp = 0, events, nonce }: JWTPayload): SessionEnd | string {
  const event: unknown = hasMembers(events) ? events[logoutEvent] : undefined
  if (!hasMembers(event)) return 'events has no logout event'
  if (nonce !== undefined) return 'a logout token must not have a nonce'
  if (!isNamed(jti)) return 'jti is not a text'
  const [subject, session] = [sub as unknown, sid]
  if ((subject !== undefined && !isNamed(subject)) || (session !== undefined && !isNamed(session)))
    return 'sub or sid is not a text'
  const about = { token: jti, until: (exp + clockTolerance) * 1000 }
  if (session !== undefined) return { ...about, session, subject }
  return subject === undefined ? 'sub or sid is required' : { ...about, subject }
}

const isNamed = (value: unknown): value is string => typeof value === 'string' && value !== ''
