/**
 * The keys that another signs tokens with (RFC 7517): in a file, or at an https address. What it
 * guards:
 *  (1) Nothing but the configured place is asked, whatever a token says (`jku`, `x5u`, `jwk`), and
 *      no redirect is followed.
 *  (2) A key identifier that is not known makes the address be asked again, twice a minute at most;
 *      an address that fails is left in peace for a while, and who asks meanwhile is told to come
 *      back, not that his token is bad.
 */
import { createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isHttpAddress } from '../base/address.ts'
import { Unavailable } from '../service/store.ts'
import { type Watching, watchFile } from './watched-file.ts'

/** Milliseconds. */
const cooldown = 30_000
const oldest = 600_000
const patience = 5_000
const peace = 5_000

/** @param source a path, or an https address; http is for loopback alone. Throws `Unusable`. */
export const openJwks = (source: string, watching: Watching): JWTVerifyGetKey =>
  isHttpAddress(source) ? ofAddress(new URL(source), watching) : ofFile(source, watching)

function ofFile(file: string, watching: Watching): JWTVerifyGetKey {
  // `createLocalJWKSet` throws for what is no set of keys.
  const current = watchFile(file, text => createLocalJWKSet(JSON.parse(text) as JSONWebKeySet), watching)
  return (header, token) => current()(header, token)
}

function ofAddress(address: URL, { clock, failed }: Watching): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(address, {
    cooldownDuration: cooldown,
    cacheMaxAge: oldest,
    timeoutDuration: patience,
  })
  let failedAt = Number.NEGATIVE_INFINITY
  return async (header, token) => {
    if (clock() - failedAt < peace) throw new Unavailable(peace / 1000)
    try {
      return await keys(header, token)
    } catch (thrown) {
      if (isAnswer(thrown)) throw thrown
      failedAt = clock()
      failed(thrown)
      throw new Unavailable(peace / 1000)
    }
  }
}

/** The set was there, and says that the token's key is not in it. */
const isAnswer = (thrown: unknown): boolean =>
  thrown instanceof errors.JWKSNoMatchingKey ||
  thrown instanceof errors.JWKSMultipleMatchingKeys ||
  thrown instanceof errors.JOSENotSupported
