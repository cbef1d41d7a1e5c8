/**
 * The people of a service, for its operator: `diglot people`. Their passwords are secret, so they
 * count wherever the service runs, while those of the seed are public.
 */
import type { Person } from '../contract/implement.ts'
import { explainUnknownRoles } from '../contract/review-warnings.ts'
import type { Service } from '../contract/service.ts'
import type { Store, StoreWriter } from '../service/store.ts'
import type { LocalKey } from './local-key.ts'
import {
  createRecord,
  keepPerson,
  listPersonTexts,
  parsePerson,
  readPersonText,
  replacePerson,
  type StoredPerson,
} from './person-record.ts'

/** A person as the operator sees them, without anything about the password. */
export interface ListedPerson {
  readonly subject: string
  readonly roles: readonly string[]
  readonly claims: Readonly<Record<string, string>>
  /** From the seed: the password is public, and counts only on loopback. */
  readonly seeded: boolean
  readonly disabled: boolean
  /** UsernameToken digests can be checked, because the password is also stored sealed. */
  readonly digests: boolean
}

/** NIST SP 800-63B-4 §3.1.1.2 demands more characters where the password is the only proof. */
const passwordMin = 8
const passwordMax = 1024
const nameMax = 256

/** What is wrong with a person to be added; undefined if nothing. */
export function checkPerson({ subject, password }: Pick<Person, 'subject' | 'password'>): string | undefined {
  const count = [...password].length
  if (subject === '' || subject.length > nameMax || /[\p{Cc}:]/u.test(subject))
    return `the name ${JSON.stringify(subject)} cannot be used: give up to ${nameMax} characters, without colons and controls (RFC 7617 §2)`
  if (count < passwordMin || count > passwordMax)
    return `the password of ${subject} has ${count} characters: give ${passwordMin} to ${passwordMax}`
  return undefined
}

/**
 * Adds people, all or none.
 * @param sealing the local key, so that digests can be checked; undefined: they cannot be
 * @throws Error that explains the first mistake
 */
export async function addPeople(store: Store, people: readonly Person[], sealing: LocalKey | undefined, now: number) {
  for (const person of people) requireSound(person)
  const records: (readonly [string, StoredPerson])[] = []
  for (const person of people) records.push([person.subject, { ...(await createRecord(person, sealing)), added: true }])
  await store.write(async writer => {
    for (const [subject, record] of records)
      if (!(await keepPerson(writer, subject, record, now)))
        throw new Error(`${subject} already exists: give another name, or change the password`)
  })
}

/** Gives a person a new password, which ends every cookie issued under the old one. */
export async function changePassword(
  store: Store,
  subject: string,
  password: string,
  sealing: LocalKey | undefined,
  now: number,
): Promise<void> {
  requireSound({ subject, password })
  const record = await createRecord({ subject, password, roles: [] }, sealing)
  const { salt, hash, cost, sealed } = record
  await changePerson(store, subject, now, ({ roles, claims, disabled }) => ({
    roles,
    claims,
    salt,
    hash,
    ...(cost && { cost }),
    ...(sealed !== undefined && { sealed }),
    ...(disabled && { disabled }),
    added: true,
  }))
}

/** A disabled person cannot be authenticated; a password proven before stops counting at once. */
export const setDisabled = (store: Store, subject: string, isDisabled: boolean, now: number): Promise<void> =>
  changePerson(store, subject, now, ({ disabled: _, ...person }) => ({
    ...person,
    ...(isDisabled && { disabled: true }),
  }))

/** @param limit how many, in the order of their names. Default: all */
export async function listPeople(store: Store, limit?: number): Promise<ListedPerson[]> {
  const texts = await store.read(reader => listPersonTexts(reader, limit))
  return [...texts].map(([subject, text]) => {
    const { roles, claims, added = false, disabled = false, sealed } = parsePerson(text)
    return { subject, roles, claims, seeded: !added, disabled, digests: sealed !== undefined }
  })
}

/** A start looks at this many people, which takes some milliseconds. */
const lookedAtMax = 1000

/** Of the first people who may sign in: each role that no policy names, with its people. */
export async function findStrangeRoles(store: Store, contract: Service): Promise<readonly string[]> {
  const people = (await listPeople(store, lookedAtMax)).filter(({ disabled }) => !disabled)
  const strange = explainUnknownRoles(contract, [...new Set(people.flatMap(({ roles }) => roles))])
  return [...strange].map(([role, explanation]) => {
    const [first, ...others] = people.filter(({ roles }) => roles.includes(role)).map(({ subject }) => subject)
    return `${first}${others.length > 0 ? ` and ${others.length} more` : ''}: ${explanation}`
  })
}

function requireSound(person: Pick<Person, 'subject' | 'password'>): void {
  const mistake = checkPerson(person)
  if (mistake !== undefined) throw new Error(mistake)
}

const changePerson = (
  store: Store,
  subject: string,
  now: number,
  change: (person: StoredPerson) => StoredPerson,
): Promise<void> =>
  store.write(async (writer: StoreWriter) => {
    const text = await readPersonText(writer, subject)
    if (text === undefined) throw new Error(`${subject} is not a known person: diglot people list prints all`)
    await replacePerson(writer, subject, change(parsePerson(text)), now)
  })
