/**
 * People, tokens and keys behind the port `service/identity.ts`. What it guards, by number:
 *  (1) A password is kept as argon2id; only where a digest must be checked is it also kept sealed under the local key.
 *  (2) An unknown name costs what a wrong password costs, and both say the same: nothing.
 *  (3) What was proven is remembered for minutes at most, by a tag of the credentials and never by themselves.
 *  (4) After `lockAfter` failures a name is refused from that address for `lockFor`, without asking further.
 */
import { argon2, createCipheriv, createDecipheriv, hash as digest, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Person } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { Identities } from '../service/identity.ts'
import type { Store, Writer } from '../service/store.ts'
import { type LocalKey, tagOf } from './key.ts'
import { type Trust, verify } from './token.ts'

const space = 'people'
const never = 8.64e15
/** OWASP's least for argon2id: 19 MiB, two passes, one lane. */
const cost = { parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 } as const
const remembered = 5 * 60_000
const mostRemembered = 10_000
const lockAfter = 10
const lockFor = 60_000

interface Kept {
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  readonly salt: string
  readonly hash: string
  readonly sealed: string
}

export function hash(password: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    argon2('argon2id', { message: password, nonce: salt, ...cost }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    ),
  )
}

export async function enrol(writer: Writer, key: LocalKey, people: readonly Person[], now: number): Promise<void> {
  for (const person of people) {
    const salt = randomBytes(16)
    const kept: Kept = {
      roles: person.roles,
      claims: person.claims ?? {},
      salt: salt.toString('base64'),
      hash: (await hash(person.password, salt)).toString('base64'),
      sealed: seal(key, person.subject, person.password),
    }
    await writer.remember(space, person.subject, { value: JSON.stringify(kept), expires: never }, now)
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
  readonly trust: Trust
  readonly clock: () => number
  /** API keys: tag of the key (see `tagOf`) → who. */
  readonly keys?: ReadonlyMap<string, Caller>
  /** Whose certificate this is; the chain has been verified before. */
  readonly certificate?: (der: Uint8Array) => Caller | undefined
}

export function identitiesOf(sources: IdentitySources): Identities {
  const { store, key, trust, clock } = sources
  const secret = key.secret('remembered credentials')
  const proven = new Recent<{ readonly caller: Caller; readonly until: number }>()
  const failures = new Recent<{ count: number; until: number }>()
  const unknown: Pick<Kept, 'salt' | 'hash'> = { salt: 'AAAAAAAAAAAAAAAAAAAAAA==', hash: tagOf(secret, 'nobody') }

  const person = async (name: string): Promise<Kept | undefined> => {
    const memo = await store.read(reader => reader.recall(space, name))
    return memo && (JSON.parse(memo.value) as Kept) // written by `enrol` and by nothing else
  }
  const caller = (name: string, kept: Kept): Caller => ({ subject: name, roles: kept.roles, claims: kept.claims })
  const fresh = (tag: string): Caller | undefined => {
    const known = proven.get(tag)
    return known && known.until > clock() ? known.caller : undefined
  }

  async function byToken(token: string, tag: string): Promise<Caller | undefined> {
    const now = clock()
    const found = await verify(trust, token, now)
    if (!found?.caller.subject) return undefined
    const kept = await person(found.caller.subject)
    const who = { ...found.caller, claims: { ...kept?.claims, ...found.caller.claims } }
    proven.set(tag, { caller: who, until: Math.min(found.expires, now + remembered) })
    return who
  }

  async function byPassword(name: string, password: string, from: string): Promise<Caller | undefined> {
    const at = `${from} ${name}`
    const failed = failures.get(at)
    if (failed && failed.until > clock() && failed.count >= lockAfter) return undefined
    const kept = await person(name)
    const { salt, hash: right } = kept ?? unknown
    const given = await hash(password, Buffer.from(salt, 'base64'))
    const expected = Buffer.from(right, 'base64')
    if (kept && given.length === expected.length && timingSafeEqual(given, expected)) {
      failures.delete(at)
      return caller(name, kept)
    }
    failures.set(at, { count: (failed && failed.until > clock() ? failed.count : 0) + 1, until: clock() + lockFor })
    return undefined
  }

  return {
    bearer: token => {
      const tag = digest('sha256', token, 'base64url')
      return fresh(tag) ?? byToken(token, tag)
    },
    password: async (name, password, from) => {
      const tag = tagOf(secret, `${name}\0${password}`)
      const known = fresh(tag)
      if (known) return known
      const who = await byPassword(name, password, from)
      if (who) proven.set(tag, { caller: who, until: clock() + remembered })
      return who
    },
    secret: async name => {
      const kept = await person(name)
      return kept && unseal(key, name, kept.sealed)
    },
    known: async name => {
      const kept = await person(name)
      return kept && caller(name, kept)
    },
    certificate: der => sources.certificate?.(der),
    key: given => sources.keys?.get(tagOf(secret, given)),
  }
}
