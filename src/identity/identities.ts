/**
 * People, tokens and keys behind the port `service/identity-port.ts`. What it guards, by number:
 *  (1) A password is kept as argon2id; only where a digest must be checked is it also kept sealed
 *      under the local key.
 *  (2) An unknown name costs what a wrong password costs, and both say the same: nothing.
 *  (3) What was proven is remembered for minutes at most, by a tag of the credentials and never by
 *      themselves.
 *  (4) After some failures a name is refused from that address for a while, without asking further
 *      (`lockout.ts`).
 *  (5) The people of the example have passwords that everybody knows: they count only where
 *      `seeded` says so.
 */
import { createCipheriv, createDecipheriv, hash as digest, randomBytes, timingSafeEqual } from 'node:crypto'
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
const never = 8.64e15
const remembered = 5 * 60_000
const mostRemembered = 10_000

/** What is kept of a person. */
interface StoredPerson {
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  readonly salt: string
  readonly hash: string
  /** Of `hashPassword`; none: `former`. */
  readonly cost?: Cost
  readonly sealed: string
}
/** Of who was enrolled before it was kept. */
const former: Cost = { memory: 19_456, passes: 2 }

/**
 * Hashes their passwords, which takes its time; what is answered writes them down within a
 * transaction, which has little.
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
      salt: salt.toString('base64'),
      hash: (await hashPassword(person.password, salt, currentCost)).toString('base64'),
      cost: currentCost,
      sealed: seal(key, person.subject, person.password),
    }
    all.push([person.subject, kept])
  }
  return async (writer, now) => {
    for (const [subject, kept] of all)
      await writer.remember(space, subject, { value: JSON.stringify(kept), expires: never }, now)
  }
}

function seal(key: LocalKey, subject: string, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key.secret('passwords'), iv).setAAD(Buffer.from(subject))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64')
}
function unseal(key: LocalKey, subject: string, sealed: string): string | undefined {
  const octets = Buffer.from(sealed, 'base64')
  try {
    const cipher = createDecipheriv('aes-256-gcm', key.secret('passwords'), octets.subarray(0, 12))
    cipher.setAAD(Buffer.from(subject)).setAuthTag(octets.subarray(12, 28))
    return Buffer.concat([cipher.update(octets.subarray(28)), cipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

/** Bounded: the oldest goes first. */
class Recent<V> {
  readonly #map = new Map<string, V>()
  get(key: string): V | undefined {
    return this.#map.get(key)
  }
  set(key: string, value: V): void {
    if (this.#map.size >= mostRemembered) this.#map.delete(this.#map.keys().next().value ?? '')
    this.#map.set(key, value)
  }
  delete(key: string): void {
    this.#map.delete(key)
  }
}

export interface IdentitySources {
  readonly store: Store
  readonly key: LocalKey
  readonly trust: TokenTrust
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly keys: ApiKeys
  /** The service's name: a cookie of another is none. */
  readonly service: string
  /** (5) */
  readonly seeded: boolean
  /** A name was locked, from that address. */
  readonly onLock?: (from: string) => void
}

export interface People extends Identities {
  /** A cookie's value for somebody who has just proven a password; see `session.ts`. */
  readonly session: (name: string) => Promise<SessionCookie | undefined>
}

export function createIdentities(sources: IdentitySources): People {
  const { store, key, trust, clock, seeded } = sources
  const secret = key.secret('remembered credentials')
  const signing = key.secret(`cookies of ${sources.service}`)
  const lockout = createLockout(store, key.secret('failed log-ins'))
  const proven = new Recent<{ readonly caller: Caller; readonly until: number }>()
  /** What a token came in → its tag. */
  const tags = new WeakMap<object, string>()
  const unknown: Pick<StoredPerson, 'salt' | 'hash' | 'cost'> = {
    salt: 'AAAAAAAAAAAAAAAAAAAAAA==',
    hash: authenticationTag(secret, 'nobody'),
    cost: currentCost,
  }

  const person = async (name: string): Promise<StoredPerson | undefined> =>
    keptIn(await store.read(reader => reader.recall(space, name)))
  const caller = (name: string, kept: StoredPerson): Caller => ({
    subject: name,
    roles: kept.roles,
    claims: kept.claims,
  })
  const fresh = (tag: string): Caller | undefined => {
    const known = proven.get(tag)
    return known && known.until > clock() ? known.caller : undefined
  }
  const remember = (tag: string, caller: Caller, until: number): Caller => {
    proven.set(tag, { caller, until: Math.min(until, clock() + remembered) })
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
      kept: keptIn(await reader.recall(space, name)),
      locked: await lockout.locked(reader, name, from, clock()),
    }))
    if (locked) return undefined
    const { salt, hash: right, cost = former } = kept ?? unknown
    const given = await hashPassword(password, Buffer.from(salt, 'base64'), cost)
    const expected = Buffer.from(right, 'base64')
    const same = given.length === expected.length && timingSafeEqual(given, expected)
    if (kept && seeded && same) {
      await lockout.passed(name, from)
      return caller(name, kept)
    }
    if (await lockout.failed(name, from, clock())) sources.onLock?.(from)
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
      return fresh(tag) ?? byToken(token, tag)
    },
    password: async (name, password, from) => {
      const tag = authenticationTag(secret, `${name}\0${password}`)
      const known = fresh(tag)
      if (known) return known
      const who = await byPassword(name, password, from)
      return who && remember(tag, who, never)
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
      return fresh(tag) ?? byCertificate(der, tag)
    },
    key: sources.keys.find,
    takesKeys: sources.keys.any,
    cookie: value => {
      const tag = `cookie ${digest('sha256', value, 'base64url')}`
      return fresh(tag) ?? byCookie(value, tag)
    },
    session: async name => {
      const kept = await person(name)
      return kept && issueSession(signing, name, kept.salt, clock())
    },
  }
}

const keptIn = (memo: ExpiringRecord | undefined): StoredPerson | undefined =>
  memo && (JSON.parse(memo.value) as StoredPerson) // written by `enrol` and by nothing else
