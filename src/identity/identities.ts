/**
 * People, tokens and keys behind the port `service/identity-port.ts`. What it guards, by number:
 *  (1) A password is stored as argon2id, and also sealed under the local key, for checking digests.
 *  (2) An unknown name costs as much time as a wrong password, and gives the same result.
 *  (3) Proven credentials are remembered for minutes at most, by a tag and never by themselves.
 *  (4) After some failures a name is refused from that address for a while, without a check
 *      (`lockout.ts`).
 *  (5) The seeded people have public passwords, which count only if `seeded` is true.
 */

import { createCipheriv, createDecipheriv, hash as digest, randomBytes, timingSafeEqual } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import { BoundedCache } from '../base/memo.ts'
import type { Person } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { Identities } from '../service/identity-port.ts'
import type { ExpiringRecord, Store, StoreWriter } from '../service/store.ts'
import type { ApiKeys } from './api-key.ts'
import { type TokenTrust, verifyToken } from './bearer-token.ts'
import { readCertificateNames } from './certificate-name.ts'
import { authenticationTag, type LocalKey } from './local-key.ts'
import { createLockout } from './lockout.ts'
import { type Cost, currentCost, hashPassword } from './password-hash.ts'
import { issueSession, readSessionSubject, type SessionCookie, verifySession } from './session-cookie.ts'

const space = 'people'
const latestMs = 8.64e15
const rememberMs = 5 * 60_000
const rememberedMax = 10_000

/** A person as the store has them. */
interface StoredPerson {
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  readonly salt: string
  readonly hash: string
  /** Of `hashPassword`. Default: `formerCost`. */
  readonly cost?: Cost
  readonly sealed: string
}
/** For people who were stored without a cost. */
const formerCost: Cost = { memory: 19_456, passes: 2 }

/**
 * Hashes passwords, which is slow; the returned function stores the people within a transaction,
 * which must be fast.
 */
export async function preparePerson(
  key: LocalKey,
  people: readonly Person[],
): Promise<(writer: StoreWriter, now: number) => Promise<void>> {
  const all: (readonly [string, StoredPerson])[] = []
  for (const person of people) {
    const salt = randomBytes(16)
    const kept: StoredPerson = {
      roles: person.roles,
      claims: person.claims ?? {},
      salt: encodeBase64(salt),
      hash: encodeBase64(await hashPassword(person.password, salt, currentCost)),
      cost: currentCost,
      sealed: seal(key, person.subject, person.password),
    }
    all.push([person.subject, kept])
  }
  return async (writer, now) => {
    for (const [subject, kept] of all)
      await writer.remember(space, subject, { value: JSON.stringify(kept), expires: latestMs }, now)
  }
}

function seal(key: LocalKey, subject: string, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key.secret('passwords'), iv).setAAD(Buffer.from(subject))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return encodeBase64(Buffer.concat([iv, cipher.getAuthTag(), body]))
}
function unseal(key: LocalKey, subject: string, sealed: string): string | undefined {
  const octets = requireBase64(sealed)
  return attempt(() => {
    const cipher = createDecipheriv('aes-256-gcm', key.secret('passwords'), octets.subarray(0, 12))
    cipher.setAAD(Buffer.from(subject)).setAuthTag(octets.subarray(12, 28))
    return Buffer.concat([cipher.update(octets.subarray(28)), cipher.final()]).toString('utf8')
  }, isCryptoError)
}

export interface IdentitySources {
  readonly store: Store
  readonly key: LocalKey
  readonly trust: TokenTrust
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly keys: ApiKeys
  /** The service's name: cookies of another one are invalid. */
  readonly service: string
  /** (5) Whether passwords of people count. */
  readonly seeded: boolean
  /** Called when a name, or all names, are locked for an address. */
  readonly onLock?: (from: string) => void
}

export interface People extends Identities {
  /** The cookie of a person whose password was just proven; see `session-cookie.ts`. */
  readonly session: (name: string) => Promise<SessionCookie | undefined>
}

