/**
 * `diglot people`: the people of a service, in its own store. Passwords are read from standard
 * input, so they are in no process list and no shell history.
 */
import { attempt, isSyntaxError } from '../../base/attempt.ts'
import type { Implementation, Person } from '../../contract/implement.ts'
import { type LocalKey, openLocalKey } from '../../identity/local-key.ts'
import { addPeople, changePassword, listPeople, setDisabled } from '../../identity/people-directory.ts'
import type { Store } from '../../service/store.ts'
import { dataFileOf, explainOutage, openKnownStore, openStore } from '../store/open-store.ts'

export interface PeopleFlags {
  readonly data?: string
  readonly database?: string
  readonly key?: string
  /** Also seals the password, so that UsernameToken digests can be checked. */
  readonly digests?: boolean
}

/** Octets accepted from standard input. */
const inputMax = 16 * 1024 * 1024

/** All of standard input. */
export async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY)
    throw new Error('passwords are read from standard input: pass them through a pipe or a file, not at a terminal')
  let text = ''
  for await (const piece of process.stdin.setEncoding('utf8')) {
    text += piece
    if (text.length > inputMax) throw new Error(`standard input is longer than ${inputMax} characters: split it`)
  }
  return text
}

/** The only line of standard input, without its end. */
async function readPassword(): Promise<string> {
  const [password = '', ...more] = (await readStandardInput()).replace(/\r?\n$/, '').split(/\r?\n/)
  if (more.length > 0) throw new Error('standard input has more than one line: give only the password')
  return password
}

async function withStore<T>(
  app: Implementation,
  flags: PeopleFlags,
  work: (store: Store) => Promise<T>,
  open = openKnownStore,
): Promise<T> {
  const store = await open(app, flags)
  try {
    return await explainOutage(app, flags, () => work(store))
  } finally {
    await store.close()
  }
}

const sealingKey = (app: Implementation, flags: PeopleFlags): LocalKey | undefined =>
  flags.digests === true ? openLocalKey(flags.key ?? `${dataFileOf(app, flags)}.key`) : undefined

export async function addOnePerson(
  app: Implementation,
  flags: PeopleFlags,
  person: Omit<Person, 'password'>,
): Promise<void> {
  const people = [{ ...person, password: await readPassword() }]
  await withStore(app, flags, store => addPeople(store, people, sealingKey(app, flags), Date.now()), openStore)
}

/** Returns the people that were added. */
export async function importPeople(app: Implementation, flags: PeopleFlags): Promise<readonly Person[]> {
  const people = parsePeople(await readStandardInput())
  await withStore(app, flags, store => addPeople(store, people, sealingKey(app, flags), Date.now()), openStore)
  return people
}

export async function setPassword(app: Implementation, flags: PeopleFlags, subject: string): Promise<void> {
  const password = await readPassword()
  await withStore(app, flags, store => changePassword(store, subject, password, sealingKey(app, flags), Date.now()))
}

export const setPersonDisabled = (app: Implementation, flags: PeopleFlags, subject: string, isDisabled: boolean) =>
  withStore(app, flags, store => setDisabled(store, subject, isDisabled, Date.now()))

/** One JSON line for each person. */
export const describePeople = (app: Implementation, flags: PeopleFlags): Promise<string[]> =>
  withStore(app, flags, async store => (await listPeople(store)).map(person => JSON.stringify(person)))

/** One JSON object in each line: subject, password, roles, and optionally claims. */
function parsePeople(text: string): Person[] {
  const lines = text.split('\n').map((line, at) => [line.trim(), at + 1] as const)
  return lines.filter(([line]) => line !== '').map(([line, at]) => parsePersonLine(line, at))
}

function parsePersonLine(line: string, at: number): Person {
  const refusePerson = (problem: string): never => {
    throw new Error(`line ${at} ${problem}: give {"subject":"…","password":"…","roles":["…"],"claims":{"…":"…"}}`)
  }
  const found: unknown = attempt(() => JSON.parse(line), isSyntaxError)
  if (typeof found !== 'object' || found === null) return refusePerson('is not a JSON object')
  const { subject, password, roles, claims = {}, ...more } = found as Partial<Record<string, unknown>>
  if (typeof subject !== 'string') return refusePerson('has no subject')
  if (typeof password !== 'string') return refusePerson('has no password')
  if (!Array.isArray(roles) || !roles.every(each => typeof each === 'string'))
    return refusePerson('has no list of roles')
  if (!hasTexts(claims)) return refusePerson('has claims that are not texts')
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) return refusePerson(`has the unknown member ${JSON.stringify(unknown)}`)
  return { subject, password, roles, claims }
}

const hasTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === 'object' && value !== null && Object.values(value).every(each => typeof each === 'string')
