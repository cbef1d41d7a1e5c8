/**
 * The keys of another token issuer (RFC 7517): in a file, or at an https address. What it guards:
 *  (1) Only the configured place is asked, whatever a token names (`jku`, `x5u`, `jwk`), and no
 *      redirect is followed.
 *  (2) An unknown key identifier causes another request, at most twice a minute; an address that
 *      fails is left alone for a while, and callers are meanwhile told to retry, not that their
 *      token is invalid.
 */
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isHttpAddress } from '../base/address.ts'
import { Unavailable } from '../service/store.ts'
import { type Watching, watchFile } from './watched-file.ts'

const cooldownMs = 30_000
const cacheMs = 600_000
const requestMs = 5_000
const retryEveryMs = 5_000

/** @param source a path, or an https address; http is for loopback alone. Throws `Unusable`. */
export const openJwks = (source: string, watching: Watching): JWTVerifyGetKey =>
  isHttpAddress(source) ? openRemoteKeys(new URL(source), watching) : openFileKeys(source, watching)

function openFileKeys(file: string, watching: Watching): JWTVerifyGetKey {
  // `createLocalJWKSet` throws for an invalid set of keys.
  const current = watchFile(file, text => createLocalJWKSet(JSON.parse(text) as JSONWebKeySet), watching)
  return (header, token) => current()(header, token)
}

function openRemoteKeys(address: URL, { clock, failed }: Watching): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(address, {
    cooldownDuration: cooldownMs,
    cacheMaxAge: cacheMs,
    timeoutDuration: requestMs,
  })
  let failedAt = Number.NEGATIVE_INFINITY
  return async (header, token) => {
    if (clock() - failedAt < retryEveryMs) throw new Unavailable(retryEveryMs / 1000)
    try {
      return await keys(header, token)
    } catch (thrown) {
      if (isKeyMismatch(thrown)) throw thrown
      failedAt = clock()
      failed(thrown)
      throw new Unavailable(retryEveryMs / 1000)
    }
  }
}

/** The set was found, but the token's key is not in it. */
const isKeyMismatch = (thrown: unknown): boolean =>
  thrown instanceof errors.JWKSNoMatchingKey ||
  thrown instanceof errors.JWKSMultipleMatchingKeys ||
  thrown instanceof errors.JOSENotSupported