export function createIdentities(sources: IdentitySources): People {
  const { store, key, trust, clock, seeded } = sources
  const secret = key.secret('remembered credentials')
  const signing = key.secret(`cookies of ${sources.service}`)
  const lockout = createLockout(store, key.secret('failed log-ins'))
  const proven = new BoundedCache<string, { readonly caller: Caller; readonly until: number }>(rememberedMax)
  /** The object that a token came in → the token's tag. */
  const tags = new WeakMap<object, string>()
  const unknown: Pick<StoredPerson, 'salt' | 'hash' | 'cost'> = {
    salt: 'AAAAAAAAAAAAAAAAAAAAAA==',
    hash: encodeBase64(randomBytes(32)),
    cost: currentCost,
  }

  const person = async (name: string): Promise<StoredPerson | undefined> =>
    parsePerson(await store.read(reader => reader.recall(space, name)))
  const caller = (name: string, kept: StoredPerson): Caller => ({
    subject: name,
    roles: kept.roles,
    claims: kept.claims,
  })
  const recall = (tag: string): Caller | undefined => {
    const known = proven.get(tag)
    return known && known.until > clock() ? known.caller : undefined
  }
  const remember = (tag: string, caller: Caller, until: number): Caller => {
    proven.set(tag, { caller, until: Math.min(until, clock() + rememberMs) })
    return caller
  }

  async function byToken(token: string, tag: string): Promise<Caller | undefined> {
    const found = await verifyToken(trust, token, clock())
    if (!found?.caller.subject) return undefined
    const kept = trust.ours ? await person(found.caller.subject) : undefined
    return remember(tag, { ...found.caller, claims: { ...kept?.claims, ...found.caller.claims } }, found.expires)
  }

  async function byPassword(name: string, password: string, from: string): Promise<Caller | undefined> {
    const { kept, locked } = await store.read(async reader => ({
      kept: parsePerson(await reader.recall(space, name)),
      locked: await lockout.isLocked(reader, name, from, clock()),
    }))
    if (locked) return undefined
    const { salt, hash: right, cost = formerCost } = kept ?? unknown
    const given = await hashPassword(password, requireBase64(salt), cost)
    const expected = requireBase64(right)
    const same = given.length === expected.length && timingSafeEqual(given, expected)
    if (kept && seeded && same) {
      await lockout.recordSuccess(name, from)
      return caller(name, kept)
    }
    if (await lockout.recordFailure(name, from, clock())) sources.onLock?.(from)
    return undefined
  }

  async function byCookie(value: string, tag: string): Promise<Caller | undefined> {
    const found = readSessionSubject(value)
    const kept = found && seeded ? await person(found) : undefined
    const until = kept && verifySession(signing, value, kept.salt)
    return found && kept && until !== undefined && until > clock()
      ? remember(tag, caller(found, kept), until)
      : undefined
  }

  async function byCertificate(der: Uint8Array, tag: string): Promise<Caller | undefined> {
    const { names, from, until } = readCertificateNames(der) ?? { names: [], from: 0, until: 0 }
    if (from > clock() || until <= clock()) return undefined
    for (const name of names) {
      const kept = await person(name)
      if (kept) return remember(tag, caller(name, kept), until)
    }
    return undefined
  }

  return {
    bearer: (token, came) => {
      let tag = tags.get(came)
      if (tag === undefined) tags.set(came, (tag = digest('sha256', token, 'base64url')))
      return recall(tag) ?? byToken(token, tag)
    },
    password: async (name, password, from) => {
      const tag = authenticationTag(secret, `${name}\0${password}`)
      const known = recall(tag)
      if (known) return known
      const caller = await byPassword(name, password, from)
      return caller && remember(tag, caller, latestMs)
    },
    secret: async name => {
      const kept = seeded ? await person(name) : undefined
      return kept && unseal(key, name, kept.sealed)
    },
    known: async name => {
      const kept = await person(name)
      return kept && caller(name, kept)
    },
    certificate: der => {
      const tag = `certificate ${digest('sha256', der, 'base64url')}`
      return recall(tag) ?? byCertificate(der, tag)
    },
    key: sources.keys.find,
    takesKeys: sources.keys.any,
    cookie: value => {
      const tag = `cookie ${digest('sha256', value, 'base64url')}`
      return recall(tag) ?? byCookie(value, tag)
    },
    session: async name => {
      const kept = await person(name)
      return kept && issueSession(signing, name, kept.salt, clock())
    },
  }
}

const parsePerson = (memo: ExpiringRecord | undefined): StoredPerson | undefined =>
  memo && (JSON.parse(memo.value) as StoredPerson) // written by `preparePerson`, and only there
