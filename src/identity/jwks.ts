/**
 * The keys of another token issuer (RFC 7517): in a file, or at an https address. What it guards:
 *  (1) Only the configured place is used, whatever a token names (`jku`, `x5u`, `jwk`), and no
 *      redirect is followed.
 *  (2) An unknown key identifier causes another request, at most twice a minute; after a failure no
 *      request is made for a while, and callers with such a key are meanwhile told to retry, not
 *      that their token is invalid.
 *  (3) Known keys count while the address fails, for an hour at most: neither an outage nor a
 *      forged token refuses a caller whose key is known.
 *  (4) No more than `octetsMax` of an answer are held, decoded.
 *  (5) A malformed key verifies no token, and is reported once; the others count.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { isHttpAddress } from '../base/address.ts'
import { takeBounded } from '../base/octets.ts'
import { Unavailable } from '../service/store.ts'
import { type Watching, watchFile } from './watched-file.ts'

/** After a request for an unknown key, the next one waits this long. */
const cooldownMs = 30_000
/** Keys of this age are requested again before they are used. */
const freshMs = 600_000
/** (3) */
const keptOnFailureMs = 3_600_000
const requestTimeoutMs = 5_000
const retryEveryMs = 5_000
/** Some hundred keys with their certificates. */
const octetsMax = 1024 * 1024

/** @param source a path, or an https address; http only on loopback. Throws `Unusable`. */
export const openJwks = (source: string, watching: Watching): JWTVerifyGetKey => {
  if (!isHttpAddress(source)) return openFileKeys(source, watching)
  const keys = new RemoteKeys(source, watching)
  return (header, token) => keys.find(header, token)
}

function openFileKeys(file: string, watching: Watching): JWTVerifyGetKey {
  const current = watchFile(file, text => readKeySet(text, file, watching), watching)
  return (header, token) => current()(header, token)
}

/** Throws for an invalid set of keys; its keys are read when they are needed (5). */
function readKeySet(text: string, source: string, { failed }: Watching): JWTVerifyGetKey {
  const find = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
  let isReported = false
  return async (header, token) => {
    try {
      return await find(header, token)
    } catch (thrown) {
      if (!(thrown instanceof DOMException)) throw thrown // Web Cryptography 18.4.4: DataError
      const problem = new errors.JWKInvalid(`a key of ${source} cannot be used: ${thrown.message}`)
      if (!isReported) failed(problem)
      isReported = true
      throw problem
    }
  }
}

class RemoteKeys {
  readonly #address: string
  readonly #watching: Watching
  #known: JWTVerifyGetKey | undefined
  #fetchedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #fetching: Promise<boolean> | undefined

  constructor(address: string, watching: Watching) {
    this.#address = address
    this.#watching = watching
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.#age() >= freshMs) await this.#renew()
    const known = this.#requireKnown()
    try {
      return await known(header, token)
    } catch (thrown) {
      if (!(thrown instanceof errors.JWKSNoMatchingKey) || this.#age() < cooldownMs) throw thrown
    }
    if (!(await this.#fetch()))
      throw new Unavailable(retryEveryMs / 1000, `the keys of ${this.#address} cannot be fetched`) // (2)
    return this.#requireKnown()(header, token)
  }

  #age(): number {
    return this.#since(this.#fetchedAt)
  }
  /** If the clock was put back, it has reached this time before. */
  #since(time: number): number {
    return Math.abs(this.#watching.clock() - time)
  }

  #requireKnown(): JWTVerifyGetKey {
    if (!this.#known || this.#age() >= keptOnFailureMs)
      throw new Unavailable(retryEveryMs / 1000, `the keys of ${this.#address} cannot be fetched`)
    return this.#known
  }

  /** (3) During an outage, known keys do not wait for the next attempt. */
  async #renew(): Promise<void> {
    const fetched = this.#fetch()
    if (this.#failedAt < this.#fetchedAt || this.#age() >= keptOnFailureMs) await fetched
  }

  /** One request at a time, and none for a while after a failure; false if it fails. */
  #fetch(): Promise<boolean> {
    if (this.#since(this.#failedAt) < retryEveryMs) return Promise.resolve(false)
    this.#fetching ??= this.#request()
      .then(
        keys => {
          this.#known = keys
          this.#fetchedAt = this.#watching.clock()
          return true
        },
        thrown => {
          this.#failedAt = this.#watching.clock()
          this.#watching.failed(thrown)
          return false
        },
      )
      .finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  /** (1), (4) */
  async #request(): Promise<JWTVerifyGetKey> {
    const headers = { accept: 'application/json, application/jwk-set+json' }
    const signal = AbortSignal.timeout(requestTimeoutMs)
    const response = await fetch(this.#address, { redirect: 'manual', headers, signal }).catch(cause => {
      throw new Error(`the keys of ${this.#address} cannot be fetched`, { cause })
    })
    if (response.status !== 200 || !response.body)
      throw new Error(`${this.#address} answered a request for keys with ${response.status}`)
    const octets = await takeBounded(response.body, octetsMax)
    if (!octets) throw new Error(`the keys of ${this.#address} are longer than ${octetsMax} octets`)
    return readKeySet(new TextDecoder().decode(octets), this.#address, this.#watching)
  }
}
