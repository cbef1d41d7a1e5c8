/**
 * The only place that proves a password, however it arrives: Basic, the log-in form, UsernameToken
 * as text and as digest. What it guards, by number:
 *  (1) The lock-out is checked first, even for a remembered password; every wrong guess counts.
 *  (2) An unknown name costs as much time as a wrong password, and has the same result.
 *  (3) Addresses take turns in hashing passwords; an address whose queue is full gets no verdict at
 *      all, so remembered passwords cannot be found by uncounted guesses.
 *  (4) Proven passwords are remembered for minutes at most, by a tag and never in clear; they end
 *      at once with a new password, and when the person is disabled or removed.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { encodeBase64, requireBase64 } from '../base/base64.ts'
import { BoundedCache } from '../base/memo.ts'
import type { Caller } from '../contract/policy.ts'
import type { Identities } from '../service/identity-port.ts'
import type { Store } from '../service/store.ts'
import { WaitingLines } from '../service/waiting-lines.ts'
import { authenticationTag, type LocalKey } from './local-key.ts'
import { createLockout, type Failures } from './lockout.ts'
import type { PeoplePort } from './people-port.ts'
import {
  callerOfPerson,
  callerWith,
  canHashPasswords,
  currentCost,
  formerCost,
  hashPassword,
  parsePerson,
  readPersonText,
  type StoredPerson,
  sealPassword,
  unsealPassword,
} from './person-record.ts'

export interface ProofSources {
  readonly store: Store
  readonly key: LocalKey
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Whether the password of this person counts. */
  readonly accepts: (person: StoredPerson) => boolean
  /** People kept elsewhere, instead of those of the store. */
  readonly people?: PeoplePort | undefined
  /** Called when a name, or all names, are locked for an address. */
  readonly onLock?: ((from: string) => void) | undefined
}

/** Two of the four threads in Node's pool; at most some nine seconds of work. */
const bounds = { running: 2, waiting: 512, waitingOfCaller: 64 }
/** For a port, whose work happens elsewhere. */
const portBounds = { ...bounds, running: 16 }
const rememberMs = 5 * 60_000
const rememberedMax = 10_000

interface ProvenPassword {
  readonly caller: Caller
  readonly salt: string
  readonly since: number
  readonly until: number
}

/** A name that was looked up, before any guess is judged. */
interface LookedUpName {
  readonly name: string
  readonly from: string
  /** For an unknown name: a record that no password fits. */
  readonly person: StoredPerson
  readonly isKnown: boolean
  readonly failures: Failures
}

export function createPasswordProof(sources: ProofSources): Pick<Identities, 'password' | 'digest'> {
  const { key, clock, people } = sources
  const secret = key.secret('remembered credentials')
  const guesses = createGuesses(sources)
  const { lockout } = guesses
  const turns = new WaitingLines(people ? portBounds : bounds, 'too many passwords are waiting to be verified')
  /** The tag of a password → its caller, and the salt of the hash that it matched. */
  const proven = new BoundedCache<string, ProvenPassword>(rememberedMax)
  /** The same guess from the same address counts as one guess, with one result. */
  const underWay = new Map<string, Promise<Caller | undefined>>()

  async function provePassword(name: string, password: string, from: string, tag: string): Promise<Caller | undefined> {
    const lookup = await guesses.ask(name, from)
    const { person, failures } = lookup
    if (lockout.isLocked(failures)) return undefined // (1) No await until the guess counts.
    turns.requirePlace(from) // (3)
    const remembered = proven.get(tag)
    if (remembered?.salt === person.salt && remembered.since <= clock() && clock() < remembered.until) {
      if (people) return remembered.caller
      if (sources.accepts(person)) return callerOfPerson(name, person) // (4)
    }
    const caller = await lockout.countWhile(failures, async () =>
      guesses.conclude(lookup, await turns.take(from, () => judgePassword(lookup, password))),
    )
    if (!caller) return undefined
    await lockout.recordSuccess(failures)
    const since = clock()
    proven.set(tag, { caller, salt: person.salt, since, until: since + rememberMs })
    return caller
  }

  async function judgePassword({ name, person, isKnown }: LookedUpName, password: string): Promise<Caller | undefined> {
    const rights = people && (await people.prove(name, password))
    if (people) return rights && callerWith(name, rights)
    const fits = await isPasswordOf(person, password)
    return fits && isKnown && sources.accepts(person) ? callerOfPerson(name, person) : undefined
  }

  return {
    password: (name, password, from) => {
      const tag = authenticationTag(secret, `${name}\0${password}`)
      const guess = `${from} ${tag}`
      const before = underWay.get(guess)
      if (before) return before
      const proof = provePassword(name, password, from, tag).finally(() => underWay.delete(guess))
      underWay.set(guess, proof)
      return proof
    },
    digest: createDigestProof(sources, guesses),
  }
}

/** A digest may be a replay, so it resets no count. */
function createDigestProof({ key, accepts }: ProofSources, guesses: Guesses): Identities['digest'] {
  const sealedForNobody = sealPassword(key, '', encodeBase64(randomBytes(12)))
  return async (name, isMadeOf, from) => {
    const lookup = await guesses.ask(name, from)
    if (guesses.lockout.isLocked(lookup.failures)) return undefined // (1)
    const { sealed } = lookup.person
    const password = unsealPassword(key, lookup.isKnown && sealed !== undefined ? name : '', sealed ?? sealedForNobody)
    const fits = isMadeOf(password ?? '') && password !== undefined && sealed !== undefined
    const caller = fits && accepts(lookup.person) ? callerOfPerson(name, lookup.person) : undefined
    return caller ?? guesses.lockout.countWhile(lookup.failures, () => guesses.conclude(lookup, caller))
  }
}

type Guesses = ReturnType<typeof createGuesses>

/** (1) The look-up before any guess is judged, and how a wrong guess counts. */
function createGuesses({ store, key, clock, people, onLock }: ProofSources) {
  const lockout = createLockout(store, key.secret('failed log-ins'))
  const unknown = JSON.stringify(createUnknown())
  return {
    lockout,
    ask: async (name: string, from: string): Promise<LookedUpName> => {
      const { text, failures } = await store.read(async reader => ({
        text: people ? undefined : await readPersonText(reader, name),
        failures: await lockout.readFailures(reader, name, from, clock()),
      }))
      return { name, from, person: parsePerson(text ?? unknown), isKnown: text !== undefined, failures }
    },
    conclude: async ({ failures, from }: LookedUpName, caller: Caller | undefined): Promise<Caller | undefined> => {
      if (caller) return caller
      if (await lockout.recordFailure(failures, clock())) onLock?.(from)
      return undefined
    },
  }
}

async function isPasswordOf({ salt, hash, cost = formerCost }: StoredPerson, password: string): Promise<boolean> {
  if (!canHashPasswords()) return false
  const digest = await hashPassword(password, requireBase64(salt), cost)
  const expected = requireBase64(hash)
  return digest.length === expected.length && timingSafeEqual(digest, expected)
}

/** (2) The record to check for an unknown name. */
const createUnknown = (): StoredPerson => ({
  roles: [],
  claims: {},
  salt: encodeBase64(randomBytes(16)),
  hash: encodeBase64(randomBytes(32)),
  cost: currentCost,
})
