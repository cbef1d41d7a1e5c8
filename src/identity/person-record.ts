/** People as the store has them: a password rests as argon2id, and may rest sealed for digests. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { attempt, isCryptoError } from '../base/attempt.ts'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Person } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import type { StoreReader, StoreWriter } from '../service/store.ts'
import type { LocalKey } from './local-key.ts'
import { type Cost, currentCost, hashPassword } from './password-hash.ts'

const space = 'people'
const latestMs = 8.64e15

export interface StoredPerson {
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  readonly salt: string
  readonly hash: string
  /** Of `hashPassword`. Default: `formerCost`. */
  readonly cost?: Cost
  /** The password under the local key, by which digests are checked. */
  readonly sealed: string
}
/** For people who were stored without a cost. */
export const formerCost: Cost = { memory: 19_456, passes: 2 }

/**
 * Hashes passwords, which is slow; the returned function stores the people within a transaction,
 * which must be fast.
 */
export async function preparePeople(
  key: LocalKey,
  people: readonly Person[],
): Promise<(writer: StoreWriter, now: number) => Promise<void>> {
  const all: (readonly [string, StoredPerson])[] = []
  for (const person of people) all.push([person.subject, await createRecord(key, person)])
  return async (writer, now) => {
    for (const [subject, kept] of all)
      await writer.remember(space, subject, { value: JSON.stringify(kept), expires: latestMs }, now)
  }
}

export async function createRecord(key: LocalKey, person: Person): Promise<StoredPerson> {
  const salt = randomBytes(16)
  return {
    roles: person.roles,
    claims: person.claims ?? {},
    salt: encodeBase64(salt),
    hash: encodeBase64(await hashPassword(person.password, salt, currentCost)),
    cost: currentCost,
    sealed: sealPassword(key, person.subject, person.password),
  }
}

/** The record's text; undefined for an unknown name. */
export async function readPersonText(reader: StoreReader, name: string): Promise<string | undefined> {
  return (await reader.recall(space, name))?.value
}

export const parsePerson = (text: string): StoredPerson => JSON.parse(text) as StoredPerson // written by `createRecord`, and only there

export const callerOfPerson = (subject: string, { roles, claims }: StoredPerson): Caller => ({ subject, roles, claims })

const sealingKey = memoizeByObject((key: LocalKey) => key.secret('passwords'))

export function sealPassword(key: LocalKey, subject: string, text: string): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', sealingKey(key), iv).setAAD(Buffer.from(subject))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return encodeBase64(Buffer.concat([iv, cipher.getAuthTag(), body]))
}

/** Undefined if it was sealed under another key, or for another subject. */
export function unsealPassword(key: LocalKey, subject: string, sealed: string): string | undefined {
  const octets = requireBase64(sealed)
  return attempt(() => {
    const cipher = createDecipheriv('aes-256-gcm', sealingKey(key), octets.subarray(0, 12))
    cipher.setAAD(Buffer.from(subject)).setAuthTag(octets.subarray(12, 28))
    return Buffer.concat([cipher.update(octets.subarray(28)), cipher.final()]).toString('utf8')
  }, isCryptoError)
}
