/**
 * People, tokens and keys behind the port `service/identity-port.ts`. What it guards, by number:
 *  (1) Passwords are proven in one place, `password-proof.ts`.
 *  (2) Proven credentials are remembered for minutes at most, by a tag and never in clear; sessions
 *      that a provider may end, for seconds.
 *  (3) The seeded people have public passwords, which count only if `seeded` is true; people of
 *      `people-directory.ts` always count, and a disabled person cannot be authenticated.
 */

import { hash as digest } from 'node:crypto'
import { BoundedCache } from '../base/memo.ts'
import type { Caller } from '../contract/policy.ts'
import type { Identities } from '../service/identity-port.ts'
import type { Store } from '../service/store.ts'
import type { ApiKeys } from './api-key.ts'
import type { TokenTrust } from './bearer-token.ts'
import { type CertificateNameKind, readCertificateNames } from './certificate-name.ts'
import type { LocalKey } from './local-key.ts'
import { createPasswordProof } from './password-proof.ts'
import type { PeoplePort } from './people-port.ts'
import { callerOfPerson, callerWith, parsePerson, readPersonText, type StoredPerson } from './person-record.ts'
import {
  issueCallerSession,
  issueSession,
  type ProvenSession,
  readSessionSubject,
  type SessionCookie,
  verifyCallerSession,
  verifySession,
} from './session-cookie.ts'
import { isSessionEnded, recordSessionEnd, type SessionEnd } from './session-end.ts'
import { type TokenBinding, unbound } from './token-binding.ts'
import { callerAlone, createTokenProof, type ProvenCaller, type TokenMemory } from './token-proof.ts'

const rememberMs = 5 * 60_000
/** (2) */
const rememberEndableMs = 10_000
const rememberedMax = 10_000

export interface IdentitySources {
  readonly store: Store
  readonly key: LocalKey
  readonly trust: TokenTrust
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly keys: ApiKeys
  /** The service's name: cookies of other services are invalid. */
  readonly service: string
  /** (3) Whether passwords of the seeded people count. */
  readonly seeded: boolean
  /** Which names in a certificate count. Default: common names. */
  readonly certificateName?: CertificateNameKind | undefined
  /** Called when a name, or all names, are locked for an address. */
  readonly onLock?: (from: string) => void
  /** People kept elsewhere, instead of those of the store. */
  readonly people?: PeoplePort | undefined
}

/** A person whose name was proven by something other than a password. */
export interface ProvenPerson {
  readonly caller: Caller
  /** The salt that the tags of cookies cover. */
  readonly salt: string
  readonly canSignIn: boolean
}

export interface People extends Identities {
  /**
   * The cookie of a person who has just been authenticated; undefined for one who may not sign in.
   * `mark`: names the session at the provider. See `session-cookie.ts`.
   */
  readonly session: (name: string, mark?: string) => Promise<SessionCookie | undefined>
  /**
   * The cookie of a caller whom an OpenID provider has just authenticated; undefined where their
   * roles and claims do not fit in a cookie.
   */
  readonly callerSession: (caller: Caller, mark: string) => SessionCookie | undefined
  /** Ends sessions begun through a provider; false for a logout token that was used before. */
  readonly endSessions: (end: SessionEnd) => Promise<boolean>
}

export function createIdentities(sources: IdentitySources): People {
  const { store, key, trust, clock, seeded, onLock, people } = sources
  const proven = new ProvenCallers(clock)
  /** The object in which a token arrived → the token's tag. */
  const tags = new WeakMap<object, string>()
  const accepts = ({ added = false, disabled = false }: StoredPerson): boolean => !disabled && (seeded || added)
  const person = (name: string): Promise<ProvenPerson | undefined> =>
    people ? findInPort(people, name) : findInStore(store, name, accepts)

  const { verify, ...ofKeys } = createTokenProof({ store, trust, clock, memory: proven, person })

  async function byCertificate(der: Uint8Array, tag: string): Promise<Caller | undefined> {
    const { names, from, until } = readCertificateNames(der, sources.certificateName ?? 'commonName') ?? {
      names: [],
      from: 0,
      until: 0,
    }
    if (from > clock() || until <= clock()) return undefined
    for (const name of names) {
      const record = await person(name)
      if (record) return proven.remember(tag, record.caller, until)
    }
    return undefined
  }

  return {
    bearer: (token, source, certificate) => {
      let tag = source && tags.get(source)
      if (tag === undefined) {
        tag = digest('sha256', token, 'base64url')
        if (source) tags.set(source, tag)
      }
      const known = proven.find(tag)
      if (known?.binding === unbound) return known.caller
      return known ? callerAlone(known, certificate) : verify(token, tag).then(found => callerAlone(found, certificate))
    },
    ...ofKeys,
    ...createPasswordProof({ store, key, clock, accepts, onLock, people }),
    known: async name => (await person(name))?.caller,
    certificate: der => {
      const tag = `certificate ${digest('sha256', der, 'base64url')}`
      return proven.recall(tag) ?? byCertificate(der, tag)
    },
    key: sources.keys.find,
    takesKeys: sources.keys.any,
    ...createSessions(sources, person, proven),
  }
}

