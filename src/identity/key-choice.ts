/**
 * The key of a JWT. A token should name its key (`kid`), but need not, and a set may have several
 * that fit, as during a rollover: each is tried then (RFC 7515 Appendix D). What it guards:
 *  (1) Only keys with the type, the algorithm, the use and, if the token names one, the identifier
 *      are tried, and at most `triedMax` of them, which bounds the cost of a token.
 */
import type { JWTVerifyGetKey, JWTVerifyOptions, JWTVerifyResult } from 'jose'

/** More than any issuer rolls over at once. */
const triedMax = 8

/** Throws what `jwtVerify` throws for a token that no key verifies. */
export async function verifyJwt(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  // jose is loaded with the first token, since a public service never needs it.
  const { errors, jwtVerify } = await import('jose')
  try {
    return await jwtVerify(token, keys, options)
  } catch (thrown) {
    if (!(thrown instanceof errors.JWKSMultipleMatchingKeys)) throw thrown
    let tried = 0
    for await (const key of thrown) {
      if (tried++ === triedMax) break
      const verified = await jwtVerify(token, key, options).catch((failed: unknown) => {
        if (!(failed instanceof errors.JWSSignatureVerificationFailed)) throw failed
      })
      if (verified) return verified
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}
