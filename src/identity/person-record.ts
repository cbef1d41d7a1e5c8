/** People as the store has them: a password is stored as argon2id, and optionally sealed. */
import crypto, { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import type { Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Person } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { StoreReader, StoreWriter } from '../service/store.ts'
import type { LocalKey } from './local-key.ts'
import type { PersonRights } from './people-port.ts'

const space = 'people'
const latestMs = 8.64e15

export interface StoredPerson {
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  readonly salt: string
  readonly hash: string
  /** The cost of `hashPassword`. Default: `formerCost`. */
  readonly cost?: Cost
  /** The password sealed with the local key, to check digests. Default: none can be checked. */
  readonly sealed?: string
  /** An operator chose the password, so it is not the public one of the seed. */
  readonly added?: boolean
  /** This person cannot be authenticated until an operator enables them. */
  readonly disabled?: boolean
}
/** For people who were stored without a cost. */
export const formerCost: Cost = { memory: 19_456, passes: 2 }

/**
 * Hashes passwords, which is slow; the returned function stores the people inside a transaction,
 * which must be fast.
 */
export async function preparePeople(
  key: LocalKey,
  people: readonly Person[],
): Promise<(writer: StoreWriter, now: number) => Promise<void>> {
  const all: (readonly [string, StoredPerson])[] = []
  for (const person of people) all.push([person.subject, await createRecord(person, key)])
  return async (writer, now) => {
    for (const [subject, record] of all) await keepPerson(writer, subject, record, now)
  }
}

/** False, and without effect, if the person exists already. */
export const keepPerson = (writer: StoreWriter, subject: string, person: StoredPerson, now: number): Maybe<boolean> =>
  writer.remember(space, subject, { value: JSON.stringify(person), expires: latestMs }, now)

export async function replacePerson(writer: StoreWriter, subject: string, person: StoredPerson, now: number) {
  await writer.forget(space, subject)
  await keepPerson(writer, subject, person, now)
}

/** @param sealing seals the password for digests; undefined: only a hash is kept */
export async function createRecord(person: Person, sealing: LocalKey | undefined): Promise<StoredPerson> {
  const salt = randomBytes(16)
  return {
    roles: person.roles,
    claims: Object.fromEntries(
      Object.entries(person.claims ?? {}).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
    ),
    salt: encodeBase64(salt),
    hash: encodeBase64(await hashPassword(person.password, salt, currentCost)),
    cost: currentCost,
    ...(sealing && { sealed: sealPassword(sealing, person.subject, person.password) }),
  }
}

/** The record's text; undefined for an unknown name. */
export async function readPersonText(reader: StoreReader, name: string): Promise<string | undefined> {
  return (await reader.recall(space, name))?.value
}

export async function listPersonTexts(reader: StoreReader, limit?: number): Promise<ReadonlyMap<string, string>> {
  const all = await reader.recallAll(space, limit)
  return new Map([...all].map(([name, { value }]) => [name, value]))
}

export const parsePerson = (text: string): StoredPerson => JSON.parse(text) as StoredPerson // written by `createRecord`, and only there

export const callerOfPerson = (subject: string, { roles, claims }: StoredPerson): Caller => ({ subject, roles, claims })

/** The caller for a person of a port. */
export const callerWith = (subject: string, { roles, claims = {} }: PersonRights): Caller => ({
  subject,
  roles,
  claims,
})

const sealingKey = memoizeByObject((key: LocalKey) => key.secret('passwords'))

export function sealPassword(key: LocalKey, subject: string, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), iv).setAAD(Buffer.from(subject))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return encodeBase64(Buffer.concat([iv, cipher.getAuthTag(), body]))
}

/** Undefined if it was sealed with another key, or for another subject. */
export function unsealPassword(key: LocalKey, subject: string, sealed: string): string | undefined {
  const octets = requireBase64(sealed)
  return attempt(() => {
    const cipher = createDecipheriv('aes-256-gcm', sealingKey(key), octets.subarray(0, 12))
    cipher.setAAD(Buffer.from(subject)).setAuthTag(octets.subarray(12, 28))
    return Buffer.concat([cipher.update(octets.subarray(28)), cipher.final()]).toString('utf8')
  }, isCryptoError)
}

/** The cost of a hash; stored with each hash, so that the default may change. */
export interface Cost {
  /** In KiB. */
  readonly memory: number
  readonly passes: number
}
/**
 * One of OWASP's minimums for argon2id, all equally strong: each thread of Node's pool holds the
 * memory of a hash.
 */
export const currentCost: Cost = { memory: 12_288, passes: 3 }

/** Deno 2.9 has no argon2: there, no caller has a password. */
export const canHashPasswords = (): boolean => typeof crypto.argon2 === 'function'

/** By argon2id, in 32 octets: a hash costs at most a tenth of a second of a core. */
export const hashPassword = (message: string, nonce: Uint8Array, cost: Cost): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    if (!canHashPasswords())
      throw new Error('node:crypto has no argon2 here, so passwords cannot be stored: leave people out, or run on Node')
    crypto.argon2('argon2id', { message, nonce, ...cost, parallelism: 1, tagLength: 32 }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    )
  })