/** The sessions that browsers keep: cookies of people, and of callers from a provider. */
function createSessions(
  { store, key, clock, service }: IdentitySources,
  person: (name: string) => Promise<ProvenPerson | undefined>,
  proven: ProvenCallers,
): Pick<People, 'cookie' | 'session' | 'callerSession' | 'endSessions'> {
  const signing = key.secret(`cookies of ${service}`)
  const signingCallers = key.secret(`cookies of callers of ${service}`)

  /** A session begun through a provider counts unless the provider has ended it. */
  async function rememberSession(tag: string, caller: Caller, session: ProvenSession): Promise<Caller | undefined> {
    const { mark, until } = session
    if (until <= clock()) return undefined
    if (mark === undefined) return proven.remember(tag, caller, until)
    if (await store.read(reader => isSessionEnded(reader, caller.subject, { mark, until }))) return undefined
    return proven.remember(tag, caller, until, rememberEndableMs)
  }

  async function byCookie(value: string, tag: string): Promise<Caller | undefined> {
    const found = readSessionSubject(value)
    const record = found === undefined ? undefined : await person(found)
    const session = record?.canSignIn ? verifySession(signing, value, record.salt) : undefined
    return record && session && rememberSession(tag, record.caller, session)
  }

  const byCallerCookie = (value: string, tag: string): Promise<Caller | undefined> | undefined => {
    const found = verifyCallerSession(signingCallers, value)
    return found && rememberSession(tag, found.caller, found)
  }

  return {
    cookie: value => {
      const tag = `cookie ${digest('sha256', value, 'base64url')}`
      return proven.recall(tag) ?? (value.startsWith('~') ? byCallerCookie(value, tag) : byCookie(value, tag))
    },
    session: async (name, mark) => {
      const record = await person(name)
      return record?.canSignIn ? issueSession(signing, name, record.salt, clock(), mark) : undefined
    },
    callerSession: (caller, mark) => issueCallerSession(signingCallers, caller, clock(), mark),
    endSessions: async end => {
      const isFirst = await store.write(writer => recordSessionEnd(writer, end, clock()))
      if (isFirst) proven.forget()
      return isFirst
    },
  }
}

async function findInPort(people: PeoplePort, name: string): Promise<ProvenPerson | undefined> {
  const rights = await people.find(name)
  return rights && { caller: callerWith(name, rights), salt: rights.stamp ?? '', canSignIn: true }
}

/** @param accepts whether the person may sign in */
async function findInStore(
  store: Store,
  name: string,
  accepts: (person: StoredPerson) => boolean,
): Promise<ProvenPerson | undefined> {
  const text = await store.read(reader => readPersonText(reader, name))
  const found = text === undefined ? undefined : parsePerson(text)
  if (!found || found.disabled) return undefined
  return { caller: callerOfPerson(name, found), salt: found.salt, canSignIn: accepts(found) }
}

/** (2) Callers by the tags of their credentials. */
class ProvenCallers implements TokenMemory {
  #known = createMemory()
  readonly #clock: () => number

  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Of credentials that are bound to nothing. */
  recall(tag: string): Caller | undefined {
    return this.find(tag)?.caller
  }

  find(tag: string): ProvenCaller | undefined {
    const remembered = this.#known.get(tag)
    const now = this.#clock()
    return remembered && remembered.since <= now && now < remembered.until ? remembered : undefined
  }

  /** @param until in milliseconds since 1970, like the clock */
  remember(tag: string, caller: Caller, until: number, longestMs = rememberMs): Caller {
    return this.#keep(tag, { caller, binding: unbound }, until, longestMs).caller
  }

  rememberBound(tag: string, caller: Caller, until: number, binding: TokenBinding): ProvenCaller {
    return this.#keep(tag, { caller, binding }, until, rememberMs)
  }

  forget(): void {
    this.#known = createMemory()
  }

  #keep(tag: string, proven: Pick<ProvenCaller, 'caller' | 'binding'>, until: number, longestMs: number): ProvenCaller {
    const since = this.#clock()
    const kept = { ...proven, since, until: Math.min(until, since + longestMs) }
    this.#known.set(tag, kept)
    return kept
  }
}

const createMemory = () => new BoundedCache<string, ProvenCaller>(rememberedMax)
